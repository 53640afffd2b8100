# SPDX-License-Identifier: BSD-3-Clause
"""`headway profile`: a run without acceleration whose records say where it waits, and why."""

from __future__ import annotations

import argparse
from typing import Any

from headway import console
from headway.errors import HeadwayError
from headway.mpi import launchers
from headway.record.table import Record
from headway.report import command as report
from headway.report.headline import told
from headway.report.runs import Run
from headway.run import command as run


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser(
        "profile",
        help="run an MPI program unaccelerated, and say where it waits and why",
        usage=run.USAGE.replace("headway run", "headway profile"),
        description="Runs the program with the library only watching (unless --engine says "
        "otherwise), then prints the report on its call sites. Ends with the program's status.",
    )
    parser.add_argument(
        "--paths",
        type=int,
        metavar="N",
        help="tell calls of one line apart by the N-1 functions that called it (N up to 8; 1: "
        "not), same as HEADWAY_PATHS",
    )
    run.add_arguments(parser)
    parser.set_defaults(call=profile)


def profile(arguments: argparse.Namespace) -> int:
    if arguments.quiet:
        raise HeadwayError("--quiet leaves nothing of a profile", "headway run --quiet")
    settings = {"HEADWAY_PROFILE": "yes", "HEADWAY_ENGINE": arguments.engine or "off"}
    if arguments.paths is not None:
        settings["HEADWAY_PATHS"] = str(arguments.paths)
    if launchers.is_elsewhere(arguments.words, arguments.ranks):
        settings["HEADWAY_RECORD_NEEDED"] = "yes"
    return run.launch_and_tell(arguments, settings, tell)


def tell(found: list[Record]) -> None:
    if not found:
        console.say("no records (did the program reach MPI_Init?); headway doctor PROGRAM")
        return
    run = Run("profile", found)
    report.show([run])
    console.tell(told(run)[0])  # where a terminal shows the end
