# SPDX-License-Identifier: BSD-3-Clause
"""Figures by communicator, merged over ranks: by name, or by the ranks that are in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from headway import records
from headway.record.table import COMMUNICATOR_COUNTERS
from headway.records import NS, figure
from headway.report.recorded import Recorded, profile_of

HEADINGS = (
    "ranks",
    "calls",
    "bytes",
    "seconds",
    "of run",
    "requests",
    "computed",
    "waited",
    "computed %",
)


@dataclass
class Communicator:
    """Communicators of one name and size, or of the same ranks."""

    name: str
    size: int
    members: str
    ranks: dict[int, dict[str, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name or (f"of ranks {self.members}" if self.members else "without a name")

    def total(self, counter: str) -> float:
        return sum(one[counter] for one in self.ranks.values())

    @property
    def computed_share(self) -> float | None:
        """Of the time its requests were pending, the part the program computed."""
        computed, blocked = self.total("computed_ns"), self.total("blocked_ns")
        return computed / (computed + blocked) if computed + blocked else None


def communicators_of(run: Recorded) -> list[Communicator]:
    """The most time first. Groups of one name and size, such as the rows of a grid, are one."""
    found: dict[tuple[str, int, str], Communicator] = {}
    for index, record in enumerate(run.records):
        for one in profile_of(record).communicators:
            name, size, members = one.name, one.size, one.ranks
            key = (name, size, "" if name else members)
            merged = found.setdefault(key, Communicator(name, size, members))
            kept = merged.ranks.setdefault(
                run.rank_of(index), dict.fromkeys(COMMUNICATOR_COUNTERS, 0.0)
            )
            for counter in COMMUNICATOR_COUNTERS:
                kept[counter] += figure(one, counter)
    return sorted(found.values(), key=lambda one: -one.total("call_ns") - one.total("blocked_ns"))


def row(one: Communicator, run: Recorded) -> list[str]:
    """Its figures under HEADINGS: counts and bytes of all ranks, a rank's mean seconds, and times
    of the mean request."""
    seconds = one.total("call_ns") * NS / max(run.size, 1)
    count = one.total("completed")
    per_request = [
        f"{one.total(counter) * NS / count * 1e3:.2f} ms" if count else "-"
        for counter in ("computed_ns", "blocked_ns")
    ]
    return [
        str(one.size or "-"),
        str(int(one.total("calls"))),
        records.size_text(one.total("bytes")),
        f"{seconds:.3f}" if seconds >= 0.0005 else "-",
        f"{100 * seconds / run.wall:.1f} %" if seconds >= 0.0005 * run.wall > 0 else "-",
        str(int(count)) if count else "-",
        *per_request,
        "-" if one.computed_share is None else f"{100 * one.computed_share:.0f} %",
    ]
