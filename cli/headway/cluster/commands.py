# SPDX-License-Identifier: BSD-3-Clause
"""`headway cluster up|run|down|status`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from headway import console
from headway.cluster import state
from headway.cluster.cluster import Cluster
from headway.cluster.options import ClusterOptions
from headway.errors import HeadwayError
from headway.mpi import preload, program, transport
from headway.mpi.mpis import Mpi, find_mpi, find_mpis

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
    env: dict[str, str] = {}
    launcher_env: dict[str, str] = {}
    if arguments.headway:
        env = preload.rank_environment(target.flavour, {})
        launcher_env = transport.settings(target.title, cluster.bits_per_s)
        for name, value in launcher_env.items():
            console.say(f"{name}={value}, as headway run on such links")
    result = cluster.run(
        mpi,
        [str(Path(target.path).absolute()), *command[1:]],
        env=env,
        launcher_env=launcher_env,
        ranks_per_node=arguments.ranks_per_node,
        timeout=arguments.timeout,
        on_line=lambda line: print(line, flush=True),
    )
    sys.stderr.write(result.stderr)
    wire = ", ".join(f"{n.node} sent {n.sent} B, received {n.received} B" for n in result.wire)
    console.say(f"{mpi.title}, {result.seconds:.2f} s, over the links: {wire}")
    if result.timed_out:
        raise HeadwayError(
            f"the program ran out of its {arguments.timeout:g} s and was ended",
            "raise --timeout, or look for a deadlock",
            status=124,
        )
    return result.returncode if result.returncode >= 0 else 128 - result.returncode


def cluster_down(arguments: argparse.Namespace) -> int:
    if arguments.all:
        found = state.load_all()
    else:
        found = [s for s in [state.load(arguments.name or DEFAULT_NAME)] if s]
    if arguments.name and not found:
        raise HeadwayError(
            f"no cluster called {arguments.name!r} is up",
            "headway cluster status lists those that are",
        )
    for one in found:
        Cluster.attach(one.name).stop()
        state.remove(one.name)
        console.say(f"cluster {one.name!r} is down")
    if not found:
        console.say("no cluster was up" if arguments.all else f"no cluster {DEFAULT_NAME!r} was up")
    return 0


def cluster_status(_: argparse.Namespace) -> int:
    clusters = []
    for one in state.load_all():
        links = [vars(n) for n in Cluster.attach(one.name).counters()]
        clusters.append({"name": one.name, "init": one.init, **one.options, "links": links})
    print(json.dumps({"clusters": clusters}, indent=2))
    return 0
