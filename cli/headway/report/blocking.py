# SPDX-License-Identifier: BSD-3-Clause
"""Waits in calls that block: for a sender or receiver that came late, or until all have come.

What is left when all had come is the message or the collective operation itself. Known from what
those awaited did (meanwhile.py), wait by wait; where no moments are known, from sums
(partners.py).
"""

from __future__ import annotations

import re
from collections import defaultdict

from headway.records import NS
from headway.report.causes import POSTS, Exchange, Rank
from headway.report.partners import Partners
from headway.report.recorded import LEAST_SIZE_CLASS, Reasons, Recorded, Site, waited_ns
from headway.report.spots import SPINS, Spot

TAKES = re.compile(r"(Recv|Mrecv|M?[Pp]robe|Im?probe)$")
GIVES = re.compile(r"[BRS]?[Ss]end$")
BOTH = re.compile(r"Sendrecv")
TOGETHER = re.compile(
    r"(Allgather|Allreduce|Alltoall|Barrier|Bcast|Exscan|Gather|Neighbor_|Reduce(?!_local)|Scan|"
    r"Scatter)(?!.*_init$)"
)
#: posts that take from one rank: the root of a collective, or a sender
ROOTED_POST = re.compile(r"I(bcast|scatter)")
RECEIVING_POST = re.compile(r"I(m?recv|sendrecv)")
STARTS = re.compile(r"Start")
ROOTED_INIT = re.compile(r"(Bcast|Scatter)")
COLLECTIVE_INIT = re.compile(
    r"(Allgather|Allreduce|Alltoall|Barrier|Bcast|Exscan|Gather|Neighbor_|Reduce|Scan|Scatter)"
)
#: what waiting for somebody who came late is called, by the function, as Scalasca calls it
LATE_NAMES = (
    (re.compile(r"I?[Bb]arrier"), "wait at barrier"),
    (re.compile(r"I?([Bb]cast|[Ss]catter)"), "late broadcast"),
    (re.compile(r"I?([Gg]ather|[Rr]educe(?!_scatter|_local))"), "early reduce"),
    (re.compile(r"I?([Ee]x)?[Ss]can"), "early scan"),
    (re.compile(r"I?([Aa]ll|[Rr]educe_scatter|[Nn]eighbor_)"), "wait at NxN"),
    (TAKES, "late sender"),
    (GIVES, "late receiver"),
    (BOTH, "late sender"),
)


def late_name(function: str) -> str:
    """What a wait in this function for somebody who came late is called."""
    names = (name for pattern, name in LATE_NAMES if pattern.match(function))
    return next(names, "late partner")


def rest_name(function: str) -> str:
    """... and what is left of it when all have come."""
    what = "operation" if TOGETHER.match(function) else "transfer"
    return f"the {what} itself"


def blocks(function: str) -> bool:
    """Whether the call waits, if for anybody, for partners or for all of a communicator."""
    each = (TAKES, GIVES, BOTH, TOGETHER)
    return any(pattern.match(function) for pattern in each)


def waited_name(rank: Rank, exchange: Exchange) -> str:
    """What a wait of a door for somebody who came late is called; empty: it was for several."""
    if exchange.group is None:
        if exchange.way == "from" and (rooted := rooted_name(rank, exchange)):
            return rooted
        return {"from": "late sender", "to": "late receiver"}.get(exchange.way, "")
    posted = {
        name
        for one in rank.exchanges.values()
        if one.group == exchange.group and one.spot.function.startswith(POSTS)
        for name in posted_names(rank, one.spot.function)
    }
    return posted.pop() if len(posted) == 1 else "wait at collective"


def posted_names(rank: Rank, function: str) -> set[str]:
    """The same of what was posted there; of what was started, of all that was made."""
    if not function.startswith("Start"):
        return {late_name(function)}
    return {late_name(made) for made in rank.made if COLLECTIVE_INIT.match(made)}


def rooted_name(rank: Rank, exchange: Exchange) -> str:
    """The same of a wait for one rank whose tag is none or any, if most of what the rank waited for
    in this way were broadcasts and scatters, which are for their root; else empty."""
    if exchange.tags != {None}:
        return ""

    def posted(pattern: re.Pattern[str]) -> float:
        return sum(seconds for name, seconds in rank.posted_s.items() if pattern.match(name))

    rooted, received, started = posted(ROOTED_POST), posted(RECEIVING_POST), posted(STARTS)
    if "Recv_init" in rank.made:
        received += started
    elif any(ROOTED_INIT.match(made) for made in rank.made):
        rooted += started
    return late_name("Ibcast") if rooted > received else ""


class Blocking:
    """The blocking calls of a run in which ranks waited."""

    def __init__(self, run: Recorded, partners: Partners) -> None:
        self.partners = partners
        self.causes = partners.causes
        self.in_calls: dict[tuple[int, Spot], float] = {}
        for site in run.sites:
            if blocks(site.function):
                for rank, one in site.ranks.items():
                    key = rank, site.spot
                    self.in_calls[key] = self.in_calls.get(key, 0.0) + one.call_ns * NS
        self.in_waits: dict[tuple[int, Spot], float] = {}
        for rank, record in self.causes.ranks.items():
            for exchange in record.exchanges.values():
                key = rank, exchange.spot
                self.in_waits[key] = self.in_waits.get(key, 0.0) + exchange.wait_s

    def waited_at(self, site: Site, rank: int) -> float:
        """Of a rank's time in calls at a site, what was in those long enough to be a wait, s."""
        key = rank, site.spot
        if site.spot.function in SPINS:
            return waited_ns(site.ranks[rank]) * NS if rank in site.ranks else 0.0
        if not blocks(site.function) or rank not in site.ranks or not self.in_calls.get(key):
            return 0.0
        share = min(self.in_waits.get(key, 0.0) / self.in_calls[key], 1.0)
        return site.ranks[rank].call_ns * NS * share

    def waited(self, site: Site) -> float:
        """The same of all ranks."""
        return sum(self.waited_at(site, rank) for rank in site.ranks)

    def is_root(self, rank: int, spot: Spot) -> bool:
        """Whether the rank is the root of the broadcasts there, which it waits for nobody in: who
        waits for the root takes from it."""
        record = self.causes.ranks.get(rank)
        here = [one for one in record.exchanges.values() if one.spot == spot] if record else []
        gives = any(one.group is not None for one in here)
        return spot.is_rooted and gives and not any(one.way == "from" for one in here)

    def late_name(self, site: Site) -> str:
        """What waiting there for somebody who came late is called; of a door by what was waited for
        longest, a receive before a send where both are complete then."""
        if not site.is_door:
            return late_name(site.function)
        seconds: dict[str, float] = defaultdict(float)
        for rank in site.ranks:
            record = self.causes.ranks.get(rank)
            for one in record.exchanges.values() if record else ():
                if record and one.spot == site.spot and (name := waited_name(record, one)):
                    seconds[name] += one.wait_s + one.shared_s
        return max(seconds, key=lambda name: seconds[name], default="late partner")

    def reasons_at(self, site: Site, rank: int) -> Reasons:
        """Why one rank waited there, imbalance not told from what was late."""
        seconds = self.waited_at(site, rank)
        found = self.partners.meanwhile.of(rank, site.spot)
        if found is None:
            told = self.partners.of(rank, site.spot)
            late = seconds * told.late / told.whole if told and told.whole else 0.0
            if self.is_root(rank, site.spot):
                return Reasons(transfer=seconds, told=seconds)
            return Reasons(late=late, unknown=seconds - late, told=late)
        known = seconds * found.known_share
        late = known * found.late_share
        # Large ones move only while both are in MPI, unless the network moves them.
        is_large = site.size_class >= LEAST_SIZE_CLASS and not TOGETHER.match(site.function)
        unready = known * found.unready_share if is_large else 0.0
        return Reasons(
            no_progress=unready,
            late=late,
            transfer=max(known - late - unready, 0.0),
            unknown=seconds - known,
            told=known,
        )
