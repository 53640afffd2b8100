# SPDX-License-Identifier: BSD-3-Clause
"""The records the library writes, headway.<rank>.json, summed up."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from headway.record.older import record_of
from headway.record.table import Record

NS = 1e-9
#: where processes that were spawned leave theirs: each world has a rank 0
SPAWNED = "spawned"
#: as src/profile/record.c names them: by the rank, by the process where there is none, by both
NAME = re.compile(r"headway\.(pid)?\d+(\.\d+)?\.json")


def read(folder: Path) -> list[Record]:
    """Every readable record of a run, by rank."""
    return [record_of(raw) for raw in read_json(folder)]


def files(folder: Path) -> list[Path]:
    """Records by their names: others may have theirs there, a trace headway.calls.json say."""
    return sorted(path for path in folder.glob("headway.*.json") if NAME.fullmatch(path.name))


def read_json(folder: Path) -> list[dict[str, Any]]:
    """The same as their files have them."""
    found = [raw for path in files(folder) if (raw := load_json(path))]
    return sorted(found, key=lambda raw: str(raw.get("rank", "")).zfill(8))


def spawned_count(folder: Path) -> int:
    """How many processes that the program spawned left a record."""
    return len(files(folder / SPAWNED))


def times(folder: Path) -> dict[str, int]:
    """When each record was written. A link to nothing is none."""
    found = {}
    for path in (*files(folder), *files(folder / SPAWNED)):
        with suppress(FileNotFoundError):
            found[str(path.relative_to(folder))] = path.stat().st_mtime_ns
    return found


def drop_old(folder: Path, before: dict[str, int]) -> bool:
    """Records of an earlier, larger run in the same directory are not this run's. They stay if
    this run left none, which is False."""
    now = times(folder)
    old = [name for name, written in now.items() if before.get(name) == written]
    if len(old) == len(now):
        return False
    for name in old:
        (folder / name).unlink(missing_ok=True)
    return True


def since(folder: Path, before: dict[str, int]) -> list[Record]:
    """Of this run alone, where others may have left theirs before."""
    return read(folder) if drop_old(folder, before) else []


def why_none(folder: Path) -> str:
    """What keeps records of ranks that may have written some from being there; "" if nothing is
    seen."""
    try:
        room = os.statvfs(folder)
    except OSError as error:
        return f"the records are lost: {folder}: {error.strerror}; name another with --record"
    if room.f_bavail == 0 or (room.f_files and room.f_favail == 0):
        return (
            f"no records: the file system of {folder} is full; make room, or name another "
            "directory with --record"
        )
    return ""


def load(path: Path) -> Record | None:
    """One record, or None if the file is not one."""
    raw = load_json(path)
    return record_of(raw) if raw is not None and is_record(raw) else None


def is_record(raw: dict[str, Any]) -> bool:
    """Whether an object is a process's record: of some schema, which the oldest do not name, and
    with anything that all of them have."""
    schema = raw.get("schema", 1)
    is_schema = isinstance(schema, int) and schema >= 1
    return is_schema and not raw.keys().isdisjoint(("rank", "size", "engine", "wall_s"))


def load_json(path: Path) -> dict[str, Any] | None:
    """The object in a file, or None if there is none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
        found = json.loads(text.replace(r"\u0000", "\ufffd"))
        if r"\ud" in text.lower():  # halves of a character cannot be printed
            whole = json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")
            found = json.loads(whole)
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def figure(one: object, name: str) -> float:
    """A field of a record, or of a part of one, by its name; 0 where it has none."""
    return float(getattr(one, name) or 0.0)


def total(records: Sequence[Record], key: str) -> float:
    return sum(figure(r, key) for r in records)


def mean(records: Sequence[Record], key: str) -> float:
    return total(records, key) / len(records) if records else 0.0


def size_text(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} TiB"


def tracked_count(record: Record) -> int:
    """Operations followed: each post, and each start of a persistent one."""
    names = ("tracked_p2p", "tracked_collective", "tracked_rma", "tracked_io", "started")
    return int(sum(figure(record, name) for name in names))


def declined(records: Sequence[Record]) -> dict[str, tuple[int, int]]:
    """Reason -> how often, and in how many ranks."""
    reasons: dict[str, tuple[int, int]] = {}
    for record in records:
        for reason, times in record.declined.items():
            count, ranks = reasons.get(reason, (0, 0))
            reasons[reason] = (count + times, ranks + 1)
    return reasons


def plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
