# SPDX-License-Identifier: BSD-3-Clause
"""What the command's tests share: a small program built for each MPI, and the command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import IO

import pytest
import support
import turns
from headway.mpi.mpis import Mpi
from support import WITHIN_A_NODE

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent


@cache
def build(mpi: Mpi, source: str, *flags: str) -> Path:
    target = ROOT / "build" / "tests" / "cli" / mpi.name / Path(source).stem
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = target.with_name(f".{target.name}.{os.getpid()}")  # another worker may run it
    with turns.given_up():
        subprocess.run(
            [
                str(mpi.mpicc),
                "-O2",
                "-Wall",
                "-Wno-stringop-overflow",
                *flags,
                "-o",
                str(scratch),
                str(HERE / source),
            ],
            env=mpi.environment(),
            check=True,
        )
    scratch.replace(target)
    return target


@pytest.fixture
def hello(mpi: Mpi) -> Path:
    """hello.c for the MPI under test."""
    return build(mpi, "hello.c")


@pytest.fixture
def waits(mpi: Mpi) -> Path:
    """waits.c for the MPI under test."""
    return build(mpi, "waits.c")


@pytest.fixture
def headway(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command; its state files and locks are this test's own."""

    def call(
        *words: object, timeout: float = 120, stdout: IO[str] | int = subprocess.PIPE, **env: str
    ) -> subprocess.CompletedProcess[str]:
        full = {**os.environ, **WITHIN_A_NODE, "PYTHONPATH": str(ROOT / "cli"), **env}
        for _ in range(support.LISTEN_ATTEMPTS):
            done = subprocess.run(
                [sys.executable, "-m", "headway", *map(str, words)],
                text=True,
                stdout=stdout,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                env=full,
                timeout=timeout,
                cwd=tmp_path,
            )
            if not support.is_deaf((done.stdout or "") + done.stderr):
                break
        return done

    return call
