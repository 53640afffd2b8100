# SPDX-License-Identifier: BSD-3-Clause
"""Whether some ranks have more to compute than others throughout a run, or are late now and then.

Known from the time in MPI by slices of the run, which every rank records. Over the whole run a rank
that was held up once and a rank that always has more to do look the same; by slices they do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headway.record.table import Profile
from headway.records import NS

#: fewer slices tell nothing about "throughout"
LEAST_SLICES = 6
#: of the slices, this part must show the same order
THROUGHOUT = 0.75
#: a smaller difference, as a part of what the busiest rank computes, is noise
WORTH = 0.02
#: ranks this near the busiest (as a part of the largest difference) are named with it
NEAR = 0.25


@dataclass(frozen=True)
class Imbalance:
    """Ranks that compute more throughout, and what the others compute less, in seconds."""

    busiest: tuple[int, ...]
    computes_s: float  #: the busiest one
    less_s: dict[int, float]  #: by rank; only those that compute less throughout
    slices: int

    def shares(
        self, rank: int, late_s: float, elsewhere_s: float, progress_s: float
    ) -> tuple[float, float]:
        """Of what this rank waited for late partners, and of what progress lacked, the parts that
        are for this. What it computes less is spread over the former and its time in other calls,
        where it waits as well. What is more than these it waits whoever makes progress: what comes
        earlier is followed by what is not posted yet."""
        less_s, idle_s = self.less_s.get(rank, 0.0), late_s + elsewhere_s
        rest_s = max(less_s - idle_s, 0.0)
        return (
            min(1.0, less_s / idle_s) if idle_s > 0 else 0.0,
            min(1.0, rest_s / progress_s) if progress_s > 0 else 0.0,
        )


def slices_of(profile: Profile) -> tuple[float, list[float]]:
    """Length of a slice and time outside MPI in each, seconds; the last one, not over, left out."""
    length = profile.slices.length_ns * NS
    inside = [each * NS for each in profile.slices.mpi_ns]
    return length, [min(max(length - each, 0.0), length) for each in inside[:-1]]


def coarsened(length: float, each: list[float], wanted: float) -> list[float]:
    """Slices of `wanted` length, which is a power of two times `length`."""
    count = max(round(wanted / length), 1)
    whole = len(each) - len(each) % count
    return [sum(each[at : at + count]) for at in range(0, whole, count)]


def begun(computed: Iterable[list[float]], length: float) -> int:
    """The slices before any rank is in MPI: it starts, which may take longer than a short run."""
    alone = length * (1 - 1e-9)
    return min(
        next((at for at, each in enumerate(slices) if each < alone), len(slices))
        for slices in computed
    )


def find(profiles: Mapping[int, Profile]) -> Imbalance | None:
    """None where the ranks compute alike, or only sometimes not, or too little is known."""
    found = {rank: slices_of(profile) for rank, profile in profiles.items()}
    if len(found) < 2 or not all(length > 0 for length, _ in found.values()):
        return None
    longest = max(length for length, _ in found.values())
    computed = {rank: coarsened(length, each, longest) for rank, (length, each) in found.items()}
    first = begun(computed.values(), longest)
    computed = {rank: each[first:] for rank, each in computed.items()}
    count = min(len(each) for each in computed.values())
    if count < LEAST_SLICES:
        return None
    total = {rank: sum(each[:count]) for rank, each in computed.items()}
    top = max(total, key=lambda rank: (total[rank], -rank))
    less = {
        rank: total[top] - total[rank]
        for rank, each in computed.items()
        if total[top] - total[rank] > WORTH * total[top]
        and sum(a > b for a, b in zip(computed[top][:count], each, strict=False))
        >= THROUGHOUT * count
    }
    if not less:
        return None
    most = max(less.values())
    near = tuple(sorted(rank for rank in total if total[top] - total[rank] <= NEAR * most))
    return Imbalance(near, total[top], less, count)
