# SPDX-License-Identifier: BSD-3-Clause
"""Records are written whole, whatever the program does to its process."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
import support
from conftest import build
from headway import main, records
from headway.errors import HeadwayError
from headway.mpi import launch
from headway.mpi.mpis import Mpi
from headway.report.runs import load
from headway.run import command

pytestmark = pytest.mark.beside  # short jobs: most of the time is that of their start

Headway = Callable[..., subprocess.CompletedProcess[str]]


def make_locale_or_skip(folder: Path) -> str:
    """A language that writes a comma in numbers; its name below the folder."""
    tool, name = shutil.which("localedef"), "de_DE.UTF-8"
    if tool is None:
        pytest.skip("there is no localedef")
    words = [tool, "-i", "de_DE", "-f", "UTF-8", folder / name]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("localedef has no sources")
    return name


@matrix.quick(lambda mpi, profile: mpi.name == "mpich5" and profile == "yes")
@pytest.mark.parametrize("profile", ["no", "yes"])
def test_numbers_have_points_in_every_language(
    headway: Headway, mpi: Mpi, tmp_path: Path, profile: str
) -> None:
    language = {"LOCPATH": str(tmp_path), "LC_ALL": make_locale_or_skip(tmp_path)}
    words = ("run", "--record", "kept", "-n", 2, build(mpi, "comma.c"))
    done = headway(*words, HEADWAY_PROFILE=profile, **language)
    assert done.returncode == 0 and "0,5" in done.stdout, done.stderr
    assert "2 ranks" in done.stderr, done.stderr
    assert len(records.read_json(tmp_path / "kept")) == 2


def allreduces(folder: Path) -> dict[int, int]:
    """Calls of MPI_Allreduce by rank."""
    (site,) = (site for site in load(folder).sites if site.function == "Allreduce")
    return {rank: one.calls for rank, one in site.ranks.items()}


@matrix.only(
    lambda mpi: mpi.flavour != "ompi" or mpi.major < 5,
    "Open MPI 5 spawns processes without the library",
)
@matrix.quick(matrix.on("mpich5", "ompi4"))
def test_spawned_processes_leave_records_of_their_own(
    headway: Headway, mpi: Mpi, tmp_path: Path
) -> None:
    """They are ranks of another world."""
    program = build(mpi, "spawning.c")
    if support.run_mpi(mpi, [program], ranks=1, timeout_s=60).status != 0:
        pytest.skip(f"{mpi.title} cannot spawn here, plain too")
    kept = tmp_path / "kept"
    (kept / "spawned").mkdir(parents=True)
    (kept / "spawned" / "headway.0.1.json").write_text("{}")
    done = headway("profile", "--record", kept, "-n", 1, program)
    assert done.returncode == 0 and "spawned" in done.stdout, done.stderr
    assert "2 ranks it spawned not counted" in done.stderr, done.stderr
    assert allreduces(kept) == {0: 5}
    assert allreduces(kept / "spawned") == {0: 9, 1: 9}
    assert "2 ranks it spawned" in headway("report", kept).stdout
    # What another user has put there may lead anywhere.
    planted, elsewhere = tmp_path / "planted", tmp_path / "elsewhere"
    planted.mkdir()
    elsewhere.mkdir()
    (planted / "spawned").symlink_to(elsewhere)
    done = headway("profile", "--record", planted, "-n", 1, program)
    assert done.returncode == 0 and "cannot write the record" in done.stderr, done.stderr
    assert list(elsewhere.iterdir()) == []


@matrix.one_of_a("family")
def test_links_of_others_are_not_followed(mpi: Mpi, tmp_path: Path) -> None:
    """Where others may write to the directory they cannot have the job write their choice."""
    kept, victim = tmp_path / "kept", tmp_path / "victim"
    kept.mkdir()
    victim.write_text("as it was")
    (kept / "headway.0.json").symlink_to(victim)
    made = support.run_mpi(mpi, [build(mpi, "hello.c")], ranks=2, options={}, records=kept)
    assert made.status == 0, made.explain()
    assert victim.read_text() == "as it was"
    assert not (kept / "headway.0.json").is_symlink()
    assert {path.name for path in kept.iterdir()} == {"headway.0.json", "headway.1.json"}


@matrix.one_of_a("family")
def test_directory_is_that_of_the_beginning(mpi: Mpi, tmp_path: Path) -> None:
    """Set by hand it may be relative, and the program go elsewhere."""
    (tmp_path / "kept").mkdir()
    forward = support.preloaded(mpi, {"HEADWAY_RECORD": "kept"})
    made = launch.build(mpi, [str(build(mpi, "comma.c"))], ranks=2, forward=forward)
    done = support.run_group(made.argv, support.job_environment(mpi, made.env), cwd=tmp_path)
    assert done.status == 0 and "[headway" not in done.stderr, done.explain()
    assert [record["rank"] for record in records.read_json(tmp_path / "kept")] == [0, 1]


@matrix.one_of_a("family")
@pytest.mark.parametrize("place", ["missing", "a_file", "kept"])
def test_directory_that_cannot_be_written_is_told_at_the_start(
    mpi: Mpi, tmp_path: Path, place: str
) -> None:
    """Once, not by each process, before the program does anything; the job goes on."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "a_file").write_text("")
    forward = support.preloaded(mpi, {"HEADWAY_RECORD": str(tmp_path / place)})
    begun = [str(build(mpi, "begun.c"))]
    made = launch.build(mpi, begun, ranks=2, forward=forward)
    done = support.run_group(made.argv, support.job_environment(mpi, made.env), cwd=tmp_path)
    assert done.status == 0 and done.stdout.count("ended") == 2, done.explain()
    before, _, after = done.stderr.partition("begun")
    assert "[headway" not in after and "HEADWAY_RECORD" not in after, done.explain()
    told = [line for line in before.splitlines() if "HEADWAY_RECORD" in line]
    assert len(told) == (0 if place == "kept" else 1), done.explain()
    assert len(records.read_json(tmp_path / "kept")) == (2 if place == "kept" else 0)
    assert not list((tmp_path / "kept").glob(".headway*"))


#: A disk of one page, full before the command that follows.
FULL = """
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" = 0 ] || map=--map-root-user
exec unshare $map --mount /bin/sh -ec '
    mount -t tmpfs -o size=4k tmpfs "$1"
    head -c 4096 /dev/zero >"$1/filler"
    shift
    exec "$@"
' sh "$@"
"""


@matrix.one_of_a("family")
def test_full_disk_is_told_as_one(mpi: Mpi, tmp_path: Path) -> None:
    words = ["/bin/sh", "-c", FULL, "sh", tmp_path]
    if subprocess.run([*words, "true"], capture_output=True, timeout=60, check=False).returncode:
        pytest.skip("this machine lets nobody mount a file system")
    forward = support.preloaded(mpi, {"HEADWAY_RECORD": str(tmp_path)})
    made = launch.build(mpi, [str(build(mpi, "begun.c"))], ranks=2, forward=forward)
    done = support.run_group([*words, *made.argv], support.job_environment(mpi, made.env))
    assert done.status == 0 and done.stdout.count("ended") == 2, done.explain()
    assert "make room" in done.stderr and "writable" not in done.stderr, done.explain()


@matrix.one_of_a("family")
def test_a_record_that_is_needed_ends_the_job_before_it_begins(mpi: Mpi, tmp_path: Path) -> None:
    """Once, naming folder and machine, before any communication."""
    options = {"HEADWAY_RECORD": str(tmp_path / "missing"), "HEADWAY_RECORD_NEEDED": "yes"}
    begun = build(mpi, "begun.c")
    done = support.run_mpi(mpi, [begun], ranks=2, options=options)
    assert done.status != 0 and "ended" not in done.stdout, done.explain()
    told = [line for line in done.stderr.splitlines() if "HEADWAY_RECORD=" in line]
    assert len(told) == 1 and "all machines share" in told[0], done.explain()


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_profile_of_ranks_elsewhere(mpi: Mpi, tmp_path: Path) -> None:
    """Its folder is below the working directory, or the program is not started at all."""
    launcher = tmp_path / "bin" / "srun"
    launcher.parent.mkdir()
    launcher.write_text('#!/bin/sh\nexec "$@"\n')
    launcher.chmod(0o755)
    path = f"{launcher.parent}:{os.environ['PATH']}"
    words = [sys.executable, "-m", "headway", "profile", "--", "srun", build(mpi, "begun.c")]
    for folder, is_possible in ((tmp_path, True), (Path("/proc"), False)):
        done = subprocess.run(
            list(map(str, words)),
            env={**os.environ, "PATH": path, "PYTHONPATH": str(support.ROOT / "cli")},
            capture_output=True,
            text=True,
            timeout=60,
            cwd=folder,
        )
        assert (done.returncode == 0) == is_possible, done.stderr
        assert ("ended" in done.stdout) == is_possible, done.stdout
        assert ("Time in MPI" in done.stdout) == is_possible, done.stdout
        assert ("cannot make a folder" in done.stderr) != is_possible, done.stderr
    assert not list(tmp_path.glob("headway-run-*"))


def test_profile_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not run the program, of which nothing would be left; headway run does."""

    def refused(**_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryDirectory", refused)
    arguments = main.build_parser("profile").parse_args(["profile", "-n", "1", "app"])
    with (
        pytest.raises(HeadwayError, match="folder for the ranks' records: Read-only"),
        command.record_folder(arguments, {"HEADWAY_PROFILE": "yes"}),
    ):
        pass
    with command.record_folder(arguments, {}) as folder:
        assert folder is None
    assert "temporary files cannot be written" in command.why_no_folder(arguments)


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_words_that_cannot_be_written(mpi: Mpi, hello: Path, tmp_path: Path) -> None:
    """The program runs, and its status counts."""
    env = {**os.environ, "PYTHONPATH": str(support.ROOT / "cli")}
    run = [sys.executable, "-m", "headway", "run", "-n", "1", str(hello)]
    with open("/dev/full", "w") as full:
        done = subprocess.run(run, stderr=full, stdout=subprocess.PIPE, env=env, timeout=60)
    assert done.returncode == 0 and done.stdout, done
    report = [sys.executable, "-m", "headway", "report", str(tmp_path)]
    (tmp_path / "headway.0.json").write_text('{"schema": 3, "rank": 0, "size": 1}')
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *report],
        env=env,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0 and not done.stderr, done


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_files_of_others_stay(headway: Headway, hello: Path, tmp_path: Path) -> None:
    """As of a report's trace that was written to where the records are: no record, and not ours."""
    kept = tmp_path / "kept"
    (kept / "spawned").mkdir(parents=True)
    (kept / "headway.2.json").write_text("{}")
    others = [kept / "headway.calls.json", kept / "spawned" / "headway.notes.json"]
    for other in others:
        other.write_text('{"traceEvents": []}')
    done = headway("run", "--record", kept, "-n", 2, hello)
    assert done.returncode == 0 and "2 ranks" in done.stderr, done.stderr
    assert "spawned" not in done.stderr, done.stderr
    assert all(other.exists() for other in others)
    assert not (kept / "headway.2.json").exists()
    assert "cannot be read" not in headway("report", kept).stdout
    for name in ("headway.0.json", "headway.pid12.json", "headway.3.1234.json"):
        assert records.NAME.fullmatch(name)


def test_directory_without_the_right_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused before the program is started, as one that cannot be made; root may write anywhere
    but on what is mounted read-only."""
    monkeypatch.setattr("os.access", lambda *_: False)
    words = ["run", "--record", str(tmp_path), "-n", "1", "app"]
    arguments = main.build_parser("run").parse_args(words)
    with (
        pytest.raises(HeadwayError, match="cannot be written to; name another with --record"),
        command.record_folder(arguments, {}),
    ):
        pass
