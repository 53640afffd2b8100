# SPDX-License-Identifier: BSD-3-Clause
"""What programs may tell the library: headway.h from C, C++, Fortran; `import headway`."""

from __future__ import annotations

import html
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import headway as package
import matrix
import pytest
import support
from conftest import ROOT, build
from headway.mpi.mpis import Mpi
from headway.report import phases, runs
from test_run import follow

pytestmark = pytest.mark.beside  # short jobs: most of the time is that of their start
Headway = Callable[..., subprocess.CompletedProcess[str]]
INCLUDE = ROOT / "include"
OK, ABSENT, MISUSE = 0, 1, -1
#: the thread must be seen at work on any machine and transport
SETTINGS = {
    **support.ENGINE,
    "HEADWAY_STAND_DOWN": "never",
    "HEADWAY_TICK_US": "200",
    "HEADWAY_PROFILE": "yes",
}


def figures(stdout: str) -> list[dict[str, float]]:
    """Each rank's `RANK NAME VALUE` lines."""
    found: dict[int, dict[str, float]] = {}
    for line in stdout.splitlines():
        words = line.split()
        if len(words) == 3:
            found.setdefault(int(words[0]), {})[words[1]] = float(words[2])
    return [found[rank] for rank in sorted(found)]


#: The program gives the thread a fixed time to hear of a descriptor; beside other load it may not.
ATTEMPTS = 3


@pytest.fixture
@matrix.quick(matrix.on("mpich4", "ompi4"), "one MPI of a family stands for it")
def program(mpi: Mpi) -> Path:
    return build(mpi, "interface.c", f"-I{INCLUDE}", "-ldl")


def test_without_the_library(program: Path, mpi: Mpi) -> None:
    """The same binary, plain: every answer is HEADWAY_ABSENT, every figure is 0."""
    done = support.run_mpi(mpi, [program], ranks=2)
    assert done.status == 0, done.explain()
    ranks = figures(done.stdout)
    assert len(ranks) == 2
    for rank in ranks:
        calls = ("early", "phases", "pause", "resume", "listen", "unlisten", "query", "null_name")
        assert {rank[name] for name in calls} == {ABSENT}
        assert not any(rank[name] for name in ("active", "tracked", "told", "looks_after_pause"))


def check_answers(rank: dict[str, float]) -> None:
    right = ("phases", "pause", "pause_twice", "resume", "resume_last", "listen", "unlisten")
    assert {rank[name] for name in (*right, "query")} == {OK}, rank
    wrong = ("resume_too_often", "end_without_begin", "null_name", "unlisten_too_often")
    assert {rank[name] for name in (*wrong, "listen_to_nothing")} == {MISUSE}, rank
    # Before MPI_Init nothing runs yet, but a phase may begin.
    assert rank["early"] == OK and rank["paused"] == rank["still_paused"] == 1
    assert rank["pending_in_pause"] == 2
    assert rank["looks_in_pause"] == 0 and rank["looks_after_pause"] > 0
    assert rank["told"] > 0 and rank["told_afterwards"] == 0
    assert rank["active"] == 1 and rank["active_afterwards"] == 0
    assert rank["tracked"] >= 2 * 6 and rank["overlapped"] > 0


def check_phases(found: dict[str, phases.Phase]) -> None:
    names = {"before MPI_Init", "loop", "even", "odd", "n" * 63, 'open "to" the end'}
    assert set(found) == names
    counts = {name: [one.count for one in found[name].ranks] for name in ("loop", "even", "odd")}
    assert counts == {"loop": [1, 1], "even": [3, 3], "odd": [3, 3]}
    for inner in ("even", "odd"):
        for one in found[inner].ranks:
            assert one.tracked == 6 and one.wall_ns >= 3 * 20_000_000
            assert one.overlapped_ns > 0 and one.mpi_ns > 0
    assert [outer.tracked for outer in found["loop"].ranks] == [12, 12]
    both = found["even"].mean("wall_ns") + found["odd"].mean("wall_ns")
    assert found["loop"].mean("wall_ns") >= both > 0


def test_with_the_library(headway: Headway, program: Path, mpi: Mpi, tmp_path: Path) -> None:
    for _ in range(ATTEMPTS):
        done = headway("run", "--record", "kept", "-n", 2, program, **SETTINGS)
        assert done.returncode == 0, done.stderr
        ranks = figures(done.stdout)
        assert len(ranks) == 2
        is_late = any(rank["told"] == 0 for rank in ranks)
        if not support.tally("started again, for the thread was kept from its core", is_late):
            break
    for rank in ranks:
        check_answers(rank)
    assert f"version {package.__version__} engine thread" in done.stdout
    check_phases({phase.name: phase for phase in phases.phases_of(runs.load(tmp_path / "kept"))})
    schema = json.loads((ROOT / "doc/schema/record.json").read_text())
    for path in (tmp_path / "kept").glob("headway.*.json"):
        follow(json.loads(path.read_text()), schema, "record")
    if mpi.name != "mpich4":
        return
    told = headway("report", "kept", "--html", "page.html")
    assert told.returncode == 0, told.stderr
    assert "Phases the program named" in told.stdout and "even" in told.stdout
    assert 'open "to" the end' in html.unescape((tmp_path / "page.html").read_text())


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_records_without_phases(headway: Headway, mpi: Mpi, hello: Path, tmp_path: Path) -> None:
    assert headway("run", "--record", "kept", "-n", 2, hello).returncode == 0
    record = json.loads((tmp_path / "kept" / "headway.0.json").read_text())
    assert "phases" not in record
    assert "Phases" not in headway("report", "kept").stdout
    for odd in (3, [3], [{"name": 3}], [{"name": "x"}, {"name": "x", "wall_ns": "y"}]):
        (tmp_path / "kept" / "headway.0.json").write_text(json.dumps({**record, "phases": odd}))
        assert headway("report", "kept", "--html", "page.html").returncode == 0


@pytest.mark.parametrize(
    ("compiler", "flags"),
    [("gcc", "-std=c99"), ("gcc", "-std=c17"), ("g++", "-std=c++11"), ("g++", "-std=c++20")],
)
def test_header_compiles_strictly(compiler: str, flags: str, tmp_path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    source = tmp_path / ("test.cpp" if compiler == "g++" else "test.c")
    source.write_text(
        '#include "headway.h"\n'
        "int main(void) { struct headway_state state;\n"
        'return headway_phase_begin("x") != HEADWAY_ABSENT || headway_phase_end() != 1\n'
        "|| headway_pause() != 1 || headway_resume() != 1 || headway_query(&state) != 1\n"
        "|| state.is_active || headway_listen(0) != 1 || headway_unlisten(0) != 1; }\n"
    )
    strict = ["-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Werror", f"-I{INCLUDE}", "-O2"]
    out = tmp_path / "test"
    subprocess.run([compiler, flags, *strict, source, "-o", out, "-ldl"], check=True)
    assert subprocess.run([out]).returncode == 0


def test_fortran(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    if mpi.mpifort is None:
        pytest.skip(f"{mpi.title} has no Fortran that the compiler here can use")
    program = tmp_path / "fortran"
    subprocess.run(
        [mpi.mpifort, "-std=f2008", "-J", tmp_path, "-o", program, INCLUDE / "headway.f90"]
        + [ROOT / "tests" / "cli" / "interface_fortran.f90", "-ldl"],
        env=mpi.environment(),
        check=True,
        cwd=tmp_path,
    )
    done = headway("run", "--record", "kept", "-n", 2, program)
    assert done.returncode == 0, done.stderr
    lines = [line.split()[1:] for line in done.stdout.splitlines() if "fortran" in line]
    assert lines == [["0", "0", "1", "0", "0", "0", "-1"]] * 2
    assert [p.name for p in phases.phases_of(runs.load(tmp_path / "kept"))] == ["from Fortran"]
    plain = support.run_mpi(mpi, [program], ranks=2)
    assert plain.stdout.split().count("1") == 2 * 6, plain.explain()


PYTHON = """
import headway
with headway.phase("from Python"):
    with headway.paused():
        print("within", headway.query() and headway.query().is_paused)
    state = headway.query()
    print("after", state and (state.is_paused, state.engine, state.version), headway.resume())
"""


def test_python_doors(tmp_path: Path) -> None:
    """They need no MPI: a process with the library in it is enough."""
    for preload, expected in (
        ("", ["within None", "after None False"]),
        (
            str(ROOT / "build" / "lib" / "libheadway-mpich.so"),
            ["within True", f"after (False, 'off', '{package.__version__}') False"],
        ),
    ):
        done = subprocess.run(
            [sys.executable, "-c", PYTHON],
            env={"PYTHONPATH": str(ROOT / "cli"), "LD_PRELOAD": preload, "PATH": "/usr/bin"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.stdout.splitlines() == expected, done.stderr
    with pytest.raises(AttributeError):
        package.no_such_thing  # noqa: B018
