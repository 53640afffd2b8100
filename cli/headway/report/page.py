"""The report as one page that needs nothing else: no script, no other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from headway import records
from headway.report import causes, communicators, one_sided, phases
from headway.report.export import timeline
from headway.report.recorded import Site, profile_of, sites_of
from headway.report.runs import Run, complaints
from headway.report.text import (
    REASON_NAMES,
    cause,
    conclusion,
    imbalance_lines,
    percent,
    time_text,
    wait_rows,
)

#: one palette for the page: colour-blind safe, the same meaning everywhere
COLOURS = {
    "computed": "#4477aa",
    "waited": "#ee6677",
    "posting": "#ccbb44",
    "no_progress": "#ee6677",
    "bandwidth": "#66ccee",
    "late": "#aa3377",
    "imbalance": "#ddaa33",
    "transfer": "#88ccaa",
    "unknown": "#bbbbbb",
    "other": "#228833",
}
#: the timeline shows this much of the sample: more is not legible
TIMELINE_CALLS = 400
ROWS = 25

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
  color: #222; background: #fff; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #ddd; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { display: flex; height: .9rem; min-width: 14rem; background: #f2f2f2; }
.bar span { display: block; height: 100%; }
.key { font-size: 13px; }
.key i { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; }
code { font-size: 12.5px; } svg { width: 100%; height: auto; }
"""


def write(runs: Sequence[Run]) -> str:
    """The whole page."""
    body = "".join(section(run) for run in runs)
    if len(runs) > 1:
        body = comparison(runs) + body
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>Headway: {escape(', '.join(run.name for run in runs))}</title>"
        f"<style>{STYLE}</style></head><body>{body}</body></html>\n"
    )


def section(run: Run) -> str:
    parts = [f"<h1>{escape(run.title)}</h1>"]
    lines = [*complaints(run), *records.summarise(run.records)]
    lines += (
        [*conclusion(run), *imbalance_lines(run)]
        if run.is_profiled
        else ["Recorded without call sites."]
    )
    parts += [f"<p>{escape(line)}</p>" for line in lines]
    parts += [phases_named(run), late_ranks(run)]
    if run.is_profiled:
        parts += [
            overlap(run),
            waits(run),
            one_sided_waits(run),
            by_communicator(run),
            calls(run),
            sizes(run),
        ]
    parts.append(ranks(run))
    if run.is_profiled:
        parts.append(timeline_picture(run))
    return "".join(parts)


def bar(parts: Iterable[tuple[str, float]], whole: float) -> str:
    """A bar of coloured parts, as long as their share of `whole`."""
    spans = "".join(
        f'<span style="width:{100 * value / whole:.2f}%;background:{COLOURS[key]}" '
        f'title="{key.replace("_", " ")} {percent(value, whole)}"></span>'
        for key, value in parts
        if whole > 0 and value > 0
    )
    return f'<div class="bar">{spans}</div>'


def key(*names: str) -> str:
    marks = "".join(
        f'<i style="background:{COLOURS[name]}"></i>{name.replace("_", " ")}' for name in names
    )
    return f'<p class="key">{marks}</p>'


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], numbers: int) -> str:
    """Cells are HTML already; the last `numbers` columns hold figures."""
    first = len(headings) - numbers
    head = "".join(
        f"<th{' class=n' if i >= first else ''}>{escape(h)}</th>" for i, h in enumerate(headings)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td{' class=n' if i >= first else ''}>{c}</td>" for i, c in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def named(site: Site) -> str:
    return f"<code>{escape(str(site.place))}</code><br>MPI_{escape(site.function)}, {site.size}"


def phases_named(run: Run) -> str:
    marked = phases.phases_of(run)[:ROWS]
    if not marked:
        return ""
    rows = [[escape(phase.name), *phases.row(phase, run)] for phase in marked]
    headings = ["phase", *phases.HEADINGS]
    return "<h2>Phases the program named</h2>" + table(headings, rows, len(phases.HEADINGS))


def late_ranks(run: Run) -> str:
    said = causes.lines(run, ROWS)
    if not said:
        return ""
    listed = "".join(f"<li>{escape(line)}</li>" for line in said)
    return f"<h2>Who was late, and what they did meanwhile</h2><ul>{listed}</ul>"


def overlap(run: Run) -> str:
    posts = [s for s in run.sites if not s.is_door and s.total("completed")][:ROWS]
    if not posts:
        return ""
    longest = max(s.total("computed_ns") + s.total("blocked_ns") for s in posts)
    rows = []
    for site in posts:
        computed, blocked = site.total("computed_ns"), site.total("blocked_ns")
        count = site.total("completed")
        rows.append(
            [
                named(site),
                bar([("computed", computed), ("waited", blocked)], longest),
                str(int(count)),
                time_text(computed / count),
                time_text(blocked / count),
            ]
        )
    return (
        "<h2>While requests were pending, by where they were posted</h2>"
        + key("computed", "waited")
        + table(["posted at", "", "requests", "computed", "waited"], rows, 3)
    )


def waits(run: Run) -> str:
    rows = []
    sites = wait_rows(run)[:ROWS]
    longest = max((run.waited(site) for site in sites), default=0.0)
    for site in sites:
        reasons = run.reasons(site)
        parts = [(name, getattr(reasons, name)) for name in REASON_NAMES]
        rows.append(
            [
                named(site),
                bar(parts, longest),
                escape(cause(reasons, site.function)),
                f"{run.waited(site) / run.size:.3f}",
            ]
        )
    if not rows:
        return ""
    return (
        "<h2>Why it waited</h2>"
        + key(*REASON_NAMES)
        + table(["waited at", "", "cause", "seconds a rank"], rows, 1)
    )


def one_sided_waits(run: Run) -> str:
    rows = [
        [
            f"<code>{escape(one_sided.named(row))}</code><br>MPI_{escape(row.spot.function)}",
            escape(one_sided.how_known(row)),
            *map(escape, one_sided.figures(row, run)),
        ]
        for row in one_sided.OneSided(run).worth[:ROWS]
    ]
    if not rows:
        return ""
    headings = ["waited at", "known from", *one_sided.HEADINGS]
    return "<h2>One-sided waits, and what an engine would recover of them</h2>" + table(
        headings, rows, len(one_sided.HEADINGS)
    )


def by_communicator(run: Run) -> str:
    found = communicators.communicators_of(run)[:ROWS]
    if not found:
        return ""
    rows = [[escape(str(one)), *communicators.row(one, run)] for one in found]
    headings = ["communicator", *communicators.HEADINGS]
    return "<h2>By communicator</h2>" + table(headings, rows, len(communicators.HEADINGS))


def calls(run: Run) -> str:
    longest = max((site.seconds for site in run.sites), default=0.0)
    rows = [
        [
            named(site),
            bar([("other", site.seconds)], longest),
            str(site.calls),
            f"{site.seconds / run.size:.3f}",
            percent(site.seconds / run.size, run.wall),
        ]
        for site in run.sites[:ROWS]
    ]
    return "<h2>Time in MPI, by where it was called from</h2>" + table(
        ["called from", "", "calls", "seconds a rank", "of run"], rows, 3
    )


def sizes(run: Run) -> str:
    """Bytes by size class, of everything that is not a door."""
    moved: dict[int, tuple[float, float]] = {}
    for site in run.sites:
        if site.size_class and not site.is_door:
            count, size = moved.get(site.size_class, (0.0, 0.0))
            moved[site.size_class] = (count + site.calls, size + site.total("bytes"))
    if not moved:
        return ""
    most = max(size for _, size in moved.values())
    rows = [
        [
            f"from {records.size_text(1 << (size_class - 1))}",
            bar([("computed", size)], most),
            str(int(count)),
            records.size_text(size),
        ]
        for size_class, (count, size) in sorted(moved.items())
    ]
    return "<h2>Sizes of what was posted, sent and received</h2>" + table(
        ["size", "", "calls", "bytes"], rows, 2
    )


def ranks(run: Run) -> str:
    """Each rank's time: in MPI, and outside."""
    rows = []
    longest = max((r.wall_s for r in run.records), default=0.0)
    for record in run.records:
        wall = record.wall_s
        inside = record.mpi_wait_s if record.mpi_s is None else record.mpi_s
        parts = [("computed", max(wall - inside, 0.0)), ("waited", inside)]
        cells = [bar(parts, longest), f"{wall:.2f}", f"{inside:.2f}"]
        rows.append([escape(str(record.rank)), *cells])
    where = "in MPI" if run.is_profiled else "waiting for tracked requests"
    return (
        f"<h2>Ranks: time {where}, and the rest</h2>"
        + key("computed", "waited")
        + table(["rank", "", "seconds", where], rows, 2)
    )


def timeline_picture(run: Run) -> str:
    """The last calls of each rank's sample, drawn to scale."""
    lanes = []
    for record in run.records[:16]:
        shift = profile_of(record).began_monotonic_s * 1e6
        functions = {one.id: one.function for one in sites_of(record)}
        picked = timeline(record)[-TIMELINE_CALLS:]
        lanes.append(
            [(start + shift, took, functions.get(site, "?")) for start, took, site, _ in picked]
        )
    drawn = [lane for lane in lanes if lane]
    if not drawn:
        return ""
    begin = max(lane[0][0] for lane in drawn)
    end = max(min(lane[-1][0] + lane[-1][1] for lane in drawn), begin + 1.0)
    shapes = []
    for row, lane in enumerate(lanes):
        shapes.append(f'<rect x="40" y="{row * 26 + 2}" width="960" height="20" fill="#4477aa33"/>')
        shapes.append(f'<text x="0" y="{row * 26 + 16}" font-size="11">rank {row}</text>')
        for start, took, function in lane:
            left = 40 + 960 * (max(start, begin) - begin) / (end - begin)
            right = 40 + 960 * (min(start + took, end) - begin) / (end - begin)
            if right > left:
                shapes.append(call_shape(left, right - left, row, function, took))
    height = len(lanes) * 26 + 4
    return (
        f"<h2>The last calls of the sample, {time_text((end - begin) * 1e3)} of the run</h2>"
        + key("waited", "posting", "other")
        + f'<svg viewBox="0 0 1000 {height}" role="img">{"".join(shapes)}</svg>'
    )


def call_shape(left: float, width: float, row: int, function: str, took_us: float) -> str:
    kind = "other"
    if function.startswith(("Wait", "Test")):
        kind = "waited"
    elif function.startswith(("I", "Start", "File_i", "R")) and not function.startswith("Re"):
        kind = "posting"
    title = f"MPI_{escape(function)}, {time_text(took_us * 1e3)}"
    return (
        f'<rect x="{left:.2f}" y="{row * 26 + 2}" width="{max(width, 0.4):.2f}" height="20" '
        f'fill="{COLOURS[kind]}"><title>{title}</title></rect>'
    )


def comparison(runs: Sequence[Run]) -> str:
    longest = max(run.wall for run in runs)
    rows = []
    for run in runs:
        inside = min(run.mpi_seconds, run.wall)
        parts = [("computed", run.wall - inside), ("waited", inside)]
        cells = [bar(parts, longest), f"{run.wall:.2f}", percent(run.wall, runs[0].wall)]
        rows.append([escape(run.title), *cells])
    return (
        "<h1>Runs side by side</h1>"
        + key("computed", "waited")
        + table(["run", "outside MPI, in MPI (if profiled)", "seconds", "of first"], rows, 2)
        + late_compared(runs)
    )


def late_compared(runs: Sequence[Run]) -> str:
    rows = [[escape(spot), *map(escape, cells)] for spot, cells in causes.compared(runs)[:ROWS]]
    if not rows:
        return ""
    headings = ["waited at", *(run.name for run in runs)]
    return "<h2>For whom the longest wait was</h2>" + table(headings, rows, 0)
