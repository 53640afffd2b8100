# SPDX-License-Identifier: BSD-3-Clause
"""Whether ghosts can serve one-sided communication here, and where they would be."""

from __future__ import annotations

import os
from collections.abc import Sequence

from headway import domains
from headway.doctor.finding import NOTE, OK, Finding
from headway.doctor.probe import Answer
from headway.errors import HeadwayError


def examine(answers: Sequence[Answer], cores: int) -> list[Finding]:
    if not any(answer.library for answer in answers):
        return []
    return [serving(answers), own_core(cores), places()]


def serving(answers: Sequence[Answer]) -> Finding:
    """Each MPI was asked to let a ghost serve a window (probe.ask_ghost)."""
    working = [answer.mpi.name for answer in answers if not answer.ghost_error]
    refusals = [f"{a.mpi.name} ({a.ghost_error})" for a in answers if a.library and a.ghost_error]
    parts = [f"serve one-sided communication with {', '.join(working)}"] if working else []
    parts += [f"not with {', '.join(refusals)}"] if refusals else []
    if not refusals:
        return Finding(OK, "ghosts", parts[0], "headway run --ghosts 1; off unless asked for")
    return Finding(NOTE, "ghosts", "; ".join(parts), "there the progress thread does what it can")


def own_core(cores: int) -> Finding:
    """A ghost that has one spins there; one that has none has to be woken up."""
    if cores < 2:
        remedy = (
            "an operation then takes a wake-up more, tens of microseconds, and with "
            "HEADWAY_P2P=auto the MPI moves all messages"
        )
        return Finding(NOTE, "ghost cores", "none to spare: a ghost shares the program's", remedy)
    text = f"a ghost has a core to itself if the program leaves one of {cores} idle"
    remedy = "if not, it shares a core, and each operation waits until it is woken"
    return Finding(OK, "ghost cores", text, remedy)


def places() -> Finding:
    """Which processes would be ghosts (src/world/placement.c)."""
    subject = "ghost places"
    unbound = "the last processes of the node are ghosts, and each serves an even share"
    try:
        described = domains.describe()
    except HeadwayError as error:
        return Finding(NOTE, subject, f"{unbound}; not 1/socket, 1/numa: {error}")
    sockets, numa = (domains.count(described, per) for per in ("socket", "numa"))
    text = f"--ghosts 1/socket starts {sockets} here, --ghosts 1/numa {numa}"
    if len(os.sched_getaffinity(0)) < (os.cpu_count() or 1):
        text = f"{text} (this shell is bound to some of the cores)"
    remedy = (
        "if processes are bound to cores (--bind-to core), the last of each socket or domain "
        f"serves the others there; if not, {unbound}"
    )
    return Finding(OK, subject, text, remedy)
