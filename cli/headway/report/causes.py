# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks came late, and what they did meanwhile: waits followed over the records of all ranks.

A rank waits for a partner because the partner computed longer between two of their messages, or
because it waited longer itself (src/profile/waits/delays.h: what a record holds of that). So a
wait is put down to what the partner did, and where the partner waited, to its own, until a rank is
found that computed. What the records do not show is said to be not shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from headway import records
from headway.record import table
from headway.record.table import Record
from headway.records import NS, figure
from headway.report.recorded import Recorded, profile_of, sites_of
from headway.report.spots import DOORS, NOWHERE, ROOTED, SPINS, Spot

#: what a partner did must account for this part of a wait to be called its cause
ENOUGH = 0.5
#: ... and where it is less than this, nobody was late
NOBODY = 0.1
#: a wait for all of a communicator is for the rank that waited there less than this part of it
LAST_SHARE = 0.5
#: partners, and exchanges, that are not known are no matter up to this part of a sum
UNKNOWN_SHARE = 0.1
#: waits shorter than this part of the run are not worth a line
WORTH = 0.01
#: chains longer than this are cut
MOST_STEPS = 16
#: collectives that end when the last rank has come: who came last waits least
UNTIL_LAST = ("Barrier", "All", "Reduce_scatter", "Iall", "Ibarrier", "Ireduce_scatter")
POSTS = ("I", "Start")
PROBES = ("Probe", "Mprobe", *SPINS)


#: where a rank computed: from leaving one call to entering another
Gap = tuple[Spot, Spot]


#: what an exchange sums up, and what the record calls it
SECONDS = {
    "wait_s": "wait_ns",
    "shared_s": "shared_ns",
    "unknown_s": "unknown_ns",
    "both_s": "both_ns",
    "computed_s": "before_gap_ns",
    "waited_s": "before_wait_ns",
}
COUNTS = {"times": "waits", "looks": "looks", "lost": "lost"}


#: what makes exchanges one: call site, way, partner, communicator
Key = tuple[Spot, str, int | None, tuple[str, int, str] | None]


@dataclass
class Exchange:
    """A call site of one rank: with one partner one way, all of a communicator, or several."""

    spot: Spot
    way: str = ""  #: "to" a partner, "from" one, or neither
    partner: int | None = None
    members: tuple[int, ...] = ()
    group: tuple[str, int, str] | None = None  #: of a communicator: name, size, ranks
    tags: set[int | None] = field(default_factory=set)
    size_class: int = 0  #: of the largest
    wait_s: float = 0.0
    shared_s: float = 0.0  #: time in which this partner was one of several
    times: float = 0.0  #: it waited
    unknown_s: float = 0.0  #: of wait_s, where some partner is not known
    both_s: float = 0.0  #: of wait_s, in doors that completed something each way
    looks: float = 0.0
    lost: float = 0.0  #: looks that found nothing to count from
    computed_s: float = 0.0  #: before it gave or took, since it last did
    waited_s: float = 0.0
    gaps: dict[Gap, float] = field(default_factory=lambda: defaultdict(float))  #: of computed_s
    waits: dict[Key, float] = field(default_factory=lambda: defaultdict(float))  #: of waited_s

    @property
    def key(self) -> Key:
        return self.spot, self.way, self.partner, self.group

    def add(self, other: Exchange) -> None:
        self.tags |= other.tags
        self.size_class = max(self.size_class, other.size_class)
        for name in (*SECONDS, *COUNTS):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def waited_but_for(self, rank: int) -> float:
        """Of what it waited before, what was not for that rank."""
        own = sum(seconds for key, seconds in self.waits.items() if key[2] == rank)
        return max(self.waited_s - own, 0.0)

    def may_match(self, other: Exchange) -> bool:
        """Whether messages of the two may be the same; a tag that is not known may be any."""
        return bool(self.tags & other.tags) or None in self.tags | other.tags


@dataclass(frozen=True)
class Step:
    """One rank of a chain, and what it did while the one before it waited."""

    rank: int | None  #: None: not shown
    how: str  #: how the rank is known, if not as the partner of the call
    spot: Spot | None = None  #: it waited here ...
    gap: Gap | None = None  #: ... or computed here,
    seconds: float = 0.0  #: so long in the whole run,
    more_s: float = 0.0  #: so much longer than the other ranks' mean


@dataclass(frozen=True)
class Cause:
    """A wait, and what it was for."""

    rank: int
    spot: Spot
    seconds: float
    ranks: int  #: so many ranks waited there in the same way
    steps: tuple[Step, ...]
    why_not: str = ""  #: why there are no more steps
    told: str = ""  #: what single waits show, where steps do not

    @property
    def root(self) -> Step | None:
        """The rank that computed, if it is shown."""
        last = self.steps[-1] if self.steps else None
        return last if last and last.gap else None


def index_of(value: int | None) -> int:
    """-1 where there is none."""
    return -1 if value is None else value


@cache
def members_of(text: str) -> tuple[int, ...]:
    """The ranks of "0-3,7"; none where the record cuts them short, or where it is no such text."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > 20:
            return ()
        begin, end = int(first), int(last or first)
        if end - begin > 1_000_000:
            return ()
        found += range(begin, end + 1)
    return tuple(found)


class Rank:
    """What one record says of gaps and exchanges."""

    def __init__(self, run: Recorded, record: Record) -> None:
        profile = profile_of(record)
        self.spots = {
            one.id: Spot(str(run.places.of(one)), one.function.removesuffix("_c"))
            for one in sites_of(record)
        }
        self.sizes = {one.id: one.size_class for one in sites_of(record)}
        #: seconds that requests were waited for, by the function that posted them
        self.posted_s: dict[str, float] = defaultdict(float)
        for one in sites_of(record):
            if one.completed and not one.function.startswith(DOORS):
                self.posted_s[one.function.removesuffix("_c")] += one.blocked_ns * NS
        #: persistent operations that it made
        self.made = {
            one.function.removesuffix("_c") for one in sites_of(record) if "_init" in one.function
        }
        groups = [(one.name, one.size, one.ranks) for one in profile.communicators]
        self.gaps: dict[Gap, float] = defaultdict(float)
        self.exchanges: dict[Key, Exchange] = {}
        self.by_id: dict[int, Exchange] = {}
        gap_of = self.read_gaps(profile, self.spots)
        self.read_exchanges(profile, self.spots, groups, gap_of)

    def read_gaps(self, profile: table.Profile, spots: dict[int, Spot]) -> dict[int, Gap]:
        """By their ids."""
        gap_of: dict[int, Gap] = {}
        for one in profile.gaps:
            gap = (
                spots.get(index_of(one.from_), NOWHERE),
                spots.get(index_of(one.to), NOWHERE),
            )
            gap_of[one.id] = gap
            self.gaps[gap] += one.ns * NS
        return gap_of

    def read_exchanges(
        self,
        profile: table.Profile,
        spots: dict[int, Spot],
        groups: list[tuple[str, int, str]],
        gap_of: dict[int, Gap],
    ) -> None:
        """Those of one call site and partner as one, whatever their sizes."""
        read = {one.id: (one, self.exchange(one, spots, groups)) for one in profile.exchanges}
        keys = {ident: exchange.key for ident, (_, exchange) in read.items()}
        for one, exchange in read.values():
            exchange.size_class = self.sizes.get(index_of(one.site), 0)
            merged = self.exchanges.setdefault(exchange.key, exchange)
            if merged is not exchange:
                merged.add(exchange)
            self.by_id[one.id] = merged
            for part in one.before:
                seconds = part.ns * NS
                if index_of(part.gap) in gap_of:
                    merged.gaps[gap_of[index_of(part.gap)]] += seconds
                elif index_of(part.exchange) in keys:
                    merged.waits[keys[index_of(part.exchange)]] += seconds

    @staticmethod
    def exchange(
        one: table.Exchange, spots: dict[int, Spot], groups: list[tuple[str, int, str]]
    ) -> Exchange:
        found = Exchange(spots.get(index_of(one.site), NOWHERE))
        for way, partner in (("to", one.to), ("from", one.from_)):
            if partner is not None:
                found.way, found.partner = way, partner
        at = index_of(one.communicator)
        if found.partner is None and 0 <= at < len(groups):
            found.group = groups[at]
            found.members = members_of(groups[at][2])
        found.tags = {one.tag}
        for name, key in SECONDS.items():
            setattr(found, name, figure(one, key) * NS)
        for name, key in COUNTS.items():
            setattr(found, name, figure(one, key))
        return found

    def with_partner(self, way: str, rank: int, like: Exchange) -> list[Exchange]:
        """Exchanges this way, whose messages may be those of another exchange."""
        found = (one for one in self.exchanges.values() if one.partner == rank)
        return [one for one in found if one.way == way and one.may_match(like)]

    def with_all(self, like: Exchange, rank: int) -> list[Exchange]:
        """Exchanges at the same call site with a communicator this rank is in; of one that
        completes requests those at the sites that may have posted them."""
        if like.spot.is_door:
            posted = POSTS if like.group is not None else ROOTED
            every = self.exchanges.values()
            found = (one for one in every if one.spot.function.startswith(posted))
        else:
            found = (one for one in self.exchanges.values() if one.spot == like.spot)
        return [one for one in found if rank in one.members and like.members in ((), one.members)]


@dataclass(frozen=True)
class Account:
    """What a partner did longer than who waited for it, since they were together."""

    computed_s: float
    waited_s: float
    is_known: bool = True

    @property
    def seconds(self) -> float:
        return self.computed_s + self.waited_s


@dataclass(frozen=True)
class Awaited:
    """For whom a rank waited; None and the reason where that is not shown."""

    partner: int | None
    how: str
    account: Account
    exchange: Exchange | None  #: with this partner


def nobody(why: str) -> Awaited:
    return Awaited(None, why, Account(0.0, 0.0), None)


class Causes:
    """The waits of a run, each followed as far as the records go."""

    def __init__(self, run: Recorded) -> None:
        self.run = run
        #: what was asked for before: every rank asks
        self.least: dict[tuple[tuple[int, ...], Spot | None], tuple[int, float] | None] = {}

    @cached_property
    def ranks(self) -> dict[int, Rank]:
        return {
            self.run.rank_of(index): Rank(self.run, record)
            for index, record in enumerate(self.run.records)
        }

    @cached_property
    def is_recorded(self) -> bool:
        """False for records of a library that did not keep this."""
        return any(profile_of(record).exchanges for record in self.run.records)

    @cached_property
    def has_targets(self) -> bool:
        """Whether the records tell for which targets one-sided waits were."""
        return any(profile_of(record).one_sided for record in self.run.records)

    def longest(self) -> list[Cause]:
        """The longest wait of each call site, the longest first."""
        waits: dict[Spot, tuple[float, int, Exchange]] = {}
        count: dict[Spot, set[int]] = defaultdict(set)
        for rank, record in self.ranks.items():
            for one in record.exchanges.values():
                if one.wait_s <= WORTH * self.run.wall or one.spot == NOWHERE:
                    continue
                if one.spot.is_for_files or (one.spot.is_one_sided and self.has_targets):
                    continue
                count[one.spot].add(rank)
                if one.wait_s > waits.get(one.spot, (0.0,))[0]:
                    waits[one.spot] = (one.wait_s, rank, one)
        causes = []
        for spot, (seconds, rank, exchange) in waits.items():
            steps, why_not = self.follow(rank, exchange)
            cause = Cause(rank, spot, seconds, len(count[spot]), tuple(steps), why_not)
            told = self.wait_by_wait(cause)
            causes += [told] if told is not None else []
        return sorted(causes, key=lambda one: -one.seconds)

    def wait_by_wait(self, cause: Cause) -> Cause | None:
        """What sums do not show of ranks that are late in turns, single waits may. They also show
        where a rank that computed longer had sent before that. None: nobody was late."""
        found = self.run.single_waits(cause.rank, cause.spot)
        if found is None:
            return cause
        if found.late_share < NOBODY:
            return None
        if found.late_share >= ENOUGH and cause.root and cause.root.seconds:
            return cause
        if found.late_share >= ENOUGH or cause.root:
            return replace(cause, told=found.words(cause.seconds))
        late = f"{found.late_of(cause.seconds):.2f} s late in all"
        who = f"rank {cause.steps[0].rank}" if cause.steps else "others"
        rest = "the rest is for progress, or the messages themselves"
        return replace(cause, told=f"for {who}, which came {late}: {rest}")

    def follow(self, rank: int, exchange: Exchange) -> tuple[list[Step], str]:
        """The chain from this wait, and why it ends where no rank that computed ends it."""
        steps: list[Step] = []
        seen = {rank}
        while len(steps) < MOST_STEPS:
            awaited = self.partner_of(rank, exchange)
            if awaited.partner is None or awaited.exchange is None:
                return steps, awaited.how
            partner, account = awaited.partner, awaited.account
            done = self.towards(partner, rank, awaited.exchange)
            if account.seconds < ENOUGH * exchange.wait_s:
                steps.append(Step(partner, awaited.how))
                return steps, (
                    "what it did before does not account for that: the messages themselves, or "
                    "what the records do not hold"
                )
            if partner in seen and steps:
                return steps, "they waited for one another"
            if account.computed_s >= account.waited_s:
                steps.append(self.computing(partner, awaited.how, done, account.computed_s))
                return steps, ""
            longest = self.longest_before(partner, done)
            if longest is None:
                steps.append(Step(partner, awaited.how))
                return steps, "it waited itself, but where is not recorded"
            exchange = longest
            steps.append(Step(partner, awaited.how, spot=exchange.spot, seconds=exchange.wait_s))
            if partner in seen:
                return steps, "they waited for one another, and none computed longer"
            seen.add(partner)
            rank = partner
        return steps, "the chain goes on"

    def longest_before(self, rank: int, done: Iterable[Exchange]) -> Exchange | None:
        """Where a rank waited longest before these; None where that is not recorded."""
        waits: dict[Key, float] = defaultdict(float)
        for one in done:
            for key, seconds in one.waits.items():
                waits[key] += seconds
        if not waits:
            return None
        return self.ranks[rank].exchanges[max(waits, key=lambda key: waits[key])]

    def partner_of(self, rank: int, exchange: Exchange) -> Awaited:
        """For whom a rank waited."""
        if exchange.partner is not None:
            if exchange.partner not in self.ranks:
                return nobody(f"for rank {exchange.partner}, which left no record")
            account = self.account(rank, exchange.partner, exchange)
            return Awaited(exchange.partner, "", account, exchange)
        if exchange.group is not None:
            return self.last_of(rank, exchange)
        if exchange.spot.is_one_sided and self.has_targets:
            return nobody("for what is said of one-sided waits")
        return self.late_of(rank, exchange)

    def several_of(self, rank: int, exchange: Exchange) -> list[Exchange] | None:
        """Of a wait for several partners of one call site those with records; None: of others, or
        of some that nobody knows, it was in part."""
        shared = [
            one
            for one in self.ranks[rank].exchanges.values()
            if one.spot == exchange.spot and one.shared_s > 0
        ]
        several = [one for one in shared if one.partner in self.ranks]
        unknown_s = max(
            [exchange.unknown_s, *(one.shared_s for one in shared if one not in several)]
        )
        return several if unknown_s <= UNKNOWN_SHARE * exchange.wait_s else None

    def late_of(self, rank: int, exchange: Exchange) -> Awaited:
        """Of several partners of one call site the one that did most longer."""
        several = [
            one
            for one in self.ranks[rank].exchanges.values()
            if one.spot == exchange.spot and one.shared_s > 0 and one.partner in self.ranks
        ]
        if not several:
            return nobody("for whom is not recorded")
        names = sorted({one.partner for one in several if one.partner is not None})
        listed = f"rank{'s' if len(names) > 1 else ''} {', '.join(map(str, names))}"
        if self.several_of(rank, exchange) is None:
            return nobody(f"for {listed} or others; which is not shown")
        accounts = [
            (self.account(rank, one.partner, one), one)
            for one in several
            if one.partner is not None
        ]
        account, late = max(accounts, key=lambda pair: pair[0].seconds)
        if account.seconds < ENOUGH * exchange.wait_s:
            return nobody(f"for one or several of {listed}; which is not shown")
        how = f"the late one of {len(names)} partners there" if len(names) > 1 else ""
        return Awaited(late.partner, how, account, late)

    def last_of(self, rank: int, exchange: Exchange) -> Awaited:
        """Of a communicator the rank that came last: it waited least."""
        is_door = exchange.spot.is_door
        if not is_door and not exchange.spot.function.startswith(UNTIL_LAST):
            return nobody("for others of its communicator; which is not shown")
        members = exchange.members
        if not members:
            return nobody("for others of its communicator, whose ranks the records do not tell")
        key = members, None if is_door else exchange.spot
        if key not in self.least:
            self.least[key] = self.least_of(*key)
        if (found := self.least[key]) is None:
            return nobody("for others of its communicator, not all of which left a record")
        least, waited_s = found
        if least == rank or waited_s > LAST_SHARE * exchange.wait_s:
            return nobody("for others, of which not always the same came last")
        how = f"which came last: it waited there {waited_s:.2f} s"
        return Awaited(least, how, self.account(rank, least, exchange), exchange)

    def least_of(self, members: tuple[int, ...], spot: Spot | None) -> tuple[int, float] | None:
        """Who waited least there, or in all doors, and how long; None: some left no record."""
        if not all(one in self.ranks for one in members):
            return None
        waited = {
            one: sum(
                same.wait_s + same.shared_s
                for same in self.ranks[one].exchanges.values()
                if (same.spot.is_door if spot is None else same.spot == spot)
                and same.members == members
            )
            for one in members
        }
        least = min(waited, key=lambda one: waited[one])
        return least, waited[least]

    def towards(self, partner: int, rank: int, exchange: Exchange) -> list[Exchange]:
        """The exchanges of `partner` that are the other side of this wait of `rank`."""
        theirs = self.ranks[partner]
        if exchange.group is not None or exchange.spot.is_rooted:
            return theirs.with_all(exchange, rank)
        if exchange.way == "to":  # it was to take
            return theirs.with_partner("from", rank, exchange)
        return theirs.with_partner("to", rank, exchange) or theirs.with_all(exchange, rank)

    def account(self, rank: int, partner: int, exchange: Exchange) -> Account:
        theirs, ours = self.towards(partner, rank, exchange), self.ranks[rank]
        if exchange.group is not None:
            own = ours.with_all(exchange, partner)
        else:
            own = ours.with_partner(exchange.way, partner, exchange)
            if exchange.spot.is_rooted:
                own = [one for one in own if one.spot == exchange.spot]
        # What was waited in a probe for the same messages is not waited once more.
        probed_s = 0.0 if is_probe(exchange) else sum(one.wait_s for one in own if is_probe(one))
        if any(one.lost > UNKNOWN_SHARE * one.looks for one in (*theirs, *own)):
            return Account(0.0, 0.0, is_known=False)
        return Account(
            max(sum(o.computed_s for o in theirs) - sum(o.computed_s for o in own) - probed_s, 0.0),
            # Where it waited for this rank, this rank was late.
            max(sum(o.waited_but_for(rank) for o in theirs) - sum(o.waited_s for o in own), 0.0),
        )

    def computing(self, rank: int, how: str, done: Iterable[Exchange], late_s: float) -> Step:
        """Where it computed longer than the other ranks; nowhere, if what is known of that is no
        part of what it was late by."""
        gaps = {gap for one in done for gap in one.gaps}
        others = [record for other, record in self.ranks.items() if other != rank]

        def more(gap: Gap) -> float:
            mean = sum(record.gaps.get(gap, 0.0) for record in others) / max(len(others), 1)
            return self.ranks[rank].gaps.get(gap, 0.0) - mean

        if not gaps:
            return Step(rank, how, gap=(NOWHERE, NOWHERE))
        longest = max(gaps, key=more)
        seconds = self.ranks[rank].gaps.get(longest, 0.0)
        if seconds < NOBODY * late_s:
            return Step(rank, how, gap=(NOWHERE, NOWHERE))
        return Step(rank, how, gap=longest, seconds=seconds, more_s=max(more(longest), 0.0))


def is_probe(exchange: Exchange) -> bool:
    return exchange.spot.function in PROBES


def between(gap: Gap) -> str:
    first, last = gap
    if NOWHERE in gap:
        return ""
    if first == last:
        return f" between calls of {first}"
    return f" between {first} and {last}"


def sentence(cause: Cause) -> str:
    """One wait and its cause, in words."""
    said = f"Rank {cause.rank} waited {cause.seconds:.2f} s in {cause.spot}"
    if cause.ranks > 1:
        said += f" (and {records.plural(cause.ranks - 1, 'other rank')} there)"
    if cause.told:
        return f"{said} {cause.told}."
    for step in cause.steps:
        said += f" for rank {step.rank}"
        if step.how:
            said += f" ({step.how})"
        if step.gap:
            said += f", which was computing{between(step.gap)}"
            if step.seconds:
                said += (
                    f": {step.seconds:.2f} s there in all, {step.more_s:.2f} s longer than the "
                    "mean of the other ranks"
                )
        elif step.spot:
            said += f", which itself waited {step.seconds:.2f} s in {step.spot}"
    if cause.why_not:
        said += f"{'; ' if cause.steps else ' '}{cause.why_not}"
    return said + "."


def short(cause: Cause) -> str:
    """The same where there is little room: how long, and which rank it was in the end."""
    seconds = f"{cause.seconds:.2f} s"
    if cause.told:
        return f"{seconds} {cause.told}"
    root = cause.root
    if root and root.gap:
        by = "" if len(cause.steps) == 1 else " in the end"
        return f"{seconds}{by} for rank {root.rank}, computing{between(root.gap)}"
    named = [str(step.rank) for step in cause.steps]
    return (
        f"{seconds} for rank {', '.join(named)}; root not shown"
        if named
        else f"{seconds}, not shown"
    )


def causes_of(run: Recorded) -> list[Cause]:
    """The longest wait of each call site, the longest first; none in records that do not tell."""
    causes = Causes(run)
    return causes.longest() if causes.is_recorded else []


def lines(run: Recorded, most: int) -> list[str]:
    """What to say of a run: waits followed to the rank that was late, or to where that ends."""
    return [sentence(cause) for cause in causes_of(run)[:most]]


def compared(
    runs: Sequence[Recorded], names: Sequence[Mapping[str, str]] | None = None
) -> list[tuple[str, list[str]]]:
    """Each call site's longest wait, run by run; the longest first. `names`: for each run, what its
    call sites are called here, where their lines have moved."""
    each = [
        {told.get(str(cause.spot), str(cause.spot)): cause for cause in causes_of(run)}
        for run, told in zip(runs, names or [{}] * len(runs), strict=True)
    ]
    longest: dict[str, float] = {}
    for causes in each:
        for spot, cause in causes.items():
            longest[spot] = max(longest.get(spot, 0.0), cause.seconds)
    return [
        (spot, [short(causes[spot]) if spot in causes else "-" for causes in each])
        for spot in sorted(longest, key=lambda spot: -longest[spot])
    ]
