# SPDX-License-Identifier: BSD-3-Clause
"""Files for other programs: every column and event is explained, and strict readers take them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
from conftest import HERE, ROOT, build
from headway.mpi.mpis import Mpi
from headway.report import export, paraver, runs
from traces import Json, Trace, TraceEvents

Headway = Callable[..., subprocess.CompletedProcess[str]]
GUIDE = ROOT / "doc" / "guide" / "exports.md"
#: columns that are no figures, or counts
WORDS = {"run", "called_from", "file", "mpi_function", "communicator", "ranks", "window"}
WORDS |= {"callers"}
COUNTS = {"rank", "line", "size", "calls", "completed", "sampled_doors", "watched_doors"}
COUNTS |= {"waits", "looks", "served_alone", "bytes"}


def explained(heading: str) -> list[str]:
    """Names in the first column of the table below a heading."""
    (text,) = re.findall(rf"^## `{heading}`.*?\n(.*?)(?=^## |\Z)", GUIDE.read_text(), re.M | re.S)
    rows = re.findall(r"^\| (`.*?) \|", text, re.M)
    return [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]


@pytest.mark.parametrize(
    ("option", "columns"),
    [
        ("--csv", export.SITE_COLUMNS),
        ("--communicators", export.COMMUNICATOR_COLUMNS),
        ("--one-sided", export.ONE_SIDED_COLUMNS),
    ],
)
def test_columns_are_explained_and_have_units(option: str, columns: tuple[str, ...]) -> None:
    named = explained(option)
    assert sorted(named) == sorted(columns)
    assert not [
        name
        for name in columns
        if name not in WORDS | COUNTS | {"known_from"}
        and not name.endswith(("_ns", "_s", "_bytes"))
    ]


def record(folder: Path, rank: int, events: list[list[float]], **more: object) -> None:
    places = {"module": "/nowhere/app", "symbol": "main"}
    sites = [
        {**places, "id": 1, "offset": 16, "function": "Isend", "size_class": 21, "calls": 1},
        {**places, "id": 2, "offset": 32, "function": "Recv", "size_class": 21, "calls": 1},
    ]
    profile = {"began_monotonic_s": 5.0, "sites": sites, "events": events, **more}
    told = {"schema": 4, "rank": rank, "size": 2, "engine": "off", "wall_s": 1.0, "mpi_s": 0.1}
    (folder / f"headway.{rank}.json").write_text(json.dumps({**told, "profile": profile}))


def written(folder: Path) -> TraceEvents:
    with (folder / "trace.json").open("w") as file:
        export.write_trace([runs.load(folder)], file)
    return TraceEvents(folder / "trace.json")


def test_events_have_their_site_and_partners(tmp_path: Path) -> None:
    events = [[0.1234567, 2.0, 1, 64], [3.0, 5.5, 2, 64], [9.0, 1.0, 7, 0]]
    record(tmp_path, 0, events, partners=[[0, 0, 1], [1, 1, 1]])
    record(tmp_path, 1, events[:1])
    trace = written(tmp_path)
    told = [(call["tid"], call["name"], call["args"]) for call in trace.calls]
    assert told == [
        (0, "MPI_Isend", {"called_from": "main (app+0x10)", "bytes": 64, "to": 1}),
        (0, "MPI_Recv", {"called_from": "main (app+0x20)", "bytes": 64, "from": 1}),
        (0, "MPI_?", {"called_from": "others", "bytes": 0}),
        (1, "MPI_Isend", {"called_from": "main (app+0x10)", "bytes": 64}),
    ]
    paraver.write(runs.load(tmp_path), tmp_path / "trace.prv")
    states = Trace(tmp_path / "trace.prv")
    told_there = [dict(zip(r[6::2], r[7::2], strict=True)) for r in states.records if r[0] == 2]
    begun = [one for one in told_there if one[paraver.CALL]]
    assert {(one.get(paraver.TO), one.get(paraver.FROM)) for one in begun} == {
        *((2, None), (None, 2), (None, None))
    }
    assert {states.values[paraver.CALLER][one[paraver.CALLER]] for one in begun} == {
        *("main (app+0x10)", "main (app+0x20)")
    }


def test_calls_of_several_threads_do_not_overlap(tmp_path: Path) -> None:
    """The second crosses the first, the third begins when the first ends."""
    record(tmp_path, 0, [[0.0, 5.0, 1, 64], [4.0, 8.0, 2, 64], [5.0, 1.0, 1, 64]])
    record(tmp_path, 1, [[0.0, 1.0, 1, 64]])
    trace = written(tmp_path)
    assert [call["tid"] for call in trace.calls] == [0, 2, 0, 1]
    assert trace.named[0, 0] == "rank 0" and trace.named[0, 2] == "rank 0, at the same time 1"
    assert trace.named[0, 1] == "rank 1"


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"dur": -1.0}, AssertionError),
        ({"dur": float("nan")}, ValueError),
        ({"ts": "0"}, AssertionError),
        ({"tid": 9}, AssertionError),
        ({"dur": 4.0}, AssertionError),  # crosses the next call
        ({"ph": "B"}, KeyError),
        ({"args": {}}, AssertionError),
    ],
)
def test_reader_is_strict(change: dict, error: type[Exception], tmp_path: Path) -> None:
    record(tmp_path, 0, [[0.0, 2.0, 1, 64], [3.0, 5.5, 2, 64]])
    path = tmp_path / "trace.json"
    trace = written(tmp_path)
    first = trace.events.index(trace.calls[0])
    trace.events[first] = trace.events[first] | change
    path.write_text(json.dumps({"traceEvents": trace.events, "displayTimeUnit": "ms"}))
    with pytest.raises(error):
        TraceEvents(path)


@matrix.quick(matrix.on("mpich4", "ompi5"), "one MPI of a family stands for it")
def test_traces_of_a_run(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    """Who sent to whom, from which line: posts, what completes them, and calls that block."""
    sites = build(mpi, "sites.c", "-g", "-O1")
    done = headway("profile", "--record", "kept", "-n", 2, sites, 2)
    assert done.returncode == 0, done.stderr
    done = headway("report", "kept", "--trace", "calls.json", "--paraver", "calls.prv")
    assert done.returncode == 0, done.stderr
    trace, states = TraceEvents(tmp_path / "calls.json"), Trace(tmp_path / "calls.prv")
    assert states.tasks == 2
    lines = (HERE / "sites.c").read_text().splitlines()
    marked = {"irecv": {"from"}, "isend": {"to"}, "waitall": {"to", "from"}}
    for mark, ways in marked.items():
        (line,) = (n for n, text in enumerate(lines, 1) if text.endswith(f"/* site: {mark} */"))
        found = [call for call in trace.calls if f"(sites.c:{line})" in str(call["args"])]
        # Of each rank at least in the first round: tests in a loop may fill the rest of the sample.
        assert {call["tid"] for call in found} == {0, 1}, mark
        assert_partners(found, ways)


@matrix.quick(matrix.on("mpich4", "ompi5"), "one MPI of a family stands for it")
def test_traces_of_calls_that_block(
    headway: Headway, mpi: Mpi, hello: Path, tmp_path: Path
) -> None:
    done = headway("profile", "--record", "kept", "-n", 2, hello, 1000, 2)
    assert done.returncode == 0, done.stderr
    done = headway("report", "kept", "--trace", "calls.json")
    trace = TraceEvents(tmp_path / "calls.json")
    for name, way in (("MPI_Send", "to"), ("MPI_Recv", "from")):
        found = [call for call in trace.calls if call["name"] == name]
        assert len(found) >= 4, [call["name"] for call in trace.calls]
        assert_partners(found, {way})


def assert_partners(calls: list[Json], ways: set[str]) -> None:
    """The other one of two ranks."""
    for call in calls:
        args = call["args"]
        assert isinstance(args, dict)
        other = 1 - int(str(call["tid"]))
        assert {way: args[way] for way in ("to", "from") if way in args} == {
            way: other for way in ways
        }, call
