# SPDX-License-Identifier: BSD-3-Clause
"""How the processes of a run ended, as their records tell."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from headway.record.table import Record

COMPLETE = "complete"
#: so many ranks are named, the rest counted
NAMED_RANKS = 8


def is_complete(record: Record) -> bool:
    """Records of older libraries were written at the end alone, and do not say so."""
    return record.ending in ("", COMPLETE)


def lines(records: Sequence[Record]) -> list[str]:
    """One for each way to end but MPI_Finalize, the first to end so first."""
    groups: dict[tuple[str, int | None], list[Record]] = {}
    for record in sorted(records, key=lambda r: (r.wall_s, r.rank)):
        if not is_complete(record):
            groups.setdefault((record.ending, record.ending_code), []).append(record)
    found = []
    for (ending, code), group in groups.items():
        first, last = (f"{r.wall_s:.2f}" for r in (group[0], group[-1]))
        when = f"{first} s" if first == last else f"{first} to {last} s"
        found.append(f"{ranks_text([r.rank for r in group])} {what(ending, code, when)}")
    return found


def what(ending: str, code: int | None, when: str) -> str:
    match ending:
        case "aborted":
            return f"called MPI_Abort with code {code} after {when}"
        case "exited":
            return f"exited without MPI_Finalize after {when}"
        case "signal":
            return f"ended by signal {code}{signal_name(code)} after {when}"
        case _:
            return (
                f"left no last record (killed, or hung); what is told is of the first {when} after "
                "MPI_Init"
            )


def signal_name(number: int | None) -> str:
    try:
        return f" ({signal.Signals(number or 0).name})"
    except ValueError:
        return ""


def ranks_text(ranks: Sequence[int]) -> str:
    ordered = sorted(ranks)
    if ordered == [-1] * len(ordered):
        return f"{len(ordered)} process{'es' if len(ordered) > 1 else ''}"
    named = ", ".join(map(str, ordered[:NAMED_RANKS]))
    more = f" and {len(ordered) - NAMED_RANKS} more" if len(ordered) > NAMED_RANKS else ""
    return f"rank{'s' if len(ordered) > 1 else ''} {named}{more}"
