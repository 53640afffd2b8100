# SPDX-License-Identifier: BSD-3-Clause
"""`headway profile` names messages whose packing by the MPI is slow, with their line."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
from conftest import build
from headway.mpi.mpis import Mpi
from headway.report import packing
from headway.report.packing import Row, Shape
from headway.report.recorded import profile_of
from headway.report.runs import Run, load
from test_profile import line_of

Headway = Callable[..., subprocess.CompletedProcess[str]]
#: a datatype is tried at its 17th message or later
ROUNDS = 60
PARTICLE = Shape(28, 2, 32)

MATRIX_RULES = [matrix.quick(matrix.on("mpich5", "ompi5"), "one MPI of a family stands for it")]


def row_at(run: Run, mark: str) -> Row:
    place = f"packings.c:{line_of(mark, 'packings.c')}"
    (found,) = (row for row in packing.rows(run) if place in row.key.place)
    return found


@pytest.fixture
def program(mpi: Mpi) -> Path:
    return build(mpi, "packings.c", "-g", "-O1")


def test_names_slow_packing(headway: Headway, mpi: Mpi, program: Path, tmp_path: Path) -> None:
    done = headway("profile", "--record", "kept", "-n", 2, program, ROUNDS)
    assert done.returncode == 0 and done.stdout.count("wrong 0") == 2, done.stderr
    run = load(tmp_path / "kept")
    # MPICH 4 packs what stands for the struct as slowly (doc/adr/0039).
    for mark in () if mpi.name == "mpich4" else ("send", "isend"):
        row = row_at(run, mark)
        assert row.key.shape == PARTICLE and not row.key.is_receive
        assert 0 < row.messages <= 2 * ROUNDS and row.bytes == row.messages * 8192 * 28
        assert row.packed == 0 and row.to_save_s > 0
    assert all(record.packed_messages == 0 for record in run.records), "a profile packs nothing"
    assert 0 < sum(record.packed_message_trials for record in run.records) <= 16
    assert str(line_of("dense", "packings.c")) not in {
        row.key.place.rpartition(":")[2].rstrip(")") for row in packing.rows(run)
    }
    # On a machine with other load it is too small a part of the run to be told.
    assert ("Slow packing" in done.stdout) == bool(packing.worth(run)), done.stdout
    if mpi.flavour != "ompi":
        assert row_at(run, "irecv").key.is_receive


def test_off_measures_nothing(headway: Headway, mpi: Mpi, program: Path, tmp_path: Path) -> None:
    words = ("profile", "--record", "kept", "-n", 2, program, ROUNDS)
    done = headway(*words, HEADWAY_PACK="off")
    assert done.returncode == 0, done.stderr
    run = load(tmp_path / "kept")
    assert all(not profile_of(record).derived for record in run.records)
    assert all(record.packed_message_trials == 0 for record in run.records)
