# SPDX-License-Identifier: BSD-3-Clause
"""Runs one program on the cluster: pairs of plain and Headway, and one profile."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway import outcome, records
from headway.bench import machine
from headway.bench.programs.catalog import RealProgram
from headway.bench.programs.install import venv
from headway.cluster import Cluster, LocalNode, open_cluster
from headway.mpi.mpis import Mpi
from headway.record.table import Record
from headway.report.runs import Run
from headway.report.text import waits_of

HERE = Path(__file__).resolve().parent
#: call sites kept of a profile
SITES = 3


@dataclass(frozen=True)
class Place:
    """Where a program runs: an MPI, nodes with links, libraries to preload, a scratch folder."""

    mpi: Mpi
    cluster: Cluster | LocalNode
    libraries: Path
    scratch: Path


def loadable(mpi: Mpi) -> Path:
    """What a program opens by name. In wheels the name for linking is a script of the linker."""
    versioned = mpi.library.parent.glob("libmpi.so.[0-9]*")
    return min(versioned, key=lambda path: len(path.name), default=mpi.library)


def words_of(program: RealProgram, place: Place) -> dict[str, str]:
    """What the placeholders of a command and of its environment stand for."""
    return {
        "venv": str(venv()),
        "bin": str(place.mpi.mpicc.parent),
        "libmpi": str(loadable(place.mpi)),
        "path": os.environ.get("PATH", ""),
        "cache": str(place.scratch / f"cache-{program.name}-{place.mpi.name}"),
    }


def environment_make(program: RealProgram, place: Place, mode: str, folder: Path) -> dict[str, str]:
    words = words_of(program, place)
    env = {name: value.format(**words) for name, value in program.env.items()}
    if mode == "plain":
        return env
    library = place.libraries / f"libheadway-{place.mpi.flavour}.so"
    env |= {"LD_PRELOAD": str(library), "HEADWAY_RECORD": str(folder)}
    if mode == "profile":
        env |= {"HEADWAY_PROFILE": "yes", "HEADWAY_ENGINE": "off"}
    return env


@contextmanager
def work_folder(program: RealProgram, scratch: Path) -> Iterator[Path]:
    """A fresh folder with the program's inputs, which is its working directory."""
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{program.name}-", dir=scratch) as name:
        folder = Path(name)
        if program.inputs:
            shutil.copytree(HERE / "inputs" / program.inputs, folder, dirs_exist_ok=True)
        for target, packed in program.unpacks.items():
            (folder / target).write_bytes(gzip.decompress(Path(packed).read_bytes()))
        yield folder


def answers_read(program: RealProgram, output: str) -> dict[str, list[str]]:
    """What the program answered, as printed, by name."""
    return {
        answer.what: re.findall(answer.pattern, output, re.MULTILINE) for answer in program.answers
    }


def is_same(program: RealProgram, one: dict[str, list[str]], other: dict[str, list[str]]) -> bool:
    """Equal as printed, or as numbers within the tolerance an answer has."""
    return all(
        is_same_text(one[answer.what], other[answer.what], answer.tolerance)
        for answer in program.answers
    )


def is_same_text(one: list[str], other: list[str], tolerance: float) -> bool:
    if not tolerance or len(one) != len(other):
        return one == other
    pairs = zip(map(float, one), map(float, other), strict=True)
    return all(abs(a - b) <= tolerance * max(abs(a), abs(b)) for a, b in pairs)


def seconds_read(program: RealProgram, output: str) -> float | None:
    """The seconds the program itself says it took, summed over what matches."""
    found = re.findall(program.seconds, output, re.MULTILINE)
    return sum(map(float, found)) if found else None


def launch(program: RealProgram, place: Place, mode: str) -> dict[str, Any]:
    """One run to its end: times, answers, records; or `failure`."""
    with work_folder(program, place.scratch) as folder:
        told = folder / "headway-records"
        told.mkdir()
        words = words_of(program, place)
        done = place.cluster.run(
            place.mpi,
            [word.format(**words) for word in program.command],
            env=environment_make(program, place, mode, told),
            timeout=program.timeout_s,
            cwd=str(folder),
        )
        output = done.stdout + done.stderr
        row = {
            "mode": mode,
            "job_s": round(done.seconds, 3),
            "seconds": round(done.seconds, 3),
            "answers": answers_read(program, output),
            "records": records.read(told),
            "wire_bytes": sum(node.sent for node in done.wire),
            "failure": "",
        }
        if program.seconds:
            row["seconds"] = seconds_read(program, output)
        row["failure"] = failure_of(row, done.timed_out, done.returncode, mode)
        if row["failure"]:
            row["output"] = output[-2000:]
        return row


def failure_of(row: dict[str, Any], timed_out: bool, status: int, mode: str) -> str:
    if timed_out:
        return "did not end in its time"
    if status != 0:
        return f"exit status {status}"
    if row["seconds"] is None:
        return "printed no time"
    silent = [what for what, found in row["answers"].items() if not found]
    if silent:
        return f"printed no {', '.join(silent)}"
    if mode != "plain" and not row["records"]:
        return "left no record: the library was not there"
    return ""


def pairs_run(
    program: RealProgram, place: Place, pairs: int, tell: Callable[[dict[str, Any]], None]
) -> list[list[dict[str, Any]]]:
    """PAIRS of launches, plain first in every other; one pair holds the lock at a time."""
    rows = []
    for index in range(pairs):
        modes = ("plain", "headway") if index % 2 == 0 else ("headway", "plain")
        with machine.timed_section():
            pair = [launch(program, place, mode) for mode in modes]
        for row in pair:
            tell(row)
        rows.append(sorted(pair, key=lambda row: row["mode"] != "plain"))
    return rows


def summary(values: list[float]) -> dict[str, float]:
    quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else None
    return {
        "median": round(statistics.median(values), 4),
        "min": round(min(values), 4),
        "q1": round(quartiles[0] if quartiles else values[0], 4),
        "q3": round(quartiles[2] if quartiles else values[0], 4),
        "max": round(max(values), 4),
    }


def profile_brief(found: list[Record]) -> dict[str, Any]:
    """Of a profile: where the time in MPI went, why requests were waited for, what can be won."""
    run = Run("profile", found)
    reasons = run.all_reasons
    names = ("no_progress", "bandwidth", "late", "unknown")
    return {
        "wall_s": round(run.wall, 3),
        "mpi_s": round(run.mpi_seconds, 3),
        "calls": sum(site.calls for site in run.sites),
        "waited_s": round(sum(site.waited for site in waits_of(run)) / run.size, 3),
        "reasons_s": {name: round(getattr(reasons, name) / run.size, 3) for name in names},
        "sites": [
            {
                "place": str(site.place),
                "function": site.function,
                "size": site.size,
                "calls": site.calls,
                "seconds": round(site.seconds / run.size, 3),
            }
            for site in run.sites[:SITES]
        ],
    }


def headway_brief(found: list[Record]) -> dict[str, Any]:
    """What the library said about a run: its paragraph, and the counters behind it."""
    counted = ("tracked_bytes", "completed_early", "polls", "overlap_windows")
    return {
        "told": outcome.what_happened(found),
        "thread_cpu_s": round(records.mean(found, "thread_cpu_s"), 4),
        "tracked": sum(records.tracked_count(record) for record in found),
        **{name: int(records.total(found, name)) for name in counted},
    }


def variants(rows: list[dict[str, Any]], mode: str) -> int:
    """How many different answers the launches of a mode printed: plain runs may vary too."""
    return len({json.dumps(row["answers"]) for row in rows if row["mode"] == mode})


def row_make(
    program: RealProgram, mpi: Mpi, pairs: list[list[dict[str, Any]]], profile: dict[str, Any]
) -> dict[str, Any]:
    """One row of the results from what its launches gave."""
    launches = [row for pair in pairs for row in pair]
    failures = [
        f"{row['mode']}: {row['failure']}" for row in [*launches, profile] if row["failure"]
    ]
    whole = [pair for pair in pairs if not any(row["failure"] for row in pair)]
    row = {
        "program": program.name,
        "mpi": mpi.name,
        "pairs": len(whole),
        "failures": failures,
        "is_same_answer": False,
    }
    if not whole:
        return row
    first = whole[0][0]["answers"]
    rows = [row for pair in whole for row in pair] + ([] if profile["failure"] else [profile])
    middle = sorted(whole, key=lambda pair: pair[1]["seconds"])[len(whole) // 2]
    return row | {
        "is_same_answer": all(is_same(program, first, one["answers"]) for one in rows),
        "answers": {what: found[:4] for what, found in first.items()},
        "variants": {mode: variants(rows, mode) for mode in ("plain", "headway", "profile")},
        "plain_s": summary([pair[0]["seconds"] for pair in whole]),
        "headway_s": summary([pair[1]["seconds"] for pair in whole]),
        "ratio": summary([pair[1]["seconds"] / pair[0]["seconds"] for pair in whole]),
        "each_s": [[pair[0]["seconds"], pair[1]["seconds"]] for pair in whole],
        "job_s": statistics.median(pair[0]["job_s"] for pair in whole),
        "wire_bytes": whole[0][0]["wire_bytes"],
        "headway": headway_brief(middle[1]["records"]),
        "profile": {} if profile["failure"] else profile_brief(profile["records"]),
    }


def program_run(
    program: RealProgram,
    mpi: Mpi,
    *,
    rate: str,
    sockbuf: str,
    pairs: int,
    libraries: Path,
    scratch: Path,
    tell: Callable[[dict[str, Any]], None],
) -> tuple[dict[str, Any], str]:
    """The row of one program under one MPI, and how the nodes were made if not as asked."""
    cluster = open_cluster(2, rate=rate, sockbuf=sockbuf)
    try:
        place = Place(mpi, cluster, libraries, scratch)
        for _ in range(program.warm_ups):
            with machine.timed_section():
                launch(program, place, "plain")
        timed = pairs_run(program, place, pairs, tell)
        with machine.timed_section():
            profile = launch(program, place, "profile")
        tell(profile)
        row = row_make(program, mpi, timed, profile)
        return {**row, "rate": rate, "sockbuf": sockbuf}, cluster.note
    finally:
        if isinstance(cluster, Cluster):
            cluster.stop()
