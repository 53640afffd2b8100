"""The named suites: which programs with which options answer which question."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

KIB = 1024
MIB = 1024 * KIB

#: payload in a full frame, and the frame the link's rate limit counts
FRAMING = 1514 / 1448


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


@dataclass(frozen=True)
class Suite:
    """Cases, the links they run on, and the modes beyond plain, Headway and the peers."""

    name: str
    title: str
    cases: tuple[Case, ...]
    rates: tuple[str, ...] = ("1gbit",)
    sockbufs: tuple[str, ...] = ("default", "small")
    extra_modes: tuple[str, ...] = ()
    #: Headway's modes have the engine even where HEADWAY_ENGINE=auto has none
    is_forced: bool = False
    launches: int = 5
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


def p2p(
    name: str, sizes: tuple[int, ...], directions: int, work: str | float = "wire", **more: object
) -> Case:
    options = {"directions": str(directions)}
    return Case(name, "overlap_p2p", sizes, options, work, **more)  # type: ignore[arg-type]


def exchange(name: str, size: int, **options: str) -> Case:
    """One size, both ways; OPTIONS say in how many messages, and how they are completed."""
    return Case(name, "overlap_p2p", (size,), {"directions": "2", **options}, "wire")


def collective(name: str, sizes: tuple[int, ...], **more: object) -> Case:
    return Case(name, "overlap_coll", sizes, {"collective": name}, "wire", **more)


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
    name, sizes = operation, (8,)
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


#: what the machine takes below the rows of `one_sided`, with the same computation
WAKEUP = Case(
    "woken",
    "wakeup",
    (1,),
    {"work": ",".join(map(str, TARGET_WORK)), "rounds": "100"},
    timeout_s=12.0,
)


def one_sided_own_core(operation: str) -> Case:
    """The target's ghost has a core of its own, and so has the target where there is none.

    Two cores do not hold an origin, a target that spins in MPI and a ghost that spins: the target
    sleeps outside MPI where its ghost acts for it: to be compared with plain, the target in MPI.
    """
    case = one_sided(operation)
    options = {**case.options, "work": "0,200000", "rounds": "400", "stream": ""}
    return replace(case, options=options, cores_per_node=2, is_last_apart=True)


def one_sided_on(window: str) -> tuple[Case, ...]:
    """A choice of operations on windows over memory of MPI_Alloc_mem."""
    return (
        *(one_sided(name, window=window) for name in ("put", "get", "accumulate", "fetch_and_op")),
        one_sided("accumulate", is_strided=True, window=window),
    )


def one_sided_suite(name: str, title: str, cases: tuple[Case, ...]) -> Suite:
    """Between nodes, with ghosts beside the other modes."""
    links = (("1gbit",), ("default",), ("ghosts",))
    return Suite(name, title, cases, *links, launches=3, excluded=NO_WINDOWS)


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


def get_compute_update(ranks_per_node: int, tile: int, order: int) -> Case:
    """A node is one core; its user processes share that, and with ghosts the ghost does too."""
    count = "one user process" if ranks_per_node == 1 else f"{ranks_per_node} user processes"
    return Case(
        f"{count} a node",
        "get_compute_update",
        (tile * tile * 8,),
        {"tile": str(tile), "order": str(order)},
        ranks_per_node=ranks_per_node,
        cores_per_node=1,
        timeout_s=25.0,
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


def rma_users(phase: str, users: int) -> Case:
    """One ghost for all of them, whom the name ends with (plots.families)."""
    options = {**PATTERN_PHASES[phase], "pattern": "all-to-all", "flush": "end"}
    count = "1 user process" if users == 1 else f"{users} user processes"
    return pattern(f"{phase}, {count} a node", (8, 64 * KIB), users, options)


def progression(sizes: tuple[int, ...]) -> Case:
    return Case("receiver", "progression", sizes, {"iterations": "10"}, "latency", timeout_s=110.0)


#: between nodes; facts about it, not about Headway
NO_WINDOWS = {"ompi4": "MPI_Win_allocate fails between nodes, plain too"}

#: with more than one rank a node
TWO_A_NODE = {"mpich4": "two ranks a node over TCP now and then hang at the end, plain too"}

FOUR_A_CORE = {
    "ompi5": "runs out of 12 s with four ranks on a core, which it never yields, plain too"
}

_SUITES = (
    Suite(
        "overlap",
        "Point-to-point, 1 Gbit/s, work as long as the wire",
        (p2p("both ways", LARGE_SIZES, 2),),
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
        (
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
        ),
        sockbufs=("small",),
        extra_modes=("profile", "transport"),
        launches=3,
    ),
    Suite(
        "profile-cost",
        "What watching costs",
        (latency(2), halo(64 * KIB, warmup="12")),
        ("1gbit",),
        ("default",),
        ("profile", "off"),
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
        "casper2-fig3",
        "Posting and waiting without computation",
        (p2p("no work", (8, 256, *ALL_SIZES[:13]), 2, "none"),),
        extra_modes=("multiple",),
    ),
    Suite(
        "casper2-fig4",
        "Message rate over all sizes",
        (rate(2, (8, 64, 512, 4 * KIB, 16 * KIB, 64 * KIB), 32),),
        ("1gbit",),
        ("default",),
    ),
    Suite(
        "casper2-fig5",
        "Relative time, delay as long as plain posting and waiting",
        (p2p("delayed", ALL_SIZES[:13], 2, "latency"),),
    ),
    Suite(
        "casper2-fig6",
        "Profile of post, compute and wait",
        (p2p("delayed", (16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB), 2, "latency"),),
    ),
    Suite("casper2-fig7", "Nearest-neighbour exchange in two dimensions", (halo(64 * KIB),)),
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
    one_sided_suite(
        "rma-cost",
        "Windows and one-sided synchronisation while nobody computes",
        (
            one_sided_cost("window made", "window", (8, MIB)),
            one_sided_cost("window made, reordered", "window", (8,), **REORDERED),
            one_sided_cost("window made, reordered, lockall", "window", (8,), **LOCKALL),
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
        (get_compute_update(1, 192, 1152), get_compute_update(2, 192, 1152)),
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
        excluded=NO_WINDOWS | TWO_A_NODE,
    ),
    Suite(
        "rma-users",
        "One ghost for more and more user processes",
        tuple(rma_users(phase, users) for phase in PATTERN_PHASES for users in (1, 2, 4)),
        ("10gbit",),
        ("default",),
        ("ghosts",),
        launches=2,
        excluded=NO_WINDOWS | TWO_A_NODE | FOUR_A_CORE,
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

SUITES = {suite.name: suite for suite in (*_SUITES, QUICK)}
#: the receiver-side procedure yields three figures in one run
ALIASES = {"smart-fig6": "smart-fig5", "smart-fig7": "smart-fig5"}


def find(name: str) -> Suite | None:
    return SUITES.get(ALIASES.get(name, name))
