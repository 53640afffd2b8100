# SPDX-License-Identifier: BSD-3-Clause
"""Which cases a run has.

A case is a test with its parameters. Rules stand above tests and fixtures, and say of which
parameters a case has something to show (`only`), which cases run without --full (`quick`,
`one_of_a`), and which with --check (`check`; tests that start no MPI do, unless a rule says
otherwise). Every other case is deselected, and counted at the end with its reason: so a skip always
means that this machine lacks something.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from headway.mpi.mpis import Mpi

#: Of each, the first that is there stands for the others where only the family, the vendor or the
#: launcher makes a difference.
GROUPS = {
    "family": (("mpich5", "mpich4", "impi"), ("ompi5", "ompi4")),
    "vendor": (("mpich5", "mpich4"), ("impi",), ("ompi5", "ompi4")),
    "launcher": (("mpich5", "mpich4", "impi"), ("ompi5",), ("ompi4",)),
}

#: The MPIs that tests know. Others, such as Open MPI 5 of Debian 13 beside the one of ./dev setup,
#: run where --mpis names them.
NAMES = frozenset(name for group in GROUPS["family"] for name in group)

#: Of what a rule speaks: of every run, of those without --full, of those with --check.
EVERY, QUICK, CHECK = range(3)
TIERS = {
    QUICK: "that run with --full",
    CHECK: "that run without --check",
    EVERY: "with nothing to show",
}

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


NOT_SHORT = "take longer, or start an MPI"


@dataclass(frozen=True)
class Rule:
    """`holds` is asked with parameters of the case, by their names; `names` are the MPIs' of this
    run."""

    holds: Callable[..., bool]
    reason: str
    tier: int

    def __call__(self, decorated: Decorated) -> Decorated:
        rules = decorated.__dict__.setdefault("matrix_rules", [])
        rules.append(self)
        return decorated


def only(holds: Callable[..., bool], reason: str) -> Rule:
    """Elsewhere the case has nothing to show."""
    return Rule(holds, reason, EVERY)


def quick(holds: Callable[..., bool], reason: str = "more of the same") -> Rule:
    """Elsewhere the case runs with --full."""
    return Rule(holds, reason, QUICK)


def check(holds: Callable[..., bool]) -> Rule:
    """With --check, which is to end in two minutes, the case runs only there."""
    return Rule(holds, NOT_SHORT, CHECK)


def one_of_a(kind: str) -> Rule:
    """One MPI of each family, vendor or launcher is enough without --full."""

    def is_first(mpi: Mpi, names: list[str]) -> bool:
        (group,) = (group for group in GROUPS[kind] if mpi.name in group)
        return mpi.name == next(name for name in group if name in names)

    return Rule(is_first, f"one MPI of a {kind} stands for it", QUICK)


def has_turn(kind: str, mpi: Mpi, names: list[str], turn: int) -> bool:
    """The MPIs of each family, vendor or launcher take turns, by the number of the case."""
    (group,) = (group for group in GROUPS[kind] if mpi.name in group)
    present = [name for name in group if name in names]
    return mpi.name == present[turn % len(present)]


def on(*names: str) -> Callable[[Mpi], bool]:
    """The MPIs of these names."""
    return lambda mpi: mpi.name in names


def rules_of(item: pytest.Function) -> Iterator[Rule]:
    yield from getattr(item.module, "MATRIX_RULES", ())
    yield from getattr(item.function, "matrix_rules", ())
    for definitions in item._fixtureinfo.name2fixturedefs.values():
        yield from getattr(definitions[-1].func, "matrix_rules", ())


#: The rule of tests that have none for --check.
STARTS_NO_MPI = check(lambda **case: "mpi" not in case)


def broken(item: pytest.Function, tier: int, names: list[str]) -> Rule | None:
    """The rule that leaves this case out; one that speaks of every run comes first."""
    known = {**item.callspec.params, "names": names} if hasattr(item, "callspec") else {}
    rules = sorted((rule for rule in rules_of(item) if rule.tier <= tier), key=lambda r: r.tier)
    if tier == CHECK and not any(rule.tier == CHECK for rule in rules):
        rules.append(STARTS_NO_MPI)
    for rule in rules:
        wanted = inspect.signature(rule.holds).parameters
        takes_all = any(one.kind is one.VAR_KEYWORD for one in wanted.values())
        if not rule.holds(**(known if takes_all else {name: known[name] for name in wanted})):
            return rule
    return None


class LeftOut:
    """A plugin: deselects, and says at the end how many cases and why."""

    def __init__(self, tier: int, names: Callable[[], list[str]]) -> None:
        self.tier, self.names = tier, names
        #: by tier and reason
        self.counts: Counter[tuple[int, str]] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        names = self.names()
        kept, left = [], []
        for item in items:
            rule = broken(item, self.tier, names) if isinstance(item, pytest.Function) else None
            (left if rule else kept).append(item)
            if rule:
                self.counts[rule.tier, rule.reason] += 1
        if left:
            config.hook.pytest_deselected(items=left)
            items[:] = kept

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for tier, what in TIERS.items():
            reasons = Counter({why: n for (of, why), n in self.counts.items() if of == tier})
            if not reasons:
                continue
            shown = reasons.most_common(None if terminalreporter.config.option.verbose > 0 else 4)
            listed = [f"{count} {reason}" for reason, count in shown]
            if rest := reasons.total() - sum(count for _, count in shown):
                listed.append(f"{rest} for other reasons (-vv names them)")
            terminalreporter.write_line(f"left out {reasons.total()} {what}: {'; '.join(listed)}")
