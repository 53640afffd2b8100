# SPDX-License-Identifier: BSD-3-Clause
"""When ranks were outside MPI and when they waited, on a clock of all of them.

A record holds a sample of moments (src/profile/waits/moments.h): slots of time kept whole, of
which ranks keep the same, or one in so many of another's. Ranks of one machine have one clock.
Clocks of several are compared by collective calls of all ranks, which all leave at about the same
time, and none before the last has entered; where there are few of them, by the time of day, if no
such call contradicts it. Where there is none at all, the time of day is all there is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from headway.record import table

#: ns; a slot is no shorter, whatever a record says
LEAST_SLOT = 1 << 20
#: so many collective calls nearest to a moment tell how clocks compare then
NEAR = 7
#: and of so many it is certain that none was left before all had come
NEAR_BOUNDS = 16
#: ns; leaving a collective call at the same time means: within this
SAME = 20_000
#: ns; what time services keep machines of a cluster within
TIME_OF_DAY = 500_000
#: ns; ... and where no such call shows whether that is so
UNCHECKED = 1_000_000
#: a sample has no more
MOST_ROWS = 4096


@dataclass(frozen=True)
class Span:
    """From one moment to another, ns."""

    begin: float
    end: float

    @property
    def length(self) -> float:
        return max(self.end - self.begin, 0.0)

    def within(self, other: Span) -> Span:
        return Span(max(self.begin, other.begin), min(self.end, other.end))

    def moved(self, by: float) -> Span:
        return Span(self.begin + by, self.end + by)


@dataclass(frozen=True)
class Outside:
    """A time outside MPI, and the function that was called then."""

    span: Span
    then: str
    site: int  #: of that call


@dataclass(frozen=True)
class Waited:
    """A wait for what was issued at `posted`; `entry` of the record names site and target."""

    span: Span
    entry: int
    posted: float


@dataclass(frozen=True)
class Compared:
    """What is to be added to times of one rank to have them on another's clock, and how sure
    that is."""

    shift: float
    give_or_take: float


class Moments:
    """The sample of one record."""

    def __init__(self, told: table.Moments, host: str, functions: dict[int, str]) -> None:
        sample = told.sample
        self.host = host
        self.time_of_day = told.realtime_ns  #: less that of the moments
        self.slot = max(sample.slot_ns, LEAST_SLOT)
        self.one_in = max(sample.one_in, 1)
        self.outside = sorted(
            (
                Outside(Span(began, began + length), functions.get(site, "?"), int(site))
                for began, length, site in sample.outside[:MOST_ROWS]
            ),
            key=lambda one: one.span.end,
        )
        self.ends = [one.span.end for one in self.outside]
        self.waits = [
            Waited(Span(began, began + length), entry, began - before)
            for began, length, entry, before in sample.waits[:MOST_ROWS]
        ]
        #: exclusive locks of these ranks' windows, in their order
        self.held: dict[int, list[Span]] = {}
        for began, length, target in sorted(sample.held[:MOST_ROWS]):
            self.held.setdefault(target, []).append(Span(began, began + length))
        self.meetings = {
            which: Span(entered, entered + took)
            for which, entered, took in told.meetings[:MOST_ROWS]
        }

    def kept(self, span: Span) -> list[Span]:
        """The parts of a time that are in the sample."""
        if self.one_in == 1:
            return [span]
        step = self.slot * self.one_in
        first = int(span.begin // step)
        slots = (
            Span(at * step, at * step + self.slot).within(span)
            for at in range(first, min(int(span.end // step), first + MOST_ROWS) + 1)
        )
        return [slot for slot in slots if slot.length > 0]

    def outside_in(self, span: Span) -> Sequence[Outside]:
        """Times outside MPI that end in this one, in their order."""
        return self.outside[bisect_left(self.ends, span.begin) : bisect_right(self.ends, span.end)]

    def held_before(self, target: int, moment: float) -> Span | None:
        """The last lock of a rank's window that it held before a moment, and perhaps then."""
        spans = self.held.get(target, [])
        at = bisect_left(spans, moment, key=lambda one: one.begin)
        return spans[at - 1] if at else None

    def outside_at(self, moment: float) -> Outside | None:
        """The one that goes on at a moment."""
        at = bisect_right(self.ends, moment)
        if at < len(self.outside) and self.outside[at].span.begin <= moment:
            return self.outside[at]
        return None


def compare(one: Moments, other: Moments, moment: float) -> Compared | None:
    """How to bring times of `other` to the clock of `one`, about a moment of that; None: they
    were never seen together."""
    if one.host and one.host == other.host:
        return Compared(0.0, 0.0)
    common = sorted(
        one.meetings.keys() & other.meetings.keys(),
        key=lambda which: abs(one.meetings[which].end - moment),
    )[:NEAR_BOUNDS]
    told = other.time_of_day - one.time_of_day
    has_time_of_day = one.time_of_day > 0 < other.time_of_day
    if not common:
        return Compared(told, UNCHECKED) if has_time_of_day else None
    pairs = [(one.meetings[which], other.meetings[which]) for which in common]
    left = [mine.end - theirs.end for mine, theirs in pairs[:NEAR]]
    least = max(mine.begin - theirs.end for mine, theirs in pairs) - SAME
    most = min(mine.end - theirs.begin for mine, theirs in pairs) + SAME
    shift = median(left)
    apart = median(abs(each - shift) for each in left) if len(left) > 2 else (most - least) / 2
    if has_time_of_day and least <= told <= most and apart > TIME_OF_DAY:
        return Compared(told, TIME_OF_DAY)
    # One that always comes last, and leaves at once, seems to be ahead by what the other's leaving
    # takes: no more than what is certain.
    certain = min(max(shift, min(least, most)), max(least, most))
    return Compared(certain, max(apart, 0.0) + abs(shift - certain) + SAME)
