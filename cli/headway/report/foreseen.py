# SPDX-License-Identifier: BSD-3-Clause
"""Which routes one-sided operations of a plain run would take with ghosts, and whether ghosts could
move its messages, foreseen from it alone.

A target that computes leaves operations to its ghost, one that is in MPI answers by itself, and a
ghost would only be a queue before it (papers/002 section 5.3.1). The sample of moments of a record
tells how much of each part of the run its process was in MPI. Only processes that others waited for
by one-sided operations count. Where no sample tells, nothing is said.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from headway import options, records, thresholds
from headway.options_table import OPTIONS
from headway.report.moments import Moments, Span
from headway.report.one_sided import AS_GOOD, WORTH, OneSided
from headway.report.phases import Phase, phases_of
from headway.report.recorded import LEAST_SIZE_CLASS
from headway.report.runs import Run

HEADINGS = ("rank", "in MPI", "over the run", "computed while waited for")
TITLE = "Routes foreseen for targets of one-sided operations: . by its ghost, # by itself, + either"
#: the run is cut into so many
PARTS = 32
#: of a part, the sample must have kept so much of it, ns
LEAST_KEPT = 1_000_000
#: of the parts known, so many must be for ghosts, or for owners, to name both
SOME = 0.1
#: with more of the waits unknown nothing is said
UNKNOWN_SHARE = 0.5
#: a phase is named if it is so much of the run
LEAST_PHASE = 0.02

#: what ghosts move, from 64 KiB on, and what else sends without blocking (collective calls do)
MOVED = re.compile(r"Is?send(_c)?$")
SENDING = re.compile(r"I(?!recv|mrecv|probe|improbe|barrier)")
#: of what is sent, ghosts could move so much, or nothing is said of them
LEAST_MOVED = 0.1

GHOST, OWNER, EITHER, UNKNOWN = ".", "#", "+", " "


def default_of(name: str) -> float:
    text = next(option.default for option in OPTIONS if option.name == name)
    return (options.thousandths(text) or 0) / 1000


LOW, HIGH = default_of(thresholds.LOW), default_of(thresholds.HIGH)


def route_of(share: float | None) -> str:
    if share is None:
        return UNKNOWN
    return GHOST if share < LOW else OWNER if share > HIGH else EITHER


@dataclass(frozen=True)
class Target:
    """A process for which others waited."""

    rank: int
    shares: tuple[float | None, ...]  #: in MPI, by part of the run; None: not in the sample
    computed_s: float  #: in waits of others for it

    @cached_property
    def share(self) -> float | None:
        known = [share for share in self.shares if share is not None]
        return statistics.fmean(known) if known else None

    @property
    def drawn(self) -> str:
        """The run from left to right: `.` for its ghost, `#` for itself, `+` between the
        thresholds, a blank where nothing is known."""
        return "".join(route_of(share) for share in self.shares)

    def cells(self) -> list[str]:
        share = "not known" if self.share is None else f"{100 * self.share:.0f} %"
        return [str(self.rank), share, self.drawn, f"{self.computed_s:.3f} s"]


def shares_of(moments: Moments) -> tuple[float | None, ...]:
    """By part of the time from the first to the last moment that the sample has."""
    if not moments.outside:
        return (None,) * PARTS
    begin = min(one.span.begin for one in moments.outside)
    step = (moments.outside[-1].span.end - begin) / PARTS
    return tuple(
        share_in(moments, Span(begin + at * step, begin + (at + 1) * step)) for at in range(PARTS)
    )


def share_in(moments: Moments, part: Span) -> float | None:
    """Of the part that the sample keeps, the share in MPI."""
    kept = moments.kept(part)
    length = sum(one.length for one in kept)
    if length < LEAST_KEPT:
        return None
    # One that goes on at the end of the part ends after it.
    found = {*moments.outside_in(part), moments.outside_at(part.end)}
    away = sum(one.span.within(span).length for one in found if one for span in kept)
    return max(1 - away / length, 0.0)


class Foreseen:
    """The routes of a run that had no ghosts."""

    def __init__(self, found: OneSided) -> None:
        self.found, self.run = found, found.run

    @cached_property
    def targets(self) -> list[Target]:
        """Those that computed longest while others waited come first. None where a run had ghosts
        or two threads in MPI, where ghosts would serve none of its windows, where it hardly waited,
        or where it is not known for what."""
        found = self.found
        rows = [row for row in found.rows if row.looks]
        waited = found.waited_s + found.for_others_s
        if not rows or all(row.why_no_ghosts for row in rows):
            return []
        if waited <= WORTH * self.run.wall or found.unknown_s > UNKNOWN_SHARE * waited:
            return []
        waited_for = {
            entry.target
            for entries in self.found.entries.values()
            for entry in entries.values()
            if entry.target is not None and entry.target != entry.rank
        }
        return sorted(
            (
                Target(rank, shares_of(self.found.moments[rank]), self.computed_s(rank))
                for rank in waited_for
                if rank in self.found.moments and self.found.threads[rank] <= 1
            ),
            key=lambda one: (-one.computed_s, one.rank),
        )

    def computed_s(self, rank: int) -> float:
        return sum(row.targets.get(rank, 0.0) for row in self.found.rows)

    @cached_property
    def known(self) -> str:
        """The routes of all parts of all targets that are known."""
        return "".join(one.drawn for one in self.targets).replace(UNKNOWN, "")

    def part(self, route: str) -> float:
        return self.known.count(route) / len(self.known)

    @property
    def is_gain(self) -> bool:
        """Ghosts shorten waits for targets that compute."""
        return self.found.ghosts_s > WORTH * self.run.wall

    @cached_property
    def phases(self) -> list[tuple[str, float]]:
        """Those that the program named, with their share in MPI."""
        if not self.run.is_profiled:
            return []
        return [
            (phase.name, share)
            for phase in phases_of(self.run)
            if phase.mean("wall_ns") > LEAST_PHASE * self.run.wall
            and (share := phase_share(phase)) is not None
        ]


def phase_share(phase: Phase) -> float | None:
    wall = phase.mean("wall_ns")
    return min(phase.mean("mpi_ns") / wall, 1.0) if wall > 0 else None


def rows(found: OneSided) -> list[Target]:
    """Nothing where no line is said."""
    foreseen = Foreseen(found)
    return foreseen.targets if foreseen.known else []


def lines(found: OneSided) -> list[str]:
    """What ghosts would serve, and which routes; nothing where nothing is known."""
    foreseen = Foreseen(found)
    if not foreseen.known:
        return []
    shares = [round(100 * one.share) for one in foreseen.targets if one.share is not None]
    least, most = min(shares), max(shares)
    span = f"{least} to {most}" if most > least else f"{least}"
    who = (
        f"Targets of one-sided operations ({ranks_text(foreseen.targets)}) were {span} % of the "
        "run in MPI"
    )
    return [f"{who}: {said(foreseen)}", *phase_lines(foreseen)]


def said(foreseen: Foreseen) -> str:
    ghost, owner = foreseen.part(GHOST), foreseen.part(OWNER)
    if not foreseen.is_gain:
        answers = "they answer by themselves, and " if owner > 0.5 else ""
        return (
            f"{answers}ghosts would shorten no wait worth naming. Leave their cores to the program."
        )
    if foreseen.found.thread_s >= AS_GOOD * foreseen.found.ghosts_s:
        return "the progress thread serves them as well as ghosts, which take cores of the program."
    if owner <= SOME:
        return (
            "ghosts would serve nearly all operations (`headway run --ghosts 1`, routes as they "
            "come)."
        )
    if ghost <= SOME:
        return (
            "they are hardly ever away for long. With ghosts let routes be measured "
            "(HEADWAY_ADAPT=auto)."
        )
    return (
        f"in {100 * ghost:.0f} % of the parts of the run less than {100 * LOW:.0f} %, where their "
        f"ghosts serve better, in {100 * owner:.0f} % more than {100 * HIGH:.0f} %, where they do "
        "themselves. `headway run --ghosts 1` with HEADWAY_ADAPT=auto, which changes between the "
        "two."
    )


def phase_lines(foreseen: Foreseen) -> Sequence[str]:
    """For a program that names its phases: what it can say itself."""
    if not foreseen.is_gain:
        return []
    named = [
        f"{name} {'on' if route_of(share) == GHOST else 'off'} ({100 * share:.0f} % in MPI)"
        for name, share in foreseen.phases
        if route_of(share) in (GHOST, OWNER)
    ]
    routes = {text.rsplit(" (", 1)[0].rsplit(" ", 1)[1] for text in named}
    if len(routes) < 2:
        return []
    return [f"By its phases the program itself can say so, with async_config: {', '.join(named)}."]


def ranks_text(targets: Sequence[Target]) -> str:
    """All of them where they are few."""
    ranks = sorted(one.rank for one in targets)
    if len(ranks) > 4:
        return f"{records.plural(len(ranks), 'rank')}, {ranks[0]} to {ranks[-1]}"
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


# ---- messages ------------------------------------------------------------------------------------


def moved_share(run: Run) -> float | None:
    """Of the bytes sent without blocking, those in messages that ghosts could move, as far as the
    profile tells. None: within one node, or with ghosts, they move no more."""
    has_ghosts = any(record.ghost >= 0 for record in run.records)
    if len({record.host for record in run.records}) < 2 or has_ghosts:
        return None
    sites = [site for site in run.sites if SENDING.match(site.function)]
    sent = sum(site.total("bytes") for site in sites)
    moved = sum(
        site.total("bytes")
        for site in sites
        if MOVED.match(site.function) and site.size_class >= LEAST_SIZE_CLASS
    )
    return moved / sent if sent else None


def moved_lines(run: Run) -> list[str]:
    """For a run that progress would shorten: who can make it."""
    share = moved_share(run)
    if share is None or share < LEAST_MOVED:
        return []
    can = (
        f"Ghosts can move {100 * share:.0f} % of these bytes too: MPI_Isend and MPI_Issend of "
        "64 KiB or more between nodes (HEADWAY_P2P=ghost)."
    )
    if len(run.ranks_with_spare_cores) < run.size:
        return [f"{can} Here they would share the ranks' cores, where the thread was faster."]
    return [f"{can} The ranks have cores to spare: try it beside the thread."]
