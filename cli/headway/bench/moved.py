# SPDX-License-Identifier: BSD-3-Clause
"""Suites of messages and collectives that ghosts move, and those of the figures of papers/000."""

from __future__ import annotations

from headway.bench.cases import (
    ALL_SIZES,
    KIB,
    MIB,
    WITHIN_SIZES,
    collective,
    halo,
    p2p,
    rate,
    with_beside,
)
from headway.bench.suite import Suite

#: what each figure of papers/000 has beside plain, the thread and the MPI's own mode
_WAYS = ("ways",)

SUITES = (
    Suite(
        "overlap-moved",
        "Point-to-point: moved by the MPI, by the MPI with the thread, or by ghosts",
        tuple(with_beside(p2p("both ways", (size,), 2)) for size in (256 * KIB, MIB, 4 * MIB)),
        sockbufs=("small",),
        extra_modes=("moved",),
        launches=3,
    ),
    Suite(
        "coll-moved",
        "Nonblocking collectives: made by the MPI, by the MPI with the thread, or by ghosts",
        tuple(
            with_beside(collective(name, (size,)))
            for name in ("ibcast", "iallgather", "ialltoall")
            for size in (256 * KIB, MIB, 4 * MIB)
        ),
        sockbufs=("small",),
        extra_modes=("coll-moved",),
        launches=3,
    ),
    Suite(
        "near",
        "Within a node: moved by the MPI, by the MPI with the thread, or read by the receiver",
        tuple(
            with_beside(p2p(name, WITHIN_SIZES, ways, "latency", nodes=1, ranks_per_node=2))
            for ways, name in ((2, "both ways"), (1, "one way"))
        ),
        ("none",),
        ("default",),
        ("thread", "off", "near"),
        launches=3,
    ),
    Suite(
        "casper2-fig3",
        "Posting and waiting without computation",
        (p2p("no work", (8, 256, *ALL_SIZES[:13]), 2, "none"),),
        extra_modes=(*_WAYS, "multiple"),
    ),
    Suite(
        "casper2-fig4",
        "Message rate over all sizes",
        (rate(2, (8, 64, 512, 4 * KIB, 16 * KIB, 64 * KIB), 32),),
        ("1gbit",),
        ("default",),
        _WAYS,
    ),
    Suite(
        "casper2-fig5",
        "Relative time, delay as long as plain posting and waiting",
        (p2p("delayed", ALL_SIZES[:13], 2, "latency"),),
        extra_modes=_WAYS,
    ),
    Suite(
        "casper2-fig6",
        "Profile of post, compute and wait",
        (with_beside(p2p("delayed", (16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB), 2, "latency")),),
        extra_modes=_WAYS,
    ),
    Suite(
        "casper2-fig7",
        "Nearest-neighbour exchange in two dimensions",
        (halo(64 * KIB),),
        extra_modes=_WAYS,
    ),
)
