# SPDX-License-Identifier: BSD-3-Clause
"""`headway cluster up|run|down|status`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway import console, options_table, profile, records
from headway.cluster import state
from headway.cluster.cluster import Cluster
from headway.cluster.options import ClusterOptions
from headway.cluster.process import RunResult
from headway.errors import HeadwayError
from headway.mpi import preload, program, transport
from headway.mpi.mpis import Mpi, find_mpi, find_mpis
from headway.record.table import Record
from headway.run import command as run_command

DEFAULT_NAME = "default"


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser(
        "cluster",
        help="a test cluster of network namespaces on this machine",
        description="Nodes in namespaces, links of a given rate; an MPI takes them for machines.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="up|run|down|status")
    up = actions.add_parser("up", help="make a cluster that lasts until `headway cluster down`")
    add_cluster_options(up)
    up.set_defaults(call=cluster_up)
    run = actions.add_parser(
        "run",
        help="run an MPI program on every node",
        usage="headway cluster run [options] [--] PROGRAM [ARGUMENTS]",
    )
    run.add_argument(
        "--name", default=DEFAULT_NAME, help="the cluster to use (default: %(default)s)"
    )
    run.add_argument(
        "--ranks-per-node",
        type=int,
        default=1,
        metavar="R",
        help="ranks on every node (default: %(default)s)",
    )
    run.add_argument(
        "--mpi", metavar="NAME", help="which MPI's launcher (default: the one the program links)"
    )
    run.add_argument("--headway", action="store_true", help="preload the library")
    engines = next(o.values for o in options_table.OPTIONS if o.name == "HEADWAY_ENGINE")
    run.add_argument("--engine", choices=engines, help="--headway with this HEADWAY_ENGINE")
    run.add_argument(
        "--profile",
        action="store_true",
        help="--headway unaccelerated (unless --engine says otherwise), with the report on where "
        "the program waits",
    )
    run.add_argument(
        "--record", metavar="DIRECTORY", help="--headway; keep the record of each rank there"
    )
    run.add_argument(
        "--timeout",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="end the run after this long (default: %(default)s)",
    )
    run.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGUMENTS]")
    run.set_defaults(call=cluster_run)
    down = actions.add_parser("down", help="take a cluster down and end everything in it")
    which = down.add_mutually_exclusive_group()
    which.add_argument("--name", help=f"which one (default: {DEFAULT_NAME})")
    which.add_argument("--all", action="store_true", help="all of yours")
    down.set_defaults(call=cluster_down)
    status = actions.add_parser("status", help="what is up, with byte counters, as JSON")
    status.add_argument("--name", help="only this one (default: all)")
    status.set_defaults(call=cluster_status)


def add_cluster_options(parser: argparse.ArgumentParser) -> None:
    default = ClusterOptions()
    parser.add_argument("--name", default=DEFAULT_NAME, help="name (default: %(default)s)")
    parser.add_argument(
        "--nodes", type=int, default=default.nodes, metavar="N", help="nodes (default: %(default)s)"
    )
    parser.add_argument(
        "--rate",
        default=default.rate,
        help="rate of each link, each way: 1gbit, 200mbit, none (default: %(default)s)",
    )
    parser.add_argument(
        "--burst",
        type=int,
        default=default.burst,
        metavar="BYTES",
        help="token bucket of a link (default: %(default)s)",
    )
    parser.add_argument(
        "--gso",
        type=int,
        default=default.gso,
        metavar="BYTES",
        help="largest segment handed to a link (default: %(default)s)",
    )
    parser.add_argument(
        "--sockbuf",
        default=default.sockbuf,
        metavar="SIZE",
        help="socket buffer limit: default, small or bytes (default: %(default)s)",
    )
    parser.add_argument(
        "--congestion",
        default=default.congestion,
        metavar="NAME",
        help="TCP congestion control (default: %(default)s)",
    )
    parser.add_argument(
        "--pin",
        choices=("core", "none"),
        default=default.pin,
        help="give each node cores of its own (default: %(default)s)",
    )


def cluster_up(arguments: argparse.Namespace) -> int:
    known = state.load(arguments.name)
    if known:
        raise HeadwayError(
            f"cluster {arguments.name!r} is up already", "take it down first: headway cluster down"
        )
    cluster = Cluster(
        arguments.nodes,
        rate=arguments.rate,
        burst=arguments.burst,
        gso=arguments.gso,
        sockbuf=arguments.sockbuf,
        congestion=arguments.congestion,
        pin=arguments.pin,
    )
    cluster.start()
    try:
        cluster.detach(arguments.name)
    except BaseException:
        cluster.stop()
        state.remove(arguments.name)
        raise
    kind = "rootless, in a user namespace" if cluster.is_rootless else "as root"
    console.say(f"cluster {arguments.name!r} is up, {kind}: {cluster.describe()}")
    return 0


def choose_mpi(name: str | None, target: program.Target) -> Mpi:
    """The MPI asked for, or the one whose library the program links."""
    if name:
        mpi = find_mpi(name)
        if mpi.flavour != target.flavour:
            raise HeadwayError(
                f"{target.path} links {target.title}, not {mpi.title}",
                "leave --mpi out, or build the program for that MPI",
            )
        return mpi
    mpis = find_mpis()
    for mpi in mpis:
        if target.library and mpi.owns(target.library, target.flavour):
            return mpi
    raise HeadwayError(
        f"no launcher known for {target.title} ({target.library})",
        f"name one with --mpi: {', '.join(m.name for m in mpis) or 'none found'}",
    )


def cluster_run(arguments: argparse.Namespace) -> int:
    command = program.strip_dashes(arguments.command)
    if not command:
        raise HeadwayError("no program to run", "headway cluster run [options] PROGRAM")
    if arguments.ranks_per_node < 1:
        raise HeadwayError(
            f"{arguments.ranks_per_node} ranks a node cannot be run", "ask for 1 or more"
        )
    cluster = Cluster.attach(arguments.name)
    target = program.inspect(command[0])
    mpi = choose_mpi(arguments.mpi, target)
    words = [str(Path(target.path).absolute()), *command[1:]]
    with ranks_of(arguments, cluster, target) as ranks:
        for name, value in ranks.launcher_env.items():
            console.say(f"{name}={value}, as headway run on such links")
        result = cluster.run(
            mpi,
            words,
            env=ranks.env,
            launcher_env=ranks.launcher_env,
            ranks_per_node=arguments.ranks_per_node,
            timeout=arguments.timeout,
            on_line=lambda line: print(line, flush=True),
        )
        sys.stderr.write(result.stderr)
        tell_of_wire(mpi, result)
        if ranks.folder is not None:
            ranks.tell(records.since(ranks.folder, ranks.before))
    if result.timed_out:
        raise HeadwayError(
            f"the program ran out of its {arguments.timeout:g} s and was ended",
            "raise --timeout, or look for a deadlock",
            status=124,
        )
    return result.returncode if result.returncode >= 0 else 128 - result.returncode


@dataclass
class Ranks:
    """What the ranks of a run get, and what is told of their records."""

    env: dict[str, str] = field(default_factory=dict)
    launcher_env: dict[str, str] = field(default_factory=dict)
    folder: Path | None = None  # of their records; none where the library is not with them
    before: dict[str, int] = field(default_factory=dict)  # records that lay there
    tell: Callable[[list[Record]], None] = run_command.tell_summary


@contextmanager
def ranks_of(
    arguments: argparse.Namespace, cluster: Cluster, target: program.Target
) -> Iterator[Ranks]:
    """As `headway run` and `headway profile` have them. The nodes share this machine's files, but
    for /dev/shm and /sys."""
    wants = arguments.headway or arguments.engine or arguments.profile or arguments.record
    if not wants:
        yield Ranks()
        return
    engine = arguments.engine or ("off" if arguments.profile else None)
    settings = {"HEADWAY_ENGINE": engine} if engine else {}
    if arguments.profile:
        settings["HEADWAY_PROFILE"] = "yes"
        if cluster.bits_per_s and "HEADWAY_LINK_RATE" not in os.environ:
            settings["HEADWAY_LINK_RATE"] = str(round(cluster.bits_per_s / 8))
    asked = argparse.Namespace(record=arguments.record, quiet=False, words=[], ranks=None)
    with run_command.record_folder(asked, {}, "/tmp") as folder:
        settings["HEADWAY_RECORD"] = str(folder)
        told: dict[str, str] = {}
        word = settings.get("HEADWAY_ENGINE", os.environ.get("HEADWAY_ENGINE", ""))
        if word.lower() != "off":
            told = transport.settings(target.title, cluster.bits_per_s)
        env = preload.rank_environment(target.flavour, settings, first=target.first)
        tell = profile.tell if arguments.profile else run_command.tell_summary
        assert folder
        yield Ranks(env, told, folder, records.times(folder), tell)


def tell_of_wire(mpi: Mpi, result: RunResult) -> None:
    wire = ", ".join(f"{n.node} sent {n.sent} B, received {n.received} B" for n in result.wire)
    whose = ", those of another run at the same time included" if result.is_wire_shared else ""
    console.say(f"{mpi.title}, {result.seconds:.2f} s, over the links: {wire}{whose}")


def cluster_down(arguments: argparse.Namespace) -> int:
    if arguments.all:
        found = state.load_all()
    else:
        found = [s for s in [state.load(arguments.name or DEFAULT_NAME)] if s]
    if arguments.name and not found:
        Cluster.known(arguments.name)
    for one in found:
        Cluster.attach(one.name).stop()
        state.remove(one.name)
        console.say(f"cluster {one.name!r} is down")
    if not found:
        console.say("no cluster was up" if arguments.all else f"no cluster {DEFAULT_NAME!r} was up")
    return 0


def cluster_status(arguments: argparse.Namespace) -> int:
    found = state.load_all() if arguments.name is None else [Cluster.known(arguments.name)]
    clusters = []
    for one in found:
        links = [vars(n) for n in Cluster.attach(one.name).counters()]
        clusters.append({"name": one.name, "init": one.init, **one.options, "links": links})
    print(json.dumps({"clusters": clusters}, indent=2))
    return 0
