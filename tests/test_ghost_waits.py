"""How a ghost waits: it spins on a core of its own, and sleeps where it shares one."""

from __future__ import annotations

import os
import subprocess
import uuid
from pathlib import Path

import pytest
import support
from headway import launch
from headway.cluster.process import run_to_end
from headway.mpis import Mpi


def waits_words(mpi: Mpi, cores: list[int], done: Path) -> list[str]:
    """A job of two user processes and a ghost, with all that it prints on standard output."""
    program = support.compile_program(mpi, "until", [support.PROGRAMS / "until.c"])
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    chosen = f"if [ {rank} -lt 2 ]; then core={cores[0]}; else core={cores[-1]}; fi"
    made = launch.build(
        mpi,
        ["sh", "-c", f'{chosen}; exec taskset -c $core "$0" "$@"', program, done],
        ranks=3,
        forward=support.preloaded(mpi, {"HEADWAY_GHOSTS": "1", "HEADWAY_LOG": "debug"}),
        netmod=support.netmod(mpi),
        extra=support.launcher_extra(mpi),
    )
    settings = [f"{name}={value}" for name, value in made.env.items()]
    return ["env", *settings, "sh", "-c", 'exec "$@" 2>&1', "sh", *map(str, made.argv)]


class Crowd:
    """Takes a ghost's core away while the ghost spins, and gives it back while it sleeps."""

    def __init__(self, core: int, done: Path) -> None:
        self.core, self.done = core, done
        self.said: list[str] = []
        self.busy: subprocess.Popen | None = None

    def heed(self, line: str) -> None:
        if "this ghost" not in line:
            return
        self.said.append("spins" if line.endswith("it spins") else "sleeps")
        if self.said == ["spins"]:
            words = ["taskset", "-c", str(self.core), "sh", "-c", "while :; do :; done"]
            self.busy = subprocess.Popen(words)
        elif self.said == ["spins", "sleeps"]:
            self.end()
        if self.said in (["sleeps"], ["spins", "sleeps", "spins"]):
            self.done.touch()

    def end(self) -> None:
        if self.busy:
            self.busy.kill()
            self.busy.wait()


@pytest.mark.parametrize("has_own_core", [True, False], ids=["own-core", "shared-core"])
def test_spins_or_sleeps(mpi: Mpi, has_own_core: bool, tmp_path: Path) -> None:
    """A ghost spins on a core of its own, sleeps while that is busy, and tries again; where user
    processes are bound to it, it sleeps from the start."""
    cores = sorted(os.sched_getaffinity(0))[: 2 if has_own_core else 1]
    if has_own_core and len(cores) < 2:
        pytest.skip("one core is nobody's own")
    done = tmp_path / "done"
    crowd = Crowd(cores[-1], done)
    tag = uuid.uuid4().hex
    try:
        result = run_to_end(
            waits_words(mpi, cores, done),
            env={**support.job_environment(mpi, {}), support.TAG: tag},
            cwd=None,
            timeout=60,
            on_line=crowd.heed,
            sweep=lambda: len(support.tagged_processes(tag)),
        )
    finally:
        crowd.end()
    assert result.returncode == 0 and not result.timed_out, result.stdout[-3000:]
    # On a busy machine it may have changed again before the job ended.
    wanted = ["spins", "sleeps", "spins"] if has_own_core else ["sleeps"]
    assert crowd.said[: len(wanted)] == wanted, result.stdout[-3000:]
    assert has_own_core or crowd.said == wanted, result.stdout[-3000:]
    assert result.stdout.count("counted 0000000000000001") == 2
