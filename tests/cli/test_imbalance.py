# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that have more to compute than others: what of the waits is for that, and is not to be
saved."""

from __future__ import annotations

from pathlib import Path

import pytest
from headway.report import page, runs, text
from test_report import MS, record, save


def sliced(rank: int, computed_ms: list[int], length_ms: int = 100) -> dict:
    """A rank whose waits are for late partners, and which computes so long in each slice."""
    one = record(rank, mpi_s=0.8)
    one["profile"]["sites"][1].update(moved_waiting=1 << 20, usable_ns=0)
    inside = [(length_ms - each) * MS for each in computed_ms]
    one["profile"]["slices"] = {"length_ns": length_ms * MS, "mpi_ns": [*inside, 0]}
    return one


def test_imbalance_throughout(tmp_path: Path) -> None:
    """Rank 1 computes 30 ms more in each slice of 100 ms: 0.3 s of what rank 0 waits is for it."""
    run = runs.load(save(tmp_path / "a", sliced(0, [50] * 10), sliced(1, [80] * 10)))
    assert run.imbalance and run.imbalance.busiest == (1,)
    assert run.imbalance.less_s == {0: pytest.approx(0.3)}
    late = run.all_reasons.late + run.all_reasons.imbalance
    assert run.imbalance_shares[0] == (pytest.approx(0.3 / 0.8, rel=0.05), 0.0)
    assert run.all_reasons.imbalance == pytest.approx(late / 2 * run.imbalance_shares[0][0])
    (line,) = text.imbalance_lines(run)
    assert "rank 1 had 0.80 s" in line and "0.30 s less" in line
    assert "imbalance" in text.cause(run.all_reasons) and "Imbalance: rank 1" in page.write([run])


def test_start_is_no_part_of_the_run(tmp_path: Path) -> None:
    """Until one of them is in MPI all ranks seem to compute alike, and that may be the longer."""
    start = [100] * 20
    found = [sliced(0, start + [50] * 10), sliced(1, start + [100, 80] * 5)]
    run = runs.load(save(tmp_path / "a", *found))
    assert run.imbalance and run.imbalance.slices == 10
    assert run.imbalance.busiest == (1,) and run.imbalance.less_s == {0: pytest.approx(0.4)}
    assert run.imbalance.computes_s == pytest.approx(0.9)
    nobody = runs.load(save(tmp_path / "b", sliced(0, start), sliced(1, start)))
    assert nobody.imbalance is None


def test_imbalance_that_no_progress_removes(tmp_path: Path) -> None:
    """All is posted before rank 1 computes longer: what comes earlier is followed by what is not
    posted yet. Only what rank 1 waits itself is to be saved."""
    found = [sliced(0, [30] * 10), sliced(1, [80] * 10)]
    for one, mpi_s in zip(found, (0.7, 0.2), strict=True):
        one["mpi_s"] = mpi_s
        door = one["profile"]["sites"][1]
        door.update(call_ns=int(mpi_s * 1000) * MS, sampled_blocked_ns=int(mpi_s * 1000) * MS)
        door.update(moved_waiting=1 << 40, usable_ns=int(mpi_s * 1000) * MS)
    run = runs.load(save(tmp_path / "a", *found))
    assert run.reasons_at(run.sites[0], 0, run.sites[0].ranks[0]).late == 0
    reasons = run.all_reasons
    assert reasons.imbalance == reasons.posted == pytest.approx(0.5)
    assert reasons.no_progress == pytest.approx(0.4)
    assert run.prediction.idle == pytest.approx(0.2)
    said = text.cause(reasons)
    assert "imbalance 55.6 %" in said and "late partner" not in said


def test_run_is_not_shorter_than_its_busiest_rank(tmp_path: Path) -> None:
    found = [record(0, mpi_s=0.9), record(1, mpi_s=0.05)]
    for one in found:
        one["wall_s"] = 1.0
    run = runs.load(save(tmp_path / "a", *found))
    assert run.prediction.most == pytest.approx(0.05)
    assert run.prediction.seconds == run.prediction.most < run.prediction.idle


def test_late_now_and_then_is_no_imbalance(tmp_path: Path) -> None:
    """Rank 1 computes as much more in all, but in one slice only."""
    cases = {
        "once": [sliced(0, [50] * 10), sliced(1, [50] * 9 + [100])],
        "alike": [sliced(0, [50] * 10), sliced(1, [50] * 10)],
        "short": [sliced(0, [50] * 3), sliced(1, [80] * 3)],
        "unknown": [record(0), record(1)],
    }
    for name, found in cases.items():
        run = runs.load(save(tmp_path / name, *found))
        assert run.imbalance is None and not text.imbalance_lines(run), name
        assert run.all_reasons.imbalance == 0


def test_slices_of_different_length(tmp_path: Path) -> None:
    found = [sliced(0, [50] * 16), sliced(1, [160] * 8, length_ms=200)]
    run = runs.load(save(tmp_path / "a", *found))
    assert run.imbalance and run.imbalance.less_s == {0: pytest.approx(8 * 0.06)}
