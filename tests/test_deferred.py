# SPDX-License-Identifier: BSD-3-Clause
"""Epochs whose target is late begin at once, and what waits for it is issued when it opens."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matrix
import pytest
import support
from headway.mpi.mpis import Mpi
from test_ghosts import is_served, program_of

USERS = 3
ROUNDS = 4
KINDS = 9  # operations of a round
KEPT_MAX = 4096


@dataclass(frozen=True)
class Case:
    """A case of tests/mpi/deferred.c: what must have been counted, and what not."""

    late: int = ROUNDS
    awaited: int = ROUNDS
    deferred: int = ROUNDS * KINDS
    early: bool = False  # some were issued before the end of the epoch
    waited: bool = False  # a call had to wait


CASES = {
    "post": Case(early=True),
    "dynamic": Case(early=True),
    "lock": Case(early=True),
    "flush": Case(waited=True),
    "full": Case(deferred=ROUNDS * KEPT_MAX),
    "requests": Case(deferred=ROUNDS),
    # All processes but the one that hears of it first find the fence open or not, as it happens.
    "fence": Case(early=True),
    "idle": Case(awaited=0, deferred=0),
    "errors": Case(late=2, awaited=1, deferred=2),
}


def run(mpi: Mpi, case: str, records: Path, **options: str) -> support.Result:
    return support.run_mpi(
        mpi,
        [program_of(mpi, "deferred"), case, records / "flag"],
        ranks=USERS + 1,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on", "HEADWAY_DEFER": "on"} | options,
        records=records,
    )


@is_served
@pytest.mark.parametrize("case", CASES)
@matrix.check(lambda case: case == "post")
@matrix.quick(lambda mpi, case: mpi.name == "mpich5" or case == "post", "each alone, on one MPI")
def test_origin_does_not_wait(mpi: Mpi, case: str, tmp_path: Path) -> None:
    """The program hangs where the beginning of an epoch waits. Without a progress thread."""
    result = run(mpi, case, tmp_path, HEADWAY_ENGINE="off")
    assert result.status == 0, result.explain()
    expected = CASES[case]
    if case == "fence":
        assert result.total("targets_deferred") >= expected.late
        assert result.total("operations_deferred") >= expected.deferred
    else:
        assert result.total("targets_deferred") == expected.late
        assert result.total("targets_awaited") == expected.awaited
        assert result.total("operations_deferred") == expected.deferred
    if expected.early:
        assert result.total("deferred_by_calls") > 0
    if expected.waited:
        assert result.total("targets_waited_for") == expected.late
    assert result.total("deferred_by_thread") == 0
    assert result.total("deferred_looks") == 0


@is_served
@matrix.quick(matrix.on("mpich5"), "the same thread on every MPI")
def test_thread_issues(mpi: Mpi, tmp_path: Path) -> None:
    """The origin makes no call of MPI until the data has arrived."""
    result = run(mpi, "thread", tmp_path, HEADWAY_ENGINE="thread")
    assert result.status == 0, result.explain()
    assert result.total("deferred_by_thread") == 1
    assert result.total("targets_waited_for") == 0


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_thread_does_not_look_for_nothing(mpi: Mpi, tmp_path: Path) -> None:
    """Targets are late, and no operation waits for them: nobody is asked for help (G3)."""
    result = run(mpi, "idle", tmp_path, HEADWAY_ENGINE="thread")
    assert result.status == 0, result.explain()
    assert result.total("targets_deferred") == ROUNDS
    assert result.total("deferred_looks") == 0


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_nothing_to_defer(mpi: Mpi) -> None:
    argv = [program_of(mpi, "guided"), "right"]
    result = support.run_mpi(mpi, argv, ranks=2, options={"HEADWAY_DEFER": "on"})
    assert result.status == 0, result.explain()
    told = [line for line in result.stderr.splitlines() if "no epochs to defer" in line]
    assert len(told) == 1, result.explain()
