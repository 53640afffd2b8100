# SPDX-License-Identifier: BSD-3-Clause
"""What every test that starts an MPI job shares: building, launching, reading records.

Every launch goes through `run_group`, which leaves no process behind whatever happens: the whole
process group is killed on a timeout, and so is anything that left the group but carries the tag of
this job in its environment.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import turns
from headway.cluster.process import within
from headway.mpi import launch
from headway.mpi.mpis import Mpi, find_mpis

ROOT = Path(__file__).resolve().parent.parent
#: The Intel MPI of ./dev setup may find the distribution's libfabric before its own. Where that
#: knows InfiniBand, each process reads all the kernel's symbols, which takes it most of a second.
#: Between two nodes plain Intel MPI ends in one-sided operations with its own.
OFI = ROOT / "build" / "mpi" / "impi" / "lib" / "libfabric.so.1"
WITHIN_A_NODE = {"I_MPI_OFI_LIBRARY": str(OFI)} if OFI.exists() else {}
BUILD = ROOT / "build" / "tests"
#: Other builds of the libraries are tried by naming their folder.
LIBRARIES = Path(os.environ.get("TEST_LIBRARIES", ROOT / "build" / "lib"))
PROGRAMS = ROOT / "tests" / "mpi"
TAG = "TEST_JOB_TAG"
LAUNCH_TIMEOUT_S = 180.0

#: The engine is what nearly all tests are about; `auto` would leave it off in their jobs, which are
#: on one node with few cores.
ENGINE = {"HEADWAY_ENGINE": "thread"}

#: Options that make the engine work on test-sized messages whatever the machine.
FORCED = {"HEADWAY_EAGER_LIMIT": "1024", "HEADWAY_STAND_DOWN": "never", "HEADWAY_TICK_US": "100"}


#: Variables that conftest.py and this module set.
ONLY_TESTS = ("OMPI_MCA_btl", "OMPI_MCA_mtl", *WITHIN_A_NODE)

#: What Open MPI 5 says now and then where it does not start, plain, too; and how often it may try.
DEAF = "listener thread failed to start"
LISTEN_ATTEMPTS = 3

#: What launches are counted for -> how often it happened, and of how many. Shown at the end.
TALLY: dict[str, tuple[int, int]] = {}


def tally(what: str, has_happened: bool) -> bool:
    """Counts a launch, and hands back whether it happened."""
    happened, launches = TALLY.get(what, (0, 0))
    TALLY[what] = happened + has_happened, launches + 1
    return has_happened


def is_deaf(output: str) -> bool:
    """Whether a job did not start, as Open MPI's launcher did not listen: counted."""
    return tally("started again, for PMIx did not listen", DEAF in output)


@dataclass
class Result:
    """One finished job."""

    command: str
    status: int
    stdout: str
    stderr: str
    has_timed_out: bool = False
    records: list[dict] = field(default_factory=list)

    @property
    def lines(self) -> list[str]:
        """Lines of standard output in an order that does not depend on which rank wrote first."""
        return sorted(line for line in self.stdout.splitlines() if line.strip())

    def total(self, counter: str) -> int:
        return sum(int(record.get(counter, 0)) for record in self.records)

    def explain(self) -> str:
        cause = "timed out" if self.has_timed_out else f"status {self.status}"
        return f"{cause}: {self.command}\n{self.stdout[-3000:]}\n{self.stderr[-3000:]}"


def with_few_providers(mpi: Mpi) -> Mpi:
    """Intel MPI whose jobs load of libfabric only what they use here, which takes them three
    quarters of the time to start."""
    folder = BUILD / mpi.name / "providers"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tcp", "shm", "rxm"):
        link = folder / f"lib{name}-fi.so"
        target = Path(mpi.env["FI_PROVIDER_PATH"]) / link.name
        if not link.is_symlink() or link.readlink() != target:
            scratch = link.with_name(f".{link.name}.{os.getpid()}")  # others' jobs may look for it
            scratch.symlink_to(target)
            scratch.replace(link)
    return replace(mpi, env={**mpi.env, "FI_PROVIDER_PATH": str(folder), "FI_PROVIDER": "tcp"})


def run_bare(mpi: Mpi, argv: Sequence[str | Path], *, ranks: int, **forward: str) -> Result:
    """Without any setting that only tests use (tests/README.md)."""
    found = {one.name: one for one in find_mpis(with_path=False)}
    made = launch.build(found[mpi.name], [str(word) for word in argv], ranks=ranks, forward=forward)
    environment = {k: v for k, v in job_environment(mpi, made.env).items() if k not in ONLY_TESTS}
    return run_group(made.argv, environment)


@cache
def known_mpis() -> dict[str, Mpi]:
    found = {mpi.name: mpi for mpi in find_mpis(with_path=False)}
    return {name: with_few_providers(m) if m.is_intel else m for name, m in found.items()}


def oldest(flavour: str) -> Mpi:
    """The distribution's, mostly."""
    return next(mpi for mpi in known_mpis().values() if mpi.flavour == flavour)


@cache
def declares(mpi: Mpi, function: str) -> bool:
    """Whether the MPI's headers have this function; MPICH's mpi.h leaves them to another."""
    headers = [mpi.header, mpi.header.with_name("mpi_proto.h")]
    texts = [path.read_text(errors="replace") for path in headers if path.exists()]
    return any(re.search(rf"\b{function}\s*\(", text) for text in texts)


def library(mpi: Mpi) -> Path:
    return LIBRARIES / f"libheadway-{mpi.flavour}.so"


def preloaded(mpi: Mpi, options: Mapping[str, str], preload: Path | None = None) -> dict[str, str]:
    """What a rank's environment needs to run under the library with these options."""
    return {"LD_PRELOAD": str(preload or library(mpi)), **ENGINE, **options}


def rank_one_to_ghosts(argv: Sequence) -> list[str]:
    """Rank 1 takes all its one-sided operations through the ghosts; the others choose (MPICH)."""
    choose = 'test "$PMI_RANK" = 1 && export HEADWAY_REDIRECT=on; exec "$0" "$@"'
    return ["/bin/sh", "-c", choose, *map(str, argv)]


def tagged_processes(tag: str) -> list[int]:
    """Processes of this job, found by the tag each inherits in its environment."""
    wanted = f"{TAG}={tag}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def kill_group(process: subprocess.Popen, tag: str) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline and (process.poll() is None or tagged_processes(tag)):
            time.sleep(0.05)
    for pid in tagged_processes(tag):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run_group(
    argv: Sequence[str],
    env: Mapping[str, str] | None = None,
    timeout_s: float = LAUNCH_TIMEOUT_S,
    tag: str | None = None,
    cwd: Path | None = None,
) -> Result:
    """Runs a command in its own process group, without standard input, until it or time ends; again
    where it was a job that did not start."""
    for _ in range(LISTEN_ATTEMPTS):
        result = run_group_once(argv, env, timeout_s, tag, cwd)
        if not is_deaf(result.stderr):
            break
    return result


def run_group_once(
    argv: Sequence[str],
    env: Mapping[str, str] | None,
    timeout_s: float,
    tag: str | None,
    cwd: Path | None,
) -> Result:
    tag = tag or uuid.uuid4().hex
    environment = {**(os.environ if env is None else env), TAG: tag}
    command = shlex.join(str(word) for word in argv)
    with subprocess.Popen(
        [str(word) for word in argv],
        env=environment,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        cwd=cwd,
    ) as process:
        try:
            stdout, stderr = within(timeout_s, lambda left_s: process.communicate(timeout=left_s))
        except subprocess.TimeoutExpired:
            kill_group(process, tag)
            stdout, stderr = process.communicate()
            return Result(command, -1, stdout, stderr, has_timed_out=True)
        except BaseException:
            kill_group(process, tag)
            raise
    return Result(command, process.returncode, stdout, stderr)


def compile_program(
    mpi: Mpi,
    name: str,
    sources: Sequence[Path],
    flags: Sequence[str | Path] = (),
    compiler: Path | None = None,
) -> Path:
    """Compiles with this MPI's wrapper, again only when a source is newer; returns the program."""
    out = BUILD / mpi.name / name
    beside = [path for folder in {s.parent for s in sources} for path in folder.iterdir()]
    included = [path for path in beside if path.suffix in (".h", ".inc")]
    newest = max(path.stat().st_mtime for path in (*sources, *included))
    if out.exists() and out.stat().st_mtime > newest:
        return out
    out.parent.mkdir(parents=True, exist_ok=True)
    scratch = out.with_name(f".{out.name}.{os.getpid()}")
    wrapper = compiler or mpi.mpicc
    language = ["-std=gnu17"] if wrapper == mpi.mpicc else []
    # Beside its own compiler wrapper a wheel keeps what the wrapper calls.
    env = {**mpi.environment(), "PATH": f"{wrapper.parent}:{os.environ['PATH']}"}
    argv = [
        wrapper,
        *language,
        "-O1",
        "-g",
        "-Wall",
        "-Wno-deprecated-declarations",
        *sources,
        *flags,
        "-o",
        scratch,
        "-lpthread",
        "-ldl",
    ]
    with turns.given_up():
        done = run_group(argv, env)
    if done.status != 0:
        raise AssertionError(f"cannot compile {name} for {mpi.name}\n{done.explain()}")
    scratch.rename(out)
    return out


def launcher_extra(mpi: Mpi) -> list[str]:
    """Open MPI spins while idle; with more ranks than cores it must give the core away. And 5.0 may
    hang, plain too, once accumulates have used up osc/rdma's buffer (doc/guide/troubleshooting.md):
    with one of 1 MiB no test comes near its end."""
    if mpi.flavour != "ompi":
        return []
    return ["--mca", "mpi_yield_when_idle", "1", "--mca", "osc_rdma_buffer_size", str(1 << 20)]


def postpones(mpi: Mpi) -> bool:
    """Whether large receives may begin after the sends that follow them (doc/adr/0053)."""
    return mpi.flavour == "ompi" or (mpi.vendor == "MPICH" and mpi.version[:3] in ("4.0", "4.1"))


def netmod(mpi: Mpi) -> str | None:
    """MPICH 5 has two; its UCX cannot use the loopback interface, which may be all there is."""
    return "ofi" if mpi.vendor == "MPICH" and mpi.major >= 5 else None


def job_environment(mpi: Mpi, extra: Mapping[str, str]) -> dict[str, str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEADWAY_")}
    environment |= {**WITHIN_A_NODE, **extra}
    return environment


def start_tagged(mpi: Mpi, made: launch.Launch, tag: str) -> subprocess.Popen[str]:
    """Starts a job in a process group of its own; tagged_processes(tag) are its processes."""
    return subprocess.Popen(
        made.argv,
        env={**job_environment(mpi, made.env), TAG: tag},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def read_records(folder: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("headway.*.json"))]


def run_mpi(
    mpi: Mpi,
    argv: Sequence[str | Path],
    *,
    ranks: int,
    options: Mapping[str, str] | None = None,
    shared_memory: bool = True,
    records: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float = LAUNCH_TIMEOUT_S,
    preload: Path | None = None,
    extra: Sequence[str] = (),
) -> Result:
    """Runs an MPI program, plain when `options` is None, else under the library with these."""
    forward = dict(env or {})
    if options is not None:
        forward |= preloaded(mpi, options, preload)
        if records is not None:
            records.mkdir(parents=True, exist_ok=True)
            forward["HEADWAY_RECORD"] = str(records)
    made = launch.build(
        mpi,
        [str(word) for word in argv],
        ranks=ranks,
        forward=forward,
        shared_memory=shared_memory,
        netmod=netmod(mpi),
        extra=[*launcher_extra(mpi), *extra],
    )
    result = run_group(made.argv, job_environment(mpi, made.env), timeout_s)
    if records is not None and records.is_dir():
        result.records = read_records(records)
    return result


def object_of(result: Result) -> dict:
    """What a program of bench/ printed, which ended well."""
    assert result.status == 0, result.explain()
    found: dict = json.loads(result.stdout)
    return found


def run_served(mpi: Mpi, argv: Sequence[str | Path], *, users: int, records: Path) -> dict:
    """Its object, with one ghost more, which got operations."""
    options = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}
    done = run_mpi(mpi, argv, ranks=users + 1, options=options, records=records)
    found = object_of(done)
    assert done.total("operations_redirected") > 0
    return found


class PlainRuns:
    """Plain controls by MPI, words and number of ranks."""

    def __init__(self) -> None:
        self.found: dict[tuple, Result] = {}

    def __call__(self, mpi: Mpi, argv: Sequence[str | Path], *, ranks: int) -> Result:
        key = (mpi.name, ranks, *map(str, argv))
        if key not in self.found:
            self.found[key] = run_mpi(mpi, argv, ranks=ranks)
        plain = self.found[key]
        assert plain.status == 0, f"the plain control failed, {plain.explain()}"
        return plain


def shared_memory_files() -> set[str]:
    return {entry.name for entry in Path("/dev/shm").iterdir()}
