# SPDX-License-Identifier: BSD-3-Clause
"""Messages within a node that their receivers read: the program sees what plain MPI shows it."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
import test_random
from headway.mpi.mpis import Mpi

NEAR = {
    **support.FORCED,
    "HEADWAY_GHOSTS": "1",
    "HEADWAY_P2P": "ghost",
    "HEADWAY_P2P_NEAR": "on",
    "HEADWAY_OFFLOAD_MIN": "128",
}


def same_lines(
    mpi: Mpi, argv: list[str], records: Path, users: int = 2, options: dict[str, str] | None = None
) -> support.Result:
    """Under ghosts on one node the program prints what it prints without."""
    plain = support.run_mpi(mpi, argv, ranks=users)
    done = support.run_mpi(
        mpi, argv, ranks=users + 1, records=records, options=NEAR | (options or {})
    )
    assert plain.status == done.status == 0, done.explain()
    assert sorted(plain.lines) == sorted(done.lines), done.explain()
    assert done.total("p2p_tickets") == done.total("p2p_near") > 0
    return done


@matrix.quick(lambda mpi, size: mpi.name == "mpich5" and size == "256")
@pytest.mark.parametrize("size", ["256", "1000000"])
def test_every_way_to_receive(mpi: Mpi, size: str, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "moved", [support.PROGRAMS / "moved.c"])
    done = same_lines(mpi, [str(program), size, "2"], tmp_path)
    assert done.total("p2p_near") >= 18
    assert done.total("p2p_held") > 0


@matrix.quick(matrix.on("mpich5"))
def test_held_messages(mpi: Mpi, tmp_path: Path) -> None:
    """A held message's sender may wait for the receive before it does anything else."""
    program = support.compile_program(mpi, "moved_held", [support.PROGRAMS / "moved_held.c"])
    done = same_lines(mpi, [str(program)], tmp_path)
    assert done.total("p2p_held") > 0


@matrix.quick(matrix.on("ompi5"))
def test_what_messages_leave_alone(mpi: Mpi, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "moved_traces", [support.PROGRAMS / "moved_traces.c"])
    same_lines(mpi, [str(program)], tmp_path)


@matrix.quick(matrix.on("mpich5"))
def test_late_receivers(mpi: Mpi, tmp_path: Path) -> None:
    """No send waits for a receiver that is blocked elsewhere: three of these, at least."""
    program = support.compile_program(mpi, "moved_near", [support.PROGRAMS / "moved_near.c"])
    done = same_lines(mpi, [str(program)], tmp_path)
    assert done.total("p2p_near") == 3 + 2 * 20 + 1 + 2 * 40 + 1 + 1
    assert done.total("p2p_near_left") >= 3


@matrix.quick(matrix.on("ompi5"))
def test_little_room(mpi: Mpi, tmp_path: Path) -> None:
    """What could not be moved away is the MPI's."""
    program = support.compile_program(mpi, "moved_near", [support.PROGRAMS / "moved_near.c"])
    done = same_lines(mpi, [str(program)], tmp_path, options={"HEADWAY_STAGING": "2M"})
    reasons = {reason for record in done.records for reason in record["declined"]}
    assert "p2p: no room on the receiver's node" in reasons


@matrix.quick(lambda mpi, users: mpi.name == "ompi5" and users == 3)
@pytest.mark.parametrize("users", [2, 3])
def test_random_programs(
    mpi: Mpi, users: int, is_full: bool, tmp_path: Path, first_seed: int
) -> None:
    seeds = test_random.FULL_SEEDS if is_full else 1
    program = support.compile_program(mpi, "random_program", test_random.SOURCES)
    argv = [program, str(first_seed), str(seeds), "--level", "funneled"]
    plain = support.run_mpi(mpi, argv, ranks=users, timeout_s=60 + 6.0 * seeds)
    assert plain.status == 0, plain.explain()
    done = support.run_mpi(
        mpi, argv, ranks=users + 1, records=tmp_path, options=NEAR, timeout_s=60 + 6.0 * seeds
    )
    test_random.check_seeds(plain, done, f"{first_seed} {seeds}", "LD_PRELOAD")
    assert done.total("p2p_tickets") == done.total("p2p_near") > 0


@matrix.quick(lambda mpi, value: mpi.name == "mpich5" and value == "auto")
@pytest.mark.parametrize("value", ["off", "auto"])
def test_left_to_the_mpi(mpi: Mpi, value: str, tmp_path: Path) -> None:
    """By `auto` where processes and ghosts share cores."""
    program = support.compile_program(mpi, "moved", [support.PROGRAMS / "moved.c"])
    options = NEAR | {"HEADWAY_P2P_NEAR": value}
    argv = ["taskset", "-c", "0", str(program), "256", "1"] if value == "auto" else []
    done = support.run_mpi(
        mpi, argv or [program, "256", "1"], ranks=3, records=tmp_path, options=options
    )
    assert done.status == 0, done.explain()
    assert done.total("p2p_near") == 0
    assert {record["p2p"] for record in done.records} == {"thread"}
    assert "all processes are on one node" in {record["p2p_reason"] for record in done.records}
