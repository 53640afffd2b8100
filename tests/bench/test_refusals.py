# SPDX-License-Identifier: BSD-3-Clause
"""Description: a benchmark program refuses a name that it does not know, and measures nothing."""

from __future__ import annotations

from pathlib import Path

import matrix
from headway.bench import build as bench_build
from headway.mpi.mpis import Mpi
from support import run_mpi

ROOT = Path(__file__).resolve().parents[2]

#: Every program that finds a name in a list, and its option.
NAMED = (
    ("lu", "--sync"),
    ("overlap_p2p", "--completion"),
    ("pack_p2p", "--face"),
    ("rma_cost", "--what"),
    ("rma_late", "--kind"),
    ("rma_overlap", "--operation"),
    ("rma_overlap", "--window"),
    ("rma_patterns", "--before"),
    ("rma_phases", "--sync"),
)


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_an_unknown_name_is_refused(mpi: Mpi) -> None:
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, sorted({program for program, _ in NAMED})) == 0
    for program, option in NAMED:
        done = run_mpi(mpi, [programs / mpi.name / program, option, "odd"], ranks=2, timeout_s=30)
        assert done.status == 2 and done.stdout == "", done.explain()
        told = [line for line in done.stderr.splitlines() if line.startswith(f"{program}: ")]
        assert len(told) == 1 and option in told[0], done.explain()
