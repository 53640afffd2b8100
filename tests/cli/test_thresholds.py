# SPDX-License-Identifier: BSD-3-Clause
"""`headway tune --thresholds`: where ghosts and owners take equally long, and who is told of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import matrix
import pytest
from headway import thresholds
from headway.errors import HeadwayError
from headway.mpi.mpis import Mpi, find_mpis
from headway.thresholds import ABOVE, BELOW, FOUND, Row
from headway.tune import patterns
from headway.tune.crossing import Tried, crossing, is_over
from test_run import one_line

Headway = Callable[..., subprocess.CompletedProcess[str]]
ROW = Row("MPICH 5.0.2", 2, 1, "put", 8, False, False, 0.6, FOUND)
ROWS = [
    ROW,
    replace(ROW, operation="get", share=0.7),
    replace(ROW, operation="accumulate", share=0.05, bound=BELOW),
    replace(ROW, users=4, share=0.4),
    replace(ROW, users=4, share=0.8, is_blocking=True),
    replace(ROW, ghosts=2, share=0.9),
    replace(ROW, mpi="Intel MPI 2021.18", share=0.2),
]


def tried(*figures: tuple[float, float]) -> list[Tried]:
    """What ghosts take, of what owners do, and the share in MPI."""
    return [Tried(ratio * 2e-3, 2e-3, share, share) for ratio, share in figures]


def test_crossing_is_where_both_take_equally_long() -> None:
    assert crossing(tried((0.6, 0.2), (0.8, 0.3), (1.2, 0.5))) == (pytest.approx(0.4), FOUND)
    near = tried((0.5, 0.1), (0.96, 0.3), (1.02, 0.4), (1.3, 0.6))
    assert crossing(near) == (pytest.approx(0.35), FOUND)
    assert crossing(tried((0.5, 0.1), (0.7, 0.9))) == (0.9, ABOVE)
    assert crossing(tried((1.5, 0.1))) == (0.1, BELOW)
    assert is_over(near) and not is_over(near[:3]) and not is_over([])


def test_thresholds_are_boundaries_of_what_was_found() -> None:
    assert thresholds.pair(ROWS, "MPICH 5.0.2", 2, 1) == (0.6, 0.7)
    assert thresholds.pair(ROWS, "MPICH 5.0.2", 8, 1) == (0.4, 0.8)
    assert thresholds.pair(ROWS, "MPICH 5.0.2", None, 1) == pytest.approx((0.5, 0.75))
    assert thresholds.pair(ROWS, "MPICH 5.0.2", 2, 2) == (0.9, 0.9)
    assert thresholds.pair(ROWS, "MPICH 5.0.2", 2, 3) is None
    assert thresholds.pair(ROWS, "Open MPI 5.0.11", 2, 1) is None
    assert thresholds.pair(ROWS[2:3], "MPICH 5.0.2", 2, 1) is None


def test_table_survives_a_file(tmp_path: Path) -> None:
    file = tmp_path / "new" / "thresholds.toml"
    thresholds.write(file, ROWS)
    assert thresholds.read(file) == ROWS
    again = [replace(ROW, share=0.1)]
    assert thresholds.merged(ROWS, again) == [*ROWS[3:], *again]
    with pytest.raises(HeadwayError):
        thresholds.write(file / "x", ROWS)
    good = file.read_text()
    for old, new, part in (
        ("format = 1", "format = 2", "of this version"),
        ("bytes = 8\n", "", "a pattern needs"),
        ("bytes = 8\n", 'bytes = "8"\n', "another kind"),
        ("share = 0.6000", "share = 1.5", "from 0 to 1"),
        ("[[pattern]]", "[[pattern]", "TOML"),
    ):
        file.write_text(good.replace(old, new, 1))
        with pytest.raises(HeadwayError, match=part):
            thresholds.read(file)


def test_a_pattern_has_a_window_for_each_route() -> None:
    every = patterns.patterns([])
    assert len(every) == 13  # twice as many windows as letters are too many
    words = patterns.program_arguments(every[:2], (2, 4), is_blocking=True)
    assert (
        words[1]
        == "a:comp:put:put:8,b:comm:put:put:8,c:comp:put:put:64:strided,d:comm:put:put:64:strided"
    )
    assert words[3].startswith("64,2,4,")
    assert "--flush-each" in words and {"--guided", "on", "off"} <= set(words)
    quick, slow = tried((0.5, 0.9)), [Tried(0.05, 0.06, 0.9, 0.9)]
    assert patterns.is_bearable(every[0], (2, 64), quick)
    assert not patterns.is_bearable(every[0], (2, 64), slow)
    assert patterns.is_bearable(every[0], (2, 1), slow), "there is less computation, not more to do"
    assert not patterns.is_bearable(every[2], (2, 64), []), "64 KiB each"
    with pytest.raises(HeadwayError, match="rput"):
        patterns.patterns(["rput"])


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_run_takes_the_thresholds_of_the_machine(
    headway: Headway, hello: Path, mpi: Mpi, tmp_path: Path
) -> None:
    thresholds.write(tmp_path / "headway" / "thresholds.toml", [replace(ROW, mpi=mpi.title)])
    words = ("run", "--dry-run", "--ghosts", 1, "-n", 2, hello)
    env = {"XDG_CONFIG_HOME": str(tmp_path), "HEADWAY_ADAPT": "global"}
    done = headway(*words, **env)
    assert "HEADWAY_LOW_CR=0.600" in done.stdout and "HEADWAY_HIGH_CR=0.600" in done.stdout
    assert "HEADWAY_LOW_CR=0.600 HEADWAY_HIGH_CR=0.600: measured" in " ".join(done.stderr.split())
    told = headway(*words, **env, HEADWAY_LOW_CR="0.3")
    assert "HEADWAY_LOW_CR=0.3" in told.stdout and "HIGH_CR" not in told.stdout
    for other in ({"HEADWAY_ADAPT": "guided"}, {"XDG_CONFIG_HOME": str(tmp_path / "none")}):
        assert "LOW_CR" not in headway(*words, **{**env, **other}).stdout
    assert "LOW_CR" not in headway("run", "--dry-run", "-n", 2, hello, **env).stdout
    assert "HEADWAY_LOW_CR=0.600" in headway(*words, **{**env, "HEADWAY_ADAPT": "Global"}).stdout
    told = one_line(headway("run", "--ghosts", "two", "-n", 2, hello, **env))
    assert "HEADWAY_GHOSTS=two: not a value of this option; accepted" in told


def test_refusals(headway: Headway) -> None:
    tune = ("tune", "--thresholds")
    for words, part in (
        (("--only", "rput"), "fetch_and_op"),
        (("--users", "0"), "--users 1,2"),
        (("--ghosts", "two"), "HEADWAY_GHOSTS=two: not a value of this option; accepted"),
        (("./app",), "is no launcher"),
    ):
        assert part in one_line(headway(*tune, *words))
    assert "no MPI called" in one_line(headway("tune", "--thresholds", "--mpi", "none"))
    assert "HEADWAY_LOG" in one_line(headway(*tune, HEADWAY_LOG="warn"))


@matrix.quick(lambda mpi: False)
@matrix.only(lambda mpi: mpi.name == "mpich5", "its windows are served within a node and without")
def test_both_routes_are_measured(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    done = headway(
        *("tune", "--thresholds", "--mpi", mpi.name, "--users", 1, "--only", "fetch_and_op"),
        XDG_CONFIG_HOME=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    rows = thresholds.read(tmp_path / "headway" / "thresholds.toml")
    assert [(row.operation, row.bytes, row.is_blocking) for row in rows] == [
        ("fetch_and_op", 8, False),
        ("fetch_and_op", 8, True),
    ]
    assert {(row.mpi, row.users, row.ghosts) for row in rows} == {(mpi.title, 1, 1)}


BY_WORDS = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored around the tests
from types import SimpleNamespace
from headway.tune import patterns
patterns.ByWords(sys.argv[1:], SimpleNamespace(flavour="mpich", env={}))(["/bin/true"], {})
"""


def test_launcher_is_not_left_behind(tmp_path: Path) -> None:
    """It has a session of its own, so that Ctrl-C does not reach it."""
    launcher = tmp_path / "srun"
    launcher.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid.new\nmv pid.new pid\nexec sleep 60\n")
    launcher.chmod(0o755)
    environment = {**os.environ, "PYTHONPATH": str(Path(patterns.__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-c", BY_WORDS, str(launcher)],
        env=environment,
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + 20
        while not (tmp_path / "pid").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        process.wait(20)
    started = (tmp_path / "pid").read_text().strip()
    assert not Path("/proc", started).exists()


def test_launcher_that_is_not_there(tmp_path: Path) -> None:
    start = patterns.ByWords([str(tmp_path / "srun")], find_mpis()[0])
    with pytest.raises(HeadwayError, match="cannot start .*: No such file"):
        start(["/bin/true"], {})
