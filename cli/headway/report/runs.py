"""One run: its records, merged over ranks by call site."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headway import records
from headway.errors import HeadwayError
from headway.mpi import program, transport
from headway.record import table
from headway.record.table import Record
from headway.records import NS, figure
from headway.report import imbalance
from headway.report.imbalance import Imbalance
from headway.report.places import Place, Places

if TYPE_CHECKING:
    from headway.report.blocking import Blocking
    from headway.report.causes import Spot
    from headway.report.partners import Partners

#: the schema that knows which idle time of the wire a wait could have used
USABLE_SCHEMA = 3
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

    def imbalanced(self, share: float) -> Reasons:
        """The same with this part of what was late put down to imbalance."""
        moved = self.late * share
        return replace(self, late=self.late - moved, imbalance=self.imbalance + moved)

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
        )


#: processor time an engine takes from the program for a byte sent or received, in seconds: copying,
#: interrupts, waking up. What computing takes longer while 4 MiB go each way: 0.43 to 0.55 on five
#: MPIs (suite `idle`, case cpu: doc/results/data/idle.json), not fitted to the suite `prediction`
COPY_S = 0.5e-9


ONE_SIDED_WAIT = re.compile(r"Win_(complete|fence|flush|lock|start|unlock|wait)")
#: operations, which a few MPIs make at once and wait for
ONE_SIDED_OPERATION = re.compile(
    r"(Accumulate|Compare_and_swap|Fetch_and_op|Get|Get_accumulate|Put)$"
)


@dataclass(frozen=True)
class Prediction:
    """What an engine that makes progress would save, in seconds, a rank's mean."""

    idle: float  #: wire time that would have been hidden
    #: processor time this takes from the program where the engine has no core of its own
    copying: float

    #: idle wire time before tests in a loop: the engine judges by waits, and leaves these alone
    spinning: float
    #: of `idle`, what comes of both directions of exchanges at once that went one after the other
    directions: float = 0.0
    #: within nodes, where an engine has a core to copy on; and where it has none
    within: float = 0.0
    crowded: float = 0.0
    #: besides, by what `headway run` tells the transport: directions of an exchange at once, where
    #: no engine sees to it
    transport: float = 0.0

    @property
    def seconds(self) -> float:
        return max(self.idle - self.copying, 0.0) + self.within + self.transport


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
        from headway.report.causes import Spot  # which is about runs

        return Spot(str(self.place), self.function)

    @property
    def is_door(self) -> bool:
        return self.function.startswith(("Wait", "Test"))

    @property
    def is_test(self) -> bool:
        return self.function.startswith("Test")

    @property
    def is_wait(self) -> bool:
        """Whether the program waited for requests here: in Wait, or in tests in a loop."""
        waits = self.function.startswith("Wait") and self.total("completed")
        return bool(waits or self.total("spun_ns"))

    @property
    def waited(self) -> float:
        """Of a wait: seconds, summed over ranks."""
        return sum(waited_ns(site) for site in self.ranks.values()) * NS

    @property
    def size(self) -> str:
        """The power of two of its bytes, as text."""
        return records.size_text(1 << (self.size_class - 1)) if self.size_class else "-"

    @property
    def overlap(self) -> float | None:
        """Of the time its requests were pending, the part the program computed."""
        computed, blocked = self.total("computed_ns"), self.total("blocked_ns")
        return computed / (computed + blocked) if computed + blocked else None

    def spread(self, size: int) -> tuple[float, float]:
        """Least and most time of any rank; a rank that never came here has none."""
        each = [site.call_ns * NS for site in self.ranks.values()]
        return (min(each) if len(each) >= size else 0.0), max(each, default=0.0)


@dataclass
class Run:
    """What one launch left behind."""

    name: str
    records: Sequence[Record]
    unreadable: int = 0
    spawned: int = 0  # processes with records of their own

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
        return Places(site for record in self.records for site in sites_of(record))

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
                    one = upgrade(one, self.wire_rate)
                site.ranks[rank] = add(site.ranks.get(rank), one)
        return sorted(merged.values(), key=lambda s: -s.seconds)

    @cached_property
    def wire_rate(self) -> float:
        """Bytes a second one way: the most any rank saw while it waited."""
        return max((profile_of(r).wire_bytes_per_s for r in self.records), default=0.0)

    def reasons(self, site: Site) -> Reasons:
        """Why the program waited there, over all ranks."""
        found = Reasons()
        for rank, one in site.ranks.items():
            reasons = self.reasons_at(site, rank, one)
            found = found.plus(reasons.imbalanced(self.imbalance_shares.get(rank, 0.0)))
        return found

    @cached_property
    def partners(self) -> Partners:
        from headway.report.partners import Partners  # which is about runs

        return Partners(self)

    @cached_property
    def blocking(self) -> Blocking:
        from headway.report.blocking import Blocking  # likewise

        return Blocking(self)

    def waited(self, site: Site) -> float:
        """Seconds, summed over ranks: for requests, or in calls that block."""
        return site.waited if site.is_wait else self.blocking.waited(site)

    def reasons_at(self, site: Site, rank: int, one: table.Site) -> Reasons:
        """Why one rank waited there, imbalance not told from what was late."""
        if not site.is_door:
            return self.blocking.reasons_at(site, rank)
        found = reasons_of(one, self.wire_rate)
        if found.unknown:
            found = self.partners.explain(found, rank, site, one)
        return self.partners.check(found, rank, site)

    @cached_property
    def imbalance(self) -> Imbalance | None:
        """Ranks that compute more than others throughout, if there are."""
        return imbalance.find(
            {self.rank_of(index): profile_of(record) for index, record in enumerate(self.records)}
        )

    @cached_property
    def imbalance_shares(self) -> dict[int, float]:
        """By rank: of its waits for late partners, the part for others having more to compute."""
        if not self.imbalance:
            return {}
        late: dict[int, float] = defaultdict(float)
        waited: dict[int, float] = defaultdict(float)
        for site in self.sites:
            for rank, one in site.ranks.items():
                if not site.is_wait and not self.blocking.waited_at(site, rank):
                    continue
                reasons = self.reasons_at(site, rank, one)
                late[rank] += reasons.late
                is_for_requests = site.is_wait
                seconds = (
                    waited_ns(one) * NS if is_for_requests else reasons.late + reasons.transfer
                )
                waited[rank] += seconds
        shares = {}
        for index, record in enumerate(self.records):
            rank = self.rank_of(index)
            elsewhere = max((record.mpi_s or 0) - waited[rank], 0.0)
            shares[rank] = self.imbalance.share(rank, late[rank], elsewhere)
        return shares

    @cached_property
    def blocking_reasons(self) -> Reasons:
        """Why the program waited in calls that block."""
        found = Reasons()
        for site in self.sites:
            if not site.is_wait and self.blocking.waited(site):
                found = found.plus(self.reasons(site))
        return found

    @cached_property
    def all_reasons(self) -> Reasons:
        """Why it waited for requests."""
        found = Reasons()
        for site in self.sites:
            if site.is_wait:
                found = found.plus(self.reasons(site))
        return found

    @property
    def one_sided_s(self) -> float:
        """Seconds, a rank's mean, in calls that wait for one-sided operations or for their end."""
        waits = (site.seconds for site in self.sites if ONE_SIDED_WAIT.match(site.function))
        return sum(waits) / self.size

    @cached_property
    def prediction(self) -> Prediction:
        idle = copied = spinning = alone = within = crowded = told = 0.0
        for site in filter(lambda site: site.is_wait, self.sites):
            gain = self.transport_gain(site)
            told += gain
            if site.is_test:
                spinning += self.reasons(site).no_progress - gain
                continue
            for rank, one in site.ranks.items():
                reasons = self.reasons_at(site, rank, one)
                idle += reasons.no_progress - reasons.within
                if rank in self.ranks_with_cores_to_copy_on:
                    within += reasons.within
                else:
                    crowded += reasons.within
                alone += alone_of(one, self.wire_rate)
                if rank not in self.ranks_with_spare_cores:
                    copied += copied_of(one, self.wire_rate)
        size = max(self.size, 1)
        return Prediction(
            idle / size,
            copied * COPY_S / size,
            spinning / size,
            min(alone, idle) / size,
            within / size,
            crowded / size,
            told / size,
        )

    def transport_gain(self, site: Site) -> float:
        """Seconds, over all ranks, that the transport's setting wins in this door."""
        duplex = self.duplex
        if not duplex:
            return 0.0
        if site.is_test:
            return sum(alone_of(one, self.wire_rate) for one in site.ranks.values())
        if duplex.is_for_steps:
            return sum(in_steps_of(one, self.wire_rate) for one in site.ranks.values())
        return 0.0

    @cached_property
    def duplex(self) -> transport.Duplex | None:
        """What `headway run` would tell the transport of these ranks' MPI."""
        vendors = {transport.vendor_of(record.mpi) for record in self.records}
        if len(vendors) != 1 or not transport.is_slow(8 * self.wire_rate or None):
            return None
        return transport.SETTINGS.get(vendors.pop() or "")

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
    return site.spun_ns if site.function.startswith("Test") else site.call_ns


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


def load(path: Path) -> Run:
    """A run from a directory of records, or one record; HeadwayError if nothing there is one."""
    spawned = 0
    if path.is_dir():
        files = sorted(path.glob("headway.*.json"))
        spawned = records.spawned_count(path)
    elif path.exists():
        files = [path]
    else:
        raise HeadwayError(f"there is no {path}", "name a directory of records, or one record")
    read = [record for file in files if (record := records.load(file))]
    if not read:
        raise HeadwayError(
            f"{path} holds no record that can be read", "records are headway.<rank>.json"
        )
    read.sort(key=lambda r: r.rank)
    return Run(path.name or str(path.absolute().name), read, len(files) - len(read), spawned)


def complaints(run: Run) -> Sequence[str]:
    """What is wrong with the records of a run."""
    said = []
    if run.unreadable:
        said.append(f"{run.unreadable} of its records cannot be read")
    if run.spawned:
        count = records.plural(run.spawned, "rank")
        said.append(f"{count} it spawned not counted: name its directory {records.SPAWNED}")
    sizes = [r.size for r in run.records]
    if max(sizes, default=0) > run.size:
        said.append(f"{run.size} of {max(sizes)} ranks left a record")
    refusals = {profile_of(r).python_refusal for r in run.records} - {""}
    said += [
        f"lines of the Python program are not known: {refusal}" for refusal in sorted(refusals)
    ]
    said += [
        f"{module} was built anew since: its lines are not known" for module in run.places.changed
    ]
    schemas = {r.schema for r in run.records}
    if schemas and max(schemas) > table.SCHEMA:
        said.append(
            f"records of schema {max(schemas)}, newer than this command: read as far as known"
        )
    return said
