# SPDX-License-Identifier: BSD-3-Clause
"""The report as tables on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway import records
from headway.report import causes, communicators, one_sided, phases
from headway.report.blocking import late_name, rest_name
from headway.report.recorded import Reasons, Site
from headway.report.runs import Run, complaints

#: a cause below this part of a wait is not worth a word
WORTH_NAMING = 0.03
#: waits in blocking calls of less than this part of the run have no row
WORTH_WAITING = 0.01
#: so many ranks are named, the rest counted
NAMED_RANKS = 8
#: terminals of fewer columns get tables without lines between the columns
NARROW = 100
REASON_NAMES = {
    "no_progress": "no progress",
    "bandwidth": "bandwidth",
    "late": "late partner",
    "imbalance": "imbalance",
    "transfer": "the transfer itself",
    "unknown": "not known",
}


def show(run: Run, console: Console, rows: int) -> None:
    """Everything about one run."""
    console.print(run.title, style="bold", soft_wrap=True)
    for complaint in complaints(run):
        console.print(f"note: {complaint}", soft_wrap=True)
    for line in records.summarise(run.records):
        console.print(line, soft_wrap=True)
    if marked := phases.phases_of(run):
        put(phases_table(run, marked[:rows]), console)
    if not run.is_profiled:
        console.print("no call sites: recorded without HEADWAY_PROFILE (headway profile)")
        return
    put(calls_table(run, rows), console)
    if posts := [s for s in run.sites if not s.is_door and s.total("completed")]:
        put(posts_table(posts[:rows]), console)
    if found := communicators.communicators_of(run):
        put(communicators_table(run, found[:rows]), console)
    if waits := wait_rows(run):
        put(waits_table(run, waits[:rows]), console)
    if worth := one_sided.OneSided(run).worth:
        put(one_sided_table(run, worth[:rows]), console)
    for line in [*conclusion(run), *imbalance_lines(run)]:
        console.print(line, soft_wrap=True)
    if said := causes.lines(run, rows):
        console.print(Text("Who was late, and what they did meanwhile", style="italic"))
        for line in said:
            console.print(Text(f"* {line}"), soft_wrap=True)


def put(table: Table, console: Console) -> None:
    """No column has a fixed width: the places of calls would be what gives way."""
    if console.width < NARROW:
        table.box, table.padding, table.pad_edge = box.SIMPLE_HEAD, (0, 0), False
    console.print(table)


def imbalance_lines(run: Run) -> list[str]:
    """Which ranks have more to compute throughout; no engine helps there."""
    found = run.imbalance
    if found is None:
        return []
    least = max(found.less_s, key=lambda rank: found.less_s[rank])
    mean = sum(found.less_s.values()) / len(found.less_s)
    waits = (run.all_reasons.imbalance + run.blocking_reasons.imbalance) / run.size
    names = ", ".join(map(str, found.busiest[:NAMED_RANKS]))
    more = (
        f" and {len(found.busiest) - NAMED_RANKS} more" if len(found.busiest) > NAMED_RANKS else ""
    )
    noun = "rank" if len(found.busiest) == 1 else "ranks"
    others = records.plural(len(found.less_s), "rank")
    return [
        f"Imbalance: {noun} {names}{more} had {found.computes_s:.2f} s to compute, {others} "
        f"{mean:.2f} s less (rank {least} {found.less_s[least]:.2f} s less), throughout the run "
        f"(seen in {found.slices} slices of it): {waits:.2f} s a rank of the waits above are for "
        "that. Only dividing the work otherwise helps."
    ]


def phases_table(run: Run, marked: Sequence[phases.Phase]) -> Table:
    title = "Phases the program named, a rank's mean; operations that are tracked"
    table = Table(title=title, title_justify="left")
    table.add_column("phase", overflow="fold")
    for heading in phases.HEADINGS:
        table.add_column(heading, justify="right", overflow="fold")
    for phase in marked:
        table.add_row(Text(phase.name), *phases.row(phase, run))
    return table


def communicators_table(run: Run, found: Sequence[communicators.Communicator]) -> Table:
    title = "By communicator: calls that name it, a rank's mean; a request's mean beside it"
    table = Table(title=title, title_justify="left")
    table.add_column("communicator", overflow="fold")
    for heading in communicators.HEADINGS:
        table.add_column(heading, justify="right", overflow="fold")
    for one in found:
        table.add_row(Text(str(one)), *communicators.row(one, run))
    return table


def waits_of(run: Run) -> list[Site]:
    return sorted((s for s in run.sites if s.is_wait), key=lambda s: -s.waited)


def wait_rows(run: Run) -> list[Site]:
    """The same, and calls that block in which much was waited."""
    least = WORTH_WAITING * run.wall * run.size
    others = [s for s in run.sites if not s.is_wait and run.blocking.waited(s) > least]
    return sorted([*waits_of(run), *others], key=lambda s: -run.waited(s))


def calls_table(run: Run, rows: int) -> Table:
    table = Table(title="Time in MPI, a rank's mean", title_justify="left")
    table.add_column("called from", overflow="fold")
    table.add_column("MPI_", overflow="fold")
    for heading in ("size", "calls", "bytes", "seconds", "of run", "least..most"):
        table.add_column(heading, justify="right", overflow="fold")
    for site in run.sites[:rows]:
        mean = site.seconds / run.size
        least, most = site.spread(run.size)
        table.add_row(
            str(site.place),
            site.function,
            site.size,
            str(site.calls),
            records.size_text(site.total("bytes")),
            f"{mean:.3f}",
            percent(mean, run.wall),
            f"{least:.2f}..{most:.2f}",
        )
    rest = sum(site.seconds for site in run.sites[rows:]) / run.size
    if rest:
        count = len(run.sites) - rows
        words = [f"{count} more", "", "", "", "", f"{rest:.3f}", percent(rest, run.wall), ""]
        table.add_row(*words)
    return table


def posts_table(posts: Sequence[Site]) -> Table:
    title = "What the program did while a request was pending, a request's mean"
    table = Table(title=title, title_justify="left")
    table.add_column("posted at", overflow="fold")
    table.add_column("MPI_", overflow="fold")
    for heading in ("size", "requests", "posting", "computed", "waited", "computed %"):
        table.add_column(heading, justify="right", overflow="fold")
    for site in posts:
        count = site.total("completed")
        table.add_row(
            str(site.place),
            site.function,
            site.size,
            str(int(count)),
            time_text(site.total("call_ns") / max(site.calls, 1)),
            time_text(site.total("computed_ns") / count),
            time_text(site.total("blocked_ns") / count),
            share_text(site.computed_share),
        )
    return table


def waits_table(run: Run, waits: Sequence[Site]) -> Table:
    table = Table(title="Why it waited", title_justify="left")
    table.add_column("waited at", overflow="fold")
    table.add_column("MPI_", overflow="fold")
    for heading in ("size", "seconds", "of run", "hidden"):
        table.add_column(heading, justify="right", overflow="fold")
    table.add_column("cause", overflow="fold")
    for site in waits:
        mean = run.waited(site) / run.size
        table.add_row(
            str(site.place),
            site.function,
            site.size,
            f"{mean:.3f}",
            percent(mean, run.wall),
            share_text(site.hidden_share),
            cause(run.reasons(site), site.function),
        )
    return table


def one_sided_table(run: Run, rows: Sequence[one_sided.Row]) -> Table:
    title = "One-sided waits, and what an engine would recover of them, s a rank"
    table = Table(title=title, title_justify="left")
    table.add_column("waited at", overflow="fold")
    table.add_column("MPI_", overflow="fold")
    for heading in one_sided.HEADINGS:
        table.add_column(heading, justify="right", overflow="fold")
    table.add_column("known from", overflow="fold")
    for row in rows:
        cells = [one_sided.named(row), row.spot.function, *one_sided.figures(row, run)]
        table.add_row(*map(Text, cells), Text(one_sided.how_known(row)))
    return table


def cause(reasons: Reasons, function: str = "Wait") -> str:
    """The causes of waits in this function in words, the largest first."""
    names = {**REASON_NAMES, "late": late_name(function), "transfer": rest_name(function)}
    parts = {key: getattr(reasons, key) for key in REASON_NAMES}
    whole = sum(parts.values())
    if not whole:
        return "-"
    named = sorted(parts.items(), key=lambda item: -item[1])
    words = [
        f"{names[key]} {percent(value, whole)}"
        for key, value in named
        if value > WORTH_NAMING * whole
    ]
    known = [f"{reasons.looks} looks"] if reasons.looks else []
    if reasons.told > WORTH_NAMING * whole:
        known.append("from what partners did")
    return ", ".join(words) + (f" ({'; '.join(known)})" if known else "")


def conclusion(run: Run) -> list[str]:
    """What to do about it, and how that is known."""
    reasons = run.all_reasons
    waited = sum(getattr(reasons, name) for name in REASON_NAMES) / run.size
    lines = one_sided_lines(run)
    if not waited:
        nothing = "The program waited for no request, so an engine has nothing to recover."
        return lines or [nothing]
    gain = run.prediction.seconds
    if reasons.looks:
        gain -= run.prediction.within + run.prediction.transport
        lines.append(
            f"An engine that makes progress can recover about {gain:.2f} s a rank, "
            f"{percent(gain, run.wall)} of the run (headway run): {run.prediction.idle:.2f} s in "
            f"which bytes moved only while the program waited, though the wire was idle while it "
            f"computed{copying_text(run)}. Known from {reasons.looks} looks at the byte counters "
            f"of TCP connections; the wire carried at most {run.wire_rate / 1e6:.0f} MB/s one way."
        )
        lines += directions(run)
    lines += within_nodes(run)
    lines += transport_lines(run)
    if run.prediction.spinning > WORTH_NAMING * waited:
        lines.append(
            f"{run.prediction.spinning:.2f} s a rank more could be recovered if tests in a "
            "loop were waits: an engine stays on where waits become shorter, and tests are none."
        )
    if reasons.unknown > WORTH_NAMING * waited * run.size:
        lines.append(
            f"Why it waited {reasons.unknown / run.size:.2f} s of that is not known: too small, or "
            "neither sent over TCP, the only transport whose bytes can be watched, nor within a "
            "node to partners the records name. headway run --engine thread shows what is to be "
            "won there."
        )
    return lines


def transport_lines(run: Run) -> list[str]:
    """What an engine does not win, but its command."""
    seconds = run.prediction.transport
    if not run.duplex or seconds <= WORTH_NAMING * run.mpi_seconds:
        return []
    return [
        f"{seconds:.2f} s a rank more comes of {run.duplex.variable}={run.duplex.value}, which "
        "headway run sets: of exchanges that no engine speeds up (tests in a loop, reductions) one "
        "direction moved after the other, as looks within them saw, and goes with it then."
    ]


def within_nodes(run: Run) -> list[str]:
    """What waits within nodes are for, where no wire tells."""
    found, lines = run.prediction, []
    how = (
        "Known from what both did: they had posted, and computed, and within a node bytes are "
        "copied only by processes that are in MPI"
    )
    if found.within > WORTH_NAMING * (found.within + found.idle):
        lines.append(
            f"Within nodes an engine can recover about {found.within:.2f} s a rank, "
            f"{percent(found.within, run.wall)} of the run (headway run). {how}; there are cores "
            "to do it meanwhile."
        )
    if found.crowded > WORTH_NAMING * run.mpi_seconds:
        lines.append(
            f"{found.crowded:.2f} s a rank of no progress is within nodes without cores to spare: "
            f"an engine could only do the same copying at another moment, unless some ranks wait "
            f"while others compute (headway run --engine thread tries it). {how}."
        )
    return lines


def one_sided_lines(run: Run) -> list[str]:
    """Waits without a request. Older records do not tell for whom they were."""
    found = one_sided.OneSided(run)
    if found.is_recorded:
        return one_sided.lines(found)
    seconds = run.one_sided_s
    if seconds <= WORTH_NAMING * run.wall:
        return []
    return [
        f"{seconds:.2f} s a rank, {percent(seconds, run.wall)} of the run, went in MPI_Win_flush, "
        "MPI_Win_unlock and their like. These records do not tell for which targets, so how much "
        "of it an engine wins back is not known: most, where targets compute meanwhile. Profile "
        "it again, or headway run shows it, and where cores are to spare headway run --ghosts 1."
    ]


def directions(run: Run) -> list[str]:
    """What of it comes of exchanges that go one direction after the other."""
    seconds = run.prediction.directions
    if seconds <= WORTH_NAMING * run.prediction.idle:
        return []
    return [
        f"{seconds:.2f} s of that is one direction of an exchange moving after the other instead "
        "of at once, as looks within waits saw. Answered in time both go at once; some transports "
        "also have a setting for it (headway run --transport)."
    ]


def copying_text(run: Run) -> str:
    copying = run.prediction.copying
    if copying < WORTH_NAMING * run.prediction.idle:
        return ""
    return (
        f", less {copying:.2f} s of processor time for moving them, which an engine without a "
        "core of its own takes from the program"
    )


def compare(runs: Sequence[Run], console: Console, rows: int) -> None:
    """Runs side by side, the first as the measure."""
    table = Table(title="Runs", title_justify="left")
    for heading in (
        "run",
        "ranks",
        "engine",
        "seconds",
        "of first",
        "in MPI",
        "waited",
        "progress",
    ):
        table.add_column(heading, justify="left" if heading in ("run", "engine") else "right")
    for run in runs:
        engines = sorted({r.engine for r in run.records})
        table.add_row(
            run.name,
            str(run.size),
            "/".join(engines),
            f"{run.wall:.2f}",
            percent(run.wall, runs[0].wall),
            f"{run.mpi_seconds:.2f}" if run.mpi_seconds else "-",
            f"{waited(run):.2f}",
            f"{records.mean(run.records, 'thread_cpu_s'):.3f}",
        )
    put(table, console)
    if all(run.is_profiled for run in runs):
        console.print(differences(runs, rows))
        if causes_found := causes_table(runs, rows):
            put(causes_found, console)


def waited(run: Run) -> float:
    """Mean time a rank waited for requests: all of them if profiled, else those tracked."""
    if run.is_profiled:
        return sum(site.waited for site in waits_of(run)) / run.size
    return records.mean(run.records, "blocked_ns") * records.NS


def differences(runs: Sequence[Run], rows: int) -> Table:
    """Call sites by how much their time differs."""
    each = [{site.key: site.seconds / run.size for site in run.sites} for run in runs]
    keys = {key for times in each for key in times}
    first = each[0]

    def change(key: tuple[str, str, int]) -> float:
        return max(abs(times.get(key, 0.0) - first.get(key, 0.0)) for times in each)

    table = Table(title="Seconds in MPI by call site, a rank's mean", title_justify="left")
    table.add_column("called from", overflow="fold")
    table.add_column("MPI_", overflow="fold")
    for run in runs:
        table.add_column(run.name, justify="right", overflow="fold")
    for key in sorted(keys, key=lambda key: -change(key))[:rows]:
        table.add_row(key[0], key[1], *(f"{times.get(key, 0.0):.3f}" for times in each))
    return table


def causes_table(runs: Sequence[Run], rows: int) -> Table | None:
    compared = causes.compared(runs)[:rows]
    if not compared:
        return None
    table = Table(title="For whom the longest wait was", title_justify="left")
    table.add_column("waited at", overflow="fold")
    for run in runs:
        table.add_column(run.name, overflow="fold")
    for spot, cells in compared:
        table.add_row(Text(spot), *map(Text, cells))
    return table


def share_text(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f} %"


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def time_text(nanoseconds: float) -> str:
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= factor:
            return f"{nanoseconds / factor:.2f} {unit}"
    return f"{nanoseconds:.0f} ns"
