# SPDX-License-Identifier: BSD-3-Clause
"""The records of one run, merged over ranks by call site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from headway import records
from headway.mpi import program
from headway.record import table
from headway.record.table import Record
from headway.records import NS, figure
from headway.report.found import Found
from headway.report.places import Known, Place, Places
from headway.report.spots import DOORS, LOOPS, TESTS, Spot

#: the schema that knows which idle time of the wire a wait could have used
USABLE_SCHEMA = 3


#: sites of 64 KiB on, as the library looks at the wire: below, a wait is more than its bytes
LEAST_SIZE_CLASS = 17

#: older ones: of the bytes a door completed, this part must have been seen on the wire
SEEN_SHARE = 0.25


@dataclass(frozen=True)
class Reasons:
    """Seconds of waiting, by cause, summed over ranks; `looks` at the wire they are known from."""

    no_progress: float = 0.0  # moved only in the wait, though the wire was idle before
    bandwidth: float = 0.0  # the wire was busy all the time
    late: float = 0.0  # nothing moved: the partner was late, or too little to fill the wire
    imbalance: float = 0.0  # of what was late: the partner had more to compute, throughout
    unknown: float = 0.0
    looks: int = 0
    within: float = 0.0  # of no_progress, what is known from partners on the same node
    told: float = 0.0  # of all these, what is known from partners and not from the wire
    transfer: float = 0.0  # of blocking calls: the message or operation itself, all having come
    posted: float = 0.0  # of imbalance, in which the partner had posted its part, and computed on
    files: float = 0.0  # for access to files, not for a partner
    late_name: str = ""  # what waiting for whoever was late is called; imbalance is of that, too

    def imbalanced(self, of_late: float, of_progress: float = 0.0) -> Reasons:
        """The same with these parts of what was late, and of what progress lacked, put down to
        imbalance."""
        late, progress = self.late * of_late, self.no_progress * of_progress
        return replace(
            self,
            late=self.late - late,
            no_progress=self.no_progress - progress,
            within=self.within * (1.0 - of_progress),
            imbalance=self.imbalance + late + progress,
            posted=self.posted + progress,
        )

    def plus(self, other: Reasons) -> Reasons:
        return Reasons(
            self.no_progress + other.no_progress,
            self.bandwidth + other.bandwidth,
            self.late + other.late,
            self.imbalance + other.imbalance,
            self.unknown + other.unknown,
            self.looks + other.looks,
            self.within + other.within,
            self.told + other.told,
            self.transfer + other.transfer,
            self.posted + other.posted,
            self.files + other.files,
            self.late_name or other.late_name,
        )


@dataclass
class Site:
    """One call site, MPI function and size class, over all ranks."""

    place: Place
    function: str
    size_class: int
    ranks: dict[int, table.Site] = field(default_factory=dict)

    def total(self, counter: str) -> float:
        return sum(figure(site, counter) for site in self.ranks.values())

    @property
    def key(self) -> tuple[str, str, int]:
        return str(self.place), self.function, self.size_class

    @property
    def calls(self) -> int:
        return int(self.total("calls"))

    @property
    def seconds(self) -> float:
        """Time in these calls, summed over ranks."""
        return self.total("call_ns") * NS

    @cached_property
    def spot(self) -> Spot:
        """The same for all sizes."""
        return Spot(str(self.place), self.function)

    @property
    def is_door(self) -> bool:
        return self.function.startswith(DOORS)

    @property
    def is_test(self) -> bool:
        return self.function.startswith(TESTS)

    @property
    def is_wait(self) -> bool:
        """Whether the program waited for requests here: in Wait, or in tests in a loop."""
        waits = self.function.startswith("Wait") and self.total("completed")
        return bool(waits or (self.is_test and self.total("spun_ns")))

    @property
    def waited(self) -> float:
        """Of a wait: seconds, summed over ranks."""
        return sum(waited_ns(site) for site in self.ranks.values()) * NS

    @property
    def size(self) -> str:
        """The power of two of its bytes, as text."""
        return records.size_text(1 << (self.size_class - 1)) if self.size_class else "-"

    @property
    def computed_share(self) -> float | None:
        """Of the time its requests were pending, the part the program computed."""
        computed, blocked = self.total("computed_ns"), self.total("blocked_ns")
        return computed / (computed + blocked) if computed + blocked else None

    @property
    def hidden_share(self) -> float | None:
        """Of a wait: the part of the transfer that the wire carried while the program computed.

        In bytes of the waits that were looked at; None if there are none.
        """
        hidden, waiting = self.total("moved_computing"), self.total("moved_waiting")
        return hidden / (hidden + waiting) if hidden + waiting else None

    def spread(self, size: int) -> tuple[float, float]:
        """Least and most time of any rank; a rank that never came here has none."""
        each = [site.call_ns * NS for site in self.ranks.values()]
        return (min(each) if len(each) >= size else 0.0), max(each, default=0.0)


@dataclass
class Recorded:
    """What one launch left behind, merged over ranks by call site."""

    name: str
    records: Sequence[Record]
    unreadable: int = 0
    spawned: int = 0  # processes with records of their own
    lines: Known = field(default_factory=dict)  # kept when it ended

    @cached_property
    def wall(self) -> float:
        return max((r.wall_s for r in self.records), default=0.0)

    @property
    def size(self) -> int:
        return len(self.records)

    @property
    def mpi_seconds(self) -> float:
        """Mean time in MPI of a rank."""
        return records.mean(self.records, "mpi_s")

    @property
    def is_profiled(self) -> bool:
        return any(sites_of(record) for record in self.records)

    @property
    def title(self) -> str:
        texts = [records.plural(self.size, "rank")]
        for key in ("mpi", "engine"):
            values = {str(getattr(r, key)) for r in self.records} - {""}
            if values:
                text = sorted(values)[0]
                texts.append(
                    f"engine {text[:60]}"
                    if key == "engine"
                    else program.vendor_and_version(text) or text[:60]
                )
        return f"{self.name}: {', '.join(texts)}, {self.wall:.2f} s"

    @cached_property
    def places(self) -> Places:
        sites = (site for record in self.records for site in sites_of(record))
        return Places(sites, self.lines)

    @cached_property
    def sites(self) -> list[Site]:
        """Merged over ranks, the most time first."""
        places = self.places
        merged: dict[tuple[str, str, int], Site] = {}
        for index, record in enumerate(self.records):
            rank = self.rank_of(index)
            for one in sites_of(record):
                name = one.function.removesuffix("_c")
                site = Site(places.of(one), name, one.size_class)
                site = merged.setdefault(site.key, site)
                if record.schema < USABLE_SCHEMA:
                    one = upgrade(one, self.seen_rate)
                site.ranks[rank] = add(site.ranks.get(rank), one)
        return sorted(merged.values(), key=lambda s: -s.seconds)

    @cached_property
    def seen_rate(self) -> float:
        """Bytes a second one way: the most any rank saw while it waited."""
        return max((profile_of(r).wire_bytes_per_s for r in self.records), default=0.0)

    @cached_property
    def ranks_with_spare_cores(self) -> set[int]:
        """Ranks that may run on more cores than there are ranks on their machine."""
        hosts = Counter(record.host for record in self.records)
        return {
            self.rank_of(index)
            for index, record in enumerate(self.records)
            if record.host and (record.cores or 0) > hosts[record.host]
        }

    @cached_property
    def ranks_with_cores_to_copy_on(self) -> set[int]:
        """Within a node cores are all there is to move bytes. A job of one node has an engine only
        if there are two cores for each rank (doc/adr/0012)."""
        hosts = Counter(record.host for record in self.records)
        if len(hosts) > 1:
            return self.ranks_with_spare_cores
        return {
            self.rank_of(index)
            for index, record in enumerate(self.records)
            if record.host and (record.cores or 0) >= 2 * self.size
        }

    def rank_of(self, index: int) -> int:
        rank = self.records[index].rank
        return rank if rank >= 0 else index

    def single_waits(self, rank: int, spot: Spot) -> Found | None:
        """What single waits of a rank there show; a run that is more than its records knows."""
        return None


EMPTY = table.Profile()


def profile_of(record: Record) -> table.Profile:
    return record.profile or EMPTY


def sites_of(record: Record) -> tuple[table.Site, ...]:
    return profile_of(record).sites


def moments_of(record: Record) -> table.Moments | None:
    """None: the library kept none."""
    return profile_of(record).moments


def functions_of(record: Record) -> dict[int, str]:
    """By the ids of the call sites of a record."""
    return {one.id: one.function.removesuffix("_c") for one in sites_of(record)}


def add(one: table.Site | None, other: table.Site) -> table.Site:
    """Counters of two entries of the same place: a call inlined twice, MPI_X and MPI_X_c."""
    if one is None:
        return other
    both = {name: getattr(one, name) + getattr(other, name) for name in table.SITE_COUNTERS}
    return replace(one, **both | {"max_ns": max(one.max_ns, other.max_ns)})


def waited_ns(site: table.Site) -> float:
    """Time one rank waited in one door: in the call, or in tests one right after the other."""
    return site.spun_ns if site.function.startswith(LOOPS) else site.call_ns


def upgrade(site: table.Site, rate: float) -> table.Site:
    """A site of an older record, whose looks were at one door for each first post."""
    calls, looks = site.calls, site.sampled
    waiting, computing = site.moved_waiting, site.moved_computing
    expected = site.bytes / 2 * (looks / calls if calls else 0)
    if waiting + computing < SEEN_SHARE * expected:
        unseen_ns = site.sampled_blocked_ns
        return replace(site, unseen_ns=unseen_ns, sampled=0, sampled_blocked_ns=0)
    used = computing / rate / NS if rate else 0.0
    return replace(site, usable_ns=int(max(0.0, site.sampled_computed_ns - used)))


def reasons_of(site: table.Site, rate: float) -> Reasons:
    """The time one rank waited in one door, divided by cause.

    Known from looks at the byte counters of the process's TCP connections: at the first post,
    when a door was entered, and when it was left, and in some doors in between. What moved inside
    took at least bytes / rate, longer where one direction went after the other; the rest of the
    wait nothing moved (late). Of what moved inside, as much as the wire was idle while the program
    computed could have moved then (no progress); the rest had no room (bandwidth).
    """
    seconds, looks = waited_ns(site) * NS, site.sampled
    blocked, unseen = site.sampled_blocked_ns * NS, site.unseen_ns * NS
    if not looks or not rate or not blocked:
        return Reasons(unknown=seconds)
    moving = min(blocked, site.moved_waiting / rate)
    no_progress = min(moving, site.usable_ns * NS)
    scale = seconds / (blocked + unseen)
    return Reasons(
        no_progress * scale,
        (moving - no_progress) * scale,
        (blocked - moving) * scale,
        0.0,
        unseen * scale,
        looks,
    )


def in_all_waits(site: table.Site, counter: str) -> float:
    """What was counted in the waits that were looked at, or ought to have been, taken for all."""
    blocked = site.sampled_blocked_ns + site.unseen_ns
    return figure(site, counter) * waited_ns(site) / blocked if blocked else 0.0


def alone_of(site: table.Site, rate: float) -> float:
    """Seconds in one door in which one direction moved after the other, that progress saves."""
    if not rate:
        return 0.0
    return min(in_all_waits(site, "moved_alone") / rate, reasons_of(site, rate).no_progress)


def turns_of(site: table.Site, rate: float) -> float:
    """Seconds in one door in which one direction moved after the other and no progress would have
    helped, because too little was computed: both at once would."""
    if not rate:
        return 0.0
    reasons, alone = reasons_of(site, rate), in_all_waits(site, "moved_alone") / rate
    return min(max(alone - reasons.no_progress, 0.0), reasons.bandwidth)


def in_steps_of(site: table.Site, rate: float) -> float:
    """Seconds in one door in which steps of a reduction to all moved one direction after the other
    and no idle wire would have had room for it."""
    if not rate:
        return 0.0
    return min(in_all_waits(site, "moved_in_steps") / rate, reasons_of(site, rate).bandwidth)


def copied_of(site: table.Site, rate: float) -> float:
    """Bytes an engine would have moved while the program computed."""
    seconds = reasons_of(site, rate)
    moving = seconds.no_progress + seconds.bandwidth
    return in_all_waits(site, "copied") * seconds.no_progress / moving if moving else 0.0
