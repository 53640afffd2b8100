# SPDX-License-Identifier: BSD-3-Clause
"""What is pending completes while the program computes: on every MPI, by order and by counters.

A library that only forwards would pass every test of answers. These it fails: plain, gain.c hangs.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import matrix
import pytest
import support
import two_nodes
from headway.mpi.mpis import Mpi
from test_ghosts import is_served

#: Enough for the policy to see what there is to gain.
WINDOWS = 16

HELPER = {**support.FORCED, "HEADWAY_ENGINE": "thread", "HEADWAY_TRIGGER": "helper"}


def program_of(mpi: Mpi) -> Path:
    return support.compile_program(mpi, "gain", [support.PROGRAMS / "gain.c"])


def beside_a_ghost(
    mpi: Mpi,
    does: str,
    tmp_path: Path,
    options: dict[str, str],
    word: int | None = None,
    **more: Any,
) -> support.Result:
    """Two ranks and a ghost within a node. WORD: what the case takes; else a folder to tell by."""
    (tmp_path / "said").mkdir()
    done = support.run_mpi(
        mpi,
        [program_of(mpi), does, tmp_path / "said" if word is None else word],
        ranks=3,
        options={"HEADWAY_GHOSTS": "1", **options},
        records=tmp_path / "records",
        **more,
    )
    assert_came(mpi, does, done)
    return done


def assert_came(mpi: Mpi, does: str, done: support.Result) -> None:
    assert done.status == 0 and not done.has_timed_out, done.explain()
    assert done.lines == [f"rank {rank} {does} done" for rank in range(2)], done.explain()


@matrix.check(lambda: True)
@pytest.mark.parametrize("does", ["message", "alone", "collective"])
def test_complete_before_its_wait(mpi: Mpi, does: str, tmp_path: Path) -> None:
    """Neither rank calls MPI before the data are there: that it ends at all is the proof.

    How many requests the thread saw complete says less: MPI_Request_get_status of MPICH 4.0 tells
    one poll late.
    """
    (tmp_path / "said").mkdir()
    done = support.run_mpi(
        mpi,
        [program_of(mpi), does, tmp_path / "said"],
        ranks=2,
        shared_memory=False,
        options=support.FORCED,
        records=tmp_path / "records",
    )
    assert_came(mpi, does, done)
    assert done.total("polls") > 0


@is_served
@matrix.check(lambda: True)
def test_ghost_serves(mpi: Mpi, tmp_path: Path) -> None:
    """A flush returns though its target does not call MPI until then."""
    done = beside_a_ghost(
        mpi, "window", tmp_path, {"HEADWAY_REDIRECT": "on", "HEADWAY_ENGINE": "off"}
    )
    assert done.total("operations_redirected") > 0


@is_served
@matrix.check(lambda: True)
def test_helper_says_when(mpi: Mpi, tmp_path: Path) -> None:
    """The thread sleeps on the word of a ghost alone, which has seen the message match."""
    done = beside_a_ghost(mpi, "message", tmp_path, HELPER)
    assert [record["trigger"] for record in done.records] == ["helper", "helper"]
    assert done.total("receives_registered") == 1
    assert done.total("sends_announced") == 1


@is_served
@matrix.one_of_a("family")
def test_collectives_are_looked_after_beside_a_helper(mpi: Mpi, tmp_path: Path) -> None:
    """Nobody tells of their messages, and no socket does: the thread that a helper wakes ticks."""
    done = beside_a_ghost(mpi, "schedules", tmp_path, HELPER)
    assert [record["trigger"] for record in done.records] == ["helper", "helper"]
    assert done.total("tracked_collective") == 6 and done.total("helper_wakes") == 0
    assert done.total("ticks") > 0


@is_served
@matrix.check(lambda: True)
def test_helper_spares_who_waits(mpi: Mpi, tmp_path: Path) -> None:
    """It reads that the process is inside MPI, and does not wake its thread."""
    done = beside_a_ghost(mpi, "awaited", tmp_path, HELPER, 4)
    assert done.total("receives_registered") == done.total("sends_announced") == 4
    assert done.total("helper_wakes_spared") > 0, done.explain()


@is_served
@matrix.check(lambda: True)
def test_helper_wakes_a_target(mpi: Mpi, tmp_path: Path) -> None:
    """The window is the MPI's own, and no socket tells of the operation on it."""
    done = beside_a_ghost(mpi, "created", tmp_path, {**HELPER, "HEADWAY_REDIRECT": "off"})
    assert done.total("operations_redirected") == 0
    assert done.total("targets_rung") > 0 and done.total("target_looks") > 0, done.explain()


@matrix.only(lambda mpi: mpi.flavour == "mpich", "Open MPI has sockets all the same")
@matrix.check(lambda: True)
def test_helper_wakes_a_target_that_never_had_a_message(mpi: Mpi, tmp_path: Path) -> None:
    """Its thread was made for the window, and slept before it knew who would tell it."""
    options = {**HELPER, "HEADWAY_EAGER_LIMIT": "64M", "HEADWAY_REDIRECT": "off"}
    done = beside_a_ghost(mpi, "asked", tmp_path, options, 50)
    assert done.total("target_looks") > 1, done.explain()


@matrix.only(lambda mpi: mpi.flavour == "mpich", "Open MPI has sockets all the same")
@matrix.check(lambda: True)
def test_auto_takes_a_helper(mpi: Mpi, tmp_path: Path) -> None:
    """Within a node no socket tells of messages."""
    done = beside_a_ghost(mpi, "message", tmp_path, {**HELPER, "HEADWAY_TRIGGER": "auto"})
    assert [record["trigger"] for record in done.records] == ["helper", "helper"]
    whys = {record["trigger_why"] for record in done.records} - {""}
    assert whys == {"the process has no connected socket"}, done.explain()
    assert done.total("receives_registered") == done.total("sends_announced") == 1


def may_run_in_real_time() -> bool:
    attempt = subprocess.run(["chrt", "--rr", "1", "true"], capture_output=True, check=False)
    return attempt.returncode == 0


@matrix.one_of_a("family")
@pytest.mark.parametrize("priority", ["rt", "auto"])
def test_priority(mpi: Mpi, priority: str, tmp_path: Path) -> None:
    """Where the kernel allows it the thread has it, and says so; else rt is refused at once."""
    (tmp_path / "said").mkdir()
    done = support.run_mpi(
        mpi,
        [program_of(mpi), "message", tmp_path / "said"],
        ranks=2,
        shared_memory=False,
        options={**support.FORCED, "HEADWAY_PRIORITY": priority},
        records=tmp_path / "records",
    )
    is_allowed = may_run_in_real_time()
    if priority == "rt" and not is_allowed:
        assert done.status == 78 and "HEADWAY_PRIORITY=rt" in done.stderr, done.explain()
        return
    assert_came(mpi, "message", done)
    expected = "rt" if is_allowed else "normal"
    assert [record["priority"] for record in done.records] == [expected] * 2


@is_served
@matrix.check(lambda: True)
def test_threads_do_without_a_helper_that_stands_still(mpi: Mpi, tmp_path: Path) -> None:
    """Nothing is told: the thread's own timer finds the messages, and takes over."""
    options = {**HELPER, "HEADWAY_HELPER_DRAW": "1"}  # so no sender does the helper's part
    done = beside_a_ghost(mpi, "stopped", tmp_path, options, WINDOWS)
    assert done.total("receives_registered") == 2 * WINDOWS
    assert done.total("helper_wakes") == 0
    assert done.total("completed_early") > 0
    assert [record["trigger"] for record in done.records] == ["tick", "tick"]


@is_served
@matrix.check(lambda: True)
def test_sender_tells_a_receiver_of_its_node(mpi: Mpi, tmp_path: Path) -> None:
    """Where the helper sleeps: it has no part in this, and the threads go on listening."""
    done = beside_a_ghost(mpi, "told", tmp_path, HELPER, WINDOWS)
    assert done.total("receives_registered") == done.total("sends_announced") == WINDOWS
    assert done.total("helper_wakes") > 0, done.explain()
    assert [record["trigger"] for record in done.records] == ["helper", "helper"]


@matrix.only(lambda mpi: mpi.flavour == "ompi", "Hydra ends a job of which a process was killed")
@matrix.check(lambda: True)
def test_threads_do_without_a_helper_that_was_killed(mpi: Mpi, tmp_path: Path) -> None:
    """Where the launcher lets the job go on it goes on, and ends."""
    done = beside_a_ghost(
        mpi,
        "killed",
        tmp_path,
        {**HELPER, "HEADWAY_REDIRECT": "off"},
        WINDOWS,
        extra=["--enable-recovery"],
    )
    told = [line for line in done.stderr.splitlines() if "[headway" in line]
    assert len(told) == 1 and "the helper of this node has ended" in told[0], done.explain()
    assert [record["trigger"] for record in done.records] == ["tick", "tick"]
    assert 0 < done.total("sends_announced") < 2 * (WINDOWS + 1)
    assert done.total("completed_early") > 0


@matrix.one_of_a("family")
def test_no_helper_without_ghosts(mpi: Mpi) -> None:
    done = support.run_mpi(
        mpi, [program_of(mpi), "message"], ranks=2, options={"HEADWAY_TRIGGER": "helper"}
    )
    told = [line for line in done.stderr.splitlines() if "[headway" in line]
    assert done.status == 78 and told, done.explain()
    assert all("HEADWAY_TRIGGER=helper" in line and "HEADWAY_GHOSTS=1" in line for line in told)


@is_served
@matrix.one_of_a("vendor")
@matrix.check(lambda: True)
def test_helper_says_when_between_nodes(mpi: Mpi, tmp_path: Path) -> None:
    argv = [str(program_of(mpi)), "windows", str(WINDOWS)]
    records = two_nodes.same_output(mpi, argv, tmp_path, environment=HELPER)
    for record in records:
        assert record["trigger"] == "helper"
        assert record["receives_registered"] == record["sends_announced"] == WINDOWS
        assert record["completed_early"] > 0, record


@matrix.one_of_a("launcher")
def test_policy_finds_the_gain(mpi: Mpi, tmp_path: Path) -> None:
    """Without any option, on two nodes: where there is something to gain the thread takes part."""
    argv = [str(program_of(mpi)), "windows", str(WINDOWS)]
    records = two_nodes.same_output(mpi, argv, tmp_path, ghosts=0)
    for record in records:
        assert record["engine"] == "thread"
        assert record["overlap_windows"] >= WINDOWS
        assert record["overlap_windows_off"] < record["overlap_windows"]
        assert record["completed_early"] > 0, record
