# SPDX-License-Identifier: BSD-3-Clause
"""Suites of the solvers of papers/003: implicit line systems, and a decomposition read one-sidedly.

Their cases come with options that say all; their sizes are what rows are named by.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headway.bench.cases import Case
from headway.bench.suite import NO_WINDOWS, Suite

PROGRAMS = ("adi", "lu")

#: bench/common/heat.h and penta.h: fields, rows of a line that the next block needs, and of a halo
FIELDS, CARRIED, HALO = 3, 2, 2


def adi_bytes(size: int, ranks: int = 2) -> int:
    """What a rank of `adi` sends in a step: faces of its blocks, and both ways of two sweeps."""
    lines = size * size // ranks
    faces = 4 * HALO * FIELDS * lines
    carried = 2 * CARRIED * (2 + 2 * FIELDS) * lines
    return 8 * (ranks - 1) * (faces + carried)


def adi(size: int, steps: int) -> Case:
    """A box of SIZE points in each direction, a node of one core each."""
    options = {"size": str(size), "steps": str(steps)}
    return Case(f"{size} points", "adi", (adi_bytes(size),), options, timeout_s=30.0)


#: how panels are read
SYNCS = ("gats", "lock")


def lu(sync: str, size: int, block: int) -> Case:
    """A matrix of SIZE rows whose panels are read by MPI_Get, a node of one core each."""
    options = {"sync": sync, "size": str(size), "block": str(block)}
    panel = 8 * block * (size + 1)
    return Case(f"{sync}, {size} rows", "lu", (panel,), options, timeout_s=30.0)


def points(result: dict[str, Any]) -> Iterable[tuple[int, dict[str, float], str]]:
    """(bytes, values of its own, digest of the answer), as analysis.points."""
    values = {}
    if result["program"] == "adi":
        # As in `halo`: the slowest rank of each step would count long waits of ranks that drift.
        values["total_s"] = result["wall_s"] / result["steps"]
    yield result["bytes"], values, result["digest"]


SUITES = (
    Suite(
        "adi",
        "Solver of implicit line systems, multi-partitioned",
        (adi(64, 24), adi(96, 12), adi(128, 8)),
        sockbufs=("small",),
        extra_modes=("helper",),
        launches=3,
    ),
    Suite(
        "lu",
        "LU decomposition whose panels are read one-sidedly",
        tuple(lu(sync, 1024, 64) for sync in SYNCS),
        sockbufs=("default",),
        extra_modes=("helper", "ghosts"),
        launches=3,
        excluded=NO_WINDOWS,
        settings={"deferred": {"HEADWAY_DEFER": "on"}},
    ),
)
