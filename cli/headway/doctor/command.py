# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the doctor, and its tables."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from headway.console import make_console
from headway.doctor import engines, host, probe, target
from headway.doctor.finding import NOTE, OK, PROBLEM, Finding
from headway.mpi.mpis import find_mpi, find_mpis

STYLES = {OK: "green", NOTE: "yellow", PROBLEM: "bold red"}


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser(
        "doctor",
        help="what this machine, its MPIs and a program let Headway do",
        description="Tables of what there is and what works, each found by trying it. With a "
        "PROGRAM also the classic mistakes. Ends with status 1 if it found a problem.",
    )
    parser.add_argument("program", nargs="?", metavar="PROGRAM", help="an MPI program to look at")
    parser.add_argument("--mpi", metavar="NAME", help="ask only this MPI (default: all found)")
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    parser.set_defaults(call=doctor)


def doctor(arguments: argparse.Namespace) -> int:
    mpis = [find_mpi(arguments.mpi)] if arguments.mpi else find_mpis()
    answers = [probe.ask(mpi) for mpi in mpis]
    parts = {
        "machine": host.examine(),
        "mpis": probe.findings(answers),
        "engines": engines.examine(answers),
    }
    if arguments.program:
        parts["program"] = target.examine(arguments.program, mpis)
    problems = [f for found in parts.values() for f in found if f.level == PROBLEM]
    if arguments.json:
        document = {name: [dataclasses.asdict(f) for f in found] for name, found in parts.items()}
        document["answers"] = [probe.as_json(answer) for answer in answers]
        print(json.dumps(document, indent=1))
    else:
        show(parts, answers)
    return 1 if problems else 0


def show(parts: dict[str, list[Finding]], answers: Sequence[probe.Answer]) -> None:
    console = make_console()
    if not console.is_terminal:
        console.width = 120
    console.print(findings_table("This machine", parts["machine"]))
    if answers:
        console.print(mpis_table(answers))
    for title, name in (("Engines", "engines"), ("The program", "program")):
        if name in parts:
            console.print(findings_table(title, parts[name]))
    found = [f for name in parts for f in parts[name] if f.level != OK and name != "machine"]
    found += [f for f in parts["machine"] if f.level == PROBLEM]
    if not found:
        console.print("Nothing is in the way.")
    for finding in found:
        style = STYLES[finding.level]
        remedy = f"; {finding.remedy}" if finding.remedy else ""
        console.print(
            Text.assemble((finding.level, style), f": {finding.subject}: {finding.text}{remedy}"),
            soft_wrap=True,
        )


def findings_table(title: str, findings: Sequence[Finding]) -> Table:
    table = Table(title=title, title_justify="left", show_header=False, expand=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        text = Text(finding.text)
        if finding.remedy:
            text.append(f"\n{finding.remedy}", style="dim")
        style = STYLES[finding.level]
        table.add_row(Text(finding.level, style=style), Text(finding.subject), text)
    return table


def mpis_table(answers: Sequence[probe.Answer]) -> Table:
    table = Table(title="MPI libraries, each asked by starting a rank", title_justify="left")
    for heading in ("MPI", "ABI", "transports", "thread level", "thread engine"):
        table.add_column(heading, overflow="fold")
    for answer in answers:
        style = "green" if answer.can_progress else "yellow"
        engine = answer.error or answer.engine
        table.add_row(
            Text(f"{answer.mpi.name}: {answer.mpi.title}"),
            Text(answer.abi),
            Text(answer.transport),
            Text(answer.level),
            Text(engine, style=style),
        )
    return table
