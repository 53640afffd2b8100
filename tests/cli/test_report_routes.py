# SPDX-License-Identifier: BSD-3-Clause
"""`headway report` tells which route one-sided operations took, and draws how it changed."""

from __future__ import annotations

from pathlib import Path

from headway.report import page, routes, runs, text
from rich.console import Console
from test_report import record, save


def change(at_s: float, route: str, **more: object) -> dict:
    base = {"at_s": at_s, "window": 7, "operations": "Put and Get", "size_class": 3}
    base |= {"cause": "measured", "ghost_ns": 60000, "owner_ns": 20000, "share_percent": 90}
    return {**base, "route": route, **more}


def kept(tmp_path: Path, *changes: list[dict], **counters: int) -> runs.Run:
    found = [
        record(rank, engine="thread", ghost=0, routes=own, **counters)
        for rank, own in enumerate(changes)
    ]
    return runs.load(save(tmp_path / "kept", *found))


def test_changes_are_drawn_over_the_run(tmp_path: Path) -> None:
    """A run of 2 s: by ghosts, half of the processes by owners, all of them, ghosts again."""
    first = [change(0.5, "owner"), change(1.5, "ghost")]
    second = [change(1.0, "owner"), change(1.5, "ghost", owner_ns=70000)]
    run = kept(
        tmp_path,
        first,
        second,
        operations_redirected=250,
        operations_to_owners=750,
        put_routes_changed=2,
    )
    (row,) = routes.rows(run)
    assert row.drawn(run) == "." * 8 + "+" * 8 + "#" * 8 + "." * 8
    assert row.count == 4 and row.last.route == "ghost"
    (told, hint) = routes.lines(run)
    assert told.startswith("Routes: 75 % of 2000 operations") and "Put and Get 4 times" in told
    assert hint.startswith("Accumulates change their route only where all processes")
    console = Console(record=True, width=160)
    text.show(run, console, 10)
    shown = console.export_text()
    assert row.drawn(run) in shown and told in " ".join(shown.split())
    drawn = page.write([run]).replace("\N{NO-BREAK SPACE}", " ")
    assert row.drawn(run) in drawn and "75 % of 2000 operations" in drawn


def test_a_process_without_a_change_keeps_what_the_window_began_with(tmp_path: Path) -> None:
    by_owners = kept(tmp_path, [change(1.0, "ghost")], [])
    (row,) = routes.rows(by_owners)
    assert row.drawn(by_owners) == "#" * 16 + "+" * 16


def test_ghosts_that_serve_nothing_are_named(tmp_path: Path) -> None:
    run = kept(tmp_path, [], [], operations_to_owners=5000, operations_redirected=3)
    assert any("without --ghosts" in line for line in routes.lines(run))
    assert routes.rows(run) == []


def test_runs_without_owners_say_nothing(tmp_path: Path) -> None:
    run = kept(tmp_path, [], [], operations_redirected=5000)
    assert routes.lines(run) == [] and routes.rows(run) == []


def test_accumulates_are_counted_once(tmp_path: Path) -> None:
    """All processes have the same; a look is told as one."""
    own = change(1.0, "owner", operations="accumulates", cause="control", owner_ns=0)
    run = kept(tmp_path, [own], [own], operations_to_owners=2000, routes_changed=1)
    (row,) = routes.rows(run)
    assert row.count == 1
    assert routes.change_text(row.last) == "at 1.00 s to the owner, a look at what it takes"


def test_restless_routes_are_named(tmp_path: Path) -> None:
    many = [change(0.01 * at, ("owner", "ghost")[at % 2]) for at in range(100)]
    run = kept(
        tmp_path, many, many, operations_to_owners=900, operations_redirected=900, routes_changed=1
    )
    assert any("more than ten times a second" in line for line in routes.lines(run))
