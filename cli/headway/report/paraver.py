# SPDX-License-Identifier: BSD-3-Clause
"""The first calls of every rank for Paraver: NAME.prv, and beside it NAME.pcf and NAME.row.

States are Extrae's (0 idle, 1 running, ...), so its configurations colour them as usual. Events are
which MPI function (0 when it ends), the bytes the call was about, where it was called from, and the
rank it gave something or took it from, plus 1. doc/guide/exports.md explains them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from headway.errors import HeadwayError
from headway.record import table
from headway.record.table import Record
from headway.report.export import partners_of, timeline
from headway.report.recorded import profile_of, sites_of
from headway.report.runs import Run

CALL, BYTES, CALLER, TO, FROM = range(48_000_001, 48_000_006)
#: Paraver's number of a state -> its name and colour
STATES = {
    0: ("Idle", (117, 195, 255)),
    1: ("Running", (0, 0, 255)),
    3: ("Waiting a message", (255, 0, 0)),
    4: ("Blocking Send", (255, 0, 174)),
    5: ("Synchronization", (179, 0, 0)),
    6: ("Test/Probe", (0, 255, 0)),
    8: ("Wait/WaitAll", (235, 0, 0)),
    10: ("Immediate Send", (255, 0, 255)),
    11: ("Immediate Receive", (100, 100, 177)),
    12: ("I/O", (172, 174, 41)),
    13: ("Group Communication", (255, 144, 26)),
    15: ("Others", (192, 224, 0)),
}
#: what a function's name begins with, or matches -> state; the first that fits
KINDS = (
    (r"Wait", 8),
    (r"Test|I?m?probe|Request_get_status", 6),
    (r"Barrier|Win_", 5),
    (r"I[brs]?send|[brs]?send_init|Start", 10),
    (r"Im?recv|Recv_init", 11),
    (r"M?recv|Sendrecv", 3),
    (r"[brs]?send", 4),
    (r"File_", 12),
    (r"I?(Neighbor_)?(All|Bcast|Gather|Reduce|Scan|Exscan|Scatter)", 13),
)


def state_of(function: str) -> int:
    for pattern, state in KINDS:
        if re.match(pattern, function, re.IGNORECASE):
            return state
    return 15


def write(run: Run, path: Path) -> list[Path]:
    """Writes the three files of one run; returns them. `path` ends in .prv, or gets it."""
    trace = path if path.suffix == ".prv" else path.with_name(path.name + ".prv")
    functions = sorted({one.function for r in run.records for one in sites_of(r)})
    codes = {function: number for number, function in enumerate(functions, 1)}
    callers = sorted({caller_of(run, one) for r in run.records for one in sites_of(r)})
    places = {caller: number for number, caller in enumerate(callers, 1)}
    bodies = {
        ".prv": trace_text(run, codes, places),
        ".pcf": labels_text(codes, places),
        ".row": rows_text(run),
    }
    written = []
    for suffix, body in bodies.items():
        target = trace.with_suffix(suffix)
        try:
            target.write_text(body, encoding="utf-8")
        except OSError as error:
            raise HeadwayError(
                f"cannot write {target}: {error.strerror}", "name another"
            ) from error
        written.append(target)
    return written


def caller_of(run: Run, site: table.Site) -> str:
    """On one line."""
    return " ".join(str(run.places.of(site)).split()) or "?"


def hosts_of(run: Run) -> list[str]:
    """Machines, in the order of their first rank; one for records that do not say."""
    return list(dict.fromkeys(record.host for record in run.records))


def trace_text(run: Run, codes: dict[str, int], places: dict[str, int]) -> str:
    """Header and records, in the order of time."""
    hosts = hosts_of(run)
    ranks_on = [sum(r.host == host for r in run.records) for host in hosts]
    begins = [profile_of(r).began_monotonic_s for r in run.records]
    # Clocks of different machines tell nothing about each other: each machine begins at 0.
    first = {
        host: min(b for b, r in zip(begins, run.records, strict=True) if host_of(r) == host)
        for host in hosts
    }
    lines: list[tuple[int, int, str]] = []
    end = 0
    for index, record in enumerate(run.records):
        shift_ns = round((begins[index] - first[host_of(record)]) * 1e9)
        where = f"{index + 1}:1:{index + 1}:1"
        callers = {one.id: places[caller_of(run, one)] for one in sites_of(record)}
        made = list(record_lines(record, where, shift_ns, codes, callers))
        lines += made
        end = max([end, *(last for _, last, _ in made)])
    nodes = f"{len(hosts)}({','.join(map(str, ranks_on))})"
    tasks = ",".join(f"1:{hosts.index(host_of(r)) + 1}" for r in run.records)
    now = datetime.now().strftime("%d/%m/%Y at %H:%M")
    header = f"#Paraver ({now}):{end}_ns:{nodes}:1:{run.size}({tasks})"
    ordered = sorted(lines, key=lambda line: line[0])
    return "\n".join([header, *(text for _, _, text in ordered)]) + "\n"


def host_of(record: Record) -> str:
    return record.host


def record_lines(
    record: Record, where: str, shift_ns: int, codes: dict[str, int], callers: dict[int, int]
) -> Iterator[tuple[int, int, str]]:
    """Begin, end and text of each record: running between calls, and the calls."""
    functions = {one.id: one.function for one in sites_of(record)}
    partners = partners_of(record)
    at = shift_ns
    numbered = sorted((event, number) for number, event in enumerate(timeline(record)))
    for (start_us, took_us, site, size), number in numbered:
        begin = max(shift_ns + round(start_us * 1e3), at)
        end = max(begin + round(took_us * 1e3), begin)
        function = functions.get(site, "?")
        if begin > at:
            yield at, begin, f"1:{where}:{at}:{begin}:1"
        if end > begin:
            yield begin, end, f"1:{where}:{begin}:{end}:{state_of(function)}"
        code = codes.get(function, 0)
        told = {CALL: code, BYTES: max(size, 0), CALLER: callers.get(site, 0)}
        ranks = partners.get(number, {})
        told |= {kind: ranks[way] + 1 for kind, way in ((TO, "to"), (FROM, "from")) if way in ranks}
        yield begin, end, f"2:{where}:{begin}:" + ":".join(f"{k}:{v}" for k, v in told.items())
        yield end, end, f"2:{where}:{end}:{CALL}:0"
        at = end


def labels_text(codes: dict[str, int], places: dict[str, int]) -> str:
    lines = ["DEFAULT_OPTIONS", "", "LEVEL               THREAD", "UNITS               NANOSEC", ""]
    lines += ["DEFAULT_SEMANTIC", "", "THREAD_FUNC          State As Is", "", "STATES"]
    lines += [f"{number}    {name}" for number, (name, _) in STATES.items()]
    lines += ["", "STATES_COLOR"]
    lines += [f"{n}    {{{r},{g},{b}}}" for n, (_, (r, g, b)) in STATES.items()]
    lines += ["", "EVENT_TYPE", f"0    {CALL}    MPI call", "VALUES", "0      End"]
    lines += [f"{code}      MPI_{function}" for function, code in codes.items()]
    lines += ["", "EVENT_TYPE", f"0    {BYTES}    Bytes of an MPI call"]
    lines += ["", "EVENT_TYPE", f"0    {CALLER}    Called from", "VALUES", "0      others"]
    lines += [f"{number}      {caller}" for caller, number in places.items()]
    lines += ["", "EVENT_TYPE", f"0    {TO}    Rank it gave something, plus 1"]
    lines += ["", "EVENT_TYPE", f"0    {FROM}    Rank it took something from, plus 1"]
    return "\n".join(lines) + "\n"


def rows_text(run: Run) -> str:
    """Names of what is numbered in the trace: processors, machines, threads."""
    hosts = hosts_of(run)
    names = [host or f"machine {number}" for number, host in enumerate(hosts, 1)]
    ranks = [f"rank {run.rank_of(index)}" for index in range(run.size)]
    lines: list[str] = []
    for level, entries in (("CPU", ranks), ("NODE", names), ("THREAD", ranks)):
        lines += [f"LEVEL {level} SIZE {len(entries)}", *entries, ""]
    return "\n".join(lines)
