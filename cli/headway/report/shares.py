# SPDX-License-Identifier: BSD-3-Clause
"""What a run waited for, by cause, over all its calls: seconds, a rank's mean."""

from __future__ import annotations

from collections import defaultdict

from headway.report.runs import Run


def by_cause(run: Run) -> dict[str, float]:
    """Late ones by their names, imbalance among them, but for that of ranks that had posted their
    part and computed on. The longest first."""
    found: dict[str, float] = defaultdict(float)
    for site in run.sites:
        if not site.is_wait and not run.blocking.waited(site):
            continue
        reasons = run.reasons(site)
        found["no progress"] += reasons.no_progress
        found["bandwidth"] += reasons.bandwidth
        found[reasons.late_name] += reasons.late + reasons.imbalance - reasons.posted
        found["imbalance"] += reasons.posted
        found["transfer"] += reasons.transfer
        found["file access"] += reasons.files
        found["not known"] += reasons.unknown
    size = max(run.size, 1)
    ordered = sorted(found.items(), key=lambda pair: -pair[1])
    return {name: seconds / size for name, seconds in ordered if seconds > 0}


def imbalance_of(run: Run) -> float:
    """Of all these, whatever their names, what is for others having more to compute throughout."""
    seconds = run.all_reasons.imbalance + run.blocking_reasons.imbalance
    return seconds / max(run.size, 1)
