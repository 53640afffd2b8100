# SPDX-License-Identifier: BSD-3-Clause
"""Routes of operations that change by themselves: by the share of time in MPI, by cost."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
import two_nodes
from headway.mpi.mpis import Mpi
from test_ghosts import is_served, is_spread, program_of

#: A share is judged each 60 ms, and told other nodes each 20 ms.
QUICK = {"HEADWAY_PREDICT_INT": "60ms", "HEADWAY_GSYNC_INT": "20ms"}
PHASES = ("comm", "comp", "comm", "comp")


def adaptive(
    mpi: Mpi, mode: str, words: tuple[str, ...], records: Path, users: int = 2
) -> list[dict]:
    """Phases within a node, of which every operation goes through the MPI."""
    result = support.run_mpi(
        mpi,
        [program_of(mpi, "adaptive"), *words],
        ranks=users + 1,
        options={
            "HEADWAY_GHOSTS": "1",
            "HEADWAY_REDIRECT": "on",
            "HEADWAY_ADAPT": mode,
            **QUICK,
        },
        records=records,
    )
    assert result.status == 0, result.explain()
    return result.records


def total(records: list[dict], name: str) -> int:
    return sum(record[name] for record in records)


def taken(records: list[dict], operations: str) -> list[str]:
    """The routes that the first process took, one after the other."""
    return [
        route["route"]
        for route in records[0].get("routes", ())
        if route["operations"] == operations
    ]


def follows(records: list[dict], operations: str) -> bool:
    """It left the ghost where all communicate, came back where they compute, and left it again."""
    wanted = iter(taken(records, operations))
    return all(route in wanted for route in ("owner", "ghost", "owner"))


@is_served
@pytest.mark.parametrize("mode", ["local", "global"])
@matrix.quick(lambda mpi, mode: mpi.name == "mpich5")
def test_by_the_share_of_time(mpi: Mpi, mode: str, tmp_path: Path) -> None:
    """The paper's P and GP in a program of phases. Phases are longer where the machine gives the
    ghost no core in shorter ones."""
    for attempt, ms in enumerate((300, 1000, 4000)):
        records = adaptive(mpi, mode, (str(ms), *PHASES), tmp_path / str(attempt))
        assert total(records, "rate_looks") > 0
        if follows(records, "accumulates") and (mode == "local" or follows(records, "Put and Get")):
            break
    else:
        pytest.fail(f"{[record.get('routes') for record in records]}")
    assert total(records, "operations_to_owners") > 0
    assert total(records, "operations_redirected") > 0
    assert {route["cause"] for route in records[0]["routes"]} == {"share"}


@is_served
@matrix.quick(lambda mpi: mpi.name == "mpich5")
def test_by_cost(mpi: Mpi, tmp_path: Path) -> None:
    """Where all communicate owners serve, once both routes were compared. A window begins with
    either of them, as cores are shared."""
    for attempt, ms in enumerate((500, 2000, 8000)):
        records = adaptive(mpi, "auto", (str(ms), "flush", "comm"), tmp_path / str(attempt))
        by_owners = total(records, "operations_to_owners")
        if total(records, "route_looks") > 0 and by_owners > total(
            records, "operations_redirected"
        ):
            break
    else:
        pytest.fail(f"{[record.get('routes') for record in records]}")
    assert total(records, "operations_redirected") > 0
    measured = [route for record in records for route in record.get("routes", ())]
    for route in measured:
        if route["cause"] == "measured":
            by_route = {"ghost": route["ghost_ns"], "owner": route["owner_ns"]}
            assert 0 < by_route[route["route"]] == min(by_route.values())


@is_served
@matrix.quick(lambda mpi: mpi.name == "mpich5")
def test_what_computes_keeps_its_ghost(mpi: Mpi, tmp_path: Path) -> None:
    """A look at targets that compute is not affordable in so short a run. A window begins with its
    owners where the machine gives the ghost no core."""
    for attempt in range(3):
        records = adaptive(mpi, "auto", ("300", "flush", "comp"), tmp_path / str(attempt))
        began_with_owners = total(records, "operations_redirected") == 0
        if not support.tally("started again for a ghost without a core", began_with_owners):
            break
    assert total(records, "operations_redirected") > 0
    assert "owner" not in taken(records, "Put and Get")


@is_spread
@matrix.quick(matrix.on("mpich5"))
def test_ghosts_of_nodes_exchange_shares(mpi: Mpi, tmp_path: Path) -> None:
    """Put and Get follow what a target on another node does."""
    argv = [str(program_of(mpi, "adaptive")), "300", *PHASES]
    records = two_nodes.same_output(
        mpi, argv, tmp_path, rate="none", environment={"HEADWAY_ADAPT": "global", **QUICK}
    )
    assert total(records, "rate_exchanges") > 0
    assert total(records, "put_routes_changed") > 0
