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
    modes = [Mode("plain")]
    if library:
        if suite.is_forced:
            preloaded |= {"HEADWAY_ENGINE": "thread"}
        if "messages" in suite.extra_modes:
            preloaded |= {"HEADWAY_PACK_MESSAGES": "yes"}
        modes.append(Mode("headway", preloaded, transport="auto"))
        if "thread" in suite.extra_modes:
            forced = {**preloaded, "HEADWAY_ENGINE": "thread"}
            modes.append(Mode("headway-thread", forced, transport="auto"))
        modes += [variant_mode(name, {**preloaded, **env}) for name, env in variants.items()]
        if {"transport", "keep"} & set(suite.extra_modes) and has_setting(mpi, suite):
            modes.append(Mode("headway-keep", preloaded))
        if "fixed" in suite.extra_modes:
            modes += fixed_modes(preloaded)
        if "off" in suite.extra_modes:
            modes.append(Mode("headway-off", {**preloaded, "HEADWAY_ENGINE": "off"}))
        if "profile" in suite.extra_modes:
            watching = {"HEADWAY_PROFILE": "yes", "HEADWAY_ENGINE": "off"}
            modes.append(Mode("headway-profile", {**preloaded, **watching}))
            if "paths" in suite.extra_modes:
                watching |= {"HEADWAY_PATHS": "3"}
                modes.append(Mode("headway-paths", {**preloaded, **watching}))
        if "unpacked" in suite.extra_modes:
            modes.append(Mode("headway-unpacked", {**preloaded, "HEADWAY_PACK": "off"}))
        if "alone" in suite.extra_modes:
            modes.append(Mode("headway-alone", {**preloaded, "HEADWAY_PACK_THREADS": "1"}))
        if "ghosts" in suite.extra_modes:
            modes.append(Mode("headway-ghosts", {**preloaded, "HEADWAY_GHOSTS": "1"}, ghosts=1))
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
