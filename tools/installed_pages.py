#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the pages that an installation has: installed_pages.py FOLDER.

They keep the folders that they have below doc/; README.md and CHANGELOG.md lie beside these. A link
to a file that is not installed becomes plain text. ./dev docs finds links that lead nowhere.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "CHANGELOG.md", "doc/guide/**/*", "doc/adr/*", "doc/results/*.md")
PICTURES = ("doc/results/*.png",)
#: installed by packaging/install.cmake as they are
OTHERS = ("doc/schema/*",)
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```)", re.MULTILINE | re.DOTALL)


def files_of(patterns: tuple[str, ...]) -> list[str]:
    found = {path for pattern in patterns for path in ROOT.glob(pattern) if path.is_file()}
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def place_of(name: str) -> str:
    """Where a file of the repository lies in the folder of pages."""
    return name.removeprefix("doc/")


def page_make(name: str, text: str, installed: set[str]) -> str:
    """The page with the links that lead somewhere."""
    folder = posixpath.dirname(name)

    def moved(match: re.Match[str]) -> str:
        picture, told, target, anchor = match[1], match[2], match[3], match[4] or ""
        if "://" in target:
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        if path in installed:
            relative = posixpath.relpath(place_of(path), posixpath.dirname(place_of(name)) or ".")
            return f"{picture}[{told}]({relative}{anchor})"
        return told

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(moved, part) for part in parts)


def write(folder: Path) -> None:
    """Everything into FOLDER, which is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = files_of(PAGES)
    as_they_are = files_of(PICTURES)
    installed = {*pages, *as_they_are, *files_of(OTHERS)}
    for name in [*pages, *as_they_are]:
        place = folder / place_of(name)
        place.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".md"):
            text = (ROOT / name).read_text(encoding="utf-8")
            place.write_text(page_make(name, text, installed), encoding="utf-8")
        else:
            shutil.copyfile(ROOT / name, place)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: installed_pages.py FOLDER", file=sys.stderr)
        return 2
    write(Path(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
