# SPDX-License-Identifier: BSD-3-Clause
"""What a run came to, in words: what the engine brought, or why there was none; then the figures.

The closing paragraph of a run is this. It needs no profile. Figures that say nothing are left out:
no line is about a zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headway import origin
from headway.record import endings
from headway.record.table import Record
from headway.records import NS, declined, figure, mean, plural, size_text, total, tracked_count

#: below this share of the run a figure is noise
SMALL_SHARE = 0.01
#: what the library tells who sets its variables, and what that is for the command
FORCING = "HEADWAY_ENGINE=thread forces it"
FORCED = "Force it with --engine thread."
NO_MESSAGE = (
    "The ghosts moved no message: the program started no nonblocking send of "
    "HEADWAY_OFFLOAD_MIN bytes or more"
)
NO_RECORDS = (
    "no records (the program did not reach MPI_Init, or its MPI was not this one); "
    "headway doctor PROGRAM looks for the cause"
)


def summarise(records: Sequence[Record]) -> list[str]:
    """The closing paragraph of a run; its first line stands by itself."""
    if not records:
        return [NO_RECORDS]
    sizes = {r.size for r in records if r.size > 0}
    lines = [*what_happened(records), *origin.lines(records)]
    if sizes and max(sizes) > len(records):
        lines.append(f"Only {len(records)} of {max(sizes)} ranks left a record that can be read.")
    return lines


def what_happened(records: Sequence[Record]) -> list[str]:
    """The same without where, when and of what."""
    ends = [f"{line[0].upper()}{line[1:]}." for line in endings.lines(records)]
    first = headline(records)
    return [first, *ends, *run_lines(records), *details(records, first)]


def details(records: Sequence[Record], said: str) -> list[str]:
    """What there is to say of the engine, beside the sentence that is said."""
    lines = [
        *progress_lines(records),
        *ghost_lines(records),
        *message_lines(records),
        packed(records),
        *overlap_lines(records),
    ]
    lines += [*left_out_lines(records), *declined_lines(records)]
    return [line for line in lines if line not in ("", said)]


# ---- the headline ------------------------------------------------------------------------------


def headline(records: Sequence[Record]) -> str:
    """One sentence, or two."""
    return (
        saved(records)
        or served(records)
        or moved(records)
        or packed(records)
        or not_accelerated(records)
        or nothing_pending(records)
        or little_waited(records)
    )


def saved(records: Sequence[Record]) -> str:
    """What the thread saved or cost; empty where that is not known, or little."""
    found, wall = gain(records), wall_of(records)
    return gain_text(found, wall) if found and wall else ""


def counted(*counts: tuple[float, float, str]) -> str:
    """How many of each were done, and of how many where some were left, of those that there are;
    empty if there are none."""
    return " and ".join(
        f"{int(done)} of {plural(int(done + left), what)}" if left else plural(int(done), what)
        for done, left, what in counts
        if done
    )


def served(records: Sequence[Record]) -> str:
    """What ghosts did in the targets' place; empty if there is none, or they served nothing."""
    what = counted(
        (total(records, "operations_redirected"), 0, "operation"),
        (total(records, "locks_redirected"), 0, "lock"),
    )
    told = f"Ghosts served {what}: no origin waited there for its target to call MPI."
    return told if what else ""


def moved(records: Sequence[Record]) -> str:
    """What went by ghosts, which is not tracked; empty if nothing did."""
    left = sum(times for reason, (times, _) in declined(records).items() if is_of_messages(reason))
    what = counted(
        (total(records, "p2p_offloaded") + total(records, "p2p_near"), left, "message"),
        (total(records, "coll_moved"), 0, "collective call"),
    )
    told = f"{what} went by ghosts, which move them while the program computes."
    return told if what else ""


def packed(records: Sequence[Record]) -> str:
    """Messages that Headway packed, as the MPI is slow at that; empty if there were none."""
    if not (count := int(total(records, "packed_messages"))):
        return ""
    size = size_text(total(records, "packed_message_bytes"))
    what = f"{plural(count, 'message')} of datatypes with gaps, {size}"
    took = mean(records, "packed_message_ns") * NS
    return f"Headway packed {what}" + (f", in {took:.2f} s per rank." if took >= 0.005 else ".")


def is_of_messages(reason: str) -> bool:
    """Does it say why ghosts did not move a message?"""
    return reason.startswith("p2p:")


def not_accelerated(records: Sequence[Record]) -> str:
    """Why there was no engine; empty if there was one."""
    if not all(r.engine == "off" for r in records):
        return ""
    reasons = sorted(declined(records), key=lambda reason: -declined(records)[reason][1])
    if not reasons:
        return "Not accelerated: the engine was off."
    return f"Not accelerated: {because(reasons[0], ranks_of(records))}"


def ranks_of(records: Sequence[Record]) -> int:
    """How many the run had, also where some left no record."""
    return max([len(records), *(int(r.size) for r in records)])


def because(reason: str, count: int) -> str:
    """A reason of the library as the rest of a sentence, and what can be done."""
    cause, _, remedy = reason.partition("; ")
    ranks = {1: "all ranks", 2: "both ranks"}.get(count, f"all {count} ranks")
    cause = cause.replace("all ranks share", f"{ranks} share", 1)
    return f"{cause}. {FORCED}" if remedy == FORCING else f"{reason}."


def nothing_pending(records: Sequence[Record]) -> str:
    """Empty if something was, or windows were."""
    if any(tracked_count(r) or r.exposures or r.windows_redirected for r in records):
        return ""
    if any(r.p2p == "ghost" for r in records):  # the thread follows few messages then
        return (
            "Nothing to gain: the ghosts moved nothing, and the progress thread followed nothing."
        )
    limit = max(r.eager_limit_bytes for r in records)
    above = f" (messages of {size_text(limit)} or more do)" if limit else ""
    return f"Nothing to gain: nothing was pending that needs progress{above}."


def little_waited(records: Sequence[Record]) -> str:
    """There was an engine, and what it brought is not known, or little."""
    waited, wall = mean(records, "blocked_ns") * NS, wall_of(records)
    if not wall:
        return f"{plural(len(records), 'rank')} left a record."
    of_run = f"{waited:.2f} s of {wall:.2f} s ({share(waited, wall)})"
    if waited < SMALL_SHARE * wall:
        if any(r.exposures for r in records):
            return (
                "What one-sided operations waited for, if there were any, is not known. "
                "`headway profile` says it; ghosts (`--ghosts 1`) may serve them."
            )
        return f"Nothing to gain: the ranks waited less than 1 % of {wall:.2f} s for requests."
    if gain(records):
        return (
            f"No gain was measured: the ranks waited {of_run} for requests with the thread. "
            "`headway profile` says why."
        )
    return f"The ranks waited {of_run} for requests. `headway profile` says why."


def is_without_gain_here(records: Sequence[Record]) -> bool:
    """Did an engine that was wanted save nothing in a job of one machine, and came to its end?
    Ghosts do not say what they saved."""
    if ranks_of(records) > len(records) or not all(map(endings.is_complete, records)):
        return False
    was_wanted = any(r.engine != "off" or r.declined for r in records)
    hosts = {r.host for r in records}
    is_elsewhere = len(hosts) != 1 or "" in hosts
    if not was_wanted or is_elsewhere or any(r.windows_redirected for r in records):
        return False
    if moved(records) or packed(records):
        return False
    found = gain(records)
    return found is None or found.saved_s < SMALL_SHARE * wall_of(records)


# ---- the lines below it ------------------------------------------------------------------------


def wall_of(records: Sequence[Record]) -> float:
    return max((r.wall_s for r in records), default=0.0)


def share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %"


def run_lines(records: Sequence[Record]) -> list[str]:
    """How many, with which engine, how long, how much of it in MPI."""
    parts = [plural(len(records), "rank")]
    engines = sorted({str(r.engine) for r in records if r.engine})
    if engines:
        parts.append("engine " + "/".join(engines))
    wall = wall_of(records)
    if wall:
        end = "MPI_Finalize" if all(map(endings.is_complete, records)) else "the last record"
        parts.append(f"{wall:.2f} s from MPI_Init to {end}")
        if any(r.mpi_s is not None for r in records):
            inside = mean(records, "mpi_s")
            parts.append(f"{inside:.2f} s of it in MPI ({share(inside, wall)})")
    return [", ".join(parts) + "."]


def progress_lines(records: Sequence[Record]) -> list[str]:
    cpu, wall = mean(records, "thread_cpu_s"), wall_of(records)
    if cpu < 0.005 or not wall:
        return []
    of_run = f" ({share(cpu, wall)})" if cpu >= 0.005 * wall else ""
    return [f"The progress thread used {cpu:.2f} CPU-seconds per rank{of_run}."]


def ghost_cpu_s(records: Sequence[Record]) -> float | None:
    """CPU time of a ghost, on average; all that it serves tell the same. None: nobody tells."""
    each: dict[float, float] = {}
    for one in records:
        if one.ghost > 0 and one.ghost_cpu_s > 0:
            ghost = one.ghost
            each[ghost] = max(each.get(ghost, 0.0), one.ghost_cpu_s)
    return sum(each.values()) / len(each) if each else None


def ghost_lines(records: Sequence[Record]) -> list[str]:
    """How many windows the ghosts had, what that took, and what they were not needed for."""
    if not any(r.ghost > 0 or r.windows_redirected for r in records):
        return []
    windows = int(max(r.windows_redirected for r in records))
    cpu = ghost_cpu_s(records)
    took = "" if cpu is None else f" A ghost used {cpu:.2f} CPU-seconds."
    if not windows and (helper := helper_lines(records)):
        return [f"{helper[0]}{took}", *helper[1:]]
    if not windows:
        return [f"The ghosts served no window.{took}"]
    near = int(total(records, "operations_copied") + total(records, "operations_applied"))
    line = f"The ghosts served {plural(windows, 'window')}"
    line += f"; {plural(near, 'operation')} within a node needed no ghost" if near else ""
    return [f"{line}.{took}", *helper_lines(records)]


def message_lines(records: Sequence[Record]) -> list[str]:
    """Who moved large messages, where ghosts were asked to."""
    count = int(total(records, "p2p_offloaded"))
    if reasons := sorted({str(r.p2p_reason) for r in records if r.p2p_reason}):
        # of the others it says only that another process cannot
        own = [one for one in reasons if one != "another process declines"] or reasons
        return [f"The MPI moved all messages: {own[0]}.", *collective_lines(records)]
    if not any(r.p2p == "ghost" for r in records):
        return collective_lines(records)
    near = int(total(records, "p2p_near"))
    if not count and not near:
        was_declined = any(map(is_of_messages, declined(records)))
        line = "The ghosts moved no message" if was_declined else NO_MESSAGE
        return collective_lines(records) or [f"{line}."]
    size = size_text(total(records, "p2p_offloaded_bytes"))
    line = f"The ghosts moved {plural(count, 'message')}" + (f", {size}" if count else "")
    if near:
        size = size_text(total(records, "p2p_near_bytes"))
        line += f"; receivers read {plural(near, 'message')} within a node, {size}"
    return [f"{line}.", *collective_lines(records)]


def collective_lines(records: Sequence[Record]) -> list[str]:
    """Which nonblocking collectives ghosts made."""
    calls = int(total(records, "coll_moved"))
    if not calls:
        return []
    size = size_text(total(records, "coll_moved_bytes"))
    return [f"The ghosts made {plural(calls, 'call')} of nonblocking collectives, {size}."]


def helper_lines(records: Sequence[Record]) -> list[str]:
    """How often ghosts woke progress threads, how often in vain, and why they did or did not."""
    if not any(r.trigger == "helper" for r in records):
        return why_lines(records, "events", "No helper was used")
    wakes, futile = int(total(records, "helper_wakes")), int(total(records, "helper_wakes_futile"))
    spared = int(total(records, "helper_wakes_spared"))
    rung = int(total(records, "target_looks"))
    if not wakes and not spared and not rung:
        return why_lines(records, "helper", "A helper was used")
    line = f"The helper woke progress threads {plural(wakes, 'time')}"
    line += f", {futile} of them in vain" if futile else ""
    line += f"; {plural(spared, 'wake')} could be spared, inside MPI" if spared else ""
    line += f"; {plural(rung, 'time')} for one-sided operations of others" if rung else ""
    return [f"{line}.", *why_lines(records, "helper", "A helper was used")]


def why_lines(records: Sequence[Record], trigger: str, what: str) -> list[str]:
    """What HEADWAY_TRIGGER=auto went by, where there are ghosts."""
    reasons = sorted({r.trigger_why for r in records if r.trigger == trigger and r.ghost >= 0})
    return [f"{what}: {' / '.join(filter(None, reasons))}."] if any(reasons) else []


def overlap_lines(records: Sequence[Record]) -> list[str]:
    """What was followed, what was overlapped, what was waited for."""
    tracked = sum(tracked_count(r) for r in records)
    exposures = int(max((r.exposures for r in records), default=0))
    if not tracked and exposures and (looks := int(total(records, "polls"))):
        exposed = plural(exposures, "window")
        return [f"{exposed} exposed: the progress thread looked {looks} times for others."]
    if not tracked or all(r.engine == "off" for r in records):
        return []
    lines = [f"{plural(tracked, 'operation')} followed, {moved_text(records)}."]
    waited = mean(records, "blocked_ns") * NS
    worst = max(records, key=lambda r: r.blocked_ns)
    longest = worst.blocked_ns * NS
    parts = []
    if waited >= 0.005:
        most = f" (rank {worst.rank}: {longest:.2f} s)"
        is_uneven = longest > max(1.2 * waited, waited + 0.01)  # or both are the same in print
        parts.append(f"waited {waited:.2f} s for them{most if is_uneven else ''}")
    computed = mean(records, "overlapped_ns") * NS
    if computed >= 0.005:
        parts.append(f"computed {computed:.2f} s while they were in flight")
    return [*lines, f"Per rank, the program {' and '.join(parts)}."] if parts else lines


def moved_text(records: Sequence[Record]) -> str:
    text = size_text(total(records, "tracked_bytes"))
    early = int(total(records, "completed_early"))
    return f"{text}; {early} were complete before the program asked" if early else text


def left_out_lines(records: Sequence[Record]) -> list[str]:
    windows = int(total(records, "overlap_windows"))
    left_out = int(total(records, "overlap_windows_off"))
    if not windows or not left_out:
        return []
    why = "as a control, or as it gained nothing" if windows > left_out else "it gained nothing"
    return [f"The thread left out {left_out} of {windows} windows of overlap: {why}."]


def declined_lines(records: Sequence[Record]) -> list[str]:
    """Reasons that the headline does not say, nor what is said of messages."""
    first = [headline(records), *message_lines(records)]
    return [
        f"Declined: {reason} ({plural(ranks, 'rank')})."
        for reason, (_, ranks) in sorted(declined(records).items())
        if not any(because(reason, ranks_of(records)) in line for line in first)
    ]


# ---- what the thread saved ---------------------------------------------------------------------


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
    import statistics  # takes long to load, and few runs are judged

    figures = {
        name: [(figure(r, f"judged_{name}_ns") - r.judged_on_ns) * NS for r in judged]
        for name in ("off_low", "off", "off_high")
    }
    saved_s = statistics.median(figures["off"])
    low = min(*figures["off_low"], saved_s)
    return Gain(low, saved_s, max(statistics.median(figures["off_high"]), saved_s))


def gain_text(found: Gain, wall_s: float) -> str:
    """One sentence, which says so where it is not sure that anything was gained; nothing where it
    is little."""
    if found.low_s <= 0 <= found.high_s:
        if found.saved_s < SMALL_SHARE * wall_s:
            return ""
        return (
            f"The progress thread may have saved some {found.saved_s:.2f} s of {wall_s:.2f} s: a "
            "run with `--engine off` tells."
        )
    if min(abs(found.low_s), abs(found.high_s)) < SMALL_SHARE * wall_s:
        return ""
    verb, sign = ("saved", 1) if found.saved_s > 0 else ("cost", -1)
    ends = sorted(sign * end for end in (found.low_s, found.high_s))
    digits = 1 if ends[0] >= 0.95 else 2
    whole = wall_s + max(found.saved_s, 0)
    advice = "" if sign > 0 else " `headway run --engine off` runs without it."
    return (
        f"The progress thread {verb} about {sign * found.saved_s:.{digits}f} s of "
        f"{whole:.{digits}f} s ({share(sign * found.saved_s, whole)}; between "
        f"{ends[0]:.{digits}f} and {ends[1]:.{digits}f} s).{advice}"
    )
