# SPDX-License-Identifier: BSD-3-Clause
"""What pytest and its workers tell one another, where pytest-xdist runs cases in several processes.

A worker gets the first seed of the random programs. It hands back what is shown at the end.

A case that has an MPI runs beside cases that start none, and beside those marked `beside`, whose
processes are few or sleep. Two cases with an MPI take turns, and nothing runs beside a case marked
`alone` (turns.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from contextlib import ExitStack
from typing import Any

import matrix
import pytest
import support
import turns

#: Of the random programs.
FIRST_SEED = pytest.StashKey[int]()
HAS_SEEDS = pytest.StashKey[bool]()


def given(config: pytest.Config, what: str, otherwise: Any) -> Any:
    """What a worker was told; `otherwise` in a process that is none."""
    return getattr(config, "workerinput", {}).get(what, otherwise)


def has_job(item: pytest.Item) -> bool:
    """Whether the case takes turns with others of its kind."""
    has_mpi = isinstance(item, pytest.Function) and not {"mpi", "other_mpi"}.isdisjoint(
        item.fixturenames
    )
    return has_mpi and item.get_closest_marker("beside") is None


class Workers:
    """A plugin, in the workers and in the process that has them."""

    def __init__(self, config: pytest.Config, left_out: matrix.LeftOut) -> None:
        self.config, self.left_out = config, left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["first_seed"] = self.config.stash[FIRST_SEED]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Outermost, so that no time limit runs meanwhile."""
        if not hasattr(self.config, "workerinput"):
            return (yield)
        support.BUILD.mkdir(parents=True, exist_ok=True)
        is_alone = item.get_closest_marker("alone") is not None
        with ExitStack() as held:
            held.enter_context(turns.on_the_machine(support.BUILD, is_alone))
            if has_job(item) and not is_alone:
                held.enter_context(turns.taken(support.BUILD / ".job.lock"))
            return (yield)

    def pytest_sessionfinish(self) -> None:
        if hasattr(self.config, "workeroutput"):
            self.config.workeroutput["headway"] = (
                self.config.stash.get(HAS_SEEDS, False),
                list(support.TALLY.items()),
                list(self.left_out.counts.items()),
            )

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """One that crashed has told nothing."""
        told = getattr(node, "workeroutput", {}).get("headway")
        if told is None:
            return
        has_seeds, tally, left_out = told
        self.config.stash[HAS_SEEDS] = self.config.stash.get(HAS_SEEDS, False) or has_seeds
        for what, (happened, launches) in tally:
            before = support.TALLY.get(what, (0, 0))
            support.TALLY[what] = before[0] + happened, before[1] + launches
        # Each collects all cases.
        self.left_out.counts = Counter({tuple(key): count for key, count in left_out})
