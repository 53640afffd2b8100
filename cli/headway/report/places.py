# SPDX-License-Identifier: BSD-3-Clause
"""Where a call was made from: function and line, as kept when the run ended (lines.py), or looked
up when the report is made."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from headway.mpi import elf
from headway.record.table import Frame, Site

TIMEOUT_S = 60.0
#: between a function and the one that called it
CALLED_BY = " < "


@dataclass(frozen=True)
class Place:
    """One call site. `line` is 0 where there is no debugging information; callers where the run
    was profiled with --paths, the nearest first."""

    function: str
    file: str
    line: int
    callers: tuple[Place, ...] = ()

    def __str__(self) -> str:
        return CALLED_BY.join([self.own, self.callers_text] if self.callers else [self.own])

    @property
    def callers_text(self) -> str:
        """The nearest first; empty where they are not known."""
        return CALLED_BY.join(caller.own for caller in self.callers)

    @property
    def own(self) -> str:
        """Without callers."""
        if not self.file:
            return self.function
        where = f"{Path(self.file).name}:{self.line}" if self.line else self.file
        return f"{self.function} ({where})" if self.function else where


#: a procedure of a Fortran module, as gfortran names it
MODULE = re.compile(r"^__(\w+?)_MOD_(\w+)$")

#: what has an address: a call site, and each of its callers
Called = Site | Frame

#: places by module, build id and offset
Known = dict[tuple[str, str, int], Place]

#: where a Python program's calls come from, if the line of the program is not known
MPI4PY = Place("mpi4py", "", 0)
#: all that came when the library's table was full
OTHERS = Place("", "others", 0)


def is_mpi4py(module: Path) -> bool:
    """Whether this is the extension module that makes all MPI calls of a Python program."""
    return module.parent.name == "mpi4py" and module.name.startswith("MPI.")


class Places:
    """Call sites, each module asked once."""

    def __init__(self, sites: Iterable[Site], known: Known | None = None) -> None:
        every = with_callers(sites)
        known = known or {}
        changed = changed_modules(every)
        self.found = look_up(every, changed, known)
        self.changed = [module for module in changed if not any(key[0] == module for key in known)]

    def of(self, site: Site) -> Place:
        """Where a call was made from. An extension module's own line, if it is known, says more
        than the line of Python that called it, but for mpi4py's."""
        callers = tuple(map(self.one, site.callers))
        return replace(self.one(site), callers=callers) if callers else self.one(site)

    def one(self, site: Called) -> Place:
        place = self.found.get((site.module, -1 if site.offset is None else site.offset), OTHERS)
        line = python_line(site)
        return line if line and not place.line else place


def with_callers(sites: Iterable[Site]) -> list[Called]:
    """Every address there is in them."""
    found: list[Called] = []
    for site in sites:
        found += [site, *site.callers]
    return found


def python_line(site: Called) -> Place | None:
    """The line of a Python program, where the call came from an extension module."""
    said = site.python
    if said is None or not said.file:
        return None
    # A function within a function goes by its own name.
    return Place(said.function.rpartition("<locals>.")[2], said.file, said.line)


def changed_modules(sites: Iterable[Called]) -> list[str]:
    """Files that are not what the program ran: what they say of these places is of others."""
    ids: dict[str, set[str]] = {}
    for site in sites:
        if site.module and site.build_id:
            ids.setdefault(site.module, set()).add(site.build_id)
    return sorted(module for module, known in ids.items() if not is_still(Path(module), known))


def is_still(module: Path, build_ids: set[str]) -> bool:
    """Also where there is no such file, which says nothing."""
    try:
        return {elf.read(module).build_id} == build_ids
    except (elf.NotElf, OSError):
        return True


def look_up(
    sites: Iterable[Called], changed: Sequence[str] = (), stored: Known | None = None
) -> dict[tuple[str, int], Place]:
    """(module, offset) -> place, for every site that has one and is not known; each module is asked
    once, but those that have changed."""
    wanted: dict[str, dict[int, str]] = {}
    kept: dict[str, dict[int, Place]] = {}
    for site in sites:
        if site.module and site.offset is not None:
            wanted.setdefault(site.module, {})[site.offset] = site.symbol
            at = (stored or {}).get((site.module, site.build_id, site.offset))
            if at:
                kept.setdefault(site.module, {})[site.offset] = at
    found: dict[tuple[str, int], Place] = {}
    for module, offsets in wanted.items():
        if is_mpi4py(Path(module)):
            found |= {(module, offset): MPI4PY for offset in offsets}
            continue
        lines = kept.get(module, {})
        if module not in changed and (left := [one for one in offsets if one not in lines]):
            lines |= ask(Path(module), left)
        for offset, symbol in offsets.items():
            known = lines.get(offset) or Place(symbol, "", 0)
            # Without a line, the address tells two calls of one function apart.
            address = f"{Path(module).name}+{offset:#x}"
            found[module, offset] = known if known.line else Place(known.function, address, 0)
    return found


def ask(module: Path, offsets: list[int]) -> dict[int, Place]:
    """What the module's debugging information says, or its table of symbols: those have no line."""
    tool = shutil.which("addr2line")
    try:
        about = elf.read(module)
    except (elf.NotElf, OSError):
        return {}
    if tool is None:
        return {}
    try:
        done = subprocess.run(
            [tool, "-f", "-C", "-e", str(module)],
            input="".join(f"{about.base + offset:#x}\n" for offset in offsets),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    answers = [MODULE.sub(r"\1::\2", line) for line in done.stdout.splitlines()]
    found = {}
    for index, offset in enumerate(offsets):
        function, where = (answers[2 * index : 2 * index + 2] + ["??", "??"])[:2]
        file, _, line = where.split(" (")[0].rpartition(":")
        if function != "??" and line.isdigit() and int(line):
            found[offset] = Place(function, file, int(line))
        elif function != "??" and about.has_symbols:
            # Of exported symbols alone, addr2line names the nearest: maybe another function's.
            found[offset] = Place(function, "", 0)
    return found
