# SPDX-License-Identifier: BSD-3-Clause
"""How jobs with ghosts end before their time: a process killed, MPI_Abort. Nothing is left, and a
ghost is named where it was killed, and only there."""

from __future__ import annotations

import os
import re
import signal
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matrix
import pytest
import support
from headway.cluster import Cluster
from headway.cluster.process import RunResult, run_to_end
from headway.mpi import launch
from headway.mpi.mpis import Mpi

pytestmark = pytest.mark.beside  # most of the time is that of starts and of waiting for ends
OPTIONS = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}

#: First ghosts exchange shares without a pause: one that is killed is killed in an exchange, or
#: another one waits for its part of the next (src/ghost/exchange.h).
EXCHANGING = {
    "HEADWAY_ADAPT": "global",
    "HEADWAY_PREDICT_INT": "1ms",
    "HEADWAY_GSYNC_INT": "1ms",
}

#: Jobs until one ends as all should: has_told and has_ended say which do not.
ATTEMPTS = 3

#: Where windows between nodes work with several processes a node.
SPREAD_MPIS = ("mpich4", "mpich5", "ompi5", "impi")

#: Which of them end so without --full. A job of Open MPI 5 that hangs then, plain too, is a wait
#: for the time limit.
QUICK_ENDS = {"ghost": SPREAD_MPIS, "user": ("mpich5",), "abort": ("mpich4", "ompi5")}


def program_of(mpi: Mpi) -> Path:
    return support.compile_program(mpi, "endless_rma", [support.PROGRAMS / "endless_rma.c"])


def told(result: RunResult) -> list[str]:
    return [line for line in result.stderr.splitlines() if "[headway ghost]" in line]


def processes_named(wanted: str, tag: str) -> list[int]:
    found = []
    for pid in support.tagged_processes(tag):
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        if name == wanted:
            found.append(pid)
    return sorted(found)


class Killer:
    """Kills one process of a job once all the others have said that they are at work."""

    def __init__(self, victim: str, count: int, number: int = signal.SIGKILL) -> None:
        self.tag = uuid.uuid4().hex
        self.victim, self.missing, self.number = victim, count, number
        self.killed: list[int] = []

    def heed(self, line: str) -> None:
        self.missing -= "at-work" in line
        if self.missing == 0 and not self.killed and self.victim:
            self.killed.append(processes_named(self.victim, self.tag)[0])
            os.kill(self.killed[0], self.number)


def sweep(tag: str) -> int:
    """A launcher may be gone a moment before the last of its job."""
    deadline = time.monotonic() + 15
    while (left := support.tagged_processes(tag)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    return len(left)


def sweep_now(tag: str) -> None:
    for pid in support.tagged_processes(tag):
        os.kill(pid, signal.SIGKILL)


def run_here(mpi: Mpi, arguments: tuple[str, ...], killer: Killer) -> RunResult:
    """With two user processes and a ghost."""
    made = launch.build(
        mpi,
        [str(program_of(mpi)), *arguments],
        ranks=3,
        forward=support.preloaded(mpi, OPTIONS),
        netmod=support.netmod(mpi),
        extra=support.launcher_extra(mpi),
    )
    environment = {**support.job_environment(mpi, made.env), support.TAG: killer.tag}
    for _ in range(support.LISTEN_ATTEMPTS):
        result = run_to_end(
            [str(word) for word in made.argv],
            env=environment,
            cwd=None,
            timeout=60,
            on_line=killer.heed,
            sweep=lambda: sweep(killer.tag),
        )
        if not support.is_deaf(result.stderr):
            break
    return result


def assert_ended(result: RunResult) -> None:
    explained = result.stdout[-2000:] + result.stderr[-2000:]
    assert result.returncode != 0 and not result.timed_out, explained
    assert result.leftovers == 0, explained


def run_until(is_enough: Callable[[RunResult], bool], run: Callable[[], RunResult]) -> RunResult:
    for _ in range(ATTEMPTS):
        result = run()
        is_again = not is_enough(result)
        if not support.tally("started again after a process was killed", is_again):
            break
    return result


def has_told(result: RunResult) -> bool:
    """Where its own process gets no core for milliseconds, nobody tells of a ghost."""
    return bool(told(result)) and has_ended(result)


def has_ended(result: RunResult) -> bool:
    """Plain Open MPI 5 hangs now and then when a process is killed, or aborts, between nodes."""
    return not result.timed_out


@pytest.mark.parametrize("victim", ["headway-ghost", "endless_rma"])
def test_process_killed(mpi: Mpi, victim: str) -> None:
    """Of the two kinds only a ghost is named."""
    killers: list[Killer] = []

    def run() -> RunResult:
        killers.append(Killer(victim, 2))
        return run_here(mpi, (), killers[-1])

    result = run_until(has_told if victim == "headway-ghost" else has_ended, run)
    killed = killers[-1].killed
    assert killed, result.stdout + result.stderr
    assert_ended(result)
    assert len(told(result)) == (victim == "headway-ghost"), result.stderr[-3000:]
    assert all(f"process {killed[0]} " in line for line in told(result)), result.stderr


@matrix.one_of_a("vendor")
def test_ghost_asked_to_end(mpi: Mpi) -> None:
    """By somebody's SIGTERM, and not by the launcher's, which ends all."""
    killers: list[Killer] = []

    def run() -> RunResult:
        killers.append(Killer("headway-ghost", 2, signal.SIGTERM))
        return run_here(mpi, (), killers[-1])

    result = run_until(has_told, run)
    assert_ended(result)
    assert [f"process {killers[-1].killed[0]} " in line for line in told(result)] == [True]
    assert "killed by signal 15" in told(result)[0]


@matrix.only(matrix.on("ompi5"), "the processes of others end by themselves, plain too")
def test_launcher_killed(mpi: Mpi) -> None:
    """Plain its processes live on. With ghosts these end them, and themselves."""
    left: list[list[int]] = []
    for options in (None, OPTIONS):
        tag = uuid.uuid4().hex
        made = launch.build(
            mpi,
            [str(program_of(mpi))],
            ranks=3,
            forward={} if options is None else support.preloaded(mpi, options),
            extra=support.launcher_extra(mpi),
        )
        with support.start_tagged(mpi, made, tag) as process:
            assert process.stdout is not None
            wanted = 3 if options is None else 2
            while wanted and (line := process.stdout.readline()):
                wanted -= "at-work" in line
            assert wanted == 0, "the job did not start"
            process.kill()
            process.wait()
        deadline = time.monotonic() + (3 if options is None else 15)
        while support.tagged_processes(tag) and time.monotonic() < deadline:
            time.sleep(0.1)
        left.append(support.tagged_processes(tag))
        sweep_now(tag)
    assert left[0], "the plain control ends by itself: nothing is shown"
    assert left[1] == []


@pytest.mark.parametrize("rank", ["0", "1"])
def test_abort(mpi: Mpi, rank: str) -> None:
    """The launcher kills the ghosts as well, and that is nothing to tell of. The job's status is
    the program's, as plain; Intel MPI's launcher says 255 half the time, plain too."""
    killer = Killer("", 2)
    result = run_here(mpi, (rank,), killer)
    assert_ended(result)
    assert result.returncode == 7 or mpi.name == "impi", (result.returncode, result.stderr[-3000:])
    assert told(result) == [], result.stderr[-3000:]


@matrix.only(matrix.on("mpich4"), "the others' launchers do not end such a job, plain too")
def test_slow_launcher(mpi: Mpi) -> None:
    """A process that leaves, on a machine so busy that its launcher is late to end the others: the
    status is the process's, or 1 as now and then plain, and none of ours."""
    source = support.PROGRAMS / "slow_launcher.c"
    program = support.compile_program(mpi, "slow_launcher", [source])
    result = support.run_mpi(mpi, [program], ranks=3, options=OPTIONS)
    assert result.status in (7, 1), result.explain()
    assert "[headway ghost]" not in result.stderr, result.explain()


class PatientCluster(Cluster):
    """Counts as left over what is left of a job after a while."""

    tag = ""

    def sweep_run(self, tag: str) -> tuple[int, bool]:
        left = sweep(self.tag)
        _, has_others = super().sweep_run(tag)
        return left, has_others


@dataclass
class Between:
    """Two nodes, where one process of a job is killed, or one aborts it."""

    cluster: PatientCluster
    mpi: Mpi
    how: str

    def run(self, victim: str, ranks_per_node: int, settings: dict[str, str]) -> RunResult:
        killer = Killer(victim, 4)
        self.cluster.tag = killer.tag
        result = self.cluster.run(
            self.mpi,
            [str(program_of(self.mpi)), *(["1"] if self.how == "abort" else [])],
            ranks_per_node=ranks_per_node,
            env={**settings, support.TAG: killer.tag},
            on_line=killer.heed,
            netmod=support.netmod(self.mpi),
            launcher_args=support.launcher_extra(self.mpi),
            timeout=20,
        )
        assert bool(killer.killed) == bool(victim), result.stdout + result.stderr
        return result

    def files(self) -> set[str]:
        """In /dev/shm of both; what differs between the names of two runs is left out."""
        listing = ["sh", "-c", "ls /dev/shm"]
        result = self.cluster.run(self.mpi, listing, netmod=support.netmod(self.mpi))
        assert result.is_ok, result.stderr[-2000:]
        return {re.sub("[0-9a-f]{3,}", "*", name) for name in result.stdout.split()}


@pytest.fixture(scope="module")
def controls() -> dict[tuple[str, bool], tuple[RunResult, set[str]]]:
    """How plain jobs end, and what is left of them, by MPI and whether a process is killed."""
    return {}


@matrix.only(matrix.on(*SPREAD_MPIS), "Open MPI 4 cannot make windows between nodes, plain too")
@matrix.quick(lambda mpi, how: mpi.name in QUICK_ENDS[how])
@pytest.mark.parametrize("how", ["ghost", "user", "abort"])
def test_ended_between_nodes(
    mpi: Mpi, how: str, controls: dict[tuple[str, bool], tuple[RunResult, set[str]]]
) -> None:
    """In the middle of an epoch, on two nodes of two user processes and a ghost each."""
    victim = {"ghost": "headway-ghost", "user": "endless_rma", "abort": ""}[how]
    settings = {"LD_PRELOAD": str(support.library(mpi)), **OPTIONS}
    settings |= EXCHANGING if how == "ghost" else {}
    with PatientCluster(2, rate="none", pin="none") as cluster:
        between = Between(cluster, mpi, how)
        key = (mpi.name, bool(victim))
        if key not in controls:
            plain_victim = "endless_rma" if victim else ""
            plain = run_until(has_ended, partial(between.run, plain_victim, 2, {}))
            controls[key] = plain, between.files()
        control, before = controls[key]
        is_enough = has_told if how == "ghost" else has_ended
        result = run_until(is_enough, partial(between.run, victim, 3, settings))
        after = between.files()
    assert not control.is_ok, control.stderr[-2000:]
    assert_ended(result)
    assert len(told(result)) == (how == "ghost"), result.stderr[-3000:]
    assert after <= before, "files are left that plain does not leave"
