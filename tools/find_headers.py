#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the mpi.h files of one ABI flavour found here, the one to compile against first.

Order: the implementation the ABI comes from before those that follow it, newest first. Looked at:
the MPIs of ./dev setup (build/mpi/*), what the compiler wrappers in PATH show, and Debian's places.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from mpi_header import HeaderError, header_version

WRAPPERS = {
    "mpich": ("mpicc.mpich", "mpicc"),
    "ompi": ("mpicc.openmpi", "mpicc"),
}
PLACES = {
    "mpich": ("/usr/include/*/mpich/mpi.h", "/usr/include/mpich*/mpi.h"),
    "ompi": ("/usr/lib/*/openmpi/include/mpi.h", "/usr/include/openmpi*/mpi.h"),
}


def wrapper_headers(name: str) -> list[Path]:
    path = shutil.which(name)
    if path is None:
        return []
    shown = subprocess.run(
        [path, "-show"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return [Path(folder) / "mpi.h" for folder in re.findall(r"-I(\S+)", shown.stdout)]


def candidates(flavour: str, root: Path) -> list[Path]:
    found = sorted((root / "build" / "mpi").glob("*/include/mpi.h"))
    for name in WRAPPERS[flavour]:
        found += wrapper_headers(name)
    for pattern in PLACES[flavour]:
        found += sorted(Path("/").glob(pattern.lstrip("/")))
    return [path for path in found if path.is_file()]


def rank(version: str) -> tuple[bool, list[int]]:
    """Sorts best last: Intel MPI counts releases in years, so the name comes before the number."""
    name, _, number = version.partition(" ")
    return (name != "impi", [int(part) for part in re.findall(r"\d+", number)])


def find(flavour: str, root: Path, compiler: str) -> list[Path]:
    versions: dict[str, Path] = {}
    for path in candidates(flavour, root):
        try:
            version = header_version(path, compiler)
        except (HeaderError, subprocess.CalledProcessError):
            continue
        if version.startswith("ompi") == (flavour == "ompi"):
            versions.setdefault(version, path)
    return [versions[version] for version in sorted(versions, key=rank, reverse=True)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flavour", required=True, choices=sorted(WRAPPERS))
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--cc", default="cc")
    options = parser.parse_args()
    print(";".join(str(path) for path in find(options.flavour, options.root, options.cc)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
