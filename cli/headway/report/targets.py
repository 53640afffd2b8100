# SPDX-License-Identifier: BSD-3-Clause
"""What is known of waits for targets of one-sided operations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from headway.report.spots import Spot

#: seconds by rank
Won = dict[int, float]


def zeros() -> Won:
    return defaultdict(float)


def added(each: Iterable[Won]) -> Won:
    found = zeros()
    for one in each:
        for rank, seconds in one.items():
            found[rank] += seconds
    return found


@dataclass(frozen=True)
class Entry:
    """Waits of one rank at one site for one target."""

    rank: int
    spot: Spot
    memory: str
    target: int | None  #: None: several, or not known
    waits: float
    wait_s: float


@dataclass(frozen=True)
class Seen:
    """One wait of the sample, laid over what its target did."""

    weight: float  #: of it, what the samples of both show, s
    share: float  #: of the wait, what is to be won
    computed: float  #: of it, in which the target computed
    is_alone: bool  #: it ended while the target computed
    target: int
    target_came: float  #: when the target last entered MPI, on the clock of who waited
    late: float = 0.0  #: of the wait, until those came without whom the epoch cannot end
    held: float = 0.0  #: of the wait, until others gave up the lock


@dataclass
class Row:
    """Waits at one call site on one kind of window, over all ranks; seconds are sums."""

    spot: Spot
    memory: str
    waited: float = 0.0
    waits: float = 0.0
    looks: int = 0  #: waits laid over what their targets did
    served_alone: int = 0  #: of these
    computed: float = 0.0  #: in which the targets computed, s
    late: float = 0.0  #: for others to come to the epoch, s
    held: float = 0.0  #: for others to give up the lock, s
    ghosts: float = 0.0  #: what they would recover, s
    unserved: float = 0.0  #: what could be won, had any engine a way to act for the targets, s
    thread: float = 0.0
    unknown: float = 0.0  #: of `waited`, about which nothing is known, s
    targets: Won = field(default_factory=zeros)  #: by what is to be won
    ranks: Won = field(default_factory=zeros)  #: who would win it
    why_no_ghosts: str = ""
    why_no_thread: str = ""
    why_unknown: set[str] = field(default_factory=set)

    def won_by_rank(self, seconds: float) -> Won:
        """What an engine would recover here, to whom it goes."""
        whole = sum(self.ranks.values())
        return {rank: part * seconds / whole for rank, part in self.ranks.items() if whole}


#: call site, and what the window is made of
Kind = tuple[Spot, str]
