# SPDX-License-Identifier: BSD-3-Clause
"""The named suites: which programs with which options answer which question."""

from __future__ import annotations

from headway.bench import adaptive, moved, solvers
from headway.bench.cases import (
    ALL_SIZES,
    ARRAY_OPERATIONS,
    CAUSES,
    CHANGING,
    COLLECTIVES,
    EPOCHS,
    KIB,
    LARGE_SIZES,
    LOCKALL,
    MIB,
    NOTHING,
    PACKED_TYPES,
    PATTERN_PHASES,
    PATTERNS,
    PREDICTED,
    REORDERED,
    SENT_TYPES,
    SINGLE_OPERATIONS,
    TOLD_CASES,
    WAKEUP,
    WITHIN_SIZES,
    WOKEN_SEND,
    Case,
    collective,
    exchange,
    from_first,
    get_compute_update,
    halo,
    known_cause,
    late_epoch,
    latency,
    multigrid,
    one_sided,
    one_sided_cost,
    one_sided_on,
    one_sided_origin,
    one_sided_own_core,
    p2p,
    packed_halo,
    packed_ping_pong,
    packing,
    packing_crowded,
    packing_shared,
    progression,
    rate,
    rma_pattern,
    rma_predicted,
    rma_users,
    with_beside,
)
from headway.bench.suite import FOUR_A_CORE, NO_WINDOWS, Suite, one_sided_suite

_SUITES = (
    Suite(
        "overlap",
        "Point-to-point, 1 Gbit/s, work as long as the wire",
        (p2p("both ways", LARGE_SIZES, 2),),
    ),
    Suite(
        "overlap-helper",
        "Point-to-point: the thread is woken by sockets, by a timer, or by a helper",
        tuple(with_beside(p2p("both ways", (size,), 2)) for size in (256 * KIB, MIB, 4 * MIB)),
        sockbufs=("small",),
        extra_modes=("helper",),
        launches=5,
    ),
    Suite(
        "woken-helper",
        "A receiver within the node computes: the thread is woken by a timer or by a helper",
        (WOKEN_SEND,),
        ("none",),
        ("default",),
        ("helper", "off"),
        is_forced=True,
        launches=3,
    ),
    Suite(
        "rma-helper",
        "A target computes: its thread is woken by sockets, by a timer, or by a helper",
        (
            one_sided("accumulate"),
            one_sided("fetch_and_op"),
            one_sided("accumulate", window="create", nodes=1),
            one_sided("fetch_and_op", window="create", nodes=1),
            one_sided("accumulate", nodes=1),
        ),
        sockbufs=("default",),
        extra_modes=("helper", "off"),
        is_forced=True,
        launches=3,
        excluded=NO_WINDOWS,
    ),
    Suite(
        "overlap-first",
        "Every window from the first one on, work as long as the wire",
        tuple(from_first("exchange", size, 8, 64) for size in (256 * KIB, MIB)),
        extra_modes=("keep",),
        launches=10,
    ),
    Suite(
        "overlap-fast",
        "Every window from the first one on, 10 Gbit/s and a link without a limit",
        tuple(from_first("exchange", size, 8, 64) for size in (MIB, 2 * MIB, 4 * MIB)),
        ("10gbit", "none"),
        launches=5,
    ),
    Suite(
        "coll-first",
        "Every window of nonblocking collectives from the first one on",
        tuple(
            from_first(kind, MIB, 8, 32)
            for kind in ("iallreduce", "ireduce_scatter", "ialltoall", "ialltoallv", "iallgather")
        ),
        extra_modes=("keep",),
        launches=5,
    ),
    Suite(
        "patterns",
        "Every window of exchanges as programs write them, from the first one on",
        tuple(from_first(name, MIB, 8, 40) for name in PATTERNS),
        sockbufs=("default",),
        extra_modes=("keep",),
        has_peers=False,
        launches=3,
    ),
    Suite(
        "loops",
        "Every window of exchanges in a loop without a barrier, from the first one on",
        (
            *(from_first("loop", size, 8, 60) for size in (256 * KIB, MIB)),
            *(from_first("pieces", size, 8, 60) for size in (MIB, 2 * MIB)),
            *(from_first(name, MIB, 8, 60) for name in ("boundary", "started", "halo")),
        ),
        sockbufs=("default",),
        extra_modes=("keep",),
        has_peers=False,
        launches=3,
    ),
    Suite(
        "epochs",
        "Every window of one-sided exchanges whose origin computes before the epoch ends",
        (
            *(from_first(name, MIB, 8, 40) for name in EPOCHS),
            *(from_first(name, 64 * KIB, 8, 160) for name in EPOCHS),
        ),
        sockbufs=("default",),
        extra_modes=("keep",),
        has_peers=False,
        launches=3,
        excluded=NO_WINDOWS,
    ),
    Suite(
        "phases",
        "A program that changes what it does, and one with nothing to gain",
        (CHANGING, NOTHING),
        extra_modes=("keep", "fixed"),
        has_peers=False,
        launches=5,
    ),
    Suite(
        "overlap-peers",
        "Point-to-point beside the asynchronous modes the MPIs bring along",
        (p2p("both ways", (256 * KIB, MIB, 4 * MIB), 2, timeout_s=30.0),),
        sockbufs=("small",),
        launches=3,
    ),
    Suite(
        "transport",
        "TCP with and without the protocol that makes directions wait, no computation",
        (p2p("both ways", (256 * KIB, MIB, 4 * MIB), 2, "none"),),
        ("1gbit", "2500mbit", "10gbit", "25gbit"),
        ("default",),
        ("transport",),
        launches=3,
    ),
    Suite(
        "overlap-transport",
        "Point-to-point with and without what headway run tells the transport",
        (p2p("both ways", (256 * KIB, MIB, 4 * MIB), 2, timeout_s=30.0),),
        sockbufs=("small",),
        extra_modes=("transport",),
        launches=3,
    ),
    Suite(
        "overlap-one-way",
        "Point-to-point one way, 1 Gbit/s, work as long as the wire",
        (p2p("one way", LARGE_SIZES, 1),),
        sockbufs=("small",),
        launches=3,
    ),
    Suite(
        "overlap-reduce",
        "Point-to-point both ways, completed after an MPI_Allreduce",
        (
            exchange("256 KiB, reduce", 256 * KIB, completion="reduce"),
            exchange("1 MiB, reduce", MIB, completion="reduce"),
            exchange("4 MiB, reduce", 4 * MIB, completion="reduce"),
        ),
        sockbufs=("small",),
        launches=3,
    ),
    Suite(
        "overlap-small",
        "Point-to-point below the sizes that gain",
        (p2p("both ways", ALL_SIZES[:7], 2),),
    ),
    Suite(
        "overlap-200mbit",
        "Point-to-point, 200 Mbit/s, work as long as the wire",
        (p2p("both ways", (256 * KIB, MIB, 4 * MIB), 2),),
        ("200mbit",),
        launches=3,
    ),
    Suite(
        "coll",
        "Nonblocking collectives, work as long as the wire",
        tuple(collective(name, (256 * KIB, MIB, 4 * MIB)) for name in COLLECTIVES),
        launches=3,
    ),
    Suite(
        "coll-helper",
        "Nonblocking collectives: the thread is woken by sockets, or by a timer, a helper beside",
        tuple(collective(name, (MIB,)) for name in ("ialltoall", "iallreduce", "ibcast")),
        sockbufs=("small",),
        extra_modes=("helper",),
        launches=3,
    ),
    Suite(
        "halo",
        "Heat solver, interior update as long as the wire",
        (halo(16 * KIB), halo(64 * KIB), halo(128 * KIB)),
        extra_modes=("transport",),
    ),
    Suite(
        "halo-persistent",
        "Heat solver with persistent requests",
        (halo(64 * KIB, persistent="1"), halo(128 * KIB, persistent="1")),
    ),
    Suite(
        "prediction",
        "What a profile predicts, and what then happens",
        PREDICTED,
        sockbufs=("small",),
        extra_modes=("profile", "transport"),
        launches=3,
    ),
    Suite(
        "prediction-rma",
        "What a profile predicts of one-sided waits, and what then happens",
        (
            get_compute_update(1, 192, 1152, iterations="4", warmup="1"),
            get_compute_update(2, 192, 1152, iterations="4", warmup="1"),
            *(
                rma_predicted(target, flush)
                for target in ("all-to-all", "to-one-node")
                for flush in ("each", "end")
            ),
        ),
        ("10gbit",),
        ("default",),
        ("profile", "ghosts"),
        launches=3,
        excluded=NO_WINDOWS,
    ),
    Suite(
        "profile-cost",
        "What watching costs",
        (latency(2), halo(64 * KIB, warmup="12")),
        ("1gbit",),
        ("default",),
        ("profile", "paths", "off"),
        has_peers=False,
        launches=7,
    ),
    Suite(
        "latency",
        "Ping-pong between nodes",
        (latency(2),),
        ("1gbit",),
        ("default",),
        ("off", "multiple"),
    ),
    Suite(
        "msgrate",
        "Windowed message rate between nodes",
        (rate(2),),
        ("1gbit",),
        ("default",),
        ("off", "multiple"),
    ),
    Suite(
        "intranode",
        "Latency and message rate within a node",
        (latency(1), rate(1)),
        ("none",),
        ("default",),
        ("thread", "off", "multiple"),
    ),
    Suite(
        "intranode-overlap",
        "Overlap within a node whose cores all have a process",
        (
            p2p("both ways", WITHIN_SIZES, 2, "latency", nodes=1, ranks_per_node=2),
            p2p("one way", WITHIN_SIZES, 1, "latency", nodes=1, ranks_per_node=2),
        ),
        ("none",),
        ("default",),
        ("thread", "off"),
    ),
    Suite(
        "idle",
        "Nothing to gain: small messages, and CPU while nothing is pending",
        (
            p2p("both ways", (8, KIB, 8 * KIB), 2, 2e-4),
            Case("cpu", "cpuburn", (4 * MIB,), {}, "wire", timeout_s=60.0),
        ),
        ("1gbit",),
        ("default", "small"),
        ("off", "ghosts"),
    ),
    Suite(
        "smart-fig5",
        "Latency overhead, overlap and progression at the receiver",
        (progression((16 * KIB, 64 * KIB, 256 * KIB, MIB)),),
        ("1gbit",),
        ("default", "small"),
        launches=3,
    ),
    Suite(
        "multipair",
        "Several pairs at once",
        (
            Case("1 pair", "multipair", (64 * KIB, 256 * KIB, MIB), {}, "wire"),
            Case(
                "2 pairs",
                "multipair",
                (64 * KIB, 256 * KIB, MIB),
                {},
                "wire",
                ranks_per_node=2,
                traffic=2.0,
            ),
        ),
        extra_modes=("moved",),
    ),
    one_sided_suite(
        "rma",
        "One-sided operation and flush while the target computes",
        (
            *(one_sided(name) for name in (*ARRAY_OPERATIONS, *SINGLE_OPERATIONS)),
            *(one_sided(name, is_strided=True) for name in ARRAY_OPERATIONS),
        ),
    ),
    Suite(
        "wakeup",
        "A process that sleeps on a computing process' core, woken from another node; no MPI",
        (WAKEUP,),
        sockbufs=("default",),
        launches=3,
    ),
    one_sided_suite(
        "rma-create",
        "The same on windows of MPI_Win_create over memory of MPI_Alloc_mem",
        one_sided_on("create"),
    ),
    one_sided_suite(
        "rma-own-core",
        "The same where the ghost has a core of its own, the target asleep",
        tuple(one_sided_own_core(name) for name in (*ARRAY_OPERATIONS, *SINGLE_OPERATIONS)),
    ),
    one_sided_suite(
        "rma-dynamic",
        "The same on windows of MPI_Win_create_dynamic over memory of MPI_Alloc_mem",
        one_sided_on("dynamic"),
    ),
    Suite(
        "rma-shared",
        "The same within a node on windows of MPI_Win_allocate_shared",
        tuple(
            one_sided(name, window="shared", nodes=1)
            for name in ("put", "accumulate", "fetch_and_op")
        ),
        ("none",),
        ("default",),
        ("ghosts", "thread", "off"),
        launches=3,
    ),
    Suite(
        "rma-origin",
        "A large operation and flush beside the origin's own computation",
        tuple(
            with_beside(one_sided_origin(name, ways)) for name in ("put", "get") for ways in (1, 2)
        ),
        extra_modes=("ghosts",),
        launches=3,
        excluded=NO_WINDOWS,
    ),
    Suite(
        "rma-late",
        "Epochs whose target is late",
        tuple(late_epoch(kind) for kind in ("gats", "fence", "lock")),
        ("10gbit",),
        ("default",),
        ("ghosts",),
        has_peers=False,
        launches=3,
        excluded=NO_WINDOWS,
        settings={"deferred": {"HEADWAY_DEFER": "on"}},
    ),
    one_sided_suite(
        "rma-cost",
        "Windows and one-sided synchronisation while nobody computes",
        (
            one_sided_cost("window made", "window", (8, MIB)),
            one_sided_cost("window made, reordered", "window", (8,), 1, **REORDERED),
            one_sided_cost("window made, reordered, lockall", "window", (8,), 1, **LOCKALL),
            one_sided_cost("lock and unlock", "lock", (8,)),
            one_sided_cost("lock, put, unlock", "put", (8,)),
            one_sided_cost("put, flush", "flush", (8,)),
            one_sided_cost("fence", "fence", (8,)),
            one_sided_cost("post, start, put, complete, wait", "pscw", (8,)),
            one_sided_cost("lock_all and unlock_all", "lock_all", (8,)),
        ),
    ),
    Suite(
        "get-compute-update",
        "Tasks from a shared counter: get two tiles, multiply, accumulate",
        (
            get_compute_update(1, 192, 1152),
            get_compute_update(2, 192, 1152),
            get_compute_update(2, 96, 576),
            get_compute_update(2, 288, 1728),
        ),
        ("1gbit", "10gbit"),
        ("default",),
        ("ghosts",),
        launches=3,
        excluded=NO_WINDOWS,
    ),
    Suite(
        "rma-patterns",
        "Operations, DGEMM, operations, by processes out of step",
        tuple(
            rma_pattern(phase, pattern, flush)
            for phase in PATTERN_PHASES
            for pattern in ("all-to-all", "to-one-node")
            for flush in ("each", "end")
        ),
        ("1gbit",),
        ("default",),
        ("ghosts",),
        launches=2,
        excluded=NO_WINDOWS,
    ),
    Suite(
        "rma-users",
        "One ghost for more and more user processes",
        tuple(rma_users(phase, users) for phase in PATTERN_PHASES for users in (1, 2, 4)),
        ("10gbit",),
        ("default",),
        ("ghosts",),
        launches=2,
        excluded=NO_WINDOWS | FOUR_A_CORE,
    ),
    Suite(
        "memory",
        "Memory per process",
        (Case("traffic", "memory"),),
        ("1gbit",),
        ("default",),
        ("off", "multiple", "transport"),
        launches=3,
    ),
    Suite(
        "percall",
        "Cost of interposition, per call",
        (Case("calls", "percall", nodes=1, ranks_per_node=2),),
        ("none",),
        ("default",),
        ("off", "multiple"),
        is_forced=True,
        launches=9,
    ),
    Suite(
        "causes",
        "What a profile says that programs of known causes wait for, and what is then saved",
        tuple(known_cause(name) for name in CAUSES),
        sockbufs=("small",),
        extra_modes=("profile",),
        has_peers=False,
        launches=3,
    ),
    Suite(
        "pack",
        "Derived datatypes packed and unpacked by one process",
        tuple(packing(kind, way) for kind in PACKED_TYPES for way in (False, True)),
        ("none",),
        ("default",),
        has_peers=False,
        launches=3,
    ),
    Suite(
        "pack-threads",
        "Derived datatypes packed by a process with two OpenMP threads",
        (
            *(
                packing_shared(kind, place)
                for kind in ("struct", "x_face", "rows")
                for place in ("between", "single", "beside")
            ),
            *(packing_crowded(kind) for kind in ("struct", "x_face")),
        ),
        ("none",),
        ("default",),
        ("alone",),
        has_peers=False,
        launches=3,
    ),
    Suite(
        "mg",
        "Multigrid solver, halos of derived datatypes",
        (
            *(
                multigrid("one rank", layout, place)
                for layout in ("cells", "arrays")
                for place in ("between", "single")
            ),
            multigrid("two ranks", "cells", "between", 1),
            multigrid("two nodes", "cells", "between", 1),
            *(
                multigrid(where, "cells", place)
                for where in ("two ranks", "two nodes")
                for place in ("between", "single")
            ),
            multigrid("two nodes", "arrays", "between"),
        ),
        ("10gbit",),
        ("default",),
        ("alone",),
        has_peers=False,
        launches=3,
    ),
    Suite(
        "pack-p2p",
        "Messages of derived datatypes: ping-pong, and halos of structs",
        (
            *(packed_ping_pong(kind, nodes) for nodes in (2, 1) for kind in SENT_TYPES),
            *(packed_halo(face) for face in ("x", "y", "z")),
        ),
        ("10gbit",),
        ("default",),
        ("packed", "unpacked"),
        has_peers=False,
        launches=3,
    ),
    Suite(
        "told",
        "What the library says the thread saved, and what the clock says",
        TOLD_CASES,
        sockbufs=("small",),
        extra_modes=("keep", "off"),
        launches=3,
    ),
)

#: short enough for ./dev bench
QUICK = Suite(
    "quick",
    "A short look: point-to-point, one collective, latency",
    (
        p2p("both ways", (256 * KIB, MIB), 2, timeout_s=20.0),
        collective("ialltoallv", (MIB,), timeout_s=20.0),
        Case("latency", "latency", (8, KIB, 8 * KIB), {"batches": "20"}, timeout_s=20.0),
    ),
    sockbufs=("small",),
    launches=2,
)

SUITES = {
    suite.name: suite
    for suite in (*_SUITES, *moved.SUITES, *adaptive.SUITES, *solvers.SUITES, QUICK)
}
#: the receiver-side procedure yields three figures in one run
ALIASES = {"smart-fig6": "smart-fig5", "smart-fig7": "smart-fig5"}


def find(name: str) -> Suite | None:
    return SUITES.get(ALIASES.get(name, name))
