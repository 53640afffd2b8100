# SPDX-License-Identifier: BSD-3-Clause
"""The efficiencies of the POP Centre of Excellence, as TALP and others report them.

Useful time of a rank is its time outside MPI. MPI_Init is left out: of the run, and of each rank.
With R ranks, of which rank r computes u(r) of a run of T:

    parallel efficiency       mean u / T       = load balance x communication efficiency
    communication efficiency  max u / T
    load balance              mean u / max u   = between nodes x within nodes
      between nodes           mean u / the largest mean u of a node
      within nodes            the largest mean u of a node / max u
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from headway.outcome import SMALL_SHARE
from headway.record import endings
from headway.record.table import Record

#: a smaller mean of what ranks wait in MPI_Finalize is not worth a word, s
LEAST_S = 0.005


@dataclass(frozen=True)
class Efficiencies:
    """Each a part of 1. `between` and `within` are None where all ranks are on one node, or the
    records do not name their nodes."""

    parallel: float
    communication: float
    balance: float
    between: float | None
    within: float | None
    busiest: int  #: rank that computes longest
    nodes: int


def run_s(record: Record) -> float:
    """From the end of MPI_Init to MPI_Finalize."""
    return max(record.wall_s - (record.init_s or 0.0), 0.0)


def span_s(records: Sequence[Record]) -> float:
    """The run that the shares beside the efficiencies are of."""
    return max(map(run_s, records), default=0.0)


def useful_s(record: Record) -> float:
    """Outside MPI. Several threads may be in MPI at a time: their times add up there, and no rank
    has less than nothing outside."""
    return max(run_s(record) - (record.mpi_s or 0.0), 0.0)


def efficiencies(records: Sequence[Record]) -> Efficiencies | None:
    """None where the records do not tell the time in MPI, or nothing was computed."""
    told = [record for record in records if record.mpi_s is not None]
    whole = span_s(told)
    useful = [useful_s(record) for record in told]
    most = max(useful, default=0.0)
    if not whole or not most:
        return None
    mean = sum(useful) / len(useful)
    nodes: dict[str, list[float]] = defaultdict(list)
    for record, seconds in zip(told, useful, strict=True):
        nodes[record.host].append(seconds)
    between = within = None
    if len(nodes) > 1 and "" not in nodes:
        fullest = max(sum(each) / len(each) for each in nodes.values())
        between, within = mean / fullest, fullest / most
    return Efficiencies(
        parallel=mean / whole,
        communication=most / whole,
        balance=mean / most,
        between=between,
        within=within,
        busiest=told[useful.index(most)].rank,
        nodes=len(nodes),
    )


def last_lines(records: Sequence[Record]) -> list[str]:
    """Who came last to MPI_Finalize. It is no call site, so that what the others wait there has no
    row; without this line their time is missing from everything but the efficiencies."""
    if len(records) < 2 or not all(map(endings.is_complete, records)):
        return []
    last = max(records, key=run_s)
    each = [run_s(last) - run_s(record) for record in records]
    if sum(each) / len(records) < max(SMALL_SHARE * run_s(last), LEAST_S):
        return []
    return [
        f"Rank {last.rank} came to MPI_Finalize last, {sum(each) / (len(each) - 1):.2f} s after "
        "the others in the mean. What they wait there is not among the waits above."
    ]
