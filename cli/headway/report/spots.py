# SPDX-License-Identifier: BSD-3-Clause
"""Call sites as they are named to people, and kinds of calls."""

from __future__ import annotations

import re
from dataclasses import dataclass

ONE_SIDED_WAIT = re.compile(r"Win_(complete|fence|flush|lock|start|test|unlock|wait)")


#: operations, which a few MPIs make at once and wait for
ONE_SIDED_OPERATION = re.compile(
    r"(Accumulate|Compare_and_swap|Fetch_and_op|Get|Get_accumulate|Put)$"
)
#: collectives in which all wait for what the root has
ROOTED = ("Bcast", "Scatter", "Ibcast", "Iscatter")


#: calls that tell at once whether a message is there: in a loop they are a wait
SPINS = ("Iprobe", "Improbe")
#: calls that tell at once whether requests are complete
TESTS = ("Test", "Request_get_status")
#: likewise all that are called in a loop: of a wait there only the whole loop is known
LOOPS = (*TESTS, "Win_test", *SPINS)
#: of MPI-IO, that open, read, write or close
FILES = "File_"
#: calls that complete requests, and those that posted collectives
DOORS = ("Wait", *TESTS)


@dataclass(frozen=True)
class Spot:
    """A call site as it is named to people; one for all sizes."""

    place: str
    function: str

    def __str__(self) -> str:
        return f"MPI_{self.function} of {self.place}"

    @property
    def is_door(self) -> bool:
        return self.function.startswith(DOORS)

    @property
    def is_one_sided(self) -> bool:
        """For targets, of which report/one_sided.py tells."""
        return bool(ONE_SIDED_WAIT.match(self.function) or ONE_SIDED_OPERATION.match(self.function))

    @property
    def is_for_files(self) -> bool:
        """Access to files: what takes its time is no partner."""
        return self.function.startswith(FILES)

    @property
    def is_rooted(self) -> bool:
        return self.function.startswith(ROOTED)


NOWHERE = Spot("others", "?")
