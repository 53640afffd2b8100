# SPDX-License-Identifier: BSD-3-Clause
"""`headway run`: which library for which program, what the ranks see, and how it refuses."""

from __future__ import annotations

import argparse
import errno
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import jsonschema
import matrix
import pytest
import support
from headway import outcome, records
from headway.errors import HeadwayError
from headway.mpi import elf, program
from headway.mpi.mpis import Mpi
from headway.record.table import Record
from headway.run import command as run_command
from headway.run import shared_folder

pytestmark = pytest.mark.beside  # short jobs: most of the time is that of their start
ROOT = Path(__file__).resolve().parents[2]
Headway = Callable[..., subprocess.CompletedProcess[str]]


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """An error is one line on standard error, and a non-zero status."""
    (line,) = done.stderr.splitlines()
    assert done.returncode != 0 and line.startswith("headway: ") and ";" in line, done.stderr
    return line


def test_program_tells_its_mpi(mpi: Mpi, hello: Path) -> None:
    target = program.inspect(str(hello))
    assert target.flavour == mpi.flavour
    assert target.library and mpi.owns(target.library, target.flavour)
    assert target.title.startswith(mpi.vendor)


def test_runs_and_says_which(headway: Headway, mpi: Mpi, hello: Path) -> None:
    done = headway("run", "--engine", "thread", "-n", 2, hello, 100_000, 5)
    assert done.returncode == 0, done.stderr
    assert {json.loads(line)["rank"] for line in done.stdout.splitlines()} == {0, 1}
    said = [line for line in done.stderr.splitlines() if line.startswith("headway: ")]
    assert said[0] == f"headway: {program.inspect(str(hello)).title}, libheadway-{mpi.flavour}.so"
    assert said[1].startswith("headway: Nothing to gain: nothing was pending that needs progress")
    told = " ".join(line.removeprefix("headway: ").strip() for line in said)
    assert "2 ranks, engine thread" in told and "operations followed" not in told
    assert f"{hello} 100000 5 2 ranks on " in told and "Headway 0" in told, told
    assert all(len(line) <= 80 or str(hello) in line for line in said[1:]), done.stderr


@matrix.one_of_a("family")
@pytest.mark.usefixtures("few_cores")
def test_says_why_there_is_no_engine(headway: Headway, mpi: Mpi, hello: Path) -> None:
    done = headway("run", "-n", 2, hello)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("headway: ")]
    assert lines[1].startswith("headway: Not accelerated: both ranks share one node"), done.stderr
    said = " ".join(line.removeprefix("headway: ").strip() for line in lines)
    assert "would only slow them. Force it with --engine thread. 2 ranks, engine off" in said
    assert "`headway demo` shows what is gained between two nodes." in said, done.stderr
    done = headway("run", "--engine", "off", "-n", 2, hello)
    assert "headway demo" not in done.stderr, done.stderr


def own_launcher(mpi: Mpi) -> list[object]:
    root = {
        "orte": ["--allow-run-as-root", "--oversubscribe"],
        "prrte": ["--allow-run-as-root", "--map-by", ":OVERSUBSCRIBE"],
    }
    return [mpi.mpiexec, *root.get(mpi.launcher, [])]


@matrix.one_of_a("launcher")
def test_own_launcher(headway: Headway, mpi: Mpi, hello: Path) -> None:
    words = [*own_launcher(mpi), "-n", 2, hello]
    done = headway("run", "--engine", "off", "--", *words, **mpi.env)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    assert "2 ranks, engine off" in done.stderr


@matrix.only(matrix.on("mpich4", "ompi4"), "one MPI of each family is enough")
def test_launcher_of_another_mpi(headway: Headway, mpi: Mpi, hello: Path) -> None:
    """It would start the program as often as asked, each process alone in its world."""
    other = "mpiexec.openmpi" if mpi.name == "mpich4" else "mpiexec.mpich"
    extra = ["--allow-run-as-root", "--oversubscribe"] if mpi.name == "mpich4" else []
    done = headway("run", "--engine", "off", "--", other, *extra, "-n", 1, hello)
    told = f"{other} is not of {mpi.title}, which the program uses"
    assert told in done.stderr and str(mpi.mpiexec) in done.stderr, done.stderr
    done = headway("run", "--engine", "off", "--", *own_launcher(mpi), "-n", 1, hello)
    assert done.returncode == 0 and "alone in its world" not in done.stderr, done.stderr


@matrix.one_of_a("launcher")
def test_several_programs(headway: Headway, mpi: Mpi, hello: Path) -> None:
    both = ["-n", 1, hello, ":", "-n", 1, hello]
    for words in (["--", *own_launcher(mpi), *both], both):
        done = headway("run", "--engine", "off", *words, **mpi.env)
        assert done.returncode == 0 and "2 ranks, engine off" in done.stderr, done.stderr


@matrix.one_of_a("launcher")
def test_program_that_only_the_launcher_finds(
    headway: Headway, mpi: Mpi, hello: Path, tmp_path: Path
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "program").symlink_to(hello)
    option = "--wdir" if mpi.flavour == "ompi" else "-wdir"
    words = [*own_launcher(mpi), option, tmp_path / "there", "-n", 1, "./program"]
    done = headway("run", "--engine", "off", "--abi", mpi.flavour, "--", *words, **mpi.env)
    assert done.returncode == 0, done.stderr
    assert "1 rank, engine off" in done.stderr, done.stderr
    assert "no program found" in one_line(headway("run", "--", *words, **mpi.env))


INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored around the tests
from headway.main import main
command = ["sh", "-c", sys.argv[2]]
sys.exit(main(["run", "--abi", sys.argv[1], "--", *command]))
"""
SLEEPS = "echo ready; exec sleep 60"
TAKES = "trap 'exit {}' INT; echo ready; sleep 60 >&- 2>&- & wait"


@pytest.mark.parametrize("script", [SLEEPS, TAKES.format(7), TAKES.format(0)])
@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_interrupt_without_a_terminal_is_passed_on(mpi: Mpi, script: str) -> None:
    """One line and 130 whatever the launcher makes of it."""
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, mpi.flavour, script],
        env={**os.environ, "PYTHONPATH": str(ROOT / "cli")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout and process.stdout.readline() == "ready\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=20)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, said
    assert said.splitlines()[1:] == ["headway: interrupted"], said  # after which MPI it is


def test_program_that_takes_an_interrupt() -> None:
    """It reached MPI_Finalize, and its status is its own."""
    folder, complete, killed = Path("records"), Record(ending="complete"), Record(ending="signal")
    for status in (0, 3):
        ended = run_command.Ended(status, True)
        assert not ended.is_by_interrupt(folder, [complete])
        assert ended.is_by_interrupt(folder, [killed]) and ended.is_by_interrupt(folder, [])
        assert ended.is_by_interrupt(None, []) == (status != 0)
        assert not run_command.Ended(status).is_by_interrupt(folder, [])


@matrix.one_of_a("launcher")
def test_interrupt_of_a_job(mpi: Mpi, waits: Path, tmp_path: Path) -> None:
    """As Ctrl-C: all of the terminal's group get it."""
    words = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    words += "from headway.main import main\nsys.exit(main(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", words, "run", "-n", "2", str(waits), str(tmp_path / "never")],
        env={**os.environ, **support.WITHIN_A_NODE, "PYTHONPATH": str(ROOT / "cli")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout and process.stdout.readline() == "begun\n"
            os.killpg(process.pid, signal.SIGINT)
            _, said = process.communicate(timeout=60)
        finally:
            process.terminate()
    assert process.returncode == 130, said
    assert "headway: interrupted" in said and "headway doctor" not in said, said


@matrix.one_of_a("family")
def test_interrupt_of_a_terminal_is_the_programs(mpi: Mpi) -> None:
    """It gets it from there: a second one from us would end it at once."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "cli")}
    pid, terminal = pty.fork()
    if pid == 0:
        words = [sys.executable, "-c", INTERRUPTED, mpi.flavour, SLEEPS]
        os.execve(sys.executable, words, environment)
    try:
        text = b""
        while b"ready" not in text:
            text += os.read(terminal, 100)
        time.sleep(0.5)
        os.kill(pid, signal.SIGINT)  # to us alone, which cannot be told from the terminal's
        time.sleep(0.5)
        assert os.waitpid(pid, os.WNOHANG) == (0, 0)
        os.write(terminal, b"\x03")
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 128 + signal.SIGINT
    finally:
        os.close(terminal)


@pytest.mark.parametrize("is_executable", [False, True])
def test_python_program_without_an_interpreter(
    headway: Headway, tmp_path: Path, is_executable: bool
) -> None:
    script = tmp_path / "solve.py"
    script.write_text("from mpi4py import MPI\n")
    script.chmod(0o755 if is_executable else 0o644)
    name = f"./{script.name}" if is_executable else script.name
    told = one_line(headway("run", "-n", 2, name, "argument"))
    assert told.endswith(f"; name the interpreter: headway run -n 2 python3 {name}"), told


def test_program_of_this_folder(headway: Headway, tmp_path: Path) -> None:
    (tmp_path / "app").write_text("")
    (tmp_path / "app").chmod(0o755)
    told = one_line(headway("run", "-n", 2, "app"))
    assert told == "headway: app is in this folder, not in PATH; name it ./app"


@matrix.one_of_a("family")
def test_place_that_cannot_be_preloaded(
    headway: Headway, mpi: Mpi, hello: Path, tmp_path: Path
) -> None:
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / f"libheadway-{mpi.flavour}.so").touch()
    assert "LD_PRELOAD" in one_line(headway("run", "--library", "a b", "-n", 2, hello))


@matrix.one_of_a("family")
def test_keeps_records_where_told(headway: Headway, mpi: Mpi, hello: Path, tmp_path: Path) -> None:
    done = headway("run", "--record", "kept", "-n", 2, hello)
    assert done.returncode == 0, done.stderr
    kept = records.read_json(tmp_path / "kept")
    assert [r["rank"] for r in kept] == [0, 1]


@matrix.one_of_a("family")
@matrix.quick(lambda mpi, quiet: bool(quiet) == (mpi.flavour == "ompi"))
@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_earlier_records_go_when_there_are_new_ones(
    headway: Headway, mpi: Mpi, hello: Path, tmp_path: Path, quiet: list[str]
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "headway.7.json").write_text("{}")
    (kept / "headway.8.json").symlink_to("nowhere")
    words = ("run", "--record", "kept", *quiet)
    # No record is left by a program that does not get to MPI_Finalize.
    done = headway(*words, "--abi", mpi.flavour, "-n", 1, "/bin/false")
    assert done.returncode != 0 and "Traceback" not in done.stderr, done.stderr
    assert (kept / "headway.7.json").exists()
    assert bool(quiet) or "no records" in done.stderr, done.stderr
    done = headway(*words, "-n", 2, hello)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in kept.glob("*.json") if path.exists()) == [
        "headway.0.json",
        "headway.1.json",
    ]


@matrix.one_of_a("family")
def test_dry_run_starts_nothing(headway: Headway, hello: Path, mpi: Mpi) -> None:
    done = headway("run", "--dry-run", "--engine", "off", "-n", 3, hello, "x y")
    assert done.returncode == 0
    assert "'x y'" in done.stdout and f"libheadway-{mpi.flavour}.so" in done.stdout
    lines = done.stdout.splitlines()
    assert "export HEADWAY_ENGINE=off" in lines and "rank" not in done.stdout
    assert lines[-1].endswith(f"-n 3 {hello} 'x y'")
    # Open MPI's launchers pass on to other machines what they are told to.
    names = ("-x HEADWAY_ENGINE" in lines[-1], "-x LD_PRELOAD" in lines[-1])
    assert names == ((True, True) if mpi.flavour == "ompi" else (False, False))
    assert "libheadway" not in lines[-1]


@matrix.one_of_a("launcher")
def test_dry_run_is_a_script(headway: Headway, hello: Path, tmp_path: Path, mpi: Mpi) -> None:
    printed = headway("run", "--dry-run", "--record", "kept", "-n", 2, hello).stdout
    done = subprocess.run(["sh", "-e"], input=printed, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert [r["size"] for r in records.read_json(tmp_path / "kept")] == [2, 2]


@matrix.one_of_a("family")
def test_record_of_a_settings_file(headway: Headway, hello: Path, tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text('format = 1\n[settings]\nHEADWAY_RECORD = "kept"\n')
    done = headway("run", "--settings", settings, "-n", 2, hello)
    assert done.returncode == 0, done.stderr
    assert [r["size"] for r in records.read_json(tmp_path / "kept")] == [2, 2]


@matrix.one_of_a("family")
def test_program_behind_a_wrapper(headway: Headway, hello: Path, mpi: Mpi) -> None:
    done = headway("run", "-n", 2, "env", "FOO=bar", hello)
    assert done.returncode == 0, done.stderr
    assert f"libheadway-{mpi.flavour}.so" in done.stderr and "2 ranks, engine" in done.stderr


@matrix.one_of_a("launcher")
def test_status_is_the_programs(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    source = tmp_path / "seven.c"
    source.write_text(
        "#include <mpi.h>\nint main(int c, char **v) {\n    MPI_Init(&c, &v);\n"
        "    MPI_Finalize();\n    return 7;\n}\n"
    )
    subprocess.run(
        [str(mpi.mpicc), "-o", str(tmp_path / "seven"), str(source)],
        check=True,
        env=mpi.environment(),
    )
    assert headway("run", "-n", 1, "./seven").returncode == 7


@matrix.only(lambda mpi: mpi.python is not None, "the MPI has no wheel of mpi4py")
def test_python_program(headway: Headway, tmp_path: Path, mpi: Mpi) -> None:
    script = tmp_path / "script.py"
    # One write: launchers mix the ranks' output by the piece.
    script.write_text(
        "import os\nfrom mpi4py import MPI\nos.write(1, b'rank %d\\n' % MPI.COMM_WORLD.rank)\n"
    )
    done = headway("run", "-n", 2, mpi.python, script, **mpi.env)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[1:] == ["rank 0", "rank 1"]
    assert f"libheadway-{mpi.flavour}.so" in done.stderr


def test_refuses_what_is_not_mpi(headway: Headway, tmp_path: Path) -> None:
    assert "does not link an MPI" in one_line(headway("run", "-n", 2, "/bin/true"))
    assert "no program" in one_line(headway("run", "-n", 2, "./missing"))
    for command in ("run", "profile", "tune"):
        said = f"no program to {command}; headway {command} -n 2 PROGRAM"
        assert said in one_line(headway(command, "-n", 2))
        assert "is a folder" in one_line(headway(command, "-n", 2, tmp_path))
    assert "headway run -n 2 PROGRAM" in one_line(headway())
    plain = tmp_path / "plain.txt"
    plain.write_text("hello")
    assert "not executable" in one_line(headway("run", "./plain.txt"))
    plain.chmod(0o755)
    assert "neither" in one_line(headway("run", "./plain.txt"))
    script = tmp_path / "script.sh"
    script.write_text("#!/bin/sh\nexec true\n")
    script.chmod(0o755)
    assert "--abi" in one_line(headway("run", "./script.sh"))


def test_first_lines_of_scripts(headway: Headway, tmp_path: Path) -> None:
    script = tmp_path / "script"
    for line in ("#!", "#! ", "#!/usr/bin/env", "#!/usr/bin/env -S", "#!/usr/bin/env -S sh -e"):
        script.write_text(f"{line}\n")
        script.chmod(0o755)
        assert "is a script" in one_line(headway("run", "./script")), line
    for line in ("/usr/bin/python3 -u", "/usr/bin/env python3", "/usr/bin/env -S A=b python3 -u"):
        assert Path(program.interpreter_of(line)).name == "python3", line


def test_refuses_what_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(elf.Path, "read_bytes", refuse)
    with pytest.raises(HeadwayError, match="true cannot be read: Permission denied"):
        program.inspect("/bin/true")
    monkeypatch.setattr(elf.Path, "open", refuse)
    with pytest.raises(HeadwayError, match="true cannot be read: Permission denied"):
        program.inspect("/bin/true")


def test_refuses_a_static_program(headway: Headway, tmp_path: Path) -> None:
    (tmp_path / "still.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-static", "-o", "still", "still.c"], cwd=tmp_path, check=True)
    assert "statically linked" in one_line(headway("run", "-n", 1, "./still"))


@matrix.quick(matrix.on("mpich5"), "the command refuses before it looks at the MPI")
def test_refuses_bad_options(headway: Headway, hello: Path) -> None:
    assert "HEADWAY_ENGINE" in one_line(headway("run", "-n", 1, hello, HEADWAY_ENGIN="thread"))
    assert "accepted" in one_line(headway("run", "-n", 1, hello, HEADWAY_TICK_US="soon"))
    assert "invalid choice" in one_line(headway("run", "--engine", "warp", "-n", 1, hello))
    assert "0 ranks" in one_line(headway("run", "-n", 0, hello))
    assert "libheadway" in one_line(headway("run", "--library", "/nowhere", "-n", 1, hello))


def test_command_basics(headway: Headway) -> None:
    from headway import __version__

    assert headway("--version").stdout.strip() == f"headway {__version__}"
    shown = headway("--help").stdout
    assert all(word in shown for word in ("run", "cluster", "demo", "HEADWAY_ENGINE"))
    one_line(headway())
    one_line(headway("fly"))
    assert "is not a rate" in one_line(headway("cluster", "up", "--rate", "fast"))
    one_line(headway("cluster", "run", "--name", "nobody", "/bin/true"))


def test_elf_reader_survives_damage(tmp_path: Path) -> None:
    whole = Path(sys.executable).resolve().read_bytes()
    for size in (3, 20, 64, 200, 1000):
        broken = tmp_path / f"broken{size}"
        broken.write_bytes(whole[:size])
        try:
            elf.read(broken)
        except elf.NotElf:
            pass
    for field in (32, 40):  # where its headers are
        wild = tmp_path / f"wild{field}"
        wild.write_bytes(whole[:field] + b"\xff" * 8 + whole[field + 8 :])
        try:
            elf.read(wild)
        except elf.NotElf:
            pass
    libraries = elf.libraries(Path("/bin/sh"))
    assert any(name.startswith("libc.so") and path for name, path in libraries.items())


def summarise(found: list[dict]) -> list[str]:
    """The closing paragraph, of records as JSON has them."""
    return outcome.summarise([Record.of(one) for one in found])


RECORD = {
    "schema": 2,
    "rank": 0,
    "size": 2,
    "engine": "thread",
    "wall_s": 2.0,
    "thread_cpu_s": 0.1,
    "tracked_p2p": 3,
    "tracked_bytes": 3 << 20,
    "blocked_ns": 500_000_000,
    "overlapped_ns": 1_200_000_000,
    "overlap_windows": 10,
    "overlap_windows_off": 2,
    "judged_windows": 8,
    "judged_on_ns": 300_000_000,
    "judged_off_ns": 900_000_000,
    "judged_off_low_ns": 800_000_000,
    "judged_off_high_ns": 1_000_000_000,
    "declined": {"a reason": 4},
}


def test_summary_says_what_happened() -> None:
    told = "\n".join(summarise([RECORD, {**RECORD, "rank": 1}]))
    for fact in (
        "2 ranks, engine thread, 2.00 s",
        "used 0.10 CPU-seconds per rank (5 %)",
        "6 operations followed, 6.0 MiB.",
        "waited 0.50 s for them and computed 1.20 s while they were in flight",
        "The progress thread saved about 0.60 s of 2.60 s (23 %; between 0.50 and 0.70 s).",
        "4 of 20 windows",
        "Declined: a reason (2 ranks)",
    ):
        assert fact in told, fact
    assert any("Only 1 of 2 ranks" in line for line in summarise([RECORD]))


def told_of(*changes: dict) -> str:
    found = [RECORD | {"rank": rank} | change for rank, change in enumerate(changes)]
    return "\n".join(summarise(found))


def test_nothing_is_told_of_what_is_not_sure() -> None:
    """Where the interval holds zero it is told so; where it is less than one percent of the run,
    and where an older library gave none, nothing."""
    unsure = told_of({"judged_off_low_ns": 290_000_000}, {})
    assert "The progress thread may have saved some 0.60 s of 2.00 s: a run with" in unsure
    assert "about" not in told_of({"wall_s": 51.0}, {})
    assert "The progress thread saved" in told_of({"wall_s": 49.0}, {})
    old = {key: value for key, value in RECORD.items() if "judged_off_" not in key}
    assert "about" not in "\n".join(summarise([old]))


def test_ranks_tell_of_one_gain() -> None:
    """Not of the sum: who saved more waits for the other elsewhere."""
    more = {"judged_off_low_ns": 1_300_000_000, "judged_off_ns": 1_500_000_000}
    more["judged_off_high_ns"] = 1_700_000_000
    assert "about 0.90 s of 2.90 s (31 %; between 0.50 and 1.05 s)" in told_of(more, {})
    worse = {f"judged_{name}_ns": 100_000_000 for name in ("off_low", "off", "off_high")}
    told = told_of(worse, worse)
    assert "The progress thread cost about 0.20 s of 2.00 s (10 %; between 0.20 and" in told
    assert "--engine off" in told


def test_summary_of_one_sided_programs_counts_looks() -> None:
    """Nothing tracked is not nothing done: the thread answered for exposed windows."""
    exposed = {"rank": 0, "size": 2, "tracked_p2p": 0, "exposures": 2, "polls": 70}
    told = "\n".join(summarise([exposed, {**exposed, "rank": 1}]))
    assert "2 windows exposed: the progress thread looked 140 times" in told
    assert "nothing was pending" not in told


MOUNTS = """\
22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:31 / /shared rw shared:9 - nfs4 server:/shared rw,vers=4.2
31 22 0:32 / /scratch\\040disk rw - lustre mds@tcp:/scratch rw
32 22 0:33 / /mnt rw - fuse.sshfs host:/ rw
33 30 0:34 / /shared/me/tmp rw - tmpfs tmpfs rw
a line of no mount
"""


@pytest.mark.parametrize(
    "folder, is_shared",
    [
        ("/shared/me", True),
        ("/scratch disk/job", True),
        ("/mnt", True),
        ("/shared/me/tmp", False),
        ("/sharedless", False),
    ],
)
def test_folders_that_other_machines_have(folder: str, is_shared: bool, tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS, encoding="utf-8")
    assert shared_folder.is_shared(Path(folder), mounts) == is_shared
    assert not shared_folder.is_shared(Path(folder), tmp_path / "none")


@pytest.mark.parametrize("is_shared", [True, False])
def test_records_from_other_machines(
    is_shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the working directory is theirs too the ranks' records come back by it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shared_folder, "is_shared", lambda _: is_shared)
    words = ["mpiexec", "-hosts", "a,b", "./app"]
    arguments = argparse.Namespace(record=None, quiet=False, words=words, ranks=None)
    with run_command.record_folder(arguments, {}) as folder:
        assert (folder is not None) == is_shared
        assert folder is None or (folder.is_dir() and folder.parent == tmp_path)
    assert not list(tmp_path.iterdir())


def test_summary_says_what_ghosts_served() -> None:
    idle = {"rank": 0, "size": 2, "engine": "thread", "tracked_p2p": 0, "ghost": 1}
    assert "The ghosts served no window." in summarise([idle])
    served = {**idle, "windows_redirected": 2, "operations_redirected": 700, "locks_redirected": 1}
    told = "\n".join(summarise([served, {**served, "rank": 1, "operations_copied": 30}]))
    assert told.startswith("Ghosts served 1400 operations and 2 locks")
    assert "served 2 windows; 30 operations within a node needed no ghost" in told
    assert "nothing was pending" not in told and "CPU" not in told


def test_summary_says_what_ghosts_took() -> None:
    """Each ghost once, whoever it serves."""
    one = {"engine": "thread", "tracked_p2p": 0, "windows_redirected": 1}
    took = [(4, 0.25), (4, 0.26), (5, 0.5)]
    told = [
        {**one, "rank": rank, "size": 3, "ghost": ghost, "ghost_cpu_s": seconds}
        for rank, (ghost, seconds) in enumerate(took)
    ]
    assert "A ghost used 0.38 CPU-seconds." in "\n".join(summarise(told))


def test_summary_needs_no_key(tmp_path: Path) -> None:
    assert "no records" in summarise([])[0]
    assert summarise([{}])[0] and "1 rank" in "\n".join(summarise([{}]))
    odd = {key: [None] for key in RECORD} | {"engine": 3, "declined": {"x": "y"}}
    assert any(line.startswith("2 ranks") for line in summarise([odd, RECORD]))
    for name, text in (("a", "{"), ("b", "[1]"), ("c", '{"rank": 1e999}'), ("d", "\0\xff")):
        (tmp_path / f"headway.{name}.json").write_bytes(text.encode("latin-1"))
    assert len(summarise(records.read_json(tmp_path))) >= 1


def follow(value: object, schema: dict, where: str) -> None:
    """Fails unless the value is what a JSON schema says."""
    validator = jsonschema.Draft202012Validator(schema)
    found = [f"{where}, {one.json_path}: {one.message}" for one in validator.iter_errors(value)]
    assert not found, found


@matrix.one_of_a("family")
@pytest.mark.parametrize("profile", ["no", "yes"])
def test_records_follow_the_schema(
    headway: Headway, mpi: Mpi, hello: Path, tmp_path: Path, profile: str
) -> None:
    words = ("run", "--record", "kept", "-n", 2, hello)
    assert headway(*words, HEADWAY_PROFILE=profile).returncode == 0
    schema = json.loads((ROOT / "doc/schema/record.json").read_text())
    for record in records.read_json(tmp_path / "kept"):
        follow(record, schema, "record")
        assert ("profile" in record) == (profile == "yes")
