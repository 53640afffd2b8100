# SPDX-License-Identifier: BSD-3-Clause
"""The file that lets `headway cluster run|down|status` find what `headway cluster up` made."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway import private
from headway.cluster import procs
from headway.errors import HeadwayError


@dataclass
class State:
    """One lasting cluster. It is alive while the process `init`, started at `init_start`, lives."""

    name: str
    init: int
    init_start: int
    nodes: list[int]
    agent: str
    interface: str
    options: dict[str, Any]

    @property
    def is_alive(self) -> bool:
        return procs.start_time(self.init) == self.init_start


def path_of(name: str) -> Path:
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name):
        raise HeadwayError(f"{name!r} is not a cluster name", "use letters, digits, _ . and -")
    return private.path() / f"{name}.json"


def load(name: str) -> State | None:
    """The live cluster of that name. A file left by one that is gone is removed."""
    path = path_of(name)
    if private.existing() is None:
        return None
    try:
        state = State(**json.loads(path.read_text()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        path.unlink(missing_ok=True)
        return None
    if state.is_alive:
        return state
    remove(name)
    return None


def load_all() -> list[State]:
    folder = private.existing()
    names = sorted(p.stem for p in folder.glob("*.json")) if folder else []
    return [state for name in names if (state := load(name))]


def save(state: State) -> None:
    folder = private.made()
    partial = folder / f".{state.name}.{os.getpid()}"
    partial.write_text(json.dumps(asdict(state)))
    partial.replace(path_of(state.name))


def remove(name: str) -> None:
    path_of(name).unlink(missing_ok=True)
    try:
        private.path().rmdir()
    except OSError:
        pass
