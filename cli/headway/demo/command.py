# SPDX-License-Identifier: BSD-3-Clause
"""`headway demo`: the halo program on a two-node cluster, plain and with Headway, in a minute.

The program is an ordinary MPI solver of the heat equation, built where it is not yet; its answer is
compared between the two, its time is shown in a table, and its phases with the bytes on the wire in
a picture.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import json
import os
import platform
import re
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from headway import console, private, records
from headway.bench import build, places
from headway.cluster import Cluster, LocalNode, open_cluster
from headway.cluster.options import ClusterOptions
from headway.demo.launched import Launched
from headway.errors import HeadwayError
from headway.mpi import preload, transport
from headway.mpi.mpis import Mpi, find_mpis, repository_root
from headway.terminal import make_stderr

MODES = ("plain", "Headway")
#: of the payload in a full frame: 1514 bytes carry 1448
FRAMING = 1514 / 1448
#: in the current folder, what an installed command draws
PICTURE = "headway-demo.png"
#: the order in which an MPI is chosen when none is asked for
PREFERRED = ("mpich4", "ompi4", "ompi5", "impi", "mpich5")
TIMELINE_STEPS = 6
#: before those, in which the library learns about the program
UNSEEN_STEPS = 40


@dataclass
class Demo:
    """What is fixed for all launches."""

    mpi: Mpi
    program: Path
    cluster: Cluster | LocalNode
    steps: int
    rows: int = 32

    def launch(self, mode: str, *, steps: int | None = None, is_sampled: bool = False) -> Launched:
        argv = [str(self.program), "--rows", str(self.rows), "--steps", str(steps or self.steps)]
        if is_sampled:
            argv += ["--timeline", str(TIMELINE_STEPS), "--warmup", str(UNSEEN_STEPS)]
        with tempfile.TemporaryDirectory(prefix="headway-demo-") as folder, ExitStack() as stack:
            env = {}
            if mode != "plain":
                env = preload.rank_environment(self.mpi.flavour, {"HEADWAY_RECORD": folder})
            samples = stack.enter_context(sampled(self.cluster)) if is_sampled else []
            choice = "keep" if mode == "plain" else "auto"  # as headway run does on such links
            launcher_env = transport.settings(
                self.mpi.title, self.cluster.bits_per_s, choice=choice
            )
            done = self.cluster.run(self.mpi, argv, env=env, launcher_env=launcher_env, timeout=60)
            stack.close()
            thread_cpu_s = records.total(records.read(Path(folder)), "thread_cpu_s")
        result = find_object(done.stdout)
        if result is None:
            lines = (done.stderr or done.stdout).strip().splitlines()
            why = (
                "ran out of its 60 s" if done.timed_out else f"ended with status {done.returncode}"
            )
            raise HeadwayError(
                f"halo ({mode}, {self.mpi.title}) {why}: {(lines or ['no message'])[-1]}",
                "try another MPI: --mpi",
                status=1,
            )
        return Launched(result, thread_cpu_s / result["ranks"], samples)

    def fit_rows(self, wire_s: float) -> None:
        """As many rows as take the wire's time to update."""
        for _ in range(2):
            probe = self.launch("plain", steps=2).result
            row_s = probe["compute"]["compute_alone_s"]["median"] / (self.rows - 2)
            self.rows = max(4, min(4096, 2 + round(wire_s / row_s)))


def find_object(text: str) -> dict[str, Any] | None:
    for line in text.splitlines():
        at = line.find('{"program"')
        if at >= 0:
            try:
                found: dict[str, Any] = json.loads(line[at:])
                return found
            except ValueError:
                return None
    return None


@contextmanager
def sampled(cluster: Cluster | LocalNode) -> Iterator[list[tuple[float, list[int]]]]:
    """(monotonic time, bytes sent by each node), every millisecond while the body runs."""
    samples: list[tuple[float, list[int]]] = []
    stop = threading.Event()

    def sample() -> None:
        while not stop.wait(0.001):
            samples.append((time.monotonic(), [n.sent for n in cluster.counters()]))

    if not cluster.is_wire:
        yield samples
        return
    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        stop.set()
        thread.join()


@contextmanager
def machine_to_ourselves() -> Iterator[None]:
    """Timed runs of a user on one machine take turns."""
    try:
        lock = (private.made() / "timing").open("a")
    except (OSError, HeadwayError):
        yield
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            console.say("waiting for another measurement on this machine")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    default = ClusterOptions()
    parser = commands.add_parser(
        "demo",
        help="the halo program, plain and with Headway, on a two-node test cluster",
        description="Ends in a table and a picture. The program is built with the MPI's mpicc.",
    )
    parser.add_argument(
        "--mpi", metavar="NAME", help="which MPI: mpich4, mpich5, impi, ompi4 or ompi5"
    )
    parser.add_argument(
        "--launches",
        type=int,
        default=3,
        metavar="N",
        help="launches of each mode (default: %(default)s)",
    )
    parser.add_argument(
        "--steps",
        type=int,
        default=40,
        metavar="N",
        help="steps of the solver (default: %(default)s)",
    )
    parser.add_argument(
        "--rate", default=default.rate, help="rate of the links (default: %(default)s)"
    )
    parser.add_argument(
        "--sockbuf",
        default=default.sockbuf,
        metavar="SIZE",
        help="socket buffer limit: default, small or bytes (default: %(default)s)",
    )
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="FILE",
        help="where the picture goes, its data beside it as JSON; default: "
        f"{PICTURE} in the current folder, in a source tree build/run/timeline.png",
    )
    parser.add_argument(
        "--draw",
        type=Path,
        metavar="DATA",
        help="start nothing: draw the picture of that JSON file",
    )
    parser.set_defaults(call=demo)


def choose(name: str | None) -> Mpi:
    """The MPI asked for, or the first that there is."""
    mpis = {mpi.name: mpi for mpi in find_mpis()}
    if not mpis:
        raise HeadwayError("no MPI found", "install one with its mpicc and mpiexec")
    if name and name not in mpis:
        raise HeadwayError(
            f"no MPI called {name!r} here (found: {', '.join(mpis)})",
            "choose one of these with --mpi",
        )
    preferred = [n for n in PREFERRED if n in mpis and is_served(mpis[n])]
    return mpis[name or next(iter(preferred + list(mpis)))]


def is_served(mpi: Mpi) -> bool:
    """Is the library built for its family?"""
    try:
        return bool(preload.library(mpi.flavour))
    except HeadwayError:
        return False


def program_of(mpi: Mpi) -> Path:
    """The solver, built for this MPI if it is not yet."""
    if build.build([mpi], places.built(), ["halo"]):
        raise HeadwayError(
            f"the program does not build with {mpi.mpicc}",
            "see the messages above, or try another MPI: --mpi",
            status=1,
        )
    return places.built() / places.folder_of(mpi) / "halo"


def demo(arguments: argparse.Namespace) -> int:
    root = repository_root()
    picture = arguments.picture or (root / "build/run/timeline.png" if root else Path(PICTURE))
    if can_draw():
        check_picture(picture)
    if arguments.draw:
        return draw_again(arguments.draw, picture)
    if arguments.launches < 1 or arguments.steps < TIMELINE_STEPS:
        raise HeadwayError(
            "too few launches or steps", f"ask for 1 launch, {TIMELINE_STEPS} steps or more"
        )
    mpi = choose(arguments.mpi)
    preload.library(mpi.flavour)
    program = program_of(mpi)
    with (
        machine_to_ourselves(),
        open_cluster(2, rate=arguments.rate, sockbuf=arguments.sockbuf) as cluster,
    ):
        return show(Demo(mpi, program, cluster, arguments.steps), arguments, picture)


def can_draw() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def draw_again(data: Path, picture: Path) -> int:
    if not can_draw():
        raise HeadwayError("pictures are drawn by matplotlib", "pip install matplotlib")
    from headway.demo import timeline  # matplotlib takes its time to load

    timeline.draw(timeline.load(data), picture)
    console.say(f"timeline: {picture}")
    return 0


def check_picture(picture: Path) -> None:
    """Whether it can be written: found out before a minute of launches."""
    if picture.suffix == ".json":
        raise HeadwayError(f"--picture {picture}: its data have that name", "name it .png or .svg")
    try:
        picture.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeadwayError(
            f"cannot make the directory {picture.parent}: {error.strerror}",
            "name another with --picture",
        ) from error
    if picture.is_dir() or not os.access(picture.parent, os.W_OK | os.X_OK):
        raise HeadwayError(f"{picture} cannot be written", "name another with --picture")


def machine() -> str:
    """The processor and the kernel, for who looks at a picture later."""
    names = re.findall(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    processor = f"{names[0]}, {len(names)} cores, " if names else ""
    return f"{processor}{platform.system()} {platform.release()}"


def show(demo: Demo, arguments: argparse.Namespace, picture: Path) -> int:
    console.tell(f"halo, unmodified, {demo.mpi.title}, {demo.cluster.describe()}")
    probe = demo.launch("plain", steps=2).result
    bit_per_s = demo.cluster.bits_per_s or 0
    wire_s = probe["bytes"] * FRAMING * 8 / bit_per_s if bit_per_s else 0.0
    if wire_s:
        demo.fit_rows(wire_s)
    launched: dict[str, list[Launched]] = {mode: [] for mode in MODES}
    timelines: dict[str, Launched] = {}
    drawn = make_stderr()

    def begin(mode: str, what: str) -> None:
        progress.update(task, description=f"{mode}, {what}")
        if not drawn.is_terminal:
            console.say(f"{mode}, {what}")

    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=drawn, disable=not drawn.is_terminal) as progress:
        task = progress.add_task("", total=2 * arguments.launches + 2)
        for turn in range(arguments.launches):
            for mode in MODES if turn % 2 == 0 else reversed(MODES):
                begin(mode, f"launch {turn + 1} of {arguments.launches}")
                launched[mode].append(demo.launch(mode))
                progress.advance(task)
        for mode in MODES:
            begin(mode, "timeline")
            timelines[mode] = demo.launch(mode, steps=2 * TIMELINE_STEPS, is_sampled=True)
            progress.advance(task)
    console.tell(headline(launched))
    print_table(drawn, launched, wire_s)
    is_same = len({one.result["checksum"] for runs in launched.values() for one in runs}) == 1
    console.say(
        "every launch gave the same answer"
        if is_same
        else "the answers differ: this is a bug; report it with the output of HEADWAY_VERBOSE=1"
    )
    if not can_draw():
        console.say("no picture: matplotlib is not installed (pip install matplotlib)")
        return 0 if is_same else 1
    from headway.demo import timeline  # matplotlib takes its time to load

    title = f"halo on two nodes, {demo.mpi.title}, {demo.cluster.describe()}"
    data = timeline.collect(timelines, title, machine())
    timeline.save(data, picture.with_suffix(".json"))
    timeline.draw(data, picture)
    console.say(f"timeline: {picture}")
    return 0 if is_same else 1


def ms_text(value: float) -> str:
    """Milliseconds in six places, from microseconds to a minute."""
    return f"{value:.{2 if value < 100 else 1 if value < 1000 else 0}f}"


def headline(launched: dict[str, list[Launched]]) -> str:
    """What the demo showed, in one sentence."""
    plain, ours = (1e3 * statistics.median(one.step_s for one in launched[mode]) for mode in MODES)
    if ours >= plain:
        return f"Headway saved nothing: a step took {plain:.1f} ms plain, {ours:.1f} ms with it."
    return (
        f"Headway saved {100 * (plain - ours) / plain:.0f} % of the run: a step took "
        f"{plain:.1f} ms plain, {ours:.1f} ms with it."
    )


def print_table(out: Console, launched: dict[str, list[Launched]], wire_s: float) -> None:
    """In 80 columns."""

    def median(mode: str, name: str) -> float:
        return 1e3 * statistics.median(one.phase(name) for one in launched[mode])

    def total_ms(mode: str) -> float:
        return 1e3 * statistics.median(one.step_s for one in launched[mode])

    compute_ms = 1e3 * statistics.median(
        one.result["compute"]["compute_alone_s"]["median"] for one in launched["plain"]
    )
    ideal_ms = max(compute_ms, 1e3 * wire_s)
    gain = total_ms("plain") - total_ms("Headway")
    room = total_ms("plain") - ideal_ms
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 0),
        title_justify="left",
        title=f"one step in ms, median of {len(launched['plain'])} launches\n"
        f"(compute alone {compute_ms:.2f}, wire {1e3 * wire_s:.2f})",
    )
    for heading in (
        "",
        "total",
        "spread",
        "post",
        "compute",
        "wait",
        "boundary",
        "CPU",
        "recovered",
    ):
        table.add_column(heading, justify="left" if not heading else "right", no_wrap=True)
    for mode in MODES:
        totals = sorted(1e3 * one.step_s for one in launched[mode])
        cpu = statistics.median(one.thread_cpu_s / one.result["wall_s"] for one in launched[mode])
        share = f"{100 * gain / room:.0f} %" if mode != "plain" and wire_s and room > 0 else ""
        table.add_row(
            mode,
            ms_text(total_ms(mode)),
            f"{ms_text(totals[0])}-{ms_text(totals[-1])}",
            *(ms_text(median(mode, n)) for n in ("post_s", "compute_s", "wait_s", "boundary_s")),
            "" if mode == "plain" else f"{100 * cpu:.1f} %",
            share,
        )
    out.print(table)
