#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a profile costs a Python program: mpi4py on one node, plain and profiled, alternating.

profile_python.py [--launches N] [--before FOLDER] [--out FILE]

Each launch prints seconds: half a round trip of a ping-pong of 8 B between two ranks; and, of one
rank alone, a call of Iprobe, in the first thread and in another. FOLDER holds libraries to compare
with, `libheadway-<flavour>.so` of another commit. What failed is a row as well.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT_S = 60


def pingpong(rounds: int) -> None:
    from mpi4py import MPI

    comm, data = MPI.COMM_WORLD, bytearray(8)
    other = 1 - comm.rank
    for count in (rounds // 10, rounds):
        comm.Barrier()
        began = time.perf_counter()
        for _ in range(count):
            if comm.rank == 0:
                comm.Send(data, other)
                comm.Recv(data, other)
            else:
                comm.Recv(data, other)
                comm.Send(data, other)
        took = time.perf_counter() - began
    if comm.rank == 0:
        os.write(1, b"%.9f\n" % (took / rounds / 2))


def call(calls: int) -> None:
    from mpi4py import MPI

    probe = MPI.COMM_SELF.Iprobe
    for count in (calls // 10, calls):
        began = time.perf_counter()
        for _ in range(count):
            probe()
        took = time.perf_counter() - began
    os.write(1, b"%.9f\n" % (took / calls))


def call_in_thread(calls: int) -> None:
    import threading

    thread = threading.Thread(target=call, args=(calls,))
    thread.start()
    thread.join()


#: case -> what a launch does, ranks, repetitions
CASES = {
    "ping-pong, 8 B": (pingpong, 2, 40_000),
    "call": (call, 1, 300_000),
    "call in a thread": (call_in_thread, 1, 300_000),
}


def launched(name: str) -> None:
    function, _, count = CASES[name]
    function(count)


def measure(options: argparse.Namespace) -> dict:
    sys.path.insert(0, str(ROOT / "cli"))
    from headway.bench import machine, places
    from headway.mpi import launch
    from headway.mpi.mpis import find_mpis

    mpis = [mpi for mpi in find_mpis() if mpi.python and not mpi.is_intel]
    rows: dict[tuple[str, str, str], list[float | None]] = {}
    watching = {"HEADWAY_PROFILE": "yes", "HEADWAY_ENGINE": "off"}
    folders = {"headway-profile": ROOT / "build" / "lib"}
    if options.before:
        folders["headway-profile-before"] = options.before.resolve()
    with machine.timed_section(), machine.cpu_share() as share:
        for _ in range(options.launches):
            for mpi in mpis:
                for name, (_, ranks, _) in CASES.items():
                    for mode in ("plain", *folders):
                        forward = {}
                        if mode in folders:
                            library = folders[mode] / f"libheadway-{mpi.flavour}.so"
                            forward = {"LD_PRELOAD": str(library), **watching}
                            forward["HEADWAY_RECORD"] = tempfile.gettempdir()
                        words = [str(mpi.python), str(Path(__file__).resolve()), "--case", name]
                        made = launch.build(mpi, words, ranks=ranks, forward=forward)
                        rows.setdefault((mpi.name, name, mode), []).append(sample(made))
    return {
        "schema": 1,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "commit": places.commit(),
        "is_tree_clean": places.is_tree_clean(),
        "title": "What a profile costs a Python program",
        "notes": [f"CPU: {share}", f"{options.launches} launches of each mode, alternating"],
        "mpis": {mpi.name: mpi.title for mpi in mpis},
        "rows": [row(key, samples) for key, samples in rows.items()],
    }


def sample(made: object) -> float | None:
    """Seconds of one launch; None if it failed."""
    env = {**os.environ, **made.env}
    try:
        done = subprocess.run(made.argv, env=env, capture_output=True, text=True, timeout=TIMEOUT_S)
        return float(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return None


def row(key: tuple[str, str, str], samples: list[float | None]) -> dict:
    good = [seconds for seconds in samples if seconds is not None]
    mpi, case, mode = key
    median = statistics.median(good) if good else None
    failed = len(samples) - len(good)
    return {"mpi": mpi, "case": case, "mode": mode, "samples": samples, "failed": failed} | {
        "median_s": median
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What a profile costs a Python program.")
    parser.add_argument("--case", choices=CASES, help=argparse.SUPPRESS)
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("--before", type=Path, help="libraries of another commit")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.case:
        launched(options.case)
        return
    result = measure(options)
    for one in result["rows"]:
        median = "failed" if one["median_s"] is None else f"{one['median_s'] * 1e9:8.0f} ns"
        print(f"{one['mpi']:8} {one['case']:18} {one['mode']:24} {median}")
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
