# SPDX-License-Identifier: BSD-3-Clause
"""`headway run -- LAUNCHER ...`: arguments, environment, status and signals, by stand-ins for
launchers that are not here; those of the MPIs are in test_run.py."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import matrix
import pytest
from headway.cluster.process import run_to_end
from headway.mpi import launchers
from test_run import one_line

MATRIX_RULES = [matrix.check(lambda: False)]
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
Headway = Callable[..., subprocess.CompletedProcess[str]]

#: a program that says what it got, and ends as it is told
PROGRAM = """#!/bin/sh
echo "args: $*"
echo "count: $#"
echo "preload: ${LD_PRELOAD##*/}"
echo "engine: $HEADWAY_ENGINE"
unset LD_PRELOAD
case $1 in
    die) kill -SEGV $$ ;;
    wait)
        trap 'echo got USR1; exit 5' USR1
        trap 'echo got TERM; exit 6' TERM
        echo ready
        sleep 20 & wait ;;
esac
exit 7
"""
LAUNCHERS = {
    "srun": ("-n", "2", "-J", "test", "--mpi=pmix"),
    "jsrun": ("-n", "2", "-a", "1"),
    "aprun": ("-n", "2", "-N", "1"),
    "ibrun": (),
    "flux": ("run", "-n", "2"),
    "prun": ("-n", "2", "-x", "PATH"),
    "mpirun_rsh": ("-np", "2", "n0"),
    "mpiexec": ("-n", "2"),
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The program, and the stand-ins in the path; no batch system around."""
    for name in list(os.environ):
        if name.startswith(("SLURM", "PBS_", "LSB_")):
            monkeypatch.delenv(name)
    (tmp_path / "bin").mkdir()
    for name in LAUNCHERS:
        script = tmp_path / "bin" / name
        script.write_text(f"#!{sys.executable}\n" + (HERE / "fake_launcher.py").read_text())
        script.chmod(0o755)
    (tmp_path / "app").write_text(PROGRAM)
    (tmp_path / "app").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return tmp_path


def said(text: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)


WANTED = {"preload": "libheadway-mpich.so", "engine": "thread"}
RUN = ("run", "--quiet", "--abi", "mpich", "--engine", "thread", "--")


@pytest.mark.parametrize("name", LAUNCHERS)
def test_arguments_environment_and_status(headway: Headway, place: Path, name: str) -> None:
    done = headway(*RUN, name, *LAUNCHERS[name], "./app", "-n", "a b", "--export=NONE", "")
    assert done.returncode == 7, done.stderr
    assert said(done.stdout) == {"args": "-n a b --export=NONE ", "count": "4", **WANTED}


@matrix.quick(lambda name: name in ("mpiexec", "srun"))
@pytest.mark.parametrize("name", LAUNCHERS)
def test_ends_as_the_launcher_does(headway: Headway, place: Path, name: str) -> None:
    assert headway(*RUN, name, *LAUNCHERS[name], "./app", "die").returncode == 128 + 11
    missing = headway(*RUN, place / "nowhere" / name, "./app")
    assert "no program" in one_line(missing)


@pytest.mark.parametrize("name", LAUNCHERS)
def test_lines_for_a_batch_script(headway: Headway, place: Path, name: str) -> None:
    words = ("run", "--dry-run", *RUN[2:], name, *LAUNCHERS[name], "./app", "a b")
    printed = headway(*words)
    assert printed.returncode == 0, printed.stderr
    done = subprocess.run(
        ["sh", "-e"], input=printed.stdout, text=True, capture_output=True, timeout=60, cwd=place
    )
    assert done.returncode == 7, printed.stdout + done.stderr
    assert said(done.stdout) == {"args": "a b", "count": "1", **WANTED}


@pytest.mark.parametrize(
    ("told", "variable"),
    [
        (("--export=NONE",), ""),
        (("--export", "NIL"), ""),
        (("--export=HOME",), ""),
        (("--export=ALL,A=1",), ""),
        ((), "NONE"),
        ((), "HOME"),
        ((), "ALL"),
        (("--export=HOME",), "NONE"),
        (("-J", "env", "--export=NONE"), ""),  # a job may have the name of a program
    ],
)
def test_srun_that_is_told_what_to_export(
    headway: Headway, place: Path, told: tuple[str, ...], variable: str
) -> None:
    env = {"SLURM_EXPORT_ENV": variable} if variable else {}
    done = headway(*RUN, "srun", *told, "./app", **env)
    assert done.returncode == 7, done.stderr
    assert said(done.stdout).items() >= WANTED.items(), done.stdout


def python(place: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    """Started in `place`, in a session of its own, with the command's modules at hand."""
    return subprocess.Popen(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": str(ROOT / "cli"), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=place,
        start_new_session=True,
    )


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGUSR1, 5), (signal.SIGTERM, 6), (signal.SIGUSR2, 128 + 12)]
)
def test_signals_of_the_batch_system(place: Path, number: int, status: int) -> None:
    """What tells a program that its time is nearly up must not end the command."""
    with python(place, "-m", "headway", *RUN, "srun", "./app", "wait") as process:
        try:
            assert process.stdout
            while process.stdout.readline() not in ("ready\n", ""):
                pass
            process.send_signal(number)
            assert process.wait(20) == status
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # what the program waits for


def is_alive(process: str) -> bool:
    """One that ended may wait for its parent, which is a stranger now."""
    try:
        status = Path("/proc", process, "stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def test_command_that_is_killed(place: Path) -> None:
    """As by who has lost patience (subprocess.run with a timeout): the launcher does not stay."""
    (place / "app").write_text("#!/bin/sh\nunset LD_PRELOAD\necho $$\nexec sleep 60\n")
    with python(place, "-m", "headway", *RUN, "srun", "./app") as process:
        try:
            assert process.stdout
            started = process.stdout.readline().strip()
            process.kill()
            process.wait()
            deadline = time.monotonic() + 10
            while is_alive(started) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not is_alive(started)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_signals_that_are_ignored(place: Path, number: int) -> None:
    """As nohup(1) has it: neither the command nor the program ends by them."""
    script = "#!/bin/sh\nunset LD_PRELOAD\nkill -{0} $PPID\nkill -{0} $$\necho alive\n"
    (place / "app").write_text(script.format(int(number)))
    done = subprocess.run(
        [sys.executable, "-m", "headway", *RUN, "./app"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "cli")},
        capture_output=True,
        text=True,
        cwd=place,
        timeout=60,
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN),
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


def test_what_a_shell_opened_reaches_the_program(place: Path) -> None:
    """As in headway run ./app <(zcat input.gz)."""
    (place / "app").write_text("#!/bin/sh\nunset LD_PRELOAD\ncat /dev/fd/$1\n")
    reader, writer = os.pipe()
    os.write(writer, b"input\n")
    os.close(writer)
    done = subprocess.run(
        [sys.executable, "-m", "headway", *RUN, "./app", str(reader)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "cli")},
        capture_output=True,
        text=True,
        cwd=place,
        pass_fds=(reader,),
        timeout=60,
    )
    os.close(reader)
    assert (done.returncode, done.stdout) == (0, "input\n"), done.stderr


def test_several_programs_of_a_launcher_that_says_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = {"A": "1", "B": "x y"}
    parts = ["mpiexec", "-n", "1", "./app", "x", ":", "-n", "1", "./app", "y"]
    told = ["env", "A=1", "B=x y"]
    monkeypatch.chdir(place)
    made = launchers.command_make(parts, env, "mpich")
    assert made.outer == {}
    assert made.argv == [
        *("mpiexec", "-n", "1", *told, "./app", "x", ":"),
        *("-n", "1", *told, "./app", "y"),
    ]
    # A program that is not on the line can but have the launcher's environment.
    made = launchers.command_make(["mpiexec", "-configfile", "file"], env, "mpich")
    assert made.argv == ["mpiexec", "-configfile", "file"] and made.outer == env


def test_other_preloads(headway: Headway, place: Path) -> None:
    """Another Headway is left out. A sanitizer is first, or it ends the program."""
    (place / "app").write_text('#!/bin/sh\necho "preload: $LD_PRELOAD"\n')
    others = "libtool.so:/x/libheadway-mpich.so /x/libheadway-ompi.so:/x/libasan.so:/x/libasan.so.8"
    printed = headway("run", "--dry-run", "--abi", "mpich", "--", "./app", LD_PRELOAD=others)
    assert printed.returncode == 0, printed.stderr
    (line,) = (one for one in printed.stdout.splitlines() if "LD_PRELOAD" in one)
    first, second, ours, *rest = line.partition("=")[2].split(":")
    assert (first, second) == ("/x/libasan.so", "/x/libasan.so.8"), line
    assert ours.endswith("/libheadway-mpich.so") and not ours.startswith("/x/"), line
    assert rest == ["libtool.so"], line


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("prun", ("-x", "LD_PRELOAD={}")),
        ("mpiexec.hydra", ("-genv", "LD_PRELOAD", "{}")),
        ("mpiexec.hydra", ("-n", "1", "-env", "LD_PRELOAD", "{}")),
    ],
)
def test_line_that_preloads(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, told: tuple[str, ...]
) -> None:
    """A tool named there, a program as far as its rights tell, is beside Headway."""
    tool = place / "libtool.so"
    tool.symlink_to(place / "app")
    monkeypatch.chdir(place)
    monkeypatch.setattr(launchers, "family_of", lambda path: "hydra")
    words = [name, *(word.format(f"/x/libheadway-mpich.so:{tool}") for word in told), "./app"]
    made = launchers.command_make(words, {"LD_PRELOAD": "/lib/libheadway-ompi.so"}, "mpich")
    both = f"/lib/libheadway-ompi.so:{tool}"
    values = [word.removeprefix("LD_PRELOAD=") for word in made.argv if "libheadway" in word]
    assert values == [both, both] and made.argv[-1] == "./app", made.argv


def test_lines_for_another_machine(headway: Headway, place: Path) -> None:
    """Whoever writes them need not have the launcher; who runs it must."""
    for name, told in (
        ("srun", "export LD_PRELOAD="),
        ("prterun", " -x LD_PRELOAD "),
        ("mpiexec", "env LD_PRELOAD="),
    ):
        (place / "bin" / name).unlink(missing_ok=True)
        words = ("--abi", "ompi", "--", name, "-n", 2, "./app")
        path = f"{place / 'bin'}:{Path(sys.executable).parent}"
        done = headway("run", "--dry-run", *words, PATH=path)
        assert done.returncode == 0 and told in done.stdout, done.stdout + done.stderr
        refused = headway("run", *words, PATH=path)
        assert f"there is no program {name!r}" in one_line(refused)


BATCH = {"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n0"}


@pytest.mark.parametrize(
    ("line", "ranks", "env", "expected"),
    [
        ("./app", None, BATCH | {"SLURM_NNODES": "2"}, False),
        ("./app", 2, {}, False),
        ("./app -f n0", 2, {}, False),
        ("./app", 2, BATCH | {"SLURM_JOB_NUM_NODES": "1"}, False),
        ("./app", 2, BATCH | {"SLURM_JOB_NUM_NODES": "2"}, True),
        ("./app", 2, {"SLURM_JOB_ID": "7", "SLURM_NNODES": "1"}, True),
        ("mpiexec -n 2 ./app", None, {}, False),
        ("mpiexec -n 2 ./app", None, {"LSB_MCPU_HOSTS": "a 2 b 2"}, True),
        ("mpiexec -n 2 ./app", None, {"LSB_MCPU_HOSTS": "a 4"}, False),
        ("mpiexec -n 2 ./app", None, {"HYDRA_HOST_FILE": "hosts"}, True),
        ("mpiexec -n 2 ./app -f input -H 3", None, {}, False),
        ("mpiexec -f hosts -n 2 ./app", None, {}, True),
        ("mpiexec --hostfile=hosts -n 2 ./app", None, {}, True),
        ("mpiexec -launcher-exec /bin/sh -hosts a,b ./app", None, {}, True),
        ("mpiexec -launcher env -f hosts -n 2 ./app", None, {}, True),
        ("mpiexec --mca plm_rsh_agent env --hostfile hosts -n 2 ./app", None, {}, True),
        ("mpiexec -launcher env -f hosts -n 2 python3 app.py", None, {}, True),
        ("mpiexec -n 1 ./app : -host b -n 1 ./app -f input", None, {}, True),
        ("mpiexec -n 1 ./app -f input : -n 1 ./app -H 3", None, {}, False),
        ("srun ./app", None, {}, True),
        ("srun ./app", None, BATCH | {"SLURM_JOB_NUM_NODES": "1"}, False),
        ("srun ./app", None, BATCH | {"SLURM_JOB_NUM_NODES": "2"}, True),
        ("srun ./app", None, {"SLURM_JOB_ID": "7", "SLURM_NNODES": "1"}, True),
        ("srun --jobid=8 ./app", None, BATCH | {"SLURM_JOB_NUM_NODES": "1"}, True),
        ("-- flux run ./app", None, {}, True),
    ],
)
def test_whether_ranks_may_be_elsewhere(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    line: str,
    ranks: int | None,
    env: dict[str, str],
    expected: bool,
) -> None:
    monkeypatch.chdir(place)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert launchers.is_elsewhere(shlex.split(line), ranks) == expected


def test_nodes_of_an_allocation(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("a\na\nb\n")
    for env, count in (
        ({}, 0),
        ({"SLURM_NNODES": "3"}, 3),
        ({"PBS_NODEFILE": str(hosts)}, 2),
        ({"PBS_NODEFILE": str(tmp_path / "none")}, 0),
        ({"LSB_MCPU_HOSTS": "a 8 b 8 c 8"}, 3),
        ({"NHOSTS": "2"}, 2),
    ):
        assert launchers.allocated_nodes(env) == count, env


def test_ghosts_are_not_added_to_several_nodes(headway: Headway, place: Path) -> None:
    """Which node would get how many more is the launcher's to say."""
    words = ("run", "--dry-run", "--abi", "ompi", "--ghosts", 1)
    refused = headway(*words, "-n", 4, "./app", SLURM_NNODES="2")
    assert "allocation has 2 nodes" in one_line(refused)
    for own in (("-n", 4, "./app"), ("--", "srun", "-n", 4, "./app")):
        env = {"SLURM_NNODES": "1" if own[0] == "-n" else "2"}
        done = headway(*words, *own, **env)
        assert done.returncode == 0, done.stderr
        assert ("-n 5" in done.stdout) == (own[0] == "-n") and "HEADWAY_GHOSTS=1" in done.stdout


def test_helpers_are_ghosts_that_serve_no_window(headway: Headway, place: Path) -> None:
    words = ("run", "--dry-run", "--abi", "ompi", "--helpers")
    done = headway(*words, 1, "-n", 4, "./app")
    assert done.returncode == 0, done.stderr
    for part in ("-n 5", "HEADWAY_GHOSTS=1", "HEADWAY_TRIGGER=helper", "HEADWAY_REDIRECT=off"):
        assert part in done.stdout
    for bad, part in (
        ((0,), "nobody would help"),
        (("few",), "HEADWAY_GHOSTS=few"),
        ((1, "--ghosts", 1), "both given"),
    ):
        assert part in one_line(headway(*words, *bad, "-n", 4, "./app"))


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_program_with_the_name_of_a_launcher(headway: Headway, place: Path, hello: Path) -> None:
    (place / "flux.x").symlink_to(hello)
    done = headway("run", "-n", 2, "./flux.x")
    assert done.returncode == 0 and "2 ranks" in done.stderr, done.stderr
    assert launchers.kind_of(str(place / "bin" / "flux")) == "other"
    assert launchers.kind_of("flux.x") == "other"


def test_words_that_are_no_program(headway: Headway) -> None:
    for command in ("run", "profile", "tune"):
        assert f"no program to {command}" in one_line(headway(command, "-n", 2, ""))
        said = one_line(headway(command, "--", "-n", 2, "./app"))
        assert f"-n is no program; options of headway {command} stand before" in said


#: goes on writing where the records are when its launcher has ended
OUTLIVING = f"""#!{sys.executable}
import os
folder = os.environ["HEADWAY_RECORD"]
if os.fork():
    os._exit(7)
os.setsid()
os.close(1)
os.close(2)
try:
    for number in range(200_000):
        os.close(os.open(f"{{folder}}/{{number}}", os.O_CREAT | os.O_WRONLY))
except FileNotFoundError:
    pass
"""


@pytest.mark.parametrize("attempt", range(3))
def test_rank_that_outlives_its_launcher(headway: Headway, place: Path, attempt: int) -> None:
    """Of the temporary folder something may be left; the status is the program's."""
    (place / "app").write_text(OUTLIVING)
    done = headway("run", "--abi", "mpich", "--", "./app", TMPDIR=str(place), LD_PRELOAD="")
    assert done.returncode == 7 and "Traceback" not in done.stderr, done.stderr


#: a command whose telling takes long, as of a profile of thousands of ranks
TELLING = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored around the tests
from headway import main
from headway.run import command

def tell(found):
    print("telling", flush=True)
    time.sleep(60)

command.tell_summary = tell
sys.exit(main.main(["run", "--abi", "mpich", "--", "./app"]))
"""


@pytest.mark.parametrize(
    "number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_what_is_told_at_the_end_can_be_interrupted(place: Path, number: int, status: int) -> None:
    """When the program has ended the signals are for the command alone."""
    (place / "app").write_text("#!/bin/sh\nexit 0\n")
    with python(place, "-c", TELLING, TMPDIR=str(place)) as process:
        try:
            assert process.stdout and process.stdout.readline() == "telling\n"
            process.send_signal(number)
            _, said = process.communicate(timeout=20)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == status and "Traceback" not in said, said
    assert not list(place.glob("headway-run-*"))


def test_output_that_nobody_reads_any_more() -> None:
    """As of `headway cluster run ... | head`: the program's output is taken all the same, or it
    would wait for room in its pipe."""
    seen: list[str] = []

    def on_line(line: str) -> None:
        seen.append(line)
        raise BrokenPipeError

    done = run_to_end(
        ["sh", "-c", "seq 100000"],
        env=os.environ,
        cwd=None,
        timeout=30,
        on_line=on_line,
        sweep=lambda: 0,
    )
    assert done.is_ok and done.stdout.endswith("\n100000\n") and seen == ["1"]
