# SPDX-License-Identifier: BSD-3-Clause
"""Phases the program named (headway.h), merged over ranks by name."""

from __future__ import annotations

from dataclasses import dataclass, field

from headway.record import table
from headway.records import NS, figure
from headway.report.runs import Run

HEADINGS = (
    "times",
    "seconds",
    "of run",
    "least..most",
    "in MPI",
    "waited",
    "meanwhile",
    "meanwhile %",
)


@dataclass
class Phase:
    """One name, over the ranks that marked it."""

    name: str
    ranks: list[table.Phase] = field(default_factory=list)

    def mean(self, name: str) -> float:
        """Of the ranks that have it, in seconds."""
        return sum(figure(one, name) for one in self.ranks) / len(self.ranks) * NS

    @property
    def meanwhile_share(self) -> float | None:
        """Of the time something was pending, the part in which the program did not wait."""
        waited, meanwhile = self.mean("blocked_ns"), self.mean("overlapped_ns")
        return meanwhile / (waited + meanwhile) if waited + meanwhile > 0 else None


def phases_of(run: Run) -> list[Phase]:
    """The most time first."""
    found: dict[str, Phase] = {}
    for record in run.records:
        for one in record.phases:
            if one.name:
                found.setdefault(one.name, Phase(one.name)).ranks.append(one)
    return sorted(found.values(), key=lambda phase: -phase.mean("wall_ns"))


def row(phase: Phase, run: Run) -> list[str]:
    """Its figures under HEADINGS, a rank's mean."""
    each = [one.wall_ns * NS for one in phase.ranks]
    wall, share = phase.mean("wall_ns"), phase.meanwhile_share
    count = sum(one.count for one in phase.ranks) / len(phase.ranks)
    return [
        f"{count:.0f}",
        f"{wall:.3f}",
        f"{100 * wall / run.wall:.1f} %" if run.wall else "-",
        f"{min(each):.2f}..{max(each):.2f}",
        f"{phase.mean('mpi_ns'):.3f}" if run.is_profiled else "-",
        f"{phase.mean('blocked_ns'):.3f}",
        f"{phase.mean('overlapped_ns'):.3f}",
        "-" if share is None else f"{100 * share:.0f} %",
    ]
