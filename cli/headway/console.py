# SPDX-License-Identifier: BSD-3-Clause
"""What the command says: one prefix, standard error, so that a program's output stays its own."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console


def make_console(**more: Any) -> Console:
    """One that shows names as they are: `headway:two` is no keycap, and numbers have no colours."""
    return Console(highlight=False, emoji=False, **more)


#: for tables and progress; plain text where standard error is no terminal
stderr = make_console(stderr=True)
if not stderr.is_terminal:
    stderr.width = 110


def say(text: str) -> None:
    """One line, `headway: text`, never wrapped."""
    print(f"headway: {text}", file=sys.stderr, flush=True)
