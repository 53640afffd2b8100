#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads every #include in src/ against the layers of ARCHITECTURE.md; exit 1 names offenders."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

BELOW = {
    "base": set(),
    "shm": {"base"},
    "real": {"base"},
    "profile": {"base"},
    "objects": {"real", "shm", "profile", "base"},
    "world": {"objects", "real", "shm", "profile", "base"},
    "progress": {"real", "shm", "profile", "base"},
    "team": {"policy", "shm", "profile", "base"},
    "policy": {"base"},
    "ghost": {"policy", "world", "progress", "real", "shm", "profile", "base"},
    "engines": {
        "ghost",
        "policy",
        "team",
        "objects",
        "world",
        "progress",
        "real",
        "shm",
        "profile",
        "base",
    },
    "mpi": {
        *("engines", "ghost", "policy", "team", "objects", "world", "progress"),
        *("real", "shm", "profile", "base"),
    },
}
# What the generators write, and the layer each belongs to.
GENERATED = {
    "options_table.h": "base",
    "record_table.h": "profile",
    "real_table.h": "real",
    "real_inline.h": "real",
    "engine_calls.h": "engines",
    "hooks.h": "mpi",
}
WITHOUT_MPI = {"base", "shm", "profile", "policy", "team"}
# Layers of functions of their arguments alone: no clock, no MPI, no thread.
PURE = {"policy"}
IMPURE = re.compile(
    r"(?:pthread|time|threads|stdatomic|unistd|signal)\.h|(?:sys|linux)/.*|base/clock\.h"
)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def engine_of(path: str) -> str:
    """engines/thread/x.h -> thread; engines/engine.h, which all share -> ''."""
    parts = path.split("/")
    return parts[1] if len(parts) > 2 and parts[0] == "engines" else ""


def is_engines_own(target: str) -> bool:
    """What an engine has for itself, and the table of all: nobody above includes it."""
    return target.startswith("engines/") and target != "engines/engine.h"


def complaints(path: Path) -> list[str]:
    inside = path.relative_to(ROOT / "src").as_posix()
    layer = inside.split("/")[0]
    if layer not in BELOW:
        return [f"{inside}: src/{layer} is not a layer"]
    found = []
    for _, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if target == "mpi.h":
            if layer in WITHOUT_MPI or inside != "real/real.h":
                found.append(f"{inside}: includes mpi.h; use real/real.h")
            continue
        if layer in PURE and IMPURE.fullmatch(target):
            found.append(f"{inside}: {layer} is pure and may not include {target}")
        other = GENERATED.get(target, target.split("/")[0])
        if other not in BELOW:
            continue
        if other != layer and other not in BELOW[layer]:
            found.append(f"{inside}: {layer} may not include {target}")
        if other == "engines" and layer != "engines" and is_engines_own(target):
            found.append(f"{inside}: of src/engines only engines/engine.h ({target})")
        mine, theirs = engine_of(inside), engine_of(target)
        if layer == other == "engines" and theirs and mine != theirs:
            found.append(f"{inside}: engines do not include one another ({target})")
    return found


def main() -> int:
    files = sorted((ROOT / "src").rglob("*.[ch]"))
    found = [line for path in files for line in complaints(path)]
    for line in found:
        print(f"check_layers: {line}", file=sys.stderr)
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
