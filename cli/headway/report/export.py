# SPDX-License-Identifier: BSD-3-Clause
"""Records for other programs: CSV tables, a trace for chrome://tracing and Perfetto.

doc/guide/exports.md explains every column and every part of an event.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import Any, TextIO

from headway.record import table
from headway.record.table import COMMUNICATOR_COUNTERS, SITE_COUNTERS, Record
from headway.records import figure
from headway.report import communicators, one_sided
from headway.report.recorded import profile_of, sites_of
from headway.report.runs import Run

#: counters of bytes whose names do not say so; those of time do
BYTES = {
    *("moved_computing", "moved_waiting", "moved_alone", "moved_in_steps", "copied"),
    *("watched_lesser", "watched_alone"),
}
#: ... and of doors
DOORS = {"sampled", "watched"}
SITE_COLUMNS = (
    *("run", "rank", "called_from", "file", "line", "callers", "mpi_function", "size_from_bytes"),
    *(
        f"{name}_bytes" if name in BYTES else f"{name}_doors" if name in DOORS else name
        for name in SITE_COUNTERS
    ),
)
COMMUNICATOR_COLUMNS = ("run", "rank", "communicator", "size", "ranks", *COMMUNICATOR_COUNTERS)
ONE_SIDED_COLUMNS = (
    *("run", "called_from", "mpi_function", "window"),
    *("waited_s", "computed_s", "ghosts_s", "thread_s", "unknown_s"),
    *("waits", "looks", "served_alone", "known_from"),
)


def write_csv(runs: Sequence[Run], file: TextIO) -> None:
    """One line for each call site of each rank."""
    writer = csv.writer(file)
    writer.writerow(SITE_COLUMNS)
    for run in runs:
        for site in run.sites:
            place = site.place
            least = 1 << (site.size_class - 1) if site.size_class else 0
            for rank, one in sorted(site.ranks.items()):
                told = [run.name, rank, place.function, place.file, place.line]
                told += [place.callers_text, site.function, least]
                writer.writerow(told + [int(figure(one, name)) for name in SITE_COUNTERS])


def write_communicators(runs: Sequence[Run], file: TextIO) -> None:
    """One line for each communicator of each rank."""
    writer = csv.writer(file)
    writer.writerow(COMMUNICATOR_COLUMNS)
    for run in runs:
        for one in communicators.communicators_of(run):
            for rank, figures in sorted(one.ranks.items()):
                told = [run.name, rank, one.name, one.size, one.members]
                writer.writerow(told + [int(figures[counter]) for counter in COMMUNICATOR_COUNTERS])


def write_one_sided(runs: Sequence[Run], file: TextIO) -> None:
    """One line for each call site that waited for targets, and kind of window; sums over ranks."""
    writer = csv.writer(file)
    writer.writerow(ONE_SIDED_COLUMNS)
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
        above = max((record.rank for record in run.records), default=0) + 1
        for record, begin in zip(run.records, begins, strict=True):
            found = call_events(run, record, process, round((begin - min(begins)) * 1e9))
            for number in range(in_lanes(found, record.rank, above)):
                name = f"rank {record.rank}" + (f", at the same time {number}" if number else "")
                lane = record.rank + number * above
                events.append(name_event("thread_name", process, lane, name))
            events += found
    json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)


def in_lanes(events: list[dict[str, Any]], rank: int, above: int) -> int:
    """Calls of several threads of a rank may overlap, which the format forbids within one of its
    threads: the later goes to another. Returns how many there are, one at least."""
    ends = [0.0]
    for event in sorted(events, key=lambda event: float(event["ts"])):
        begin, end = event["ts"], round(event["ts"] + event["dur"], 3)
        number = next((n for n, last in enumerate(ends) if last <= begin), len(ends))
        ends[number:] = [end, *ends[number + 1 :]]
        event["tid"] = rank + number * above
    return len(ends)


def name_event(kind: str, process: int, thread: int, name: str) -> dict[str, object]:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}


def call_events(run: Run, record: Record, process: int, shift_ns: int) -> list[dict[str, Any]]:
    """Complete events ("X"), in microseconds. `args` says where the call came from, its bytes, and
    to and from whom it was."""
    sites = {one.id: one for one in sites_of(record)}
    partners = partners_of(record)
    found: list[dict[str, Any]] = []
    for number, (start_us, took_us, id_of_site, size) in enumerate(timeline(record)):
        site = sites.get(id_of_site)
        told: dict[str, object] = {"called_from": str(run.places.of(site)) if site else "others"}
        event: dict[str, Any] = {
            "ph": "X",
            "name": f"MPI_{site.function if site else '?'}",
            "cat": "mpi",
        }
        begin, end = (shift_ns + round(us * 1e3) for us in (start_us, start_us + took_us))
        event |= {"pid": process, "tid": record.rank, "ts": begin / 1e3, "dur": (end - begin) / 1e3}
        event |= {"args": told | {"bytes": size} | partners.get(number, {})}
        found.append(event)
    return found


def partners_of(record: Record) -> dict[int, dict[str, int]]:
    """By the number of the event: the rank it gave something ("to"), and took it from ("from")."""
    found: dict[int, dict[str, int]] = {}
    for one in profile_of(record).partners:
        found.setdefault(one.event, {})["from" if one.way else "to"] = one.rank
    return found


def timeline(record: Record) -> tuple[table.Event, ...]:
    """The calls of the record's sample."""
    return profile_of(record).events
