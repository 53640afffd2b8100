# SPDX-License-Identifier: BSD-3-Clause
"""Routes of one-sided operations on windows that ghosts serve: to the ghost, or to the owner, which
is the target's own process (doc/adr/0041).

How many went where is counted by every process. Changes that the program did not ask for are kept
with their time and cause. Between two of them a process stays with the route that the first has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from headway import records
from headway.record.table import Route
from headway.report.runs import Run

HEADINGS = ("window", "operations", "changes", "over the run", "last change")
#: the run is drawn in so many parts, each by the part of the processes that have the owner's route
PARTS = 32
DRAWN = ((0.25, "."), (0.75, "+"), (1.01, "#"))
#: a sentence about few operations helps nobody
LEAST_OPERATIONS = 1000
#: of all operations by owners: the ghosts serve next to none
NEARLY_ALL = 0.98
#: so many changes of a window in a second, and none lasts
RESTLESS = 10.0

CAUSES = {
    "measured": "it was found shorter",
    "share": "share of time in MPI",
    "agreed": "members agreed",
    "control": "a look at what it takes",
}


@dataclass
class Row:
    """One window and kind of operations, over all processes."""

    window: int
    operations: str
    #: by process
    changes: dict[int, list[Route]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Of Put and Get each process has its own; of accumulates all have the same."""
        counts = [len(kept) for kept in self.changes.values()]
        return max(counts) if self.operations == "accumulates" else sum(counts)

    @property
    def last(self) -> Route:
        return max((kept[-1] for kept in self.changes.values()), key=lambda one: one.at_s)

    def owners(self, at_s: float, size: int) -> float:
        """The part of the processes with the owner's route then. Those without a change are as
        the others were before their first: a window begins alike everywhere."""
        first = min((kept[0] for kept in self.changes.values()), key=lambda one: one.at_s)
        begun = first.route == "ghost"
        found = 0
        for kept in self.changes.values():
            before = [one for one in kept if one.at_s <= at_s]
            found += before[-1].route == "owner" if before else begun
        found += begun * (size - len(self.changes))
        return found / size

    def drawn(self, run: Run) -> str:
        """The run from left to right: `.` by ghosts, `#` by owners, `+` by both."""
        step = run.wall / PARTS
        shares = (self.owners((part + 0.5) * step, run.size) for part in range(PARTS))
        return "".join(next(sign for most, sign in DRAWN if share < most) for share in shares)

    def cells(self, run: Run) -> list[str]:
        return [
            str(self.window & 0xFFFFFFFF),
            self.operations,
            str(self.count),
            self.drawn(run),
            change_text(self.last),
        ]


def change_text(change: Route) -> str:
    figures = []
    if change.ghost_ns and change.owner_ns:
        figures.append(
            f"{change.ghost_ns / 1e3:.1f} us by the ghost, "
            f"{change.owner_ns / 1e3:.1f} us by the owner"
        )
    if change.share_percent >= 0 and change.cause == "share":
        figures.append(f"{change.share_percent} % in MPI")
    told = f": {', '.join(figures)}" if figures else ""
    cause = CAUSES.get(change.cause, change.cause)
    return f"at {change.at_s:.2f} s to the {change.route}, {cause}{told}"


def rows(run: Run) -> list[Row]:
    """The windows with the most changes first."""
    found: dict[tuple[int, str], Row] = {}
    for index, record in enumerate(run.records):
        for change in sorted(record.routes, key=lambda one: one.at_s):
            key = (change.window, change.operations)
            row = found.setdefault(key, Row(*key))
            row.changes.setdefault(run.rank_of(index), []).append(change)
    return sorted(found.values(), key=lambda row: (-row.count, row.window, row.operations))


def is_worth(run: Run) -> bool:
    return any(record.operations_to_owners or record.routes for record in run.records)


def lines(run: Run) -> list[str]:
    """Which share went where, and what would help."""
    ghosts = sum(record.operations_redirected for record in run.records)
    owners = sum(record.operations_to_owners for record in run.records)
    if not is_worth(run) or ghosts + owners == 0:
        return []
    accumulates = max(record.routes_changed for record in run.records)
    moves = sum(record.put_routes_changed for record in run.records)
    share = 100 * owners / (ghosts + owners)
    return [
        f"Routes: {share:.0f} % of {records.plural(ghosts + owners, 'operation')} on windows with "
        f"ghosts went to their targets' own processes, {100 - share:.0f} % to ghosts. Accumulates "
        f"changed {records.plural(accumulates, 'time')}, Put and Get "
        f"{records.plural(moves, 'time')} over all processes.",
        *advice(run, ghosts, owners),
    ]


def advice(run: Run, ghosts: int, owners: int) -> Sequence[str]:
    accumulates = max(record.routes_changed for record in run.records)
    moves = sum(record.put_routes_changed for record in run.records)
    if ghosts + owners < LEAST_OPERATIONS:
        return []
    if owners >= NEARLY_ALL * (ghosts + owners):
        return [
            "Ghosts served next to nothing in this run: `headway run` without --ghosts leaves "
            "their cores to the program."
        ]
    if moves and not accumulates and any("accumulates" != row.operations for row in rows(run)):
        return [
            "Accumulates change their route only where all processes of a window meet: "
            "MPI_Win_fence, MPI_Win_set_info with symmetric=true, each 16th barrier."
        ]
    if run.wall > 0 and any(row.count > RESTLESS * run.wall * run.size for row in rows(run)):
        return [
            "Routes changed more than ten times a second: neither is better for long. "
            "HEADWAY_ADAPT=off or async_config in the program decides it once."
        ]
    return []
