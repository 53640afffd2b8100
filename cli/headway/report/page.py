# SPDX-License-Identifier: BSD-3-Clause
"""The report as one page that needs nothing else: no script, no other file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headway import origin, outcome, records
from headway.record.table import Record
from headway.report import (
    causes,
    communicators,
    comparison,
    foreseen,
    many,
    one_sided,
    packing,
    phases,
    routes,
)
from headway.report.export import timeline
from headway.report.headline import Figure, told
from headway.report.pop import last_lines
from headway.report.recorded import Site, profile_of, sites_of
from headway.report.runs import Run, complaints
from headway.report.spots import DOORS
from headway.report.text import (
    REASON_NAMES,
    call_rows,
    cause,
    conclusion,
    imbalance_lines,
    is_worth,
    percent,
    post_rows,
    share_text,
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
    "files": "#999933",
    "unknown": "#bbbbbb",
    "other": "#228833",
}
#: the timeline shows this much of the sample: more is not legible
TIMELINE_CALLS, TIMELINE_RANKS, WITH_MANY_RANKS = 400, 16, 4
#: from dark to light: seldom in MPI, to always
SHADES = ("#f2f2f2", "#fde0c8", "#fbbf91", "#f79a5c", "#ec7430", "#d0510f", "#a03a04", "#6b2600")
ROWS = 25


@dataclass(frozen=True)
class Part:
    """Of a bar: a colour, its share of the whole in percent, and what it is."""

    colour: str
    width: float
    title: str


@dataclass(frozen=True)
class Bar:
    parts: Sequence[Part]
    kind: str = "bar"


@dataclass(frozen=True)
class Called:
    """A call site: where, and what was called."""

    place: str
    called: str
    kind: str = "called"


#: what stands in a table: text, which the template escapes, or something drawn
Cell = str | Bar | Called


@dataclass(frozen=True)
class Table:
    """A heading and a table; the last `numbers` columns hold figures."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: int
    key: Sequence[Part] = ()
    kind: str = "table"


@dataclass(frozen=True)
class Listed:
    title: str
    lines: Sequence[str]
    kind: str = "list"


@dataclass(frozen=True)
class Call:
    """A call drawn to scale."""

    left: float
    width: float
    colour: str
    title: str


@dataclass(frozen=True)
class Picture:
    """Calls of each rank over time."""

    title: str
    lanes: Sequence[Sequence[Call]]
    key: Sequence[Part] = ()
    kind: str = "picture"


@dataclass(frozen=True)
class Spot:
    """Neighbouring cells of a map that look alike, in columns of the map."""

    left: int
    width: int
    shade: int
    title: str


@dataclass(frozen=True)
class Map:
    """Cells by line; the darker, the more."""

    title: str
    lines: Sequence[tuple[str, Sequence[Spot]]]
    columns: int
    key: Sequence[Part] = ()
    kind: str = "map"


Piece = Table | Listed | Picture | Map


@dataclass(frozen=True)
class Section:
    """What is said of one run, or of several side by side."""

    title: str
    lines: Sequence[str]
    pieces: Sequence[Piece | None]
    headline: str = ""
    figures: Sequence[Figure] = ()
    notes: Sequence[str] = ()


def write(runs: Sequence[Run]) -> str:
    """The whole page."""
    import jinja2  # it takes its time to load

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headway.report", "."),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    sections = [side_by_side(runs)] if len(runs) > 1 else []
    sections += [section(run) for run in runs]
    title = ", ".join(run.name for run in runs)
    return environment.get_template("page.html.jinja").render(
        title=title, sections=sections, shades=SHADES
    )


def section(run: Run) -> Section:
    sentence, figures = told(run)
    lines = outcome.details(run.records, sentence)
    lines += routes.lines(run)
    lines += (
        [*conclusion(run), *imbalance_lines(run), *last_lines(run.records)]
        if run.is_profiled
        else ["Recorded without call sites."]
    )
    pieces: list[Piece | None] = [phases_named(run), routes_changed(run), late_ranks(run)]
    if run.is_profiled:
        pieces += [
            overlap(run),
            waits(run),
            one_sided_waits(run),
            routes_foreseen(run),
            slow_packing(run),
            by_communicator(run),
            calls(run),
            sizes(run),
        ]
    pieces += ranks(run) if run.size <= many.MOST_ROWS else many_ranks(run)
    if run.is_profiled:
        pieces.append(timeline_picture(run))
    return Section(
        run.title,
        lines,
        pieces,
        sentence,
        figures,
        [*origin.lines(run.records), *complaints(run)],
    )


def bar(parts: Iterable[tuple[str, float]], whole: float) -> Bar:
    """A bar of coloured parts, as long as their share of `whole`."""
    return Bar(
        [
            Part(
                COLOURS[name],
                100 * value / whole,
                f"{name.replace('_', ' ')} {percent(value, whole)}",
            )
            for name, value in parts
            if whole > 0 and value > 0
        ]
    )


def key(*names: str) -> list[Part]:
    return [Part(COLOURS[name], 0.0, name.replace("_", " ")) for name in names]


def named(site: Site) -> Called:
    return Called(str(site.place), f"MPI_{site.function}, {site.size}")


def phases_named(run: Run) -> Table | None:
    marked = phases.phases_of(run)[:ROWS]
    if not marked:
        return None
    rows = [[phase.name, *phases.row(phase, run)] for phase in marked]
    headings = ["phase", *phases.HEADINGS]
    return Table("Phases the program named", headings, rows, len(phases.HEADINGS))


def late_ranks(run: Run) -> Listed | None:
    said = [causes.sentence(one) for one in run.causes[:ROWS]]
    return Listed("Who was late, and what they did meanwhile", said) if said else None


def overlap(run: Run) -> Table | None:
    posts = post_rows(run)[:ROWS]
    if not posts:
        return None
    longest = max(s.total("computed_ns") + s.total("blocked_ns") for s in posts)
    rows: list[list[Cell]] = []
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
    return Table(
        "While requests were pending, by where they were posted: requests of all ranks",
        ["posted at", "", "requests", "computed", "waited"],
        rows,
        3,
        key("computed", "waited"),
    )


def waits(run: Run) -> Table | None:
    rows: list[list[Cell]] = []
    sites = wait_rows(run)[:ROWS]
    longest = max((run.waited(site) for site in sites), default=0.0)
    for site in sites:
        reasons = run.reasons(site)
        parts = [(name, getattr(reasons, name)) for name in REASON_NAMES]
        rows.append(
            [
                named(site),
                bar(parts, longest),
                cause(reasons, site.function),
                share_text(site.hidden_share),
                f"{run.waited(site) / run.size:.3f}",
            ]
        )
    if not rows:
        return None
    columns = ["waited at", "", "cause", "hidden", "seconds a rank"]
    seen = [name for name in REASON_NAMES if any(getattr(run.reasons(s), name) for s in sites)]
    return Table("Why it waited", columns, rows, 2, key(*seen))


def routes_changed(run: Run) -> Table | None:
    rows: list[list[Cell]] = [list(row.cells(run)) for row in routes.rows(run)[:ROWS]]
    if not rows:
        return None
    title = "Routes of one-sided operations: . to ghosts, # to owners, + both"
    return Table(title, list(routes.HEADINGS), rows, 0)


def routes_foreseen(run: Run) -> Table | None:
    found = foreseen.rows(one_sided.OneSided(run))[:ROWS]
    rows: list[list[Cell]] = [list(row.cells()) for row in found]
    return Table(foreseen.TITLE, list(foreseen.HEADINGS), rows, 0) if rows else None


def slow_packing(run: Run) -> Table | None:
    rows: list[list[Cell]] = [
        [Called(row.key.place, f"MPI_{row.key.function}"), str(row.key.shape), *row.figures(run)]
        for row in packing.worth(run)[:ROWS]
    ]
    if not rows:
        return None
    headings = ["called from", "one datatype", *packing.HEADINGS]
    title = "Slow packing of datatypes with gaps, predicted, s a rank"
    return Table(title, headings, rows, len(packing.HEADINGS))


def one_sided_waits(run: Run) -> Table | None:
    rows: list[list[Cell]] = [
        [
            Called(one_sided.named(row), f"MPI_{row.spot.function}"),
            one_sided.how_known(row),
            *one_sided.figures(row, run),
        ]
        for row in one_sided.OneSided(run).worth[:ROWS]
    ]
    if not rows:
        return None
    headings = ["waited at", "known from", *one_sided.HEADINGS]
    title = "One-sided waits, and what an engine would recover of them"
    return Table(title, headings, rows, len(one_sided.HEADINGS))


def by_communicator(run: Run) -> Table | None:
    found = [one for one in communicators.communicators_of(run) if is_worth(one, run)][:ROWS]
    if not found:
        return None
    rows = [[str(one), *communicators.row(one, run)] for one in found]
    headings = ["communicator", *communicators.HEADINGS]
    return Table(
        "By communicator: calls of all ranks, seconds a rank's mean",
        headings,
        rows,
        len(communicators.HEADINGS),
    )


def calls(run: Run) -> Table | None:
    longest = max((site.seconds for site in run.sites), default=0.0)
    rows: list[list[Cell]] = [
        [
            named(site),
            bar([("other", site.seconds)], longest),
            str(site.calls),
            f"{site.seconds / run.size:.3f}",
            percent(site.seconds / run.size, run.wall),
        ]
        for site in call_rows(run, ROWS)
    ]
    columns = ["called from", "", "calls", "seconds a rank", "of run"]
    return Table("Time in MPI, by where it was called from: calls of all ranks", columns, rows, 3)


def sizes(run: Run) -> Table | None:
    """Bytes by size class, of everything that is not a door."""
    moved: dict[int, tuple[float, float]] = {}
    for site in run.sites:
        if site.size_class and not site.is_door:
            count, size = moved.get(site.size_class, (0.0, 0.0))
            moved[site.size_class] = (count + site.calls, size + site.total("bytes"))
    if not moved:
        return None
    most = max(size for _, size in moved.values())
    rows: list[list[Cell]] = [
        [
            f"from {records.size_text(1 << (size_class - 1))}",
            bar([("computed", size)], most),
            str(int(count)),
            records.size_text(size),
        ]
        for size_class, (count, size) in sorted(moved.items())
    ]
    columns = ["size", "", "calls", "bytes"]
    return Table("Sizes of what was posted, sent and received", columns, rows, 2)


def ranks(run: Run) -> list[Piece | None]:
    """Each rank's time: in MPI, and outside."""
    return [ranks_table(run, "Ranks", run.records)]


def ranks_table(run: Run, what: str, chosen: Sequence[Record]) -> Table:
    rows: list[list[Cell]] = []
    longest = max((r.wall_s for r in run.records), default=0.0)
    for record in chosen:
        wall, inside = record.wall_s, many.inside_s(record)
        parts = [("computed", max(wall - inside, 0.0)), ("waited", inside)]
        cells: list[Cell] = [bar(parts, longest), f"{wall:.2f}", f"{inside:.2f}"]
        rows.append([f"{record.rank} {record.host}".rstrip(), *cells])
    where = "in MPI" if run.is_profiled else "waiting for tracked requests"
    title = f"{what}: time {where}, and the rest"
    return Table(title, ["rank", "", "seconds", where], rows, 2, key("computed", "waited"))


def many_ranks(run: Run) -> list[Piece | None]:
    """Ranks summed up, where a row each is too many."""
    columns = ["seconds", *(many.heading(part) for part in many.QUANTILES)]
    title = f"{run.size} ranks: from the least to the most"
    return [
        Table(title, columns, many.quantiles(run), len(many.QUANTILES)),
        ranks_table(run, f"The {many.WORST} ranks longest in MPI", many.worst(run)),
        ranks_table(run, f"The {many.WORST} ranks that computed longest", many.busiest(run)),
        heat_map("Each rank's share of the run in MPI", many.by_rank(run)),
        heat_map("In MPI over time, by groups of ranks", many.by_time(run)),
    ]


def heat_map(title: str, lines: Sequence[many.Line]) -> Map | None:
    if not lines:
        return None
    drawn = [(line.name, spots(line.cells)) for line in lines]
    last = len(SHADES) - 1
    ends = [f"{100 * shade / len(SHADES):.0f} %" for shade in (0, last // 2, last)]
    key = [
        Part(SHADES[shade], 0.0, f"from {end}")
        for shade, end in zip((0, last // 2, last), ends, strict=True)
    ]
    return Map(title, drawn, max(len(line.cells) for line in lines), key)


def spots(cells: Sequence[many.Cell]) -> list[Spot]:
    """Neighbours of one shade are one: a page of a thousand ranks stays small."""
    found: list[Spot] = []
    for column, cell in enumerate(cells):
        shade = min(int(cell.value * len(SHADES)), len(SHADES) - 1)
        if found and found[-1].shade == shade:
            first = found[-1]
            title = f"{first.title.partition(' ... ')[0]} ... {cell.title}"
            found[-1] = Spot(first.left, column + 1 - first.left, shade, title)
        else:
            found.append(Spot(column, 1, shade, cell.title))
    return found


def timeline_picture(run: Run) -> Picture | None:
    """The last calls of each rank's sample, drawn to scale."""
    lanes = []
    for record in run.records[: TIMELINE_RANKS if run.size <= many.MOST_ROWS else WITH_MANY_RANKS]:
        shift = profile_of(record).began_monotonic_s * 1e6
        functions = {one.id: one.function for one in sites_of(record)}
        picked = timeline(record)[-TIMELINE_CALLS:]
        lanes.append(
            [(start + shift, took, functions.get(site, "?")) for start, took, site, _ in picked]
        )
    drawn = [lane for lane in lanes if lane]
    if not drawn:
        return None
    begin = max(lane[0][0] for lane in drawn)
    end = max(min(lane[-1][0] + lane[-1][1] for lane in drawn), begin + 1.0)
    span = end - begin
    drawing = []
    for lane in lanes:
        shapes = []
        for start, took, function in lane:
            left = 960 * (max(start, begin) - begin) / span
            right = 960 * (min(start + took, end) - begin) / span
            if right > left:
                shapes.append(call_shape(40 + left, right - left, function, took))
        drawing.append(shapes)
    title = f"The last calls of the sample, {time_text(span * 1e3)} of the run"
    return Picture(title, drawing, key("waited", "posting", "other"))


def call_shape(left: float, width: float, function: str, took_us: float) -> Call:
    kind = "other"
    if function.startswith(DOORS):
        kind = "waited"
    elif function.startswith(("I", "Start", "File_i", "R")) and not function.startswith("Re"):
        kind = "posting"
    title = f"MPI_{function}, {time_text(took_us * 1e3)}"
    return Call(left, max(width, 0.4), COLOURS[kind], title)


def side_by_side(runs: Sequence[Run]) -> Section:
    longest = max(run.wall for run in runs)
    rows: list[list[Cell]] = []
    for run in runs:
        inside = min(run.mpi_seconds, run.wall)
        parts = [("computed", run.wall - inside), ("waited", inside)]
        cells: list[Cell] = [
            bar(parts, longest),
            f"{run.wall:.2f}",
            percent(run.wall, runs[0].wall),
        ]
        rows.append([run.title, *cells])
    columns = ["run", "outside MPI, in MPI (if profiled)", "seconds", "of first"]
    walls = Table("", columns, rows, 2, key("computed", "waited"))
    figures = Table(
        "What changed from the first",
        ["of all ranks", *comparison.headings(runs)],
        comparison.figure_rows(runs),
        2 * len(runs) - 1,
    )
    profiled = [run for run in runs if run.is_profiled]
    pieces: list[Piece | None] = [walls, figures]
    if len(profiled) > 1:
        pieces += [sites_compared(profiled), late_compared(profiled)]
    lines = [
        f"{run.name} has no call sites: recorded without HEADWAY_PROFILE."
        for run in runs
        if not run.is_profiled
    ]
    return Section("Runs side by side", lines, pieces)


def sites_compared(runs: Sequence[Run]) -> Table:
    rows: list[list[Cell]] = [
        [Called(row.place, f"MPI_{row.function}"), *comparison.cells(row.seconds)]
        for row in comparison.rows(runs)[:ROWS]
    ]
    columns = ["called from", *comparison.headings(runs)]
    return Table("Seconds in MPI by call site, per rank", columns, rows, 2 * len(runs) - 1)


def late_compared(runs: Sequence[Run]) -> Table | None:
    rows = [[spot, *cells] for spot, cells in causes.compared(runs, comparison.names(runs))[:ROWS]]
    if not rows:
        return None
    headings = ["waited at", *(run.name for run in runs)]
    return Table("For whom the longest wait was", headings, rows, 0)
