#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which lines and branches of src/ ran: coverage.py BUILD_DIR, after programs built there have run.

Prints a line for each folder and, with --files, for each file. A branch is a way out of a
condition, as gcov counts them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"


@dataclass
class Counts:
    """Of one file: how often each line ran, and each branch of it."""

    lines: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    branches: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))

    def add(self, line: dict) -> None:
        number = line["line_number"]
        self.lines[number] += line["count"]
        for index, branch in enumerate(line.get("branches", ())):
            self.branches[number, index] += branch["count"]


def ask_gcov(data: Path) -> list[dict]:
    """What gcov says of one object file: its sources."""
    words = ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(data)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=data.parent, check=True)
    return [one for text in done.stdout.splitlines() if text for one in json.loads(text)["files"]]


def collect(build: Path) -> dict[Path, Counts]:
    found: dict[Path, Counts] = defaultdict(Counts)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for files in pool.map(ask_gcov, sorted(build.rglob("*.gcda"))):
            for one in files:
                path = (ROOT / one["file"]).resolve()
                if path.is_relative_to(SOURCES):
                    for line in one["lines"]:
                        found[path.relative_to(SOURCES)].add(line)
    return found


def share(counts: Iterable[int]) -> str:
    each = list(counts)
    ran = sum(count > 0 for count in each)
    return f"{ran:6} of {len(each):6} {100 * ran / max(len(each), 1):5.1f} %"


def show(name: str, files: list[Counts]) -> None:
    lines = share(count for one in files for count in one.lines.values())
    branches = share(count for one in files for count in one.branches.values())
    print(f"{name:40} {lines}   {branches}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--files", action="store_true", help="each file, too")
    options = parser.parse_args()
    found = collect(options.build.resolve())  # gcov runs in other folders
    if not found:
        print(f"coverage: nothing ran that was built in {options.build}", file=sys.stderr)
        return 1
    folders: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(found):
        folders[str(path.parent)].append(path)
    print(f"{'src/':40} {'lines':>24}   {'branches':>24}")
    for folder, paths in folders.items():
        show(folder, [found[path] for path in paths])
        if options.files:
            for path in paths:
                show(f"  {path.name}", [found[path]])
    show("all", list(found.values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
