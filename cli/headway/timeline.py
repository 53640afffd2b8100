"""The demo's picture: what each rank did, step by step, above the bytes on each link."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402

if TYPE_CHECKING:
    from headway.demo import Launched

#: Okabe and Ito's colours, which everybody can tell apart
PHASES = (("post", "#E69F00"), ("compute", "#0072B2"), ("wait", "#D55E00"), ("boundary", "#56B4E9"))
LINKS = ("#009E73", "#CC79A7")
SMOOTHING_S = 0.002


def draw(launches: dict[str, Launched], path: Path, title: str) -> None:
    """One column per mode, on one time scale: phases above, link use below."""
    figure, axes = pyplot.subplots(
        2,
        len(launches),
        figsize=(12, 5),
        sharex=True,
        sharey="row",
        height_ratios=(1, 1.2),
        squeeze=False,
        layout="constrained",
    )
    for column, (mode, launched) in enumerate(launches.items()):
        timeline = launched.result["timeline"]
        origin = min(r["start_monotonic_s"] for r in timeline)
        draw_phases(axes[0][column], timeline, origin)
        draw_links(axes[1][column], launched.samples, origin)
        axes[0][column].set_title(mode)
        axes[1][column].set_xlabel("time, ms")
    axes[1][0].set_ylabel("sent, Mbit/s")
    end_s = max(
        r["start_monotonic_s"]
        + r["steps"][-1][-1]
        - min(o["start_monotonic_s"] for o in launched.result["timeline"])
        for launched in launches.values()
        for r in launched.result["timeline"]
    )
    axes[0][0].set_xlim(0, 1e3 * end_s)
    figure.suptitle(title)
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=colour) for _, colour in PHASES]
    figure.legend(handles, [name for name, _ in PHASES], loc="outside lower center", ncols=4)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def draw_phases(axes: Axes, timeline: list[dict], origin: float) -> None:
    for rank in timeline:
        shift = rank["start_monotonic_s"] - origin
        for step in rank["steps"]:
            for (_, colour), start, end in zip(PHASES, step, step[1:], strict=False):
                axes.broken_barh(
                    [(1e3 * (shift + start), 1e3 * (end - start))],
                    (rank["rank"] - 0.35, 0.7),
                    color=colour,
                    linewidth=0,
                )
    axes.set_yticks(
        [rank["rank"] for rank in timeline], [f"rank {rank['rank']}" for rank in timeline]
    )
    axes.invert_yaxis()


def draw_links(axes: Axes, samples: list[tuple[float, list[int]]], origin: float) -> None:
    if not samples:
        axes.text(0.5, 0.5, "no limited wire", transform=axes.transAxes, ha="center")
        return
    for node in range(len(samples[0][1])):
        times, rates = link_rates(samples, node)
        axes.plot(
            [1e3 * (t - origin) for t in times],
            [r / 1e6 for r in rates],
            color=LINKS[node % len(LINKS)],
            label=f"n{node}",
            linewidth=1.2,
        )
    axes.legend(loc="upper right")


def link_rates(
    samples: list[tuple[float, list[int]]], node: int
) -> tuple[list[float], list[float]]:
    """Bits a second over a sliding SMOOTHING_S, at the middle of each."""
    times, rates = [], []
    first = 0
    for now, counts in samples:
        while now - samples[first][0] > SMOOTHING_S and first + 1 < len(samples):
            first += 1
        before, earlier = samples[max(0, first - 1)][0], samples[max(0, first - 1)][1][node]
        if now > before:
            times.append((now + before) / 2)
            rates.append(8 * (counts[node] - earlier) / (now - before))
    return times, rates
