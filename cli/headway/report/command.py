# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the report."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from headway import console
from headway.errors import HeadwayError
from headway.report import export, lines, page, paraver, text
from headway.report.runs import Run, load

ROWS = 12


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser(
        "report",
        help="what the records of a run say, as tables, a page or a trace",
        description="Reads the records of one run or several (each a directory, or one record), "
        "also damaged and older ones, and prints tables; several are compared with the first.",
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RECORDS")
    parser.add_argument("--html", type=Path, metavar="FILE", help="one page with everything")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="a line for each site and rank")
    parser.add_argument(
        "--communicators",
        type=Path,
        metavar="FILE",
        help="CSV, a line for each communicator and rank",
    )
    parser.add_argument(
        "--one-sided",
        type=Path,
        metavar="FILE",
        help="CSV, a line for each call site that waited for targets",
    )
    parser.add_argument(
        "--trace", type=Path, metavar="FILE", help="first calls, for chrome://tracing or Perfetto"
    )
    parser.add_argument(
        "--paraver", type=Path, metavar="FILE.prv", help="the same for Paraver, with .pcf and .row"
    )
    parser.add_argument(
        "--rows", type=int, default=ROWS, metavar="N", help="rows of a table (default: %(default)s)"
    )
    parser.set_defaults(call=report)


def report(arguments: argparse.Namespace) -> int:
    for path in arguments.runs:
        lines.keep(path)
    runs = [load(path) for path in arguments.runs]
    rows = max(arguments.rows, 1)
    show(runs, rows)
    writers: list[tuple[Path | None, Callable[[TextIO], object]]] = [
        (arguments.html, lambda file: file.write(page.write(runs))),
        (arguments.csv, lambda file: export.write_csv(runs, file)),
        (arguments.communicators, lambda file: export.write_communicators(runs, file)),
        (arguments.one_sided, lambda file: export.write_one_sided(runs, file)),
        (arguments.trace, lambda file: export.write_trace(runs, file)),
    ]
    for path, write in writers:
        if path:
            try:
                with path.open("w", encoding="utf-8", newline="") as file:
                    write(file)
            except OSError as error:
                raise HeadwayError(
                    f"cannot write {path}: {error.strerror}", "name another"
                ) from error
            console.say(f"wrote {path}")
    if arguments.paraver:
        for path in write_paraver(runs, arguments.paraver):
            console.say(f"wrote {path}")
    return 0


def write_paraver(runs: Sequence[Run], path: Path) -> list[Path]:
    if len(runs) > 1:
        raise HeadwayError("--paraver takes one run", "name one directory of records")
    return paraver.write(runs[0], path)


def show(runs: Sequence[Run], rows: int = ROWS) -> None:
    out = console.make_console(markup=False)  # names may look like markup
    if not out.is_terminal:
        out.width = 120
    if len(runs) == 1:
        text.show(runs[0], out, rows)
    else:
        text.compare(runs, out, rows)
