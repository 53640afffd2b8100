# SPDX-License-Identifier: BSD-3-Clause
"""Tables and progress on the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.table import Table

from headway.bench import analysis
from headway.terminal import make_console

#: value -> heading; what a table shows when its rows have it
COLUMNS = {
    "total_s": "total",
    "first_s": "first eighth",
    "settled_s": "last half",
    "begin_s": "windows made or synchronised",
    "wall_s": "wall",
    "lost_s": "lost",
    "mean_s": "mean",
    "first_mean_s": "mean, first",
    "mean_of_alone": "mean x computing alone",
    "first_mean_of_alone": "first x computing alone",
    "latency_s": "latency",
    "message_s": "a message",
    "free_s": "freed",
    "post_s": "post",
    "compute_s": "compute",
    "wait_s": "wait",
    "counter_s": "counter",
    "get_s": "get",
    "update_s": "update",
    "comm_s": "communicate",
    "packing_s": "packing",
    "sync_s": "sync",
    "cpu_s": "own CPU",
    "cpu_of_alone": "own CPU x computing alone",
    "compute_alone_s": "compute alone",
    "transfer_alone_s": "transfer alone",
    "of_longer_part": "x longer of the two",
    "alone_s": "computing alone",
    "of_alone": "x computing alone",
    "over_alone_s": "longer than that",
    "overlap_ratio": "overlap ratio",
    "pss_bytes": "Pss",
    "predicted_s": "predicted",
    "no_progress_s": "no progress",
    "bandwidth_s": "bandwidth",
    "late_s": "late",
    "unknown_s": "not known",
    "before_wall_s": "work alone",
    "transfer_slowdown": "x transferring",
    "idle_slowdown": "x idle",
    "unmatched_slowdown": "x unmatched",
    "transfer_other_cpu_s": "thread CPU",
    "idle_other_cpu_s": "idle CPU",
    "unmatched_other_cpu_s": "unmatched CPU",
    "ghost_core": "of a core, a ghost",
    "ghost_operation_s": "its CPU an operation",
}
DERIVED = {
    "ratio": "x plain",
    "ratio_of_plain": "x mere plain",
    "ratio_comm": "communicating, x plain",
    "packing_share": "of plain's, packing",
    "ratio_wall": "wall, x plain",
    "ratio_mean": "x plain, means",
    "ratio_first_mean": "x plain, first means",
    "ratio_mean_of_alone": "x plain, means of computing alone",
    "ratio_first_mean_of_alone": "x plain, first of computing alone",
    "ratio_paired": "x plain, launch by launch",
    "ratio_alone": "x plain, of computing alone",
    "of_best": "last half, x best fixed way",
    "of_guided": "x guided",
    "recovered": "recovered",
    "recovered_median": "of medians",
    "recovered_worst": "worst launch",
    "recovered_of_steps": "of what its steps leave",
    "recovered_of_plain": "of mere plain's loss",
    "of_fixed": "of the right choice's gain",
    "predicted": "predicted",
    "predicted_ghosts": "x plain, predicted of ghosts",
    "predicted_thread": "of the thread",
    "overlap_osu": "overlap (OSU)",
    "ratio_busy": "x plain, busy",
    "busy_to_plain_in_mpi": "busy / plain in MPI",
    "work_ratio": "work alone, x plain",
    "extra_ns": "worst, ns more than plain",
    "extra_bytes": "more than plain",
    "without_s": "the run without",
    "told_s": "told saved",
    "measured_s": "measured",
    "within": "within",
    "leads": "leading cause right",
    "leading_true": "its share",
    "leading_found": "found",
    "off_by": "worst share off by",
    "predicted_of_run": "predicted of run",
    "saved_of_run": "then saved",
}

#: a row of a result
Line = TypeVar("Line", bound=Mapping[str, Any])


class Progress:
    """A bar on a terminal, a line for each failure anywhere."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.total = 0
        self.bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("launches", total=0)

    def __enter__(self) -> Progress:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def expect(self, launches: int) -> None:
        self.total += launches
        self.bar.update(self.task, total=self.total)

    def tell(self, launch: dict[str, Any]) -> None:
        what = f"{launch['mpi']} {launch['rate']} {launch['sockbuf']} {launch['case']}"
        self.bar.update(self.task, advance=1, description=f"{what}, {launch['mode']}")
        if launch["failure"]:
            self.console.print(f"{what}, {launch['mode']}: {launch['failure']}", markup=False)


def size_text(size: int) -> str:
    if size == 0:
        return "-"
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def title_short(title: str) -> str:
    """`MPICH 4.0.2` as `MPICH 4`."""
    return re.sub(r"(\d+)\.\S+$", r"\1", title)


def value_text(name: str, value: float) -> str:
    if name.endswith("_bytes"):
        return f"{value / 1024:.0f} KiB"
    if name.endswith("_ns"):
        return f"{value:.1f}"
    if name.endswith("_s"):
        if value < 1e-6:
            return f"{value * 1e9:.0f} ns"
        if value < 1e-3:
            return f"{value * 1e6:.2f} us"
        return f"{value * 1e3:.2f} ms"
    return f"{value:.3f}"


def spread_text(row: dict[str, Any]) -> str:
    """How far the launches lie apart, in percent of the median."""
    name = analysis.main_value(row["values"])
    if name is None or row["launches"] - row["failed"] < 2:
        return "-"
    summary = row["values"][name]
    return (
        f"{100 * (summary['min'] / summary['median'] - 1):+.0f} "
        f"{100 * (summary['max'] / summary['median'] - 1):+.0f}"
    )


def launches_text(row: dict[str, Any]) -> str:
    parts = [str(row["launches"])]
    if row["failed"]:
        parts.append(f"{row['failed']} failed")
    if row["hung"]:
        parts.append(f"{row['hung']} did not end well")
    return ", ".join(parts)


def groups(rows: Iterable[Line]) -> dict[tuple[Any, ...], list[Line]]:
    grouped: dict[tuple[Any, ...], list[Line]] = {}
    for row in rows:
        key = (row["program"], row["case"], row["rate"], row["sockbuf"])
        grouped.setdefault(key, []).append(row)
    return grouped


def heading_of(name: str, has_control: bool) -> str:
    """Of what is derived; with a control the baseline is the better one of it and plain."""
    return DERIVED[name].replace("x plain", "x baseline") if has_control else DERIVED[name]


def table_make(key: tuple[Any, ...], rows: list[dict[str, Any]]) -> Table:
    program, case, rate, sockbuf = key
    table = Table(
        title=f"{program}: {case}, link {rate}, socket buffers {sockbuf}",
        title_justify="left",
        header_style="bold",
    )
    has_control = any(row["mode"] == "plain-transport" for row in rows)
    for heading in ("MPI", "size", "mode, * baseline" if has_control else "mode"):
        table.add_column(heading)
    present = [name for name in COLUMNS if any(name in row["values"] for row in rows)]
    calls = list(dict.fromkeys(n for row in rows for n in row["values"] if n.endswith("_ns")))
    derived = [name for name in DERIVED if any(name in row["derived"] for row in rows)]
    busy = dict.fromkeys(n for row in rows for n in row["values"] if n.startswith(analysis.BUSY))
    present += busy
    named = [name.removesuffix("_ns") + ", ns" for name in calls]
    for heading in [
        *(COLUMNS.get(n) or f"busy {n[len(analysis.BUSY) : -2]} units" for n in present),
        *named,
        "spread %",
        *(heading_of(name, has_control) for name in derived),
        "launches",
    ]:
        table.add_column(heading, justify="right")
    order = {name: place for place, name in enumerate(dict.fromkeys(r["mode"] for r in rows))}
    for row in sorted(rows, key=lambda r: (r["mpi"], r["bytes"], order[r["mode"]])):
        mark = " *" if has_control and row.get("baseline") == row["mode"] else ""
        cells = [row["mpi"], size_text(row["bytes"]), row["mode"] + mark]
        for name in [*present, *calls]:
            summary = row["values"].get(name)
            middle = summary.get("mean", summary["median"]) if summary else None
            cells.append("-" if middle is None else value_text(name, middle))
        cells.append(spread_text(row))
        for name in derived:
            value = row["derived"].get(name)
            cells.append("-" if value is None else value_text(name, value))
        cells.append(launches_text(row))
        is_mine = row["mode"].startswith("headway")
        table.add_row(*cells, style="bold" if is_mine else "")
    return table


def failures(rows: list[dict[str, Any]]) -> list[str]:
    """Modes that failed, peers too, each with the first reason: once for a case of an MPI."""
    found: dict[tuple[Any, ...], str] = {}
    for row in rows:
        if row.get("reason"):
            key = tuple(row[name] for name in ("mpi", "rate", "sockbuf", "mode"))
            count = row["failed"] + row["hung"]
            line = f"{count} of {row['launches']} launches, {row['case']}: {row['reason']}"
            found.setdefault(key, line)
    return [f"FAILED: {' '.join(key)}: {line}" for key, line in found.items()]


def tables_print(document: dict[str, Any], console: Console) -> None:
    """Every table of a result, then what is lost, then the notes."""
    wide = console if console.is_terminal else make_console(width=180)
    for key, rows in groups(document["rows"]).items():
        wide.print(table_make(key, rows))
    for row in document["rows"]:
        if not row["is_same_answer"]:
            console.print(
                f"DIFFERENT ANSWER: {row['mpi']} {row['case']} {row['bytes']} B {row['mode']}",
                markup=False,
            )
    for line in failures(document["rows"]):
        console.print(line, markup=False)
    lost = analysis.losses(document["rows"])
    if lost:
        console.print(f"{len(lost)} losing cases:")
        for line in lost:
            console.print("  " + line, markup=False)
    elif any(row["mode"] == "headway" for row in document["rows"]):
        console.print("no losing case")
    for note in document["notes"]:
        console.print(f"note: {note}", markup=False)
