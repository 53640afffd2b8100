"""Random one-sided programs leave the same bytes with and without ghosts."""

from __future__ import annotations

from pathlib import Path

import pytest
import support
from headway.mpis import Mpi
from test_random import check_seeds

SOURCES = sorted((support.PROGRAMS / "random_rma").glob("*.c"))
DEFAULT_SEEDS = 10
FULL_SEEDS = 150

#: Open MPI never yields a core, which makes more processes than cores slow: fewer.
OMPI_SHARE = 5

#: ghosts -> user processes
SETTINGS = {1: 3, 2: 4}


@pytest.mark.parametrize("ghosts", SETTINGS)
def test_same_bytes(
    mpi: Mpi, ghosts: int, is_full: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if mpi.name == "ompi4":
        pytest.skip(f"{mpi.title} keeps its own windows, which lose operations, plain too")
    users = SETTINGS[ghosts]
    seeds = request.config.getoption("--seeds") or (FULL_SEEDS if is_full else DEFAULT_SEEDS)
    if mpi.flavour == "ompi":
        seeds = max(1, seeds // OMPI_SHARE)
    first = request.config.getoption("--seed-base")
    argv = [support.compile_program(mpi, "random_rma", SOURCES), str(first), str(seeds)]
    timeout_s = 60 + 10.0 * seeds
    plain = support.run_mpi(mpi, argv, ranks=users, timeout_s=timeout_s)
    assert plain.status == 0, f"the plain control failed, {plain.explain()}"
    headway = support.run_mpi(
        mpi,
        argv,
        ranks=users + ghosts,
        options={"HEADWAY_GHOSTS": str(ghosts), "HEADWAY_REDIRECT": "on"},
        records=tmp_path,
        timeout_s=timeout_s,
    )
    check_seeds(plain, headway, f"{first} {seeds}", "ghosts")
    assert len(plain.lines) >= seeds * users
    for counter in ("windows_redirected", "operations_redirected", "locks_redirected"):
        assert headway.total(counter) > 0, f"{counter} is 0: no ghost was asked"
    assert headway.total("operations_spread") == 0  # unless asked for


#: HEADWAY_GHOST_BINDING, HEADWAY_GHOST_BALANCE
POLICIES = [("rank", "random"), ("rank", "operations"), ("rank", "bytes"), ("segment", "off")]
POLICY_SEEDS = 3


def test_policies(mpi: Mpi, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """However operations are shared out between the ghosts of a node."""
    if mpi.name != "mpich5":
        pytest.skip("who serves what does not depend on the MPI")
    first = request.config.getoption("--seed-base")
    argv = [support.compile_program(mpi, "random_rma", SOURCES), str(first), str(POLICY_SEEDS)]
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
        check_seeds(plain, headway, f"{first} {POLICY_SEEDS}", f"{binding} {balance}")
        assert headway.total("operations_spread") > 0, f"{binding}, {balance}: nothing was shared"
