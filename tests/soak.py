#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs whose messages ghosts move, between two nodes, until so many messages were sent.

Each turn draws a seed, an MPI, a way (tickets, the same with messages within a node, or sealed
communicators), the smallest message that is moved and the room for staging, and runs the same
program plain and with ghosts. Both must end well and print the same digests. Where plain fails the
seed says nothing, and is only counted.

The last line is a JSON object: for each MPI launches, what the programs sent in all (`sends`), the
counters of the records (doc/schema), differences, failures with ghosts alone, and plain ones.
`longest_s` is the longest wall time of a launch, `longest_inside_s` that from MPI_Init to
MPI_Finalize.
The exit status is 1 if anything differed or failed with ghosts alone.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import support
import test_moved
import test_random
import two_nodes
from headway.cluster import RunResult
from headway.mpi.mpis import Mpi

OFFLOAD_MINS = ("128", "4K", "64K", "1M")
STAGINGS = ("64K", "256M")
WAYS = ("tickets", "sealed", "near")
ROUNDS = 60
SEEDS = 6
LIMIT_S = 150.0
COUNTERS = ("p2p_offloaded", "p2p_offloaded_bytes", "p2p_tickets", "p2p_near", "p2p_sealed_sends")


@dataclass(frozen=True)
class Turn:
    way: str
    offload_min: str
    staging: str
    users: int  # processes a node
    first_seed: int

    def arguments(self) -> list[str]:
        # Where only large messages are moved some have to be large.
        most = {"1M": 4 << 20, "64K": 1 << 20}.get(self.offload_min, 1 << 16)
        words = [str(self.first_seed), str(SEEDS), "--rounds", str(ROUNDS), "--max", str(most)]
        words += ["--level", "funneled", "--tally"]
        return words + (["--exact"] if self.way == "sealed" else [])

    def options(self) -> dict[str, str]:
        chosen = {"HEADWAY_OFFLOAD_MIN": self.offload_min, "HEADWAY_STAGING": self.staging}
        near = {"HEADWAY_P2P_NEAR": "on" if self.way == "near" else "off"}
        return {**test_moved.MOVED, **chosen, **near}


@dataclass
class Tally:
    counts: Counter[str] = field(default_factory=Counter)
    longest_s: float = 0.0
    longest_inside_s: float = 0.0


def count_records(tally: Tally, folder: Path) -> None:
    for record in support.read_records(folder):
        for name in COUNTERS:
            tally.counts[name] += record.get(name, 0)
        tally.longest_inside_s = max(tally.longest_inside_s, record["wall_s"])


def sends_of(done: RunResult) -> int:
    return next(int(line.split()[1]) for line in done.stdout.splitlines() if "sends " in line)


def take(mpi: Mpi, turn: Turn, tally: Tally) -> str:
    """What was wrong, or nothing."""
    program = support.compile_program(mpi, "random_program", test_random.SOURCES)
    words = [str(program), *turn.arguments()]
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        plain, moved = two_nodes.both(
            mpi,
            words,
            Path(name),
            users=turn.users,
            timeout=LIMIT_S,
            environment=turn.options(),
        )
        tally.counts["launches"] += 1
        if not plain.is_ok:
            tally.counts["plain_failed"] += 1
            return ""
        tally.longest_s = max(tally.longest_s, moved.seconds)
        if not moved.is_ok:
            tally.counts["failed"] += 1
            return moved.stderr[-4000:] or "it ended without a word, or took too long"
        tally.counts["sends"] += sends_of(plain)
        count_records(tally, Path(name))
    if sorted(plain.stdout.splitlines()) == sorted(moved.stdout.splitlines()):
        return ""
    tally.counts["different"] += 1
    return "the digests differ"


def turns(number: int) -> Turn:
    """The ways in turn, so that a short run has each of them."""
    drawn = []
    for kinds in (WAYS, OFFLOAD_MINS, STAGINGS):
        drawn.append(kinds[number % len(kinds)])
        number //= len(kinds)
    users = 2 if drawn[0] == "near" else 1 + number % 2
    return Turn(*drawn, users, secrets.randbelow(10**9))


def possible(mpi: Mpi, turn: Turn) -> Turn:
    """The same, or without what plain MPI hangs on."""
    if mpi.name == "ompi4" and turn.way == "sealed":  # on communicators with assertions
        return replace(turn, way="tickets")
    if mpi.name == "impi" and turn.users > 1:  # now and then, with two processes on each node
        return replace(turn, way="tickets" if turn.way == "near" else turn.way, users=1)
    return turn


def moved_by_ghosts(tally: Tally) -> int:
    return tally.counts["p2p_offloaded"] + tally.counts["p2p_sealed_sends"]


def summary(tallies: dict[str, Tally]) -> dict[str, dict[str, float]]:
    return {
        name: {
            **tally.counts,
            "longest_s": round(tally.longest_s, 1),
            "longest_inside_s": round(tally.longest_inside_s, 1),
        }
        for name, tally in tallies.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev soak", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--mpis", default="", help="a comma between them; default: all found")
    parser.add_argument("--messages", type=int, default=1_000_000, help="that ghosts are to move")
    parser.add_argument("--minutes", type=float, default=600.0, help="to stop after")
    chosen = parser.parse_args()
    known = support.known_mpis()
    names = [name for name in chosen.mpis.split(",") if name] or list(known)
    if unknown := set(names) - set(known):
        parser.error(f"no MPI called {', '.join(sorted(unknown))} (found: {', '.join(known)})")
    tallies = {name: Tally() for name in names}
    until_s, number = time.monotonic() + 60 * chosen.minutes, 0
    while time.monotonic() < until_s:
        if sum(map(moved_by_ghosts, tallies.values())) >= chosen.messages:
            break
        turn = turns(number)
        for name in names:
            mine = possible(known[name], turn)
            if wrong := take(known[name], mine, tallies[name]):
                print(f"{name}: {mine}: {wrong}", file=sys.stderr, flush=True)
        number += 1
        print(json.dumps(summary(tallies)), flush=True)
    return int(any(t.counts["failed"] or t.counts["different"] for t in tallies.values()))


if __name__ == "__main__":
    sys.exit(main())
