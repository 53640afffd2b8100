# SPDX-License-Identifier: BSD-3-Clause
"""Which settings to try, and when one is better: no clock and no process here.

Two ways of running are compared in pairs, in turn first, so that what drifts hits both. A pair is
won by the faster run. A way is better if it wins so many of a fixed number of pairs that a fair
coin would not in 19 of 20 (one-sided sign test), and its median gain is worth it. Runs stop as soon
as the pairs that are left cannot change the answer; that costs the test nothing.

Each setting is tried beside the best so far. Among many, one will win by luck now and then: what is
left in the end is therefore compared with the program without Headway once more, with fresh
pairs, and recommended only if it wins those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import comb
from statistics import median

from headway.options_table import OPTIONS

LEVEL = 0.05
#: the least number of pairs with which anything can be shown
LEAST_PAIRS = 5
#: gains below this are not worth a setting
LEAST_GAIN = 0.01
#: the one option that decides what is tracked at all
DECIDES_TRACKING = "HEADWAY_EAGER_LIMIT"
#: the one that decides whether there is an engine; what it takes to have one in any job
ENGINE = "HEADWAY_ENGINE"
#: tried where they would serve the program's windows; no setting of an engine
GHOSTS = "HEADWAY_GHOSTS"
FORCED = {ENGINE: "thread"}

#: options of the library; None: the program without it
Settings = dict[str, str] | None


@dataclass(frozen=True)
class Timed:
    """One run; `tracked` is None where nobody counted. `is_off`: the library said that its engine
    was off."""

    seconds: float
    tracked: int | None = None
    is_off: bool = False


@dataclass
class Race:
    """A candidate beside a base; times of one pair under one index."""

    base: Settings
    candidate: Settings
    most_pairs: int
    base_s: list[float] = field(default_factory=list)
    candidate_s: list[float] = field(default_factory=list)
    tracked: int | None = None
    is_off: bool = False  # the candidate's engine was

    @property
    def wins(self) -> int:
        return sum(c < b for b, c in zip(self.base_s, self.candidate_s, strict=True))

    @property
    def pairs(self) -> int:
        return len(self.base_s)

    @property
    def is_decided(self) -> bool:
        needed = wins_needed(self.most_pairs)
        return self.wins >= needed or self.pairs - self.wins > self.most_pairs - needed

    @property
    def gain(self) -> float:
        """Median over pairs of the part of the base's time that was saved."""
        gains = [1 - c / b for b, c in zip(self.base_s, self.candidate_s, strict=True)]
        return median(gains) if gains else 0.0

    @property
    def is_won(self) -> bool:
        return self.wins >= wins_needed(self.most_pairs) and self.gain >= LEAST_GAIN

    @property
    def chance(self) -> float:
        """Of a coin, to win as many of all pairs."""
        return tail(self.most_pairs, self.wins)


def tail(count: int, wins: int) -> float:
    """Probability that a fair coin wins at least so often."""
    return float(sum(comb(count, k) for k in range(wins, count + 1)) / 2**count)


def wins_needed(count: int) -> int:
    """Of that many pairs; `count` must be LEAST_PAIRS or more."""
    return next(wins for wins in range(count + 1) if tail(count, wins) <= LEVEL)


Measure = Callable[[Settings], Timed]


def run_race(race: Race, measure: Measure) -> Race:
    """Fills it, until it is decided."""
    while not race.is_decided:
        first, second = race.base, race.candidate
        is_turned = race.pairs % 2 == 1
        if is_turned:
            first, second = second, first
        times = [measure(first), measure(second)]
        base, candidate = reversed(times) if is_turned else times
        race.base_s.append(base.seconds)
        race.candidate_s.append(candidate.seconds)
        race.is_off = candidate.is_off
        if candidate.tracked is not None:
            race.tracked = max(race.tracked or 0, candidate.tracked)
    return race


def candidates(only: Sequence[str] = ()) -> Iterator[dict[str, str]]:
    """The defaults, then every value the option table wants tried (`only`: of these options)."""
    yield {}
    for option in OPTIONS:
        for value in option.tune:
            if not only or option.name in only:
                yield {option.name: value}


def search(
    measure: Measure,
    most_pairs: int,
    tell: Callable[[Race], None],
    has_time: Callable[[], bool] = lambda: True,
    only: Sequence[str] = (),
    *,
    has_ghosts: bool = False,
) -> Race | None:
    """The last comparison, won, of what is recommended with plain runs; None without one.

    has_ghosts: ghosts would serve the program, so that they are among what is tried."""
    best: Settings = None
    forced: dict[str, str] = {}
    is_anything_tracked = True
    for change in candidates(only):
        if not has_time():
            break
        if ENGINE in change and not forced:
            continue  # it was on as it comes
        if GHOSTS in change:
            if not has_ghosts:
                continue
            tried = {**(best or {}), **change}
        elif not is_anything_tracked and DECIDES_TRACKING not in change:
            continue  # settings of a thread that has nothing to do
        else:
            tried = {**(best or {}), **forced, **change}
        race = run_race(Race(best, tried, most_pairs), measure)
        tell(race)
        if not change and race.is_off:
            forced = FORCED  # what is tried beyond are settings of an engine
        elif (not change or ENGINE in change) and race.tracked == 0:
            is_anything_tracked = False
        if race.is_won:
            best = race.candidate
    if best is None:
        return None
    last = run_race(Race(None, best, most_pairs), measure)
    tell(last)
    return last if last.is_won else None
