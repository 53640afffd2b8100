# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the program `phases`: every window counts, the first ones apart.

A window lost what it took beyond the longer of its computation, done alone right before it, and the
wire: `lost = total - max(alone, wire)`. A window that waits at once has nothing to compute and
loses all that it takes. `recovered = 1 - lost(mode) / lost(baseline)`, of means over windows and
launches. The baseline is the better one of plain and plain with what `headway run` tells the
transport: a gain over it is Headway's own.

An MPI's own algorithm may take longer than its bytes take on the wire: its steps wait for one
another (Open MPI reduces to one of two processes and sends the result back). No progress makes it
shorter. Where plain windows that wait at once say so, `recovered_of_steps` takes their time for the
wire's.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from headway.bench.analysis import BASELINES, summarize

PROGRAM = "phases"
WHOLE = "the whole run"
#: below this share of the baseline's time what it loses is noise, and so is a share of it
LEAST = 0.1
#: from here on a window that waits at once takes longer than the wire because of its steps
STEPS = 1.1
#: the thread in every window, and in none: one of the two is the right choice for a phase
FIXED = ("headway-never", "headway-off")


@dataclass(frozen=True)
class Part:
    """Some windows of one phase, or all windows of a run."""

    name: str
    bytes: int
    phase: int  #: which one; -1: the whole run
    start: int = 0
    stop: int | None = None
    computes: bool = False

    @property
    def is_phase(self) -> bool:
        return self.phase >= 0 and self.start == 0 and self.stop is None


@dataclass
class Sample:
    """What the launches of one mode say about one part."""

    values: dict[str, list[float]] = field(default_factory=dict)
    digests: list[str] = field(default_factory=list)

    def mean(self, name: str) -> float | None:
        return statistics.fmean(self.values[name]) if self.values.get(name) else None


def size_name(count: int) -> str:
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count} B"


def parts_of(phases: Sequence[dict[str, Any]], first: int) -> list[Part]:
    """The parts of a run: its phases, those that compute split after the FIRST windows (0: not);
    and the whole, where there are more phases than one that waits and one that computes."""
    parts = []
    for place, phase in enumerate(phases):
        computes = phase["work_units"] > 0
        windows = len(phase["total_s"])
        if first and computes and windows > first:
            size, name = phase["bytes"], f"windows {first + 1} to {windows}"
            parts.append(Part(f"windows 1 to {first}", size, place, 0, first, computes=True))
            parts.append(Part(name, size, place, first, computes=True))
            continue
        what = "computes" if computes else "waits at once"
        name = what if first else f"{place + 1}, {phase['kind']} of "
        name += "" if first else f"{size_name(phase['bytes'])}, {what}"
        parts.append(Part(name, phase["bytes"], place, computes=computes))
    if len(phases) > 2:
        parts.append(Part(WHOLE, 0, -1))
    return parts


def wire_key(phase: dict[str, Any]) -> str:
    return f"{phase['kind']}:{phase['bytes']}"


def lost(phase: dict[str, Any], wire_s: float) -> list[float] | None:
    """Of each window; None where it is not known how long it computed."""
    if not phase["work_units"]:
        return list(phase["total_s"])
    if min(phase["alone_s"]) <= 0:
        return None
    pairs = zip(phase["total_s"], phase["alone_s"], strict=True)
    return [total - max(alone, wire_s) for total, alone in pairs]


def phase_values(
    phase: dict[str, Any], part: Part, wire_s: float, steps_s: float | None
) -> dict[str, float]:
    """Of one launch: means and medians over the windows of a part. STEPS_S is what its steps take,
    if that is longer than the wire."""
    chosen = slice(part.start, part.stop)
    totals = phase["total_s"][chosen]
    values = {
        "total_s": statistics.fmean(totals),
        "total_median_s": statistics.median(totals),
        "wait_s": statistics.fmean(phase["wait_s"][chosen]),
    }
    losses = lost(phase, wire_s)
    if losses is not None:
        values["lost_s"] = statistics.fmean(losses[chosen])
        values["lost_median_s"] = statistics.median(losses[chosen])
    of_steps = None if steps_s is None else lost(phase, steps_s)
    if phase["work_units"] and of_steps is not None:
        values["lost_of_steps_s"] = statistics.fmean(of_steps[chosen])
    if phase["work_units"] and losses is not None:
        alone = phase["alone_s"][chosen]
        values["alone_s"] = statistics.fmean(alone)
        shares = [total / one for total, one in zip(totals, alone, strict=True)]
        values["of_alone"] = statistics.fmean(shares)
    return values


def whole_values(result: dict[str, Any], wires: dict[str, float]) -> dict[str, float]:
    """Of one launch: sums over all windows, and the wall time with all that is between them."""
    values = {
        "total_s": sum(sum(phase["total_s"]) for phase in result["phases"]),
        "wall_s": result["wall_s"],
    }
    losses = [lost(phase, wires.get(wire_key(phase), 0.0)) for phase in result["phases"]]
    known = [sum(one) for one in losses if one is not None]
    if len(known) == len(losses):
        values["lost_s"] = sum(known)
    return values


def at_once_of(launches: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds by transfer: the median of plain windows that wait at once."""
    waits: dict[str, list[float]] = {}
    for launch in launches:
        if launch["mode"] == "plain" and launch["result"]:
            for phase in launch["result"]["phases"]:
                if not phase["work_units"]:
                    waits.setdefault(wire_key(phase), []).extend(phase["total_s"])
    return {key: statistics.median(times) for key, times in waits.items()}


def wires_of(launches: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds on the wire by transfer: nominal, or, on a link without a rate, what plain windows
    that wait at once take."""
    wire: dict[str, float] = launches[0]["wire_s"]
    return at_once_of(launches) | wire


def steps_of(launches: list[dict[str, Any]], wires: dict[str, float]) -> dict[str, float]:
    """Seconds that the steps of a transfer take one after the other, of those that take longer
    than the wire."""
    found = at_once_of(launches)
    return {key: taken for key, taken in found.items() if taken > STEPS * wires[key]}


def sample_add(sample: Sample, values: dict[str, float], digest: str) -> None:
    for name, value in values.items():
        sample.values.setdefault(name, []).append(value)
    if digest not in sample.digests:
        sample.digests.append(digest)


def samples_make(
    launches: list[dict[str, Any]], parts: list[Part], wires: dict[str, float]
) -> dict[tuple[Part, str], Sample]:
    """By part and mode; of a mode without any result empty ones."""
    steps = steps_of(launches, wires)
    samples = {
        (part, mode): Sample()
        for part in parts
        for mode in dict.fromkeys(launch["mode"] for launch in launches)
    }
    for launch in launches:
        if launch["result"] is None:
            continue
        phases = launch["result"]["phases"]
        for part in parts:
            sample = samples[part, launch["mode"]]
            if part.phase < 0:
                digest = " ".join(phase["digest"] for phase in phases)
                sample_add(sample, whole_values(launch["result"], wires), digest)
            else:
                phase = phases[part.phase]
                key = wire_key(phase)
                values = phase_values(phase, part, wires.get(key, 0.0), steps.get(key))
                sample_add(sample, values, phase["digest"])
    return samples


def baseline_of(modes: dict[str, Sample]) -> str | None:
    """Which one of plain and its control is the better one, by what it loses, else by its time."""
    for name in ("lost_s", "total_s"):
        times = {
            mode: mean
            for mode in BASELINES
            if mode in modes and (mean := modes[mode].mean(name)) is not None
        }
        if times:
            return min(times, key=lambda mode: times[mode])
    return None


def shares(mine: Sample, base: Sample) -> dict[str, object]:
    """What of the baseline's loss is won back: of means, of medians, launch by launch."""
    base_lost, base_total = base.mean("lost_s"), base.mean("total_s")
    if base_lost is None or base_total is None or base_lost <= LEAST * base_total:
        return {"recovered": None}
    each = [1 - one / base_lost for one in mine.values.get("lost_s", [])]
    if not each:
        return {"recovered": None}
    found: dict[str, object] = {
        "recovered": statistics.fmean(each),
        "recovered_worst": min(each),
        "recovered_launches": [round(one, 3) for one in each],
    }
    base_steps, my_steps = base.mean("lost_of_steps_s"), mine.mean("lost_of_steps_s")
    if base_steps is not None and my_steps is not None and base_steps > LEAST * base_total:
        found["recovered_of_steps"] = 1 - my_steps / base_steps
    base_median = statistics.median(base.values.get("lost_median_s") or [0.0])
    if base_median > 0 and mine.values.get("lost_median_s"):
        found["recovered_median"] = (
            1 - statistics.median(mine.values["lost_median_s"]) / base_median
        )
    return found


def ratio(mine: Sample, base: Sample | None, name: str) -> float | None:
    one, other = mine.mean(name), base.mean(name) if base else None
    return one / other if one is not None and other else None


def derive(
    mode: str, modes: dict[str, Sample], baseline: str | None, *, computes: bool
) -> dict[str, Any]:
    """Of a mode in one part: its time as a share of the baseline's, and the shares won back."""
    mine = modes[mode]
    derived: dict[str, Any] = {}
    if baseline is None or not mine.values:
        return derived
    for key, base, name in (
        ("ratio", baseline, "total_s"),
        ("ratio_wall", baseline, "wall_s"),
        ("ratio_of_plain", "plain", "total_s"),
    ):
        found = ratio(mine, modes.get(base), name)
        if found is not None and (key != "ratio_of_plain" or baseline != "plain"):
            derived[key] = found
    if computes:
        derived |= shares(mine, modes[baseline])
        if baseline != "plain" and "plain" in modes:
            derived["recovered_of_plain"] = shares(mine, modes["plain"])["recovered"]
    return derived


def fixed_lost(parts: list[Part], samples: dict[tuple[Part, str], Sample]) -> dict[Part, float]:
    """What a phase loses a window with the right choice for it, fixed."""
    found = {}
    for part in parts:
        both = [samples[part, mode].mean("lost_s") for mode in FIXED if (part, mode) in samples]
        known = [one for one in both if one is not None]
        if part.is_phase and len(known) == len(FIXED):
            found[part] = min(known)
    return found


def fixed_add(
    rows: dict[tuple[Part, str], dict[str, Any]],
    parts: list[Part],
    samples: dict[tuple[Part, str], Sample],
    windows: list[int],
) -> None:
    """Of what the right choice, fixed for each phase, gains over no thread, the share of a mode."""
    right = fixed_lost(parts, samples)
    counted = [part for part in parts if part.phase < 0 or part.computes]
    phases = [part for part in parts if part.is_phase]
    if not right or len(right) != len(phases):
        return
    for whole in (part for part in parts if part.phase < 0):
        right[whole] = sum(right[part] * windows[part.phase] for part in phases)
    for (part, mode), sample in samples.items():
        without, mine = samples[part, "headway-off"].mean("lost_s"), sample.mean("lost_s")
        total = samples[part, "headway-off"].mean("total_s")
        if without is None or mine is None or total is None or part not in counted:
            continue
        gain = without - right[part]
        rows[part, mode]["derived"]["of_fixed"] = (
            (without - mine) / gain if gain > LEAST * total / 2 else None
        )


def summary(values: list[float]) -> dict[str, float]:
    return {"mean": statistics.fmean(values), **summarize(values)}


def reason_of(launches: list[dict[str, Any]]) -> str:
    """Why launches failed, the most frequent reason; empty: none did."""
    reasons = [launch["failure"] for launch in launches if launch["failure"]]
    return statistics.mode(reasons) if reasons else ""


def row_make(
    launches: list[dict[str, Any]], part: Part, sample: Sample, wire_s: float | None
) -> dict[str, Any]:
    first = launches[0]
    case = f"{first['case']}: {part.name}" if part.name else first["case"]
    return {
        **{key: first[key] for key in ("mpi", "rate", "sockbuf")},
        "case": case,
        "program": PROGRAM,
        "bytes": part.bytes,
        "mode": first["mode"],
        "launches": len(launches),
        "failed": sum(launch["result"] is None for launch in launches),
        "hung": sum(bool(launch["result"] and launch["failure"]) for launch in launches),
        "reason": reason_of(launches),
        "wire_s": wire_s,
        "ranks_per_node": first.get("ranks_per_node"),
        "samples": sample.values.get("total_s", []),
        "transfers": [],
        "digests": sample.digests,
        "values": {name: summary(values) for name, values in sample.values.items()},
        "derived": {},
    }


def case_rows(launches: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Of one case on one link with one MPI: a row for each part and mode, failed ones too."""
    results = [launch["result"] for launch in launches if launch["result"]]
    phases = results[0]["phases"] if results else []
    parts = parts_of(phases, launches[0]["first"]) or [Part("", 0, -1)]
    wires = wires_of(launches)
    samples = samples_make(launches, parts, wires)
    rows = {}
    for (part, mode), sample in samples.items():
        of_mode = [launch for launch in launches if launch["mode"] == mode]
        wire_s = wires.get(wire_key(phases[part.phase])) if part.phase >= 0 else None
        row = row_make(of_mode, part, sample, wire_s)
        modes = {name: other for (one, name), other in samples.items() if one == part}
        baseline = baseline_of(modes)
        row["derived"] = derive(mode, modes, baseline, computes=part.computes)
        row["baseline"] = baseline
        plain = modes["plain"].digests if "plain" in modes else []
        row["is_same_answer"] = not plain or not sample.digests or sample.digests == plain
        rows[part, mode] = row
    if phases:
        fixed_add(rows, parts, samples, [len(phase["total_s"]) for phase in phases])
    yield from rows.values()


def rows_make(launches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the launches of `phases`; those of other programs are analysis.rows_make's."""
    cases: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for launch in launches:
        if launch["program"] == PROGRAM:
            key = tuple(launch[name] for name in ("mpi", "rate", "sockbuf", "case"))
            cases.setdefault(key, []).append(launch)
    return [row for chosen in cases.values() for row in case_rows(chosen)]
