# SPDX-License-Identifier: BSD-3-Clause
"""Runs side by side: figures of all ranks, and call sites, each with what changed from the first.

A call site of one run is that of another if function and MPI call are the same, in the order of
their lines: a line that was inserted above moves all below it. Where one run has more of them than
the other, those are left out whose calls and bytes are least alike (doc/guide/profiling.md).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from headway import records
from headway.report.places import Place
from headway.report.runs import Run
from headway.report.spots import Spot

#: a pair that is nothing like each other costs 1; leaving both alone costs more, one of them less
ALONE = 0.6
#: two lines of the same number are the same before others that are as much alike
MOVED = 0.1
#: call sites that took less in every run, s, would be rows of 0.000
LEAST_S = 0.0005
#: differences below this part of the first are none
SMALL = 0.0005


@dataclass(frozen=True)
class Called:
    """One call site of one run, of all sizes; a rank's mean."""

    place: Place
    function: str
    seconds: float = 0.0
    calls: float = 0.0
    bytes: float = 0.0


@dataclass
class Row:
    """A call site in all runs; None where a run has none."""

    called: list[Called | None] = field(default_factory=list)

    @property
    def seconds(self) -> list[float | None]:
        return [None if one is None else one.seconds for one in self.called]

    @property
    def change(self) -> float:
        """The most that another run differs from the first by."""
        first, *others = (one.seconds if one else 0.0 for one in self.called)
        return max(abs(other - first) for other in others)

    @property
    def longest(self) -> float:
        return max(one.seconds for one in self.called if one)

    @property
    def last(self) -> Called:
        return next(one for one in reversed(self.called) if one)

    @property
    def function(self) -> str:
        return self.last.function

    @property
    def place(self) -> str:
        """Function, file and line in the first run that has it, and where it is in later ones."""
        places = [one.place for one in self.called if one]
        lines = list(dict.fromkeys(places))
        if len(lines) == 1:
            return str(lines[0])
        told = [wheres(lines[0])]
        for before, place in zip(lines, lines[1:], strict=False):
            is_same_file = place.line and Path(place.file).name == Path(before.file).name
            told.append(str(place.line) if is_same_file else wheres(place))
        where = ", then ".join(told)
        return f"{lines[0].function} ({where})" if lines[0].function else where


def wheres(place: Place) -> str:
    return str(replace(place, function="")) if place.file else place.function


# ---- call sites --------------------------------------------------------------------------------


def called_of(run: Run) -> list[Called]:
    """All sizes of a call site are one here."""
    found: dict[tuple[Place, str], Called] = {}
    for site in run.sites:
        key = site.place, site.function
        one = found.get(key, Called(*key))
        found[key] = replace(
            one,
            seconds=one.seconds + site.seconds / run.size,
            calls=one.calls + site.calls / run.size,
            bytes=one.bytes + site.total("bytes") / run.size,
        )
    return list(found.values())


def rows(runs: Sequence[Run]) -> list[Row]:
    """Call sites of runs that have any, the largest change first."""
    aligned: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for number, run in enumerate(runs):
        groups: dict[tuple[str, str], list[Called]] = defaultdict(list)
        for one in called_of(run):
            groups[one.place.function or one.place.file, one.function].append(one)
        for key in {*aligned, *groups}:
            group = sorted(groups[key], key=lambda one: order(one.place))
            aligned[key] = list(merged(aligned[key], group, number))
    found = [row for group in aligned.values() for row in group if row.longest >= LEAST_S]
    return sorted(found, key=lambda row: (-row.change, -(row.last.seconds), row.place))


def order(place: Place) -> tuple[str, int, int]:
    """Of the places of a function: by line, or by address where there are none."""
    name, _, offset = place.file.rpartition("+0x")
    try:
        return Path(name or place.file).name, place.line, int(offset, 16) if name else 0
    except ValueError:
        return place.file, place.line, 0


def merged(known: Sequence[Row], group: Sequence[Called], number: int) -> Iterator[Row]:
    """The rows of the runs so far with those of run `number`, in the order of both."""
    left, right = 0, 0
    for i, j in [*pairs([row.last for row in known], group), (len(known), len(group))]:
        yield from (Row([*row.called, None]) for row in known[left:i])
        yield from (Row([*[None] * number, one]) for one in group[right:j])
        if i < len(known) and j < len(group):
            yield Row([*known[i].called, group[j]])
        left, right = i + 1, j + 1


def pairs(left: Sequence[Called], right: Sequence[Called]) -> list[tuple[int, int]]:
    """Which belongs to which, without crossing: the least cost of all ways to do that."""
    costs = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left), -1, -1):
        for j in range(len(right), -1, -1):
            ways = []
            if i < len(left):
                ways.append(costs[i + 1][j] + ALONE)
            if j < len(right):
                ways.append(costs[i][j + 1] + ALONE)
            if i < len(left) and j < len(right):
                ways.append(costs[i + 1][j + 1] + unlike(left[i], right[j]))
            costs[i][j] = min(ways, default=0.0)
    found, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if costs[i][j] == costs[i + 1][j + 1] + unlike(left[i], right[j]):
            found.append((i, j))
            i, j = i + 1, j + 1
        elif costs[i][j] == costs[i + 1][j] + ALONE:
            i += 1
        else:
            j += 1
    return found


def unlike(one: Called, other: Called) -> float:
    """From 0, the same line with the same calls, to 1."""
    moved = 0.0 if one.place == other.place else MOVED
    each = [bytes_each(one), bytes_each(other)]
    apart = (apart_of(one.calls, other.calls) + apart_of(*each)) / 2
    return moved + (1 - MOVED) * apart


def bytes_each(one: Called) -> float:
    return one.bytes / one.calls if one.calls else 0.0


def apart_of(one: float, other: float) -> float:
    most = max(abs(one), abs(other))
    return min(abs(one - other) / most, 1.0) if most else 0.0


def names(runs: Sequence[Run]) -> list[dict[str, str]]:
    """For each run: what its call sites are called where all are compared."""
    found: list[dict[str, str]] = [{} for _ in runs]
    for row in rows(runs):
        shared = str(Spot(row.place, row.function))
        for told, one in zip(found, row.called, strict=True):
            if one:
                told[str(Spot(str(one.place), one.function))] = shared
    return found


# ---- figures -----------------------------------------------------------------------------------


def waited(run: Run) -> float:
    """Mean time a rank waited for requests: all of them if profiled, else those tracked."""
    if run.is_profiled:
        return sum(site.waited for site in run.sites if site.is_wait) / run.size
    return records.mean(run.records, "blocked_ns") * records.NS


def mean_of(name: str, scale: float = 1.0) -> Callable[[Run], float | None]:
    """Of a field; None where no record has it."""

    def read(run: Run) -> float | None:
        if all(getattr(one, name) is None for one in run.records):
            return None
        return records.mean(run.records, name) * scale

    return read


def total_of(name: str, scale: float = 1.0) -> Callable[[Run], float | None]:
    return lambda run: records.total(run.records, name) * scale


#: what it is, its digits, and where it comes from
FIGURES: tuple[tuple[str, int, Callable[[Run], float | None]], ...] = (
    ("ranks", 0, lambda run: run.size),
    ("seconds from MPI_Init to MPI_Finalize", 2, lambda run: run.wall),
    ("seconds in MPI, per rank", 3, mean_of("mpi_s")),
    ("seconds waited for requests, per rank", 3, waited),
    ("seconds computed meanwhile, per rank", 3, mean_of("overlapped_ns", records.NS)),
    ("operations tracked", 0, lambda run: sum(map(records.tracked_count, run.records))),
    ("MiB tracked", 1, total_of("tracked_bytes", 2**-20)),
    ("complete before they were asked for", 0, total_of("completed_early")),
    ("one-sided operations at ghosts", 0, total_of("operations_redirected")),
    ("CPU seconds, per rank", 3, mean_of("process_cpu_s")),
    ("CPU seconds of the progress thread, per rank", 3, mean_of("thread_cpu_s")),
)


def figure_rows(runs: Sequence[Run]) -> list[list[str]]:
    """What the records say of whole runs, profiled or not. No row of zeros."""
    engines = [sorted({one.engine for one in run.records}) for run in runs]
    words = ["/".join(found) or "-" for found in engines]
    found = [["engine", words[0], *(text for word in words[1:] for text in (word, ""))]]
    for name, digits, read in FIGURES:
        values = [read(run) for run in runs]
        if any(values):
            found.append([name, *cells(values, digits)])
    return found


def headings(runs: Sequence[Run]) -> list[str]:
    """Of the columns of figures: each run, and what changed from the first."""
    same = Counter(run.name for run in runs)
    names = [
        f"{number}: {run.name}" if same[run.name] > 1 else run.name
        for number, run in enumerate(runs, 1)
    ]
    return [names[0], *(text for name in names[1:] for text in (name, "change"))]


def cells(values: Sequence[float | None], digits: int = 3) -> list[str]:
    """Below those headings."""
    first = values[0]
    found = [number(first, digits)]
    for value in values[1:]:
        found += [number(value, digits), change(first, value, digits)]
    return found


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def change(first: float | None, value: float | None, digits: int) -> str:
    """In the unit, and in percent of the first where there is something to take it of."""
    if first is None and value is None:
        return ""
    by = (value or 0.0) - (first or 0.0)
    if abs(by) <= SMALL * abs(first or 0.0) or round(by, digits) == 0:
        return "="
    text = f"{by:+.{digits}f}"
    return f"{text} ({100 * by / first:+.0f} %)" if first else text
