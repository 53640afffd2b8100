#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The house rules that no formatter checks; prints one line per breach, exit 1 if there is one.

Length of files, functions and lines; no absolute path of somebody's machine; nothing left to do;
atomic operations by names that say their order (src/base/atomic.h); names that one MPI has and
another has not, in src/real alone; no circle between the rooms of src/ (check_rooms.py), and no
circle of imports in the command.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

import check_rooms

ROOT = Path(__file__).resolve().parent.parent
COMMAND = ROOT / "cli"
CODE = {".c", ".h", ".py"}
TEXT = CODE | {".toml", ".md", ".txt", ".sh", ".cmake", ".map", ".json", ""}
COLUMNS = {".c": 110, ".h": 110, ".py": 100}
FILE_LINES_MAX = 600
#: of a page, outside tables, code and lines that are one long word
PAGE_COLUMNS = 120
README_WORDS_MAX = 700
#: a sentence has fewer words than this
SENTENCE_WORDS = 30
FUNCTION_LINES_MAX = 60

# Written in pieces so that this file keeps its own rules.
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:wo" + r"rk|ro" + r"ot|ho" + r"me/\w+|Us" + r"ers)/\w")
LEFT_TO_DO = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")

# Atomic operations of C and of the compiler; their types and initialisers are named so in any file.
ATOMICS = Path("src/base/atomic.h")
BARE_ATOMIC = re.compile(
    r"\b(?:atomic_(?!init\b)[a-z_]+(?=\()|__atomic_[a-z_]+|__sync_[a-z_]+|memory_order_[a-z_]+)"
)
# What tells one MPI from another; only src/real may ask.
VENDOR_NAME = re.compile(
    r"\b(?:OPEN_MPI|(?:OMPI|ompi|MPICH|MPIR|MPII|MPIX|MPIO|I_MPI)_\w+"
    r"|HW_REAL_FLAVOUR_\w+|HW_ABI_\w+)"
)
#: variables of launchers, which tell a process its rank before there is an MPI
LAUNCHER_NAMES = {(Path("src/base/log.c"), "OMPI_COMM_WORLD_RANK")}
COMMENT = re.compile(r"/\*.*?\*/", re.S)


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


def prose_lines(text: str) -> list[tuple[int, str]]:
    """(number, line) of a page's lines outside code and tables."""
    found, is_code = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith(("|", "<!--")):
            found.append((number, line))
    return found


def sentences_of(text: str) -> list[str]:
    """The sentences of a page, links by their text alone."""
    prose = "\n".join(line for _, line in prose_lines(text))
    prose = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    parts = re.split(r"\s*\n\s*[*-] |\n\s*\n|(?<=[.!?])\s+", "\n" + prose)
    return [" ".join(part.split()) for part in parts if part.strip()]


def long_page_lines(path: Path, text: str) -> list[str]:
    name = path.relative_to(ROOT)
    return [
        f"{name}:{number}: {len(line)} columns; at most {PAGE_COLUMNS}"
        for number, line in prose_lines(text)
        if len(line) > PAGE_COLUMNS and " " in line.strip()
    ]


def readme_breaches(text: str) -> list[str]:
    """README.md is read in two minutes: few words, short sentences."""
    found = []
    words = len(text.split())
    if words > README_WORDS_MAX:
        found.append(f"README.md: {words} words; at most {README_WORDS_MAX}")
    for sentence in sentences_of(text):
        length = len(sentence.split())
        if length >= SENTENCE_WORDS:
            found.append(f"README.md: a sentence of {length} words: {sentence}")
    return found


def without_comments(text: str) -> str:
    """The text with each comment of C as blank lines, so that numbers of lines stay."""
    return COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


def bare_atomics(name: Path, text: str) -> list[str]:
    """Atomic operations that do not say their order in their names."""
    if name == ATOMICS or name.parts[0] != "src":
        return []
    return [
        f"{name}:{number}: {found[0]}; use a name of {ATOMICS}"
        for number, line in enumerate(without_comments(text).splitlines(), 1)
        for found in BARE_ATOMIC.finditer(line)
    ]


def vendor_names(name: Path, text: str) -> list[str]:
    """Names that one MPI has and another has not, outside src/real."""
    if name.parts[0] != "src" or name.parts[1] == "real":
        return []
    return [
        f"{name}:{number}: {found[0]}; only src/real knows one MPI from another"
        for number, line in enumerate(without_comments(text).splitlines(), 1)
        for found in VENDOR_NAME.finditer(line)
        if (name, found[0]) not in LAUNCHER_NAMES
    ]


def breaches(path: Path) -> list[str]:
    name = path.relative_to(ROOT)
    text = path.read_text(errors="replace")
    lines = text.splitlines()
    found = []
    if path.suffix == ".md":
        found += long_page_lines(path, text)
    if name == Path("README.md"):
        found += readme_breaches(text)
    if path.suffix in (".c", ".h"):
        found += bare_atomics(name, text) + vendor_names(name, text)
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


def modules() -> dict[str, Path]:
    """The command's modules by the names they are imported by."""
    found = {}
    for path in (COMMAND / "headway").rglob("*.py"):
        parts = path.relative_to(COMMAND).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path, known: Collection[str]) -> set[str]:
    """Modules of the command that it names, wherever: within a function, or for types alone."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in known}
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            inner = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in known else node.module for name in inner}
    return found


def circle(edges: dict[str, set[str]]) -> list[str]:
    """Modules that import one another, in their order; none if there is no such circle."""
    done: set[str] = set()
    path: list[str] = []

    def visit(name: str) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        path.append(name)
        for other in sorted(edges[name]):
            if found := visit(other):
                return found
        done.add(path.pop())
        return []

    return next((found for name in sorted(edges) if (found := visit(name))), [])


def circles() -> list[str]:
    known = modules()
    edges = {name: imports(path, known) - {name} for name, path in known.items()}
    found = circle(edges)
    return [f"cli: a circle of imports: {' -> '.join(found)}"] if found else []


def main() -> int:
    found = [breach for path in tracked_files() for breach in breaches(path)]
    found += check_rooms.complaints(ROOT / "src") + circles()
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
