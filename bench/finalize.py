#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How often a job never leaves MPI_Finalize, and whether what was sent right before it arrives.

finalize.py [--mpi NAME] [--launches N] [--only MODE ...] [--out FILE]

Two nodes, two user processes a node (`plain-one`: one), tests/mpi/last_messages.c in its ways in
turn. Launches of the modes alternate. A job that does not end in TIMEOUT_S hangs; one that ends
without each process having every message lost one. `headway-mixed`: every second process has the
library. With --out of a file that is there the launches are added to its rows, so that a long
series can be made in pieces.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "cli"))

from headway.bench import machine, places  # noqa: E402
from headway.cluster import Cluster  # noqa: E402
from headway.mpi import mpis  # noqa: E402

WAYS = ("eager", "buffered", "large", "freed", "callback")
NODES = 2
TIMEOUT_S = 12.0


@dataclass(frozen=True)
class Mode:
    """Processes a node, ghosts among them, and the library's options; None: without the library."""

    users: int
    options: dict[str, str] | None
    ghosts: int = 0
    launcher_env: dict[str, str] = field(default_factory=dict)


MODES = {
    "plain": Mode(2, None),
    "plain-one": Mode(1, None),
    "headway": Mode(2, {}),
    "headway-off": Mode(2, {"HEADWAY_ENGINE": "off"}),
    "headway-ghosts": Mode(2, {"HEADWAY_GHOSTS": "1"}, 1),
    "headway-mpi": Mode(2, {"HEADWAY_FINALIZE": "mpi"}),
    "headway-mixed": Mode(2, {}),
}
COUNTS = ("launches", "hung", "failed", "lost", "hung_after_all_arrived")


def compile_program(mpi: mpis.Mpi) -> Path:
    out = ROOT / "build" / "bench" / mpi.name / "last_messages"
    out.parent.mkdir(parents=True, exist_ok=True)
    source = ROOT / "tests" / "mpi" / "last_messages.c"
    subprocess.run(
        [mpi.mpicc, "-std=gnu17", "-O1", "-w", source, "-o", out], env=mpi.environment(), check=True
    )
    return out


def launch(cluster: Cluster, mpi: mpis.Mpi, mode: Mode, argv: list[str], is_mixed: bool) -> dict:
    """One launch, as what is added to the counts."""
    env = None
    if mode.options is not None:
        library = ROOT / "build" / "lib" / f"libheadway-{mpi.flavour}.so"
        env = mode.options | ({} if is_mixed else {"LD_PRELOAD": str(library)})
        if is_mixed:  # the first process of each two alone has the library
            script = f'[ $((PMI_RANK % 2)) = 0 ] && export LD_PRELOAD={library}; exec "$@"'
            argv = ["/bin/sh", "-c", script, "sh", *argv]
    done = cluster.run(
        mpi,
        argv,
        env=env,
        ranks_per_node=mode.users + mode.ghosts,
        netmod="ofi" if mpi.vendor == "MPICH" and mpi.major >= 5 else None,
        timeout=TIMEOUT_S,
    )
    has_all = done.stdout.count("has all") == NODES * mode.users
    found = {
        "launches": 1,
        "hung": int(done.timed_out),
        "failed": int(not done.timed_out and done.returncode != 0),
        "lost": int(not done.timed_out and not has_all),
        "hung_after_all_arrived": int(done.timed_out and has_all),
    }
    if done.timed_out or done.returncode or not has_all:
        print(argv[-1], found, done.stderr[-300:], flush=True)
    return found


def rows_of(path: Path | None) -> dict[tuple[str, str, str], dict]:
    if path is None or not path.exists():
        return {}
    return {(r["mpi"], r["mode"], r["case"]): r for r in json.loads(path.read_text())["rows"]}


def report(path: Path | None, mpi: mpis.Mpi, rows: dict[tuple[str, str, str], dict]) -> None:
    for row in rows.values():
        print({key: row[key] for key in ("mpi", "mode", "case", *COUNTS)})
    if path is None:
        return
    old = json.loads(path.read_text()) if path.exists() else {}
    document = {
        "schema": 1,
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": machine.describe(),
        "commit": places.commit(),
        "is_tree_clean": places.is_tree_clean(),
        "title": "Jobs that never leave MPI_Finalize",
        "notes": [
            f"{NODES} nodes, 1gbit; a job that takes more than {TIMEOUT_S:.0f} s hangs",
            "the program is tests/mpi/last_messages.c",
        ],
        "mpis": old.get("mpis", {}) | {mpi.name: mpi.title},
        "rows": list(rows.values()),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", default="mpich4")
    parser.add_argument("--launches", type=int, default=20, help="of each mode")
    parser.add_argument("--first", type=int, default=0, help="where in the ways to begin")
    parser.add_argument("--only", nargs="*", choices=MODES, default=list(MODES))
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    mpi = mpis.find_mpi(arguments.mpi)
    program = compile_program(mpi)
    rows = rows_of(arguments.out)
    with Cluster(NODES, rate="1gbit", pin="none") as cluster:
        for number in range(arguments.first, arguments.first + arguments.launches):
            case = WAYS[number % len(WAYS)]
            for name in arguments.only:
                found = launch(
                    cluster, mpi, MODES[name], [str(program), case], name == "headway-mixed"
                )
                key = (mpi.name, name, case)
                row = rows.setdefault(
                    key, {"mpi": mpi.name, "mode": name, "case": case} | dict.fromkeys(COUNTS, 0)
                )
                for count in COUNTS:
                    row[count] += found[count]
    report(arguments.out, mpi, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
