# SPDX-License-Identifier: BSD-3-Clause
"""Of which run records are: what was started, where, when, by which Headway."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from headway import records as reading
from headway.mpi import program
from headway.record.table import Record

#: so many machines are named, the rest counted
NAMED_HOSTS = 4
#: later than this no record was made: year 9999
LAST_S = 253_402_300_799


def lines(records: Sequence[Record]) -> list[str]:
    """The command line; then ranks, machines, time and versions. What no record tells is left
    out."""
    commands = list(dict.fromkeys(r.command for r in records if r.command))
    said = [commands[0] + more(len(commands) - 1, "other program")] if commands else []
    facts = [hosts(records), started(records), *versions(records)]
    return [*said, ", ".join(fact for fact in facts if fact)] if any(facts) else said


def more(count: int, word: str) -> str:
    return f" and {reading.plural(count, word)}" if count > 0 else ""


def hosts(records: Sequence[Record]) -> str:
    """Where the ranks were."""
    ranks = Counter(record.host for record in records)
    known = [host for host in ranks if host]
    if not known:
        return reading.plural(len(records), "rank")
    named = ", ".join(known[:NAMED_HOSTS]) + more(len(known) - NAMED_HOSTS, "other host")
    return f"{reading.plural(len(records), 'rank')} on {named}"


def started(records: Sequence[Record]) -> str:
    """When MPI_Init of the first rank began."""
    moments = [r.started_s for r in records if r.started_s]
    if not moments:
        return ""
    first = datetime.fromtimestamp(min(min(moments), LAST_S), UTC)
    return f"{first:%Y-%m-%d %H:%M:%S} UTC"


def versions(records: Sequence[Record]) -> list[str]:
    """Of the MPI and of Headway."""
    mpis = sorted({program.vendor_and_version(r.mpi) or r.mpi[:60] for r in records if r.mpi})
    own = sorted({r.version for r in records if r.version})
    return [*mpis[:1], *(f"Headway {version}" for version in own[:1])]
