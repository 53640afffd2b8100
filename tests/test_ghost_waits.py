# SPDX-License-Identifier: BSD-3-Clause
"""How a ghost waits: it spins on a core of its own, and sleeps where it shares one."""

from __future__ import annotations

import os
import subprocess
import uuid
from pathlib import Path

import pytest
import support
from headway.cluster.process import run_to_end
from headway.mpi import launch
from headway.mpi.mpis import Mpi
from test_ghosts import is_served


def waits_words(mpi: Mpi, cores: list[int], program: list) -> list[str]:
    """A job of two user processes and a ghost, with all that it prints on standard output."""
    options = {"HEADWAY_GHOSTS": "1", "HEADWAY_LOG": "debug", "HEADWAY_REDIRECT": "on"}
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    chosen = f"if [ {rank} -lt 2 ]; then core={cores[0]}; else core={cores[-1]}; fi"
    made = launch.build(
        mpi,
        ["sh", "-c", f'{chosen}; exec taskset -c $core "$0" "$@"', *program],
        ranks=3,
        forward=support.preloaded(mpi, options),
        netmod=support.netmod(mpi),
        extra=support.launcher_extra(mpi),
    )
    settings = [f"{name}={value}" for name, value in made.env.items()]
    return ["env", *settings, "sh", "-c", 'exec "$@" 2>&1', "sh", *map(str, made.argv)]


#: In what a ghost says when it begins to sleep, or to spin, for want of work or because of it.
OF_WORK = "thing to do:"


class Listener:
    """Hears what the ghost says of its work, or of its core alone, and ends the job once it has
    said all that is wanted."""

    def __init__(self, wanted: list[str], done: Path, is_of_work: bool) -> None:
        self.wanted, self.done, self.is_of_work = wanted, done, is_of_work
        self.said: list[str] = []

    def heed(self, line: str) -> None:
        if "this ghost" not in line or (OF_WORK in line) != self.is_of_work:
            return
        self.said.append("spins" if line.endswith("it spins") else "sleeps")
        if self.said == self.wanted:
            self.done.touch()


class Crowd(Listener):
    """Takes the ghost's core away while it spins, and gives it back while it sleeps."""

    def __init__(self, core: int, wanted: list[str], done: Path) -> None:
        super().__init__(wanted, done, is_of_work=False)
        self.core = core
        self.busy: subprocess.Popen | None = None

    def heed(self, line: str) -> None:
        super().heed(line)
        if self.said == ["spins"] and self.busy is None:
            words = ["taskset", "-c", str(self.core), "sh", "-c", "while :; do :; done"]
            self.busy = subprocess.Popen(words)
        elif self.said == ["spins", "sleeps"]:
            self.end()

    def end(self) -> None:
        if self.busy:
            self.busy.kill()
            self.busy.wait()


def wait_together(mpi: Mpi, cores: list[int], arguments: list, listener: Listener) -> str:
    """Runs the job to its end, which must be a good one; what it printed."""
    program = support.compile_program(mpi, "until", [support.PROGRAMS / "until.c"])
    tag = uuid.uuid4().hex
    result = run_to_end(
        waits_words(mpi, cores, [program, listener.done, *arguments]),
        env={**support.job_environment(mpi, {}), support.TAG: tag},
        cwd=None,
        timeout=60,
        on_line=listener.heed,
        sweep=lambda: len(support.tagged_processes(tag)),
    )
    assert result.returncode == 0 and not result.timed_out, result.stdout[-3000:]
    assert result.stdout.count("counted 0000000000000001") == 2
    return result.stdout


def two_cores() -> list[int]:
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        pytest.skip("one core is nobody's own")
    return cores


@pytest.mark.alone
@is_served
def test_spins_while_its_core_is_its_own(mpi: Mpi, tmp_path: Path) -> None:
    """Beside traffic: it sleeps while its core is busy, and tries again."""
    cores = two_cores()
    wanted = ["spins", "sleeps", "spins"]
    crowd = Crowd(cores[-1], wanted, tmp_path / "done")
    try:
        printed = wait_together(mpi, cores, ["busy"], crowd)
    finally:
        crowd.end()
    # On a busy machine it may have changed again before the job ended.
    assert crowd.said[: len(wanted)] == wanted, printed[-3000:]


@pytest.mark.alone
def test_sleeps_without_work(mpi: Mpi, tmp_path: Path) -> None:
    """It has a core of its own and nothing to do, until the job ends."""
    listener = Listener(["sleeps"], tmp_path / "done", is_of_work=True)
    printed = wait_together(mpi, two_cores(), [], listener)
    assert listener.said[:2] == ["sleeps", "spins"], printed[-3000:]


def test_sleeps_where_it_shares(mpi: Mpi, tmp_path: Path) -> None:
    """User processes are bound to its core: it sleeps from the start."""
    cores = sorted(os.sched_getaffinity(0))[:1]
    listener = Listener(["sleeps"], tmp_path / "done", is_of_work=False)
    printed = wait_together(mpi, cores, [], listener)
    assert listener.said == ["sleeps"], printed[-3000:]


@is_served
@pytest.mark.parametrize(
    "more",
    [{}, {"HEADWAY_ENGINE": "off"}, {"HEADWAY_GHOSTS": "2", "HEADWAY_GHOST_BALANCE": "operations"}],
    ids=["thread", "off", "two"],
)
def test_answers_until_it_is_over(
    mpi: Mpi, more: dict, few_cores: None, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    """An operation that takes many answers, within a node, where nothing wakes the ghost. Of two
    ghosts each may hold up what goes to the other."""
    argv = [support.compile_program(mpi, "many_answers", [support.PROGRAMS / "many_answers.c"])]
    plain = plain_run(mpi, argv, ranks=2)
    options = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on", "HEADWAY_ADAPT": "off", **more}
    ranks = 2 + int(options["HEADWAY_GHOSTS"])
    done = support.run_mpi(mpi, argv, ranks=ranks, options=options, records=tmp_path, timeout_s=120)
    assert sorted(done.lines) == sorted(plain.lines), done.explain()
    assert done.total("operations_redirected") >= 60 + 12 * 32, done.explain()
