# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the program `causes`: what its profile says of its waits, beside what it measured.

Shares are of all time waited. *Off by* is the largest difference of any cause, in points of a
hundred; the saving that is predicted and the one that `headway run` then makes are shares of the
run.
"""

from __future__ import annotations

import statistics
from typing import Any

from headway.report import shares
from headway.report.runs import Run

PROGRAM = "causes"
#: in results: what the program measured, and what its profile says
TRUE, FOUND = "true: ", "found: "
#: of Scalasca's definitions, which the program names by words that are keys
NAMES = {
    "no_progress": "no progress",
    "bandwidth": "bandwidth",
    "late_sender": "late sender",
    "late_receiver": "late receiver",
    "wait_at_barrier": "wait at barrier",
    "wait_at_nxn": "wait at NxN",
    "transfer": "transfer",
}


def measured(result: dict[str, Any]) -> dict[str, float]:
    """Of one launch: how long it took, and the shares of its causes."""
    whole = sum(result["causes"].values())
    true = {
        f"{TRUE}{NAMES[name]}": seconds / whole if whole else 0.0
        for name, seconds in result["causes"].items()
    }
    return {"total_s": result["wall_s"], "waited_s": whole, **true}


def profiled(run: Run) -> dict[str, float]:
    """The same as its profile has it."""
    found = shares.by_cause(run)
    whole = sum(found.values())
    each = {f"{FOUND}{name}": seconds / whole for name, seconds in found.items() if whole}
    imbalance = shares.imbalance_of(run) / whole if whole else 0.0
    return {"found_s": whole, "found_imbalance": imbalance, **each}


def medians(row: dict[str, Any], prefix: str) -> dict[str, float]:
    return {
        name.removeprefix(prefix): summary["median"]
        for name, summary in row["values"].items()
        if name.startswith(prefix)
    }


def derive(
    row: dict[str, Any], plain: dict[str, Any] | None, accelerated: dict[str, Any] | None
) -> dict[str, float]:
    """Of a profiled row: whether the leading cause is right, and by how much shares are off."""
    true, found = medians(row, TRUE), medians(row, FOUND)
    if not true or not found:
        return {}
    leading = max(true, key=lambda name: true[name])
    derived = {
        "leads": float(max(found, key=lambda name: found[name]) == leading),
        "off_by": max(
            abs(true.get(name, 0.0) - found.get(name, 0.0)) for name in true.keys() | found.keys()
        ),
        "leading_true": true[leading],
        "leading_found": found.get(leading, 0.0),
    }
    predicted = row["values"]["predicted_s"]["median"]
    derived["predicted_of_run"] = predicted / row["values"]["total_s"]["median"]
    if plain and accelerated and plain["samples"] and accelerated["samples"]:
        pairs = zip(plain["samples"], accelerated["samples"], strict=False)
        saved = statistics.median([1 - mine / base for base, mine in pairs])
        derived["saved_of_run"] = saved
    return derived
