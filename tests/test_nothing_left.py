# SPDX-License-Identifier: BSD-3-Clause
"""After success, exit without MPI_Finalize, abort and `kill -9`: no process and nothing in /dev/shm
is left that a plain run would not leave."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
import uuid
from pathlib import Path

import leftovers
import matrix
import pytest
import support
import two_nodes
from headway.mpi import launch
from headway.mpi.mpis import Mpi

SOURCE = support.PROGRAMS / "endings.c"

#: Whose processes end first is theirs to say; a ghost that gets no core is too late.
ATTEMPTS = 3


def wait_until_gone(tag: str, limit_s: float = 15.0) -> list[int]:
    deadline = time.monotonic() + limit_s
    while (left := support.tagged_processes(tag)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def open_files(tag: str) -> set[str]:
    """What the job's processes have mapped or open under /dev/shm now."""
    names = set()
    for pid in support.tagged_processes(tag):
        try:
            text = Path(f"/proc/{pid}/maps").read_text()
        except OSError:
            continue
        names |= set(re.findall(r"/dev/shm/(\S*headway\S*)", text))
    return names


def said(result: support.Result) -> list[str]:
    """The program's own lines; a launcher adds its remarks about who died first."""
    return [line for line in result.lines if line.startswith("rank ") and "RANK" not in line]


def run_ending(
    mpi: Mpi, how: str, options: dict[str, str] | None
) -> tuple[support.Result, list[int]]:
    program = support.compile_program(mpi, "endings", [SOURCE])
    forward = {} if options is None else support.preloaded(mpi, options)
    made = launch.build(
        mpi, [str(program), how], ranks=2, forward=forward, extra=support.launcher_extra(mpi)
    )
    tag = uuid.uuid4().hex
    result = support.run_group(made.argv, support.job_environment(mpi, made.env), 60, tag)
    return result, wait_until_gone(tag)


@pytest.mark.parametrize("how", ["leak", "exit", "abort"])
def test_ending(mpi: Mpi, how: str) -> None:
    plain, plain_left = run_ending(mpi, how, None)
    before = support.shared_memory_files()
    headway, left = run_ending(mpi, how, support.FORCED)
    after = {name for name in support.shared_memory_files() - before if "headway" in name}
    assert not plain.has_timed_out and not plain_left, f"the plain control hangs; {plain.explain()}"
    assert not headway.has_timed_out, headway.explain()
    assert left == [] and after == set()
    assert (headway.status == 0) == (plain.status == 0), headway.explain()
    assert said(headway) == said(plain), headway.explain()


@matrix.only(matrix.on("mpich4", "mpich5", "ompi5"), "plain Intel MPI ends with another status")
def test_status_of_exit(mpi: Mpi) -> None:
    """Of exit(3) without MPI_Finalize: the program's, and not that of a ghost that was killed."""
    program = support.compile_program(mpi, "exits", [support.PROGRAMS / "exits.c"])
    ghosts = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}
    for _ in range(ATTEMPTS):
        plain = support.run_mpi(mpi, [program], ranks=1)
        if not support.tally("started again for Hydra's status after exit", plain.status != 5):
            break
    for _ in range(ATTEMPTS):
        headway = support.run_mpi(mpi, [program], ranks=2, options=ghosts)
        assert "rank 0 handled" in headway.stdout, headway.explain()
        assert "[headway ghost]" not in headway.stderr, headway.explain()
        if not support.tally("started again for Hydra's status after exit", headway.status != 5):
            break
    assert plain.status == 5 and said(plain) == ["rank 0 handled"], plain.explain()
    assert headway.status == 5, headway.explain()


def test_message_that_nobody_receives(mpi: Mpi) -> None:
    """MPI_Finalize ends a job with ghosts as it does plain, where such a message is no error."""
    program = support.compile_program(mpi, "endings", [SOURCE])
    plain = support.run_mpi(mpi, [program, "unmatched"], ranks=2)
    ghosts = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}
    headway = support.run_mpi(mpi, [program, "unmatched"], ranks=3, options=ghosts)
    assert plain.status == headway.status == 0, headway.explain()
    assert said(headway) == said(plain), headway.explain()


@matrix.one_of_a("launcher")
@pytest.mark.parametrize("how", ["late", "last"])
def test_finalized_as_it_ends(mpi: Mpi, how: str, tmp_path: Path) -> None:
    """MPI_Finalize in what exit() calls finds the ghost still there."""
    program = support.compile_program(mpi, "endings", [SOURCE])
    two_nodes.same_output(
        mpi, [str(program), how], tmp_path, environment={**support.FORCED, "HEADWAY_P2P": "ghost"}
    )


def first_ranks(process: subprocess.Popen, count: int) -> list[int]:
    assert process.stdout is not None
    found: list[int] = []
    while len(found) < count and (line := process.stdout.readline()):
        if match := re.match(r"pid (\d+)", line):
            found.append(int(match.group(1)))
    return found


def start_ranks(
    mpi: Mpi, made: launch.Launch, tag: str, count: int
) -> tuple[subprocess.Popen[str], list[int]]:
    """Once more where no rank came up: Open MPI's launcher may not listen (support.DEAF)."""
    process = support.start_tagged(mpi, made, tag)
    ranks = first_ranks(process, count)
    if support.tally("started again, for no rank came up", not ranks):
        support.kill_group(process, tag)
        process.wait()
        process = support.start_tagged(mpi, made, tag)
        ranks = first_ranks(process, count)
    return process, ranks


def test_kill_one_rank(mpi: Mpi) -> None:
    program = support.compile_program(mpi, "endings", [SOURCE])
    before = support.shared_memory_files()
    forward = support.preloaded(mpi, support.FORCED)
    made = launch.build(
        mpi, [str(program), "hang"], ranks=2, forward=forward, extra=support.launcher_extra(mpi)
    )
    tag = uuid.uuid4().hex
    process, ranks = start_ranks(mpi, made, tag, 2)
    try:
        assert len(ranks) == 2, "the program did not start"
        ours = open_files(tag)
        os.kill(ranks[1], signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode != 0
        assert wait_until_gone(tag) == []
        left = {
            name
            for name in support.shared_memory_files() - before
            if "headway" in name or name in ours
        }
        assert left == set()
    finally:
        support.kill_group(process, tag)
        process.wait()


def test_files_of_killed_jobs() -> None:
    """What an MPI made during the run and nobody uses is taken away; nothing else."""
    tag = uuid.uuid4().hex
    older, unused, used, other = (
        Path("/dev/shm") / name
        for name in (
            f"mpich_shm_{tag}_0",
            f"mpich_shm_{tag}_1",
            f"mpich_shm_{tag}_2",
            f"{tag}_other",
        )
    )
    older.touch()
    try:
        run = leftovers.Leftovers()
        unused.touch()
        other.touch()
        with used.open("w"):
            run.pytest_unconfigure()
        assert [path.exists() for path in (older, unused, used, other)] == [True, False, True, True]
    finally:
        for path in (older, unused, used, other):
            path.unlink(missing_ok=True)
