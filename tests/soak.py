#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs whose messages ghosts move, between two nodes, until they sent so many.

Each turn draws a seed, an MPI, a way (tickets, the same with messages within a node, or sealed
communicators), the smallest message that is moved and the room for staging, and runs the same
program plain and with ghosts. Both must end well and print the same digests. Where plain fails the
seed says nothing, and is only counted.

Prints what went wrong, and at the end a line for each MPI and way: launches, what the programs sent
in all (`sends`), the counters of the records (doc/schema), differences, failures with ghosts alone,
and plain ones. With --out a file of doc/results/data has them. The exit status is 1 if anything
differed or failed with ghosts alone.
"""

from __future__ import annotations

import argparse
import datetime
import json
import secrets
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import support
import test_moved
import test_random
import two_nodes
from headway.bench import machine, places
from headway.cluster import RunResult
from headway.mpi.mpis import Mpi

OFFLOAD_MINS = ("128", "4K", "64K", "1M")
STAGINGS = ("64K", "256M")
WAYS = ("tickets", "sealed", "near")
ROUNDS = 60
SEEDS = 6
LIMIT_S = 300.0
COUNTERS = ("p2p_offloaded", "p2p_near", "p2p_sealed_sends", "p2p_offloaded_bytes")
COUNTS = ("launches", "sends", *COUNTERS, "different", "failed", "plain_failed")

#: what was counted, by MPI, way, and the rest of a turn
Rows = dict[tuple[str, str, str], dict[str, int]]


@dataclass(frozen=True)
class Turn:
    way: str
    offload_min: str
    staging: str
    users: int  # processes a node
    first_seed: int

    def case(self) -> str:
        return f"from {self.offload_min}, staging {self.staging}"

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


def sends_of(done: RunResult) -> int:
    return next(int(line.split()[1]) for line in done.stdout.splitlines() if "sends " in line)


def take(mpi: Mpi, turn: Turn, counts: dict[str, int]) -> str:
    """What was wrong, or nothing."""
    program = support.compile_program(mpi, "random_program", test_random.SOURCES)
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        plain, moved = two_nodes.both(
            mpi,
            [str(program), *turn.arguments()],
            Path(name),
            users=turn.users,
            timeout=LIMIT_S,
            environment=turn.options(),
        )
        records = support.read_records(Path(name))
    counts["launches"] += 1
    if not plain.is_ok:
        counts["plain_failed"] += 1
        return ""
    if not moved.is_ok:
        counts["failed"] += 1
        return moved.stderr[-4000:] or "it ended without a word, or took too long"
    counts["sends"] += sends_of(plain)
    for counter in COUNTERS:
        counts[counter] += test_moved.total(records, counter)
    if sorted(plain.stdout.splitlines()) == sorted(moved.stdout.splitlines()):
        return ""
    counts["different"] += 1
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


def sum_of(rows: Rows, *names: str) -> int:
    return sum(row[name] for row in rows.values() for name in names)


def tell(rows: Rows) -> None:
    for name, way in sorted({key[:2] for key in rows}):
        mine = {key: row for key, row in rows.items() if key[:2] == (name, way)}
        print(name, way, json.dumps({count: sum_of(mine, count) for count in COUNTS}), flush=True)


def write(path: Path, rows: Rows, mpis: list[Mpi]) -> None:
    document = {
        "schema": 1,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "commit": places.commit(),
        "is_tree_clean": places.is_tree_clean(),
        "title": "Random programs, plain and with messages that ghosts move",
        "notes": ["2 nodes, 1gbit; the program is tests/mpi/random", f"limit {LIMIT_S:.0f} s"],
        "mpis": {mpi.name: mpi.title for mpi in mpis},
        "rows": [
            {"mpi": name, "mode": way, "case": case, **row}
            for (name, way, case), row in sorted(rows.items())
        ],
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev soak", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--mpis", default="", help="a comma between them; default: all found")
    parser.add_argument("--messages", type=int, default=1_000_000, help="to be sent in all")
    parser.add_argument("--minutes", type=float, default=600.0, help="to stop after")
    parser.add_argument("--out", type=Path, help="a file for the counts")
    chosen = parser.parse_args()
    known = support.known_mpis()
    names = [name for name in chosen.mpis.split(",") if name] or list(known)
    if unknown := set(names) - set(known):
        parser.error(f"no MPI called {', '.join(sorted(unknown))} (found: {', '.join(known)})")
    rows: Rows = {}
    until_s, number = time.monotonic() + 60 * chosen.minutes, 0
    while time.monotonic() < until_s and sum_of(rows, "sends") < chosen.messages:
        turn = turns(number)
        for name in names:
            mine = possible(known[name], turn)
            counts = rows.setdefault((name, mine.way, mine.case()), dict.fromkeys(COUNTS, 0))
            if wrong := take(known[name], mine, counts):
                print(f"{name}: {mine}: {wrong}", file=sys.stderr, flush=True)
        number += 1
    tell(rows)
    if chosen.out:
        write(chosen.out, rows, [known[name] for name in names])
    return int(sum_of(rows, "different", "failed") > 0)


if __name__ == "__main__":
    sys.exit(main())
