# SPDX-License-Identifier: BSD-3-Clause
"""Readers of the traces that `headway report` writes: strict, as their formats are described.

Perfetto's own reader is a program that its Python package downloads; what that drops or moves, and
what the format's description forbids, is an error here.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

Json = dict[str, object]


class TraceEvents:
    """A trace in the trace event format (Chrome), as Perfetto imports it: of complete and metadata
    events, with names for each process and thread, and calls of a thread that do not overlap."""

    #: what each kind of event may have, and must have
    KEYS = {
        "X": {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"},
        "M": {"ph", "name", "pid", "tid", "args"},
    }

    def __init__(self, path: Path) -> None:
        whole = json.loads(path.read_text(), parse_constant=refuse)  # no NaN in JSON
        assert set(whole) == {"traceEvents", "displayTimeUnit"}
        assert whole["displayTimeUnit"] in ("ms", "ns")
        self.events: list[Json] = whole["traceEvents"]
        self.named: dict[tuple[object, ...], str] = {}
        for event in self.events:
            assert set(event) == self.KEYS[str(event["ph"])], event
            assert type(event["pid"]) is int and type(event["tid"]) is int, event
            assert isinstance(event["args"], dict)
            if event["ph"] == "M":
                self.name_read(event, event["args"])
            else:
                self.check(event, event["args"])
        self.calls = [event for event in self.events if event["ph"] == "X"]
        self.overlaps_refused()

    def name_read(self, event: Json, args: Json) -> None:
        assert event["name"] in ("process_name", "thread_name") and set(args) == {"name"}
        thread = event["tid"] if event["name"] == "thread_name" else None
        assert (event["pid"], thread) not in self.named, "named twice"
        self.named[event["pid"], thread] = str(args["name"])

    def check(self, event: Json, args: Json) -> None:
        """Names stand before their events here, though the format does not ask for that."""
        for name in ("ts", "dur"):
            value = event[name]
            assert type(value) in (int, float) and 0 <= float(str(value)) < 2**53, event
            nanoseconds = float(str(value)) * 1e3
            assert abs(nanoseconds - round(nanoseconds)) < 1e-3 * max(1, nanoseconds / 1e9), event
        assert re.fullmatch(r"MPI_\S+", str(event["name"])) and event["cat"] == "mpi"
        assert {"called_from", "bytes"} <= set(args) <= {"called_from", "bytes", "to", "from"}
        assert isinstance(args["called_from"], str) and args["called_from"]
        numbers = [value for key, value in args.items() if key != "called_from"]
        assert all(type(value) is int and value >= 0 for value in numbers), args
        assert (event["pid"], None) in self.named and (event["pid"], event["tid"]) in self.named

    def overlaps_refused(self) -> None:
        """Perfetto drops the end of a slice that another one crosses."""
        threads = defaultdict(list)
        for call in self.calls:
            begin = round(float(str(call["ts"])) * 1e3)
            length = round(float(str(call["dur"])) * 1e3)
            threads[call["pid"], call["tid"]].append((begin, begin + length))
        for spans in threads.values():
            spans.sort()
            for (_, end), (begin, _) in zip(spans, spans[1:], strict=False):
                assert end <= begin, (end, begin)


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


class Trace:
    """A Paraver trace, read as its format is described: everything in it must be declared."""

    def __init__(self, path: Path) -> None:
        header, *lines = path.read_text().splitlines()
        pattern = (
            r"#Paraver \(\d\d/\d\d/\d\d(?:\d\d)? at \d\d:\d\d\):(\d+)_ns:"
            r"(\d+)\(([\d,]+)\):1:(\d+)\(((?:\d+:\d+,?)+)\)"
        )
        match = re.fullmatch(pattern, header)
        assert match, header
        self.end, nodes, self.tasks = int(match[1]), int(match[2]), int(match[4])
        cpus = [int(count) for count in match[3].split(",")]
        assert len(cpus) == nodes and sum(cpus) == self.tasks
        placed = [tuple(map(int, task.split(":"))) for task in match[5].split(",")]
        assert len(placed) == self.tasks
        assert all(threads == 1 and 1 <= node <= nodes for threads, node in placed)
        self.records = [[int(field) for field in line.split(":")] for line in lines]
        self.labels_read(path.with_suffix(".pcf"))
        self.rows_read(path.with_suffix(".row"), nodes)
        for record in self.records:
            self.check(record)
        times = [record[5] for record in self.records]
        assert times == sorted(times)

    def labels_read(self, path: Path) -> None:
        sections: dict[str, list[str]] = {}
        self.values: dict[int, dict[int, str]] = {}
        name, kind = "", 0
        for line in filter(None, path.read_text().splitlines()):
            if re.fullmatch(r"[A-Z_]+", line):
                name = line
            elif name == "EVENT_TYPE":
                kind = int(line.split()[1])
                self.values[kind] = {}
            elif name == "VALUES":
                number, text = line.split(maxsplit=1)
                self.values[kind][int(number)] = text
            sections.setdefault(name, []).append(line)
        self.states = {int(line.split()[0]) for line in sections["STATES"][1:]}
        colour = re.compile(r"(\d+) +{\d+,\d+,\d+}")
        coloured = [colour.fullmatch(line) for line in sections["STATES_COLOR"][1:]]
        assert {int(found[1]) for found in coloured if found} == self.states

    def rows_read(self, path: Path, nodes: int) -> None:
        levels: dict[str, list[str]] = {}
        for line in filter(None, path.read_text().splitlines()):
            if match := re.fullmatch(r"LEVEL (\w+) SIZE (\d+)", line):
                name, levels[match[1]] = match[1], []
                levels[match[1] + " size"] = [match[2]]
            else:
                levels[name].append(line)
        for level, count in (("CPU", self.tasks), ("NODE", nodes), ("THREAD", self.tasks)):
            assert len(levels[level]) == count == int(levels[level + " size"][0])

    def check(self, record: list[int]) -> None:
        kind, cpu, application, task, thread, *rest = record
        assert 1 <= cpu <= self.tasks and 1 <= task <= self.tasks
        assert application == thread == 1
        if kind == 1:
            begin, end, state = rest
            assert 0 <= begin < end <= self.end and state in self.states
        else:
            time, *pairs = rest
            assert kind == 2 and 0 <= time <= self.end and pairs and len(pairs) % 2 == 0
            for event, value in zip(pairs[::2], pairs[1::2], strict=True):
                assert value in self.values[event] or not self.values[event]
