# SPDX-License-Identifier: BSD-3-Clause
"""One run: what its records say, and what an engine would win of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from headway import records
from headway.errors import HeadwayError
from headway.mpi import transport
from headway.record import endings, table
from headway.records import NS
from headway.report import imbalance, lines
from headway.report.blocking import Blocking
from headway.report.causes import Cause
from headway.report.found import Found
from headway.report.imbalance import Imbalance
from headway.report.partners import Partners
from headway.report.recorded import (
    LEAST_SIZE_CLASS,
    Reasons,
    Recorded,
    Site,
    alone_of,
    copied_of,
    in_steps_of,
    profile_of,
    reasons_of,
    turns_of,
    waited_ns,
)
from headway.report.spots import ONE_SIDED_WAIT, Spot

#: processor time an engine takes from the program for a byte sent or received, in seconds: copying,
#: interrupts, waking up. What computing takes longer while 4 MiB go each way: 0.43 to 0.55 on five
#: MPIs (suite `idle`, case cpu: doc/results/data/idle.json), not fitted to the suite `prediction`
COPY_S = 0.5e-9
#: who came less late is not named, s
LEAST_LATE_S = 0.005


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
    #: no run is shorter than what its busiest rank computes
    most: float = float("inf")

    @property
    def seconds(self) -> float:
        won = max(self.idle - self.copying, 0.0) + self.within + self.transport
        return min(won, self.most)


@dataclass
class Run(Recorded):
    """What one launch left behind."""

    def reasons(self, site: Site) -> Reasons:
        """Why the program waited there, over all ranks."""
        if site.key not in self.reasons_by_site:
            found = Reasons()
            for rank, one in site.ranks.items():
                found = found.plus(self.divided(site, rank, one))
            found = replace(found, late_name=self.blocking.late_name(site))
            self.reasons_by_site[site.key] = found
        return self.reasons_by_site[site.key]

    @cached_property
    def reasons_by_site(self) -> dict[tuple[str, str, int], Reasons]:
        """What was asked for before."""
        return {}

    @cached_property
    def causes(self) -> list[Cause]:
        """The longest wait of each call site, the longest first, but those for which nobody was
        late; none in records that do not tell."""
        found = self.partners.causes
        if not found.is_recorded:
            return []
        return [
            cause
            for cause in found.longest()
            if (not cause.told or self.is_late(cause))
            and not self.partners.files_share(cause.rank, cause.spot)
        ]

    def is_late(self, cause: Cause) -> bool:
        """Whether single waits show that anybody came late, by more than 0.00 s."""
        seen = self.single_waits(cause.rank, cause.spot)
        return seen is not None and seen.late_of(cause.seconds) >= LEAST_LATE_S

    def divided(self, site: Site, rank: int, one: table.Site) -> Reasons:
        """Why one rank waited there."""
        shares = self.imbalance_shares.get(rank, (0.0, 0.0))
        return self.reasons_at(site, rank, one).imbalanced(*shares)

    @cached_property
    def partners(self) -> Partners:
        return Partners(self)

    def single_waits(self, rank: int, spot: Spot) -> Found | None:
        return self.partners.meanwhile.all.get((rank, spot))

    @cached_property
    def wire_rate(self) -> float:
        """Bytes a second one way, as any rank saw it or as partners' records tell."""
        return max(self.seen_rate, self.partners.told_rate) if self.seen_rate else 0.0

    @cached_property
    def blocking(self) -> Blocking:
        return Blocking(self, self.partners)

    def waited(self, site: Site) -> float:
        """Seconds, summed over ranks: for requests, or in calls that block."""
        return site.waited if site.is_wait else self.blocking.waited(site)

    def reasons_at(self, site: Site, rank: int, one: table.Site) -> Reasons:
        """Why one rank waited there, imbalance not told from what was late."""
        if not site.is_door:
            return self.blocking.reasons_at(site, rank)
        found = self.partners.check(reasons_of(one, self.wire_rate), rank, site)
        if found.unknown:
            found = self.partners.explain(found, rank, site, one)
        return self.partners.accessed(found, rank, site.spot)

    @cached_property
    def imbalance(self) -> Imbalance | None:
        """Ranks that compute more than others throughout, if there are."""
        return imbalance.find(
            {self.rank_of(index): profile_of(record) for index, record in enumerate(self.records)}
        )

    @cached_property
    def imbalance_shares(self) -> dict[int, tuple[float, float]]:
        """By rank: of its waits for late partners, and of what progress lacked, the parts for
        others having more to compute."""
        if not self.imbalance:
            return {}
        late: dict[int, float] = defaultdict(float)
        progress: dict[int, float] = defaultdict(float)
        waited: dict[int, float] = defaultdict(float)
        for site in self.sites:
            for rank, one in site.ranks.items():
                if not site.is_wait and not self.blocking.waited_at(site, rank):
                    continue
                reasons = self.reasons_at(site, rank, one)
                late[rank] += reasons.late
                progress[rank] += reasons.no_progress
                is_for_requests = site.is_wait
                seconds = (
                    waited_ns(one) * NS if is_for_requests else reasons.late + reasons.transfer
                )
                waited[rank] += seconds
        shares = {}
        for index, record in enumerate(self.records):
            rank = self.rank_of(index)
            elsewhere = max((record.mpi_s or 0) - waited[rank], 0.0)
            shares[rank] = self.imbalance.shares(rank, late[rank], elsewhere, progress[rank])
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
    def unlooked_s(self) -> float:
        """Seconds, over all ranks, in waits for large messages that went over TCP, at call sites at
        which none was looked at: looks take no more than a small part of the run."""
        return sum(
            waited_ns(one) * NS
            for site in self.sites
            if site.is_wait and site.size_class >= LEAST_SIZE_CLASS
            for rank, one in site.ranks.items()
            if rank in self.partners.on_tcp and not one.sampled and not one.unseen_ns
        )

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
                reasons = self.divided(site, rank, one)
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
            self.most_s,
        )

    @property
    def most_s(self) -> float:
        """What is left of the run beside what its busiest rank computes."""
        busiest = max((one.wall_s - (one.mpi_s or 0) for one in self.records), default=0.0)
        return max(self.wall - busiest, 0.0)

    def transport_gain(self, site: Site) -> float:
        """Seconds, over all ranks, that the transport's setting wins in this door."""
        duplex = self.duplex
        if not duplex:
            return 0.0
        if site.is_test:
            return sum(alone_of(one, self.wire_rate) for one in site.ranks.values())
        each = site.ranks.values()
        turns = sum(turns_of(one, self.wire_rate) for one in each)
        if duplex.is_for_steps:
            turns += sum(in_steps_of(one, self.wire_rate) for one in each)
        return turns

    @cached_property
    def duplex(self) -> transport.Duplex | None:
        """What `headway run` would tell the transport of these ranks' MPI."""
        vendors = {transport.vendor_of(record.mpi) for record in self.records}
        if len(vendors) != 1 or not transport.is_slow(8 * self.wire_rate or None):
            return None
        return transport.SETTINGS.get(vendors.pop() or "")


def load(path: Path) -> Run:
    """A run from a directory of records, or one record; HeadwayError if nothing there is one."""
    spawned = 0
    if path.is_dir():
        files = records.files(path)
        spawned = records.spawned_count(path)
    elif path.exists():
        files = [path]
    else:
        raise HeadwayError(f"there is no {path}", "name a directory of records, or one record")
    read = [record for file in files if (record := records.load(file))]
    if not read and files:
        raise HeadwayError(
            f"no record can be read, of {records.plural(len(files), 'file')} in {path}",
            "records are JSON files named headway.<rank>.json; these are cut off, or others",
        )
    if not read:
        raise HeadwayError(f"there are no records in {path}", "they are headway.<rank>.json")
    read.sort(key=lambda r: r.rank)
    name = path.name or str(path.absolute().name)
    kept = lines.known(path if path.is_dir() else path.parent)
    return Run(name, read, len(files) - len(read), spawned, kept)


def complaints(run: Run) -> Sequence[str]:
    """What is wrong with the records of a run."""
    said = endings.lines(run.records)
    if run.unreadable:
        said.append(f"{run.unreadable} of its records cannot be read")
    left = Counter(record.rank for record in run.records if record.rank >= 0)
    if twice := [rank for rank, times in left.items() if times > 1]:
        who = endings.ranks_text(twice)
        said.append(f"{who} left more than one record: sums are of all of them, as of one rank")
    if run.spawned:
        count = records.plural(run.spawned, "rank")
        where = f"headway report on {records.SPAWNED} in their directory shows their records"
        said.append(f"{count} it spawned not counted; {where}")
    sizes = [r.size for r in run.records]
    if len(each := sorted({size for size in sizes if size > 0})) > 1:
        said.append(
            f"records of runs of {' and of '.join(map(str, each))} ranks lie together: figures "
            "are of all of them, as of one run; remove those of the others"
        )
    if max(sizes, default=0) > run.size:
        said.append(f"{run.size} of {max(sizes)} ranks left a record")
    if paused := max((profile_of(r).paused_s or 0.0 for r in run.records), default=0.0):
        said.append(f"the program paused the profile for up to {paused:.2f} s (MPI_Pcontrol)")
    refusals = {profile_of(r).python_refusal for r in run.records} - {""}
    said += [
        f"lines of the Python program are not known: {refusal}" for refusal in sorted(refusals)
    ]
    said += [
        f"{module} has been rebuilt since this run: its lines are not known"
        for module in run.places.changed
    ]
    schemas = {r.schema for r in run.records}
    if schemas and max(schemas) > table.SCHEMA:
        said.append(
            f"records of schema {max(schemas)}, newer than this command: read as far as known"
        )
    return said
