# SPDX-License-Identifier: BSD-3-Clause
"""Shared memory of the MPIs that killed jobs leave behind; a test run takes it away."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
import support

#: What MPICH, Intel MPI, Open MPI 4 and 5, and LLVM's OpenMP call their files in /dev/shm.
NAMES = ("mpich_sh", "Intel_MPI", "vader_segment.", "sm_segment.", "__KMP_REGISTERED_LIB_")


def in_use() -> set[str]:
    """Files of /dev/shm that a process of ours has open or mapped."""
    paths: list[str] = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            # In this order: MPIs map a file before they close it.
            for entry in (process / "fd").iterdir():
                with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                    paths.append(os.readlink(entry))
            paths += (process / "maps").read_text(errors="replace").split()
    return {Path(path).name for path in paths if path.startswith("/dev/shm/")}


class Leftovers:
    """A plugin of the process that controls a run. Jobs that go on after it keep their files."""

    def __init__(self) -> None:
        self.before = support.shared_memory_files()

    def pytest_unconfigure(self) -> None:
        made = support.shared_memory_files() - self.before
        for name in {name for name in made if name.startswith(NAMES)} - in_use():
            path = Path("/dev/shm") / name
            if path.is_file() and path.stat().st_uid == os.getuid():
                path.unlink(missing_ok=True)


def take_away(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Leftovers(), "leftovers")
