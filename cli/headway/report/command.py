# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the report."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from headway import console
from headway.errors import HeadwayError
from headway.report import lines, text
from headway.report.runs import Run, load
from headway.terminal import make_console

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
        "--rows",
        type=row_count,
        default=ROWS,
        metavar="N",
        help="rows of a table (default: %(default)s)",
    )
    parser.set_defaults(call=report)


def row_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: at least 1 row")
    return int(text)


def report(arguments: argparse.Namespace) -> int:
    for path in arguments.runs:
        lines.keep(path)
    runs = [load(path) for path in arguments.runs]
    write_files(arguments, runs)  # first: who reads the tables may not read them to their end
    show(runs, arguments.rows)
    return 0


def write_files(arguments: argparse.Namespace, runs: Sequence[Run]) -> None:
    """Those that were asked for; what writes them is not loaded for tables alone."""
    if arguments.html:
        from headway.report import page

        write_file(arguments.html, lambda file: file.write(page.write(runs)))
    exports = (arguments.csv, arguments.communicators, arguments.one_sided, arguments.trace)
    if any(exports):
        from headway.report import export

        writers = (
            *(export.write_csv, export.write_communicators),
            *(export.write_one_sided, export.write_trace),
        )
        for path, write in zip(exports, writers, strict=True):
            if path:
                write_file(path, partial(write, runs))
    if arguments.paraver:
        from headway.report import paraver

        if len(runs) > 1:
            raise HeadwayError("--paraver takes one run", "name one directory of records")
        for path in paraver.write(runs[0], arguments.paraver):
            console.say(f"wrote {path}")


def write_file(path: Path, write: Callable[[TextIO], object]) -> None:
    try:
        # Names of directories need not be text.
        with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
            write(file)
    except OSError as error:
        raise HeadwayError(f"cannot write {path}: {error.strerror}", "name another") from error
    console.say(f"wrote {path}")


def show(runs: Sequence[Run], rows: int = ROWS) -> None:
    out = make_console(markup=False)  # names may look like markup
    if not out.is_terminal:
        out.width = 120
    if len(runs) == 1:
        text.show(runs[0], out, rows)
    else:
        text.compare(runs, out, rows)
