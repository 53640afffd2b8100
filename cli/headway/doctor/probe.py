# SPDX-License-Identifier: BSD-3-Clause
"""Asks MPIs, by starting ranks of them with the library preloaded."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from headway import records
from headway.cluster import procs
from headway.cluster.process import run_to_end
from headway.doctor.finding import NOTE, OK, PROBLEM, Finding
from headway.errors import HeadwayError
from headway.mpi import elf, launch, preload, program
from headway.mpi.mpis import Mpi
from headway.record import reading
from headway.record.table import Record

TIMEOUT_S = 30.0
#: who has not ended when others have gets so many times what the last of these took, and no less
#: than the seconds
PATIENCE, LEAST_PATIENCE_S = 4.0, 6.0
LEVELS = ("single", "funneled", "serialized", "multiple")
#: MPI_THREAD_* of the MPICH family; Open MPI has the same four
MULTIPLE = 3

#: One rank. Symbols come from the global scope, so that a preloaded library is asked first.
RANK = f"""
import ctypes, json, os, sys
mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
names = ctypes.CDLL(None)
given, length = ctypes.c_int(), ctypes.c_int()
text = ctypes.create_string_buffer(1 << 16)
mpi.MPI_Get_library_version(text, ctypes.byref(length))
names.MPI_Init_thread(None, None, {MULTIPLE}, ctypes.byref(given))
names.MPI_Finalize()
with open(sys.argv[2], "w") as file:
    json.dump({{"level": given.value, "version": text.value.decode(errors="replace")}}, file)
"""

#: Makes one window. Handles are numbers in the MPICH family, and addresses in Open MPI.
WINDOW = """
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
names = ctypes.CDLL(None)
world, no_info = 0x44000000, 0x1c000000
if hasattr(mpi, "ompi_mpi_comm_world"):
    world = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world"))
    no_info = ctypes.byref(ctypes.c_char.in_dll(mpi, "ompi_mpi_info_null"))
base, window = ctypes.c_void_p(), ctypes.c_void_p()
names.MPI_Init(None, None)
names.MPI_Win_allocate(ctypes.c_ssize_t(8), 1, no_info, world, ctypes.byref(base),
                       ctypes.byref(window))
names.MPI_Win_free(ctypes.byref(window))
names.MPI_Finalize()
"""


@dataclass
class Answer:
    """What one MPI said. `error` is empty when its rank ran."""

    mpi: Mpi
    level: str = ""
    transport: str = ""
    abi: str = ""
    library: str = ""  # of Headway; empty: none built for this ABI
    record: Record = field(default_factory=Record)
    error: str = ""
    ghost_error: str = "not asked"  # empty: a ghost served a window

    @property
    def can_progress(self) -> bool:
        return self.record.engine == "thread" and not records.declined([self.record])

    @property
    def engine(self) -> str:
        """What the thread engine said of itself in this rank."""
        if self.error:
            return "?"
        if not self.library:
            return "no library built"
        if self.can_progress:
            limit = records.size_text(self.record.eager_limit_bytes)
            return f"works, from {limit} on"
        reasons = [*records.declined([self.record])] or ["it did not start"]
        return "off: " + ", ".join(reasons)


@dataclass
class Probes:
    """All launches of one diagnosis, several at a time: most of each is waiting. `tags` mark the
    processes of those that have begun."""

    pool: ThreadPoolExecutor
    tags: list[str] = field(default_factory=list)
    gave_up_after_s: float = 0.0

    def wait(self, asked: Sequence[Future[Any]]) -> None:
        """Until all have ended, or some and the others have had far longer: these hang."""
        begun, last = time.monotonic(), 0.0
        pending = set(asked)
        while pending:
            limit = max(PATIENCE * last, LEAST_PATIENCE_S) if last else TIMEOUT_S
            left = begun + limit - time.monotonic()
            done, pending = wait(pending, max(left, 0.0), FIRST_COMPLETED)
            if done:
                last = time.monotonic() - begun
            elif last:
                self.gave_up_after_s = time.monotonic() - begun
                self.kill()
                return

    def kill(self) -> None:
        for tag in self.tags:
            procs.kill_tagged(procs.TAG, tag)

    def end(self) -> None:
        """Starts no more, and ends what runs."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.kill()

    def run_ranks(
        self, mpi: Mpi, count: int, words: list[str | Path], forward: dict[str, str], folder: Path
    ) -> str:
        """Runs that script with those arguments; the line in which it says what went wrong, if
        so."""
        if forward:
            forward = {**forward, "HEADWAY_RECORD": str(folder)}
        argv = [sys.executable, "-c", *map(str, words)]
        made = launch.build(mpi, argv, ranks=count, forward=forward)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY_", "LD_PRELOAD"))}
        tag = uuid.uuid4().hex
        self.tags.append(tag)
        try:
            done = run_to_end(
                made.argv,
                env=env | made.env | {procs.TAG: tag},
                cwd=None,
                timeout=TIMEOUT_S,
                on_line=None,
                sweep=lambda: procs.kill_tagged(procs.TAG, tag),
            )
        except OSError as error:
            return str(error).splitlines()[0]
        if done.timed_out or self.gave_up_after_s:
            return f"it did not end within {self.gave_up_after_s or TIMEOUT_S:.0f} s"
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip(" -=")]
        telling = [line for line in lines if re.search(r"error|cannot|fail|not found", line, re.I)]
        return next(iter(telling + lines[-1:]), f"status {done.returncode}").strip()

    def ask_rank(self, mpi: Mpi, forward: dict[str, str]) -> Answer:
        """One rank of this MPI, with the library of its ABI where there is one."""
        library = loadable(mpi)
        answer = Answer(mpi, abi=soname(library), library=forward.get("LD_PRELOAD", ""))
        with record_folder() as folder:
            said_file = folder / "said.json"
            complaint = self.run_ranks(mpi, 1, [RANK, library, said_file], forward, folder)
            answer.error = "" if said_file.exists() else complaint
            said = records.load_json(said_file) or {}
            level = reading.integer(said, "level")
            answer.level = LEVELS[level] if said and 0 <= level < len(LEVELS) else "?"
            answer.transport = transport(mpi, str(said.get("version", "")))
            answer.record = (records.read(folder) or [Record()])[0]
        return answer

    def ask_ghost(self, mpi: Mpi, forward: dict[str, str]) -> str:
        """Why a ghost does not serve a window of one process; empty if it does."""
        if not forward:
            return Answer.ghost_error
        wanted = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}
        with record_folder() as folder:
            complaint = self.run_ranks(mpi, 2, [WINDOW, loadable(mpi)], forward | wanted, folder)
            found = records.read(folder)
        if records.total(found, "windows_redirected"):
            return ""
        return "; ".join(records.declined(found)) or complaint


def ask(mpis: Sequence[Mpi]) -> list[Answer]:
    """Each MPI, by starting ranks of it."""
    probes = Probes(ThreadPoolExecutor(2 * len(mpis) or 1, "probe"))
    try:
        asked = []
        for mpi in mpis:
            forward = preloading(mpi)
            rank = probes.pool.submit(probes.ask_rank, mpi, forward)
            asked.append((rank, probes.pool.submit(probes.ask_ghost, mpi, forward)))
        probes.wait([one for both in asked for one in both])
        answers = []
        for rank, ghost in asked:
            answer, ghost_error = rank.result(), ghost.result()
            answers.append(answer if answer.error else replace(answer, ghost_error=ghost_error))
        return answers
    finally:
        probes.end()


def preloading(mpi: Mpi) -> dict[str, str]:
    """What shows what the library can do, not what it would choose for one rank. Nothing where
    there is no library."""
    try:
        library = str(preload.library(mpi.flavour))
    except HeadwayError:
        return {}
    return {"LD_PRELOAD": library, "HEADWAY_ENGINE": "thread"}


@contextmanager
def record_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="headway-doctor-") as name:
        yield Path(name)


def loadable(mpi: Mpi) -> Path:
    """The library itself: in wheels, libmpi.so may be a linker script that names it."""
    for path in (mpi.library, *sorted(mpi.library.parent.glob("libmpi*.so.*"))):
        if program.flavour_of(soname(path)) == mpi.flavour:
            return path
    return mpi.library


def soname(library: Path) -> str:
    try:
        return elf.read(library).soname or library.name
    except (elf.NotElf, OSError):
        return library.name


def transport(mpi: Mpi, version: str) -> str:
    """What it can send over, as far as it tells without a partner."""
    if mpi.flavour == "ompi":
        return ompi_transports(mpi)
    if match := re.search(r"MPICH Device:\s*(\S+)", version):
        return match[1]
    return "ofi" if mpi.is_intel else "?"


def ompi_transports(mpi: Mpi) -> str:
    """Its components, from ompi_info."""
    info = mpi.mpiexec.with_name("ompi_info" + mpi.mpiexec.name.removeprefix("mpiexec"))
    try:
        done = subprocess.run(
            [info if info.exists() else info.with_name("ompi_info"), "--parsable"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            env=mpi.environment(),
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "?"
    found = dict.fromkeys(re.findall(r"^mca:((?:pml|mtl|btl):\w+):version", done.stdout, re.M))
    kinds: dict[str, list[str]] = {}
    for word in found:
        kind, _, name = word.partition(":")
        if name not in ("self", "monitoring", "v"):
            kinds.setdefault(kind, []).append(name)
    return ", ".join(f"{kind} {'/'.join(names)}" for kind, names in sorted(kinds.items())) or "?"


def findings(answers: Sequence[Answer]) -> list[Finding]:
    """What of it needs somebody's attention."""
    found = []
    if not answers:
        found.append(
            Finding(PROBLEM, "MPI", "none found", "install one, or put its mpicc into PATH")
        )
    for answer in answers:
        found += judge(answer)
    return found


def judge(answer: Answer) -> list[Finding]:
    title = answer.mpi.title
    if answer.error:
        remedy = f"does {answer.mpi.mpiexec} -n 1 PROGRAM work alone?"
        return [Finding(PROBLEM, title, f"a rank of it does not run: {answer.error}", remedy)]
    if not answer.library:
        text = f"no libheadway-{answer.mpi.flavour}.so here"
        return [Finding(PROBLEM, title, text, preload.remedy(answer.mpi.flavour))]
    if not answer.can_progress:
        remedy = "HEADWAY_VERBOSE=1 says more"
        return [Finding(NOTE, title, f"the thread engine is {answer.engine}", remedy)]
    return [Finding(OK, title, "runs, and the thread engine starts")]


def as_json(answer: Answer) -> dict[str, Any]:
    return {
        "name": answer.mpi.name,
        "title": answer.mpi.title,
        "abi": answer.abi,
        "transport": answer.transport,
        "thread_level": answer.level,
        "library": answer.library,
        "engine": answer.engine,
        "works": answer.can_progress,
        "ghosts": not answer.ghost_error,
        "ghost_error": answer.ghost_error,
        "error": answer.error,
        "record": dataclasses.asdict(answer.record),
    }
