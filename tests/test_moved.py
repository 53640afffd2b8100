# SPDX-License-Identifier: BSD-3-Clause
"""Messages that ghosts move between nodes: the program sees what plain MPI shows it."""

from __future__ import annotations

from pathlib import Path

import fortran
import matrix
import pytest
import support
import test_random
import two_nodes
from headway.mpi.mpis import Mpi

#: Of one sender, that a receiver has not given back: src/engines/p2p/shared/block.h.
LANE_ENTRIES = 64

MOVED = {**support.FORCED, "HEADWAY_P2P": "ghost", "HEADWAY_OFFLOAD_MIN": "128"}


def total(records: list[dict], counter: str) -> int:
    return sum(record.get(counter, 0) for record in records)


@matrix.check(lambda size: size == "256")
@matrix.one_of_a("family")
@pytest.mark.parametrize("size", ["256", "1000000"])
def test_every_way_to_receive(mpi: Mpi, size: str, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "moved", [support.PROGRAMS / "moved.c"])
    records = two_nodes.same_output(
        mpi, [str(program), size, "2"], tmp_path, environment=MOVED, timeout=60
    )
    assert total(records, "p2p_offloaded") >= 18
    assert total(records, "p2p_tickets") == total(records, "p2p_offloaded")
    assert total(records, "p2p_held") > 0


@matrix.only(lambda mpi, case: mpi.name != "ompi4" or case == "messages", "it makes no windows")
@matrix.one_of_a("family")
@pytest.mark.parametrize("case", ["messages", "windows"])
def test_calls_within_finalize(mpi: Mpi, case: str, tmp_path: Path) -> None:
    """What an attribute of MPI_COMM_SELF does at the end ghosts still serve."""
    program = support.compile_program(mpi, "late_calls", [support.PROGRAMS / "late_calls.c"])
    records = two_nodes.same_output(mpi, [str(program), case], tmp_path, environment=MOVED)
    if case == "messages":
        assert total(records, "p2p_offloaded") == 4
    else:
        assert total(records, "operations_redirected") > 0


@matrix.quick(lambda staging: staging == "64K")
@matrix.one_of_a("family")
@pytest.mark.parametrize("staging", ["64K", "256M"])
def test_random_programs(
    mpi: Mpi, staging: str, is_full: bool, tmp_path: Path, first_seed: int
) -> None:
    seeds = test_random.FULL_SEEDS if is_full else test_random.DEFAULT_SEEDS // 2
    program = support.compile_program(mpi, "random_program", test_random.SOURCES)
    records = two_nodes.same_output(
        mpi,
        [str(program), str(first_seed), str(seeds), "--level", "funneled"],
        tmp_path,
        users=2 if is_full else 1,
        timeout=60 + 6.0 * seeds,
        environment={**MOVED, "HEADWAY_STAGING": staging},
    )
    assert total(records, "p2p_offloaded") > 0


@matrix.quick(matrix.on("mpich5"))
def test_datatypes(mpi: Mpi, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "moved_types", [support.PROGRAMS / "moved_types.c"])
    records = two_nodes.same_output(mpi, [str(program)], tmp_path, environment=MOVED, timeout=60)
    # 7 kinds of receivers, 3 times: from a row all, from five kinds all but the first ones
    assert total(records, "p2p_offloaded") == 21 + 5 * 21 - 5
    assert total(records, "p2p_tickets") == total(records, "p2p_offloaded")
    reasons = {reason for record in records for reason in record["declined"]}
    assert "p2p: of a datatype with many small blocks" in reasons


@matrix.quick(matrix.on("mpich5"))
@pytest.mark.parametrize("how", ["tickets", "sealed"])
def test_errors_of_freed_communicators(mpi: Mpi, how: str, tmp_path: Path) -> None:
    """At the handler that it had; MPICH 4.0 tells that of MPI_COMM_WORLD, plain too."""
    program = support.compile_program(mpi, "moved_freed", [support.PROGRAMS / "moved_freed.c"])
    cases = 3 if mpi.name == "mpich4" else 4
    argv = [str(program), how, *(["world"] if cases == 3 else [])]
    records = two_nodes.same_output(mpi, argv, tmp_path, environment=MOVED)
    counter = "p2p_tickets" if how == "tickets" else "p2p_sealed_sends"
    assert total(records, counter) == 2 * cases


@matrix.only(matrix.on("ompi4"), "other launchers end the ghosts at once, or hang, plain too")
def test_killed_process_is_no_bad_buffer(mpi: Mpi, tmp_path: Path) -> None:
    """Its ghost lives on for a moment; the launcher says what happened."""
    program = support.compile_program(mpi, "moved_dies", [support.PROGRAMS / "moved_dies.c"])
    _, done = two_nodes.both(mpi, [str(program)], tmp_path, environment=MOVED)
    assert not done.is_ok and not done.timed_out
    assert "give MPI a buffer" not in done.stderr


@matrix.only(lambda mpi: not mpi.is_intel, "Intel MPI keeps memory for them, plain too")
@matrix.quick(matrix.on("mpich5"))
@pytest.mark.parametrize("how", ["tickets", "sealed"])
def test_receives_given_up_cost_no_memory(mpi: Mpi, how: str, tmp_path: Path) -> None:
    program = support.compile_program(
        mpi, "moved_given_up", [support.PROGRAMS / "moved_given_up.c"]
    )
    records = two_nodes.same_output(mpi, [str(program), how], tmp_path, environment=MOVED)
    assert total(records, "p2p_tickets" if how == "tickets" else "p2p_sealed_sends") == 2


@matrix.only(lambda mpi: mpi.name != "ompi4", "it makes no windows")
@matrix.quick(lambda mpi: mpi.name in ("mpich5", "ompi5"))
def test_errors_are_heard_once(mpi: Mpi, tmp_path: Path) -> None:
    """Of calls on nothing; the engines that are asked look at nothing themselves."""
    program = support.compile_program(mpi, "null_comm", [support.PROGRAMS / "null_comm.c"])
    environment = {**MOVED, "HEADWAY_COLL": "ghost", "HEADWAY_TRIGGER": "helper"}
    records = two_nodes.same_output(mpi, [str(program)], tmp_path, environment=environment)
    assert {record["p2p"] for record in records} == {"ghost"}


@matrix.one_of_a("family")
@pytest.mark.parametrize("handler", ["returns", "own"])
@pytest.mark.parametrize("level", ["funneled", "multiple"])
def test_refused_calls(mpi: Mpi, level: str, handler: str, tmp_path: Path) -> None:
    """None waits for a half that the MPI has not refused, nor leaves a request."""
    program = support.compile_program(mpi, "moved_refused", [support.PROGRAMS / "moved_refused.c"])
    argv = [str(program), level, *(["own"] if handler == "own" else [])]
    two_nodes.same_output(mpi, argv, tmp_path, environment=MOVED, timeout=60)


@matrix.quick(lambda mpi, cores: mpi.name == "mpich5" and cores == 1)
@pytest.mark.parametrize("cores", [0, 1], ids=["own", "shared"])
def test_auto(mpi: Mpi, cores: int, tmp_path: Path) -> None:
    """A program that waits at once is left alone, and all are where a ghost shares a core."""
    program = support.compile_program(mpi, "moved_types", [support.PROGRAMS / "moved_types.c"])
    auto = {**MOVED, "HEADWAY_P2P": "auto"}
    records = two_nodes.same_output(
        mpi, [str(program)], tmp_path, environment=auto, timeout=60, cores=cores
    )
    if cores:
        assert {record["p2p"] for record in records} == {"thread"}
        told = {record["p2p_reason"] for record in records}
        assert "ghosts share cores with the program" in told
        assert total(records, "p2p_offloaded") == 0
        return
    assert {record["p2p"] for record in records} == {"ghost"}
    reasons = {reason for record in records for reason in record["declined"]}
    assert "p2p: not worth it, since its sender waits at once" in reasons
    assert 4 <= total(records, "p2p_offloaded") < 100


@matrix.quick(matrix.on("ompi5"))
def test_persistent_sends(mpi: Mpi, tmp_path: Path) -> None:
    program = support.compile_program(
        mpi, "moved_persistent", [support.PROGRAMS / "moved_persistent.c"]
    )
    records = two_nodes.same_output(
        mpi, [str(program), "100000"], tmp_path, environment=MOVED, timeout=60
    )
    # 7 rounds of 2 persistent sends, 3 more of them, 4 others. And 70 that no MPI here cancels: the
    # room of a cancelled one would stay taken.
    assert total(records, "p2p_tickets") == 7 * 2 + 3 + 4 + 70


@matrix.only(lambda mpi: mpi.name != "mpich5", "MPICH 5 over ofi tcp hangs with several threads")
@matrix.quick(lambda mpi, seed: mpi.name == "mpich4" and seed == 1)
@pytest.mark.parametrize("seed", range(1, 5))
def test_threads(mpi: Mpi, seed: int, is_full: bool, tmp_path: Path) -> None:
    program = support.compile_program(
        mpi, "moved_threads", [support.PROGRAMS / "moved_threads.c"], ["-pthread"]
    )
    argv = [str(program), str(seed), "60" if is_full else "20", "3"]
    records = two_nodes.same_output(mpi, argv, tmp_path, environment=MOVED, timeout=60)
    assert total(records, "p2p_offloaded") > 20
    assert total(records, "p2p_tickets") == total(records, "p2p_offloaded")
    assert total(records, "p2p_held") > 0


@matrix.one_of_a("family")
def test_needs_ghosts(mpi: Mpi) -> None:
    program = support.compile_program(mpi, "moved", [support.PROGRAMS / "moved.c"])
    done = support.run_mpi(mpi, [program], ranks=1, options={"HEADWAY_P2P": "ghost"})
    assert done.status == 78, done.explain()
    told = [line for line in done.stderr.splitlines() if line.startswith("[headway")]
    assert told and all("HEADWAY_P2P=ghost" in line and "HEADWAY_GHOSTS=1" in line for line in told)


@matrix.one_of_a("family")
@matrix.only(lambda mpi: mpi.name != "ompi4", "its windows, and so the node's arena, stay its own")
def test_memory_that_nobody_may_read(mpi: Mpi, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "moved_arena", [support.PROGRAMS / "moved_arena.c"])
    records = two_nodes.same_output(mpi, [str(program)], tmp_path, environment=MOVED)
    assert total(records, "p2p_offloaded") == 1


@matrix.only(lambda mpi: support.declares(mpi, "MPI_Isend_c"), "it has no such calls")
@matrix.quick(lambda: False)
def test_large_counts(mpi: Mpi, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "moved_counts", [support.PROGRAMS / "moved_counts.c"])
    environment = {**MOVED, "HEADWAY_COLL": "ghost"}
    records = two_nodes.same_output(mpi, [str(program)], tmp_path, environment=environment)
    assert total(records, "p2p_offloaded") == total(records, "p2p_tickets") == 9  # not halves
    assert total(records, "coll_moved") == 2


@matrix.only(lambda mpi: mpi.name != "ompi4", "its windows stay its own")
@matrix.quick(matrix.on("mpich5"))
def test_windows_beside(mpi: Mpi, tmp_path: Path) -> None:
    """Of the same ghosts."""
    program = support.compile_program(mpi, "moved_beside", [support.PROGRAMS / "moved_beside.c"])
    records = two_nodes.same_output(mpi, [str(program)], tmp_path, environment=MOVED)
    assert total(records, "p2p_offloaded") == total(records, "p2p_tickets") == 2 * 12
    assert total(records, "windows_redirected") == 2
    assert total(records, "operations_redirected") > 0


@matrix.quick(lambda: False)
@pytest.mark.parametrize("source", ["exchange_f08", "exchange_mpi", "exchange_mpif"])
def test_fortran(mpi: Mpi, source: str, tmp_path: Path) -> None:
    program = fortran.compile_or_skip(mpi, support.PROGRAMS / "fortran" / f"{source}.f90")
    records = two_nodes.same_output(mpi, [str(program)], tmp_path, environment=MOVED)
    assert total(records, "p2p_offloaded") == total(records, "p2p_tickets") == 4


@matrix.one_of_a("family")
def test_room_goes_where_the_traffic_is(mpi: Mpi, tmp_path: Path) -> None:
    """A message is larger than what each process of the other node has from the start."""
    program = support.compile_program(mpi, "moved_room", [support.PROGRAMS / "moved_room.c"])
    for launch in range(3):
        records = two_nodes.same_output(
            mpi,
            [str(program)],
            tmp_path / str(launch),
            users=2,
            environment={**MOVED, "HEADWAY_STAGING": "64K"},
        )
        is_late = total(records, "p2p_offloaded") == 0
        if not support.tally("started again, for ghosts asked for room too late", is_late):
            break
    assert not is_late


@matrix.quick(matrix.on("mpich5"))
def test_cancelled_sends_give_room_back(mpi: Mpi, tmp_path: Path) -> None:
    """More are cancelled than a receiver has entries for a sender, others are moved after them."""
    source = support.PROGRAMS / "moved_cancelled.c"
    program = support.compile_program(mpi, "moved_cancelled", [source], ["-ldl"])
    flags = ["-DSHIM", "-shared", "-fPIC"]
    shim = support.compile_program(mpi, "moved_cancelled.so", [source], flags)
    records = two_nodes.same_output(
        mpi,
        [str(program)],
        tmp_path,
        environment=MOVED,
        preload=f"{support.library(mpi)}:{shim}",
    )
    assert total(records, "p2p_offloaded") > LANE_ENTRIES
