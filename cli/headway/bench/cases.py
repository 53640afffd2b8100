# SPDX-License-Identifier: BSD-3-Clause
"""The cases that suites are made of: one program with its options each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

KIB = 1024
MIB = 1024 * KIB

#: payload in a full frame, and the frame the link's rate limit counts
FRAMING = 1514 / 1448


@dataclass(frozen=True)
class Phase:
    """Windows of one transfer, in a run of `phases`. Without work a window waits at once."""

    kind: str  #: as in bench/common/transfer.h and pattern.h
    bytes: int
    windows: int
    work: float = 0.0  #: as a multiple of the wire's time
    work_s: float = 0.0  #: in seconds, where it has nothing to do with the wire

    @property
    def key(self) -> str:
        return f"{self.kind}:{self.bytes}"

    @property
    def wire_bytes(self) -> float:
        """Over the busier direction of a link, between two processes: each keeps its half of what
        is reduced and scattered."""
        return self.bytes * (0.5 if self.kind == "ireduce_scatter" else 1.0)


@dataclass(frozen=True)
class Case:
    """One program with its options.

    work   "wire": as long as the wire takes; "latency": as long as plain MPI takes to post and
           wait; "none"; or a number of seconds
    """

    name: str
    program: str
    sizes: tuple[int, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    work: str | float = "none"
    nodes: int = 2
    ranks_per_node: int = 1
    #: of a node; 0: as many as the program has ranks there. Ghosts bring none.
    cores_per_node: int = 0
    #: the last process of the job has a core of its own, all others share one
    is_last_apart: bool = False
    timeout_s: float = 60.0
    #: the timed windows of one size take about this long on the wire: many for small sizes
    windows_s: float = 0.25
    #: payload bytes over the busiest direction of a link, per byte of message size
    traffic: float = 1.0
    #: of the program `phases`
    phases: tuple[Phase, ...] = ()
    #: so many windows of a phase that computes have a row of their own; 0: a row for each phase
    first: int = 0
    #: by MPI: options in the place of these
    options_on: dict[str, dict[str, str]] = field(default_factory=dict)
    #: MPIs it is not run on, and why
    excluded: dict[str, str] = field(default_factory=dict)


ALL_SIZES = tuple(KIB << i for i in range(14))
LARGE_SIZES = (64 * KIB, 128 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 8 * MIB)
WITHIN_SIZES = (64 * KIB, 256 * KIB, MIB, 4 * MIB)
SMALL_SIZES = (8, 64, 512, KIB, 2 * KIB, 4 * KIB, 8 * KIB)
COLLECTIVES = (
    "ialltoallv",
    "igatherv",
    "iscatterv",
    "iallreduce",
    "ibcast",
    "iallgather",
    "ialltoall",
)


#: as in bench/common/pattern.h
PATTERNS = (
    "late_receive",
    "mprobe",
    "late_send",
    "late_isend",
    "parts",
    "waitany",
    "polled",
    "persistent",
    "columns",
    "any_source",
    "synchronous",
    "started",
    "halo",
    "loop",
    "pieces",
    "boundary",
    "double_buffered",
    "prefetched",
    "neighbors",
)

#: as in bench/common/epoch.h
EPOCHS = ("fence", "start_complete", "locked_get", "accumulate_flush")


#: windows in which a program is new to the library; published apart from those after them
FIRST_WINDOWS = 12


def from_first(kind: str, size: int, idle: int, windows: int) -> Case:
    """IDLE windows that wait at once, as a program that exchanges and then starts to compute has;
    then WINDOWS with computation as long as the wire. All are counted."""
    return Case(
        f"{kind} of {size // KIB} KiB",
        "phases",
        options={"beside": ""},
        work="wire",
        phases=(Phase(kind, size, idle), Phase(kind, size, windows, 1.0)),
        first=FIRST_WINDOWS,
    )


#: a program that changes what it does: exchanges and waits, computes with something pending, small
#: messages, other sizes, collectives, and back again
CHANGING = Case(
    "changing",
    "phases",
    options={"beside": ""},
    work="wire",
    phases=(
        Phase("exchange", MIB, 16),
        Phase("exchange", MIB, 24, 1.0),
        Phase("exchange", 8 * KIB, 200, work_s=2e-4),
        Phase("exchange", 256 * KIB, 48, 1.0),
        Phase("iallreduce", MIB, 16, 1.0),
        Phase("ialltoallv", MIB, 16),
        Phase("ialltoallv", MIB, 16, 1.0),
        Phase("exchange", MIB, 16),
        Phase("exchange", MIB, 24, 1.0),
        Phase("exchange", 4 * MIB, 8, 0.5),
    ),
)

#: a program with nothing to gain; nothing but its windows and their barriers is in its wall time
NOTHING = Case(
    "nothing to gain",
    "phases",
    work="wire",
    phases=(
        Phase("exchange", MIB, 32),
        Phase("exchange", 8 * KIB, 400, work_s=2e-4),
        Phase("exchange", KIB, 2000),
        Phase("ialltoallv", 256 * KIB, 64),
        Phase("exchange", MIB, 32),
    ),
)


def p2p(
    name: str, sizes: tuple[int, ...], directions: int, work: str | float = "wire", **more: object
) -> Case:
    options = {"directions": str(directions)}
    return Case(name, "overlap_p2p", sizes, options, work, **more)  # type: ignore[arg-type]


def exchange(name: str, size: int, **options: str) -> Case:
    """One size, both ways; OPTIONS say in how many messages, and how they are completed."""
    return Case(name, "overlap_p2p", (size,), {"directions": "2", **options}, "wire")


def collective(name: str, sizes: tuple[int, ...], **more: Any) -> Case:
    return Case(name, "overlap_coll", sizes, {"collective": name}, "wire", **more)


def with_beside(case: Case) -> Case:
    """The computation alone before each iteration too, for machines that change their speed."""
    return replace(case, options={**case.options, "beside": ""})


def halo(columns: int, steps: int = 60, **options: str) -> Case:
    """The row of COLUMNS goes to both neighbours, which are one rank on two nodes."""
    how = ", persistent" if options.get("persistent") == "1" else ""
    return Case(
        f"row of {columns * 8 // KIB} KiB{how}",
        "halo",
        (columns * 8,),
        {"columns": str(columns), "steps": str(steps), **options},
        "wire",
        traffic=2.0,
    )


def latency(nodes: int, sizes: tuple[int, ...] = SMALL_SIZES, batches: int = 50) -> Case:
    return Case(
        "latency",
        "latency",
        sizes,
        {"batches": str(batches)},
        nodes=nodes,
        ranks_per_node=2 // nodes,
    )


def rate(nodes: int, sizes: tuple[int, ...] = SMALL_SIZES, window: int = 64) -> Case:
    options = {"window": str(window), "batches": "15"}
    return Case("message rate", "msgrate", sizes, options, nodes=nodes, ranks_per_node=2 // nodes)


#: what the target computes meanwhile, in units of work; 0: it waits inside MPI
TARGET_WORK = (0, 300, 1500, 6000)
#: one element each
SINGLE_OPERATIONS = ("fetch_and_op", "compare_and_swap")
ARRAY_OPERATIONS = ("put", "get", "accumulate", "get_accumulate")


def one_sided(
    operation: str, *, is_strided: bool = False, window: str = "allocate", nodes: int = 2
) -> Case:
    """Origin and target on two nodes of one core each, which a ghost shares; or on two cores of
    one node."""
    options = {
        "operation": operation,
        "work": ",".join(map(str, TARGET_WORK)),
        "rounds": "15",
        "seconds": "0.25",
    }
    name = operation
    sizes: tuple[int, ...] = (8,)
    if operation in ARRAY_OPERATIONS:
        name = f"{operation}, {'3D strided' if is_strided else 'contiguous'}"
        sizes = (KIB, 64 * KIB, MIB) if is_strided else (8, KIB, 64 * KIB, MIB)
    if is_strided:
        options["strided"] = ""
    if window != "allocate":
        options["window"] = window
    if nodes == 1:
        name = f"{name}, one node, {window}"
    return Case(
        name,
        "rma_overlap",
        sizes,
        options,
        nodes=nodes,
        ranks_per_node=2 // nodes,
        cores_per_node=2 // nodes,
        timeout_s=12.0,
    )


def one_sided_origin(operation: str, directions: int) -> Case:
    """Work as long as the wire between an operation and its flush, a node of one core each."""
    ways = "one way" if directions == 1 else "both ways"
    return Case(
        f"{operation}, {ways}",
        "rma_origin",
        (256 * KIB, MIB, 4 * MIB),
        {"operation": operation, "directions": str(directions)},
        "wire",
        timeout_s=30.0,
    )


#: units of work of an origin whose target opens half as late
LATE_WORK = 2000


def late_epoch(kind: str) -> Case:
    """The origin of an epoch works beside a target that is late, a node of one core each."""
    work = {"work-units": str(LATE_WORK), "late-units": str(LATE_WORK // 2)}
    return Case(kind, "rma_late", (64 * KIB, MIB), {"kind": kind, **work}, timeout_s=30.0)


#: what the machine takes below the rows of `one_sided`, with the same computation
WAKEUP = Case(
    "woken",
    "wakeup",
    options={"work": ",".join(map(str, TARGET_WORK)), "rounds": "100"},
    timeout_s=12.0,
)


#: a receiver that computes for some 5 ms on a core of its own, while the sender waits on another
WOKEN_SEND = Case(
    "receiver computes",
    "woken_send",
    WITHIN_SIZES,
    {"work": "0,2500", "rounds": "100"},
    nodes=1,
    ranks_per_node=2,
    cores_per_node=2,
    timeout_s=30.0,
)


def one_sided_own_core(operation: str) -> Case:
    """The target's ghost has a core of its own, and so has the target where there is none.

    Two cores do not hold an origin, a target that spins in MPI and a ghost that spins: the target
    sleeps outside MPI where its ghost acts for it: to be compared with plain, the target in MPI.
    """
    case = one_sided(operation)
    longer = {"rounds": "400", "warmup": "5000"}
    options = {**case.options, "work": "0,200000", "stream": "", **longer}
    return replace(case, options=options, cores_per_node=2, is_last_apart=True)


def one_sided_on(window: str) -> tuple[Case, ...]:
    """A choice of operations on windows over memory of MPI_Alloc_mem."""
    return (
        *(one_sided(name, window=window) for name in ("put", "get", "accumulate", "fetch_and_op")),
        one_sided("accumulate", is_strided=True, window=window),
    )


def one_sided_cost(
    name: str, what: str, sizes: tuple[int, ...], ranks_per_node: int = 1, **options: str
) -> Case:
    """What making windows and synchronising costs while nobody computes."""
    return Case(
        name,
        "rma_cost",
        sizes,
        {"what": what, **options},
        ranks_per_node=ranks_per_node,
        timeout_s=30.0,
    )


#: windows as a grid has them; `epoch-type` limits what Headway makes for them
REORDERED = {"order": "reversed"}
LOCKALL = {**REORDERED, "epoch-type": "lockall"}


def get_compute_update(ranks_per_node: int, tile: int, order: int, **more: str) -> Case:
    """A node is one core; its user processes share that, and with ghosts the ghost does too."""
    count = "one user process" if ranks_per_node == 1 else f"{ranks_per_node} user processes"
    size = "" if tile == 192 else f", tiles of {tile}"
    return with_beside(
        Case(
            f"{count} a node{size}",
            "get_compute_update",
            (tile * tile * 8,),
            {"tile": str(tile), "order": str(order), **more},
            ranks_per_node=ranks_per_node,
            cores_per_node=1,
            timeout_s=25.0,
        )
    )


#: of papers/002 section 7.3: the side of a DGEMM, how many make a computation, how many operations
#: go to each target before it and after it, how many steps an iteration has
PATTERN_PHASES = {
    "COMP": {"tile": "128", "tiles": "8", "operations": "1", "steps": "4"},
    "COMM": {"tile": "24", "tiles": "1", "operations": "8", "steps": "2"},
}


def pattern(name: str, sizes: tuple[int, ...], users: int, options: dict[str, str]) -> Case:
    """USERS of each of two nodes share its one core, and with ghosts the ghost does too."""
    # To each user of the other node, from each here, and what is got comes the other way.
    crossing = users * users * int(options["operations"]) * int(options["steps"])
    return Case(
        name,
        "rma_patterns",
        sizes,
        options,
        ranks_per_node=users,
        cores_per_node=1,
        timeout_s=12.0,
        traffic=(2.0 if options["pattern"] == "all-to-all" else 1.0) * crossing,
    )


def rma_pattern(phase: str, target: str, flush: str) -> Case:
    how = {"each": "blocking", "end": "nonblocking"}[flush]
    options = {**PATTERN_PHASES[phase], "pattern": target, "flush": flush, "strided": ""}
    return pattern(f"{phase}, {target.replace('-', ' ')}, {how}", (64,), 2, options)


def rma_predicted(target: str, flush: str) -> Case:
    """With a core for each user process: neighbours that spin on it are no part of a prediction."""
    case = rma_pattern("COMP", target, flush)
    options = {**case.options, "iterations": "20", "warmup": "2", "seconds": "10"}
    case = replace(case, options=options, ranks_per_node=1, traffic=case.traffic / 4)
    return with_beside(case)


def rma_users(phase: str, users: int) -> Case:
    """One ghost for all of them, whom the name ends with (plots.families)."""
    options = {**PATTERN_PHASES[phase], "pattern": "all-to-all", "flush": "end"}
    count = "1 user process" if users == 1 else f"{users} user processes"
    return pattern(f"{phase}, {count} a node", (8, 64 * KIB), users, options)


def progression(sizes: tuple[int, ...]) -> Case:
    return Case("receiver", "progression", sizes, {"iterations": "10"}, "latency", timeout_s=110.0)


#: programs with one cause each, and one with four of them in turn
CAUSES = {
    "no progress": "progress-p2p",
    "no progress, collective": "progress-coll",
    "bandwidth": "bandwidth",
    "late sender": "late-sender",
    "late receiver": "late-receiver",
    "imbalance, barrier": "imbalance-barrier",
    "imbalance, wait": "imbalance-wait",
    "four in turn": "progress-p2p,bandwidth,late-sender,imbalance-barrier",
}
CAUSES_ITERATIONS = {"bandwidth": 30, "four in turn": 20}


def known_cause(name: str) -> Case:
    options = {"steps": CAUSES[name], "iterations": str(CAUSES_ITERATIONS.get(name, 60))}
    return Case(name, "causes", (MIB,), options, "wire", timeout_s=30.0)


#: bench/pack.c; the last has no gaps, so that there is nothing to win
PACKED_TYPES = (
    *("struct", "fields", "indexed_block", "indexed", "x_face", "rows", "darray"),
    "contiguous",
)
PACKED_SIZES = (KIB, 4 * KIB, 16 * KIB, 128 * KIB, MIB, 4 * MIB)


def packing(kind: str, is_unpacking: bool = False) -> Case:
    """One process packs by itself."""
    name = f"{kind.replace('_', ' ')}, {'unpacked' if is_unpacking else 'packed'}"
    options = {"type": kind, **({"unpack": ""} if is_unpacking else {})}
    return Case(name, "pack", PACKED_SIZES, options, nodes=1, ranks_per_node=1)


def packing_shared(kind: str, place: str) -> Case:
    """One process with two OpenMP threads; the sizes are those worth a second thread."""
    name = f"{kind.replace('_', ' ')}, {place}"
    options = {"type": kind, "threads": "2", "place": place, "warmup": "60", "batches": "10"}
    return Case(name, "pack", (256 * KIB, MIB, 4 * MIB), options, nodes=1, ranks_per_node=1)


#: of multigrid(): nodes, ranks of a node
MG_PLACES = {
    "one rank": (1, 1),
    "two ranks": (1, 2),
    "two nodes": (2, 1),
}


def multigrid(where: str, layout: str, place: str, threads: int = 2) -> Case:
    """Ranks divide the fastest dimension, so that faces are across memory. One rank alone sends its
    halo to itself, in all directions. A node has two cores; two ranks of two threads share them."""
    nodes, ranks_per_node = MG_PLACES[where]
    count = "" if threads == 2 else f", {threads} thread"
    options = {
        "layout": layout,
        "place": place,
        "threads": str(threads),
        "size": "128",
        **({"thread-level": "serialized"} if place == "single" else {}),
        **({"self": "", "cycles": "10", "warmup": "8"} if where == "one rank" else {}),
    }
    return Case(
        f"{where}{count}, {layout}, {place}",
        "mg",
        options=options,
        nodes=nodes,
        ranks_per_node=ranks_per_node,
        cores_per_node=2,
        timeout_s=30.0,
    )


def packing_crowded(kind: str) -> Case:
    """Four OpenMP threads have one core: 1000 calls, of which the worst counts too."""
    options = {"type": kind, "threads": "4", "pin": "", "place": "single", "warmup": "60"}
    options |= {"batches": "20", "batch": "50"}
    name = f"{kind.replace('_', ' ')}, four threads on a core"
    return Case(name, "pack", (256 * KIB,), options, nodes=1, ranks_per_node=1)


#: bench/pack_p2p.c
SENT_TYPES = ("struct", "fields", "indexed_block", "x_face", "rows", "contiguous")
SENT_SIZES = (KIB, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB)
#: a message of an x-face of 4 MiB lies in 256 MiB
SPARSE_SIZES = SENT_SIZES[:-1]


def packed_ping_pong(kind: str, nodes: int) -> Case:
    """Messages of one datatype between two nodes or within one."""
    where = "between nodes" if nodes == 2 else "within a node"
    return Case(
        f"{kind.replace('_', ' ')}, {where}",
        "pack_p2p",
        SPARSE_SIZES if kind == "x_face" else SENT_SIZES,
        {"type": kind},
        nodes=nodes,
        ranks_per_node=2 // nodes,
    )


def packed_halo(face: str) -> Case:
    """Both faces of a block of structs across one dimension, x the fastest."""
    return Case(f"halo, {face}-faces", "pack_p2p", (4 * KIB, 64 * KIB, MIB), {"face": face})


#: windows for so many seconds of the wire: what is told is of a whole run, ends included
TOLD_S = 0.8
TOLD_CASES = (
    replace(exchange("256 KiB, waitall", 256 * KIB), windows_s=TOLD_S),
    replace(exchange("1 MiB, waitall", MIB), windows_s=TOLD_S),
    replace(exchange("1 MiB, reduce", MIB, completion="reduce"), windows_s=TOLD_S),
    collective("iallreduce", (MIB,), windows_s=TOLD_S),
    halo(64 * KIB, steps=160),
    Case("1 pair", "multipair", (MIB,), {"iterations": "40"}, "wire"),
)


#: what a profile is asked to predict
PREDICTED = tuple(
    with_beside(case)
    for case in (
        exchange("256 KiB, waitall", 256 * KIB),
        exchange("1 MiB, waitall", MIB),
        exchange("4 MiB, waitall", 4 * MIB),
        exchange("4 x 256 KiB, each", MIB, messages="4", completion="each"),
        exchange("4 x 1 MiB, each", 4 * MIB, messages="4", completion="each"),
        exchange("1 MiB, tests", MIB, completion="test"),
        collective("ialltoallv", (MIB,)),
        collective("iallgather", (MIB,)),
        collective("iallreduce", (MIB,)),
        halo(64 * KIB, warmup="12"),
    )
)
