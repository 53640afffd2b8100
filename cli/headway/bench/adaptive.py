# SPDX-License-Identifier: BSD-3-Clause
"""Suites of programs that compute in some phases and communicate in others (papers/002 section 7),
and their rows.

Which way is better for an operation, the ghost or its target, changes from phase to phase. The
modes are the fixed ways (plain, the thread, ghosts that always serve) and those that change: told
by the program (`guided`), by the share of time in MPI (`local`, `global`), by measurement (`auto`).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from headway.bench import nwchem
from headway.bench.cases import KIB, Case, get_compute_update
from headway.bench.suite import FOUR_A_CORE, NO_WINDOWS, Suite

PROGRAM, COST_PROGRAM = "rma_phases", "rma_cost"
WHOLE = "the whole run"
#: one way for the whole run; the better one of them is what a mode that changes is compared with
FIXED = ("plain", "headway", "headway-ghosts")
GUIDED = "headway-guided"

ADAPT = ("guided", "local", "global", "auto")
#: of the paper, scaled to phases of half a second: it has 1 s and 2 s for phases of many seconds
RATED = {"HEADWAY_PREDICT_INT": "50ms", "HEADWAY_GSYNC_INT": "100ms"}
PREDICT_INTERVALS = ("5ms", "20ms", "100ms")
GSYNC_INTERVALS = ("20ms", "100ms", "500ms")

#: of a phase: side of a DGEMM, DGEMMs a round, operations to each target, rounds, rounds between
#: barriers. Rounds are what plain does in about 0.2 to 0.5 s of a node's one core.
COMP, COMM = "128,8,1", "24,1,8"
ROUNDS = {1: (24, 800), 2: (10, 24)}
#: of COMM on Open MPI 5, whose own accumulates take milliseconds each
SLOW_ROUNDS = 24
#: the paper's operation: a box of 2 x 2 x 2 doubles in a grid, got and then added to
BOX = "get:accumulate:64:strided"

#: plain, too
ENDINGS = {
    "mpich4": "with two processes a node plain hangs in MPI_Finalize, so plain has the library "
    "with HEADWAY_ENGINE=off"
}


def users_name(users: int) -> str:
    return "1 user process" if users == 1 else f"{users} user processes"


def phases_text(places: Iterable[str]) -> str:
    """Each kind twice, as in table 4, on the windows of each of PLACES."""
    kinds = ("comp", "comp", "comm", "comm")
    return ",".join(f"{place}:{kind}:{BOX}" for place in places for kind in kinds)


def phases_case(
    name: str,
    places: tuple[str, ...],
    users: int,
    *,
    blocks: tuple[int, int] = (0, 0),
    **options: str,
) -> Case:
    """Users of a node share its one core."""
    comp, comm = ROUNDS[users]
    few = {"comm": f"{COMM},{SLOW_ROUNDS},{blocks[1]}"}
    return Case(
        f"{name}, {users_name(users)} a node",
        PROGRAM,
        options={
            "phases": phases_text(places),
            "comp": f"{COMP},{comp},{blocks[0]}",
            "comm": f"{COMM},{comm},{blocks[1]}",
            **options,
        },
        ranks_per_node=users,
        cores_per_node=1,
        timeout_s=60.0,
        options_on={"ompi5": few} if comm > SLOW_ROUNDS else {},
    )


#: of COMP and of COMM, by operation, contiguous or not, size; each on a window of its own. Fewer
#: where a core has more user processes, which take turns of milliseconds.
SINGLE = {
    1: (
        ("get:get:8", "accumulate:accumulate:8", BOX, f"get:accumulate:{64 * KIB}"),
        (
            *(f"{name}:{name}:8" for name in ("put", "get", "accumulate", "fetch_and_op")),
            BOX,
            *(f"{name}:{name}:{64 * KIB}" for name in ("get", "accumulate")),
        ),
    ),
    2: (
        ("get:get:8", BOX, f"get:accumulate:{64 * KIB}"),
        (
            "get:get:8",
            "accumulate:accumulate:8",
            BOX,
            *(f"{name}:{name}:{64 * KIB}" for name in ("get", "accumulate")),
        ),
    ),
    4: ((BOX,), ("accumulate:accumulate:8", BOX, f"get:get:{64 * KIB}")),
}


def single_case(users: int) -> Case:
    """One launch does all of them, each for a short time."""
    comp, comm = SINGLE[users]
    chosen = [f"comp:{one}" for one in comp] + [f"comm:{one}" for one in comm]
    return Case(
        f"{users_name(users)} a node",
        PROGRAM,
        options={
            "phases": ",".join(f"{chr(ord('a') + at)}:{one}" for at, one in enumerate(chosen)),
            "comp": f"{COMP},64,4",
            "comm": f"{COMM},4000,2",
            "seconds": "0.6",
        },
        ranks_per_node=users,
        cores_per_node=1,
        timeout_s=60.0,
        excluded=FOUR_A_CORE if users == 4 else {},
    )


#: timed rounds, and barriers in each, by processes on two cores: waits in MPI take turns of
#: milliseconds where the cores are shared
COST_ROUNDS = {1: (20, 64), 2: (20, 64), 4: (6, 16), 8: (3, 16)}


def cost_case(processes: int) -> Case:
    """The paper's: one node, more and more processes."""
    rounds, batch = COST_ROUNDS[processes]
    return Case(
        f"one node, {processes} process" + ("es" if processes > 1 else ""),
        COST_PROGRAM,
        (8,),
        {
            "what": "window,fence,set_info,barrier",
            "epoch-type": "fence,lockall",
            "rounds": str(rounds),
            "batch": str(batch),
            "warmup": "1",
        },
        nodes=1,
        ranks_per_node=processes,
        cores_per_node=2,
        timeout_s=30.0,
    )


#: between two nodes of one core
COST_BETWEEN = Case(
    "two nodes",
    COST_PROGRAM,
    (8,),
    {"what": "issue,issue_accumulate,flush,fence,set_info,barrier,barrier_alone", "rounds": "60"},
    cores_per_node=1,
    timeout_s=30.0,
)


NWCHEM = Case(
    "DFT, SCF and CCSD(T) of two water molecules",
    nwchem.PROGRAM,
    options={"input": "phases.nw"},
    cores_per_node=1,
    timeout_s=120.0,
    excluded={
        name: "Debian's NWChem is of MPICH 4" for name in ("mpich5", "impi", "ompi4", "ompi5")
    },
)


#: for programs that say nothing of routes: the environment does, for the whole run. As the paper's
#: CSP_ASYNC_CONFIG=ON, `guided` leaves near operations alone, which HEADWAY_REDIRECT=on would not.
SILENT: dict[str, Any] = {
    "adapt": ("local", "global", "auto"),
    "settings": {
        GUIDED.removeprefix("headway-"): {"HEADWAY_ADAPT": "guided"},
        "guided-off": {"HEADWAY_ADAPT": "guided", "CSP_ASYNC_CONFIG": "off"},
    },
}


def adaptive_suite(name: str, title: str, cases: tuple[Case, ...], **more: Any) -> Suite:
    more = {"adapt": ADAPT, "rated": RATED, **more}
    return Suite(
        name,
        title,
        cases,
        ("10gbit",),
        ("default",),
        ("ghosts",),
        has_peers=False,
        launches=2,
        excluded=NO_WINDOWS,
        controls=ENDINGS,
        **more,
    )


SUITES = (
    adaptive_suite(
        "adapt-single",
        "Ghosts or targets: computing and communicating alone, by operation",
        tuple(single_case(users) for users in (1, 2, 4)),
    ),
    adaptive_suite(
        "adapt-phases",
        "Ghosts or targets: eight phases over two windows",
        (
            phases_case("one after the other", ("a", "b"), 1),
            phases_case("one after the other", ("a", "b"), 2),
            phases_case("both at once, barriers", ("ab", "ab"), 2, blocks=(2, 1), sync="barrier"),
        ),
    ),
    adaptive_suite(
        "adapt-cost",
        "Ghosts or targets: what windows, synchronisation and operations cost",
        (*(cost_case(processes) for processes in (1, 2, 4, 8)), COST_BETWEEN),
    ),
    adaptive_suite(
        "adapt-intervals",
        "Ghosts or targets by the share of time in MPI: intervals",
        (phases_case("one after the other", ("a", "b"), 2),),
        adapt=("guided",),
        settings={
            **{
                f"predict-{interval}": {
                    "HEADWAY_ADAPT": "global",
                    **RATED,
                    "HEADWAY_PREDICT_INT": interval,
                }
                for interval in PREDICT_INTERVALS
            },
            **{
                f"gsync-{interval}": {
                    "HEADWAY_ADAPT": "global",
                    **RATED,
                    "HEADWAY_GSYNC_INT": interval,
                }
                for interval in GSYNC_INTERVALS
            },
        },
    ),
    adaptive_suite(
        "adapt-nwchem",
        "Ghosts or targets: NWChem, phase by phase",
        (NWCHEM,),
        **SILENT,
    ),
    adaptive_suite(
        "adapt-tasks",
        "Ghosts or targets: tasks from a shared counter",
        (get_compute_update(1, 192, 1152), get_compute_update(2, 192, 1152)),
        **SILENT,
    ),
)


# ---- rows --------------------------------------------------------------------------------------

#: one part of a launch: its name, its bytes, its values, the digest of its answer
Part = tuple[str, int, dict[str, float], str]


def phase_name(place: int, phase: dict[str, Any], *, is_numbered: bool) -> str:
    windows, kind, before, after, *rest = phase["phase"].split(":")
    if is_numbered:
        return f"phase {place + 1}, {kind.upper()} on {' and '.join(windows)}"
    names = before if before == after else f"{before} and {after}"
    return f"{kind.upper()}, {names.replace('_', ' ')}" + (", strided" if rest[1:] else "")


def phase_parts(result: dict[str, Any]) -> Iterable[Part]:
    """A round of each phase, and the whole run; a phase by its number where phases are repeated."""
    phases = result["phases"]
    windows = [phase["phase"].partition(":")[0] for phase in phases]
    is_numbered = len(set(windows)) < len(windows)
    for place, phase in enumerate(phases):
        parts = phase["parts_s"]
        values = {
            "total_s": phase["round_s"],
            "first_s": parts[0],
            "settled_s": statistics.fmean(parts[len(parts) // 2 :]),
            **{name: phase[name] for name in ("begin_s", "compute_s", "comm_s", "sync_s", "cpu_s")},
        }
        name = phase_name(place, phase, is_numbered=is_numbered)
        yield name, phase["bytes"], values, phase["digest"]
    if is_numbered:
        yield WHOLE, 0, {"total_s": result["wall_s"]}, ""


def cost_parts(result: dict[str, Any]) -> Iterable[Part]:
    for point in result["points"]:
        values = {"latency_s": point["sample_s"]["median"]}
        if point["what"] == "window":
            values["free_s"] = max(rank["free_s"]["median"] for rank in point["by_rank"])
        yield point["what"].replace("_", " "), point["bytes"], values, ""


def has_parts(result: dict[str, Any]) -> bool:
    """Whether rows are of parts of its launches."""
    return result["program"] in (PROGRAM, nwchem.PROGRAM) or (
        result["program"] == COST_PROGRAM and "," in result["what"]
    )


def parts(result: dict[str, Any]) -> list[Part]:
    if result["program"] == nwchem.PROGRAM:
        return list(nwchem.parts(result, WHOLE))
    return list(phase_parts(result) if result["program"] == PROGRAM else cost_parts(result))


def middle(row: dict[str, Any] | None, name: str) -> float | None:
    found = row["values"].get(name) if row else None
    return found["median"] if found else None


def derive(row: dict[str, Any], modes: dict[str, dict[str, Any]]) -> dict[str, float]:
    """Of a phase or a run beside its other MODES: against plain by means over launches, against
    the best fixed way, against what the program says."""
    derived = {}
    plain = modes.get("plain")
    if plain and plain["samples"] and row["samples"]:
        mean = statistics.fmean(row["samples"])
        derived["ratio_mean"] = mean / statistics.fmean(plain["samples"])
    name = "settled_s" if "settled_s" in row["values"] else "total_s"
    mine = middle(row, name)
    fixed = [middle(modes.get(mode), name) for mode in FIXED]
    known = [value for value in fixed if value]
    if mine is not None and len(known) == len(FIXED):
        derived["of_best"] = mine / min(known)
    guided = middle(modes.get(GUIDED), name)
    if mine is not None and guided:
        derived["of_guided"] = mine / guided
    return derived
