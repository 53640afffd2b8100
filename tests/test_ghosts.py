"""Ghosts: programs give with them what they give plain, and their operations were redirected."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import support
from headway.cluster import Cluster
from headway.mpis import Mpi

EXIT_BAD_INPUT = 78

#: Why the ghosts decline every window of this MPI.
DECLINED = {"ompi4": "Open MPI 4 loses one-sided operations"}


@dataclass(frozen=True)
class Program:
    """One C file of tests/mpi; `plain_arguments` where the control must do less."""

    name: str
    users: int = 3
    ghosts: int = 1
    arguments: tuple[str, ...] = ()
    plain_arguments: tuple[str, ...] | None = None
    counters: tuple[str, ...] = ("windows_redirected", "operations_redirected", "locks_redirected")
    label: str = ""

    @property
    def id(self) -> str:
        return self.label or self.name


PROGRAMS = [
    Program("ghosts"),
    Program("ghosts", users=4, ghosts=2, label="two-ghosts"),
    # Plain MPICH 4.0 and Intel MPI end with an error when a window is never freed.
    Program("ghosts", arguments=("leak",), plain_arguments=(), label="never-freed"),
    Program("completion_rma", users=2),
    # What `readers` adds hangs plain.
    Program("contention", arguments=("readers",), plain_arguments=()),
    Program("world", arguments=("{scratch}/world.data",), counters=()),
]

#: The programs that run between two nodes too.
SPREAD = [program for program in PROGRAMS if program.id in ("ghosts", "completion_rma", "world")]
SPREAD_MPIS = ("mpich5", "ompi5", "impi")


def program_of(mpi: Mpi, name: str) -> Path:
    return support.compile_program(mpi, name, [support.PROGRAMS / f"{name}.c"])


def words(mpi: Mpi, program: Program, arguments: tuple[str, ...] | None, scratch: Path) -> list:
    chosen = program.arguments if arguments is None else arguments
    return [program_of(mpi, program.name), *(text.format(scratch=scratch) for text in chosen)]


def assert_served(mpi: Mpi, program: Program, records: list[dict]) -> None:
    totals = {name: sum(r[name] for r in records) for name in program.counters}
    if mpi.name in DECLINED:
        assert not any(totals.values()), totals
        told = {text for record in records for text in record["declined"]}
        if program.counters:
            assert any(text.startswith(DECLINED[mpi.name]) for text in told), told
    else:
        assert all(totals.values()), f"not exercised: {totals}"


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_same_output(mpi: Mpi, program: Program, tmp_path: Path) -> None:
    if mpi.name in DECLINED and program.id not in ("ghosts", "world"):
        pytest.skip(f"{mpi.title} keeps its own windows, which fail in this program, plain too")
    plain_arguments = program.plain_arguments
    plain = support.run_mpi(
        mpi, words(mpi, program, plain_arguments, tmp_path), ranks=program.users
    )
    assert plain.status == 0, f"the plain control failed, {plain.explain()}"
    declined = mpi.name in DECLINED
    arguments = plain_arguments if declined else None
    headway = support.run_mpi(
        mpi,
        words(mpi, program, arguments, tmp_path),
        ranks=program.users + program.ghosts,
        options={"HEADWAY_GHOSTS": str(program.ghosts), "HEADWAY_REDIRECT": "on"},
        records=tmp_path / "records",
    )
    assert headway.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert [record["size"] for record in headway.records] == [program.users] * program.users
    assert_served(mpi, program, headway.records)


@pytest.mark.parametrize("program", SPREAD, ids=lambda program: program.id)
def test_two_nodes(mpi: Mpi, program: Program, is_full: bool, tmp_path: Path) -> None:
    """One user process and one ghost a node; both windows' memory and ghosts are far and near."""
    if mpi.name not in SPREAD_MPIS:
        pytest.skip(f"{mpi.title} fails or hangs in MPI_Finalize between nodes, seen plain too")
    if program.name != "ghosts" and not is_full:
        pytest.skip("only with --full")
    records = tmp_path / "records"
    records.mkdir()
    argv = [str(word) for word in words(mpi, program, None, tmp_path)]
    settings = {
        "LD_PRELOAD": str(support.library(mpi)),
        "HEADWAY_GHOSTS": "1",
        "HEADWAY_RECORD": str(records),
    }
    common = {"netmod": support.netmod(mpi), "launcher_args": support.launcher_extra(mpi)}
    with Cluster(2, pin="none") as cluster:
        plain = cluster.run(mpi, argv, ranks_per_node=1, **common)
        headway = cluster.run(mpi, argv, ranks_per_node=2, env=settings, **common)
    assert plain.is_ok, plain.stderr[-2000:]
    assert headway.is_ok, headway.stderr[-2000:]
    assert sorted(headway.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    assert_served(mpi, program, support.read_records(records))


@pytest.mark.parametrize("ghosts, ranks", [(1, 1), (2, 2)])
def test_too_many_ghosts(mpi: Mpi, ghosts: int, ranks: int) -> None:
    result = support.run_mpi(
        mpi,
        [program_of(mpi, "ghosts")],
        ranks=ranks,
        options={"HEADWAY_GHOSTS": str(ghosts)},
        timeout_s=30,
    )
    told = [line for line in result.stderr.splitlines() if "[headway" in line]
    assert result.status != 0 and not result.has_timed_out, result.explain()
    assert len(told) == 1 and f"HEADWAY_GHOSTS={ghosts}" in told[0], result.explain()
    assert not result.lines


@pytest.mark.parametrize("value", ["-1", "one", "1025"])
def test_malformed_count(mpi: Mpi, value: str) -> None:
    result = support.run_mpi(
        mpi, [program_of(mpi, "ghosts")], ranks=1, options={"HEADWAY_GHOSTS": value}, timeout_s=30
    )
    assert result.status != 0 and "HEADWAY_GHOSTS" in result.stderr, result.explain()


def test_declined_by_option(mpi: Mpi, tmp_path: Path) -> None:
    """Windows that are not redirected are the MPI's own, in a world without the ghosts."""
    argv = [program_of(mpi, "ghosts")]
    plain = support.run_mpi(mpi, argv, ranks=2)
    headway = support.run_mpi(
        mpi,
        argv,
        ranks=3,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "off"},
        records=tmp_path,
    )
    assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
    assert headway.total("windows_redirected") == 0
    told = {text for record in headway.records for text in record["declined"]}
    assert "windows are not redirected: HEADWAY_REDIRECT=off" in told


def processes_named(wanted: str, tag: str) -> list[int]:
    found = []
    for pid in support.tagged_processes(tag):
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
        except OSError:
            continue
        if name == wanted:
            found.append(pid)
    return found


def kill_one(tag: str, is_ghost: bool, killed: list[int]) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not killed:
        time.sleep(0.1)
        if processes_named("headway-ghost", tag):
            time.sleep(1.0)  # the program is at work by now
            name = "headway-ghost" if is_ghost else "endless_rma"
            killed.append(processes_named(name, tag)[0])
            os.kill(killed[0], signal.SIGKILL)


@pytest.mark.parametrize("is_ghost", [True, False], ids=["ghost", "user"])
def test_process_killed(mpi: Mpi, is_ghost: bool) -> None:
    """The job ends, and nothing is left. One line tells of a ghost that was killed; a ghost that
    the launcher ended after a user process may be told of as well."""
    tag = f"killed-{is_ghost}-{mpi.name}-{os.getpid()}"
    killed: list[int] = []
    forward = {
        "LD_PRELOAD": str(support.library(mpi)),
        "HEADWAY_GHOSTS": "1",
        "HEADWAY_REDIRECT": "on",
    }
    made = support.launch.build(
        mpi,
        [str(program_of(mpi, "endless_rma"))],
        ranks=3,
        forward=forward,
        netmod=support.netmod(mpi),
        extra=support.launcher_extra(mpi),
    )
    killer = threading.Thread(target=kill_one, args=(tag, is_ghost, killed))
    killer.start()
    result = support.run_group(
        made.argv, support.job_environment(mpi, made.env), timeout_s=45, tag=tag
    )
    killer.join()
    assert killed, result.explain()
    assert result.status != 0 and not result.has_timed_out, result.explain()
    told = [line for line in result.stderr.splitlines() if "[headway ghost]" in line]
    assert is_ghost <= len(told) <= 1, result.explain()
    assert all("was killed" in line for line in told), result.explain()
    assert not support.tagged_processes(tag)


def test_run_adds_ghosts(mpi: Mpi, tmp_path: Path) -> None:
    """`headway run --ghosts N -n P` starts P + N processes, and the program sees P."""
    argv = [
        str(support.ROOT / "build" / "venv" / "bin" / "python"),
        "-m",
        "headway",
        "run",
        "--ghosts",
        "1",
        "-n",
        "2",
        "--record",
        str(tmp_path),
        str(program_of(mpi, "ghosts")),
    ]
    environment = {**os.environ, **mpi.environment(), "PYTHONPATH": str(support.ROOT / "cli")}
    done = subprocess.run(
        argv, env=environment, capture_output=True, text=True, timeout=80, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    records = support.read_records(tmp_path)
    assert [record["size"] for record in records] == [2, 2]
