#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run clang-tidy over our own C files, two at a time: lint_tidy.py BUILD_DIR.

Files that are compiled once per MPI family are checked once; generated files are left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "tests")
# An atomic variable used like a plain one has an order that nobody chose (src/base/atomic.h).
LIBRARY_OPTIONS = ("-Watomic-implicit-seq-cst",)


def own_entries(database: Path) -> list[dict]:
    """One compile command per source file of ours, the first of those that compile it."""
    entries: dict[Path, dict] = {}
    for entry in json.loads(database.read_text()):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS:
            entries.setdefault(path, entry)
    return list(entries.values())


def tidy(database: Path, path: str) -> str:
    options = LIBRARY_OPTIONS if (ROOT / "src") in Path(path).parents else ()
    done = subprocess.run(
        [
            "clang-tidy",
            "--quiet",
            "--extra-arg=-Wno-unknown-warning-option",
            *(f"--extra-arg={option}" for option in options),
            "-p",
            str(database),
            path,
        ],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout + done.stderr if done.returncode else ""


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: lint_tidy.py BUILD_DIR", file=sys.stderr)
        return 2
    entries = own_entries(Path(sys.argv[1]) / "compile_commands.json")
    if not entries:
        print("lint_tidy: no source of ours is in compile_commands.json", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        (Path(folder) / "compile_commands.json").write_text(json.dumps(entries))
        reports = pool.map(lambda entry: tidy(Path(folder), entry["file"]), entries)
        found = [report for report in reports if report]
    print("\n".join(found), end="")
    print(f"clang-tidy: {len(entries)} files, {len(found)} with findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
