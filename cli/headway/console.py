# SPDX-License-Identifier: BSD-3-Clause
"""What the command says: one prefix, standard error, so that a program's output stays its own."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

from rich.console import Console


def make_console(**more: Any) -> Console:
    """One that shows names as they are: `headway:two` is no keycap, and numbers have no colours."""
    return Console(highlight=False, emoji=False, **more)


#: for tables and progress; plain text where standard error is no terminal
stderr = make_console(stderr=True)
if not stderr.is_terminal:
    stderr.width = 110


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
    """One line, `headway: text`, never wrapped."""
    print(f"headway: {text}", file=sys.stderr, flush=True)
