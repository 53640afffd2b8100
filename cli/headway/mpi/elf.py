# SPDX-License-Identifier: BSD-3-Clause
"""Enough of ELF to see which shared libraries a program loads, without running it."""

from __future__ import annotations

import os
import re
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

SHT_SYMTAB, SHT_DYNSYM = 2, 11
PT_LOAD, PT_DYNAMIC, PT_INTERP, PT_NOTE = 1, 2, 3, 4
NT_GNU_BUILD_ID = 3
DT_NULL, DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH = 0, 1, 5, 14, 15, 29


class NotElf(Exception):
    """The file is not an ELF file this module can read."""


@dataclass
class Elf:
    """What the dynamic section of one file says."""

    soname: str = ""
    needed: list[str] = field(default_factory=list)
    rpath: list[str] = field(default_factory=list)
    runpath: list[str] = field(default_factory=list)
    is_dynamic: bool = False
    is_program: bool = False
    base: int = 0  # the address its first byte was linked for
    build_id: str = ""  # in hexadecimal
    has_symbols: bool = False  # all of them: not stripped


def read(path: Path) -> Elf:
    """Parse one file; NotElf if it is something else or damaged."""
    data = path.read_bytes()
    if data[:4] != b"\x7fELF" or len(data) < 64:
        raise NotElf(f"{path} is no ELF file")
    is_64, order = data[4] == 2, "<" if data[5] == 1 else ">"
    try:
        return parse(data, is_64, order)
    except (struct.error, IndexError, OverflowError, ValueError) as error:
        raise NotElf(f"{path} is a damaged ELF file") from error


def parse(data: bytes, is_64: bool, order: str) -> Elf:
    if is_64:
        (phoff,) = struct.unpack_from(order + "Q", data, 32)
        phentsize, phnum = struct.unpack_from(order + "HH", data, 54)
    else:
        (phoff,) = struct.unpack_from(order + "I", data, 28)
        phentsize, phnum = struct.unpack_from(order + "HH", data, 42)
    loads: list[tuple[int, int, int]] = []
    dynamic, elf = None, Elf()
    for index in range(phnum):
        at = phoff + index * phentsize
        if is_64:
            kind, _, offset, vaddr, _, size = struct.unpack_from(order + "IIQQQQ", data, at)
        else:
            kind, offset, vaddr, _, size = struct.unpack_from(order + "IIIII", data, at)
        if kind == PT_LOAD:
            elf.base = vaddr - offset if not loads else elf.base
            loads.append((vaddr, offset, size))
        elif kind == PT_DYNAMIC:
            dynamic = (offset, size)
        elif kind == PT_INTERP:
            elf.is_program = True
        elif kind == PT_NOTE:
            elf.build_id = elf.build_id or read_build_id(data[offset : offset + size], order)
    elf.has_symbols = SHT_SYMTAB in (kind for kind, _ in sections(data, is_64, order))
    if dynamic:
        elf.is_dynamic = True
        read_dynamic(data, is_64, order, loads, dynamic, elf)
    return elf


def sections(data: bytes, is_64: bool, order: str) -> list[tuple[int, int]]:
    """Kind and place of the header of each. None where the headers were cut off: a program runs
    without them."""
    (at,) = struct.unpack_from(order + ("Q" if is_64 else "I"), data, 40 if is_64 else 32)
    size, count = struct.unpack_from(order + "HH", data, 58 if is_64 else 46)
    starts = range(at, at + size * count, size) if at and size else range(0)
    return [
        (struct.unpack_from(order + "I", data, start + 4)[0], start)
        for start in starts
        if start + size <= len(data)
    ]


def defined(path: Path, names: set[str]) -> set[str]:
    """Which of these functions the file has itself, as far as its symbols tell (64 bits only)."""
    wanted = {name.encode() for name in names}
    try:
        data = path.read_bytes()
        found = {name for name in tabled(data, (SHT_SYMTAB, SHT_DYNSYM), True) if name in wanted}
    except (OSError, struct.error, IndexError, ValueError):
        return set()
    return {name.decode() for name in found}


def imported(data: bytes) -> set[str]:
    """What the loader is to find for the file with these contents in other files: functions that
    it calls, and variables (64 bits only)."""
    try:
        return {os.fsdecode(name) for name in tabled(data, (SHT_DYNSYM,), False)}
    except (struct.error, IndexError, ValueError):
        return set()


def tabled(data: bytes, kinds: tuple[int, ...], is_defined: bool) -> Iterator[bytes]:
    """Names in tables of symbols of these kinds."""
    if data[:5] != b"\x7fELF\2":
        return
    order = "<" if data[5] == 1 else ">"
    for kind, at in sections(data, True, order):
        if kind in kinds:
            yield from symbols(data, order, at, is_defined=is_defined)


def symbols(data: bytes, order: str, table: int, *, is_defined: bool = True) -> Iterator[bytes]:
    """Names of what one table of symbols defines, or of what it takes from other files."""
    headers, size = struct.unpack_from(order + "Q", data, 40)[0], 64
    offset, length, link = struct.unpack_from(order + "QQI", data, table + 24)
    (names,) = struct.unpack_from(order + "Q", data, headers + size * link + 24)
    entries = data[offset : offset + length // 24 * 24]
    for name, _, _, section, _, _ in struct.iter_unpack(order + "IBBHQQ", entries):
        if bool(section) is is_defined:
            yield data[names + name : data.index(b"\0", names + name)]


def read_build_id(notes: bytes, order: str) -> str:
    at = 0
    while at + 12 <= len(notes):
        name_size, size, kind = struct.unpack_from(order + "III", notes, at)
        name = at + 12
        start = name + -(-name_size // 4) * 4
        if kind == NT_GNU_BUILD_ID and notes[name : name + name_size] == b"GNU\0":
            return notes[start : start + size].hex()
        at = start + -(-size // 4) * 4
    return ""


def read_dynamic(
    data: bytes,
    is_64: bool,
    order: str,
    loads: list[tuple[int, int, int]],
    dynamic: tuple[int, int],
    elf: Elf,
) -> None:
    entry = struct.Struct(order + ("qQ" if is_64 else "iI"))
    entries = []
    for at in range(dynamic[0], dynamic[0] + dynamic[1], entry.size):
        tag, value = entry.unpack_from(data, at)
        if tag == DT_NULL:
            break
        entries.append((tag, value))
    address = [value for tag, value in entries if tag == DT_STRTAB][0]
    base = [
        offset + address - vaddr for vaddr, offset, size in loads if vaddr <= address < vaddr + size
    ][0]

    def text(at: int) -> str:
        return os.fsdecode(data[base + at : data.index(b"\0", base + at)])

    for tag, value in entries:
        if tag == DT_NEEDED:
            elf.needed.append(text(value))
        elif tag == DT_SONAME:
            elf.soname = text(value)
        elif tag == DT_RPATH:
            elf.rpath = text(value).split(":")
        elif tag == DT_RUNPATH:
            elf.runpath = text(value).split(":")


@cache
def loader_cache() -> dict[str, Path]:
    """soname -> path, as ldconfig knows them."""
    for tool in ("ldconfig", "/sbin/ldconfig", "/usr/sbin/ldconfig"):
        try:
            done = subprocess.run(
                [tool, "-p"], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        found: dict[str, Path] = {}
        for name, path in re.findall(r"^\s+(\S+) \(.*\) => (\S+)$", done.stdout, re.MULTILINE):
            found.setdefault(name, Path(path))
        return found
    return {}


def locate(soname: str, elf: Elf, origin: Path, inherited: list[str]) -> Path | None:
    """Where the loader would find `soname` for a library that lies in `origin`."""
    if "/" in soname:
        return Path(soname) if Path(soname).exists() else None
    before = [] if elf.runpath else [*elf.rpath, *inherited]
    environment = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    for folder in [*before, *environment, *elf.runpath]:
        if not folder:
            continue
        folder = folder.replace("${ORIGIN}", "$ORIGIN").replace("$ORIGIN", str(origin))
        if (Path(folder) / soname).exists():
            return Path(folder) / soname
    if soname in loader_cache():
        return loader_cache()[soname]
    for folder in ("/lib", "/usr/lib", "/lib64", "/usr/lib64"):
        if (Path(folder) / soname).exists():
            return Path(folder) / soname
    return None


def libraries(path: Path) -> dict[str, Path | None]:
    """Every library `path` loads at start, directly or not: soname -> file (None: not found)."""
    found: dict[str, Path | None] = {}
    queue: list[tuple[Path, list[str]]] = [(path.resolve(), [])]
    while queue:
        current, inherited = queue.pop(0)
        try:
            elf = read(current)
        except (NotElf, OSError):
            continue
        for soname in elf.needed:
            if soname in found:
                continue
            where = locate(soname, elf, current.parent, inherited)
            found[soname] = where
            if where:
                queue.append((where.resolve(), [*elf.rpath, *inherited]))
    return found
