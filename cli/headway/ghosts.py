# SPDX-License-Identifier: BSD-3-Clause
"""How many ghosts an option like 2, 2/node or 1/socket means on this node."""

from __future__ import annotations


def count(option: str) -> int:
    """For a value of HEADWAY_GHOSTS that was checked."""
    number, _, per = option.lower().partition("/")
    if per in ("", "node") or int(number) == 0:
        return int(number)
    from headway import domains  # loads hwloc, which a plain number does not need

    return int(number) * domains.count(domains.describe(), per)
