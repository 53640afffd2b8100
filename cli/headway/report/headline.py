# SPDX-License-Identifier: BSD-3-Clause
"""A run in one sentence, and in three to five numbers with their meaning.

The sentence says what `headway run` should save, or that there is nothing to gain and what the
waiting was for. Every share is of all time that ranks waited: for requests, in calls that block,
and for targets of one-sided operations.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from headway import outcome
from headway.outcome import SMALL_SHARE
from headway.report import one_sided
from headway.report.blocking import rest_name
from headway.report.causes import Cause
from headway.report.places import CALLED_BY, Place
from headway.report.pop import Efficiencies, efficiencies, span_s
from headway.report.runs import Run
from headway.report.spots import NOWHERE, ONE_SIDED_WAIT, Spot

#: behind the name of a file
LINE = re.compile(r":\d+$")
#: less is no saving to speak of, s
LEAST_S = 0.005
#: causes with a smaller share of the waiting are not named
WORTH_NAMING = 0.03
NAMED_CAUSES = 3

#: causes that are no rank's lateness, and what the waiting was for then
TARGETS = "targets that computed"
NO_PROGRESS = "no progress"
IMBALANCE = "imbalance"
WIRE = "the wire"
MESSAGES = "the messages themselves"
OPERATIONS = "the operations themselves"
IN_TURNS = "one direction of exchanges, which moved after the other"
UNKNOWN = "not known"
FILES = "access to files"
EPOCH = "wait for an epoch"
LOCK = "wait for a lock"
TIMELY = (WIRE, MESSAGES, OPERATIONS, FILES)


@dataclass(frozen=True)
class Waited:
    """Of all waiting what has one cause: seconds, a rank's mean, and where most of it was."""

    cause: str
    seconds: float
    spot: Spot
    where: str


@dataclass(frozen=True)
class Figure:
    """A number, and what it means."""

    name: str
    value: str
    meaning: str


class Findings:
    """What a profiled run comes to."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.one_sided = one_sided.OneSided(run)

    @cached_property
    def waits(self) -> list[Waited]:
        """By cause, the longest first."""
        found: dict[str, dict[tuple[Spot, str], float]] = defaultdict(lambda: defaultdict(float))
        for cause, spot, place, seconds in self.parts():
            if seconds > 0:
                found[cause][spot, place] += seconds
        each = []
        for cause, places in found.items():
            spot, where = max(places, key=lambda key: places[key])
            seconds = sum(places.values()) / max(self.run.size, 1)
            each.append(Waited(cause, seconds, spot, where))
        return sorted(each, key=lambda one: -one.seconds)

    def parts(self) -> Iterator[tuple[str, Spot, str, float]]:
        """Cause, where, and seconds over all ranks."""
        run = self.run
        for site in run.sites:
            if not site.is_wait and not run.blocking.waited(site):
                continue
            reasons, spot, where = run.reasons(site), site.spot, at(site.place)
            is_seen = reasons.looks > 0
            timely = OPERATIONS if "operation" in rest_name(site.function) else MESSAGES
            yield NO_PROGRESS, spot, where, reasons.no_progress
            yield WIRE if is_seen else MESSAGES, spot, where, reasons.bandwidth
            yield reasons.late_name, spot, where, reasons.late
            yield IMBALANCE, spot, where, reasons.imbalance
            yield timely, spot, where, reasons.transfer
            yield FILES, spot, where, reasons.files
            yield UNKNOWN, spot, where, reasons.unknown
        yield from self.one_sided_parts()

    def one_sided_parts(self) -> Iterator[tuple[str, Spot, str, float]]:
        run = self.run
        every = [site for site in run.sites if ONE_SIDED_WAIT.match(site.function)]
        if not self.one_sided.is_recorded:
            for site in every:
                yield UNKNOWN, site.spot, at(site.place), site.seconds
            return
        others = self.one_sided.for_others_s
        if every and others > SMALL_SHARE * run.wall:
            yield EPOCH, every[0].spot, at(every[0].place), others * run.size
        for row in self.one_sided.rows:
            won = min(max(row.ghosts, row.thread, row.unserved), row.waited - row.unknown)
            yield TARGETS, row.spot, at(row.spot.place), won
            yield UNKNOWN, row.spot, at(row.spot.place), row.unknown
            rest = row.waited - row.unknown - won
            held = min(row.held, rest)
            late = min(row.late, rest - held)
            yield LOCK, row.spot, at(row.spot.place), held
            yield EPOCH, row.spot, at(row.spot.place), late
            yield MESSAGES, row.spot, at(row.spot.place), rest - late - held

    @cached_property
    def waited_s(self) -> float:
        return sum(one.seconds for one in self.waits)

    def of(self, cause: str) -> Waited | None:
        return next((one for one in self.waits if one.cause == cause), None)

    def share(self, seconds: float) -> str:
        return percent(seconds, self.waited_s)

    # ---- what would be saved -------------------------------------------------------------------

    @cached_property
    def command(self) -> str:
        """What saves most."""
        thread, ghosts = self.one_sided.thread_s, self.one_sided.ghosts_s
        wants_ghosts = ghosts > thread + SMALL_SHARE * self.run.wall
        return "headway run --ghosts 1" if wants_ghosts else "headway run"

    @cached_property
    def saving_s(self) -> float:
        """By that command, of the whole run; 0 where it is nothing to speak of."""
        won = max(self.one_sided.thread_s, self.one_sided.ghosts_s)
        found = min(self.run.prediction.seconds + won, self.waited_s)
        return found if found >= max(SMALL_SHARE * self.run.wall, LEAST_S) else 0.0

    # ---- the sentence --------------------------------------------------------------------------

    def headline(self) -> str:
        saved = outcome.saved(self.run.records)
        if saved:
            return saved
        if self.waited_s < SMALL_SHARE * self.run.wall or not self.waits:
            return self.hardly_waited()
        if self.saving_s:
            return self.not_overlapped()
        lead = self.waits[0]
        if lead.cause in (NO_PROGRESS, TARGETS):
            return self.no_engine_helps(lead)
        if lead.cause in TIMELY:
            return self.timely()
        if lead.cause == UNKNOWN:
            return (
                f"Not known: {self.share(lead.seconds)} of the waiting has no cause in the records "
                f"({lead.where}). `headway run --engine thread` shows what can be saved."
            )
        return self.imbalanced(lead) if lead.cause == IMBALANCE else self.late(lead)

    def hardly_waited(self) -> str:
        run = self.run
        said = f"Nothing to gain: the ranks waited less than 1 % of {run.wall:.2f} s."
        inside = run.mpi_seconds
        if inside < 10 * SMALL_SHARE * run.wall or not run.sites:
            return said
        first, what = run.sites[0], "Other calls of MPI"
        if first.spot.is_for_files:
            files = (site.seconds for site in run.sites if site.spot.is_for_files)
            what, inside = "Access to files", sum(files) / run.size
        return (
            f"{said} {what} took {percent(inside, run.wall)} of the run, most in "
            f"MPI_{first.function} ({at(first.place)})."
        )

    def not_overlapped(self) -> str:
        missing = self.of(NO_PROGRESS), self.of(TARGETS)
        lead = max((one for one in missing if one), key=lambda one: one.seconds, default=None)
        if self.run.prediction.transport > self.saving_s / 2 or lead is None:
            lead = self.in_turns()
        what = "lack of progress" if lead.cause == NO_PROGRESS else lead.cause
        is_on = any(record.engine == "thread" for record in self.run.records)
        although = "even with the progress thread " if is_on else ""
        said = (
            f"Not overlapped: {although}{self.share(lead.seconds)} of the waiting was for {what} "
            f"({lead.where})."
        )
        if is_on and self.command == "headway run":
            return said
        wall, saving = self.run.wall, self.saving_s
        return (
            f"{said} `{self.command}` should save about {seconds_text(saving, wall)} "
            f"({percent(saving, wall)})."
        )

    def in_turns(self) -> Waited:
        """What the transport's setting wins, and where most of it."""
        waits = [site for site in self.run.sites if site.is_wait]
        most = max(waits, key=self.run.transport_gain, default=self.run.sites[0])
        return Waited(IN_TURNS, self.run.prediction.transport, most.spot, at(most.place))

    def no_engine_helps(self, lead: Waited) -> str:
        """Little would be saved, though progress was what was missing."""
        missing = "lack of progress" if lead.cause == NO_PROGRESS else TARGETS
        said = (
            f"Not overlapped: {self.share(lead.seconds)} of the waiting was for {missing} "
            f"({lead.where})."
        )
        found = self.run.prediction
        if lead.cause == TARGETS:
            return f"{said} No engine can act for these targets; the report says why."
        if found.spinning > lead.seconds / 2:
            return f"{said} The thread leaves tests in a loop alone; MPI_Wait it would shorten."
        if found.crowded > lead.seconds / 2:
            return (
                f"{said} The node has no idle core to move the bytes on meanwhile; "
                "`headway run --engine thread` tries it."
            )
        return f"{said} Moving the bytes meanwhile would take as much processor time as it saves."

    def timely(self) -> str:
        lead, *others = [one for one in self.waits if one.cause in TIMELY]
        also = [one for one in others if one.seconds > WORTH_NAMING * self.waited_s]
        seconds = lead.seconds + sum(one.seconds for one in also)  # of what is named alone
        what = " and ".join([f"{lead.cause} ({lead.where})", *(one.cause for one in also)])
        return f"Nothing to gain: {self.share(seconds)} of the waiting was for {what}."

    def imbalanced(self, lead: Waited) -> str:
        found = self.run.imbalance
        whom = "ranks with more to compute"
        if found and len(found.busiest) == 1 and found.less_s:
            more = sum(found.less_s.values()) / len(found.less_s)
            whom = f"rank {found.busiest[0]}, which computed {more:.2f} s more than others"
        each = (self.run.reasons(site) for site in self.run.sites if site.spot == lead.spot)
        names = {one.late_name for one in each if one.imbalance > one.posted}
        also = f" ({names.pop()})" if len(names) == 1 else ""
        return (
            f"Imbalance{also}: {self.share(lead.seconds)} of the waiting was for {whom} "
            f"({lead.where}). Only dividing the work otherwise helps."
        )

    def late(self, lead: Waited) -> str:
        """Late senders, receivers, and who comes last to a collective."""
        name = lead.cause[0].upper() + lead.cause[1:]
        if lead.cause == LOCK:
            return (
                f"{name}: {self.share(lead.seconds)} of the waiting was for ranks that held it "
                f"({lead.where}). No engine makes them give it up; shorter epochs do."
            )
        what = {"late sender": "a sender", "late receiver": "a receiver"}.get(lead.cause, "a rank")
        root = next((one for one in self.run.causes if one.spot == lead.spot), None)
        return (
            f"{name}: {self.share(lead.seconds)} of the waiting was for {whom(root, what)} "
            f"({lead.where}). No engine makes it come earlier."
        )

    # ---- the numbers ---------------------------------------------------------------------------

    def figures(self) -> list[Figure]:
        found = efficiencies(self.run.records)
        return [*(pop_figures(found) if found else []), *self.waiting(), *self.hidden()]

    def waiting(self) -> list[Figure]:
        wall = self.run.wall
        if self.waited_s < max(SMALL_SHARE * wall, LEAST_S):
            return []
        named = [
            f"{one.cause} {self.share(one.seconds)}"
            for one in self.waits[:NAMED_CAUSES]
            if one.seconds > WORTH_NAMING * self.waited_s
        ]
        meaning = f"of the run, {self.waited_s:.2f} s per rank: {', '.join(named)}"
        return [Figure("waiting", percent(self.waited_s, span_s(self.run.records)), meaning)]

    def hidden(self) -> list[Figure]:
        waits = [site for site in self.run.sites if site.hidden_share is not None]
        if not waits:
            return []
        moved = sum(site.total("moved_computing") for site in waits)
        whole = moved + sum(site.total("moved_waiting") for site in waits)
        meaning = "of the bytes waited for had moved while the program computed"
        return [Figure("transfer hidden", percent(moved, whole), meaning)]


def pop_figures(found: Efficiencies) -> list[Figure]:
    """As the POP Centre of Excellence defines them."""
    split = ""
    if found.between is not None and found.within is not None:
        split = f"; between nodes {100 * found.between:.0f} %, within {100 * found.within:.0f} %"
    return [
        Figure(
            "parallel efficiency",
            f"{100 * found.parallel:.0f} %",
            "of the run was computation, in the mean of the ranks",
        ),
        Figure(
            "communication efficiency",
            f"{100 * found.communication:.0f} %",
            f"of the run was computation on the busiest rank, {found.busiest}",
        ),
        Figure(
            "load balance",
            f"{100 * found.balance:.0f} %",
            f"mean computation of a rank, over the busiest rank's{split}",
        ),
    ]


def whom(cause: Cause | None, what: str) -> str:
    """The rank that was late, and what it did, as far as that is shown."""
    root = cause.root if cause else None
    if root is None or root.rank is None or root.gap is None:
        return f"{what} that came late"
    after = root.gap[1]
    before = "" if after == NOWHERE else f" before MPI_{after.function}"
    return f"rank {root.rank}, which computed{before}"


def at(place: Place | str) -> str:
    """A place in short, to stand between brackets: file and line, where they are known."""
    own = str(place).partition(CALLED_BY)[0]
    function, bracket, where = own.rstrip(")").partition(" (")
    return where if bracket and LINE.search(where) else f"{function}, {where}".rstrip(", ")


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def seconds_text(part: float, whole: float) -> str:
    digits = 1 if part >= 0.95 else 2
    return f"{part:.{digits}f} s of {whole:.{digits}f} s"


def told(run: Run) -> tuple[str, list[Figure]]:
    """The sentence and the numbers with which everything begins that is said of a run."""
    if not run.is_profiled:
        return outcome.headline(run.records), []
    found = Findings(run)
    return found.headline(), found.figures()
