# SPDX-License-Identifier: BSD-3-Clause
"""Routes that `headway profile` foresees from one plain run, and that it says nothing unknown."""

from __future__ import annotations

from pathlib import Path

from headway.report import foreseen, page, runs, text
from headway.report.one_sided import OneSided
from rich.console import Console
from test_one_sided import MS, ROUND, Made, pair, run_of, two_nodes
from test_report import record, save


def told(*ranks: Made) -> list[str]:
    return foreseen.lines(OneSided(run_of(*ranks)))


def mixed(**more: object) -> tuple[Made, Made]:
    """Rank 1 computes for 15 ms of each round of 20 in the first half, and is in MPI but for 0.4 ms
    of each in the second."""
    waits, computes = Made(0, host="one").waits_for(1, 1, 16), Made(1, host="one", **more)
    computes.computes(0, 15)
    for row in computes.sample["outside"][computes.rounds // 2 :]:
        row[0] += 10 * MS
        row[1] = 2 * MS // 5
    return waits, computes


def test_a_target_that_computes_is_its_ghosts() -> None:
    first, second = pair()
    second.computes(0, 4)
    (line,) = told(first, second)
    assert line.startswith("Targets of one-sided operations (rank 1) were 3")
    assert "ghosts would serve nearly all operations" in line
    (row,) = foreseen.rows(OneSided(run_of(first, second)))
    assert set(row.drawn) == {"."} and row.computed_s > 0.5


def test_a_target_in_mpi_answers_by_itself() -> None:
    first = Made(0, host="one").waits_for(1, 5, 15)
    (line,) = told(first, Made(1, host="one").computes(2, 2.5))
    assert "they answer by themselves, and ghosts would shorten no wait" in line


def test_a_thread_that_is_as_good_is_named() -> None:
    """Between nodes sockets wake it."""
    (line,) = told(*two_nodes())
    assert "the progress thread serves them as well as ghosts" in line


def test_changes_within_a_run_are_drawn() -> None:
    run = run_of(*mixed())
    (row,) = foreseen.rows(OneSided(run))
    assert row.drawn[:14] == "." * 14 and row.drawn[-14:] == "#" * 14
    (line,) = foreseen.lines(OneSided(run))
    assert "HEADWAY_ADAPT=auto, which changes between the two" in line
    console = Console(record=True, width=160)
    text.show(run, console, 10)
    shown = console.export_text()
    told_in = " ".join(shown.split())
    assert row.drawn in shown and foreseen.TITLE in told_in and line in told_in
    assert row.drawn in page.write([run]).replace("\N{NO-BREAK SPACE}", " ")


def test_phases_of_the_program_get_a_word_each() -> None:
    whole = 100 * ROUND
    phases = [
        {"name": name, "count": 1, "wall_ns": whole // 2, "mpi_ns": whole // 2 * share // 100}
        for name, share in (("solve", 20), ("exchange", 95))
    ]
    line, said = told(*mixed(phases=phases))
    assert "changes between the two" in line
    assert said.endswith("async_config: solve on (20 % in MPI), exchange off (95 % in MPI).")


def test_nothing_is_said_where_nothing_is_known() -> None:
    first, second = pair()
    assert told(Made(0, host="one"), second) == []  # nobody waited
    assert told(first) == []  # the target left no record
    for one in (first, second):
        one.told["node_direct"] = True
    assert told(first, second) == []  # ghosts would serve no window
    served, ghost = pair(ghost=0)
    assert told(served, ghost) == []  # it had them
    unknown = Made(0, host="one").waits_for(1, 5, 6).waits_for(None, 7, 19, "Win_unlock")
    assert told(unknown, pair()[1]) == []  # for whom most waits were is not known
    empty = Made(1, host="one")
    assert told(pair()[0], empty) == []  # no sample of the target


def sending(tmp_path: Path, *hosts: str, **more: object) -> list[str]:
    made = [record(rank, host=host, **more) for rank, host in enumerate(hosts)]
    return text.conclusion(runs.load(save(tmp_path / "-".join(hosts), *made)))


def test_messages_that_ghosts_could_move_are_named(tmp_path: Path) -> None:
    said = "Ghosts can move 100 % of these bytes too"
    first, second, *_ = sending(tmp_path, "one", "other")
    assert first.startswith("`headway run` should save") and second.startswith(said)
    assert "they would share the ranks' cores" in second
    within = sending(tmp_path, "same", "same")
    assert within[0] == first and not any(said in line for line in within)
    small = record(0, host="one"), record(1, host="other")
    for one in small:
        one["profile"]["sites"][0]["size_class"] = 13
    few = text.conclusion(runs.load(save(tmp_path / "small", *small)))
    assert few[0] == first and not any("Ghosts" in line for line in few)
