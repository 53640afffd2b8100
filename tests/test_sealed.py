# SPDX-License-Identifier: BSD-3-Clause
"""Sealed communicators: ghosts match what both sides know to be theirs."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
import test_moved
import test_random
import two_nodes
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi

#: What the program does against its word -> what the line says of it.
LIES = {
    "MPI_ANY_SOURCE": "MPI_ANY_SOURCE",
    "MPI_ANY_TAG": "MPI_ANY_TAG",
    "length": "receives 4000 bytes, for a message of 4 bytes,",
    "short": "receives less than the 4000 bytes that rank 0 has sent",
}
#: What the program sends in each run that ghosts move, by every process of one half.
LEAST_SENDS = 700


@matrix.check(lambda size, how: size == "4096" and how == "dup")
@matrix.quick(lambda size, how: size == "4096" and how == "dup")
@matrix.one_of_a("family")
@pytest.mark.parametrize("how", ["dup", "set"])
@pytest.mark.parametrize("size", ["4096", "1000000"])
def test_every_way_to_send_and_receive(mpi: Mpi, size: str, how: str, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "sealed", [support.PROGRAMS / "sealed.c"])
    records = two_nodes.same_output(
        mpi, [str(program), size, how], tmp_path, environment=test_moved.MOVED, timeout=90
    )
    sends = test_moved.total(records, "p2p_sealed_sends")
    assert test_moved.total(records, "p2p_seals") == 2
    assert sends > LEAST_SENDS
    assert test_moved.total(records, "p2p_tickets") == 0


@matrix.one_of_a("family")
@matrix.quick(lambda how: how in ("any", "cancel"))
@pytest.mark.parametrize("how", ["any", "some", "test", "cancel"])
def test_waits_that_others_depend_on(mpi: Mpi, how: str, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "sealed_waits", [support.PROGRAMS / "sealed_waits.c"])
    records = two_nodes.same_output(
        mpi, [str(program), how], tmp_path, users=1, environment=test_moved.MOVED, timeout=60
    )
    assert test_moved.total(records, "p2p_sealed_sends") > 0


@matrix.quick(lambda: False)
@matrix.one_of_a("family")
@matrix.only(lambda mpi: mpi.name != "ompi4", "Open MPI 4 hangs on communicators with assertions")
def test_random_programs(mpi: Mpi, is_full: bool, tmp_path: Path, first_seed: int) -> None:
    seeds = test_random.FULL_SEEDS if is_full else test_random.DEFAULT_SEEDS // 2
    program = support.compile_program(mpi, "random_program", test_random.SOURCES)
    records = two_nodes.same_output(
        mpi,
        [str(program), str(first_seed), str(seeds), "--level", "funneled", "--exact"],
        tmp_path,
        users=2 if is_full else 1,
        timeout=60 + 6.0 * seeds,
        environment=test_moved.MOVED,
    )
    assert test_moved.total(records, "p2p_sealed_sends") > 0


@matrix.one_of_a("family")
@pytest.mark.parametrize("what", LIES)
@matrix.quick(
    lambda mpi, what: (
        what in ("MPI_ANY_TAG", "short") or (mpi.name == "mpich5" and what == "length")
    )
)
def test_a_wrong_word_ends_the_job(mpi: Mpi, what: str) -> None:
    program = support.compile_program(mpi, "sealed_lie", [support.PROGRAMS / "sealed_lie.c"])
    settings = {
        **test_moved.MOVED,
        "LD_PRELOAD": str(support.library(mpi)),
        "HEADWAY_GHOSTS": "1",
    }
    with Cluster(2) as cluster:
        done = cluster.run(
            mpi,
            [str(program), what],
            ranks_per_node=2,
            env=settings,
            netmod=support.netmod(mpi),
            launcher_args=support.launcher_extra(mpi),
            timeout=30,
        )
    assert not done.is_ok
    told = [line for line in done.stderr.splitlines() if LIES[what] in line and "[headway" in line]
    assert told and "rank 1" in told[0] and '"mine"' in told[0], done.stderr[-2000:]


@matrix.quick(matrix.on("mpich5"))
@matrix.one_of_a("family")
@pytest.mark.parametrize("handler", ["returns", "own"])
def test_refused_messages_do_not_count(mpi: Mpi, handler: str, tmp_path: Path) -> None:
    program = support.compile_program(
        mpi, "sealed_refused", [support.PROGRAMS / "sealed_refused.c"]
    )
    argv = [str(program), *(["own"] if handler == "own" else [])]
    records = two_nodes.same_output(mpi, argv, tmp_path, environment=test_moved.MOVED, timeout=60)
    assert test_moved.total(records, "p2p_sealed_sends") >= 8


@matrix.only(matrix.on("ompi5"), "MPICH and Intel MPI give a later session no threads")
def test_a_later_session_with_threads(mpi: Mpi, tmp_path: Path) -> None:
    """Its threads do not use what sealed communicators share without a lock, and it seals none."""
    program = support.compile_program(
        mpi, "sealed_session", [support.PROGRAMS / "sealed_session.c"], ["-pthread"]
    )
    records = two_nodes.same_output(
        mpi, [str(program)], tmp_path, environment=test_moved.MOVED, timeout=90
    )
    assert test_moved.total(records, "p2p_seals") == 2
    assert test_moved.total(records, "p2p_sealed_sends") > 0
    assert test_moved.total(records, "p2p_tickets") > 0
