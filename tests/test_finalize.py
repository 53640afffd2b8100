# SPDX-License-Identifier: BSD-3-Clause
"""Jobs leave MPI_Finalize, and what was sent right before it arrives.

With two processes a node on two nodes plain MPICH 4.0 over UCX often hangs (bench/finalize.py)."""

from __future__ import annotations

from collections.abc import Iterator

import matrix
import pytest
import support
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi

NODES = 2
USERS = 2  # a node
WAYS = ("eager", "buffered", "large", "freed", "callback")

#: options -> ghosts a node
MODES = {"thread": ({}, 0), "off": ({"HEADWAY_ENGINE": "off"}, 0), "ghosts": ({}, 1)}

#: Said by UCX, on standard output, where the last word of a message whose request was freed comes
#: after all have entered MPI_Finalize's barrier.
WARNING = "was not returned to mpool ucp_requests"

#: Said by HEADWAY_VERBOSE where a process answered others while it waited in MPI_Finalize.
LOOKED = "at the network while MPI_Finalize waited for the other processes"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(NODES, rate="1gbit", pin="none") as made:
        yield made


ATTEMPTS = 3


def has_answers(mpi: Mpi) -> bool:
    """Elsewhere nobody waits in MPI_Finalize without making progress."""
    return mpi.name == "mpich4" and mpi.version.startswith("4.0")


def run(cluster: Cluster, mpi: Mpi, way: str, mode: str, **more: str) -> tuple[list[str], str]:
    program = support.compile_program(mpi, "last_messages", [support.PROGRAMS / "last_messages.c"])
    options, ghosts = MODES[mode]
    environment = {"LD_PRELOAD": str(support.library(mpi)), "HEADWAY_VERBOSE": "yes"}
    if ghosts:
        environment["HEADWAY_GHOSTS"] = str(ghosts)
    done = cluster.run(
        mpi,
        [str(program), way],
        env={**environment, **options, **more},
        ranks_per_node=USERS + ghosts,
        netmod=support.netmod(mpi),
        launcher_args=support.launcher_extra(mpi),
        timeout=40,
    )
    assert done.is_ok, f"hung: {done.timed_out}; {done.stdout}{done.stderr[-2000:]}"
    support.tally("UCX warned of a freed send at the end", WARNING in done.stdout)
    return sorted(x for x in done.stdout.splitlines() if WARNING not in x), done.stderr


@matrix.only(
    lambda mpi, mode: mode != "ghosts" or mpi.name != "ompi4",
    "Open MPI 4 cannot make windows between nodes, plain too",
)
@matrix.only(
    lambda mpi, way: way != "freed" or mpi.name != "mpich5",
    "MPICH 5 leaves MPI_Finalize while others read a freed request's data, plain too",
)
@matrix.quick(lambda mpi, way, mode: has_answers(mpi) or (way, mode) == ("large", "thread"))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", MODES)
def test_all_arrives_and_all_end(cluster: Cluster, mpi: Mpi, way: str, mode: str) -> None:
    lines, told = run(cluster, mpi, way, mode)
    size = NODES * USERS
    assert lines == [f"rank {rank} of {size} has all" for rank in range(size)]
    assert has_answers(mpi) or LOOKED not in told


def test_who_waits_looks(cluster: Cluster, mpi: Mpi) -> None:
    """Rank 0, which alone says so, is there before odd ranks, which receive late, unless it was
    kept from its core for so long."""
    for _ in range(ATTEMPTS):
        _, told = run(cluster, mpi, "eager", "off")
        is_again = has_answers(mpi) and LOOKED not in told
        if not support.tally("started again, for rank 0 was kept from its core", is_again):
            break
    assert (LOOKED in told) == has_answers(mpi), told


@pytest.mark.parametrize("word", ["auto", "mpi"])
def test_left_to_the_mpi(mpi: Mpi, word: str) -> None:
    """Within a node, where plain MPICH 4.0 ends as well."""
    program = support.compile_program(mpi, "last_messages", [support.PROGRAMS / "last_messages.c"])
    options = {"HEADWAY_VERBOSE": "yes", "HEADWAY_ENGINE": "off", "HEADWAY_FINALIZE": word}
    done = support.run_mpi(mpi, [program, "eager"], ranks=2, options=options)
    assert done.status == 0 and len(done.lines) == 2, done.explain()
    assert (LOOKED in done.stderr) == (word == "auto" and has_answers(mpi)), done.stderr
