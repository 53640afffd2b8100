# SPDX-License-Identifier: BSD-3-Clause
"""Headway: the `headway` command, and what a Python program may tell the library it runs under.

import headway

with headway.phase("exchange"):
    ...
await headway.aio(comm.Irecv(buffer, source=0))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.api.awaiting import aio
    from headway.api.interface import State, get_include, pause, paused, phase, query, resume

__version__ = "0.1.0"
__all__ = ["State", "aio", "get_include", "pause", "paused", "phase", "query", "resume"]


def __getattr__(name: str) -> object:
    """Loaded when first used: a program that only pauses needs no event loop."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "headway.api.awaiting" if name == "aio" else "headway.api.interface"
    return getattr(importlib.import_module(module), name)
