# SPDX-License-Identifier: BSD-3-Clause
"""The check of rooms: it names circles of includes, and functions away from their header."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_rooms  # noqa: E402


def made(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_own_tree() -> None:
    assert check_rooms.complaints(ROOT / "src") == []


def test_circle(tmp_path: Path) -> None:
    files = {
        "one/a.h": '#include "two/b.h"\n',
        "two/b.h": "int hw_b(void);\n",
        "two/c.c": '#include "three/d.h"\n',
        "three/d.h": '#include "one/a.h"\n',
        "four/e.c": '#include "one/a.h"\n#include <stdio.h>\n',
    }
    (found,) = check_rooms.complaints(made(tmp_path, files))
    for step in (
        "one/a.h includes two/b.h",
        "two/c.c includes three/d.h",
        "three/d.h includes one/a.h",
    ):
        assert step in found
    assert "four" not in found


def test_within_a_room(tmp_path: Path) -> None:
    files = {
        "one/a.h": '#include "one/b.h"\nint hw_a(int (*call)(int), int count);\n',
        "one/b.h": '#include "one/a.h"\n',
        "one/b.c": "int hw_a(int (*call)(int),\n         int count)\n{\n}\n",
    }
    assert check_rooms.complaints(made(tmp_path, files)) == []


def test_stranger(tmp_path: Path) -> None:
    files = {
        "one/a.h": "/* int hw_old(void); */\nint hw_a(void);\nint hw_c(void)\n{\n}\n",
        "two/b.c": "int hw_a(void)\n{\n    return 1;\n}\nint hw_old(void)\n{\n}\n",
    }
    (found,) = check_rooms.complaints(made(tmp_path, files))
    assert found == "hw_a is declared in one/a.h and defined in two/b.c: another room"
