# SPDX-License-Identifier: BSD-3-Clause
"""Records for other programs: a CSV table, a trace for chrome://tracing and Perfetto."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import TextIO

from headway.record import table
from headway.record.table import COMMUNICATOR_COUNTERS, SITE_COUNTERS, Record
from headway.records import figure
from headway.report import communicators, one_sided
from headway.report.recorded import profile_of, sites_of
from headway.report.runs import Run


def write_csv(runs: Sequence[Run], file: TextIO) -> None:
    """One line for each call site of each rank."""
    writer = csv.writer(file)
    writer.writerow(
        ["run", "rank", "called_from", "file", "line", "mpi_function", "size_class", *SITE_COUNTERS]
    )
    for run in runs:
        for site in run.sites:
            place = site.place
            for rank, one in sorted(site.ranks.items()):
                writer.writerow(
                    [run.name, rank, place.function, place.file, place.line, site.function]
                    + [site.size_class, *(int(figure(one, counter)) for counter in SITE_COUNTERS)]
                )


def write_communicators(runs: Sequence[Run], file: TextIO) -> None:
    """One line for each communicator of each rank."""
    writer = csv.writer(file)
    writer.writerow(["run", "rank", "communicator", "size", "ranks", *COMMUNICATOR_COUNTERS])
    for run in runs:
        for one in communicators.communicators_of(run):
            for rank, figures in sorted(one.ranks.items()):
                told = [run.name, rank, one.name, one.size, one.members]
                writer.writerow(told + [int(figures[counter]) for counter in COMMUNICATOR_COUNTERS])


def write_one_sided(runs: Sequence[Run], file: TextIO) -> None:
    """One line for each call site that waited for targets, and kind of window; sums over ranks."""
    writer = csv.writer(file)
    words = ["waited_s", "computed_s", "ghosts_s", "thread_s", "unknown_s"]
    counts = ["waits", "looks", "served_alone"]
    writer.writerow(["run", "called_from", "mpi_function", "window", *words, *counts, "known_from"])
    for run in runs:
        for row in one_sided.OneSided(run).rows:
            told = [run.name, row.spot.place, row.spot.function, row.memory]
            figures = [row.waited, row.computed, row.ghosts, row.thread, row.unknown]
            told += [f"{figure:.6f}" for figure in figures]
            told += [str(int(row.waits)), str(row.looks), str(row.served_alone)]
            writer.writerow([*told, one_sided.how_known(row)])


def write_trace(runs: Sequence[Run], file: TextIO) -> None:
    """The first calls of every rank in the trace event format; a run is a process, a rank a thread.

    Clocks of ranks are those of their machines: ranks of different machines are not aligned.
    """
    events: list[dict[str, object]] = []
    for process, run in enumerate(runs):
        events.append(name_event("process_name", process, 0, run.name))
        begins = [profile_of(r).began_monotonic_s for r in run.records]
        for record, begin in zip(run.records, begins, strict=True):
            rank = record.rank
            events.append(name_event("thread_name", process, rank, f"rank {rank}"))
            events += call_events(record, process, rank, (begin - min(begins)) * 1e6)
    json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)


def name_event(kind: str, process: int, thread: int, name: str) -> dict[str, object]:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}


def call_events(
    record: Record, process: int, rank: int, shift_us: float
) -> list[dict[str, object]]:
    functions = {one.id: one.function for one in sites_of(record)}
    found = []
    for start_us, took_us, site, size in timeline(record):
        event: dict[str, object] = {
            "ph": "X",
            "name": f"MPI_{functions.get(site, '?')}",
            "cat": "mpi",
        }
        event |= {"pid": process, "tid": rank, "ts": round(start_us + shift_us, 3), "dur": took_us}
        found.append({**event, "args": {"bytes": size}})
    return found


def timeline(record: Record) -> tuple[table.Event, ...]:
    """The calls of the record's sample."""
    return profile_of(record).events
