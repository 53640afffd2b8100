# SPDX-License-Identifier: BSD-3-Clause
"""Where tables and progress are drawn. Only commands that draw load this: rich takes longer to load
than all of `headway run`."""

from __future__ import annotations

from typing import Any

from rich.console import Console


def make_console(**more: Any) -> Console:
    """One that shows names as they are: `headway:two` is no keycap, and numbers have no colours."""
    return Console(highlight=False, emoji=False, **more)


def make_stderr() -> Console:
    """For tables and progress beside a program's output; plain text where that is no terminal."""
    made = make_console(stderr=True)
    if not made.is_terminal:
        made.width = 110
    return made
