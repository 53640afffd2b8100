# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the doctor, and its tables."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from headway.doctor import engines, host, probe, target
from headway.doctor.finding import NOTE, OK, PROBLEM, Finding
from headway.mpi.mpis import find_mpi, find_mpis
from headway.records import plural
from headway.terminal import make_console

STYLES = {OK: "green", NOTE: "yellow", PROBLEM: "bold red"}


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser(
        "doctor",
        help="what this machine, its MPIs and a program let Headway do",
        description="Tables of what there is and what works, each found by trying it. With a "
        "PROGRAM first the classic mistakes, and of the MPIs only its own. Ends with status 1 if "
        "it found a problem.",
    )
    parser.add_argument("program", nargs="?", metavar="PROGRAM", help="an MPI program to look at")
    parser.add_argument("--mpi", metavar="NAME", help="ask only this MPI (default: all found)")
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    parser.set_defaults(call=doctor)


def doctor(arguments: argparse.Namespace) -> int:
    mpis = [find_mpi(arguments.mpi)] if arguments.mpi else find_mpis()
    parts: dict[str, list[Finding]] = {}
    if arguments.program:
        parts["program"], own = target.examine(arguments.program, mpis)
        mpis = own or mpis
    parts["machine"] = host.examine()
    answers = probe.ask(mpis)
    parts["mpis"] = probe.findings(answers)
    parts["engines"] = engines.examine(answers)
    if arguments.json:
        document = {name: [dataclasses.asdict(f) for f in found] for name, found in parts.items()}
        document["answers"] = [probe.as_json(answer) for answer in answers]
        print(json.dumps(document, indent=1))
    else:
        show(parts, answers)
    return 1 if counted(parts)[PROBLEM] else 0


def counted(parts: dict[str, list[Finding]]) -> Counter[str]:
    """How many findings there are of each level."""
    return Counter(finding.level for found in parts.values() for finding in found)


def show(parts: dict[str, list[Finding]], answers: Sequence[probe.Answer]) -> None:
    """What concerns the program comes first. Each finding is told once."""
    console = make_console()
    if not console.is_terminal:
        console.width = 120
    if "program" in parts:
        console.print(findings_table("The program", parts["program"]))
    console.print(findings_table("This machine", parts["machine"]))
    if answers:
        console.print(mpis_table(answers))
    if noted := [f for f in parts["mpis"] if f.level != OK]:
        console.print(findings_table("What the MPIs lack", noted))
    console.print(findings_table("Engines", parts["engines"]))
    count = counted(parts)
    told = [plural(count[level], level) for level in (PROBLEM, NOTE) if count[level]]
    console.print(f"{' and '.join(told)}, above." if told else "Nothing is in the way.")


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
