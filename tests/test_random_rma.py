# SPDX-License-Identifier: BSD-3-Clause
"""Random one-sided programs leave the same bytes with and without ghosts."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
import two_nodes
from headway.mpi.mpis import Mpi
from test_random import check_seeds

SOURCES = sorted((support.PROGRAMS / "random_rma").glob("*.c"))
DEFAULT_SEEDS = 6
FULL_SEEDS = 150

DYNAMIC_SEEDS = 3

#: These never yield a core, which makes more processes than cores slow: fewer.
SHARES = {"mpich4": 2, "ompi4": 5, "ompi5": 5}

#: Two user processes a node, between nodes.
SPREAD_FAILURES = {
    "ompi4": "cannot make windows between nodes",
    "impi": "dies in MPI_Win_flush_local_all",
}

#: ghosts -> user processes
SETTINGS = {1: 3, 2: 4}
QUICK_GHOSTS = {"mpich4": 1, "mpich5": 2}


keeps_none_of_its_own = matrix.only(
    lambda mpi: mpi.name != "ompi4", "Open MPI 4 keeps its own windows, which lose operations"
)


def run_both(
    mpi: Mpi,
    argv: list[Path | str],
    seeds: int,
    without: str,
    records: Path,
    options: dict[str, str],
    users: int = 3,
    ghosts: int = 1,
) -> tuple[support.Result, support.Result]:
    """Plain and with ghosts, which leave the same bytes; `argv` begins with program and seeds."""
    timeout_s = 60 + 10.0 * seeds
    plain = support.run_mpi(mpi, argv, ranks=users, timeout_s=timeout_s)
    assert plain.status == 0, f"the plain control failed, {plain.explain()}"
    headway = support.run_mpi(
        mpi,
        argv,
        ranks=users + ghosts,
        options={"HEADWAY_GHOSTS": str(ghosts), "HEADWAY_REDIRECT": "on", **options},
        records=records,
        timeout_s=timeout_s,
    )
    check_seeds(plain, headway, " ".join(map(str, argv[1:])), without)
    return plain, headway


@keeps_none_of_its_own
@matrix.quick(
    lambda mpi, ghosts: mpi.name == "impi" or ghosts == QUICK_GHOSTS.get(mpi.name),
    "other ghosts, or Open MPI, whose processes never yield a core that they share: slow",
)
@pytest.mark.parametrize("ghosts", SETTINGS)
def test_same_bytes(
    mpi: Mpi,
    ghosts: int,
    is_full: bool,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    first_seed: int,
) -> None:
    users = SETTINGS[ghosts]
    seeds = request.config.getoption("--seeds") or (FULL_SEEDS if is_full else DEFAULT_SEEDS)
    seeds = max(1, seeds // SHARES.get(mpi.name, 1))
    argv = [support.compile_program(mpi, "random_rma", SOURCES), str(first_seed), str(seeds)]
    defers = (first_seed + ghosts) % 2 == 0
    options = {"HEADWAY_DEFER": "on"} if defers else {}
    plain, headway = run_both(mpi, argv, seeds, "ghosts", tmp_path, options, users, ghosts)
    assert len(plain.lines) >= seeds * users
    if defers and seeds > 3:
        assert headway.total("targets_deferred") > 0, "no epoch began without waiting"
    has_locks = seeds > 3  # a few programs may have fences alone
    for counter in ("windows_redirected", "operations_redirected", "locks_redirected")[
        : 2 + has_locks
    ]:
        assert headway.total(counter) > 0, f"{counter} is 0: no ghost was asked"
    assert headway.total("operations_spread") == 0  # unless asked for


ROUTE_SEEDS = 4


@keeps_none_of_its_own
@matrix.only(
    lambda mpi, redirect: redirect == "on" or mpi.name == "mpich4",
    "the others keep windows within a node to themselves",
)
@matrix.quick(matrix.on("mpich5"), "test_routes.py changes routes on every MPI")
@pytest.mark.parametrize("redirect", ["on", "auto"])
def test_routes_that_change(
    mpi: Mpi,
    redirect: str,
    is_full: bool,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    first_seed: int,
) -> None:
    """Each Put and Get goes to the ghost or to its target, as is drawn; accumulates change their
    route wherever they may. auto: what is near is done by its origin meanwhile."""
    seeds = request.config.getoption("--seeds") or (FULL_SEEDS if is_full else ROUTE_SEEDS)
    seeds = max(2, seeds // SHARES.get(mpi.name, 1))
    argv = [support.compile_program(mpi, "random_rma", SOURCES), str(first_seed), str(seeds)]
    options = {"HEADWAY_REDIRECT": redirect, "HEADWAY_ADAPT_DRAW": str(first_seed + 1)}
    _, headway = run_both(mpi, argv, seeds, "routes that change", tmp_path, options)
    by_ghosts = "operations_redirected" if redirect == "on" else "operations_applied"
    for counter in (by_ghosts, "operations_to_owners", "routes_changed"):
        assert headway.total(counter) > 0, f"{counter} is 0"


@keeps_none_of_its_own
@matrix.quick(matrix.on("mpich5"), "test_ghosts.py has such windows on every MPI")
def test_dynamic(
    mpi: Mpi, is_full: bool, request: pytest.FixtureRequest, tmp_path: Path, first_seed: int
) -> None:
    """Windows of MPI_Win_create_dynamic, at some members over memory that no ghost can reach."""
    seeds = request.config.getoption("--seeds") or (FULL_SEEDS if is_full else DYNAMIC_SEEDS)
    seeds = max(1, seeds // SHARES.get(mpi.name, 1))
    program = support.compile_program(mpi, "random_rma", SOURCES)
    argv = [program, str(first_seed), str(seeds), "--dynamic"]
    plain, headway = run_both(mpi, argv, seeds, "ghosts", tmp_path, {})
    assert len(plain.lines) >= seeds * 3
    for counter in ("windows_redirected", "operations_redirected", "operations_direct"):
        assert headway.total(counter) > 0, f"{counter} is 0"


#: HEADWAY_GHOST_BINDING, HEADWAY_GHOST_BALANCE
POLICIES = [("rank", "random"), ("rank", "operations"), ("rank", "bytes"), ("segment", "off")]
POLICY_SEEDS = 2


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_policies(
    mpi: Mpi, request: pytest.FixtureRequest, tmp_path: Path, first_seed: int
) -> None:
    """However operations are shared out between the ghosts of a node."""
    argv = [support.compile_program(mpi, "random_rma", SOURCES), str(first_seed), str(POLICY_SEEDS)]
    plain = support.run_mpi(mpi, argv, ranks=SETTINGS[2])
    assert plain.status == 0, f"the plain control failed, {plain.explain()}"
    for binding, balance in POLICIES:
        headway = support.run_mpi(
            mpi,
            argv,
            ranks=SETTINGS[2] + 2,
            options={
                "HEADWAY_GHOSTS": "2",
                "HEADWAY_REDIRECT": "on",
                "HEADWAY_GHOST_BINDING": binding,
                "HEADWAY_GHOST_BALANCE": balance,
            },
            records=tmp_path / f"{binding}-{balance}",
        )
        check_seeds(plain, headway, f"{first_seed} {POLICY_SEEDS}", f"{binding} {balance}")
        assert headway.total("operations_spread") > 0, f"{binding}, {balance}: nothing was shared"


@matrix.only(lambda mpi: mpi.name not in SPREAD_FAILURES, "the MPI fails between nodes, plain too")
@matrix.quick(
    lambda mpi: mpi.flavour != "ompi", "six processes on few cores take Open MPI most of a minute"
)
def test_same_bytes_between_nodes(
    mpi: Mpi, is_full: bool, request: pytest.FixtureRequest, tmp_path: Path, first_seed: int
) -> None:
    """Two user processes and a ghost a node: what is near is copied, what is far goes to ghosts,
    and a flush of it sleeps, where the MPI gains by that and user processes share a core."""
    seeds = FULL_SEEDS // SHARES["ompi5"] if is_full else 2
    argv = [
        str(support.compile_program(mpi, "random_rma", SOURCES)),
        str(first_seed),
        str(seeds),
    ]
    has_one_core = mpi.name == "mpich5"
    records = two_nodes.same_output(
        mpi,
        argv,
        tmp_path,
        users=2,
        rate="none",
        environment={"HEADWAY_DEFER": "on"} if first_seed % 2 else None,
        timeout=60 + 10.0 * seeds,
        cores=1 if has_one_core else 0,
    )
    # A process may have drawn no operation on another node.
    assert has_one_core == any(record["operations_slept_for"] > 0 for record in records)
    for counter in ("windows_redirected", "operations_redirected", "operations_copied"):
        assert sum(record[counter] for record in records) > 0, f"{counter} is 0"
    is_applied = sum(record["operations_applied"] for record in records) > 0
    assert is_applied == (mpi.flavour != "ompi"), "which MPI's accumulates may be applied near"


@matrix.only(matrix.on("mpich4"), "the others keep windows within a node to themselves")
@pytest.mark.parametrize("kind", ["allocate", "shared"])
def test_same_bytes_near_and_through_ghosts(
    mpi: Mpi, kind: str, request: pytest.FixtureRequest, tmp_path: Path, first_seed: int
) -> None:
    """On one node: one process asks the ghost for everything, the others for what they must."""
    seeds = request.config.getoption("--seeds") or POLICY_SEEDS
    argv = [support.compile_program(mpi, "random_rma", SOURCES), str(first_seed), str(seeds)]
    argv += ["--shared"] if kind == "shared" else []
    plain = support.run_mpi(mpi, argv, ranks=3)
    assert plain.status == 0, f"the plain control failed, {plain.explain()}"
    headway = support.run_mpi(
        mpi,
        support.rank_one_to_ghosts(argv),
        ranks=4,
        options={"HEADWAY_GHOSTS": "1"},
        records=tmp_path,
        timeout_s=60 + 10.0 * seeds,
    )
    check_seeds(plain, headway, f"{first_seed} {seeds}", "near and through ghosts")
    for counter in ("operations_applied", "operations_redirected"):
        assert headway.total(counter) > 0, f"{counter} is 0"
