# SPDX-License-Identifier: BSD-3-Clause
"""Description: rows of the program `phases`, in which every window counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from headway.bench import analysis, cases, launches, report, windows
from headway.mpi.mpis import find_mpis
from test_driver import launch, row_of

ROOT = Path(__file__).resolve().parents[2]


WIRE_S = 0.008
ALONE_S = 0.010


def phased(mode: str, lost_s: list[float] | None, failure: str = "", **more: object) -> dict:
    """Two windows that wait at once, then one for each of LOST_S with computation."""
    result = None
    if lost_s is not None:
        idle = {"work_units": 0, "alone_s": [0.0, 0.0], "total_s": [WIRE_S, WIRE_S]}
        busy = {
            "work_units": 5,
            "alone_s": [ALONE_S] * len(lost_s),
            "total_s": [ALONE_S + one for one in lost_s],
        }
        phases = [
            {"kind": "exchange", "bytes": 1 << 20, "digest": "d", "wait_s": one["total_s"], **one}
            for one in (idle, busy)
        ]
        result = {"program": "phases", "phases": phases, "wall_s": 1.0}
    return launch(mode, None, failure=failure) | {
        "program": "phases",
        "case": "exchange",
        "wire_s": {f"exchange:{1 << 20}": WIRE_S},
        "first": 2,
        "result": result,
        **more,
    }


def part_of(rows: list[dict], mode: str, part: str) -> dict:
    return next(row for row in rows if row["mode"] == mode and row["case"].endswith(part))


def test_first_windows_are_told_apart_from_those_after_them() -> None:
    rows = windows.rows_make(
        [
            phased("plain", [0.008, 0.008, 0.008, 0.008, 0.008]),
            phased("headway", [0.008, 0.004, 0.001, 0.001, 0.004]),
            phased("headway", [0.006, 0.002, 0.001, 0.001, 0.001]),
        ]
    )
    first = part_of(rows, "headway", "windows 1 to 2")["derived"]
    assert first["recovered"] == pytest.approx(1 - 0.005 / 0.008)
    assert first["recovered_worst"] == pytest.approx(1 - 0.006 / 0.008)
    assert first["recovered_launches"] == [0.25, 0.5]
    after = part_of(rows, "headway", "windows 3 to 5")["derived"]
    assert after["recovered"] == pytest.approx(1 - 0.0015 / 0.008)
    assert after["recovered_median"] == pytest.approx(1 - 0.001 / 0.008)
    idle = part_of(rows, "headway", "waits at once")["derived"]
    assert idle["ratio"] == pytest.approx(1.0)
    assert "recovered" not in idle


def test_window_that_computes_less_than_the_wire_takes_loses_what_is_over_the_wire() -> None:
    phase = {"work_units": 5, "alone_s": [0.004], "total_s": [0.009]}
    assert windows.lost(phase, WIRE_S) == pytest.approx([0.001])
    assert windows.lost({**phase, "alone_s": [0.0]}, WIRE_S) is None, "nothing beside"


def test_algorithm_whose_steps_take_longer_than_the_wire_has_a_share_of_its_own() -> None:
    def slow(mode: str, lost_s: float) -> dict:
        one = phased(mode, [lost_s] * 4)
        one["result"]["phases"][0]["total_s"] = [2 * WIRE_S] * 2
        return one

    rows = windows.rows_make([slow("plain", 0.016), slow("headway", 0.007)])
    mine = part_of(rows, "headway", "windows 3 to 4")["derived"]
    assert mine["recovered"] == pytest.approx(1 - 0.007 / 0.016)
    # of 10 ms that are computed and 16 ms that the steps take, 10 can be saved
    assert mine["recovered_of_steps"] == pytest.approx(0.9)
    rows = windows.rows_make([phased("plain", [0.008] * 4), phased("headway", [0.004] * 4)])
    assert "recovered_of_steps" not in part_of(rows, "headway", "windows 3 to 4")["derived"]


def test_baseline_is_the_better_one_of_plain_and_its_control() -> None:
    rows = windows.rows_make(
        [
            phased("plain", [0.008] * 4),
            phased("plain-transport", [0.004] * 4),
            phased("headway", [0.002] * 4),
        ]
    )
    mine = part_of(rows, "headway", "windows 3 to 4")
    assert mine["baseline"] == "plain-transport"
    assert mine["derived"]["recovered"] == pytest.approx(0.5)
    assert mine["derived"]["recovered_of_plain"] == pytest.approx(0.75)
    control = part_of(rows, "plain-transport", "windows 3 to 4")["derived"]
    assert control["recovered_of_plain"] == pytest.approx(0.5), "the setting's own share"
    rows = analysis.rows_make(
        [launch("plain", 0.019), launch("plain-transport", 0.016), launch("headway", 0.012)]
    )
    derived = row_of(rows, "headway")["derived"]
    assert derived["ratio"] == pytest.approx(0.012 / 0.016)
    assert derived["ratio_of_plain"] == pytest.approx(0.012 / 0.019)


def test_peer_that_never_ends_has_rows_that_say_so() -> None:
    rows = windows.rows_make(
        [
            phased("plain", [0.008] * 4),
            phased("peer:async", None, failure="ran out of its 9 s"),
            phased("peer:async", None, failure="not started again"),
        ]
    )
    peer = part_of(rows, "peer:async", "windows 1 to 2")
    assert (peer["launches"], peer["failed"], peer["values"]) == (2, 2, {})
    (line,) = report.failures(rows)
    assert "peer:async: 2 of 2 launches" in line and "ran out of its 9 s" in line
    (alone,) = windows.rows_make([phased("plain", None, failure="died")])
    assert alone["reason"] == "died"
    rows = analysis.rows_make([launch("plain", 0.01), launch("peer:async", None, failure="died")])
    assert row_of(rows, "peer:async")["reason"] == "died"


def test_wire_of_a_link_without_a_rate_is_that_of_plain_windows() -> None:
    (first, *_) = done = [phased("plain", [0.001] * 4, wire_s={}), phased("headway", [0.0] * 4)]
    assert windows.wires_of(done) == {f"exchange:{1 << 20}": WIRE_S}
    assert (
        windows.parts_of(first["result"]["phases"], 0)[1].name == "2, exchange of 1 MiB, computes"
    )


def test_share_of_what_the_right_choice_for_each_phase_gains() -> None:
    def run(mode: str, idle_s: float, lost_s: float) -> dict:
        one = phased(mode, [lost_s] * 4)
        phases = one["result"]["phases"]
        phases[0] |= {"total_s": [idle_s, idle_s]}
        phases.append(dict(phases[1]))
        return one | {"first": 0}

    rows = windows.rows_make(
        [
            run("plain", 0.008, 0.010),
            run("headway", 0.009, 0.004),
            run("headway-never", 0.012, 0.002),
            run("headway-off", 0.008, 0.010),
        ]
    )
    whole = part_of(rows, "headway", windows.WHOLE)
    # without: 2 x 8 + 8 x 10 ms; fixed: 2 x 8 + 8 x 2; headway: 2 x 9 + 8 x 4
    assert whole["derived"]["of_fixed"] == pytest.approx((96 - 50) / (96 - 32))
    computes = part_of(rows, "headway", "2, exchange of 1 MiB, computes")["derived"]
    assert computes["of_fixed"] == pytest.approx(0.75)
    waits = part_of(rows, "headway", "1, exchange of 1 MiB, waits at once")["derived"]
    assert "of_fixed" not in waits, "there is nothing to choose there"
    assert part_of(rows, "headway-off", windows.WHOLE)["derived"]["of_fixed"] == 0


def test_phases_are_written_as_the_program_reads_them() -> None:
    mpi = find_mpis(with_path=False)[0]
    setting = launches.Setting(mpi, "1gbit", "small", 2, ROOT, ROOT)

    class Wire:
        is_wire = True

    setting.cluster = Wire()  # type: ignore[assignment]
    one = cases.from_first("ireduce_scatter", 1 << 20, 8, 32)
    half_s = (1 << 19) * cases.FRAMING * 8e-9
    assert setting.arguments_make(one) == [
        "--beside",
        "--phases",
        f"ireduce_scatter:1048576:0:8,ireduce_scatter:1048576:{round(half_s * 1e6)}:32",
    ]
    assert not setting.has_nominal_work(one), "each process fixes its own"
    assert "exchange:8192:200:200" in setting.phases_make(cases.CHANGING)
