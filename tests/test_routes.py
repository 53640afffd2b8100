# SPDX-License-Identifier: BSD-3-Clause
"""Operations on redirected windows go to targets where the program, or a draw, says so."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import matrix
import pytest
import support
import two_nodes
from headway.mpi.mpis import Mpi
from test_ghosts import is_served, is_spread, program_of

DRAWN = {"HEADWAY_ADAPT_DRAW": "11"}
COUNTERS = ("operations_to_owners", "operations_redirected", "routes_changed")


def check_counters(records: list[dict], counters: tuple[str, ...] = COUNTERS) -> None:
    for counter in counters:
        assert sum(record[counter] for record in records) > 0, f"{counter} is 0"


@is_served
@pytest.mark.parametrize("meeting", ["", "set_info", "barriers", "fence"])
@matrix.quick(lambda mpi, meeting: mpi.name == "mpich5" or not meeting, "each alone, on one MPI")
def test_drawn_within_a_node(mpi: Mpi, meeting: str, tmp_path: Path) -> None:
    """Counters and ordered accumulates over changes, wherever these may be."""
    phases = 6
    result = support.run_mpi(
        mpi,
        [program_of(mpi, "route_changes"), str(phases), *([meeting] if meeting else [])],
        ranks=4,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on", **DRAWN},
        records=tmp_path,
    )
    assert result.status == 0, result.explain()
    check_counters(result.records)


@is_spread
@matrix.only(
    lambda mpi: mpi.name != "mpich4", "plain, MPICH 4.0 puts to wrong places of such windows"
)
@matrix.quick(matrix.on("mpich5"))
def test_drawn_between_nodes(mpi: Mpi, tmp_path: Path) -> None:
    """Near and far origins at once: a near accumulate is its origin's own while far ones go to the
    ghost, and goes through the MPI while they go to the target."""
    argv = [str(program_of(mpi, "route_changes")), "3"]
    records = two_nodes.same_output(
        mpi, argv, tmp_path, users=2, rate="none", environment=DRAWN, timeout=120
    )
    check_counters(records)
    if mpi.flavour == "mpich":
        check_counters(records, ("operations_applied",))


@dataclass(frozen=True)
class Guided:
    """A case of tests/mpi/guided.c: thirds that go to targets, changes, lines of the library."""

    to_owners: int
    changes: int
    told: tuple[str, ...] = ()


GUIDED = {
    "right": Guided(2, 2),
    "differ": Guided(2, 2, ("async_config differs between the processes",)),
    "some": Guided(3, 0, ("symmetric=true is not taken",)),
    "wrong": Guided(1, 1, ("async_config=sometimes is not", "symmetric=perhaps is not")),
}


@is_served
@pytest.mark.parametrize("case", GUIDED)
@matrix.check(lambda case: case == "right")
@matrix.quick(lambda mpi, case: mpi.name == "mpich5" or case == "right")
def test_guided(mpi: Mpi, case: str, tmp_path: Path) -> None:
    """async_config decides, and what is wrong with it is said in one line."""
    result = support.run_mpi(
        mpi,
        [program_of(mpi, "guided"), case],
        ranks=4,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"},
        records=tmp_path,
    )
    assert result.status == 0, result.explain()
    expected = GUIDED[case]
    told = [line for line in result.stderr.splitlines() if "[headway" in line]
    assert bool(told) == bool(expected.told), told
    for text in expected.told:
        assert any(text in line for line in told), told
    users, calls = 3, 20
    assert result.total("operations_to_owners") == expected.to_owners * calls * users
    assert result.total("operations_redirected") == (3 - expected.to_owners) * calls * users
    assert result.total("routes_changed") == expected.changes * users


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_not_guided(mpi: Mpi, tmp_path: Path) -> None:
    """With HEADWAY_ADAPT=off a window that asks for no ghosts is the MPI's own."""
    result = support.run_mpi(
        mpi,
        [program_of(mpi, "guided"), "right"],
        ranks=4,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on", "HEADWAY_ADAPT": "off"},
        records=tmp_path,
    )
    assert result.status == 0, result.explain()
    assert result.total("windows_redirected") == 0
    assert any("hints ask for no" in text for one in result.records for text in one["declined"])


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_nothing_to_adapt(mpi: Mpi) -> None:
    argv = [program_of(mpi, "guided"), "right"]
    result = support.run_mpi(mpi, argv, ranks=2, options={"HEADWAY_ADAPT": "guided"})
    assert result.status == 0, result.explain()
    told = [line for line in result.stderr.splitlines() if "nothing to adapt" in line]
    assert len(told) == 1, result.stderr
