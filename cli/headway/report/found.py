# SPDX-License-Identifier: BSD-3-Clause
"""What single waits of one rank at one call site were for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from headway.records import NS
from headway.report.spots import NOWHERE, Spot

#: whoever is named was the late one in this part of it
NAMED = 0.1


@dataclass(frozen=True)
class Came:
    """Of one wait, ns: until the partner came, and how long it computed after it had posted."""

    late: float
    unready: float
    partner: int
    computing: bool  #: it had computed, and had not waited, before it came
    then: Spot  #: the call it came with
    is_awaited: bool = False  #: that call was what the wait was for, no other of its calls
    give_or_take: float = 0.0  #: of all this, as clocks are known


@dataclass
class Found:
    """Of the waits of one rank at one call site that were looked at, seconds."""

    looks: int = 0
    whole: float = 0.0
    late: float = 0.0
    unready: float = 0.0
    awaited: float = 0.0  #: of `late`, until the very call that was waited for
    give_or_take: float = 0.0  #: of `late`, as clocks are known
    beyond: float = 0.0  #: not of `whole`: waits after the last moment of a partner's record
    partners: int = 0  #: of one wait, at most
    #: of `late`, by who came last, and the call before which that one computed; NOWHERE: it waited
    whom: dict[tuple[int, Spot], float] = field(default_factory=lambda: defaultdict(float))

    @property
    def late_share(self) -> float:
        return self.late / self.whole if self.whole else 0.0

    @property
    def known_share(self) -> float:
        """Of the waits, those in which the partners' records go on."""
        both = self.whole + self.beyond
        return self.whole / both if both else 0.0

    @property
    def unready_share(self) -> float:
        return self.unready / self.whole if self.whole else 0.0

    def add(self, came: Came, length: float, weight: float) -> None:
        late = min(came.late, length)
        self.whole += length * NS * weight
        self.late += late * NS * weight
        self.unready += min(came.unready, length - late) * NS * weight
        self.awaited += late * NS * weight if came.is_awaited else 0.0
        self.give_or_take += came.give_or_take * NS * weight
        if late > 0:
            by = came.partner, came.then if came.computing else NOWHERE
            self.whom[by] += late * NS * weight

    def merge(self, other: Found) -> None:
        self.looks += other.looks
        self.whole += other.whole
        self.late += other.late
        self.unready += other.unready
        self.awaited += other.awaited
        self.give_or_take += other.give_or_take
        self.beyond += other.beyond
        self.partners = max(self.partners, other.partners)
        for by, seconds in other.whom.items():
            self.whom[by] += seconds

    def late_of(self, seconds: float) -> float:
        """Of a wait of so long what somebody is known to have been late by."""
        return seconds * self.known_share * self.late_share

    def named(self) -> list[tuple[int, Spot, float]]:
        """Who was late, before which call, and of this how much; the most first."""
        return [
            (rank, spot, seconds / self.late)
            for (rank, spot), seconds in sorted(self.whom.items(), key=lambda pair: -pair[1])
            if seconds >= NAMED * self.late
        ]

    def words(self, seconds: float) -> str:
        """For whom a wait of so long was, and what they did."""
        named = self.named()
        each = list(ranks_of(named))
        who = ", ".join(
            f"{rank} ({100 * part:.0f} %)" if len(each) > 1 else f"{rank}" for rank, part in each
        )
        who = f"ranks {who} in turns" if len(each) > 1 else f"rank {who}"
        spots = {spot for _, spot, _ in named}
        did = "was computing" if len(each) == 1 else "were computing"
        if spots == {NOWHERE}:
            did = "waited elsewhere"
        elif len(spots) == 1:
            did += f" before {spots.pop()}"
        return f"for {who}, which {did}: {self.late_of(seconds):.2f} s of that"


def ranks_of(named: Sequence[tuple[int, Spot, float]]) -> Iterator[tuple[int, float]]:
    shares: dict[int, float] = defaultdict(float)
    for rank, _, share in named:
        shares[rank] += share
    yield from sorted(shares.items(), key=lambda pair: -pair[1])
