#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Headway does with each function that each MPI exports: doc/surface/<mpi>.txt.

  check_surface.py           compare with the committed listings; exit 1 if one differs
  check_surface.py --write   write them

A listing belongs to one version of one MPI. An MPI that is not installed, or of another version
than its listing, is named and not compared; if nothing could be compared the check fails.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "cli"))

from headway.mpi.mpis import Mpi, find_mpis  # noqa: E402
from mpi_header import HeaderError, Spec, parse_header, read_spec  # noqa: E402

SPEC = ROOT / "spec" / "mpi-functions.toml"
LISTINGS = ROOT / "doc" / "surface"
# Open MPI also exports MPI_COMM_DUP_FN and the like: callbacks to pass, not functions to call.
FUNCTION = re.compile(r"MPI_(?:T_[a-z]|[A-Z][a-z])\w*")


def real_library(path: Path) -> Path:
    """Follows the one-line linker script which the wheels install as libmpi.so."""
    if path.read_bytes()[:4] == b"\x7fELF":
        return path
    named = re.search(r"[\w./+-]*libmpi[\w.+-]*\.so[\w.]*", path.read_text(encoding="utf-8"))
    if named is None:
        raise HeaderError(f"{path}: neither a library nor a linker script that names one")
    return path.parent / Path(named[0]).name


def exported(library: Path) -> list[str]:
    command = ["nm", "--dynamic", "--defined-only", str(real_library(library))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    symbols = (line.split() for line in done.stdout.splitlines())
    names = {s[-1].partition("@")[0] for s in symbols if s[-2] in "TWi"}
    return sorted(name for name in names if FUNCTION.fullmatch(name))


def describe(spec: Spec, declared: set[str], name: str) -> str:
    """One line: name, class, and the hook behind it."""
    short = name.removeprefix("MPI_")
    function = spec.find(short)
    hook = "-"
    if function.kind == "hook":
        hook = "hw_" + function.name.lower()
    elif function.kind == "posted":
        hook = f"hw_{function.group}_posted"
    door = " door" if function.door else ""
    undeclared = "" if short in declared else " undeclared"
    return f"{name} {function.kind} {hook}{door}{undeclared}"


def listing(spec: Spec, mpi: Mpi, compiler: str) -> str:
    declared = set(parse_header(mpi.header, compiler)) | set(spec.prototypes)
    names = exported(mpi.library)
    lines = [describe(spec, declared, name) for name in names]
    head = [f"# {mpi.title}: {len(names)} functions. Written by tools/check_surface.py --write."]
    return "\n".join([*head, "# function class hook; see spec/mpi-functions.toml", *lines, ""])


def compare(path: Path, fresh: str) -> bool:
    """True if the committed listing is what was found; else prints the difference."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if old == fresh:
        return True
    changes = difflib.unified_diff(
        old.splitlines(), fresh.splitlines(), str(path), "found", lineterm=""
    )
    print("\n".join(changes), file=sys.stderr)
    print(
        f"check_surface: {path.name} differs; look, then: tools/check_surface.py --write",
        file=sys.stderr,
    )
    return False


def title_of(text: str) -> str:
    return text.partition(":")[0].removeprefix("# ")


def check(spec: Spec, mpis: list[Mpi], compiler: str) -> int:
    compared, is_same = 0, True
    found = {mpi.name: mpi for mpi in mpis}
    for path in sorted(LISTINGS.glob("*.txt")):
        committed = title_of(path.read_text(encoding="utf-8"))
        mpi = found.get(path.stem)
        if mpi is None or mpi.title != committed:
            there = f"{mpi.title} is" if mpi else "it is not"
            print(f"check_surface: not compared: {path.name} is of {committed}, {there} installed")
            continue
        compared += 1
        is_same = compare(path, listing(spec, mpi, compiler)) and is_same
    if compared == 0:
        print("check_surface: no MPI with a committed listing is installed", file=sys.stderr)
    return 0 if compared and is_same else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--cc", default="cc")
    options = parser.parse_args()
    try:
        spec, mpis = read_spec(SPEC), find_mpis(with_path=False)
        if not options.write:
            return check(spec, mpis, options.cc)
        LISTINGS.mkdir(parents=True, exist_ok=True)
        for mpi in mpis:
            text = listing(spec, mpi, options.cc)
            (LISTINGS / f"{mpi.name}.txt").write_text(text, encoding="utf-8")
    except HeaderError as error:
        print(f"check_surface: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
