# SPDX-License-Identifier: BSD-3-Clause
"""The same program on two nodes, plain and with ghosts more on each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import support
from headway.cluster import Cluster, RunResult
from headway.mpi.mpis import Mpi


def both(
    mpi: Mpi,
    argv: list[str],
    records: Path,
    users: int = 1,
    ghosts: int = 1,
    rate: str = "1gbit",
    timeout: float = 60.0,
    environment: dict[str, str] | None = None,
    cores: int = 0,
    preload: str | None = None,
    netmod: str | None = None,
) -> tuple[RunResult, RunResult]:
    """The plain run, and that with ghosts. `users`: processes a node; `ghosts` may be 0.
    `cores`: of a node, which its processes share; 0: they may run on all of the machine's.
    `preload`: in place of the library. `netmod`: of MPICH 5, in place of ofi."""
    records.mkdir(exist_ok=True)
    settings = {
        **(environment or {}),
        "LD_PRELOAD": preload or str(support.library(mpi)),
        "HEADWAY_RECORD": str(records),
    }
    if ghosts:
        settings["HEADWAY_GHOSTS"] = str(ghosts)
    # Plain MPICH 4.0 often hangs in MPI_Finalize; the library by itself lets it end.
    control = {"LD_PRELOAD": str(support.library(mpi)), "HEADWAY_ENGINE": "off"}
    common = {
        "netmod": netmod or support.netmod(mpi),
        "launcher_args": support.launcher_extra(mpi),
        "timeout": timeout,
    }
    if cores:
        common["cores_per_node"] = cores
    with Cluster(2, rate=rate, pin="core" if cores else "none") as cluster:
        plain_env = control if mpi.name == "mpich4" else None
        plain = cluster.run(mpi, argv, ranks_per_node=users, env=plain_env, **common)
        headway = cluster.run(mpi, argv, ranks_per_node=users + ghosts, env=settings, **common)
    return plain, headway


def same_output(
    mpi: Mpi,
    argv: list[str],
    records: Path,
    *,
    faults: re.Pattern[str] | None = None,
    **how: Any,
) -> list[dict]:
    """Both end well and print the same lines. `how`: as `both` takes it. `faults`: what the run
    with ghosts must not say.

    Gives the records of the run with ghosts.
    """
    plain, headway = both(mpi, argv, records, **how)
    assert plain.is_ok, plain.stderr[-2000:]
    assert not (faults and faults.search(headway.stderr)), headway.stderr[-8000:]
    assert headway.is_ok, headway.stderr[-2000:]
    assert sorted(headway.stdout.splitlines()) == sorted(plain.stdout.splitlines()), headway.stdout
    return support.read_records(records)
