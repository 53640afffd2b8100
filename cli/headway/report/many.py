# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of a large run summed up: quantiles, those that stand out, and maps of all of them.

A row for each rank is no answer beyond some number, and a page of them does not load. What one rank
did is in the CSV table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headway.record.table import Record
from headway.report.imbalance import slices_of
from headway.report.pop import useful_s
from headway.report.recorded import Recorded, profile_of

#: up to so many ranks have a row each
MOST_ROWS = 64
#: of the ranks that stand out
WORST = 10
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
#: of a map: cells across and down, at most
ACROSS, DOWN = 64, 64
#: fewer slices of time are no picture
LEAST_SLICES = 4


@dataclass(frozen=True)
class Measure:
    """A figure of each rank, in seconds."""

    name: str
    of: Callable[[Record], float]


@dataclass(frozen=True)
class Cell:
    """Of a map: a part of 1, and what it is of."""

    value: float
    title: str


@dataclass(frozen=True)
class Line:
    """A line of a map: its name, and cells from left to right."""

    name: str
    cells: Sequence[Cell]


def inside_s(record: Record) -> float:
    """In MPI; without a profile, waiting for requests that the library follows."""
    return record.mpi_wait_s if record.mpi_s is None else record.mpi_s


def measures(run: Recorded) -> list[Measure]:
    inside = "in MPI" if run.is_profiled else "waiting for requests"
    return [
        Measure("whole run", lambda record: record.wall_s),
        Measure("computing" if run.is_profiled else "the rest", useful_s),
        Measure(inside, inside_s),
    ]


def quantile(values: Sequence[float], part: float) -> float:
    """Between two of the values by distance, as most programs do it. There is one at least."""
    ordered = sorted(values)
    place = part * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def heading(part: float) -> str:
    return {0.0: "least", 0.5: "median", 1.0: "most"}.get(part, f"{100 * part:.0f} %")


def quantiles(run: Recorded) -> list[list[str]]:
    """A line for each measure: its name, then the values at QUANTILES."""
    return [
        [one.name, *(f"{quantile(list(map(one.of, run.records)), part):.2f}" for part in QUANTILES)]
        for one in measures(run)
    ]


def worst(run: Recorded) -> list[Record]:
    """Those that were in MPI longest, the longest first."""
    return sorted(run.records, key=lambda record: (-inside_s(record), record.rank))[:WORST]


def busiest(run: Recorded) -> list[Record]:
    """Those that computed longest: others wait for them."""
    return sorted(run.records, key=lambda record: (-useful_s(record), record.rank))[:WORST]


def by_rank(run: Recorded) -> list[Line]:
    """The share of the run that each was in MPI: a line for each node where they fit, else for
    successive ranks."""
    nodes: dict[str, list[Record]] = {}
    for record in run.records:
        nodes.setdefault(record.host, []).append(record)
    is_by_node = "" not in nodes and len(nodes) <= DOWN
    is_by_node = is_by_node and all(len(each) <= ACROSS for each in nodes.values())
    if is_by_node:
        return [Line(host, [rank_cell(one) for one in each]) for host, each in nodes.items()]
    size = -(-len(run.records) // (ACROSS * DOWN))
    groups = [run.records[at : at + size] for at in range(0, len(run.records), size)]
    lines = [groups[at : at + ACROSS] for at in range(0, len(groups), ACROSS)]
    return [Line(f"rank {each[0][0].rank}", [group_cell(one) for one in each]) for each in lines]


def share_of(record: Record) -> float:
    return min(inside_s(record) / record.wall_s, 1.0) if record.wall_s else 0.0


def rank_cell(record: Record) -> Cell:
    return Cell(share_of(record), f"rank {record.rank}: {inside_s(record):.2f} s")


def group_cell(group: Sequence[Record]) -> Cell:
    """Of several ranks the one that was in MPI longest."""
    found = rank_cell(max(group, key=inside_s))
    if len(group) == 1:
        return found
    return Cell(found.value, f"of ranks {group[0].rank} to {group[-1].rank}, {found.title}")


def by_time(run: Recorded) -> list[Line]:
    """The share of each slice of the run in MPI, by groups of ranks; empty where that is not
    recorded."""
    found = {record.rank: slices_of(profile_of(record)) for record in run.records}
    spans = {rank: length * len(each) for rank, (length, each) in found.items() if each}
    if len(spans) < len(run.records) or not spans:
        return []
    span = min(spans.values())
    columns = min(ACROSS, *(len(each) for _, each in found.values()))
    if columns < LEAST_SLICES or span <= 0:
        return []
    size = -(-len(run.records) // DOWN)
    lines = []
    for at in range(0, len(run.records), size):
        group = run.records[at : at + size]
        each = [shares(*found[record.rank], span, columns) for record in group]
        means = [sum(column) / len(each) for column in zip(*each, strict=True)]
        last = f" to {group[-1].rank}" if len(group) > 1 else ""
        cells = [
            Cell(mean, f"{span * column / columns:.2f} s") for column, mean in enumerate(means)
        ]
        lines.append(Line(f"{group[0].rank}{last}", cells))
    return lines


def shares(length: float, outside: Sequence[float], span: float, columns: int) -> list[float]:
    """Of so many equal parts of a span, the share in MPI: that of the slice at its middle, or of
    all slices that begin in it."""
    found = []
    for column in range(columns):
        first = int(span * column / columns / length)
        last = max(int(span * (column + 1) / columns / length), first + 1)
        part = outside[first:last]
        found.append(1.0 - sum(part) / (len(part) * length) if part else 0.0)
    return found
