# SPDX-License-Identifier: BSD-3-Clause
"""What those for whom a rank waited did meanwhile, wait by wait.

Sums (causes.py) do not tell of ranks that are late in turns: over the run each computes as long as
the other. So the moments that records keep (moments.py) are laid over one another: a wait is for
its partner's lateness until the partner, having computed or waited elsewhere, makes the call that
was waited for, as Scalasca's late sender, late receiver and wait at a collective are. If the
partner had posted its part before and computes on, what is missing is progress.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from headway.record import endings, table
from headway.record.table import Record
from headway.records import NS
from headway.report.causes import Exchange, Key, Rank
from headway.report.found import Came, Found
from headway.report.moments import MOST_ROWS, Compared, Moments, Outside, Span, compare
from headway.report.recorded import LEAST_SIZE_CLASS, Recorded, functions_of, moments_of
from headway.report.spots import DOORS, NOWHERE, Spot

#: clocks that are known no better than this part of a wait do not tell what came first
SURE = 0.25
#: a wait that is not in the sample of the partner, but for this part, is not judged by what is not
#: there
WHOLE = 0.9
#: so many pairs of a wait and a partner are looked at, in all
MOST_LOOKS = 60_000


@dataclass(frozen=True)
class Awaited:
    """A wait of the sample."""

    span: Span
    exchange: Exchange


@dataclass(frozen=True)
class Done:
    """What a rank gave or took was complete at a moment, and had been posted; None: not known."""

    at: float
    posted: float | None


class Sample:
    """The moments of one record, by call sites."""

    def __init__(self, rank: Rank, record: Record, told: table.Moments) -> None:
        self.rank = rank
        self.moments = Moments(told, record.host, functions_of(record))
        self.is_complete = endings.is_complete(record)
        self.is_one_thread = told.threads <= 1
        self.awaited = sorted(
            (
                Awaited(Span(began, began + took), exchange)
                for began, took, ident in told.sample.awaited[:MOST_ROWS]
                if (exchange := rank.by_id.get(ident)) is not None
            ),
            key=lambda one: one.span.end,
        )

    @cached_property
    def last(self) -> float:
        """The last moment of a record that a rank did not end: of later ones it does not tell."""
        if self.is_complete:
            return math.inf
        ends = (*self.moments.ends[-1:], *self.ends[-1:])
        return max(ends, default=-math.inf)

    def spot_after(self, one: Outside) -> Spot:
        return self.rank.spots.get(one.site, NOWHERE)

    @cached_property
    def towards(self) -> dict[tuple[str, int], set[Spot]]:
        """By way and partner: where this rank gives it something, or takes it."""
        found: dict[tuple[str, int], set[Spot]] = defaultdict(set)
        for one in self.rank.exchanges.values():
            if one.partner is not None:
                found[one.way, one.partner].add(one.spot)
                if one.both_s > 0:
                    found["to", one.partner].add(one.spot)
        return found

    def elsewhere(self, span: Span, other: int) -> list[Span]:
        """Waits that end in this time, and were not for that rank."""
        return [one.span for one in self.ending_in(span) if self.is_for_others(one.exchange, other)]

    def ending_in(self, span: Span) -> Sequence[Awaited]:
        ends = self.ends
        return self.awaited[bisect_right(ends, span.begin) : bisect_right(ends, span.end)]

    @cached_property
    def ends(self) -> list[float]:
        return [one.span.end for one in self.awaited]

    @staticmethod
    def is_for_others(exchange: Exchange, rank: int) -> bool:
        if exchange.partner is not None:
            return exchange.partner != rank
        return exchange.group is not None and rank not in exchange.members

    def done_with(self, span: Span, awaited: set[Spot], ends: Sequence[Outside]) -> list[Done]:
        """When in a span this rank leaves, or enters having posted before, a call that completes
        what was awaited, in their order: then it has nothing to do with the wait any more."""
        done = [
            Done(one.span.end, self.posted_before(one, awaited))
            for one in self.ending_in(span)
            if one.exchange.spot in awaited
        ]
        done += [
            Done(one.span.end, self.last_post(one.span.end, awaited))
            for one in ends
            if one.then.startswith(DOORS) and self.spot_after(one) in awaited
        ]
        return sorted(done, key=lambda one: one.at)

    def posted_before(self, one: Awaited, awaited: set[Spot]) -> float | None:
        """When it was posted what a call completed: by the call itself, or before."""
        if one.exchange.spot.is_door:
            return self.last_post(one.span.begin, awaited)
        return one.span.begin

    def last_post(self, moment: float, awaited: set[Spot]) -> float | None:
        """The last time before a moment that one of these calls posted something; None: since a
        door was last entered there was none after a time outside MPI."""
        ends = self.moments.ends
        for one in reversed(self.moments.outside[: bisect_left(ends, moment)]):
            if is_post(one) and self.spot_after(one) in awaited:
                return one.span.end
            if one.then.startswith(DOORS):
                return None
        return None

    def completed_before(self, wait: Awaited) -> float | None:
        """When this rank last waited for the same before."""
        each = self.by_exchange.get(wait.exchange.key, [])
        at = bisect_right(each, wait.span.begin)
        return each[at - 1] if at else None

    @cached_property
    def by_exchange(self) -> dict[Key, list[float]]:
        """The ends of waits."""
        found: dict[Key, list[float]] = defaultdict(list)
        for one in self.awaited:
            found[one.exchange.key].append(one.span.end)
        return found


class Meanwhile:
    """The waits of a run, as far as records keep moments of them."""

    def __init__(self, run: Recorded, ranks: dict[int, Rank]) -> None:
        each = {run.rank_of(index): record for index, record in enumerate(run.records)}
        self.samples = {
            rank: Sample(read, each[rank], told)
            for rank, read in ranks.items()
            if (told := moments_of(each[rank])) is not None
        }

    def of(self, rank: int, spot: Spot) -> Found | None:
        """None: of no wait there is known what its partners did. In large runs waits of other
        ranks stand for a rank of which none was looked at."""
        found = self.all.get((rank, spot))
        return found or (self.by_spot.get(spot) if rank in self.samples else None)

    @cached_property
    def by_spot(self) -> dict[Spot, Found]:
        """What ranks show together, where not every rank's waits were looked at."""
        found: dict[Spot, Found] = defaultdict(Found)
        for (_, spot), one in self.all.items():
            if self.one_in.get(spot, 1) > 1:
                found[spot].merge(one)
        return found

    @cached_property
    def one_in(self) -> dict[Spot, int]:
        """So many waits have one that is looked at, by call site; none where that is all. Each has
        its share of MOST_LOOKS: a collective of a large communicator leaves enough to others."""
        pairs: dict[Spot, int] = defaultdict(int)
        for rank, sample in self.samples.items():
            count: dict[Key, int] = {}
            for one in sample.awaited:
                key = one.exchange.key
                if key not in count:
                    count[key] = len(self.partners_of(rank, one.exchange))
                pairs[one.exchange.spot] += count[key]
        if sum(pairs.values()) <= MOST_LOOKS:
            return {}
        return {spot: -(-count * len(pairs) // MOST_LOOKS) for spot, count in pairs.items()}

    @cached_property
    def all(self) -> dict[tuple[int, Spot], Found]:
        before: dict[Spot, int] = defaultdict(int)  # waits there, of all ranks
        found: dict[tuple[int, Spot], Found] = defaultdict(Found)
        for rank, sample in self.samples.items():
            by_spot: dict[Spot, list[Awaited]] = defaultdict(list)
            for one in sample.awaited:
                by_spot[one.exchange.spot].append(one)
            for spot, waits in by_spot.items():
                each = max(self.one_in.get(spot, 1), 1)
                for one in waits[-before[spot] % each :: each]:
                    self.look(rank, one, found[rank, spot])
                before[spot] += len(waits)
        return {key: one for key, one in found.items() if one.looks}

    def partners_of(self, rank: int, exchange: Exchange) -> list[tuple[int, str]]:
        """For whom a wait may have been, and which way; none where that is not known."""
        if exchange.partner is not None:
            return [(exchange.partner, exchange.way)]
        if exchange.group is not None:
            return [(one, "") for one in exchange.members if one != rank]
        if exchange.unknown_s > 0:
            return []
        shared = (
            one
            for one in self.samples[rank].rank.exchanges.values()
            if one.spot == exchange.spot and one.shared_s > 0
        )
        found = [(one.partner, one.way) for one in shared]
        known = [(one, way) for one, way in found if one is not None]
        return known if len(known) == len(found) else []

    def look(self, rank: int, wait: Awaited, found: Found) -> None:
        """Adds one wait to what was found, if all for whom it may have been are known."""
        partners = self.partners_of(rank, wait.exchange)
        if any(self.is_beyond(rank, wait, partner) for partner, _ in partners):
            found.beyond += wait.span.length * NS
            return
        each = [self.came(rank, wait, partner, way) for partner, way in partners]
        known = [one for one in each if one is not None]
        if not known or len(known) < len(each):
            return
        last, weight = max(known, key=lambda pair: pair[0].late + pair[0].unready)
        found.looks += 1
        found.partners = max(found.partners, len(partners))
        found.add(last, wait.span.length, weight)

    def is_beyond(self, rank: int, wait: Awaited, partner: int) -> bool:
        """Whether a wait began after the last moment of a partner's record."""
        ours, theirs = self.samples[rank], self.samples.get(partner)
        if theirs is None or theirs.is_complete:
            return False
        compared = compare(ours.moments, theirs.moments, wait.span.end)
        return compared is not None and wait.span.begin - compared.shift > theirs.last

    def came(self, rank: int, wait: Awaited, partner: int, way: str) -> tuple[Came, float] | None:
        """When a partner came, and the part of the wait that the samples of both have."""
        if (
            partner == rank
        ):  # the root of a collective: whatever it waits for, it is not late itself
            return Came(0.0, 0.0, partner, computing=False, then=NOWHERE), 1.0
        ours, theirs = self.samples[rank], self.samples.get(partner)
        if theirs is None or not (ours.is_one_thread and theirs.is_one_thread):
            return None
        compared = compare(ours.moments, theirs.moments, wait.span.end)
        if compared is None or compared.give_or_take > SURE * wait.span.length:
            return None
        reach = wait.span.moved(-compared.shift)
        seen = sum(part.length for part in theirs.moments.kept(reach)) / wait.span.length
        came = self.arrival(rank, wait, theirs, partner, way, compared)
        if came is None or not seen or (seen < WHOLE and not came.late):
            return None
        return came, min(seen, 1.0)

    def arrival(
        self,
        rank: int,
        wait: Awaited,
        theirs: Sample,
        partner: int,
        way: str,
        compared: Compared,
    ) -> Came | None:
        """None: of the messages of two waits it is not known which is whose."""
        reach = wait.span.moved(-compared.shift)  # on the partner's clock
        reach = Span(reach.begin, reach.end + compared.give_or_take)
        ends = theirs.moments.outside_in(reach)
        awaited = self.awaited_calls(rank, wait.exchange, theirs, way)
        if way:
            done = theirs.done_with(reach, awaited, ends)
            until = self.done_at(rank, wait, done, last_of(ends, theirs, awaited), compared)
            if until is None:
                return None
            reach = Span(reach.begin, min(until, reach.end))
            ends = [one for one in ends if one.span.end <= reach.end]
        made = next(
            (one for one in ends if is_post(one) and theirs.spot_after(one) in awaited), None
        )
        last = made or next((one for one in reversed(ends) if is_post(one)), None)
        until, computing = (last.span.end, True) if last else (reach.begin, False)
        then = theirs.spot_after(last) if last else NOWHERE
        if made is None:
            for span in theirs.elsewhere(reach, rank):
                if span.end > until:
                    until, computing, then = span.end, False, NOWHERE
        unready = sum(
            one.span.within(Span(until, reach.end)).length for one in ends if not is_post(one)
        )
        return Came(
            max(until - reach.begin, 0.0),
            unready,
            partner,
            computing,
            then,
            made is not None,
            compared.give_or_take,
        )

    def done_at(
        self, rank: int, wait: Awaited, done: Sequence[Done], posted: float, compared: Compared
    ) -> float | None:
        """The moment from which the partner has nothing to do with a wait, on its clock. If it
        posts another such message after one was complete and before the wait is over, that may be
        the one waited for. It is where the message is small: it would have come with the first. A
        large one may still be on its way. None: that is not known, for what was complete had been
        posted before the wait for the one before was over."""
        is_small = wait.exchange.size_class < LEAST_SIZE_CLASS
        completed = self.samples[rank].completed_before(wait)
        before = completed - compared.shift - compared.give_or_take if completed else -math.inf
        first = next((one for one in done if not is_small or one.at >= posted), None)
        if first is None:
            return math.inf
        is_old = first.at < posted and first.posted is not None and first.posted < before
        return None if is_old else first.at

    @staticmethod
    def awaited_calls(rank: int, exchange: Exchange, theirs: Sample, way: str) -> set[Spot]:
        """Calls of the partner that such a wait is for."""
        if not way:
            return {exchange.spot}
        other = theirs.towards.get(("to" if way == "from" else "from", rank), set())
        return {*other, exchange.spot} if exchange.spot.is_rooted else other


def last_of(ends: Sequence[Outside], theirs: Sample, awaited: set[Spot]) -> float:
    """When one of these calls last posted something."""
    posts = (one.span.end for one in ends if is_post(one) and theirs.spot_after(one) in awaited)
    return max(posts, default=-math.inf)


def is_post(one: Outside) -> bool:
    """Whether what was called then is no door."""
    return not one.then.startswith(DOORS)
