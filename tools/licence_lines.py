#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The line that names the licence stands in every source file (SPDX).

licence_lines.py --check     exit 1 names the files without it
licence_lines.py --write     puts it first, after a line that names the interpreter
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Written in pieces so that this file has one such line.
LINE = "SPDX-License-" + "Identifier: BSD-3-Clause"
#: how a comment of one line is written
COMMENTS = {
    ".c": "/* {} */",
    ".h": "/* {} */",
    ".py": "# {}",
    ".sh": "# {}",
    ".cmake": "# {}",
    ".toml": "# {}",
    ".f90": "! {}",
    ".map": "/* {} */",
}
NAMED = {"dev": "# {}", "CMakeLists.txt": "# {}"}
#: the line is among so many first ones
LINES = 3


def sources() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in paths if path.is_file() and comment_of(path)]


def comment_of(path: Path) -> str | None:
    return NAMED.get(path.name, COMMENTS.get(path.suffix))


def has_line(text: str) -> bool:
    return any(LINE in line for line in text.splitlines()[:LINES])


def with_line(text: str, comment: str) -> str:
    line = comment.format(LINE) + "\n"
    if text.startswith("#!"):
        first, _, rest = text.partition("\n")
        return f"{first}\n{line}{rest}"
    return line + text


def main() -> int:
    if sys.argv[1:] not in (["--check"], ["--write"]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    missing = [path for path in sources() if not has_line(path.read_text(encoding="utf-8"))]
    for path in missing:
        if sys.argv[1] == "--write":
            text = path.read_text(encoding="utf-8")
            path.write_text(with_line(text, comment_of(path) or ""), encoding="utf-8")
        else:
            print(f"{path.relative_to(ROOT)}: has no line that names the licence")
    if missing and sys.argv[1] == "--check":
        print("run: python3 tools/licence_lines.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
