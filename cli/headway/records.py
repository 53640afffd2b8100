# SPDX-License-Identifier: BSD-3-Clause
"""The records the library writes, headway.<rank>.json, summed up."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.record.older import record_of
from headway.record.table import Record

NS = 1e-9
#: where processes that were spawned leave theirs: each world has a rank 0
SPAWNED = "spawned"
#: below this share of the run a figure is noise
SMALL_SHARE = 0.01


def read(folder: Path) -> list[Record]:
    """Every readable record of a run, by rank."""
    return [record_of(raw) for raw in read_json(folder)]


def read_json(folder: Path) -> list[dict[str, Any]]:
    """The same as their files have them."""
    found = [raw for path in folder.glob("headway.*.json") if (raw := load_json(path))]
    return sorted(found, key=lambda raw: str(raw.get("rank", "")).zfill(8))


def spawned_count(folder: Path) -> int:
    """How many processes that the program spawned left a record."""
    return len(list(folder.glob(f"{SPAWNED}/headway.*.json")))


def load(path: Path) -> Record | None:
    """One record, or None if the file is not one."""
    raw = load_json(path)
    return None if raw is None else record_of(raw)


def load_json(path: Path) -> dict[str, Any] | None:
    """The object in a file, or None if there is none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        found = json.loads(text.replace(r"\u0000", "\ufffd"))
        if r"\ud" in text.lower():  # halves of a character cannot be printed
            whole = json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
            found = json.loads(whole)
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def figure(one: object, name: str) -> float:
    """A field of a record, or of a part of one, by its name; 0 where it has none."""
    return float(getattr(one, name) or 0.0)


def total(records: Sequence[Record], key: str) -> float:
    return sum(figure(r, key) for r in records)


def mean(records: Sequence[Record], key: str) -> float:
    return total(records, key) / len(records) if records else 0.0


def size_text(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def tracked_count(record: Record) -> int:
    """Operations followed: each post, and each start of a persistent one."""
    names = ("tracked_p2p", "tracked_collective", "tracked_rma", "tracked_io", "started")
    return int(sum(figure(record, name) for name in names))


def declined(records: Sequence[Record]) -> dict[str, tuple[int, int]]:
    """Reason -> how often, and in how many ranks."""
    reasons: dict[str, tuple[int, int]] = {}
    for record in records:
        for reason, times in record.declined.items():
            count, ranks = reasons.get(reason, (0, 0))
            reasons[reason] = (count + times, ranks + 1)
    return reasons


def summarise(records: Sequence[Record]) -> list[str]:
    """The closing paragraph of a run; its first line stands by itself."""
    if not records:
        return [
            "no records (the program did not reach MPI_Finalize, or its MPI was not this one); "
            "headway doctor PROGRAM looks for the cause"
        ]
    lines = [headline(records), *ghost_lines(records), *overlap_lines(records)]
    lines += policy_lines(records)
    for reason, (_, ranks) in sorted(declined(records).items()):
        lines.append(f"declined: {reason} ({plural(ranks, 'rank')})")
    sizes = {r.size for r in records if r.size > 0}
    if sizes and max(sizes) > len(records):
        lines.append(f"only {len(records)} of {max(sizes)} ranks left a record that can be read")
    return lines


def plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def headline(records: Sequence[Record]) -> str:
    parts = [plural(len(records), "rank")]
    engines = sorted({str(r.engine) for r in records if r.engine})
    if engines:
        parts.append("engine " + "/".join(engines))
    wall = max(r.wall_s for r in records)
    if wall:
        parts.append(f"{wall:.2f} s from MPI_Init to MPI_Finalize")
        if any(r.mpi_s is not None for r in records):
            inside = mean(records, "mpi_s")
            parts.append(f"{inside:.2f} s of it in MPI ({share(inside, wall)})")
        cpu = mean(records, "thread_cpu_s")
        parts.append(f"progress took {cpu:.3f} CPU s a rank ({share(cpu, wall)})")
    return ", ".join(parts)


def ghost_cpu_s(records: Sequence[Record]) -> float | None:
    """CPU time of a ghost, on average; all that it serves tell the same. None: nobody tells."""
    each: dict[float, float] = {}
    for one in records:
        if one.ghost > 0 and one.ghost_cpu_s > 0:
            ghost = one.ghost
            each[ghost] = max(each.get(ghost, 0.0), one.ghost_cpu_s)
    return sum(each.values()) / len(each) if each else None


def ghost_lines(records: Sequence[Record]) -> list[str]:
    """What went to the ghosts, what that took, and what within a node could do without them."""
    if not any(r.ghost > 0 or r.windows_redirected for r in records):
        return []
    windows = int(max(r.windows_redirected for r in records))
    cpu = ghost_cpu_s(records)
    took = "" if cpu is None else f"; a ghost took {cpu:.3f} CPU s"
    if not windows:
        return [f"the ghosts served no window{took}"]
    served = int(total(records, "operations_redirected"))
    near = int(total(records, "operations_copied") + total(records, "operations_applied"))
    locks = int(total(records, "locks_redirected"))
    line = f"the ghosts served {plural(windows, 'window')}: {plural(served, 'operation')}"
    line += f" and {plural(locks, 'lock')}" if locks else ""
    line += f"; {plural(near, 'operation')} within a node needed no ghost" if near else ""
    return [line + took]


def overlap_lines(records: Sequence[Record]) -> list[str]:
    """What was followed, what was overlapped, what was waited for."""
    tracked = sum(tracked_count(r) for r in records)
    if all(r.engine == "off" for r in records):
        return []
    exposures = int(total(records, "exposures"))
    if not tracked and not exposures and total(records, "windows_redirected"):
        return []
    if not tracked and exposures:
        looks = int(total(records, "polls"))
        windows = plural(exposures, "window")
        return [f"0 operations tracked; {windows} exposed, polled {looks} times for others"]
    if not tracked:
        limit = max(r.eager_limit_bytes for r in records)
        above = f" (messages from {size_text(limit)} on are)" if limit else ""
        return [f"0 operations tracked: nothing was pending that needs progress{above}"]
    line = f"{tracked} operations tracked, {size_text(total(records, 'tracked_bytes'))}: waited "
    waited = mean(records, "blocked_ns") * NS
    worst = max(records, key=lambda r: r.blocked_ns)
    line += f"{waited:.2f} s a rank for them"
    if worst.blocked_ns * NS > 1.2 * waited > 0.01:
        line += f" (rank {worst.rank}: {worst.blocked_ns * NS:.2f} s)"
    if any(r.overlapped_ns is not None for r in records):
        computed = mean(records, "overlapped_ns") * NS
        line += f", computed for {computed:.2f} s while they were in flight"
    early = int(total(records, "completed_early"))
    if early:
        line += f"; {early} were complete before the program asked"
    return [line]


@dataclass(frozen=True)
class Gain:
    """What the thread saved a whole run, in seconds of its time; negative: cost."""

    low_s: float
    saved_s: float
    high_s: float


def gain(records: Sequence[Record]) -> Gain | None:
    """What the run gained by the thread, or None where the records do not tell.

    Ranks that wait for one another are done at the same time, so what one of them saved in its own
    waits and the others did not is waited for elsewhere: each tells of the same gain, as far as it
    sees. The interval reaches to the least of what the ranks are sure of, and to the most of what
    the middle one thinks possible.
    """
    judged = [r for r in records if r.judged_windows and r.judged_off_low_ns is not None]
    if not judged:
        return None
    figures = {
        name: [(figure(r, f"judged_{name}_ns") - r.judged_on_ns) * NS for r in judged]
        for name in ("off_low", "off", "off_high")
    }
    saved = statistics.median(figures["off"])
    low = min(*figures["off_low"], saved)
    return Gain(low, saved, max(statistics.median(figures["off_high"]), saved))


def gain_text(found: Gain, wall_s: float) -> str:
    """One sentence; a bound alone where it is not sure that anything was gained; nothing where
    it is little."""
    if found.low_s <= 0 <= found.high_s:
        if found.saved_s <= 0 or found.high_s < SMALL_SHARE * wall_s:
            return ""
        return f"the thread saved at most about {found.high_s:.2f} s of {wall_s:.2f} s"
    if min(abs(found.low_s), abs(found.high_s)) < SMALL_SHARE * wall_s:
        return ""
    verb, sign = ("saved", 1) if found.saved_s > 0 else ("cost", -1)
    ends = sorted(sign * end for end in (found.low_s, found.high_s))
    digits = 1 if ends[0] >= 0.95 else 2
    return (
        f"the thread {verb} about {sign * found.saved_s:.{digits}f} s "
        f"({ends[0]:.{digits}f} to {ends[1]:.{digits}f}) of {wall_s + max(found.saved_s, 0):.2f} s"
    )


def policy_lines(records: Sequence[Record]) -> list[str]:
    """What the thread brought, and where it was left out, as the library measured in this run."""
    lines = []
    wall = max(r.wall_s for r in records)
    found = gain(records)
    if found and wall and (text := gain_text(found, wall)):
        lines.append(text)
    windows = int(total(records, "overlap_windows"))
    left_out = int(total(records, "overlap_windows_off"))
    if windows and left_out:
        why = "as a control, or as it gained nothing" if windows > left_out else "it gained nothing"
        lines.append(f"the thread left out {left_out} of {windows} windows of overlap: {why}")
    return lines
