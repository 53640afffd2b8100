# SPDX-License-Identifier: BSD-3-Clause
"""What the command says: one prefix, standard error, so that a program's output stays its own.

Every command loads this, so it needs nothing; tables are in terminal.py."""

from __future__ import annotations

import os
import sys
import textwrap

#: terminals have that at least, and so have what shows the output of batch jobs
COLUMNS = 80


def tell(text: str) -> None:
    """A sentence of the closing paragraph: `headway: ` before each of its lines, none of which is
    wider than COLUMNS unless a word is."""
    width = COLUMNS - len("headway: ")
    lines = textwrap.wrap(
        text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    for line in lines:
        say(line)


def say(text: str) -> None:
    """One line, `headway: text`, never wrapped. Where it cannot be written (closed, full, or nobody
    reads it any more) the program runs all the same, and its status counts."""
    if sys.stderr is None:
        return
    try:
        print(f"headway: {text}", file=sys.stderr, flush=True)
    except OSError:
        # Not tried again: also at the end of the interpreter, whose status it would be.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
