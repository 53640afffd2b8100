# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Pcontrol pauses the profile and marks regions, as other profilers have it."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import matrix
import support
from conftest import build
from headway.mpi.mpis import Mpi
from headway.report.runs import load

Headway = Callable[..., subprocess.CompletedProcess[str]]
ROUNDS = 10
MATRIX_RULES = [matrix.one_of_a("family")]


def test_levels(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    program = build(mpi, "pcontrol.c")
    assert support.run_mpi(mpi, [program], ranks=2).status == 0, "the plain control failed"
    done = headway("profile", "--record", "kept", "-n", 2, program, ROUNDS)
    assert done.returncode == 0, done.stderr
    run = load(tmp_path / "kept")
    calls: Counter[str] = Counter()
    completed: Counter[str] = Counter()
    for site in run.sites:
        calls[site.function] += site.calls
        completed[site.function] += int(site.total("completed"))
    assert calls["Barrier"] == 2 * 2 * ROUNDS, calls  # before the pause and in the region
    assert calls["Isend"] == calls["Irecv"] == 2 and calls["Waitall"] == 0, calls
    assert completed["Isend"] == 0 and completed["Start"] == 2 * ROUNDS, completed
    for record in run.records:
        assert record.phases is not None
        assert {p.name: p.count for p in record.phases} == {"region 5": ROUNDS, "region 6": ROUNDS}
    assert "the program paused the profile" in done.stdout, done.stdout
    said = [line for line in done.stderr.splitlines() if "MPI_Pcontrol(-9)" in line]
    assert len(said) == 2, done.stderr  # each rank once


def test_without_a_profile(headway: Headway, mpi: Mpi) -> None:
    done = headway("run", "-n", 2, build(mpi, "pcontrol.c"), ROUNDS)
    assert done.returncode == 0, done.stderr


def test_one_record_stands_for_all_that_are_asked_for(
    headway: Headway, mpi: Mpi, tmp_path: Path
) -> None:
    """What is asked for while one is to be written is in that one: nobody writes for seconds."""
    program = build(mpi, "flushes.c", "-rdynamic")
    done = headway("profile", "--record", "kept", "-n", 1, program, 20000)
    assert done.returncode == 0, done.stderr
    (times,) = re.findall(r"written (\d+) times", done.stdout)
    assert 0 < int(times) < 100
