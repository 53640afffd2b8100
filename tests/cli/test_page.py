# SPDX-License-Identifier: BSD-3-Clause
"""The page of a run of 1,024 ranks: small, and answering in the first screen."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import matrix
import pytest
from headway.record.older import record_of
from headway.report import many, page
from headway.report.runs import Run
from test_report import MS, Checker, record

MATRIX_RULES = [matrix.check(lambda: False)]
RANKS, NODE_RANKS = 1024, 64
MOST_BYTES = 1_000_000
HEADLINE = re.compile(
    r"Not overlapped: (\d+) % of the waiting was for lack of progress \(app\+0x1003\)\. "
    r"headway run should save about 0\.\d\d s of 2\.00 s "
)


def made(count: int) -> Run:
    """Ranks of which one in 97 waits little; each has slices of time and a sample of calls."""
    source = random.Random(1)
    found = []
    for rank in range(count):
        wait_ms = (300 if rank % 97 == 0 else 900) + source.randrange(100)
        one = record(rank, wait_ms, mpi_s=wait_ms / 1000, size=count, host=f"n{rank // NODE_RANKS}")
        one |= {"command": "./halo --rows 8192", "started_s": 1764077106.5, "version": "0.1.0"}
        slices = [source.randrange(100) * MS for _ in range(64)]
        one["profile"] |= {
            "slices": {"length_ns": 100 * MS, "mpi_ns": slices},
            "events": [[1000.0 * call, 900.0, 3, 1 << 20] for call in range(200)],
        }
        found.append(record_of(one))
    return Run("many", found)


@pytest.fixture(scope="module")
def written() -> str:
    return page.write([made(RANKS)])


def test_page_of_many_ranks_is_small(written: str) -> None:
    checker = Checker()
    checker.feed(written)
    assert not checker.open and {"svg", "table", "h1", "dl"} <= checker.seen
    assert len(written.encode()) < MOST_BYTES
    assert written.count("<tr>") < 100, "ranks have a row each"
    first = re.sub(r"<[^>]*>", "", re.findall(r"<h1>(.*?)</h1>", written)[0]).replace("\u00a0", " ")
    said = HEADLINE.match(first)
    assert said and int(said[1]) > 75, first
    for words in ("1024 ranks: from the least to the most", "median", "load balance"):
        assert words in written
    for title in ("The 10 ranks longest in MPI", "The 10 ranks that computed longest"):
        assert title in written
    assert written.index("<h1>") < written.index("parallel efficiency") < written.index("<h2>")


def test_every_rank_is_on_the_map() -> None:
    run = made(RANKS)
    lines = many.by_rank(run)
    assert [line.name for line in lines] == [f"n{node}" for node in range(RANKS // NODE_RANKS)]
    assert sum(len(line.cells) for line in lines) == RANKS
    drawn = page.spots(lines[0].cells)
    assert sum(spot.width for spot in drawn) == NODE_RANKS
    assert drawn[0].left == 0 and all(
        one.left + one.width == other.left for one, other in zip(drawn, drawn[1:], strict=False)
    )
    over_time = many.by_time(run)
    assert len(over_time) == many.DOWN and {len(line.cells) for line in over_time} == {63}
    assert all(0 <= cell.value <= 1 for line in over_time for cell in line.cells)


def test_more_ranks_than_cells_are_grouped() -> None:
    run = made(60)
    run.records = [
        record_of({"rank": rank, "wall_s": 1, "mpi_s": rank / 9000}) for rank in range(9000)
    ]
    lines = many.by_rank(run)
    assert len(lines) <= many.DOWN and max(len(line.cells) for line in lines) <= many.ACROSS
    last = lines[-1].cells[-1]
    assert last.value == pytest.approx(8999 / 9000) and "rank 8999" in last.title
    assert many.by_time(run) == []


def test_figures_of_many_ranks() -> None:
    run = made(0)
    run.records = [record_of({"rank": rank, "wall_s": 101, "mpi_s": rank}) for rank in range(101)]
    assert [one.rank for one in many.worst(run)] == list(range(100, 90, -1))
    assert [one.rank for one in many.busiest(run)] == list(range(10))
    inside = many.quantiles(run)[2]
    assert inside[1:] == ["0.00", "5.00", "25.00", "50.00", "75.00", "95.00", "100.00"]


def test_up_to_64_ranks_have_a_row_each() -> None:
    for count, has_rows in ((64, True), (65, False)):
        text = page.write([made(count)])
        assert ("from the least to the most" not in text) == has_rows, count


#: Shows the page in a frame (no window is narrower than 500 pixels) and asks the browser where
#: things are; the page itself has no script.
PROBE = """<!doctype html><body><script>
const frame = document.createElement("iframe");
frame.style = "border: 0; width: WIDTHpx; height: HEIGHTpx";
frame.srcdoc = PAGE;
frame.onload = () => {
  const shown = frame.contentDocument;
  const bottom = name => Math.round(shown.querySelector(name).getBoundingClientRect().bottom);
  const across = shown.documentElement.scrollWidth;
  document.body.dataset.seen = [bottom("h1"), bottom(".figures div"), across].join(" ");
};
document.body.append(frame);
</script></body>"""


@matrix.quick(lambda: False, "it starts a browser")
@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844)])
def test_first_screen_answers(written: str, tmp_path: Path, width: int, height: int) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium")
    quoted = json.dumps(written).replace("</", "<\\/")
    probe = PROBE.replace("WIDTH", str(width)).replace("HEIGHT", str(height))
    (tmp_path / "page.html").write_text(probe.replace("PAGE", quoted), encoding="utf-8")
    words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    words.append("--virtual-time-budget=10000")
    words.append(f"--user-data-dir={tmp_path / 'profile'}")
    done = subprocess.run(
        [*words, "--dump-dom", f"file://{tmp_path / 'page.html'}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    seen = re.search(r'data-seen="(\d+) (\d+) (\d+)"', done.stdout)
    assert seen, done.stderr
    headline, figures, across = map(int, seen.groups())
    assert 0 < headline < figures < height and across <= width, seen[0]
