# SPDX-License-Identifier: BSD-3-Clause
"""Why a rank waited where no wire tells: from what its partners did, by the records of all ranks.

What a partner computed, or waited, longer between two of their messages than the one that waits for
it, it was late by (causes.py). Of what is left of a wait nothing is known where a network may move
bytes by itself. Within a node it cannot: there bytes are copied by processes, while they are in
MPI. So while both had posted and computed nothing moved, and what is left of the wait, up to the
time that was computed, need not have been; the rest is the copying itself.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cached_property

from headway.record import table
from headway.records import NS, figure
from headway.report.causes import Causes, Exchange
from headway.report.found import Found
from headway.report.meanwhile import Meanwhile
from headway.report.recorded import (
    LEAST_SIZE_CLASS,
    Reasons,
    Recorded,
    Site,
    profile_of,
    waited_ns,
)
from headway.report.spots import Spot

#: of waits for nobody that is known, requests of files must account for so much
ACCOUNTED = 0.9
#: so many single waits tell how fast bytes moved once partners had come
LEAST_LOOKS = 4
#: ... for no less than this part of the waits
LEAST_MOVING = 0.05


@dataclass(frozen=True)
class Late:
    """Of a wait, seconds: what its partner did longer, and of what it computed all the time that it
    had posted its part."""

    late: float
    pending: float
    partners: frozenset[int]
    is_taker: bool  #: it was to take: what it computed with its part posted it is late by as well


@dataclass
class Told:
    """Of the waits at one call site of a rank, seconds."""

    whole: float
    known: float = 0.0  #: for partners whose records tell
    late: float = 0.0  #: for partners that were late
    unposted: float = 0.0  #: of these, before they had posted their part
    pending: float = 0.0  #: partners computed, their part posted; at most the rest of the waits
    is_within: bool = True  #: all of them are on the rank's node
    is_seen: bool = False  #: known from single waits


class Partners:
    """What the records of a run tell of those for whom its ranks waited."""

    def __init__(self, run: Recorded) -> None:
        self.run = run
        self.causes = Causes(run)
        self.told: dict[tuple[int, Spot], Told | None] = {}

    @cached_property
    def hosts(self) -> dict[int, str]:
        return {
            self.run.rank_of(index): record.host for index, record in enumerate(self.run.records)
        }

    @cached_property
    def on_tcp(self) -> set[int]:
        """Ranks whose waits show that their bytes go over TCP, wherever to."""
        return {
            self.run.rank_of(index)
            for index, record in enumerate(self.run.records)
            if profile_of(record).wire_bytes_per_s > 0
        }

    @cached_property
    def meanwhile(self) -> Meanwhile:
        return Meanwhile(self.run, self.causes.ranks)

    def of(self, rank: int, spot: Spot) -> Told | None:
        """None: nothing is known."""
        if (rank, spot) not in self.told:
            self.told[rank, spot] = self.find(rank, spot) if self.causes.is_recorded else None
        return self.told[rank, spot]

    def find(self, rank: int, spot: Spot) -> Told | None:
        record = self.causes.ranks.get(rank)
        waits = [one for one in record.exchanges.values() if one.spot == spot] if record else []
        own = self.hosts.get(rank, "")
        told = Told(sum(one.wait_s for one in waits))
        if told.whole and (seen := self.meanwhile.of(rank, spot)):
            return self.seen(rank, waits, told.whole, seen)
        for one in waits:
            found = self.late_in(rank, one) if one.wait_s > 0 else None
            if found is None:
                continue
            late = min(found.late, one.wait_s)
            unposted = max(late - found.pending, 0.0) if found.is_taker else late
            told.known += one.wait_s
            told.late += late
            told.unposted += unposted
            told.pending += min(found.pending, one.wait_s - unposted)
            told.is_within &= bool(own) and all(self.hosts.get(p) == own for p in found.partners)
        return told if told.known else None

    def seen(self, rank: int, waits: list[Exchange], whole: float, seen: Found) -> Told:
        """The same of single waits that were looked at, which stand for all."""
        partners = {one for wait in waits for one, _ in self.meanwhile.partners_of(rank, wait)}
        known = seen.known_share * whole
        own, late = self.hosts.get(rank, ""), seen.late_share * known
        is_within = bool(own) and all(self.hosts.get(one) == own for one in partners)
        pending = seen.unready_share * known
        return Told(whole, known, late, late, pending, is_within, is_seen=True)

    def late_in(self, rank: int, wait: Exchange) -> Late | None:
        """What those did for whom one wait was; None: that is not known."""
        if wait.group is not None:
            last = self.causes.last_of(rank, wait)
            if last.partner is None or not last.account.is_known:
                return None
            return Late(last.account.seconds, 0.0, frozenset(wait.members), is_taker=False)
        ones = [wait] if wait.partner is not None else self.causes.several_of(rank, wait)
        found = [
            self.late_partner(rank, one, one.partner, wait.times)
            for one in ones or []
            if one.partner in self.causes.ranks and one.partner is not None
        ]
        known = [one for one in found if one is not None]
        if not known or len(known) < len(found):
            return None
        latest = max(known, key=lambda one: one.late + one.pending)
        return replace(latest, partners=frozenset().union(*(one.partners for one in known)))

    def late_partner(self, rank: int, one: Exchange, partner: int, waits: float) -> Late | None:
        account = self.causes.account(rank, partner, one)
        if not account.is_known:
            return None
        spots = {theirs.spot for theirs in self.causes.towards(partner, rank, one)}
        pending = sum(self.pending_of(partner, spot) for spot in spots) * waits
        return Late(account.seconds, pending, frozenset({partner}), is_taker=one.way == "to")

    def pending_of(self, rank: int, spot: Spot) -> float:
        """What a rank computed while one of its requests was pending, that it posted there or
        completed there; a mean, s."""
        ours = [site.ranks[rank] for site in self.sites.get(spot, []) if rank in site.ranks]
        key = "calls" if spot.is_door else "completed"
        count = sum(figure(one, key) for one in ours)
        return sum(one.computed_ns for one in ours) * NS / count if count else 0.0

    @cached_property
    def sites(self) -> dict[Spot, list[Site]]:
        found: dict[Spot, list[Site]] = {}
        for site in self.run.sites:
            found.setdefault(Spot(str(site.place), site.function), []).append(site)
        return found

    @cached_property
    def told_rate(self) -> float:
        """Bytes a second one way: what moved in waits for one partner each, over the time from when
        it came. The rate that ranks see is of whole waits, too slow where each of them was for
        somebody late. 0: nothing is known."""
        doors: dict[tuple[int, Spot], list[table.Site]] = defaultdict(list)
        for site in self.run.sites:
            if site.is_door:
                for rank, one in site.ranks.items():
                    doors[rank, site.spot].append(one)
        return max((self.rate_after(*door, ones) for door, ones in doors.items()), default=0.0)

    def rate_after(self, rank: int, spot: Spot, ones: list[table.Site]) -> float:
        """The same of one door of a rank. Of the lateness counts what is beyond doubt: until the
        awaited call itself, as far as clocks tell, and longer than the partner computes with such a
        call pending, which may then have been the one before. Of bytes that went the other way
        count those that moved at the same time: which did not is an estimate."""
        blocked = sum(one.sampled_blocked_ns for one in ones) * NS
        moved = sum(one.moved_waiting - one.moved_alone - one.moved_in_steps for one in ones)
        seen = self.meanwhile.all.get((rank, spot)) if moved > 0 and blocked else None
        if seen is None or seen.looks < LEAST_LOOKS or seen.partners != 1:
            return 0.0
        pending = self.pending_towards(rank, spot) * seen.looks
        late = seen.awaited - seen.give_or_take - pending
        if late <= 0.0:
            return 0.0
        return moved / (blocked * max(1.0 - late / seen.whole, LEAST_MOVING))

    def pending_towards(self, rank: int, spot: Spot) -> float:
        """What a partner computes while what it posted for such a wait is pending; a mean, s."""
        samples = self.meanwhile.samples
        return max(
            (
                self.pending_of(partner, theirs)
                for wait in self.causes.ranks[rank].exchanges.values()
                if wait.spot == spot
                for partner, way in self.meanwhile.partners_of(rank, wait)
                if partner in samples
                for theirs in self.meanwhile.awaited_calls(rank, wait, samples[partner], way)
                if not theirs.is_door
            ),
            default=0.0,
        )

    def check(self, reasons: Reasons, rank: int, site: Site) -> Reasons:
        """The same with no more for late partners than what these did longer, wait by wait. In the
        rest the wire was not full, though all had posted: it went as what moved did."""
        seen = self.meanwhile.of(rank, site.spot)
        if seen is None or not reasons.looks:
            return reasons
        whole = reasons.no_progress + reasons.bandwidth + reasons.late
        late = min(reasons.late, seen.late_share * whole)
        rest, moved = reasons.late - late, reasons.no_progress + reasons.bandwidth
        share = reasons.no_progress / moved if moved else 0.0
        return replace(
            reasons,
            late=late,
            no_progress=reasons.no_progress + share * rest,
            bandwidth=reasons.bandwidth + (1.0 - share) * rest,
        )

    def accessed(self, reasons: Reasons, rank: int, spot: Spot) -> Reasons:
        """The same with what is not known put down to files, as far as it was for them."""
        files = reasons.unknown * self.files_share(rank, spot) if reasons.unknown else 0.0
        return replace(reasons, files=files, unknown=reasons.unknown - files)

    def files_share(self, rank: int, spot: Spot) -> float:
        """Of a rank's waits in a door for nobody that is known, the part that was for files; none,
        where requests of files do not account for all such waits of the rank."""
        unknown_s, files_s = self.without_partner.get(rank, ({}, 0.0))
        if not spot.is_door or files_s < ACCOUNTED * sum(unknown_s.values()):
            return 0.0
        waits = self.causes.ranks[rank].exchanges.values()
        wait_s = sum(one.wait_s for one in waits if one.spot == spot)
        return unknown_s.get(spot, 0.0) / wait_s if wait_s else 0.0

    @cached_property
    def without_partner(self) -> dict[int, tuple[dict[Spot, float], float]]:
        """By rank: what it waited in doors for nobody that is known, and what it waited for
        requests of files; s."""
        found: dict[int, tuple[dict[Spot, float], float]] = {}
        files: dict[int, float] = defaultdict(float)
        for site in self.run.sites:
            for rank, one in site.ranks.items() if site.spot.is_for_files else ():
                files[rank] += one.blocked_ns * NS
        for rank, files_s in files.items():
            unknown: dict[Spot, float] = defaultdict(float)
            for wait in self.causes.ranks[rank].exchanges.values():
                if wait.spot.is_door:
                    unknown[wait.spot] += wait.unknown_s
            found[rank] = unknown, files_s
        return found

    def explain(self, reasons: Reasons, rank: int, site: Site, one: table.Site) -> Reasons:
        """The same with what is not known from the wire, of one door of a rank, divided."""
        told = self.of(rank, Spot(str(site.place), site.function))
        if not reasons.unknown or told is None:
            return reasons
        unknown = reasons.unknown
        part = unknown / told.whole
        known, late = told.known * part, told.late * part
        went_elsewhere = rank not in self.on_tcp or one.unseen_ns > 0
        is_large = site.size_class >= LEAST_SIZE_CLASS
        no_progress = copying = 0.0
        if told.is_within and went_elsewhere and is_large:
            late = told.unposted * part
            waited = waited_ns(one) * NS
            computed = one.computed_ns * NS * (known / waited if waited else 0.0)
            no_progress = min(known - late, max(computed, told.pending * part))
            copying = known - late - no_progress
        # All had come, and the message is too small for progress or the wire to matter.
        message = known - late if told.is_seen and not is_large else 0.0
        found = late + no_progress + copying + message
        return replace(
            reasons,
            no_progress=reasons.no_progress + no_progress,
            bandwidth=reasons.bandwidth + copying,
            late=reasons.late + late,
            transfer=reasons.transfer + message,
            unknown=unknown - found,
            within=no_progress,
            told=found,
        )
