# SPDX-License-Identifier: BSD-3-Clause
"""From launches to rows: medians and spread over launches, and what is derived from them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from headway import outcome, records
from headway.bench import adaptive, causes, solvers
from headway.record.table import Record

Values = dict[str, float]


def summarize(values: list[float]) -> dict[str, float]:
    """Median, extremes and quartiles of a few launches."""
    ordered = sorted(values)
    if len(ordered) > 1:
        first, _, third = statistics.quantiles(ordered, n=4, method="inclusive")
    else:
        first = third = ordered[0]
    return {
        "median": statistics.median(ordered),
        "min": ordered[0],
        "max": ordered[-1],
        "q1": first,
        "q3": third,
    }


def rank_mean(phase_set: dict[str, Any], name: str) -> float:
    return statistics.fmean(rank[name]["median"] for rank in phase_set["by_rank"])


#: begins the name of the time an operation takes while its target computes so many units of work
BUSY = "latency_busy_"

#: of a rank's time; their mean over the ranks is taken
PHASES = (
    *("post_s", "compute_s", "wait_s", "boundary_s", "cpu_s"),
    *("counter_s", "get_s", "update_s", "comm_s", "sync_s"),
)

#: an iteration as a multiple of its computation alone right before it
OF_ALONE = "of_alone"
#: that computation, and by how many seconds the iteration took longer
BESIDE = ("alone_s", OF_ALONE, "over_alone_s")


#: of iterations, where a program tells them besides the median: the timed ones, and those before
MEANS = ("mean_s", "first_mean_s", "mean_of_alone", "first_mean_of_alone")


def window_values(point: dict[str, Any]) -> Values:
    """What one launch says about one window of overlap."""
    values = {"total_s": point["total_s"]["median"]}
    if "compute" in point:
        values["compute_alone_s"] = point["compute"]["compute_alone_s"]["median"]
    if "transfer" in point:
        values["transfer_alone_s"] = point["transfer"]["transfer_alone_s"]["median"]
    if "compute" in point and "transfer" in point:
        longer_s = max(values["compute_alone_s"], values["transfer_alone_s"])
        values["of_longer_part"] = values["total_s"] / longer_s
    values |= {name: point[name] for name in MEANS if name in point}
    for name in PHASES:
        if name in point["by_rank"][0]:
            values[name] = rank_mean(point, name)
    for name in BESIDE:
        if name in point["by_rank"][0]:
            values[name] = rank_mean(point, name)
    computing_s = values.get("alone_s", values.get("compute_alone_s", 0.0))
    if computing_s and "cpu_s" in values and point.get("work_units", 1):
        values["cpu_of_alone"] = values["cpu_s"] / computing_s
    return values


def progression_values(point: dict[str, Any]) -> Values:
    values = {"latency_s": point["latency_s"], "overlap_ratio": point["overlap_ratio"]}
    for step in point["progression"]:
        factor = step["delay_s"] / point["base_latency_s"]
        values[f"latency_{factor:.1f}_l0_s"] = step["latency_s"]
    return values


def cpu_values(result: dict[str, Any]) -> Values:
    """CPU beside the main thread, and the slow-down of the work, in each situation."""
    values: Values = {}
    before_s = 0.0
    for phase in result["phases"]:
        wall_s = rank_mean(phase, "wall_s")
        before_s = before_s or wall_s
        values[f"{phase['name']}_wall_s"] = wall_s
        values[f"{phase['name']}_other_cpu_s"] = rank_mean(phase, "other_threads_cpu_s")
        values[f"{phase['name']}_slowdown"] = wall_s / before_s
        if phase["name"] == "transfer":
            values["total_s"] = rank_mean(phase, "total_s")
    return values


def call_values(result: dict[str, Any]) -> Values:
    """Nanoseconds for each MPI call, under the name of what was called: of the fastest batch, since
    a machine that others share is faster at times, by up to two, and never by a call less."""
    return {f"{call['name']}_ns": call["ns"]["min"] / call["mpi_calls"] for call in result["calls"]}


def work_points(result: dict[str, Any]) -> Iterable[tuple[int, Values, str]]:
    """The time with the target idle, and one for each amount of work that it computes."""
    by_size: dict[int, Values] = {}
    for point in result["points"]:
        units = point["work_units"]
        name = f"{BUSY}{units}_s" if units else "latency_s"
        by_size.setdefault(point["bytes"], {})[name] = point["origin_s"]["median"]
    for size, values in by_size.items():
        yield size, values, ""


def ghost_values(told: Sequence[Record]) -> Values:
    """What a ghost took of its core, of the whole run; and for each operation that it served."""
    taken_s = outcome.ghost_cpu_s(told)
    if taken_s is None:
        return {}
    values = {"ghost_core": taken_s / max(one.wall_s for one in told)}
    operations = records.total(told, "operations_redirected")
    ghosts = len({one.ghost for one in told})
    if operations:
        values["ghost_operation_s"] = taken_s * ghosts / operations
    return values


#: what is told may be off by this part of what was measured, or by this part of the run
TOLD_WITHIN = (0.2, 0.02)


def records_of(launch: dict[str, Any]) -> list[Record]:
    """What the library said of itself."""
    return [Record.of(one) for one in launch.get("records") or []]


def run_of(launch: dict[str, Any]) -> dict[str, float]:
    """From MPI_Init to MPI_Finalize, and what the library says that the thread saved of it."""
    told = records_of(launch)
    if not launch["result"] or not told:
        return {}
    found = outcome.gain(told)
    return {
        "repetition": launch.get("repetition", 0),
        "wall_s": max(one.wall_s for one in told),
        "told_s": found.saved_s if found else 0.0,
    }


def told_values(row: dict[str, Any], off: dict[str, Any] | None) -> Values:
    """What is told beside what the clock says: medians over the repetitions, in which the library
    did without its engine too. Neither has what `headway run` tells the transport."""
    if off is None:
        return {}
    without = {run["repetition"]: run["wall_s"] for run in off["runs"]}
    pairs = [(run, without.get(run["repetition"])) for run in row["runs"]]
    known = [(run["told_s"], wall - run["wall_s"], wall) for run, wall in pairs if wall]
    if not known:
        return {}
    told_s, measured_s, wall_s = (statistics.median(column) for column in zip(*known, strict=True))
    of_it, of_run = TOLD_WITHIN
    limit_s = max(of_it * abs(measured_s), of_run * wall_s)
    return {
        "without_s": wall_s,
        "told_s": told_s,
        "measured_s": measured_s,
        "within": float(abs(told_s - measured_s) <= limit_s),
    }


def points(result: dict[str, Any]) -> Iterable[tuple[int, Values, str]]:
    """(bytes, values, digest of the answer) of each point of one program's object."""
    program = result["program"]
    if program in (
        "overlap_p2p",
        "overlap_coll",
        "multipair",
        "rma_patterns",
        "rma_origin",
        "rma_late",
    ):
        for point in result["points"]:
            yield point["bytes"], window_values(point), point["digest"]
    elif program == "halo":
        values = window_values(result)
        if OF_ALONE not in values:
            # Wall time a step: the slowest rank of each step would count every long wait of ranks
            # that drift apart, and none of the short ones between.
            values["total_s"] = result["wall_s"] / result["steps"]
        yield result["columns"] * 8, values, result["checksum"]
    elif program == "mg":
        told = {name: result[name] for name in ("packing_s", "wall_s")}
        answer = f"{result['norm_bits']} {result['digest']}"
        yield result["bytes"], window_values(result) | told, answer
    elif program in solvers.PROGRAMS:
        for size, values, digest in solvers.points(result):
            yield size, window_values(result) | values, digest
    elif program == "get_compute_update":
        yield result["tile"] ** 2 * 8, window_values(result), result["digest"]
    elif program in ("latency", "pack_p2p"):
        for point in result["points"]:
            yield point["bytes"], {"latency_s": point["latency_s"]["median"]}, ""
    elif program in ("rma_overlap", "wakeup", "woken_send"):
        yield from work_points(result)
    elif program == "rma_cost":
        for point in result["points"]:
            values = {"latency_s": point["sample_s"]["median"]}
            if result["what"] == "window":
                values["free_s"] = max(rank["free_s"]["median"] for rank in point["by_rank"])
            yield point["bytes"], values, ""
    elif program == "pack":
        for point in result["points"]:
            values = {"call_s": point["call_s"]["median"], "latency_s": point["call_s"]["min"]}
            values |= {"first_mean_s": point["first_call_s"]}
            if result["threads"] > 1:
                values |= {"worst_call_s": point["worst_call_s"]}
            yield point["bytes"], values, point["digest"]
    elif program == "msgrate":
        for point in result["points"]:
            yield point["bytes"], {"message_s": point["message_s"]["median"]}, ""
    elif program == "progression":
        for point in result["points"]:
            yield point["bytes"], progression_values(point), ""
    elif program == "cpuburn":
        yield result["bytes"], cpu_values(result), ""
    elif program == "memory":
        yield (
            0,
            {
                "pss_start_bytes": max(result["pss_start_bytes"]),
                "pss_bytes": max(result["pss_bytes"]),
            },
            "",
        )
    elif program == "percall":
        yield 0, call_values(result), ""
    elif program == causes.PROGRAM:
        yield result["bytes"], causes.measured(result), ""


def named_points(result: dict[str, Any]) -> list[adaptive.Part]:
    """The same, each with the name of its part of the case; empty where it is the case."""
    if adaptive.has_parts(result):
        return adaptive.parts(result)
    return [("", *point) for point in points(result)]


def points_of_failed(launch: dict[str, Any], launches: list[dict[str, Any]]) -> list[adaptive.Part]:
    """A launch without a result has the parts that others of its case have."""
    same = ("mpi", "rate", "sockbuf", "case")
    for other in launches:
        if other["result"] and all(launch[key] == other[key] for key in same):
            if adaptive.has_parts(other["result"]):
                return [(name, size, {}, "") for name, size, _, _ in named_points(other["result"])]
            break
    return [("", size, {}, "") for size in launch["sizes"] or [0]]


#: programs of microseconds, which a machine's changes of speed disturb more than what is measured
SMALL_MESSAGES = ("latency", "msgrate")
#: the value a mode is compared with plain by
MAIN_VALUES = ("total_s", "latency_s", "message_s", "pss_bytes")


def main_value(values: dict[str, Any]) -> str | None:
    return next((name for name in MAIN_VALUES if name in values), None)


def shares(
    row: dict[str, Any], plain: dict[str, Any], compute_s: float, wire_s: float
) -> dict[str, float | None]:
    """What of the time over the ideal is won back; of a profile, what it predicts to be.

    The ideal is the longer of computation and wire. Where each launch tells how much longer its
    windows took than the computation right before them, it is compared with its own ideal: the
    machine's speed differs from launch to launch by more than what is asked for.
    """
    values, others = row["values"], plain["values"]
    name = main_value(values)
    assert name is not None
    base, mine = others[name]["median"], values[name]["median"]
    ideal_s = max(compute_s, wire_s)
    lost_s, plain_lost_s = mine - ideal_s, base - ideal_s
    if "over_alone_s" in values and "over_alone_s" in others:
        lost_s, plain_lost_s = (
            one["over_alone_s"]["median"] - max(0, wire_s - one["alone_s"]["median"])
            for one in (values, others)
        )
    # Where plain MPI leaves nothing to recover, or nothing is computed, a share is only noise.
    has_work = compute_s > 0.1 * ideal_s
    if "predicted_s" in values:
        # Of what this run had to win, which is what its profile speaks of.
        worth = has_work and lost_s > 0.1 * mine
        saved_s = values["predicted_s"]["median"]
        return {"predicted": saved_s / lost_s if worth else None, "recovered": None}
    worth = has_work and plain_lost_s > 0.1 * base
    return {"recovered": 1 - lost_s / plain_lost_s if worth else None}


#: programs that tell their time in MPI
SOLVERS = ("mg", *solvers.PROGRAMS)


def of_communication(values: dict[str, Any], plain: dict[str, Any]) -> dict[str, float | None]:
    """Of a solver: its time in MPI; where it tells them, its whole run, and how much of plain's
    time in MPI it takes the MPI to pack and unpack as much by calls for just that."""
    comm_s = plain["comm_s"]["median"]
    ratio = {"ratio_comm": values["comm_s"]["median"] / comm_s}
    if "packing_s" not in plain:
        return ratio
    return ratio | {
        "ratio_wall": values["wall_s"]["median"] / plain["wall_s"]["median"],
        "packing_share": plain["packing_s"]["median"] / comm_s,
    }


def derive(row: dict[str, Any], plain: dict[str, Any] | None) -> dict[str, float | None]:
    """Ratio to plain, recovered share and the published overlap formula."""
    derived: dict[str, float | None] = {}
    values = row["values"]
    if plain is not None and row["program"] == "percall" and values:
        derived["extra_ns"] = max(
            values[call]["min"] - plain["values"][call]["min"]
            for call in values
            if call in plain["values"]
        )
    if plain is not None and all("before_wall_s" in each["values"] for each in (row, plain)):
        alone = [each["values"]["before_wall_s"]["median"] for each in (row, plain)]
        derived["work_ratio"] = alone[0] / alone[1]
    name = main_value(values)
    if plain is None or name is None or name not in plain["values"]:
        return derived
    base = plain["values"][name]["median"]
    mine = values[name]["median"]
    derived["ratio"] = mine / base
    if row["program"] in SOLVERS:
        derived |= of_communication(values, plain["values"])
    for name in MEANS:
        if name in values and name in plain["values"]:
            one, other = (each["values"][name]["median"] for each in (row, plain))
            derived[f"ratio_{name.removesuffix('_s')}"] = one / other
    if OF_ALONE in values and OF_ALONE in plain["values"]:
        derived["ratio_alone"] = values[OF_ALONE]["median"] / plain["values"][OF_ALONE]["median"]
    if row["program"] in SMALL_MESSAGES and len(row["samples"]) == len(plain["samples"]):
        pairs = zip(row["samples"], plain["samples"], strict=True)
        derived["ratio_paired"] = statistics.median([one / other for one, other in pairs])
    busy = [name for name in values if name.startswith(BUSY) and name in plain["values"]]
    if busy:
        most = busy[-1]  # in the order of the work
        derived["ratio_busy"] = values[most]["median"] / plain["values"][most]["median"]
        derived["busy_to_plain_in_mpi"] = values[most]["median"] / base
    if row["program"] == "memory":
        derived["extra_bytes"] = mine - base
    for engine in ("ghosts", "thread"):
        if f"predicted_{engine}_s" in values:
            # Of this run, which is what its profile speaks of.
            derived[f"predicted_{engine}"] = 1 - values[f"predicted_{engine}_s"]["median"] / mine
    if "compute_alone_s" not in plain["values"]:
        return derived
    compute_s = plain["values"]["compute_alone_s"]["median"]
    wire_s = row["wire_s"]
    if wire_s is None and "transfer_alone_s" in plain["values"]:
        wire_s = plain["values"]["transfer_alone_s"]["median"]
    if wire_s is not None:
        derived["ideal_s"] = max(compute_s, wire_s)
        derived |= shares(row, plain, compute_s, wire_s)
    if "transfer_alone_s" in plain["values"]:
        transfer_s = plain["values"]["transfer_alone_s"]["median"]
        derived["overlap_osu"] = min(1.0, max(0.0, 1.0 - (mine - compute_s) / transfer_s))
    return derived


#: what a row is of, but for its mode
POINT = ("mpi", "rate", "sockbuf", "case", "program", "bytes")
#: plain, and plain with what `headway run` tells the transport
BASELINES = ("plain", "plain-transport")


def baseline_of(
    rows: dict[tuple[Any, ...], dict[str, Any]], point: tuple[Any, ...]
) -> tuple[str | None, dict[str, Any] | None]:
    """The better one of plain and its control: what a mode is compared with."""
    found = [rows[*point, mode] for mode in BASELINES if (*point, mode) in rows]
    known = [row for row in found if main_value(row["values"])]
    if not known:
        plain = rows.get((*point, "plain"))
        return ("plain" if plain else None), plain
    best = min(known, key=lambda row: row["values"][main_value(row["values"])]["median"])
    return best["mode"], best


def rows_make(launches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each setting, case, size and mode, with how many launches failed."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    of_parts: set[tuple[Any, ...]] = set()
    for launch in launches:
        if launch["program"] == "phases":
            continue  # windows.rows_make
        setting = {key: launch[key] for key in ("mpi", "rate", "sockbuf", "case", "program")}
        found = (
            named_points(launch["result"])
            if launch["result"]
            else points_of_failed(launch, launches)
        )
        more = launch.get("prediction") or {} if launch["result"] else {}
        told = ghost_values(records_of(launch)) if launch["result"] else {}
        for part, size, own_values, digest in found:
            values = own_values | more
            if part:
                setting["case"] = f"{launch['case']}: {part}"
            if part in ("", adaptive.WHOLE):
                values = values | told
            key = (*setting.values(), size, launch["mode"])
            if part:
                of_parts.add(key)
            row = rows.setdefault(
                key,
                {
                    **setting,
                    "bytes": size,
                    "mode": launch["mode"],
                    "launches": 0,
                    "failed": 0,
                    "hung": 0,
                    "reason": "",
                    "wire_s": launch["wire_s"].get(str(size)),
                    "ranks_per_node": launch.get("ranks_per_node"),
                    "samples": {},
                    "digests": [],
                    "runs": [],
                },
            )
            if run := run_of(launch):
                row["runs"].append(run)
            row["launches"] += 1
            row["failed"] += not values
            row["reason"] = row["reason"] or launch["failure"]
            row["hung"] += bool(values and launch["failure"])
            if digest and digest not in row["digests"]:
                row["digests"].append(digest)
            for name, value in values.items():
                row["samples"].setdefault(name, []).append(value)
    made = list(rows.values())
    for row in made:
        row["values"] = {name: summarize(samples) for name, samples in row["samples"].items()}
        main = main_value(row["values"])
        row["transfers"] = row["samples"].get("transfer_alone_s", [])
        row["samples"] = row["samples"].get(main, []) if main else []
    modes_seen = list(dict.fromkeys(row["mode"] for row in made))
    for row in made:
        point = tuple(row[k] for k in POINT)
        plain = rows.get((*point, "plain"))
        row["baseline"], base = baseline_of(rows, point)
        row["derived"] = derive(row, base)
        if (*point, row["mode"]) in of_parts:
            modes = {mode: rows[*point, mode] for mode in modes_seen if (*point, mode) in rows}
            row["derived"] |= adaptive.derive(row, modes)
        if base is not plain and plain is not None:
            whole = derive(row, plain)
            row["derived"] |= {
                f"{name}_of_plain": whole[name] for name in ("ratio", "recovered") if name in whole
            }
        if row["program"] == causes.PROGRAM and row["mode"] == "headway-profile":
            row["derived"] |= causes.derive(row, plain, rows.get((*point, "headway")))
        kept = "headway-keep" if (*point, "headway-keep") in rows else "headway"
        if row["mode"] == kept:
            row["derived"] |= told_values(row, rows.get((*point, "headway-off")))
        row["is_same_answer"] = (
            plain is None or not row["digests"] or row["digests"] == plain["digests"]
        )
    return made


#: programs whose peers are compared at every size, because what they wait for is computation
PEERS_AT_EVERY_SIZE = ("rma_patterns",)
#: what the library may take of a process, in bytes
MEMORY_LIMIT = 300 * 1024


#: Modes that a user chooses, beside `headway`.
CHOSEN_MODES = (
    *("headway-ghosts", "headway-helper"),
    *("headway-moved", "headway-sealed", "headway-near"),
)


def chosen_losses(modes: dict[str, dict[str, Any]], limit: float) -> Iterable[str]:
    """What a user chooses and is slower than plain, and what is while the target computes."""
    for name in ("headway", *CHOSEN_MODES):
        derived = modes[name]["derived"] if name in modes else {}
        ratio, busy = derived.get("ratio"), derived.get("ratio_busy")
        if name != "headway" and ratio is not None and ratio > limit:
            yield f"{name} {ratio:.3f} x plain"
        if busy is not None and busy > limit:
            yield f"{name} {busy:.3f} x plain while the target computes"


def ratio_of(row: dict[str, Any]) -> float | None:
    derived: dict[str, float | None] = row["derived"]
    return derived.get("ratio_paired", derived.get("ratio"))


def losses(
    rows: list[dict[str, Any]], limit: float = 1.02, peers_from: int = 256 * 1024
) -> list[str]:
    """Where Headway fails, is slower than plain by more than LIMIT, or is behind a peer."""
    found = []
    by_point: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for row in rows:
        point = tuple(row[k] for k in POINT)
        by_point.setdefault(point, {})[row["mode"]] = row
    for point, modes in by_point.items():
        mine = modes.get("headway")
        where = f"{point[0]} {point[1]} {point[2]} {point[3]} {point[5]} B"
        found += [f"{where}: {line}" for line in chosen_losses(modes, limit)]
        for name, row in modes.items():
            if name.startswith("headway") and row["failed"] + row["hung"]:
                found.append(
                    f"{where}: {name} failed in {row['failed'] + row['hung']} of "
                    f"{row['launches']} launches"
                )
        ratio = ratio_of(mine) if mine else None
        extra_bytes = mine["derived"].get("extra_bytes") if mine else None
        if extra_bytes is not None and extra_bytes > MEMORY_LIMIT:
            found.append(f"{where}: {extra_bytes / 1024:.0f} KiB more than plain")
        if mine is None or ratio is None:
            continue
        if mine["program"] != "memory" and ratio > limit:
            found.append(f"{where}: {ratio:.3f} x plain")
        for name, peer in modes.items():
            theirs = ratio_of(peer)
            # Less than one percent apart is no lead: launches of one mode differ by more.
            if (
                name.startswith("peer:")
                and theirs is not None
                and theirs < 0.99 * ratio
                and (point[5] >= peers_from or point[4] in PEERS_AT_EVERY_SIZE)
            ):
                found.append(f"{where}: {name} is ahead, {theirs:.3f} against {ratio:.3f} x plain")
    return found
