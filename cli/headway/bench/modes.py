# SPDX-License-Identifier: BSD-3-Clause
"""The modes in which a suite starts the same binary."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from headway import ghosts
from headway.bench.suite import Suite
from headway.cluster.options import parse_rate
from headway.errors import HeadwayError
from headway.mpi import preload, transport
from headway.mpi.mpis import Mpi
from headway.options import check_environment


@dataclass(frozen=True)
class Mode:
    """One way to run the same binary."""

    name: str
    env: dict[str, str] = field(default_factory=dict)
    launcher_env: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    ghosts: int = 0  #: processes more per node, which the program does not see
    transport: str = "keep"  #: what `headway run --transport` is given

    @property
    def has_headway(self) -> bool:
        return "LD_PRELOAD" in self.env


def peer_mode(mpi: Mpi) -> Mode:
    """The asynchronous mode this MPI brings along."""
    if mpi.is_intel:
        return Mode("peer:async", {"I_MPI_ASYNC_PROGRESS": "1"})
    if mpi.flavour == "ompi":
        return Mode("peer:tcp-thread", {}, {"OMPI_MCA_btl_tcp_progress_thread": "1"})
    return Mode("peer:async", {"MPIR_CVAR_ASYNC_PROGRESS": "1"})


def library_of(mpi: Mpi) -> Path | None:
    """What is preloaded, or None where it is not built for this family."""
    try:
        return preload.library(mpi.flavour)
    except HeadwayError:
        return None


def variant_mode(name: str, env: dict[str, str]) -> Mode:
    check_environment(env)
    more = ghosts.count(env.get("HEADWAY_GHOSTS", "0"))
    return Mode(f"headway:{name}", env, ghosts=more, transport="auto")


def has_setting(mpi: Mpi, suite: Suite) -> bool:
    """Does `headway run` tell this MPI's transport something on the suite's links, or does the
    suite ask what that would do there?"""
    if mpi.vendor not in transport.SETTINGS:
        return False
    rates = [parse_rate(rate) or None for rate in suite.rates]
    return "transport" in suite.extra_modes or any(map(transport.is_slow, rates))


def peer_modes(mpi: Mpi, suite: Suite) -> list[Mode]:
    """The asynchronous mode this MPI brings along, and with our setting of its transport, where
    there is one: what the setting wins is not the thread's."""
    if not suite.has_peers:
        return []
    peer = peer_mode(mpi)
    told = replace(peer, name=f"{peer.name}-transport", transport="duplex")
    return [peer, told] if has_setting(mpi, suite) else [peer]


def fixed_modes(preloaded: dict[str, str]) -> list[Mode]:
    """One choice for the whole run. Both with the setting: they differ by the thread alone."""
    return [
        Mode("headway-never", {**preloaded, "HEADWAY_STAND_DOWN": "never"}, transport="auto"),
        Mode("headway-off", {**preloaded, "HEADWAY_ENGINE": "off"}, transport="auto"),
    ]


def told_modes(preloaded: dict[str, str]) -> list[Mode]:
    """What wakes the thread: sockets, a timer alone, or a helper, as if there were no sockets.

    Where the engine is forced, the thread is in every window too: its policy does not see what
    other processes gain than the one it serves.
    """
    if "HEADWAY_ENGINE" in preloaded:
        preloaded = {**preloaded, "HEADWAY_STAND_DOWN": "never"}
    helper = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "off", "HEADWAY_TRIGGER": "helper"}
    return [
        Mode("headway-events", {**preloaded, "HEADWAY_TRIGGER": "events"}, transport="auto"),
        Mode("headway-tick", {**preloaded, "HEADWAY_TRIGGER": "tick"}, transport="auto"),
        Mode("headway-helper", {**preloaded, **helper}, ghosts=1, transport="auto"),
    ]


def moved_mode(preloaded: dict[str, str], what: str) -> Mode:
    """Ghosts move WHAT, messages (P2P) or collectives (COLL), and no thread helps."""
    ghosts = {"HEADWAY_GHOSTS": "1", f"HEADWAY_{what}": "ghost", "HEADWAY_ENGINE": "off"}
    return Mode("headway-moved", {**preloaded, **ghosts}, ghosts=1, transport="auto")


#: what a program is told that asserts what it does not use
SEALED = ("--sealed",)
#: the least threshold: only with it ghosts move what the paper's move
LEAST = {"HEADWAY_OFFLOAD_MIN": "128"}


def moved_ways(preloaded: dict[str, str]) -> list[Mode]:
    """Ghosts move messages that the MPI matches, or on sealed communicators those that they match
    themselves; from the size that the library chooses on, and from 128 bytes on."""
    tickets = moved_mode(preloaded, "P2P")
    sealed = replace(tickets, name="headway-sealed", arguments=SEALED)
    return [
        replace(mode, name=f"{mode.name}{suffix}", env={**mode.env, **least})
        for mode in (tickets, sealed)
        for suffix, least in (("", {}), ("-128", LEAST))
    ]


def near_mode(preloaded: dict[str, str]) -> Mode:
    """Messages within a node take tickets, and no thread helps."""
    tickets = moved_mode(preloaded, "P2P")
    return replace(tickets, name="headway-near", env={**tickets.env, "HEADWAY_P2P_NEAR": "on"})


#: the words of HEADWAY_ADAPT with which the library judges by the share of time in MPI
RATED = ("local", "global")
#: what a program that guides the library is told
GUIDED = ("--guided",)


def adaptive_candidates(suite: Suite, preloaded: dict[str, str]) -> list[Mode]:
    """Of a suite that compares ways to decide between ghosts and targets; the library may be older
    than some."""

    def mode(name: str, settings: dict[str, str], arguments: tuple[str, ...] = ()) -> Mode:
        env = {**preloaded, "HEADWAY_GHOSTS": "1", **settings}
        return Mode(f"headway-{name}", env, arguments=arguments, ghosts=1)

    words = {
        word: {"HEADWAY_ADAPT": word, **(suite.rated if word in RATED else {})}
        for word in suite.adapt
    }
    return [
        *(mode(word, env, GUIDED if word == "guided" else ()) for word, env in words.items()),
        *(mode(name, env) for name, env in suite.settings.items()),
    ]


def refusal(mode: Mode) -> str:
    """Why this library takes no such mode; empty: it does."""
    try:
        check_environment(mode.env)
    except HeadwayError as error:
        return str(error)
    return ""


def modes_skipped(suite: Suite) -> dict[str, str]:
    """Modes of a suite that this library does not know yet, and why."""
    reasons = {mode.name: refusal(mode) for mode in adaptive_candidates(suite, {})}
    return {name: reason for name, reason in reasons.items() if reason}


def always(preloaded: dict[str, str], suite: Suite) -> Mode:
    """Ghosts that always serve."""
    mode = Mode("headway-ghosts", {**preloaded, "HEADWAY_GHOSTS": "1"}, ghosts=1)
    fixed = replace(mode, env={**mode.env, "HEADWAY_ADAPT": "off"})
    return fixed if suite.adapt and not refusal(fixed) else mode


def plain(mpi: Mpi, suite: Suite) -> Mode:
    """The program by itself, or where that does not end, under the library without an engine."""
    library = library_of(mpi)
    if mpi.name in suite.controls and library:
        return Mode("plain", {"LD_PRELOAD": str(library), "HEADWAY_ENGINE": "off"})
    return Mode("plain")


def modes_make(
    mpi: Mpi,
    suite: Suite,
    wanted: list[str] | None,
    variants: dict[str, dict[str, str]],
) -> list[Mode]:
    """Plain first, then Headway where its library is built, then the peer and the extras. Where
    there is a setting of the transport, plain and the peer are there with and without it."""
    library = library_of(mpi)
    preloaded = {"LD_PRELOAD": str(library)}
    modes = [plain(mpi, suite)]
    if library:
        if suite.is_forced:
            preloaded |= {"HEADWAY_ENGINE": "thread"}
        modes.append(Mode("headway", preloaded, transport="auto"))
        if "thread" in suite.extra_modes:
            forced = {**preloaded, "HEADWAY_ENGINE": "thread"}
            modes.append(Mode("headway-thread", forced, transport="auto"))
        modes += [variant_mode(name, {**preloaded, **env}) for name, env in variants.items()]
        if {"transport", "keep"} & set(suite.extra_modes) and has_setting(mpi, suite):
            modes.append(Mode("headway-keep", preloaded))
        if "fixed" in suite.extra_modes:
            modes += fixed_modes(preloaded)
        if "helper" in suite.extra_modes:
            modes += told_modes(preloaded)
        if "moved" in suite.extra_modes:
            modes.append(moved_mode(preloaded, "P2P"))
        if "ways" in suite.extra_modes:
            modes += moved_ways(preloaded)
        if "near" in suite.extra_modes:
            modes.append(near_mode(preloaded))
        if "coll-moved" in suite.extra_modes:
            modes.append(moved_mode(preloaded, "COLL"))
        if "off" in suite.extra_modes:
            modes.append(Mode("headway-off", {**preloaded, "HEADWAY_ENGINE": "off"}))
        if "profile" in suite.extra_modes:
            watching = {"HEADWAY_PROFILE": "yes", "HEADWAY_ENGINE": "off"}
            modes.append(Mode("headway-profile", {**preloaded, **watching}))
            if "paths" in suite.extra_modes:
                watching |= {"HEADWAY_PATHS": "3"}
                modes.append(Mode("headway-paths", {**preloaded, **watching}))
        if "packed" in suite.extra_modes:
            modes.append(Mode("headway-packed", {**preloaded, "HEADWAY_PACK_MESSAGES": "yes"}))
        if "unpacked" in suite.extra_modes:
            modes.append(Mode("headway-unpacked", {**preloaded, "HEADWAY_PACK": "off"}))
        if "alone" in suite.extra_modes:
            modes.append(Mode("headway-alone", {**preloaded, "HEADWAY_PACK_THREADS": "1"}))
        if "ghosts" in suite.extra_modes:
            modes.append(always(preloaded, suite))
        modes += [mode for mode in adaptive_candidates(suite, preloaded) if not refusal(mode)]
    if has_setting(mpi, suite):
        modes.append(Mode("plain-transport", transport="duplex"))
    modes += peer_modes(mpi, suite)
    if "multiple" in suite.extra_modes:
        modes.append(Mode("plain-multiple", arguments=("--thread-level", "multiple")))
    if wanted is None:
        return modes
    return [
        mode
        for mode in modes
        if mode.name in ("plain", *wanted) or mode.name.split(":")[0] in wanted
    ]
