# SPDX-License-Identifier: BSD-3-Clause
"""`headway profile`: what a program did, at which line, counted and timed by the library."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
from conftest import build
from headway import records
from headway.mpi.mpis import Mpi
from headway.report import text
from headway.report.communicators import communicators_of
from headway.report.recorded import Site, profile_of
from headway.report.runs import Run, load

Headway = Callable[..., subprocess.CompletedProcess[str]]
HERE = Path(__file__).resolve().parent
ROUNDS = 7
BYTES = 128 << 10
COMMUNICATORS = {"MPI_COMM_WORLD", "halo of the grid", "of ranks 0", "of ranks 1", "owner", "anew"}


MATRIX_RULES = [matrix.quick(matrix.on("mpich4", "ompi5"), "one MPI of a family stands for it")]


@pytest.fixture
def sites(mpi: Mpi) -> Path:
    return build(mpi, "sites.c", "-g", "-O1")


def line_of(mark: str, source: str = "sites.c") -> int:
    lines = (HERE / source).read_text().splitlines()
    (number,) = (
        n for n, text in enumerate(lines, 1) if text.rstrip(" */").endswith(f"site: {mark}")
    )
    return number


def at(run: Run, mark: str, function: str, source: str = "sites.c") -> Site:
    """The one site of that line."""
    line = line_of(mark, source)
    found = [s for s in run.sites if s.place.line == line and s.function == function]
    assert len(found) == 1, (mark, [str(s.place) for s in run.sites])
    return found[0]


def test_counts_every_site(headway: Headway, mpi: Mpi, sites: Path, tmp_path: Path) -> None:
    done = headway("profile", "--record", "kept", "-n", 2, sites, ROUNDS)
    assert done.returncode == 0, done.stderr
    run = load(tmp_path / "kept")
    assert "done 7" in done.stdout and "Time in MPI" in done.stdout
    assert ("Why it waited" in done.stdout) == bool(text.wait_rows(run)), done.stdout
    assert [r.engine for r in run.records] == ["off", "off"]
    assert all(r.tracked_p2p == 0 for r in run.records), "profiling alone must not engage"

    send = at(run, "isend", "Isend")
    assert send.place.function == "exchange" and Path(send.place.file).name == "sites.c"
    assert send.calls == 2 * ROUNDS and send.total("bytes") == 2 * ROUNDS * BYTES
    assert send.total("completed") == 2 * ROUNDS
    assert send.size_class == 18 and sorted(send.ranks) == [0, 1]

    door = at(run, "waitall", "Waitall")
    assert door.calls == 2 * ROUNDS and door.total("completed") == 4 * ROUNDS
    assert door.total("bytes") == 4 * ROUNDS * BYTES
    assert door.seconds < run.wall * 2

    for mark in "startall", "startall by one":
        starts = [s for s in run.sites if s.place.line == line_of(mark)]
        assert sum(s.calls for s in starts) == 2 * ROUNDS
        assert sum(s.total("completed") for s in starts) == 4 * ROUNDS
    one_by_one = at(run, "persistent waitany", "Waitany")
    assert one_by_one.total("completed") == one_by_one.calls > 0
    assert one_by_one.total("bytes") == one_by_one.calls * BYTES

    assert at(run, "small", "Isend").total("completed") == 8 * ROUNDS
    assert at(run, "several small", "Waitall").total("bytes") == 16 * ROUNDS * 4

    assert at(run, "allreduce", "Allreduce").total("bytes") == 2 * ROUNDS * 4
    assert at(run, "wait collective", "Wait").total("completed") == 2 * ROUNDS
    posts = [s for s in run.sites if s.function in ("Isend", "Irecv", "Iallreduce")]
    assert sum(s.total("completed") for s in posts) == sum(s.calls for s in posts) == 34 * ROUNDS


def test_asking_in_a_loop_is_a_wait(
    headway: Headway, mpi: Mpi, sites: Path, tmp_path: Path
) -> None:
    assert headway("profile", "--record", "kept", "-n", 2, sites, ROUNDS).returncode == 0
    run = load(tmp_path / "kept")
    sites_there = [s for s in run.sites if s.place.line == line_of("asked")]
    (asked,) = (s for s in sites_there if s.size_class)  # the others asked in vain
    assert {s.function for s in sites_there} == {"Request_get_status"}
    assert asked.total("completed") == 2 * ROUNDS and asked.total("bytes") == 2 * ROUNDS * BYTES
    assert asked.is_wait and asked.waited > 0
    assert at(run, "after asking", "Waitall").total("completed") == 2 * ROUNDS


def test_times_make_sense(headway: Headway, mpi: Mpi, sites: Path, tmp_path: Path) -> None:
    """Whatever the load: parts are not more than the whole; a door's time is its requests'."""
    assert headway("profile", "--record", "kept", "-n", 2, sites, 20).returncode == 0
    run = load(tmp_path / "kept")
    for record in run.records:
        assert 0 < (record.mpi_s or 0) <= record.wall_s
    for site in at(run, "irecv", "Irecv"), at(run, "isend", "Isend"):
        for rank, one in site.ranks.items():
            outside = run.records[rank].wall_s - (run.records[rank].mpi_s or 0)
            assert 0 < one.computed_ns * 1e-9 <= outside
    shares = [at(run, mark, name) for mark, name in (("irecv", "Irecv"), ("isend", "Isend"))]
    blocked = sum(site.total("blocked_ns") for site in shares)
    assert 0 < blocked <= at(run, "waitall", "Waitall").total("call_ns") * 1.01


def test_sums_by_communicator(headway: Headway, mpi: Mpi, sites: Path, tmp_path: Path) -> None:
    words = ("profile", "--record", "kept", "-n", 2, sites, ROUNDS)
    done = headway(*words)
    assert done.returncode == 0, done.stderr
    found = {str(one): one for one in communicators_of(load(tmp_path / "kept"))}
    assert set(found) == COMMUNICATORS
    named = found["halo of the grid"]
    assert named.size == 2 and named.members == "0-1" and sorted(named.ranks) == [0, 1]
    assert named.total("calls") == 2 * ROUNDS * 3 and named.total("bytes") == 2 * ROUNDS * 2 * 4
    for rank in 0, 1:
        alone = found[f"of ranks {rank}"]
        assert list(alone.ranks) == [rank] and alone.size == 1
        assert alone.total("calls") == 2 * ROUNDS
    anew = found["anew"]
    assert anew.size == 2 and anew.members == "0-1" and anew.total("calls") == 8 * ROUNDS
    world = found["MPI_COMM_WORLD"]
    assert world.total("completed") == 2 * 21 * ROUNDS
    assert world.total("blocked_ns") > 0 and world.total("call_ns") > 0


def test_world_keeps_its_name_beside_a_ghost(
    headway: Headway, mpi: Mpi, sites: Path, tmp_path: Path
) -> None:
    words = ("profile", "--record", "kept", "-n", 2, sites, ROUNDS)
    done = headway(*words, HEADWAY_GHOSTS="1")
    assert done.returncode == 0, done.stderr
    found = {str(one): one for one in communicators_of(load(tmp_path / "kept"))}
    assert set(found) == COMMUNICATORS
    assert found["MPI_COMM_WORLD"].total("completed") == 2 * 21 * ROUNDS


@pytest.mark.parametrize("source", ["sites.f90", "sites_f08.f90"])
def test_fortran_callers(headway: Headway, mpi: Mpi, tmp_path: Path, source: str) -> None:
    """The line of the program, and not that of the MPI's Fortran library."""
    if mpi.mpifort is None:
        pytest.skip(f"{mpi.title} has no Fortran that the compiler here can use")
    program = tmp_path / "sites"
    words = [mpi.mpifort, "-g", "-O1", "-J", tmp_path, "-o", program, HERE / source]
    subprocess.run(words, env=mpi.environment(), check=True, cwd=tmp_path)
    done = headway("profile", "--record", "kept", "-n", 2, program)
    assert done.returncode == 0, done.stderr
    found = load(tmp_path / "kept").sites
    for mark, function in (("irecv", "Irecv"), ("isend", "Isend"), ("waitall", "Waitall")):
        (site,) = (s for s in found if s.function == function)
        assert site.place.function in ("exchange_", "work::exchange")
        assert Path(site.place.file).name == source
        assert site.place.line == line_of(mark, source) and site.calls == 300


def test_fortran_waits_and_types_are_at_their_calls(
    headway: Headway, mpi: Mpi, tmp_path: Path
) -> None:
    """What else is told of a call is told of the same line as the call."""
    if mpi.mpifort is None:
        pytest.skip(f"{mpi.title} has no Fortran that the compiler here can use")
    program, source = tmp_path / "epochs", "epochs.f90"
    words = [mpi.mpifort, "-g", "-O1", "-J", tmp_path, "-o", program, HERE / source]
    subprocess.run(words, env=mpi.environment(), check=True, cwd=tmp_path)
    done = headway("profile", "--record", "kept", "-n", 2, program)
    assert done.returncode == 0, done.stderr
    run = load(tmp_path / "kept")
    marks = {"Win_fence": "fence", "Put": "put", "Send": "send", "Recv": "recv"}
    lines: dict[str, set[int]] = {function: set() for function in marks}
    for record in run.records:
        profile = profile_of(record)
        told = [one.site for one in profile.one_sided.waits] if profile.one_sided else []
        told += [one.site for one in profile.derived]
        sites = {one.id: one for one in profile.sites}
        for one in told:
            assert one in sites, "of a call that nobody made"
            lines[sites[one].function].add(run.places.of(sites[one]).line)
    assert lines["Win_fence"] and (lines["Send"] or lines["Recv"])
    for function, found in lines.items():
        assert found <= {line_of(marks[function], source)}, (function, found)


def test_callers_that_are_unloaded(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    source = "unloaded.c"
    words = [mpi.mpicc, "-g", "-O1", "-DPLUGIN", "-shared", "-fPIC", HERE / source]
    plugin = tmp_path / "plugin.so"
    subprocess.run([*words, "-o", plugin], env=mpi.environment(), check=True)
    program = build(mpi, source, "-g", "-ldl")
    done = headway("profile", "--record", "kept", "-n", 2, program, "./plugin.so")
    assert done.returncode == 0 and "unloaded" in done.stdout, done.stderr
    site = at(load(tmp_path / "kept"), "plugin", "Barrier", source)
    assert site.calls == 2 * 11 and site.place.function == "work"
    assert Path(site.place.file).name == source


def test_with_the_engine(headway: Headway, mpi: Mpi, sites: Path, tmp_path: Path) -> None:
    """Profiling and progress together: same answers, same counts, and the thread at work."""
    limit = {"HEADWAY_EAGER_LIMIT": "1024", "HEADWAY_STAND_DOWN": "never"}
    words = ("profile", "--engine", "thread", "--record", "kept", "-n", 2, sites, ROUNDS)
    done = headway(*words, **limit)
    assert done.returncode == 0 and "done 7" in done.stdout, done.stderr
    run = load(tmp_path / "kept")
    assert records.total(run.records, "tracked_p2p") > 0
    assert at(run, "waitall", "Waitall").total("completed") == 4 * ROUNDS


def test_off_by_default(headway: Headway, mpi: Mpi, sites: Path, tmp_path: Path) -> None:
    assert headway("run", "--record", "kept", "-n", 2, sites).returncode == 0
    kept = records.read_json(tmp_path / "kept")
    assert kept and all("profile" not in r and "mpi_s" not in r for r in kept)


def test_program_without_debugging_information(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    """Its table of symbols has the functions, without lines."""
    program = tmp_path / "sites"
    words = [mpi.mpicc, "-O0", "-o", program, HERE / "sites.c"]
    subprocess.run(words, env=mpi.environment(), check=True)
    done = headway("profile", "--record", "kept", "-n", 2, program, ROUNDS)
    assert done.returncode == 0 and "exchange (sites+0x" in done.stdout, done.stderr
    sends = [s for s in load(tmp_path / "kept").sites if s.function == "Isend"]
    assert {s.place.function for s in sends} == {
        "exchange",
        "at_once",
        "tested",
        "asked",
        "several_small",
    }
    assert all(s.place.line == 0 for s in sends)


def test_stripped_program(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    """Nothing is made up from the few symbols that are left."""
    program = tmp_path / "sites"
    words = [mpi.mpicc, "-O0", "-s", "-rdynamic", "-o", program, HERE / "sites.c"]
    subprocess.run(words, env=mpi.environment(), check=True)
    done = headway("profile", "--record", "kept", "-n", 2, program, ROUNDS)
    assert done.returncode == 0, done.stderr
    sends = [s for s in load(tmp_path / "kept").sites if s.function == "Isend"]
    assert len(sends) == 5 and all(s.place.file.startswith("sites+0x") for s in sends)
    assert not any(s.place.function == "main" for s in sends)


def test_program_built_anew(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    """Its lines are other ones by now; those that ran are kept beside the records."""
    program = tmp_path / "app"
    words = [mpi.mpicc, "-g", "-Wl,--build-id", "-o", program, HERE / "hello.c"]
    subprocess.run(words, env=mpi.environment(), check=True)
    done = headway("profile", "--record", "kept", "-n", 2, program)
    assert done.returncode == 0 and is_line_known(tmp_path / "kept"), done.stderr
    subprocess.run([*words, "-O3", "-DANEW"], env=mpi.environment(), check=True)
    assert "rebuilt" not in headway("report", "kept").stdout and is_line_known(tmp_path / "kept")
    (tmp_path / "kept" / "lines.json").unlink()
    later = headway("report", "kept").stdout
    assert "app has been rebuilt since this run" in later and "hello.c:" not in later
    assert not is_line_known(tmp_path / "kept")


def is_line_known(folder: Path) -> bool:
    return any(site.place.file.endswith("hello.c") for site in load(folder).sites)


def test_refuses_what_leaves_nothing(headway: Headway, hello: Path, mpi: Mpi) -> None:
    done = headway("profile", "--quiet", "-n", 1, hello)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
