# SPDX-License-Identifier: BSD-3-Clause
"""`headway tune`: recommends what was measured better, and nothing else."""

from __future__ import annotations

import random
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
from conftest import build
from headway.errors import HeadwayError
from headway.mpi.mpis import Mpi
from headway.options_table import OPTIONS
from headway.record.table import Record
from headway.run import settings_file
from headway.tune import command
from headway.tune.search import (
    LEAST_PAIRS,
    Race,
    Settings,
    Timed,
    candidates,
    run_race,
    search,
    wins_needed,
)
from headway.tune.serving import are_ghosts_worth_trying
from test_run import one_line

Headway = Callable[..., subprocess.CompletedProcess[str]]


def machine(source: random.Random, gains: dict[str, float], noise: float) -> Callable:
    """A program of 1 s, in which each setting saves its part of the time."""

    def measure(wanted: Settings) -> Timed:
        seconds = 1.0
        for name, value in {} if wanted is None else {"HEADWAY": "", **wanted}.items():
            seconds *= 1 - gains.get(f"{name}={value}", 0.0)
        return Timed(seconds * source.lognormvariate(0, noise), tracked=1)

    return measure


def test_library_that_is_preloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program without Headway would have it, too."""
    monkeypatch.setenv("LD_PRELOAD", "libtool.so:/x/libheadway-mpich.so")
    with pytest.raises(HeadwayError, match="would be in every run"):
        command.check_environment()


def quiet(race: Race) -> None:
    pass


def test_sign_test_needs_what_a_coin_does_not_do() -> None:
    assert [wins_needed(n) for n in (5, 6, 7, 8, 10, 12)] == [5, 6, 7, 7, 9, 10]


def test_nothing_is_recommended_where_nothing_is_gained() -> None:
    """300 searches over all settings, none of which does anything: by luck, hardly one in 20."""
    source = random.Random(1)
    found = [search(machine(source, {}, 0.05), 8, quiet) for _ in range(300)]
    assert sum(one is not None for one in found) <= 15


def test_what_gains_is_found() -> None:
    gains = {"HEADWAY=": 0.1, "HEADWAY_TICK_US=200us": 0.1, "HEADWAY_GAP_US=1ms": -0.2}
    source = random.Random(2)
    found = [search(machine(source, gains, 0.02), 8, quiet) for _ in range(50)]
    right = [one for one in found if one and one.candidate.get("HEADWAY_TICK_US") == "200us"]
    assert len(right) >= 45
    assert not any(one and one.candidate.get("HEADWAY_GAP_US") == "1ms" for one in found)


def test_a_small_gain_is_not_worth_it() -> None:
    measure = machine(random.Random(3), {"HEADWAY=": 0.004}, 0.0)
    assert search(measure, 8, quiet) is None


def test_runs_stop_when_the_answer_is_known_and_alternate() -> None:
    order: list[Settings] = []

    def measure(wanted: Settings) -> Timed:
        order.append(wanted)
        return Timed(1.0 if wanted is None else 2.0)

    assert not run_race(Race(None, {}, 8), measure).is_won
    assert order == [None, {}, {}, None]
    order.clear()
    race = run_race(Race({}, None, 8), measure)
    assert race.is_won and race.pairs == 7 and race.gain == 0.5


def test_a_thread_without_work_has_no_settings_to_try() -> None:
    tried: list[Settings] = []

    def measure(wanted: Settings) -> Timed:
        tried.append(wanted)
        return Timed(1.0, tracked=0)

    assert search(measure, 8, quiet) is None
    assert {name for one in tried for name in one or {}} == {"HEADWAY_EAGER_LIMIT"}


def test_where_the_engine_is_off_as_it_comes_it_is_forced() -> None:
    tried: list[Settings] = []

    def measure(wanted: Settings) -> Timed:
        tried.append(wanted)
        is_on = wanted is not None and wanted.get("HEADWAY_ENGINE") == "thread"
        return Timed(0.5 if is_on else 1.0, tracked=int(is_on), is_off=not is_on)

    found = search(measure, 8, quiet)
    assert found and found.candidate == {"HEADWAY_ENGINE": "thread"}
    settings = [one for one in tried if one]
    every = {o.name for o in OPTIONS if o.tune} - {"HEADWAY_GHOSTS"}
    assert {name for one in settings for name in one} == every
    assert all(one["HEADWAY_ENGINE"] == "thread" for one in settings)


def test_an_engine_is_not_forced_where_it_is_on() -> None:
    tried: list[Settings] = []

    def measure(wanted: Settings) -> Timed:
        tried.append(wanted)
        return Timed(1.0, tracked=1)

    search(measure, 8, quiet)
    assert {} in tried and not any("HEADWAY_ENGINE" in one for one in tried if one)


def test_ghosts_are_tried_where_they_serve() -> None:
    """Beside the best so far, whatever the thread finds to do, and without forcing it."""
    tried: list[Settings] = []

    def measure(wanted: Settings) -> Timed:
        tried.append(wanted)
        is_served = wanted is not None and "HEADWAY_GHOSTS" in wanted
        return Timed(0.5 if is_served else 1.0, tracked=0, is_off=True)

    assert search(measure, 8, quiet) is None
    assert not any("HEADWAY_GHOSTS" in one for one in tried if one)
    found = search(measure, 8, quiet, has_ghosts=True)
    assert found and found.candidate == {"HEADWAY_GHOSTS": "1"}
    assert found.base is None and found.is_won


def test_ghosts_that_cost_are_not_recommended() -> None:
    for gain in (-0.3, 0.0):
        measure = machine(random.Random(4), {"HEADWAY=": 0.1, "HEADWAY_GHOSTS=1": gain}, 0.01)
        found = search(measure, 8, quiet, has_ghosts=True)
        assert found and "HEADWAY_GHOSTS" not in found.candidate


def site(function: str, calls: int = 2) -> dict:
    return {"function": function, "calls": calls}


@pytest.mark.parametrize(
    ("sites", "served", "said"),
    [
        ([site("Isend")], None, ""),
        ([site("Put"), site("Win_fence")], {"operations_redirected": 3}, "it is tried as well"),
        ([site("Rget_accumulate_c")], {"locks_redirected": 1}, "it is tried as well"),
        (
            [site("Put")],
            {"declined": {"heap": 2}},
            "ghosts are not tried, they would not serve: heap",
        ),
        ([site("Get")], {"declined": {}}, "given none of its operations"),
        ([site("Get")], HeadwayError("run 3 ended with status 1"), "run 3 ended with status 1"),
        ([None, 7], None, ""),
    ],
)
def test_where_ghosts_would_serve(
    sites: list, served: dict | HeadwayError | None, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One run is watched; a second, with a ghost, is made for one-sided operations alone."""
    runs: list[dict[str, str]] = []

    def watch(wanted: dict[str, str]) -> list[Record]:
        runs.append(wanted)
        if "HEADWAY_PROFILE" in wanted:
            return [Record.of({"profile": {"sites": sites}}), Record()]
        if isinstance(served, HeadwayError):
            raise served
        return [Record.of(served or {})]

    assert are_ghosts_worth_trying(watch) == ("tried as well" in said)
    assert said in capsys.readouterr().err and len(runs) == (1 if served is None else 2)


def test_time_is_up() -> None:
    asked = iter([True, False])
    seen: list[Race] = []
    search(lambda _: Timed(1.0), 8, seen.append, lambda: next(asked))
    assert len(seen) == 1


def test_candidates_come_from_the_option_table() -> None:
    known = {option.name: option for option in OPTIONS}
    every = list(candidates())
    assert every[0] == {} and len(every) > 5
    for one in every[1:]:
        ((name, value),) = one.items()
        assert value in known[name].tune and value != known[name].default
    assert list(candidates(["HEADWAY_GAP_US"]))[1:] == [
        {"HEADWAY_GAP_US": value} for value in known["HEADWAY_GAP_US"].tune
    ]


@pytest.fixture
@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def tuned(mpi: Mpi) -> Path:
    return build(mpi, "tuned.c")


@pytest.mark.usefixtures("few_cores")  # so the engine is off as it comes
def test_writes_what_won_and_run_uses_it(headway: Headway, tuned: Path, tmp_path: Path) -> None:
    words = ("--only", "tick_us", "--pairs", LEAST_PAIRS, "--measure", r"in (\S+) s")
    done = headway("tune", *words, "-n", 2, tuned, "FASTER")
    assert done.returncode == 0, done.stderr
    written = tomllib.loads((tmp_path / "headway.toml").read_text())
    assert written["settings"] == {"HEADWAY_ENGINE": "thread", "HEADWAY_TICK_US": "200us"}
    told = "ENGINE=thread TICK_US=2ms against ENGINE=thread TICK_US=200us: not better"
    assert told in done.stderr
    measured = written["measured"]
    assert measured["wins"] == measured["pairs"] == LEAST_PAIRS
    assert len(measured["without_headway_s"]) == len(measured["with_settings_s"]) == LEAST_PAIRS
    assert measured["command"] == [str(tuned), "FASTER"]
    plain = headway("run", "-n", 2, tuned, "FASTER")
    with_file = headway("run", "--settings", "headway.toml", "-n", 2, tuned, "FASTER")
    assert "2.5e0 s" in plain.stdout and "1.25 s" in with_file.stdout
    script = headway("run", "--settings", "headway.toml", "--dry-run", "--", tuned)
    assert "export HEADWAY_TICK_US=200us" in script.stdout


@matrix.quick(matrix.on("mpich4", "mpich5"))
def test_a_ghost_that_won_is_started_by_run(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    """MPICH 4's windows within a node are served; those of the others are not, and are not tried.
    Its time is what the program says, so that the machine has no part in it."""
    program = build(mpi, "tuned.c")
    words = ("--only", "ghosts", "--pairs", LEAST_PAIRS, "--measure", r"in (\S+) s", "-n", 2)
    done = headway("tune", *words, program, "SERVED")
    assert done.returncode == 0, done.stderr
    if mpi.name != "mpich4":
        assert "ghosts are not tried, they would not serve: " in done.stderr, done.stderr
        assert not (tmp_path / "headway.toml").exists()
        return
    assert "GHOSTS=1 against without Headway: better" in done.stderr
    written = tomllib.loads((tmp_path / "headway.toml").read_text())
    assert written["settings"] == {"HEADWAY_GHOSTS": "1"}
    used = headway("run", "--settings", "headway.toml", "-n", 2, program, "SERVED")
    assert used.returncode == 0 and used.stdout == "solved in 1.25 s\n", used.stderr
    assert "Ghosts served" in used.stderr
    assert "start as many more" not in used.stderr
    own = ("--", mpi.mpiexec, "-n", 3, program, "SERVED")
    used = headway("run", "--settings", "headway.toml", *own)
    assert used.returncode == 0 and "HEADWAY_GHOSTS=1: so many of the processes" in used.stderr
    (tmp_path / "headway.toml").unlink()
    done = headway("tune", *words, program, "UNSERVED")
    assert "a ghost serves one-sided operations" in done.stderr
    assert "nothing was measured better" in done.stderr
    assert not (tmp_path / "headway.toml").exists()


def test_recommends_nothing_where_the_library_costs(
    headway: Headway, tuned: Path, tmp_path: Path
) -> None:
    done = headway("tune", "--only", "GAP_US", "-n", 2, tuned, "SLOWER")
    assert done.returncode == 0, done.stderr
    assert "nothing was measured better" in done.stderr
    assert "Headway as it comes against without Headway: not better" in done.stderr
    assert not (tmp_path / "headway.toml").exists()


def test_refusals(headway: Headway, mpi: Mpi, tuned: Path, tmp_path: Path) -> None:
    assert "status 3" in headway("tune", "-n", 2, tuned, "FAIL").stderr
    for words, part in (
        (("--pairs", 2, "-n", 2, tuned), "--pairs 5"),
        (("--only", "LOG", "-n", 2, tuned), "HEADWAY_LOG"),
        (("--output", "no/such/file", "-n", 2, tuned), "no/such/file"),
        (("--measure", "(", "-n", 2, tuned), "--measure"),
        (("--only", "ghosts", "--", "mpiexec", "-n", 2, tuned), "no launcher"),
        (("--only", "ghosts", "--ghosts", 1, "-n", 2, tuned), "no --ghosts"),
        (("-n", 2, "no-such-program"), "no-such-program"),
    ):
        assert part in one_line(headway("tune", *words))
    assert "HEADWAY_LOG" in one_line(headway("tune", "-n", 2, tuned, HEADWAY_LOG="warn"))
    (tmp_path / "odd.toml").write_text("")
    assert "format" in one_line(headway("run", "--settings", "odd.toml", "-n", 2, tuned))
    for text, part in (
        ("format = 1\n[settings]\nHEADWAY_TICK_US = 7", "no string"),
        ('format = 1\n[settings]\nHEADWAY_TICK_US = "7"', "accepted"),
        ('format = 1\n[settings]\nHEADWAY_TICKS = "7"', "did you mean"),
        ('format = 1\n[settings]\nPATH = "7"', "no option"),
        ("]", "TOML"),
    ):
        (tmp_path / "odd.toml").write_text(text)
        with pytest.raises(HeadwayError) as refused:
            settings_file.read(tmp_path / "odd.toml")
        assert part in str(refused.value) and "\n" not in str(refused.value)
    assert "missing.toml" in one_line(headway("run", "--settings", "missing.toml", "-n", 2, tuned))
    (tmp_path / "script").write_text("exit 0\n")
    (tmp_path / "script").chmod(0o755)
    done = headway("tune", "--abi", mpi.flavour, "--", "./script")
    assert "cannot start ./script: Exec format error" in done.stderr.splitlines()[-1], done.stderr


def test_settings_survive_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    odd = {"command": ['a "b" \\ \x7f é', "\t"], "numbers": [0.5, 1.0], "count": 3}
    settings_file.write(path, {"HEADWAY_TICK_US": "1ms"}, odd)
    assert settings_file.read(path) == {"HEADWAY_TICK_US": "1ms"}
    assert tomllib.loads(path.read_text())["measured"] == odd
    with pytest.raises(HeadwayError):
        settings_file.write(tmp_path / "no" / "x", {}, {})
