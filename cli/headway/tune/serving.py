# SPDX-License-Identifier: BSD-3-Clause
"""Would ghosts serve the program? Found by watching it once, and by one run with a ghost.

Only for programs that tune starts itself (-n N): with a launcher of the user's own it cannot start
the processes that become ghosts.
"""

from __future__ import annotations

from collections.abc import Callable

from headway import console, records
from headway.errors import HeadwayError
from headway.record.table import Record
from headway.tune.search import GHOSTS

ONE = {GHOSTS: "1"}
WATCHING = {"HEADWAY_PROFILE": "yes", "HEADWAY_ENGINE": "off"}
#: as a profile names them: what a ghost does in place of the target
OPERATIONS = {
    *("Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap"),
    *("Rput", "Rget", "Raccumulate", "Rget_accumulate"),
}
#: a run with these settings, not timed; its records
Watch = Callable[[dict[str, str]], list[Record]]


def operations(found: list[Record]) -> int:
    """One-sided operations that a profile saw."""
    profiles = [record.profile for record in found if record.profile]
    sites = [site for profile in profiles for site in profile.sites]
    return sum(site.calls for site in sites if site.function.removesuffix("_c") in OPERATIONS)


def is_served(found: list[Record]) -> bool:
    """Did anything of the program go to a ghost?"""
    counted = ("operations_redirected", "locks_redirected")
    return sum(records.total(found, name) for name in counted) > 0


def are_ghosts_worth_trying(watch: Watch) -> bool:
    """Says why not, where the program has one-sided operations."""
    if not operations(watch(WATCHING)):
        return False
    try:
        found = watch(ONE)
    except HeadwayError as error:
        console.say(f"ghosts are not tried: {error}")
        return False
    if is_served(found):
        console.say("a ghost serves one-sided operations of this program: it is tried as well")
        return True
    reasons = "; ".join(sorted(records.declined(found))) or "it is given none of its operations"
    console.say(f"ghosts are not tried, they would not serve: {reasons}")
    return False
