# SPDX-License-Identifier: BSD-3-Clause
"""Nonblocking collectives that ghosts make: the program sees what plain MPI shows it."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
import test_random
import two_nodes
from headway.mpi.mpis import Mpi

MOVED = {**support.FORCED, "HEADWAY_COLL": "ghost", "HEADWAY_OFFLOAD_MIN": "128"}
#: What a process of tests/mpi/coll_moved.c posts that ghosts make.
EACH = 7 * 3 + 3 * (2 + 4) + 150
#: The same of tests/mpi/coll_reduced.c: operations of each datatype, and several at once.
REDUCED = 6 * 8 + 2 * 10 + 2 * 2 + 5

#: Of tests/mpi/coll_parts.c: one of each kind on two communicators of all, completed in 7 ways.
OF_ALL = 7 * 2 * 2


def counted(mpi: Mpi) -> int:
    """What one of tests/mpi/coll_counts.c does: rounds of all shapes, of which one gathers nothing;
    on Intel MPI two more gather nothing."""
    gathered = 1 if mpi.name == "impi" else 3
    return (7 + 1) * (gathered + 4) + 4


def total(records: list[dict], counter: str) -> int:
    return sum(record.get(counter, 0) for record in records)


def declined_beside(mpi: Mpi, name: str, size: str, folder: Path, moved: int) -> set[str]:
    """Runs a program of tests/mpi with blocks of SIZE bytes; ghosts make MOVED of each process's
    collectives. Why the others were declined."""
    program = support.compile_program(mpi, name, [support.PROGRAMS / f"{name}.c"])
    records = two_nodes.same_output(
        mpi, [str(program), size], folder, users=2, environment=MOVED, timeout=90
    )
    assert total(records, "coll_moved") == 4 * moved
    return {reason for record in records for reason in record["declined"]}


@matrix.check(lambda size: size == "300000")
@matrix.quick(lambda size: size == "300000")
@pytest.mark.parametrize("size", ["300000", "400", "3000000"])
def test_every_kind_and_door(mpi: Mpi, size: str, tmp_path: Path) -> None:
    reasons = declined_beside(mpi, "coll_moved", size, tmp_path, EACH)
    assert "coll: MPI_Ialltoall in place" in reasons
    assert any("made of it by MPI_Comm_dup" in reason for reason in reasons)


@matrix.quick(lambda size: size == "300000")
@pytest.mark.parametrize("size", ["300000", "400", "3000000"])
def test_counts_for_each_process(mpi: Mpi, size: str, tmp_path: Path) -> None:
    reasons = declined_beside(mpi, "coll_counts", size, tmp_path, counted(mpi))
    assert "coll: MPI_Ialltoallv in place" in reasons


@matrix.quick(lambda size: size == "300000")
@pytest.mark.parametrize("size", ["300000", "400", "3000000"])
def test_reductions(mpi: Mpi, size: str, tmp_path: Path) -> None:
    reasons = declined_beside(mpi, "coll_reduced", size, tmp_path, REDUCED)
    assert any("the order of operations would differ" in reason for reason in reasons)
    assert any(
        "an operation or of a datatype that ghosts do not have" in reason for reason in reasons
    )


@matrix.quick(lambda mpi, size: size == "40000" and mpi.name in ("mpich5", "ompi5"))
@pytest.mark.parametrize("size", ["40000", "400"])
def test_other_communicators_beside(mpi: Mpi, size: str, tmp_path: Path) -> None:
    """Of some processes, and of all in another order: they are the MPI's."""
    reasons = declined_beside(mpi, "coll_parts", size, tmp_path, OF_ALL)
    assert any("made of it by MPI_Comm_dup" in reason for reason in reasons)


@matrix.only(
    lambda mpi: mpi.name not in ("mpich5", "impi"),
    "with several threads over TCP MPICH 5 hangs, and Intel MPI crashes now and then, plain too",
)
@matrix.quick(matrix.on("ompi5"))
def test_threads_with_their_own_communicators(mpi: Mpi, tmp_path: Path) -> None:
    """At MPI_THREAD_MULTIPLE all collectives are the MPI's."""
    reasons = declined_beside(mpi, "coll_threads", "40000", tmp_path, 0)
    assert "coll: a process has MPI_THREAD_MULTIPLE" in reasons


@matrix.quick(matrix.on("mpich4"))
def test_refuses_what_plain_mpi_refuses(mpi: Mpi, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "coll_refused", [support.PROGRAMS / "coll_refused.c"])
    is_freed = str(int(mpi.name in ("mpich4", "ompi4", "ompi5")))
    records = two_nodes.same_output(
        mpi, [str(program), is_freed], tmp_path, users=2, environment=MOVED, timeout=90
    )
    assert total(records, "coll_moved") == 4 * (2 + (mpi.flavour != "ompi"))


@matrix.one_of_a("family")
@matrix.quick(matrix.on("mpich5"))
def test_needs_ghosts(mpi: Mpi) -> None:
    program = support.compile_program(mpi, "coll_moved", [support.PROGRAMS / "coll_moved.c"])
    done = support.run_mpi(mpi, [program], ranks=1, options={"HEADWAY_COLL": "ghost"})
    assert done.status == 78, done.explain()
    told = [line for line in done.stderr.splitlines() if line.startswith("[headway")]
    assert told and all(
        "HEADWAY_COLL=ghost" in line and "HEADWAY_GHOSTS=1" in line for line in told
    )


@matrix.quick(lambda: False)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "messages"])
def test_random_programs(mpi: Mpi, beside: bool, tmp_path: Path, first_seed: int) -> None:
    """Between messages and other collectives on several communicators; `beside`: the ghosts move
    messages, too."""
    seeds = test_random.FULL_SEEDS
    program = support.compile_program(mpi, "random_program", test_random.SOURCES)
    records = two_nodes.same_output(
        mpi,
        [str(program), str(first_seed), str(seeds), "--level", "funneled"],
        tmp_path,
        users=2,
        timeout=60 + 6.0 * seeds,
        environment={**MOVED, "HEADWAY_P2P": "ghost"} if beside else MOVED,
    )
    assert total(records, "coll_moved") > 0
