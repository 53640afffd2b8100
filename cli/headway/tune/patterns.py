# SPDX-License-Identifier: BSD-3-Clause
"""`headway tune --thresholds`: patterns of one-sided operations by both routes (papers/002 7.2).

The benchmark program rma_phases makes two windows for each pattern, one whose operations go to
ghosts and one whose go to owners, and runs both within one launch. Launches have more and more
operations. Without a launcher on the command line they are on two nodes of the test cluster.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from headway import console, ghosts, options, records, thresholds
from headway.bench import build, places
from headway.bench.adaptive import users_name
from headway.bench.launches import BLAS_THREADS, object_find
from headway.cluster import Cluster, LocalNode, open_cluster, procs
from headway.cluster.process import run_to_end
from headway.errors import HeadwayError
from headway.mpi import launchers, preload, program
from headway.mpi.mpis import Mpi, find_mpis
from headway.thresholds import Row
from headway.tune.crossing import Tried, crossing, is_over

PROGRAM = "rma_phases"
#: operation -> sizes in bytes, and whether its targets are boxes in a grid
SHAPES = ((8, False), (64, True), (65536, False))
OPERATIONS = {
    **dict.fromkeys(("put", "get", "accumulate", "get_accumulate"), SHAPES),
    "fetch_and_op": ((8, False),),
}
#: of a round: DGEMMs, and operations to each target before them and after them. The share of time
#: in MPI grows: at first there is less and less beside one operation, then there are more of them.
STEPS = ((64, 1), (16, 1), (8, 1), (4, 1), (2, 1), *((2, 1 << at) for at in range(1, 8)))
#: with more bytes in a round the link alone decides
MOST_BYTES = 1 << 21
#: nor are more operations tried than take so long in MPI, where processes take turns on a core
MOST_S = 0.04
#: side of a DGEMM, which takes a quarter of a millisecond
SIDE = 64
ROUNDS, BLOCK, SECONDS = 5000, 4, 0.1
LIMIT_S = 120.0


@dataclass(frozen=True)
class Pattern:
    operation: str
    bytes: int
    is_strided: bool

    @property
    def text(self) -> str:
        kind = ":strided" if self.is_strided else ""
        return f"{self.operation}:{self.operation}:{self.bytes}{kind}"


def patterns(only: Iterable[str]) -> list[Pattern]:
    """Of the operations ONLY, else of all."""
    wanted = list(only)
    if unknown := [name for name in wanted if name not in OPERATIONS]:
        raise HeadwayError(
            f"--only {unknown[0]}: no operation to try", f"there are {' '.join(OPERATIONS)}"
        )
    return [
        Pattern(name, size, is_strided)
        for name, shapes in OPERATIONS.items()
        for size, is_strided in shapes
        if not wanted or name in wanted
    ]


def program_arguments(
    tried: Sequence[Pattern], step: tuple[int, int], *, is_blocking: bool
) -> list[str]:
    """A window by ghosts (comp) and one by owners (comm) for each."""
    tiles, operations = step
    letters = [chr(ord("a") + at) for at in range(2 * len(tried))]
    phases = [
        f"{letters[2 * at + side]}:{kind}:{pattern.text}"
        for at, pattern in enumerate(tried)
        for side, kind in enumerate(("comp", "comm"))
    ]
    numbers = f"{SIDE},{tiles},{operations},{ROUNDS},{BLOCK}"
    return [
        *("--phases", ",".join(phases), "--comp", numbers, "--comm", numbers),
        *("--seconds", str(SECONDS), "--guided", "--comp-config", "on", "--comm-config", "off"),
        *(["--flush-each"] if is_blocking else []),
    ]


def tried_of(ghost: dict[str, Any], owner: dict[str, Any]) -> Tried:
    def share(phase: dict[str, Any]) -> float:
        inside = float(phase["comm_s"] + phase["sync_s"])
        return inside / (inside + float(phase["compute_s"]))

    return Tried(ghost["round_s"], owner["round_s"], share(ghost), share(owner))


@dataclass(frozen=True)
class Launched:
    """What one launch printed, and how often each route was taken."""

    result: dict[str, Any]
    to_ghosts: int
    to_owners: int


class Start(Protocol):
    """Runs a program to its end."""

    records_parent: str | None  #: where its records can be read, if temporary files are not it

    def __call__(self, argv: list[str], env: dict[str, str]) -> str:
        """ENV is its ranks'. What it printed."""


def launch(mpi: Mpi, start: Start, arguments: list[str], settings: dict[str, str]) -> Launched:
    argv = [str(places.built() / places.folder_of(mpi) / PROGRAM), *arguments]
    with tempfile.TemporaryDirectory(prefix="headway-tune-", dir=start.records_parent) as name:
        folder = Path(name).absolute()
        output = start(argv, BLAS_THREADS | settings | {"HEADWAY_RECORD": str(folder)})
        found = records.read(folder)
    result = object_find(output)
    if result is None:
        raise HeadwayError(f"{PROGRAM} printed no result with {mpi.title}", output.strip()[-300:])
    return Launched(
        result,
        int(records.total(found, "operations_redirected")),
        int(records.total(found, "operations_to_owners")),
    )


class OnCluster:
    """Launches on two nodes of the test cluster."""

    records_parent: str | None = None

    def __init__(self, cluster: Cluster | LocalNode, mpi: Mpi, users: int, more: int) -> None:
        self.cluster, self.mpi = cluster, mpi
        self.users, self.more = users, more

    def __call__(self, argv: list[str], env: dict[str, str]) -> str:
        done = self.cluster.run(
            self.mpi,
            argv,
            env=env,
            ranks_per_node=self.users + self.more,
            cores_per_node=max(1, len(os.sched_getaffinity(0)) // 2),
            timeout=LIMIT_S,
        )
        if done.timed_out or done.returncode != 0:
            told = "did not end" if done.timed_out else f"ended with status {done.returncode}"
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise HeadwayError(f"{PROGRAM} {told} with {self.mpi.title}", "".join(last))
        return done.stdout


class ByWords:
    """Launches by the user's own launcher."""

    records_parent: str | None = "."

    def __init__(self, words: list[str], mpi: Mpi) -> None:
        self.words, self.mpi = words, mpi

    def __call__(self, argv: list[str], env: dict[str, str]) -> str:
        made = launchers.command_make([*self.words, *argv], env, self.mpi.flavour)
        ours = {n: v for n, v in os.environ.items() if not n.startswith("HEADWAY_")}
        tag = uuid.uuid4().hex
        try:
            done = run_to_end(
                made.argv,
                env=ours | self.mpi.env | made.outer | {procs.TAG: tag},
                cwd=None,
                timeout=LIMIT_S,
                on_line=None,
                sweep=lambda: procs.kill_tagged(procs.TAG, tag),
            )
        except OSError as error:
            raise HeadwayError(
                f"cannot start {made.argv[0]}: {error.strerror}", "check the path"
            ) from error
        if done.timed_out:
            raise HeadwayError(f"{PROGRAM} did not end in {LIMIT_S:.0f} s", "start fewer processes")
        if done.returncode != 0:
            last = (done.stderr or done.stdout).strip().splitlines()[-1:]
            raise HeadwayError(f"{PROGRAM} ended with status {done.returncode}", "".join(last))
        return done.stdout


def measure(
    mpi: Mpi, start: Start, wanted: Sequence[Pattern], count: int, library: Path | None
) -> list[Row]:
    """The rows of one place, COUNT ghosts a node."""
    settings = {"HEADWAY_GHOSTS": str(count), "HEADWAY_ADAPT": "guided"}
    env = preload.rank_environment(mpi.flavour, settings, library)
    rows: list[Row] = []
    for is_blocking in (False, True):
        tried: dict[Pattern, list[Tried]] = {pattern: [] for pattern in wanted}
        users = 0
        for step in STEPS:
            open_ones = [
                pattern
                for pattern, mine in tried.items()
                if not is_over(mine) and is_bearable(pattern, step, mine)
            ]
            if not open_ones:
                break
            arguments = program_arguments(open_ones, step, is_blocking=is_blocking)
            done = launch(mpi, start, arguments, env)
            check_routes(mpi, done)
            users = done.result["ranks"] // done.result["nodes"]
            phases = done.result["phases"]
            for at, pattern in enumerate(open_ones):
                tried[pattern].append(tried_of(phases[2 * at], phases[2 * at + 1]))
        for pattern, mine in tried.items():
            share, bound = crossing(mine)
            shape = (pattern.operation, pattern.bytes, pattern.is_strided, is_blocking)
            rows.append(Row(mpi.title, users, count, *shape, round(share, 4), bound))
    return rows


def is_bearable(pattern: Pattern, step: tuple[int, int], tried: Sequence[Tried]) -> bool:
    """Whether the rounds of a step are short enough to be tried."""
    _, operations = step
    is_short = not tried or operations == 1 or tried[-1].ghost_s * tried[-1].ghost_share < MOST_S
    return is_short and operations * pattern.bytes <= MOST_BYTES


def check_routes(mpi: Mpi, done: Launched) -> None:
    """Both routes were taken, or the figures say nothing."""
    for taken, who in ((done.to_ghosts, "a ghost"), (done.to_owners, "its target")):
        if taken == 0:
            raise HeadwayError(
                f"with {mpi.title} no operation went to {who}: there is no threshold",
                "headway doctor; windows within one node may be served by none",
            )


def tell(rows: Sequence[Row]) -> None:
    place = rows[0].place
    found = sum(row.bound == thresholds.FOUND for row in rows)
    both = thresholds.boundaries(rows)
    told = f"LOW_CR {both[0]:.3f}, HIGH_CR {both[1]:.3f}" if both else "no threshold"
    console.say(
        f"{place.mpi}, {users_name(place.users)} and "
        f"{records.plural(place.ghosts, 'ghost')} a node: {told}; {found} of "
        f"{records.plural(len(rows), 'pattern')} have one"
    )


def mpis_wanted(names: str | None, words: Sequence[str]) -> list[Mpi]:
    """Those named, or the one of the launcher, or all."""
    found = find_mpis()
    if names:
        unknown = set(names.split(",")) - {mpi.name for mpi in found}
        if unknown:
            raise HeadwayError(
                f"no MPI called {', '.join(sorted(unknown))} here",
                "found: " + ", ".join(mpi.name for mpi in found),
            )
        found = [mpi for mpi in found if mpi.name in names.split(",")]
    elif words:
        mine = Path(shutil.which(words[0]) or words[0]).resolve()
        found = [mpi for mpi in found if mpi.mpiexec.resolve() == mine]
    if not found or (words and len(found) > 1):
        raise HeadwayError(
            "which MPI the patterns are to be built for is not known", "--mpi NAME, one of them"
        )
    return found


def users_wanted(text: str) -> list[int]:
    numbers = text.split(",")
    if not all(number.isdigit() and int(number) > 0 for number in numbers):
        raise HeadwayError(f"--users {text}: no numbers of processes", "--users 1,2")
    return [int(number) for number in numbers]


def run(arguments: argparse.Namespace) -> int:
    """All of it; what failed on one MPI leaves the others."""
    words = program.strip_dashes(arguments.words)
    wanted = patterns(word.strip() for word in arguments.only.split(",") if word.strip())
    options.check_environment({"HEADWAY_GHOSTS": arguments.ghosts or "1"})
    count = ghosts.count(arguments.ghosts or "1")
    users = users_wanted(arguments.users)
    if words and not launchers.kind_of(words[0]):
        raise HeadwayError(
            f"--thresholds brings its own program, and {words[0]} is no launcher",
            "headway tune --thresholds mpiexec -n 8, or no command at all",
        )
    mpis = mpis_wanted(arguments.mpi, words)
    file = arguments.output or thresholds.path()
    rows: list[Row] = []
    old = thresholds.read(file) if file.is_file() else []
    for mpi in mpis:
        if build.build([mpi], places.built(), [PROGRAM]):
            continue
        try:
            rows += place_rows(mpi, words, wanted, users, count, arguments.library)
            thresholds.write(file, thresholds.merged(old, rows))
        except HeadwayError as error:
            console.say(f"{mpi.title}: {error}")
    if not rows:
        raise HeadwayError("nothing was measured", "headway doctor says what is in the way")
    console.say(f"wrote {file}; headway run takes its thresholds from it")
    return 0


def place_rows(
    mpi: Mpi,
    words: list[str],
    wanted: Sequence[Pattern],
    users: Sequence[int],
    count: int,
    library: Path | None,
) -> list[Row]:
    if words:
        rows = measure(mpi, ByWords(words, mpi), wanted, count, library)
        tell(rows)
        return rows
    rows = []
    cluster = open_cluster(2, rate="10gbit")
    try:
        if cluster.note:
            console.say(cluster.note)
        for each in users:
            mine = measure(mpi, OnCluster(cluster, mpi, each, count), wanted, count, library)
            tell(mine)
            rows += mine
    finally:
        if isinstance(cluster, Cluster):
            cluster.stop()
    return rows
