"""What the command says: one prefix, standard error, so that a program's output stays its own."""

from __future__ import annotations

import sys

from rich.console import Console

#: for tables and progress; plain text where standard error is no terminal
stderr = Console(stderr=True, highlight=False, emoji=False)
if not stderr.is_terminal:
    stderr.width = 110


def say(text: str) -> None:
    """One line, `headway: text`, never wrapped."""
    print(f"headway: {text}", file=sys.stderr, flush=True)
