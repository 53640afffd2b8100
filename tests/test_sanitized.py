# SPDX-License-Identifier: BSD-3-Clause
"""Jobs under address and thread sanitizer with the library preloaded.

The MPI is not instrumented, so what is found is what the library itself does.
"""

from __future__ import annotations

import fcntl
import re
import subprocess
from functools import cache
from pathlib import Path

import matrix
import pytest
import support
import turns
import two_nodes
from headway.mpi.mpis import Mpi
from test_ghosts import program_of
from test_programs import Program, build

MPI = "mpich4"
#: the first of these may wait for the libraries
pytestmark = pytest.mark.timeout(900)
GHOST = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}

MESSAGES = {"HEADWAY_PACK": "on", "HEADWAY_PACK_MESSAGES": "yes"}

#: name -> program and its words, user processes, ghosts, options, counters that must not be 0
JOBS: dict[str, tuple[tuple[str, ...], int, int, dict[str, str], tuple[str, ...]]] = {
    "messages": (("doors",), 2, 0, support.FORCED, ("tracked_p2p", "polls")),
    "persistent": (("persistent",), 2, 0, support.FORCED, ("started", "polls")),
    "threads": (("threads", "multiple", "4"), 2, 0, support.FORCED, ("tracked_p2p", "doors")),
    "packing": (("packing_threads",), 1, 0, {"HEADWAY_PACK": "on"}, ("packed_calls",)),
    "team": (("team_messages",), 2, 0, MESSAGES, ("packed_messages", "team_jobs")),
    "packed": (
        ("packed_messages", "1", "8"),
        2,
        0,
        {**MESSAGES, **support.FORCED},
        ("packed_messages", "tracked_p2p"),
    ),
    "trials": (
        ("packed_messages", "1", "3", "often"),
        2,
        0,
        {"HEADWAY_PACK_MESSAGES": "yes"},
        ("packed_message_trials",),
    ),
    "exposures": (("rma",), 2, 0, support.FORCED, ("tracked_rma", "exposures")),
    "ghosts": (("ghosts",), 3, 1, GHOST, ("windows_redirected", "operations_redirected")),
    "near": (("contention",), 3, 1, {"HEADWAY_GHOSTS": "1"}, ("operations_applied",)),
}
#: UCX's hooks of memory calls run in threads that have ended, for which the thread sanitizer dies.
NO_HOOKS = {"UCX_MEM_EVENTS": "no", "UCX_MEM_MMAP_HOOK_MODE": "none"}
SUPPRESSIONS = Path(__file__).with_name("tsan.supp")
RACES_OF_OURS = "report_signal_unsafe=0:ignore_noninstrumented_modules=1"
SANITIZERS = {
    "asan": (
        "libasan.so",
        {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"},
    ),
    "tsan": (
        "libtsan.so",
        {"TSAN_OPTIONS": f"{RACES_OF_OURS}:suppressions={SUPPRESSIONS}", **NO_HOOKS},
    ),
}
FOUND = re.compile(r"runtime error:|(ERROR|WARNING): (Address|Thread|UndefinedBehavior)Sanitizer")


#: The same of messages that ghosts move between two nodes.
MOVED = {"HEADWAY_P2P": "ghost", "HEADWAY_OFFLOAD_MIN": "128"}
MOVED_JOBS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "ways": (("moved", "1000", "1"), ("p2p_offloaded", "p2p_tickets", "p2p_held")),
    "threads": (("moved_threads", "1", "12", "3"), ("p2p_offloaded", "p2p_tickets", "p2p_held")),
}


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """./dev test builds the libraries beside the tests before these, and holds a lock meanwhile."""
    lock = support.ROOT / "build" / ".sanitizers.lock"
    if lock.exists():
        with turns.given_up(), lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH)


@cache
def runtime(name: str) -> Path:
    words = ["gcc", f"-print-file-name={name}"]
    return Path(subprocess.check_output(words, text=True).strip()).resolve()


@matrix.only(matrix.on(MPI), "no different for another MPI")
@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("kind", SANITIZERS)
def test_job(mpi: Mpi, kind: str, job: str, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    name, settings = SANITIZERS[kind]
    library = support.ROOT / "build" / kind / "lib" / f"libheadway-{mpi.flavour}.so"
    if not library.exists():
        pytest.skip(f"build/{kind} has no library; ./dev test makes it")
    words, users, ghosts, options, counters = JOBS[job]
    if job == "team":
        sources = [support.PROGRAMS / f"{words[0]}.c"]
        program = support.compile_program(mpi, f"{words[0]}_gcc", sources, ["-fopenmp"])
    else:
        program = program_of(mpi, words[0]) if ghosts else build(mpi, Program(words[0]))
    argv = [program, *words[1:]]
    plain = plain_run(mpi, argv, ranks=users)
    done = support.run_mpi(
        mpi,
        argv,
        ranks=users + ghosts,
        options=options,
        preload=Path(f"{runtime(name)}:{library}"),
        env=settings,
        records=tmp_path,
    )
    assert not FOUND.search(done.stderr), done.explain()
    assert done.status == 0 and done.lines == plain.lines, done.explain()
    for counter in counters:
        assert done.total(counter) > 0, f"{counter} is 0"


@matrix.only(matrix.on(MPI), "no different for another MPI")
@matrix.quick(lambda kind, job: kind == "tsan" and job == "threads")
@pytest.mark.parametrize("job", MOVED_JOBS)
@pytest.mark.parametrize("kind", SANITIZERS)
def test_moved_job(mpi: Mpi, kind: str, job: str, tmp_path: Path) -> None:
    name, settings = SANITIZERS[kind]
    library = support.ROOT / "build" / kind / "lib" / f"libheadway-{mpi.flavour}.so"
    if not library.exists():
        pytest.skip(f"build/{kind} has no library; ./dev test makes it")
    words, counters = MOVED_JOBS[job]
    records = two_nodes.same_output(
        mpi,
        [str(build(mpi, Program(words[0]))), *words[1:]],
        tmp_path,
        environment={**MOVED, **settings},
        preload=f"{runtime(name)}:{library}",
        faults=FOUND,
        timeout=120.0,
    )
    for counter in counters:
        assert sum(record.get(counter, 0) for record in records) > 0, f"{counter} is 0"
