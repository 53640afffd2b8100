# SPDX-License-Identifier: BSD-3-Clause
"""`headway report A B`: what changed, call site by call site, also where lines have moved."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from headway.report import comparison, runs
from headway.report.comparison import Called, Row
from headway.report.places import Place
from headway.report.runs import Run

Headway = Callable[..., subprocess.CompletedProcess[str]]
MS = 1_000_000
FILE = "/src/halo.py"


def site(number: int, line: int, function: str, call_ms: int, **more: object) -> dict:
    """Of exchange() in halo.py."""
    python = {"function": "exchange", "file": FILE, "line": line}
    counted = {"id": number, "calls": 10, "bytes": 10 << 20, "call_ns": call_ms * MS}
    place = {"module": "/nowhere/MPI.so", "offset": 0, "python": python}
    return {**place, **counted, "function": function, "size_class": 21, **more}


def save(folder: Path, *sites: dict, ranks: int = 2, **more: object) -> Path:
    folder.mkdir()
    profile = {"sites": list(sites), "events": [], "began_monotonic_s": 1.0}
    told = {"profile": profile, **more} if sites else more
    base = {"schema": 3, "size": ranks, "engine": "off", "wall_s": 2.0, "mpi_s": 0.8, "mpi": "M"}
    for rank in range(ranks):
        body = json.dumps({**base, "rank": rank, **told})
        (folder / f"headway.{rank}.json").write_text(body)
    return folder


def told(*folders: Path) -> list[tuple[str, str, list[float | None]]]:
    found = comparison.rows([runs.load(folder) for folder in folders])
    return sorted((row.place, row.function, seconds(row)) for row in found)


def seconds(row: Row) -> list[float | None]:
    return [None if one is None else round(one, 6) for one in row.seconds]


def test_lines_that_moved(tmp_path: Path) -> None:
    """Ten lines more above: each call is the one that it was."""
    before = (site(1, 20, "Isend", 100), site(2, 30, "Waitall", 800), site(3, 33, "Waitall", 50))
    after = (site(1, 30, "Isend", 100), site(2, 40, "Waitall", 300), site(3, 43, "Waitall", 60))
    found = told(save(tmp_path / "a", *before), save(tmp_path / "b", *after))
    assert found == [
        ("exchange (halo.py:20, then 30)", "Isend", [0.1, 0.1]),
        ("exchange (halo.py:30, then 40)", "Waitall", [0.8, 0.3]),
        ("exchange (halo.py:33, then 43)", "Waitall", [0.05, 0.06]),
    ]


def test_call_that_is_new(tmp_path: Path) -> None:
    """The least alike of the calls stands alone, wherever it is."""
    small = {"calls": 1000, "bytes": 8000}
    before = (site(1, 20, "Isend", 100), site(2, 30, "Isend", 200, **small))
    new = (
        site(1, 21, "Isend", 7, calls=3, bytes=0),
        site(2, 25, "Isend", 110),
        site(3, 35, "Isend", 210, **small),
    )
    found = told(save(tmp_path / "a", *before), save(tmp_path / "b", *new))
    assert found == [
        ("exchange (halo.py:20, then 25)", "Isend", [0.1, 0.11]),
        ("exchange (halo.py:21)", "Isend", [None, 0.007]),
        ("exchange (halo.py:30, then 35)", "Isend", [0.2, 0.21]),
    ]


def test_calls_that_took_nothing_have_no_row(tmp_path: Path) -> None:
    sites = (site(1, 20, "Isend", 100), site(2, 30, "Comm_rank", 0))
    (found,) = told(save(tmp_path / "a", *sites), save(tmp_path / "b", *sites))
    assert found[1] == "Isend"


def test_three_runs(tmp_path: Path) -> None:
    """A call that the second has not is known again in the third."""
    folders = [
        save(tmp_path / "a", site(1, 20, "Wait", 100), site(2, 30, "Recv", 5)),
        save(tmp_path / "b", site(1, 22, "Wait", 150)),
        save(tmp_path / "c", site(1, 24, "Wait", 90), site(2, 34, "Recv", 6)),
    ]
    found = comparison.rows([runs.load(folder) for folder in folders])
    assert [(r.place, seconds(r)) for r in found] == [
        ("exchange (halo.py:20, then 22, then 24)", [0.1, 0.15, 0.09]),
        ("exchange (halo.py:30, then 34)", [0.005, None, 0.006]),
    ]
    assert comparison.names([runs.load(f) for f in folders])[1] == {
        "MPI_Wait of exchange (halo.py:22)": "MPI_Wait of exchange (halo.py:20, then 22, then 24)"
    }


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([], [5], []),
        ([5, 9], [5, 9], [(0, 0), (1, 1)]),
        ([5, 9], [9], [(1, 0)]),  # the same line before one that is as much alike
        ([5], [5, 9], [(0, 0)]),
        ([1, 2, 3], [11, 12, 13], [(0, 0), (1, 1), (2, 2)]),
    ],
)
def test_pairs_by_line_and_order(
    left: list[int], right: list[int], expected: list[tuple[int, int]]
) -> None:
    called = [
        [Called(Place("f", "a.c", line), "Send", 1.0, 10, 10) for line in lines]
        for lines in (left, right)
    ]
    assert comparison.pairs(*called) == expected


def test_places_without_lines() -> None:
    """By address, which is no text: 0x900 comes before 0x1000."""
    one, other = (Place("f", f"app+{offset}", 0) for offset in ("0x900", "0x1000"))
    assert sorted([other, one], key=comparison.order) == [one, other]
    assert (
        Row([Called(one, "Send"), Called(other, "Send")]).place == "f (app+0x900, then app+0x1000)"
    )
    moved = Row([Called(Place("f", "a.c", 3), "Send"), Called(Place("f", "b.c", 4), "Send")])
    assert moved.place == "f (a.c:3, then b.c:4)"


def test_cells() -> None:
    assert comparison.cells([0.8, 0.4, None]) == [
        *("0.800", "0.400", "-0.400 (-50 %)", "-", "-0.800 (-100 %)")
    ]
    assert comparison.cells([None, 0.25]) == ["-", "0.250", "+0.250"]
    assert comparison.cells([1.0, 1.0001]) == ["1.000", "1.000", "="]
    assert comparison.cells([100, 150], 0) == ["100", "150", "+50 (+50 %)"]


def figures(*loaded: Run) -> dict[str, list[str]]:
    return {row[0]: row[1:] for row in comparison.figure_rows(loaded)}


def test_runs_without_a_profile(headway: Headway, tmp_path: Path) -> None:
    plain = save(tmp_path / "plain", mpi_s=None, blocked_ns=900 * MS, tracked_p2p=100)
    faster = save(
        tmp_path / "faster",
        mpi_s=None,
        wall_s=1.5,
        blocked_ns=300 * MS,
        overlapped_ns=500 * MS,
        tracked_p2p=100,
        engine="thread",
    )
    found = figures(runs.load(plain), runs.load(faster))
    assert found["engine"] == ["off", "thread", ""]
    assert found["seconds from MPI_Init to MPI_Finalize"] == ["2.00", "1.50", "-0.50 (-25 %)"]
    assert found["seconds waited for requests, per rank"][-1] == "-0.600 (-67 %)"
    assert found["seconds computed meanwhile, per rank"] == ["-", "0.500", "+0.500"]
    assert found["operations tracked"] == ["200", "200", "="]
    assert "seconds in MPI, per rank" not in found and "one-sided operations at ghosts" not in found
    done = headway("report", plain, faster, "--html", "both.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "both.html").read_text()
    for text in (done.stdout, page):
        assert "-0.50 (-25 %)" in text and "plain has no call sites" in text, text


def test_report_and_page_show_the_same(headway: Headway, tmp_path: Path) -> None:
    save(tmp_path / "before", site(1, 20, "Waitall", 800))
    save(tmp_path / "after", site(1, 26, "Waitall", 300), wall_s=1.5)
    save(tmp_path / "plain", wall_s=1.6)
    done = headway("report", "before", "after", "plain", "--html", "all.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "all.html").read_text()
    for text in (" ".join(done.stdout.split()), page):
        assert "halo.py:20, then 26" in text, text
        assert "-0.500 (-62 %)" in text and "-0.50 (-25 %)" in text and "-0.40 (-20 %)" in text


def test_runs_of_one_name(tmp_path: Path) -> None:
    for parent in ("old", "new"):
        (tmp_path / parent).mkdir()
    both = [runs.load(save(tmp_path / parent / "kept")) for parent in ("old", "new")]
    assert comparison.headings(both) == ["1: kept", "2: kept", "change"]
