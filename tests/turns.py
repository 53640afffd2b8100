# SPDX-License-Identifier: BSD-3-Clause
"""Whose job of an MPI runs now, where several processes run cases (workers.py).

Processes of two jobs would wait for turns on the same cores at each message.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_held: list[IO[str]] = []


@contextmanager
def taken(path: Path) -> Iterator[None]:
    """Waits until no other process has its turn."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        _held.append(file)
        try:
            yield
        finally:
            _held.remove(file)


@contextmanager
def given_up() -> Iterator[None]:
    """While a case compiles another may run its job; none has a turn where one process runs all."""
    for file in _held:
        fcntl.flock(file, fcntl.LOCK_UN)
    try:
        yield
    finally:
        for file in _held:
            fcntl.flock(file, fcntl.LOCK_EX)
