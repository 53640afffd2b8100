# SPDX-License-Identifier: BSD-3-Clause
"""What runs now, where several processes run cases (workers.py): one job of an MPI, since processes
of two would wait for the same cores at each message; or one case that is alone on the machine.
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
def on_the_machine(folder: Path, is_alone: bool) -> Iterator[None]:
    """Beside the cases of other processes, or alone. Who waits to be alone holds the door, so that
    no other case begins meanwhile."""
    with (folder / ".machine.lock").open("w") as machine:
        with (folder / ".door.lock").open("w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            fcntl.flock(machine, fcntl.LOCK_EX if is_alone else fcntl.LOCK_SH)
        yield


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
