# SPDX-License-Identifier: BSD-3-Clause
"""Description: the benchmark driver computes its shares as documented and drops no launch."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from headway.bench import analysis, cases, command, launches, nwchem, plots, suites
from headway.bench.modes import has_setting, modes_make
from headway.errors import HeadwayError
from headway.mpi.mpis import find_mpis

ROOT = Path(__file__).resolve().parents[2]


def summary(value: float) -> dict[str, float]:
    return {"median": value, "min": value, "max": value, "q1": value, "q3": value}


def point(total_s: float, size: int = 1 << 20, digest: str = "d") -> dict:
    phases = {name: summary(0.001) for name in ("post_s", "compute_s", "wait_s", "cpu_s")}
    return {
        "bytes": size,
        "total_s": summary(total_s),
        "digest": digest,
        "compute": {"compute_alone_s": summary(0.009)},
        "transfer": {"transfer_alone_s": summary(0.010)},
        "by_rank": [{"rank": 0, **phases, "total_s": summary(total_s)}],
    }


def launch(mode: str, total_s: float | None, *, digest: str = "d", failure: str = "") -> dict:
    result = None
    if total_s is not None:
        result = {"program": "overlap_p2p", "points": [point(total_s, digest=digest)]}
    return {
        "mpi": "m",
        "rate": "1gbit",
        "sockbuf": "small",
        "case": "both ways",
        "program": "overlap_p2p",
        "sizes": [1 << 20],
        "mode": mode,
        "wire_s": {str(1 << 20): 0.008},
        "result": result,
        "failure": failure,
    }


def row_of(rows: list[dict], mode: str) -> dict:
    return next(row for row in rows if row["mode"] == mode)


def test_what_a_ghost_takes_of_its_core() -> None:
    served = launch("headway-ghosts", 0.010)
    served["records"] = [
        {"ghost": 2, "ghost_cpu_s": 0.02, "wall_s": 2.0, "operations_redirected": 400}
        for _ in range(2)
    ]
    rows = analysis.rows_make([launch("plain", 0.019), served])
    values = row_of(rows, "headway-ghosts")["values"]
    assert values["ghost_core"]["median"] == pytest.approx(0.01)
    assert values["ghost_operation_s"]["median"] == pytest.approx(0.02 / 800)
    assert "ghost_core" not in row_of(rows, "plain")["values"]


def told_launch(mode: str, repetition: int, wall_s: float, saved_s: float = 0.0) -> dict:
    saved = {
        "judged_windows": 9,
        "judged_on_ns": 1e8,
        **{f"judged_{name}_ns": 1e8 + 1e9 * saved_s for name in ("off_low", "off", "off_high")},
    }
    one = {"wall_s": wall_s, **(saved if saved_s else {})}
    return launch(mode, 0.010) | {"records": [one, one], "repetition": repetition}


@pytest.mark.parametrize("saved_s, is_within", [(1.15, 1.0), (1.25, 0.0), (0.75, 0.0)])
def test_told_is_compared_with_the_clock(saved_s: float, is_within: float) -> None:
    """Repetition by repetition: machines change their speed between them."""
    kept = [told_launch("headway-keep", n, 2.0 + n, saved_s) for n in range(3)]
    without = [told_launch("headway-off", n, 3.0 + n) for n in reversed(range(3))]
    rows = analysis.rows_make([launch("plain", 0.019), *kept, *without])
    derived = row_of(rows, "headway-keep")["derived"]
    assert derived["told_s"] == pytest.approx(saved_s)
    assert derived["measured_s"] == pytest.approx(1.0)
    assert derived["within"] == is_within
    assert "told_s" not in row_of(rows, "headway-off")["derived"]


def test_predicted_share_is_of_what_the_profiled_run_had_to_win() -> None:
    watched = launch("headway-profile", 0.018) | {
        "prediction": {"predicted_s": 0.006, "no_progress_s": 0.008, "looks": 3}
    }
    rows = analysis.rows_make([launch("plain", 0.019), launch("headway", 0.010), watched])
    derived = row_of(rows, "headway-profile")["derived"]
    assert derived["predicted"] == pytest.approx(0.006 / (0.018 - 0.009))
    assert derived["recovered"] is None
    assert row_of(rows, "headway")["derived"].get("predicted") is None


def beside(mode: str, alone_s: float, over_alone_s: float, **more: dict) -> dict:
    one = launch(mode, alone_s + over_alone_s) | more
    for name, value in (("alone_s", alone_s), ("over_alone_s", over_alone_s)):
        one["result"]["points"][0]["by_rank"][0][name] = summary(value)
    return one


def test_launches_at_another_speed_are_compared_by_their_own_computation() -> None:
    prediction = {"prediction": {"predicted_s": 0.006, "looks": 3}}
    rows = analysis.rows_make(
        [
            beside("plain", 0.009, 0.010),
            beside("headway", 0.012, 0.001),  # a third slower
            beside("headway-profile", 0.006, 0.010, **prediction),  # faster: the wire is longer
        ]
    )
    assert row_of(rows, "headway")["derived"]["recovered"] == pytest.approx(0.9)
    profiled = row_of(rows, "headway-profile")["derived"]
    assert profiled["predicted"] == pytest.approx(0.006 / (0.010 - (0.008 - 0.006)))
    assert row_of(rows, "plain")["derived"]["recovered"] == pytest.approx(0)


def test_windows_of_a_launch() -> None:
    one = cases.exchange("each", 1 << 20, messages="4", completion="each")
    words = ["--directions", "2", "--iterations", "28", "--warmup", "12"]
    assert launches.windows_count(one, words) == 40
    assert launches.windows_count(cases.halo(1024, warmup="12"), ["--steps", "60", *words]) == 72
    assert launches.windows_count(cases.halo(1024), ["--steps", "60"]) == 0
    assert launches.windows_count(replace(one, sizes=(1, 2)), words) == 0


def test_recovered_share_follows_the_formula() -> None:
    rows = analysis.rows_make([launch("plain", 0.019), launch("headway", 0.010)])
    derived = row_of(rows, "headway")["derived"]
    assert derived["ideal_s"] == pytest.approx(0.009)  # the computation is longer than the wire
    assert derived["recovered"] == pytest.approx((0.019 - 0.010) / (0.019 - 0.009))
    assert derived["ratio"] == pytest.approx(0.010 / 0.019)
    assert derived["overlap_osu"] == pytest.approx(1 - (0.010 - 0.009) / 0.010)


def test_total_is_compared_with_parts_of_its_own_launch() -> None:
    slow = launch("headway", 0.016)
    slow["result"]["points"][0]["transfer"]["transfer_alone_s"]["median"] = 0.016
    rows = analysis.rows_make([launch("plain", 0.019), launch("headway", 0.010), slow])
    values = row_of(rows, "headway")["values"]["of_longer_part"]
    assert (values["min"], values["max"]) == (1.0, 1.0)
    mine = row_of(rows, "headway")
    assert list(zip(mine["samples"], mine["transfers"], strict=True)) == [
        (0.010, 0.010),
        (0.016, 0.016),
    ]
    assert row_of(rows, "plain")["values"]["of_longer_part"]["median"] == pytest.approx(1.9)


def ping(mode: str, latency_s: float) -> dict:
    points = [{"bytes": 8, "latency_s": summary(latency_s)}]
    result = {"program": "latency", "points": points}
    return launch(mode, None) | {"program": "latency", "case": "latency", "result": result}


def test_small_messages_are_compared_launch_by_launch() -> None:
    """A machine that is twice as slow for three launches of plain and two of ours says nothing."""
    done = [ping("plain", at) for at in (1e-5, 2e-5, 2e-5, 2e-5, 1e-5)]
    done += [ping("headway", 1.01 * at) for at in (1e-5, 2e-5, 1e-5, 2e-5, 1e-5)]
    row = row_of(analysis.rows_make(done), "headway")
    assert row["derived"]["ratio"] == pytest.approx(1.01 / 2)
    assert row["derived"]["ratio_paired"] == pytest.approx(1.01)
    done[-1]["result"] = None
    assert "ratio_paired" not in row_of(analysis.rows_make(done), "headway")["derived"]


def burn(mode: str, alone_s: float, idle_s: float) -> dict:
    names = {"before": alone_s, "transfer": 0.03, "idle": idle_s, "unmatched": alone_s}
    kinds = ("wall_s", "other_threads_cpu_s", "total_s")
    phases = [
        {"name": name, "by_rank": [{kind: summary(value) for kind in kinds}]}
        for name, value in names.items()
    ]
    result = {"program": "cpuburn", "bytes": 1 << 20, "phases": phases}
    return launch(mode, None) | {"program": "cpuburn", "case": "cpu", "result": result}


def test_work_alone_is_compared_with_that_of_plain() -> None:
    rows = analysis.rows_make([burn("plain", 0.010, 0.010), burn("headway-ghosts", 0.011, 0.0121)])
    row = row_of(rows, "headway-ghosts")
    assert row["derived"]["work_ratio"] == pytest.approx(1.1)
    assert row["values"]["idle_slowdown"]["median"] == pytest.approx(1.1)


def test_no_share_where_plain_leaves_nothing() -> None:
    rows = analysis.rows_make([launch("plain", 0.0095), launch("headway", 0.0095)])
    assert row_of(rows, "headway")["derived"]["recovered"] is None


def test_spread_is_over_launches() -> None:
    rows = analysis.rows_make([launch("plain", t) for t in (0.01, 0.02, 0.06)])
    total = row_of(rows, "plain")["values"]["total_s"]
    assert (total["min"], total["median"], total["max"]) == (0.01, 0.02, 0.06)


def test_failed_launches_stay_visible() -> None:
    rows = analysis.rows_make(
        [
            launch("plain", 0.019),
            launch("headway", None, failure="died"),
            launch("headway", 0.010, failure="ran out of its 9 s"),
        ]
    )
    mine = row_of(rows, "headway")
    assert (mine["launches"], mine["failed"], mine["hung"]) == (2, 1, 1)
    assert any("failed in 2 of 2" in line for line in analysis.losses(rows))


def test_losses_name_slow_cases_and_faster_peers() -> None:
    rows = analysis.rows_make(
        [launch("plain", 0.010), launch("headway", 0.011), launch("peer:async", 0.009)]
    )
    lines = analysis.losses(rows)
    assert any("1.100 x plain" in line for line in lines)
    assert any("peer:async is ahead" in line for line in lines)
    rows = analysis.rows_make([launch("plain", 0.010), launch("headway-moved", 0.012)])
    assert any("headway-moved 1.200 x plain" in line for line in analysis.losses(rows))


def test_different_answers_are_found() -> None:
    rows = analysis.rows_make([launch("plain", 0.01), launch("headway", 0.01, digest="other")])
    assert not row_of(rows, "headway")["is_same_answer"]


def test_every_suite_has_programs() -> None:
    for suite in suites.SUITES.values():
        for case in suite.cases:
            is_ours = case.program != nwchem.PROGRAM
            source = ROOT / "bench" / f"{case.program}.c"
            assert source.exists() == is_ours, (suite.name, case.program)
    assert all(suites.find(alias) for alias in suites.ALIASES)


def test_unknown_mode_is_named() -> None:
    command = [sys.executable, "-m", "headway", "bench", "latency", "--modes", "plain,odd"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "cli")}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "no mode called odd in latency; there are: plain, headway" in done.stderr


def test_object_is_found_among_other_output() -> None:
    assert launches.object_find('noise\n{"program": "latency", "points": []}\nmore') == {
        "program": "latency",
        "points": [],
    }
    assert launches.object_find('{"program": "cut') is None


def one_sided(mode: str, in_mpi_s: float, busy_s: float) -> dict:
    points = [
        {"bytes": 8, "work_units": units, "origin_s": summary(time_s)}
        for units, time_s in ((0, in_mpi_s), (300, busy_s / 2), (6000, busy_s))
    ]
    result = {"program": "rma_overlap", "points": points}
    return launch(mode, None) | {"program": "rma_overlap", "result": result, "sizes": [8]}


def test_one_sided_times_are_told_apart_by_what_the_target_does() -> None:
    rows = analysis.rows_make(
        [
            one_sided("plain", 0.001, 0.010),
            one_sided("headway", 0.001, 0.011),
            one_sided("headway-ghosts", 0.002, 0.003),
        ]
    )
    ghosts = row_of(rows, "headway-ghosts")
    assert ghosts["values"]["latency_busy_300_s"]["median"] == pytest.approx(0.0015)
    assert ghosts["derived"]["ratio"] == pytest.approx(2.0)
    assert ghosts["derived"]["ratio_busy"] == pytest.approx(0.3)
    assert ghosts["derived"]["busy_to_plain_in_mpi"] == pytest.approx(3.0)
    lines = analysis.losses(rows)
    assert any("headway-ghosts 2.000 x plain" in line for line in lines)
    assert any("headway 1.100 x plain while the target computes" in line for line in lines)
    assert len(lines) == 2


def test_predictions_of_one_sided_waits_are_shares_of_the_run_they_are_of() -> None:
    watched = one_sided("headway-profile", 0.002, 0.010)
    watched["prediction"] = {"predicted_ghosts_s": 0.0015, "predicted_thread_s": 0.0005}
    rows = analysis.rows_make([one_sided("plain", 0.001, 0.010), watched])
    derived = row_of(rows, "headway-profile")["derived"]
    assert derived["predicted_ghosts"] == pytest.approx(0.25)
    assert derived["predicted_thread"] == pytest.approx(0.75)


#: programs whose cases on one node are about other engines
WITHOUT_THREAD = ("pack", "pack_p2p", "mg", "rma_cost")


def test_the_engine_is_measured_within_a_node_too() -> None:
    """There HEADWAY_ENGINE=auto may have none: `headway` is what users get, or it is forced."""
    library = ROOT / "build" / "lib" / "libheadway-mpich.so"
    mpi = next(mpi for mpi in find_mpis(with_path=False) if mpi.flavour == "mpich")
    assert library.exists()
    seen = []
    for suite in suites.SUITES.values():
        if all(case.nodes > 1 or case.program in WITHOUT_THREAD for case in suite.cases):
            continue
        seen.append(suite.name)
        modes = {m.name: m.env for m in modes_make(mpi, suite, None, {"v": {}})}
        forced = {name for name, env in modes.items() if env.get("HEADWAY_ENGINE") == "thread"}
        assert modes["headway-off"]["HEADWAY_ENGINE"] == "off"
        wanted = {"headway", "headway:v"} if suite.is_forced else {"headway-thread"}
        if "helper" in suite.extra_modes:
            triggers = {"headway-events", "headway-helper", "headway-tick"}
            wanted |= triggers
            assert all(modes[name]["HEADWAY_STAND_DOWN"] == "never" for name in triggers)
        assert forced == wanted, suite.name
    assert seen == [
        "woken-helper",
        "rma-helper",
        "intranode",
        "intranode-overlap",
        "rma-shared",
        "percall",
        "near",
    ]


def test_variants_bring_their_ghosts() -> None:
    """A node then has that many processes more than the program sees."""
    mpi = next(mpi for mpi in find_mpis(with_path=False) if mpi.flavour == "mpich")
    variants = {"two": {"HEADWAY_GHOSTS": "2"}, "none": {"HEADWAY_LOG": "info"}}
    suite = suites.SUITES["rma-patterns"]
    found = {m.name: m.ghosts for m in modes_make(mpi, suite, None, variants)}
    assert (found["headway:two"], found["headway:none"]) == (2, 0)
    with pytest.raises(HeadwayError, match="HEADWAY_GHOSTS=many"):
        modes_make(mpi, suite, None, {"odd": {"HEADWAY_GHOSTS": "many"}})


def pattern(mode: str, total_s: float, users: int) -> dict:
    phases = {name: summary(total_s / 4) for name in ("compute_s", "comm_s", "sync_s")}
    points = [
        {
            "bytes": 8,
            "total_s": summary(total_s),
            "digest": f"of {users}",
            "compute": {"compute_alone_s": summary(0.004)},
            "by_rank": [{"rank": 0, **phases, "total_s": summary(total_s)}],
        }
    ]
    return launch(mode, None) | {
        "program": "rma_patterns",
        "case": f"COMP, {users} a node",
        "result": {"program": "rma_patterns", "points": points, "blas": "/libblas.so"},
        "sizes": [8],
        "ranks_per_node": users,
    }


def test_patterns_are_shown_by_user_processes(tmp_path: Path) -> None:
    done = [
        pattern(mode, total_s * users, users)
        for users in (1, 2)
        for mode, total_s in (
            ("plain", 0.010),
            ("headway", 0.008),
            ("headway-ghosts", 0.012),
            ("peer:async", 0.007),
        )
    ]
    rows = analysis.rows_make(done)
    ghosts = row_of(rows, "headway-ghosts")
    assert ghosts["values"]["comm_s"]["median"] == pytest.approx(0.003)
    lines = analysis.losses(rows)
    assert sum("headway-ghosts 1.200 x plain" in line for line in lines) == 2
    assert sum("peer:async is ahead" in line for line in lines) == 2, "of any size"
    document = {"suite": "rma-users", "title": "Users", "rows": rows}
    figures = [(where, suffix) for where, suffix, _, _ in plots.figures_all(document)]
    assert figures == [
        (("COMP, 1 a node", "1gbit", "small"), ""),
        (("COMP, 2 a node", "1gbit", "small"), ""),
        (("COMP", "1gbit", "small"), "-users"),
    ]
    assert all(path.stat().st_size > 0 for path in plots.draw(document, tmp_path))


def test_published_results_name_no_places() -> None:
    crashed = launch("peer:async", None) | {
        "failure": "exit status 255: /opt/some/bench/halo(+0x32d1)[0x557c138ea2d1]",
    }
    published = command.abridged({"launches": [{"seconds": 1.0, "repetition": 0} | crashed]})
    failures = [one["failure"] for one in published["launches_failed"]]
    assert failures == ["exit status 255: halo(+0x32d1)[0x557c138ea2d1]"]


def test_published_results_have_the_digits_of_measurements() -> None:
    rows = [{"samples": [0.008831819313398749, 12], "mode": "plain"}]
    published = command.abridged({"launches": [], "rows": rows})
    assert published["rows"][0] == {"samples": [0.00883182, 12], "mode": "plain", "reason": ""}


def test_published_rows_of_few_launches_have_no_quartiles() -> None:
    rows = [{"launches": launches, "values": {"total_s": summary(1.0)}} for launches in (3, 4)]
    few, enough = command.abridged({"launches": [], "rows": rows})["rows"]
    assert few["values"]["total_s"].keys() == {"median", "min", "max"}
    assert enough["values"]["total_s"].keys() == {"median", "min", "max", "q1", "q3"}


def known(mode: str, wall_s: float, prediction: dict | None = None) -> dict:
    """Half of the waits for a late sender, half for progress."""
    seconds = {"no_progress": 0.2, "bandwidth": 0.0, "late_sender": 0.2}
    result = {"program": "causes", "bytes": 1 << 20, "causes": seconds, "wall_s": wall_s}
    return launch(mode, None) | {"program": "causes", "result": result, "prediction": prediction}


def test_profiles_are_compared_with_what_programs_measured() -> None:
    found = {"found: late sender": 0.58, "found: no progress": 0.4, "found: bandwidth": 0.02}
    told = {"predicted_s": 0.15, "found_s": 0.4, "found_imbalance": 0.0, **found}
    done = [known("plain", 1.0), known("headway", 0.8), known("headway-profile", 1.0, told)]
    derived = row_of(analysis.rows_make(done), "headway-profile")["derived"]
    assert derived["off_by"] == pytest.approx(0.1)
    assert derived["predicted_of_run"] == pytest.approx(0.15)
    assert derived["saved_of_run"] == pytest.approx(0.2)
    assert derived["leading_true"] == pytest.approx(0.5)
    told |= {"found: late sender": 0.0, "found: late receiver": 0.58}
    done[0]["result"]["causes"]["late_sender"] = done[2]["result"]["causes"]["late_sender"] = 0.3
    derived = row_of(analysis.rows_make(done), "headway-profile")["derived"]
    assert derived["leads"] == 0 and derived["leading_found"] == 0
    assert derived["off_by"] == pytest.approx(0.6)


def test_setting_of_the_transport_has_controls() -> None:
    """Wherever `headway run` has the setting, plain and peers have been measured with it."""
    mpis = {mpi.vendor: mpi for mpi in find_mpis(with_path=False)}
    for suite in suites.SUITES.values():
        for vendor, mpi in mpis.items():
            modes = {m.name: m for m in modes_make(mpi, suite, None, {})}
            told = {name for name in modes if name.endswith("-transport")}
            if not has_setting(mpi, suite):
                assert not told, (suite.name, vendor)
                continue
            assert "plain-transport" in told
            assert any(name.startswith("peer:") for name in told) == suite.has_peers
            assert all(modes[name].transport == "duplex" for name in told)
    assert any(has_setting(mpi, suites.SUITES["overlap"]) for mpi in mpis.values())
    assert not any(has_setting(mpi, suites.SUITES["overlap-fast"]) for mpi in mpis.values())
