# SPDX-License-Identifier: BSD-3-Clause
"""The demo's picture: what each rank did, step by step, above the bytes on each link.

What it is drawn from is kept beside it as JSON: `title`, `measured` (when and where) and, by mode,
the program's own `timeline` and `samples` of the wire.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

from headway.demo.launched import Launched  # noqa: E402
from headway.errors import HeadwayError  # noqa: E402

#: Okabe and Ito's colours, which everybody can tell apart
PHASES = (("post", "#E69F00"), ("compute", "#0072B2"), ("wait", "#D55E00"), ("boundary", "#56B4E9"))
LINKS = ("#009E73", "#CC79A7")
SMOOTHING_S = 0.002


def collect(launches: dict[str, Launched], title: str, machine: str) -> dict[str, Any]:
    """What a picture needs. Times begin with the first step, bytes with the first sample."""
    modes = {}
    for mode, launched in launches.items():
        ranks = launched.result["timeline"]
        origin = min(rank["start_monotonic_s"] for rank in ranks)
        samples = [sample for sample in launched.samples if sample[0] > origin - 5 * SMOOTHING_S]
        first = samples[0][1] if samples else []
        modes[mode] = {
            "timeline": [
                {
                    "rank": rank["rank"],
                    "start_monotonic_s": round(rank["start_monotonic_s"] - origin, 6),
                    "steps": [[round(at, 6) for at in step] for step in rank["steps"]],
                }
                for rank in ranks
            ],
            "samples": [
                (
                    round(now - origin, 6),
                    [sent - base for sent, base in zip(counts, first, strict=True)],
                )
                for now, counts in samples
            ],
        }
    measured = f"{time.strftime('%Y-%m-%d', time.gmtime())}, {machine}"
    return {"title": title, "measured": measured, "modes": modes}


def save(data: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, separators=(",", ":")) + "\n")


def load(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text())
        return {"title": data["title"], "measured": data["measured"], "modes": data["modes"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HeadwayError(
            f"{path} is not the data of a picture: {error}", "name the JSON file of headway demo"
        ) from error


def draw(data: dict[str, Any], path: Path) -> None:
    """One column per mode, on one time scale: phases above, link use below."""
    launches = data["modes"]
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
    end_s = 0.0
    for column, (mode, launched) in enumerate(launches.items()):
        draw_phases(axes[0][column], launched["timeline"])
        draw_links(axes[1][column], launched["samples"])
        axes[0][column].set_title(mode)
        axes[1][column].set_xlabel("time, ms")
        ends = [rank["start_monotonic_s"] + rank["steps"][-1][-1] for rank in launched["timeline"]]
        end_s = max(end_s, *ends)
    axes[1][0].set_ylabel("sent, Mbit/s")
    axes[0][0].set_xlim(0, 1e3 * end_s)
    figure.suptitle(data["title"])
    handles = [Rectangle((0, 0), 1, 1, color=colour) for _, colour in PHASES]
    figure.legend(handles, [name for name, _ in PHASES], loc="outside lower center", ncols=4)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        figure.savefig(path, dpi=130)
    except (OSError, ValueError) as error:  # of a name, such as .txt, that is of no picture
        raise HeadwayError(
            f"cannot draw {path}: {error}", "headway demo --draw DATA.json --picture FILE.png"
        ) from error
    finally:
        pyplot.close(figure)


def draw_phases(axes: Axes, timeline: list[dict[str, Any]]) -> None:
    for rank in timeline:
        shift = rank["start_monotonic_s"]
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


def draw_links(axes: Axes, samples: list[tuple[float, list[int]]]) -> None:
    if not samples:
        axes.text(0.5, 0.5, "no limited wire", transform=axes.transAxes, ha="center")
        return
    for node in range(len(samples[0][1])):
        times, rates = link_rates(samples, node)
        axes.plot(
            [1e3 * t for t in times],
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
