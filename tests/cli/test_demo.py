# SPDX-License-Identifier: BSD-3-Clause
"""The demo: what `./dev run` does, at its shortest, and the picture it draws."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
import support
from headway.demo import command
from headway.demo.launched import Launched
from headway.errors import HeadwayError
from rich.console import Console

MATRIX_RULES = [matrix.check(lambda: False)]
GUIDE = Path(__file__).resolve().parents[2] / "doc" / "guide"
Headway = Callable[..., subprocess.CompletedProcess[str]]


def test_demo_ends_in_table_and_picture(headway: Headway, tmp_path: Path) -> None:
    picture = tmp_path / "out" / "timeline.png"
    mpi = support.oldest("ompi")
    done = headway(
        "demo",
        "--launches",
        1,
        "--steps",
        8,
        "--mpi",
        mpi.name,
        "--picture",
        picture,
        TMPDIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert "every launch gave the same answer" in done.stderr
    assert "plain" in done.stderr and "Headway" in done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    data = json.loads(picture.with_suffix(".json").read_text())
    assert mpi.title in data["title"] and "Linux" in data["measured"]
    assert all(len(data["modes"][mode]["timeline"]) == 2 for mode in ("plain", "Headway"))


def launches(step_s: float, thread_cpu_s: float) -> list[Launched]:
    """Three launches of ten steps, of which each phase takes a quarter."""
    phases = ("post_s", "compute_s", "wait_s", "boundary_s")
    rank = {name: {"median": step_s / 4} for name in phases}
    result = {"wall_s": 10 * step_s, "steps": 10, "by_rank": [rank, rank]}
    result |= {"compute": {"compute_alone_s": {"median": step_s / 3}}}
    return [Launched(result, thread_cpu_s)] * 3


@pytest.mark.parametrize("step_s, total", [(0.018124, "18.12"), (12.345678, "12346")])
def test_table_fits_eighty_columns(step_s: float, total: str) -> None:
    """No number is cut, of steps of milliseconds or of many seconds."""
    out = io.StringIO()
    launched = {"plain": launches(step_s, 0.0), "Headway": launches(step_s / 2, step_s)}
    command.print_table(Console(file=out, width=80), launched, wire_s=step_s / 4)
    said = out.getvalue()
    assert "…" not in said and max(map(len, said.splitlines())) <= 80, said
    plain, ours = (line.split() for line in said.splitlines()[-3:-1])
    assert plain[:2] == ["plain", total] and len(plain) == 7
    assert ours[0] == "Headway" and ours[-2:] == ["%", "%"] or ours[-1] == "%"
    sentence = command.headline(launched)
    assert sentence.startswith("Headway saved 50 % of the run: a step took ")


def test_demo_draws_again(headway: Headway, tmp_path: Path) -> None:
    """From the data of a measured timeline, the one in the guide; nothing is started."""
    picture = tmp_path / "again.png"
    done = headway("demo", "--draw", GUIDE / "images" / "timeline.json", "--picture", picture)
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert done.stderr.splitlines() == [f"headway: timeline: {picture}"]
    (tmp_path / "bad.json").write_text("")
    done = headway("demo", "--draw", tmp_path / "bad.json", "--picture", picture)
    assert done.returncode != 0 and len(done.stderr.splitlines()) == 1, done.stderr
    for text in ("[]", '{"title": "without the rest"}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(HeadwayError) as refused:
            command.draw_again(tmp_path / "bad.json", picture)
        assert len(str(refused.value).splitlines()) == 1, refused.value


def test_demo_refuses_bad_input(headway: Headway) -> None:
    for words in (["--mpi", "nothing"], ["--launches", "0"], ["--rate", "fast"]):
        done = headway("demo", *words)
        assert done.returncode != 0
        assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("headway: ")


def test_picture_that_cannot_be_written(headway: Headway, tmp_path: Path) -> None:
    """Found out before anything is started, but for names of no kind of picture."""
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("")
    data = GUIDE / "images" / "timeline.json"
    for name in ("file/x.png", ".", "x.json"):
        done = headway("demo", "--picture", name, timeout=20)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    done = headway("demo", "--draw", data, "--picture", "x.txt")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert "cannot draw x.txt" in done.stderr, done.stderr


def test_link_rates() -> None:
    pytest.importorskip("matplotlib")
    from headway.demo.timeline import link_rates

    samples = [(i / 1000, [125 * i, 0]) for i in range(20)]
    times, rates = link_rates(samples, 0)
    assert times and all(abs(rate - 1e6) < 1 for rate in rates)
    assert all(rate == 0 for rate in link_rates(samples, 1)[1])
