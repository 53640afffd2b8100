# SPDX-License-Identifier: BSD-3-Clause
"""The report as tables on the terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import compress

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headway import origin, outcome, records
from headway.report import (
    causes,
    communicators,
    comparison,
    foreseen,
    one_sided,
    packing,
    phases,
    pop,
    routes,
    targets,
)
from headway.report.blocking import late_name, rest_name
from headway.report.headline import Figure, told
from headway.report.recorded import Reasons, Site
from headway.report.runs import Run, complaints

#: a cause below this part of a wait is not worth a word
WORTH_NAMING = 0.03
#: waits in blocking calls of less than this part of the run have no row
WORTH_WAITING = 0.01
#: a row's time is this part of the run at least, and not 0.000 s
WORTH_A_ROW, LEAST_S = 0.001, 0.0005
#: nothing is said of less, which would be 0.00 s
LEAST_SAID_S = 0.005
#: so many ranks are named, the rest counted
NAMED_RANKS = 8
#: terminals of fewer columns get tables without lines between the columns
NARROW = 100
#: ... and of communicators not what other columns say as well, which would fold their names
LEFT_OUT_OF_NARROW = ("of run", "requests")
#: one-sided operations that have a request
OPERATION = re.compile(r"R(put|get|accumulate|get_accumulate)$")
REASON_NAMES = {
    "no_progress": "no progress",
    "bandwidth": "bandwidth",
    "late": "late partner",
    "imbalance": "imbalance",
    "transfer": "the transfer itself",
    "files": "file access",
    "unknown": "not known",
}


def show(run: Run, console: Console, rows: int) -> None:
    """Everything about one run: what it comes to, then why, then the tables."""
    sentence, figures = told(run)
    say(console, sentence, style="bold")
    if figures:
        console.print()
        put(figures_table(figures), console)
    console.print()
    for line in [run.title, *origin.lines(run.records)]:
        say(console, line)
    for complaint in complaints(run):
        say(console, f"note: {complaint}")
    for line in outcome.details(run.records, sentence):
        say(console, line)
    if marked := phases.phases_of(run):
        put(phases_table(run, marked[:rows]), console)
    if changed := routes.rows(run):
        put(routes_table(run, changed[:rows]), console)
    for line in routes.lines(run):
        say(console, line)
    if run.is_profiled:
        show_calls(run, console, rows)
    else:
        say(console, "No call sites: recorded without HEADWAY_PROFILE (headway profile).")


def show_calls(run: Run, console: Console, rows: int) -> None:
    """The tables of a profile, and what they come to."""
    put(calls_table(run, rows), console)
    if posts := post_rows(run):
        put(posts_table(posts[:rows]), console)
    if found := [one for one in communicators.communicators_of(run) if is_worth(one, run)]:
        put(communicators_table(run, found[:rows], is_narrow=console.width < NARROW), console)
    if waits := wait_rows(run):
        put(waits_table(run, waits[:rows]), console)
    if worth := one_sided.OneSided(run).worth:
        put(one_sided_table(run, worth[:rows]), console)
    if seen := foreseen.rows(one_sided.OneSided(run)):
        put(foreseen_table(seen[:rows]), console)
    if slow := packing.worth(run):
        put(packing_table(run, slow[:rows]), console)
    for line in [*conclusion(run), *imbalance_lines(run), *pop.last_lines(run.records)]:
        say(console, line)
    if run.causes:
        console.print(Text("Who was late, and what they did meanwhile", style="italic"))
        for cause_found in run.causes[:rows]:
            say(console, f"* {causes.sentence(cause_found)}")


def say(console: Console, line: str, style: str = "") -> None:
    """A sentence, whole on its line; on narrow terminals broken between words."""
    console.print(Text(line, style=style), soft_wrap=console.width >= NARROW)


def figures_table(figures: Sequence[Figure]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    for figure in figures:
        table.add_row(Text(figure.name), Text(figure.value, style="bold"), Text(figure.meaning))
    return table


def is_worth(one: communicators.Communicator, run: Run) -> bool:
    """Whether its times are not all nothing."""
    seconds = (one.total("call_ns") + one.total("blocked_ns")) * records.NS
    return seconds >= LEAST_S * run.size


def post_rows(run: Run) -> list[Site]:
    """Where requests were posted, for which something was waited or computed."""
    posts = [s for s in run.sites if not s.is_door and s.total("completed")]
    least = WORTH_A_ROW * run.wall * run.size
    pending = ("computed_ns", "blocked_ns")
    return [s for s in posts if sum(s.total(name) for name in pending) * records.NS >= least]


def put(table: Table, console: Console) -> None:
    """No column has a fixed width: the places of calls would be what gives way."""
    if console.width < NARROW and table.box is not None:
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
    less = f"rank {least} {found.less_s[least]:.2f} s less"
    if len(found.less_s) > 1:
        less = f"{len(found.less_s)} ranks {mean:.2f} s less in the mean ({less})"
    return [
        f"Imbalance: {noun} {names}{more} had {found.computes_s:.2f} s to compute, {less}, "
        f"throughout the run "
        f"(seen in {found.slices} slices of it). {waits:.2f} s per rank of the waits above are for "
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


def communicators_table(
    run: Run, found: Sequence[communicators.Communicator], *, is_narrow: bool = False
) -> Table:
    title = (
        "By communicator: calls that name it, of all ranks; seconds a rank's mean, times a "
        "request's mean"
    )
    table = Table(title=title, title_justify="left")
    table.add_column("communicator", overflow="fold")
    left_out = LEFT_OUT_OF_NARROW if is_narrow else ()
    shown = [heading not in left_out for heading in communicators.HEADINGS]
    for heading in compress(communicators.HEADINGS, shown):
        table.add_column(heading, justify="right", overflow="fold")
    for one in found:
        table.add_row(Text(str(one)), *compress(communicators.row(one, run), shown))
    return table


def waits_of(run: Run) -> list[Site]:
    return sorted((s for s in run.sites if s.is_wait), key=lambda s: -s.waited)


def wait_rows(run: Run) -> list[Site]:
    """The same, as far as something was waited, and calls that block in which much was."""
    least = WORTH_WAITING * run.wall * run.size
    others = [s for s in run.sites if not s.is_wait and run.blocking.waited(s) > least]
    waits = [s for s in waits_of(run) if run.waited(s) >= LEAST_S * run.size]
    return sorted([*waits, *others], key=lambda s: -run.waited(s))


def call_rows(run: Run, rows: int) -> list[Site]:
    """The most time first; none of 0.000 s."""
    return [site for site in run.sites[:rows] if site.seconds >= LEAST_S * run.size]


def calls_table(run: Run, rows: int) -> Table:
    title = "Time in MPI: calls and bytes of all ranks, seconds a rank's mean"
    table = Table(title=title, title_justify="left")
    table.add_column("called from", overflow="fold")
    table.add_column("MPI_", overflow="fold")
    for heading in ("size", "calls", "bytes", "seconds", "of run", "least..most"):
        table.add_column(heading, justify="right", overflow="fold")
    shown = call_rows(run, rows)
    for site in shown:
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
    if rest := run.sites[len(shown) :]:
        mean = sum(site.seconds for site in rest) / run.size
        shown_mean = [f"{mean:.3f}", percent(mean, run.wall)] if mean >= LEAST_S else ["-", "-"]
        calls = str(sum(site.calls for site in rest))
        table.add_row(f"{len(rest)} more", "", "", calls, "", *shown_mean, "")
    return table


def posts_table(posts: Sequence[Site]) -> Table:
    title = (
        "What the program did while a request was pending: requests of all ranks, times a "
        "request's mean"
    )
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


def one_sided_table(run: Run, rows: Sequence[targets.Row]) -> Table:
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


def routes_table(run: Run, changed: Sequence[routes.Row]) -> Table:
    title = "Routes of one-sided operations: . to ghosts, # to owners, + both"
    table = Table(title=title, title_justify="left")
    for heading in routes.HEADINGS:
        table.add_column(heading, overflow="fold", no_wrap=heading == "over the run")
    for row in changed:
        table.add_row(*map(Text, row.cells(run)))
    return table


def foreseen_table(seen: Sequence[foreseen.Target]) -> Table:
    table = Table(title=foreseen.TITLE, title_justify="left")
    for heading in foreseen.HEADINGS:
        table.add_column(heading, overflow="fold", no_wrap=heading == "over the run")
    for row in seen:
        table.add_row(*map(Text, row.cells()))
    return table


def packing_table(run: Run, slow: Sequence[packing.Row]) -> Table:
    title = "Slow packing of datatypes with gaps, predicted, s a rank"
    table = Table(title=title, title_justify="left")
    for heading in ("called from", "MPI_", "one datatype"):
        table.add_column(heading, overflow="fold")
    for heading in packing.HEADINGS:
        table.add_column(heading, justify="right", overflow="fold")
    for row in slow:
        cells = [row.key.place, row.key.function, str(row.key.shape), *row.figures(run)]
        table.add_row(*map(Text, cells))
    return table


def cause(reasons: Reasons, function: str = "Wait") -> str:
    """The causes of waits in this function in words, the largest first."""
    late = reasons.late_name or late_name(function)
    names = {**REASON_NAMES, "late": late, "transfer": rest_name(function)}
    parts = {key: getattr(reasons, key) for key in REASON_NAMES}
    whole = sum(parts.values())
    if not whole:
        return "-"
    imbalance = parts["imbalance"] - reasons.posted
    parts |= {"late": parts["late"] + imbalance, "imbalance": reasons.posted}
    named = sorted(parts.items(), key=lambda item: -item[1])
    words = [
        f"{names[key]} {percent(value, whole)}"
        + (
            f" (imbalance {percent(imbalance, whole)})"
            if key == "late" and imbalance > WORTH_NAMING * whole
            else ""
        )
        for key, value in named
        if value > WORTH_NAMING * whole
    ]
    known = [f"{reasons.looks} waits sampled"] if reasons.looks else []
    if reasons.told > WORTH_NAMING * whole:
        known.append("from what partners did")
    return ", ".join(words) + (f" ({'; '.join(known)})" if known else "")


def conclusion(run: Run) -> list[str]:
    """What to do about it, and how that is known. Nothing about what is 0.00 s."""
    reasons = run.all_reasons
    waited = sum(getattr(reasons, name) for name in REASON_NAMES) / run.size
    lines = [*one_sided_lines(run), *packing.lines(run)]
    if waited < LEAST_SAID_S:
        return lines
    if reasons.looks:
        others = run.prediction.within + run.prediction.transport
        gain = max(run.prediction.seconds - others, 0.0)
        if gain >= LEAST_SAID_S:
            lines.append(
                f"`headway run` should save about {gain:.2f} s per rank, "
                f"{percent(gain, run.wall)} of the run. For {run.prediction.idle:.2f} s bytes "
                "moved only while the program waited, though the wire was idle while it computed"
                f"{copying_text(run)}."
            )
            lines += foreseen.moved_lines(run)
        lines.append(
            f"Known from {reasons.looks} waits sampled: the byte counters of TCP connections were "
            f"read around them. The wire carried at most {run.wire_rate / 1e6:.0f} MB/s one way."
        )
        lines += directions(run)
    lines += within_nodes(run)
    lines += transport_lines(run)
    if run.prediction.spinning > max(WORTH_NAMING * waited, LEAST_SAID_S):
        lines.append(
            f"{run.prediction.spinning:.2f} s per rank more could be saved if the tests in a loop "
            "were MPI_Wait. The thread stays on where waits become shorter, and tests are none."
        )
    if reasons.unknown > max(WORTH_NAMING * waited, LEAST_SAID_S) * run.size:
        lines.append(why_unknown(run))
    return lines


def why_unknown(run: Run) -> str:
    """What may be why some of the waiting has no cause."""
    unknown, more = run.all_reasons.unknown, ""
    if run.unlooked_s > WORTH_NAMING * unknown:
        more += " looks at the connections would have cost too much for waits so short;"
    if any(OPERATION.match(site.function) and site.total("completed") for site in run.sites):
        more += " they were one-sided operations with requests, whose targets are not followed;"
    return (
        f"Why it waited {unknown / run.size:.2f} s of that is not known. The messages were too "
        f"small;{more} or they went neither over TCP, the only transport whose bytes can be "
        "watched, nor within a node to partners that the records name. `headway run --engine "
        "thread` shows what can be saved there."
    )


def transport_lines(run: Run) -> list[str]:
    """What an engine does not win, but its command."""
    seconds = run.prediction.transport
    if not run.duplex or seconds <= max(WORTH_NAMING * run.mpi_seconds, LEAST_SAID_S):
        return []
    return [
        f"{run.duplex.variable}={run.duplex.value}, which headway run sets, should save "
        f"{seconds:.2f} s per rank more. In exchanges that no engine speeds up (tests in a loop, "
        "reductions, little computed) one direction moved after the other; with it both move at "
        "once."
    ]


def within_nodes(run: Run) -> list[str]:
    """What waits within nodes are for, where no wire tells."""
    found, lines = run.prediction, []
    how = (
        "Within a node processes copy the bytes, while they are in MPI; both had posted, and "
        "computed on"
    )
    if found.within > max(WORTH_NAMING * (found.within + found.idle), LEAST_SAID_S):
        lines.append(
            f"Within nodes `headway run` should save about {found.within:.2f} s per rank, "
            f"{percent(found.within, run.wall)} of the run. {how}. There are cores to copy on "
            "meanwhile."
        )
    if found.crowded > max(WORTH_NAMING * run.mpi_seconds, LEAST_SAID_S):
        lines.append(
            f"{found.crowded:.2f} s per rank of no progress is within nodes without idle cores. "
            f"{how}. An engine could only do the same copying at another moment, unless some ranks "
            "wait while others compute: `headway run --engine thread` tries it."
        )
    return lines


def one_sided_lines(run: Run) -> list[str]:
    """Waits without a request. Older records do not tell for whom they were."""
    found = one_sided.OneSided(run)
    if found.is_recorded:
        return [*one_sided.lines(found), *foreseen.lines(found)]
    seconds = run.one_sided_s
    if seconds <= WORTH_NAMING * run.wall:
        return []
    return [
        f"{seconds:.2f} s per rank, {percent(seconds, run.wall)} of the run, went in "
        "MPI_Win_flush, MPI_Win_unlock and their like. These records do not tell for which "
        "targets, so what an engine would save is not known: most of it, where targets compute "
        "meanwhile. Profile it again, or try headway run, and where there are idle cores "
        "headway run --ghosts 1."
    ]


def directions(run: Run) -> list[str]:
    """What of it comes of exchanges that go one direction after the other."""
    seconds = run.prediction.directions
    if seconds <= max(WORTH_NAMING * run.prediction.idle, LEAST_SAID_S):
        return []
    return [
        f"{seconds:.2f} s of that is one direction of an exchange that moved after the other "
        "instead of at once. With progress in time both move at once; some transports also have a "
        "setting for it (headway run --transport)."
    ]


def copying_text(run: Run) -> str:
    copying = run.prediction.copying
    if copying < WORTH_NAMING * run.prediction.idle:
        return ""
    return (
        f"; less {copying:.2f} s of processor time for moving them, which an engine without a "
        "core of its own takes from the program"
    )


def compare(runs: Sequence[Run], console: Console, rows: int) -> None:
    """Runs side by side, the first as the measure."""
    put(compared_table("Runs, and what changed from the first", ["of all ranks"], runs), console)
    profiled = [run for run in runs if run.is_profiled]
    if len(profiled) > 1:
        put(sites_table(profiled, rows), console)
        if causes_found := causes_table(profiled, rows):
            put(causes_found, console)
    for run in runs:
        if not run.is_profiled:
            say(console, f"{run.name} has no call sites: recorded without HEADWAY_PROFILE.")


def compared_table(title: str, first: Sequence[str], runs: Sequence[Run]) -> Table:
    """What the records say of whole runs."""
    table = columns_of(title, first, runs)
    for row in comparison.figure_rows(runs):
        table.add_row(*map(Text, row))
    return table


def sites_table(runs: Sequence[Run], rows: int) -> Table:
    """Call sites by how much their time differs."""
    title = "Seconds in MPI by call site, per rank"
    table = columns_of(title, ["called from", "MPI_"], runs)
    for row in comparison.rows(runs)[:rows]:
        told = [row.place, row.function, *comparison.cells(row.seconds)]
        table.add_row(*map(Text, told))
    return table


def columns_of(title: str, first: Sequence[str], runs: Sequence[Run]) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in first:
        table.add_column(heading, overflow="fold")
    for heading in comparison.headings(runs):
        table.add_column(heading, justify="right", overflow="fold")
    return table


def causes_table(runs: Sequence[Run], rows: int) -> Table | None:
    compared = causes.compared(runs, comparison.names(runs))[:rows]
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
    """To a tenth; never 0.0 % of what is something."""
    if not whole:
        return "-"
    share = 100 * part / whole
    return "< 0.1 %" if 0 < share < 0.05 else f"{share:.1f} %"


def time_text(nanoseconds: float) -> str:
    for unit, factor in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= factor:
            return f"{nanoseconds / factor:.2f} {unit}"
    return f"{nanoseconds:.0f} ns"
