# SPDX-License-Identifier: BSD-3-Clause
"""What a suite is."""

from __future__ import annotations

from dataclasses import dataclass, field

from headway.bench.cases import Case


@dataclass(frozen=True)
class Suite:
    """Cases, the links they run on, and the modes beyond plain, Headway and the peers."""

    name: str
    title: str
    cases: tuple[Case, ...]
    rates: tuple[str, ...] = ("1gbit",)
    sockbufs: tuple[str, ...] = ("default", "small")
    extra_modes: tuple[str, ...] = ()
    #: Headway's modes have the engine even where HEADWAY_ENGINE=auto has none
    is_forced: bool = False
    #: the MPIs' own asynchronous modes beside
    has_peers: bool = True
    launches: int = 5
    #: MPIs it is not run on, and why
    excluded: dict[str, str] = field(default_factory=dict)
    #: MPIs whose plain mode has the library without any engine, and why
    controls: dict[str, str] = field(default_factory=dict)
    #: words of HEADWAY_ADAPT that have a mode each, beside ghosts that always serve
    adapt: tuple[str, ...] = ()
    #: what the modes `local` and `global` of them have beside
    rated: dict[str, str] = field(default_factory=dict)
    #: name -> options of one more mode with ghosts
    settings: dict[str, dict[str, str]] = field(default_factory=dict)


#: between nodes; facts about it, not about Headway
NO_WINDOWS = {"ompi4": "windows between nodes fail, plain too"}

FOUR_A_CORE = {
    "ompi5": "runs out of 12 s with four ranks on a core, which it never yields, plain too"
}


def one_sided_suite(name: str, title: str, cases: tuple[Case, ...]) -> Suite:
    """Between nodes, with ghosts beside the other modes."""
    links = (("1gbit",), ("default",), ("ghosts",))
    return Suite(name, title, cases, *links, launches=3, excluded=NO_WINDOWS)
