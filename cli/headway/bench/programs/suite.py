# SPDX-License-Identifier: BSD-3-Clause
"""The suite `programs` of `headway bench`: options in, a result, its table and its page out."""

from __future__ import annotations

import argparse
import datetime
import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from headway.bench import machine, places, report
from headway.bench.programs import catalog, install, page, runner
from headway.bench.programs.catalog import PROGRAMS, RealProgram
from headway.bench.published import pages
from headway.errors import HeadwayError
from headway.mpi import preload
from headway.mpi.mpis import Mpi

NAME = catalog.SUITE
TITLE = "Real programs from the registries, plain and with Headway"
SCHEMA = 2
PAIRS = 5


def programs_choose(part: str | None) -> list[RealProgram]:
    chosen = [program for program in PROGRAMS if not part or part in program.name]
    if not chosen:
        raise HeadwayError(
            f"no program has {part!r} in its name",
            "there are: " + ", ".join(program.name for program in PROGRAMS),
        )
    return chosen


def settings_make(programs: Sequence[RealProgram], mpis: Sequence[Mpi]) -> list[Any]:
    """Every program with each of its MPIs that is here and that was asked for."""
    by_name = {mpi.name: mpi for mpi in mpis}
    found = [
        (program, by_name[name]) for program in programs for name in program.mpis if name in by_name
    ]
    if not found:
        raise HeadwayError(
            "none of the programs runs on these MPIs",
            "they need: " + ", ".join(sorted({name for p in programs for name in p.mpis})),
        )
    return found


def described(program: RealProgram) -> dict[str, Any]:
    """What the page says about a program, kept with its figures."""
    return {
        "title": program.title,
        "does": program.does,
        "communicates": program.communicates,
        "compared": "; ".join(answer.what for answer in program.answers),
        "versions": install.versions(program),
        "command": " ".join(program.command),
    }


def tell_launch(progress: report.Progress, common: dict[str, Any], launch: dict[str, Any]) -> None:
    progress.tell({**common, **launch})


def measure(options: argparse.Namespace, mpis: Sequence[Mpi], console: Console) -> dict[str, Any]:
    settings = settings_make(programs_choose(options.case), mpis)
    install.ensure([program for program, _ in settings], consent=options.install)
    pairs = options.launches or PAIRS
    rate, sockbufs = options.rate or "1gbit", (options.sockbuf or "default").split(",")
    started = datetime.datetime.now(datetime.UTC)
    commit, is_tree_clean = places.commit(), places.is_tree_clean()
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    with machine.cpu_share() as protection, report.Progress(console) as progress:
        notes.append(f"CPU: {protection}")
        progress.expect(len(settings) * len(sockbufs) * (2 * pairs + 1))
        for sockbuf in sockbufs:
            for program, mpi in settings:
                common = {
                    "mpi": mpi.name, "rate": rate, "sockbuf": sockbuf, "case": program.name,
                }  # fmt: skip
                row, note = runner.program_run(
                    program,
                    mpi,
                    rate=rate,
                    sockbuf=sockbuf,
                    pairs=pairs,
                    libraries=preload.library(mpi.flavour).parent,
                    scratch=options.out / "scratch",
                    tell=functools.partial(tell_launch, progress, common),
                )
                dated = {
                    "date": started.isoformat(timespec="seconds"),
                    "commit": commit,
                    "is_tree_clean": is_tree_clean,
                }
                rows.append({**row, **described(program), **dated})
                notes += [note] if note and note not in notes else []
    return {
        "schema": SCHEMA,
        "date": started.isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "commit": commit,
        "is_tree_clean": is_tree_clean,
        "suite": NAME,
        "title": TITLE,
        "notes": notes,
        "options": {"pairs": pairs, "rate": rate, "sockbuf": ",".join(sockbufs)},
        "mpis": {mpi.name: mpi.title for mpi in mpis},
        "rows": rows,
    }


def table_print(document: dict[str, Any], console: Console) -> None:
    table = Table(title=f"{document['title']}, {document['options']['rate']}", title_justify="left")
    for heading in ("program", "MPI", "buffers", "plain", "Headway", "x plain", "", "answer"):
        table.add_column(heading)
    for row in document["rows"]:
        times = ["-", "-", "-"]
        if row["pairs"]:
            times = [page.seconds_text(row["plain_s"]), page.seconds_text(row["headway_s"])]
            ratio = row["ratio"]
            times.append(f"{ratio['median']:.3f} ({ratio['min']:.3f}..{ratio['max']:.3f})")
        answer = "unchanged" if row["is_same_answer"] else "CHANGED"
        table.add_row(row["program"], row["mpi"], row["sockbuf"], *times, page.verdict(row), answer)
    console.print(table)
    for row in document["rows"]:
        for failure in row["failures"]:
            console.print(f"{row['program']}, {row['mpi']}: {failure}", markup=False)


def merged(earlier: Path, document: dict[str, Any]) -> dict[str, Any]:
    """This result with the rows of an earlier one that it does not repeat."""
    if not earlier.exists():
        return document
    old = json.loads(earlier.read_text(encoding="utf-8"))

    def key(row: dict[str, Any]) -> tuple[str, ...]:
        return row["program"], row["mpi"], row["rate"], row["sockbuf"]

    again = {key(row) for row in document["rows"]}
    kept = [row for row in old["rows"] if key(row) not in again]
    return {
        **document,
        "mpis": {**old["mpis"], **document["mpis"]},
        "rows": [*kept, *document["rows"]],
    }


def results_write(document: dict[str, Any], options: argparse.Namespace, console: Console) -> None:
    """The result and its page; a run of some programs leaves the rows of the others."""
    folders = [options.out] + ([places.publications()] if options.publish else [])
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{NAME}.json"
        whole = merged(path, document)
        text = json.dumps(whole, separators=(",", ":")).replace('{"program"', '\n{"program"')
        path.write_text(text + "\n", encoding="utf-8")
        written = [path]
        if options.publish and folder == folders[-1]:
            written += pages.write_all(folder.parents[2])
        else:
            written.append(folder / f"{NAME}.md")
            written[-1].write_text(page.page_make(whole), encoding="utf-8")
        for item in written:
            console.print(f"wrote {places.shown(item)}")


def run(options: argparse.Namespace, mpis: Sequence[Mpi], console: Console) -> int:
    """All of it; 0 if every answer is unchanged."""
    document = measure(options, mpis, console)
    table_print(document, console)
    results_write(document, options, console)
    return 0 if all(row["is_same_answer"] for row in document["rows"]) else 1
