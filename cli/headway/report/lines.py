# SPDX-License-Identifier: BSD-3-Clause
"""Lines of call sites, looked up when a run has ended and kept beside its records: its programs may
be built anew before anybody reads them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from headway import records
from headway.record.reading import integer, text
from headway.report import places
from headway.report.places import Place

#: beside the records
NAME = "lines.json"
VERSION = 1


def known(folder: Path) -> places.Known:
    """What was kept there; nothing where that is damaged."""
    found: places.Known = {}
    raw = records.load_json(folder / NAME) or {}
    rows = raw.get("lines") if raw.get("version") == VERSION else None
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and (module := text(row, "module")):
            key = (module, text(row, "build_id"), integer(row, "offset"))
            found[key] = Place(text(row, "function"), text(row, "file"), integer(row, "line"))
    return found


def keep(folder: Path) -> None:
    """Looks up what is not known yet of the records there. Without the right to write there, or
    without records, nothing comes of it."""
    if not folder.is_dir():
        return
    before = known(folder)
    profiles = (record.profile for record in records.read(folder))
    sites = places.with_callers(s for p in profiles if p for s in p.sites)
    after = {**before, **look_up(sites, before)}
    if after != before:
        with suppress(OSError):
            write(folder, after)


def look_up(sites: Iterable[places.Called], before: places.Known) -> places.Known:
    """Of modules that are still what ran."""
    wanted: dict[tuple[str, str], list[int]] = {}
    for site in sites:
        if site.module and site.offset is not None:
            key = (site.module, site.build_id)
            if (*key, site.offset) not in before:
                wanted.setdefault(key, []).append(site.offset)
    found: places.Known = {}
    for (module, build_id), offsets in wanted.items():
        if build_id and not places.is_still(Path(module), {build_id}):
            continue
        asked = places.ask(Path(module), sorted(set(offsets)))
        found |= {(module, build_id, offset): place for offset, place in asked.items()}
    return found


def write(folder: Path, lines: places.Known) -> None:
    """Whole, or not at all."""
    rows = [
        {
            "module": module,
            "build_id": build_id,
            "offset": offset,
            "function": place.function,
            "file": place.file,
            "line": place.line,
        }
        for (module, build_id, offset), place in sorted(lines.items(), key=lambda item: item[0])
    ]
    handle, scratch = tempfile.mkstemp(prefix=".headway.", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"version": VERSION, "lines": rows}, file, indent=1)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(scratch, 0o666 & ~mask)
        os.replace(scratch, folder / NAME)
    except BaseException:
        os.unlink(scratch)
        raise
