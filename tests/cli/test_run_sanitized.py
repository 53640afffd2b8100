# SPDX-License-Identifier: BSD-3-Clause
"""headway run: a program whose sanitizer must be the first library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matrix
import support
from headway.mpi import program
from headway.mpi.mpis import Mpi

SOURCE = Path(__file__).parent / "hello.c"


@matrix.one_of_a("family")
def test_sanitizer_comes_first(headway: Callable, mpi: Mpi, monkeypatch) -> None:  # noqa: ANN001
    flags = ["-fsanitize=address"]
    hello = support.compile_program(mpi, "hello-asan", [SOURCE], flags)
    (first,) = program.inspect(str(hello)).first
    assert first.name.startswith("libasan.so")
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # those of the MPI
    done = headway("run", "-n", 2, hello)
    assert done.returncode == 0, done.stderr
    assert f"libheadway-{mpi.flavour}.so" in done.stderr.splitlines()[0], done.stderr
