# SPDX-License-Identifier: BSD-3-Clause
"""The one committed picture, and the plots that ./dev docs draws.

A picture names the digest of the result file it was drawn from, in a text chunk of its PNG: the
check compares that, since pixels differ from one version of the plotter to the next.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from pathlib import Path
from typing import Any, cast

from headway.bench import report
from headway.bench.published import claims
from headway.bench.published.claims import Result, Row

#: of this claim's file, in README.md
CLAIM = "overlap-first"
WHERE = {"sockbuf": "small", "case": "1024 KiB: windows 13"}
TITLE = "Exchange of 1 MiB beside computation, two nodes, 1 Gbit/s"
STAMP = "drawn-from"


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def places(root: Path) -> tuple[Path, Path]:
    """The result file and its picture."""
    folder = root / "doc" / "results"
    return folder / claims.DATA / f"{CLAIM}.json", folder / f"{CLAIM}.png"


def is_in_date(source: Path, made: Path) -> bool:
    return made.is_file() and digest_of(source).encode() in made.read_bytes()


def differences(root: Path) -> list[str]:
    source, made = places(root)
    if not source.is_file() or is_in_date(source, made):
        return []
    return [f"{made.relative_to(root)} is not of {source.relative_to(root)}"]


def has_plotter() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def write(root: Path) -> list[Path]:
    """Draws the picture if its file changed; returns what was written."""
    source, made = places(root)
    if not source.is_file() or is_in_date(source, made) or not has_plotter():
        return []
    result = next(one for one in claims.results_read(made.parent) if one.name == CLAIM)
    draw(result, made, digest_of(source))
    return [made]


def bar_heights(rows: list[Row], mpi: str) -> tuple[float, float, float] | None:
    """A window plain, with Headway, and at best, in milliseconds."""
    by_mode = {row["mode"]: row for row in rows if row["mpi"] == mpi}
    if not {"plain", "headway"} <= set(by_mode):
        return None
    plain, mine = (claims.value_of(by_mode[mode], "total_s") for mode in ("plain", "headway"))
    lost = claims.value_of(by_mode["plain"], "lost_s")
    if plain is None or mine is None or lost is None:
        return None
    return plain * 1e3, mine * 1e3, (plain - lost) * 1e3


def draw(result: Result, path: Path, digest: str) -> None:
    """Two bars for each MPI, and a line at the best possible time."""
    from headway.bench import plots  # it takes its time to load

    rows = [row for row in result.rows if claims.is_chosen(row, WHERE)]
    known = {mpi: bar_heights(rows, mpi) for mpi in result.document["mpis"]}
    with plots.pyplot.rc_context(cast("Any", plots.STYLE)):
        figure, axes = plots.pyplot.subplots(figsize=(7.2, 2.6), layout="constrained")
        for place, heights in enumerate(known.values()):
            if heights is None:
                continue
            plain, mine, best = heights
            is_first = place == 0
            for offset, height, mode in ((-0.2, plain, "plain"), (0.2, mine, "headway")):
                label = {"plain": "plain MPI", "headway": "with Headway"}[mode]
                colour = plots.MODE_COLOURS[mode]
                axes.bar(
                    place + offset, height, 0.38, color=colour, label=label if is_first else None
                )
            axes.hlines(
                best,
                place - 0.42,
                place + 0.42,
                color="black",
                linewidth=1.2,
                linestyle=(0, (3, 1)),
                label="best possible" if is_first else "",
            )
        titles = [report.title_short(title) for title in result.document["mpis"].values()]
        axes.set_xticks(range(len(titles)), titles)
        axes.set_ylabel("a window, ms")
        axes.set_title(TITLE, fontsize=10)
        axes.grid(axis="x", visible=False)
        figure.legend(loc="outside right upper", fontsize=8)
        figure.savefig(path, metadata={"Software": None, STAMP: digest})
        plots.pyplot.close(figure)


def draw_all(root: Path, folder: Path) -> None:
    """A folder of plots for each result file, drawn again where the file or the plotter changed."""
    from headway.bench import plots

    tool = digest_of(Path(plots.__file__))
    wanted = set()
    for result in claims.results_read(root / "doc" / "results"):
        if "suite" not in result.document or not any("values" in row for row in result.rows):
            continue
        place, stamp = folder / result.name, f"{digest_of(result.path)} {tool}\n"
        wanted.add(place.name)
        told = place / "stamp"
        if told.is_file() and told.read_text(encoding="utf-8") == stamp:
            continue
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        plots.draw(dict(result.document), place)
        told.write_text(stamp, encoding="utf-8")
    for place in folder.iterdir() if folder.is_dir() else ():
        if place.is_dir() and place.name not in wanted:
            shutil.rmtree(place)
