# SPDX-License-Identifier: BSD-3-Clause
"""Call paths: one line that calls MPI is as many rows as ways lead there."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
from conftest import build
from headway.mpi.mpis import Mpi
from headway.report.runs import Run, load

Headway = Callable[..., subprocess.CompletedProcess[str]]
HERE = Path(__file__).resolve().parent
ROUNDS = 200
MATRIX_RULES = [matrix.quick(matrix.on("mpich4", "ompi5"), "one MPI of a family stands for it")]


def calls_by_path(run: Run, function: str) -> Counter[str]:
    """Of both ranks, by the names of the functions."""
    found: Counter[str] = Counter()
    for site in run.sites:
        if site.function == function:
            places = (site.place, *site.place.callers)
            found[" < ".join(place.function for place in places)] += site.calls
    return found


def profile(headway: Headway, folder: Path, program: Path, *words: object) -> Run:
    done = headway("profile", "--record", folder, *words, "-n", 2, program, ROUNDS)
    assert done.returncode == 0, done.stderr
    return load(folder)


def test_one_call_from_several_phases(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    program = build(mpi, "paths.c", "-g", "-O2", "-fomit-frame-pointer")
    run = profile(headway, tmp_path / "kept", program, "--paths", 3)
    assert calls_by_path(run, "Sendrecv_replace") == {
        "exchange < first_phase < main": 3 * ROUNDS,
        "exchange < between < second_phase": 2 * ROUNDS,
        "exchange < varying_phase < main": 2 * ROUNDS,
    }
    lines = {place.line for site in run.sites for place in (site.place, *site.place.callers)}
    source = (HERE / "paths.c").read_text().splitlines()
    marked = {at for at, text in enumerate(source, 1) if "/* path: " in text}
    assert marked and lines >= marked, (marked, lines)
    assert any(" < first_phase (paths.c:" in str(site.place) for site in run.sites)


@matrix.quick(lambda mpi: mpi.flavour == "mpich", "the same for all")
def test_without_paths_it_is_one_row(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    program = build(mpi, "paths.c", "-g", "-O2", "-fomit-frame-pointer")
    run = profile(headway, tmp_path / "kept", program)
    assert calls_by_path(run, "Sendrecv_replace") == {"exchange": 7 * ROUNDS}


def test_fortran(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    """Frames of the MPI's Fortran library are passed over; recursion makes paths of its own."""
    if mpi.mpifort is None:
        pytest.skip(f"{mpi.title} has no Fortran that the compiler here can use")
    program = tmp_path / "sites"
    words = [mpi.mpifort, "-g", "-O1", "-J", tmp_path, "-o", program, HERE / "sites.f90"]
    subprocess.run(words, env=mpi.environment(), check=True, cwd=tmp_path)
    found = calls_by_path(profile(headway, tmp_path / "kept", program, "--paths", 3), "Irecv")
    assert found.total() == 300 and len(found) == 3, found
    assert [name.count("exchange") for name in sorted(found, key=len)] == [1, 2, 3], found
