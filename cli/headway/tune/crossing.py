# SPDX-License-Identifier: BSD-3-Clause
"""At which share of time in MPI ghosts and owners take equally long: no clock and no process here.

A pattern is tried with less and less computation beside its operations, and then with more of
these, until ghosts are behind (papers/002 section 7.2).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from headway.thresholds import ABOVE, BELOW, FOUND

#: routes that differ by less take equally long
EQUAL = 0.05


@dataclass(frozen=True)
class Tried:
    """One number of operations: what a round took by each route, and how much of it in MPI."""

    ghost_s: float
    owner_s: float
    ghost_share: float
    owner_share: float

    @property
    def ratio(self) -> float:
        return self.ghost_s / self.owner_s

    @property
    def share(self) -> float:
        return (self.ghost_share + self.owner_share) / 2


def is_over(tried: Sequence[Tried]) -> bool:
    """Ghosts are behind: more operations tell nothing."""
    return bool(tried) and tried[-1].ratio > 1 + EQUAL


def crossing(tried: Sequence[Tried]) -> tuple[float, str]:
    """The share, and whether it was found or is a bound of it. TRIED by operations, one or more."""
    last = tried[-1]
    if not is_over(tried):
        return last.share, ABOVE
    if len(tried) == 1:
        return last.share, BELOW
    equal = [one.share for one in tried if abs(one.ratio - 1) <= EQUAL and one.share > 0]
    before = tried[-2]
    if before.ratio < 1 - EQUAL or not equal:
        part = (1 - before.ratio) / (last.ratio - before.ratio)
        return before.share + max(part, 0.0) * (last.share - before.share), FOUND
    return statistics.fmean(equal), FOUND
