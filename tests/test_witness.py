# SPDX-License-Identifier: BSD-3-Clause
"""What a flush says is complete, others find at the target, by whatever route it went."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi
from test_ghosts import NEAR_AND_FAR, is_spread, program_of

#: What tests/mpi/witness.c says of its windows.
ASYNC_CONFIGS = {"owners": ["off"], "drawn": ["auto"]}


@is_spread
@matrix.only(
    lambda mpi, setting: setting != "profile" or mpi.name == "mpich5",
    "a profile is no different on another MPI",
)
@matrix.quick(lambda mpi, setting: setting == "profile" or mpi.name in ("impi", "ompi5"))
@pytest.mark.parametrize("setting", ["default", "owners", "drawn", "profile"])
def test_witness(mpi: Mpi, setting: str, tmp_path: Path) -> None:
    """No plain control: plain MPICH 5 and Intel MPI end a flush too early for it, or hang. By the
    route of ghosts, by that of owners, and by one that is drawn for each operation."""
    records = tmp_path / "records"
    records.mkdir()
    settings = {
        "LD_PRELOAD": str(support.library(mpi)),
        "HEADWAY_GHOSTS": "1",
        "HEADWAY_RECORD": str(records),
        "HEADWAY_PROFILE": "yes" if setting == "profile" else "no",
        "HEADWAY_ADAPT_DRAW": "11" if setting == "drawn" else "0",
    }
    argv = [str(program_of(mpi, "witness")), *ASYNC_CONFIGS.get(setting, [])]
    with Cluster(2, rate="none", pin="none") as cluster:
        found = cluster.run(
            mpi,
            argv,
            ranks_per_node=1 + (1 if setting in ASYNC_CONFIGS else NEAR_AND_FAR.get(mpi.name, 1)),
            env=settings,
            netmod=support.netmod(mpi),
            launcher_args=support.launcher_extra(mpi),
            timeout=support.LAUNCH_TIMEOUT_S,
        )
    assert found.is_ok, found.stderr[-2000:]
    written = support.read_records(records)
    ways = [record["operations_to_owners"] > 0 for record in written]
    assert ways[0] == (setting in ("owners", "drawn")), ways
    owed = [record["confirmations_owed"] for record in written]
    may_owe = mpi.name in ("mpich5", "impi") and setting != "profile"  # those over libfabric
    assert (owed[0] > 0) == may_owe and not any(owed[1:]), owed
