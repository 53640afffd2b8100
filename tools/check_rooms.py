#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads src/ for circles between its rooms (folders); exit 1 names each circle once.

Two rules make circles of includes and of calls impossible:
* the folders of src/, as their files include one another, form no circle;
* what a header declares is defined in the header's own folder, so that a call follows an include.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# A function of ours: its name, its parameters, and how it goes on.
FUNCTION = re.compile(r"^[A-Za-z_][\w \t*]*?\b(hw_\w+)\(((?:[^()]|\([^()]*\))*)\)\s*([;{])", re.M)


def room_of(name: str) -> str:
    return name.rsplit("/", 1)[0] if "/" in name else ""


def includes_of(files: dict[str, str]) -> dict[str, dict[str, str]]:
    """Room -> other room that it includes -> one include, as an example."""
    graph: dict[str, dict[str, str]] = {}
    for name, text in files.items():
        for target in INCLUDE.findall(text):
            mine, theirs = room_of(name), room_of(target)
            if target in files and mine != theirs:
                graph.setdefault(mine, {}).setdefault(theirs, f"{name} includes {target}")
    return graph


def find_circle(graph: dict[str, dict[str, str]]) -> list[str]:
    """Rooms of one circle, each including the next and the last the first; [] without one."""
    done: set[str] = set()
    for start in sorted(graph):
        path: list[str] = []
        stack = [(start, iter(sorted(graph.get(start, {}))))]
        path.append(start)
        while stack:
            room, rest = stack[-1]
            following = next((other for other in rest if other not in done), None)
            if following is None:
                done.add(room)
                stack.pop()
                path.pop()
            elif following in path:
                return path[path.index(following) :]
            else:
                path.append(following)
                stack.append((following, iter(sorted(graph.get(following, {})))))
    return []


def strangers(files: dict[str, str]) -> list[str]:
    """Functions that a header declares and another room defines."""
    declared: dict[str, str] = {}
    defined: dict[str, str] = {}
    for name, text in files.items():
        for function, _, end in FUNCTION.findall(text):
            if end == ";" and name.endswith(".h"):
                declared.setdefault(function, name)
            elif end == "{" and name.endswith(".c"):
                defined.setdefault(function, name)
    return [
        f"{function} is declared in {where} and defined in {defined[function]}: another room"
        for function, where in sorted(declared.items())
        if function in defined and room_of(where) != room_of(defined[function])
    ]


def complaints(root: Path) -> list[str]:
    files = {
        path.relative_to(root).as_posix(): COMMENT.sub("", path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.[ch]"))
    }
    graph = includes_of(files)
    circle = find_circle(graph)
    steps = [graph[one][other] for one, other in zip(circle, circle[1:] + circle[:1], strict=True)]
    found = [f"rooms include one another in a circle: {'; '.join(steps)}"] if circle else []
    return found + strangers(files)


def main() -> int:
    found = complaints(ROOT / "src")
    for line in found:
        print(f"check_rooms: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
