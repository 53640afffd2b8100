#!/usr/bin/env python3
"""The house rules that no formatter checks; prints one line per breach, exit 1 if there is one.

Length of files, functions and lines; no absolute path of somebody's machine; nothing left to do.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = {".c", ".h", ".py"}
TEXT = CODE | {".toml", ".md", ".txt", ".sh", ".cmake", ".map", ".json", ""}
COLUMNS = {".c": 110, ".h": 110, ".py": 100}
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 60

# Written in pieces so that this file keeps its own rules.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:wo" + r"rk|ro" + r"ot|ho" + r"me/\w+|Us" + r"ers)/\w")
LEFT_TO_DO = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and path.suffix in TEXT]


def long_functions(lines: list[str]) -> list[tuple[int, int]]:
    """(line, length) of C functions that are too long: from `{` to `}` in column one."""
    found, begin = [], 0
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            if number - begin - 1 > FUNCTION_LINES_MAX:
                found.append((begin, number - begin - 1))
            begin = 0
    return found


def breaches(path: Path) -> list[str]:
    name = path.relative_to(ROOT)
    lines = path.read_text(errors="replace").splitlines()
    found = []
    if path.suffix in CODE and len(lines) > FILE_LINES_MAX:
        found.append(f"{name}: {len(lines)} lines; split it (at most {FILE_LINES_MAX})")
    if path.suffix == ".c":
        for number, length in long_functions(lines):
            found.append(f"{name}:{number}: function of {length} lines; split it")
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS.get(path.suffix, 1 << 30):
            found.append(f"{name}:{number}: {len(line)} columns")
        if MACHINE_PATH.search(line):
            found.append(f"{name}:{number}: a path of one machine: {line.strip()}")
        if LEFT_TO_DO.search(line):
            found.append(f"{name}:{number}: something left to do: {line.strip()}")
    return found


def main() -> int:
    found = [breach for path in tracked_files() for breach in breaches(path)]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
