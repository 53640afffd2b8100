# SPDX-License-Identifier: BSD-3-Clause
"""What each engine there is can do on this machine, and why not more."""

from __future__ import annotations

import os
from collections.abc import Sequence

from headway.doctor import ghosts, host
from headway.doctor.finding import NOTE, OK, PROBLEM, Finding
from headway.doctor.probe import Answer
from headway.mpi import transport
from headway.options_table import OPTIONS
from headway.records import plural


def examine(answers: Sequence[Answer]) -> list[Finding]:
    """Findings on each engine, and on what it needs."""
    engines = next(option.values for option in OPTIONS if option.name == "HEADWAY_ENGINE")
    found = []
    if "thread" in engines:
        found.append(thread(answers))
        found.append(one_node(host.core_count()))
    found.append(trigger())
    found += ghosts.examine(answers, host.core_count())
    found += directions(answers, transport.link_bits_per_s())
    return found


def thread(answers: Sequence[Answer]) -> Finding:
    working = [answer.mpi.name for answer in answers if answer.can_progress]
    others = [answer.mpi.name for answer in answers if not answer.can_progress]
    if not working:
        return Finding(PROBLEM, "thread", "works with no MPI found here", "see the table of MPIs")
    text = f"works with {', '.join(working)}"
    if others:
        return Finding(NOTE, "thread", f"{text}; not with {', '.join(others)}", "see the table")
    if len(os.sched_getaffinity(0)) < 2:
        return Finding(
            NOTE,
            "thread",
            f"{text}, on the program's own core",
            "about a tenth of a window of overlap cannot be recovered there",
        )
    return Finding(OK, "thread", text)


def one_node(cores: int) -> Finding:
    """What HEADWAY_ENGINE=auto does in a job that does not leave this node (src/mpi/init.c)."""
    most = cores // 2
    text = "a job within this node gets no thread: its ranks leave no core idle"
    if most:
        text = f"a job within this node gets the thread if it has at most {plural(most, 'rank')}"
    remedy = "HEADWAY_ENGINE=thread forces it where ranks leave no core idle"
    return Finding(OK, "auto", text, remedy)


def trigger() -> Finding:
    """Events need /proc/self/fd to find the transport's sockets."""
    if not os.access("/proc/self/fd", os.R_OK):
        return Finding(NOTE, "events", "/proc is not there: ticks only", "mount /proc")
    return Finding(OK, "events", "sockets of the transport can be watched (TCP); ticks elsewhere")


def directions(answers: Sequence[Answer], bits_per_s: float | None) -> list[Finding]:
    """Whether the two directions of an exchange over TCP wait for each other unless the MPI is
    told otherwise, and who tells it."""
    titles = [answer.mpi.title for answer in answers]
    told = {title: transport.settings(title, None, choice="duplex") for title in titles}
    is_told_here = any(transport.settings(title, bits_per_s) for title in titles)
    by_library = [title for title in titles if told[title] and transport.is_by_library(title)]
    if is_told_here:
        told |= dict.fromkeys(by_library, {})
    names = ", ".join(title for title in titles if told[title])
    if not names and by_library:
        text = f"{', '.join(by_library)}: over TCP the library keeps them apart"
        return [
            Finding(OK, "directions", text, "HEADWAY_TRANSPORT=keep leaves the transport alone")
        ]
    if not names:
        return []
    if bits_per_s is not None and not is_told_here:
        text = f"{names}: left as it is on a network of more than 2.5 Gbit/s"
        return [Finding(OK, "directions", text)]
    lines = dict.fromkeys(
        f"export {name}={value}" for setting in told.values() for name, value in setting.items()
    )
    by_hand = f"where you preload by hand: {'; '.join(lines)}, for the whole job"
    if is_told_here:
        text = f"{names}: over TCP they wait for each other, unless headway run starts the job"
        return [Finding(OK, "directions", text, by_hand)]
    text = f"{names}: over TCP they may wait for each other; the network's speed cannot be read"
    return [Finding(NOTE, "directions", text, f"headway run --transport duplex; {by_hand}")]
