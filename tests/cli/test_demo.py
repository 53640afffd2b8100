# SPDX-License-Identifier: BSD-3-Clause
"""The demo: what `./dev run` does, at its shortest, and the picture it draws."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest

MATRIX_RULES = [matrix.check(lambda: False)]
GUIDE = Path(__file__).resolve().parents[2] / "doc" / "guide"
Headway = Callable[..., subprocess.CompletedProcess[str]]


def test_demo_ends_in_table_and_picture(headway: Headway, tmp_path: Path) -> None:
    picture = tmp_path / "out" / "timeline.png"
    done = headway(
        "demo",
        "--launches",
        1,
        "--steps",
        8,
        "--mpi",
        "ompi4",
        "--picture",
        picture,
        TMPDIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert "every launch gave the same answer" in done.stderr
    assert "plain" in done.stderr and "Headway" in done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    data = json.loads(picture.with_suffix(".json").read_text())
    assert "Open MPI 4" in data["title"] and "Linux" in data["measured"]
    assert all(len(data["modes"][mode]["timeline"]) == 2 for mode in ("plain", "Headway"))


def test_demo_draws_again(headway: Headway, tmp_path: Path) -> None:
    """From the data of a measured timeline, the one in the guide; nothing is started."""
    picture = tmp_path / "again.png"
    done = headway("demo", "--draw", GUIDE / "images" / "timeline.json", "--picture", picture)
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert done.stderr.splitlines() == [f"headway: timeline: {picture}"]
    for text in ("", "[]", '{"title": "without the rest"}'):
        (tmp_path / "bad.json").write_text(text)
        done = headway("demo", "--draw", tmp_path / "bad.json", "--picture", picture)
        assert done.returncode != 0 and len(done.stderr.splitlines()) == 1, done.stderr


def test_demo_refuses_bad_input(headway: Headway) -> None:
    for words in (["--mpi", "nothing"], ["--launches", "0"], ["--rate", "fast"]):
        done = headway("demo", *words)
        assert done.returncode != 0
        assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("headway: ")


def test_link_rates() -> None:
    pytest.importorskip("matplotlib")
    from headway.demo.timeline import link_rates

    samples = [(i / 1000, [125 * i, 0]) for i in range(20)]
    times, rates = link_rates(samples, 0)
    assert times and all(abs(rate - 1e6) < 1 for rate in rates)
    assert all(rate == 0 for rate in link_rates(samples, 1)[1])
