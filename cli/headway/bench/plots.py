# SPDX-License-Identifier: BSD-3-Clause
"""Plots of a result, with one palette for all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

from headway.bench.analysis import BUSY  # noqa: E402
from headway.bench.report import groups, size_text  # noqa: E402

#: what draws the rows of one panel
Paint = Callable[[Axes, list[dict[str, Any]]], None]

#: a colour-blind-safe palette; one colour a mode, one a phase, everywhere
MODE_COLOURS = {
    "plain": "#7a7a7a",
    "headway": "#0072b2",
    "headway-off": "#56b4e9",
    "headway-moved": "#56b4e9",
    "headway-ghosts": "#009e73",
    "headway-thread": "#009e73",
    "peer": "#d55e00",
    "plain-multiple": "#cc79a7",
}
PHASE_COLOURS = {
    "post_s": "#e69f00",
    "compute_s": "#009e73",
    "wait_s": "#d55e00",
    "boundary_s": "#56b4e9",
    "counter_s": "#cc79a7",
    "get_s": "#0072b2",
    "update_s": "#f0e442",
    "comm_s": "#0072b2",
    "sync_s": "#7a7a7a",
}
VARIANT_COLOURS = ("#009e73", "#e69f00", "#f0e442", "#000000")

#: the top of panels that compare with plain; what lies above is written there as a number
RATIO_TOP = 1.8
#: ends of the scale where nothing lies beyond them
CLOSE_BOTTOM, CLOSE_TOP = -0.2, 1.2

STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "figure.dpi": 110,
    "svg.hashsalt": "headway",
}


def mode_colour(mode: str, modes: list[str]) -> str:
    if mode in MODE_COLOURS:
        return MODE_COLOURS[mode]
    if mode.startswith("peer:"):
        return MODE_COLOURS["peer"]
    variants = [name for name in modes if name not in MODE_COLOURS and not name.startswith("peer:")]
    return VARIANT_COLOURS[variants.index(mode) % len(VARIANT_COLOURS)]


def modes_of(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(row["mode"] for row in rows))


def panels(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    by_mpi: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_mpi.setdefault(row["mpi"], []).append(row)
    return by_mpi


def sizes_axis(axes: Axes, sizes: list[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [size_text(size).replace("iB", "") for size in sizes], rotation=60)
    axes.minorticks_off()


def lines_draw(
    axes: Axes,
    rows: list[dict[str, Any]],
    source: str,
    name: str,
    *,
    has_errors: bool,
    over: str = "bytes",
) -> None:
    """One line a mode over the size, or what else OVER names; error bars reach from the best to the
    worst launch."""
    modes = modes_of(rows)
    for mode in modes:
        chosen = sorted(
            (r for r in rows if r["mode"] == mode and r[source].get(name) is not None),
            key=lambda r: r[over],
        )
        if not chosen:
            continue
        places = [row[over] for row in chosen]
        colour = mode_colour(mode, modes)
        if source == "values":
            middle = [row["values"][name]["median"] for row in chosen]
            below = [m - row["values"][name]["min"] for m, row in zip(middle, chosen, strict=True)]
            above = [row["values"][name]["max"] - m for m, row in zip(middle, chosen, strict=True)]
            axes.errorbar(
                places,
                middle,
                yerr=[below, above] if has_errors else None,
                color=colour,
                label=mode,
                marker="o",
                markersize=3,
                capsize=2,
            )
        else:
            axes.plot(
                places,
                [row["derived"][name] for row in chosen],
                color=colour,
                label=mode,
                marker="o",
                markersize=3,
            )
    if over == "bytes":
        sizes_axis(axes, sorted({row["bytes"] for row in rows}))
    else:
        axes.set_xticks(sorted({row[over] for row in rows}))


def stacks_draw(axes: Axes, rows: list[dict[str, Any]]) -> None:
    """Post, compute and wait on top of one another, a bar for each mode of each size."""
    modes = modes_of(rows)
    sizes = sorted({row["bytes"] for row in rows})
    if len(sizes) > 5:
        sizes = [size for size in sizes if size.bit_length() % 2 == 1 and size >= 1 << 16]
    ticks, names = [], []
    for place, size in enumerate(sizes):
        plain = [r for r in rows if r["bytes"] == size and r["mode"] == "plain" and r["values"]]
        for turn, mode in enumerate(modes):
            found = [r for r in rows if r["bytes"] == size and r["mode"] == mode and r["values"]]
            if not found or not plain:
                continue
            whole_s = plain[0]["values"]["total_s"]["median"]
            x = place * (len(modes) + 1) + turn
            foot = 0.0
            for phase, colour in PHASE_COLOURS.items():
                if phase in found[0]["values"]:
                    share = found[0]["values"][phase]["median"] / whole_s
                    axes.bar(x, share, bottom=foot, color=colour, width=0.85)
                    foot += share
            if foot > RATIO_TOP:
                above_note(axes, x, foot, "black")
            ticks.append(x)
            names.append(f"{mode} {size_text(size)}" if turn == 0 else mode)
    axes.set_xticks(ticks, names, rotation=90, fontsize=6)
    axes.set_ylim(0.0, RATIO_TOP)
    axes.set_ylabel("share of plain's total")
    axes.grid(axis="x", visible=False)


def legend_draw(figure: Figure, grid: Any, rows: list[dict[str, Any]]) -> None:
    """One legend for all panels: the phases of stacked bars, or the modes of lines."""
    found: dict[str, Any] = {}
    for axes in grid.flat:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if not found:
        found = {
            name.removesuffix("_s"): Rectangle((0, 0), 1, 1, color=colour)
            for name, colour in PHASE_COLOURS.items()
            if any(name in row["values"] for row in rows)
        }
    figure.legend(
        list(found.values()), list(found), loc="outside lower center", ncols=6, fontsize=8
    )


def figure_make(title: str, rows: list[dict[str, Any]], draw: list[Any]) -> Figure:
    """A column of panels for each MPI, a row of panels for each of DRAW."""
    by_mpi = panels(rows)
    figure, grid = pyplot.subplots(
        len(draw),
        len(by_mpi),
        squeeze=False,
        sharey="row",
        figsize=(2.6 + 2.4 * len(by_mpi), 1.0 + 2.5 * len(draw)),
        layout="constrained",
    )
    for column, (mpi, chosen) in enumerate(by_mpi.items()):
        for line, paint in enumerate(draw):
            paint(grid[line][column], chosen)
            if column:
                grid[line][column].set_ylabel("")
        grid[0][column].set_title(mpi)
    figure.suptitle(textwrap.fill(title, 26 + 24 * len(by_mpi)), fontsize=10)
    legend_draw(figure, grid, rows)
    return figure


def above_note(axes: Axes, place: float, value: float, colour: str) -> None:
    """Says how far a value lies above the top of the panel."""
    axes.annotate(
        f"{value:.1f}", (place, RATIO_TOP), color=colour, fontsize=6, ha="center", va="top"
    )


def ratio_panel(axes: Axes, rows: list[dict[str, Any]]) -> None:
    lines_draw(axes, rows, "derived", "ratio", has_errors=False)
    modes = modes_of(rows)
    for row in rows:
        if (row["derived"].get("ratio") or 0.0) > RATIO_TOP:
            above_note(axes, row["bytes"], row["derived"]["ratio"], mode_colour(row["mode"], modes))
    # Panels of a row share their scale: it is drawn large where all of them allow it.
    axes.set_ylim(0.0, RATIO_TOP if axes.get_ylim()[1] > CLOSE_TOP else CLOSE_TOP)
    axes.axhline(1.0, color="black", linewidth=0.6)
    axes.set_ylabel("time, x plain")


def recovered_panel(axes: Axes, rows: list[dict[str, Any]]) -> None:
    shown = [row for row in rows if row["mode"] != "plain"]
    lines_draw(axes, shown, "derived", "recovered", has_errors=False)
    axes.axhline(1.0, color="black", linewidth=0.6)
    axes.axhline(0.0, color="black", linewidth=0.6)
    axes.set_ylim(-1.0 if axes.get_ylim()[0] < CLOSE_BOTTOM else CLOSE_BOTTOM, CLOSE_TOP)
    axes.set_ylabel("recovered share")


def time_panel(name: str, label: str) -> Paint:
    def paint(axes: Axes, rows: list[dict[str, Any]]) -> None:
        lines_draw(axes, rows, "values", name, has_errors=True)
        axes.set_yscale("log")
        axes.set_ylabel(label)

    return paint


def value_panel(name: str, label: str) -> Paint:
    def paint(axes: Axes, rows: list[dict[str, Any]]) -> None:
        lines_draw(axes, rows, "values", name, has_errors=True)
        axes.set_ylabel(label)

    return paint


def users_panel(size: int) -> Paint:
    """One line a mode over how many user processes a node, and so a ghost, has."""

    def paint(axes: Axes, rows: list[dict[str, Any]]) -> None:
        chosen = [row for row in rows if row["bytes"] == size]
        lines_draw(axes, chosen, "values", "total_s", has_errors=True, over="ranks_per_node")
        axes.set_xlabel("user processes a node")
        axes.set_yscale("log")
        axes.set_ylabel(f"{size_text(size)}: iteration, s")

    return paint


def families(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Cases that differ in their user processes a node alone, which end their names, by link."""
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        if row["program"] == "rma_patterns" and row.get("ranks_per_node"):
            name = row["case"].rpartition(", ")[0]
            found.setdefault((name, row["rate"], row["sockbuf"]), []).append(row)
    return {
        key: chosen
        for key, chosen in found.items()
        if len({row["ranks_per_node"] for row in chosen}) > 1
    }


def figures_choose(suite: str, rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Names of figures and the panels they are made of, by what the rows hold."""
    held = {name for row in rows for name in row["values"]}
    if any(row["program"] in ("phases", "rma_phases") for row in rows):
        return {}  # of one size each: tables say more
    if not any(row["bytes"] for row in rows):
        return {}  # nothing to draw over
    if suite == "casper2-fig3":
        return {"": [time_panel("post_s", "post, s"), time_panel("wait_s", "wait, s")]}
    if "overlap_ratio" in held:
        return {
            "": [
                time_panel("latency_s", "latency, s"),
                value_panel("overlap_ratio", "overlap ratio"),
                time_panel("latency_2.0_l0_s", "latency, delay 2 l0, s"),
                time_panel("latency_3.5_l0_s", "latency, delay 3.5 l0, s"),
            ]
        }
    if "counter_s" in held or "comm_s" in held:
        return {"": [stacks_draw]}
    if "total_s" in held and "wait_s" in held:
        return {"": [ratio_panel, recovered_panel], "-profile": [stacks_draw]}
    busy = sorted((n for n in held if n.startswith(BUSY)), key=lambda n: int(n[len(BUSY) : -2]))
    if busy:
        times = [
            time_panel(name, f"computes {name[len(BUSY) : -2]} units, s") for name in busy[::2]
        ]
        return {"": [time_panel("latency_s", "target in MPI, s"), *times]}
    if "latency_s" in held:
        return {"": [time_panel("latency_s", "latency, s"), ratio_panel]}
    if "message_s" in held:
        return {"": [time_panel("message_s", "s a message"), ratio_panel]}
    if "total_s" in held and any(row["derived"].get("recovered") for row in rows):
        return {"": [ratio_panel, recovered_panel]}
    return {}


def figures_all(
    document: dict[str, Any],
) -> Iterator[tuple[tuple[Any, ...], str, list[dict[str, Any]], list[Any]]]:
    """What a figure is of (case or family, rate, socket buffers), what ends its file's name, its
    rows and its panels: for each case and link, then for each family of cases and link."""
    for (_, *where), rows in groups(document["rows"]).items():
        shown = [row for row in rows if row["values"]]
        for suffix, panel_list in figures_choose(document["suite"], shown).items():
            yield tuple(where), suffix, shown, panel_list
    for key, rows in families(document["rows"]).items():
        shown = [row for row in rows if row["values"]]
        sizes = sorted({row["bytes"] for row in shown})
        yield key, "-users", shown, [users_panel(size) for size in sizes]


def draw(document: dict[str, Any], directory: Path) -> list[Path]:
    """Writes one PNG for each figure; returns their paths."""
    written = []
    with pyplot.rc_context(cast("Any", STYLE)):
        for (case, rate, sockbuf), suffix, rows, panel_list in figures_all(document):
            title = f"{document['title']}: {case}, link {rate}, socket buffers {sockbuf}"
            figure = figure_make(title, rows, panel_list)
            name = "-".join(["-".join(case.split()), rate, sockbuf])
            path = directory / f"{document['suite']}-{name}{suffix}.png"
            figure.savefig(path, metadata={"Software": None})
            pyplot.close(figure)
            written.append(path)
    return written
