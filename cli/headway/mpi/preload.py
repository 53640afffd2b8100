# SPDX-License-Identifier: BSD-3-Clause
"""Where the library to preload is: the source tree's build, or next to the installed command."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from headway import options
from headway.errors import HeadwayError
from headway.mpi import program
from headway.mpi.mpis import repository_root
from headway.options_table import OPTIONS

VARIABLE = "LD_PRELOAD"
#: the library, of whatever MPI
OURS = r"libheadway-\w+\.so"


def folders() -> list[Path]:
    """Folders that may hold libheadway-*.so, the nearest first."""
    found = []
    if root := repository_root():
        found.append(root / "build" / "lib")
    package = Path(__file__).resolve().parents[1]
    found += [
        package / "lib",
        package.parents[1],  # where cmake --install puts them
        Path(sys.prefix) / "lib" / "headway",
        Path(sys.prefix) / "lib",
        Path("/usr/local/lib/headway"),
        Path("/usr/lib/headway"),
        Path("/usr/local/lib"),
    ]
    return found


def library(flavour: str, folder: Path | None = None) -> Path:
    """libheadway-<flavour>.so, or HeadwayError saying how to get it."""
    name = f"libheadway-{flavour}.so"
    searched = [folder] if folder else folders()
    for candidate in searched:
        if (candidate / name).is_file():
            found = (candidate / name).resolve()
            if any(letter in str(found) for letter in " :\t\n"):
                raise HeadwayError(
                    f"{found} cannot be preloaded: LD_PRELOAD ends a name at a blank or a colon",
                    "move the installation",
                )
            return found
    raise HeadwayError(f"{name} is not in {searched[0]}", remedy(flavour))


#: flavour -> Debian's package with its headers
HEADERS = {"mpich": "libmpich-dev", "ompi": "libopenmpi-dev"}


def remedy(flavour: str) -> str:
    """How to get the library."""
    if repository_root():
        return "build it: ./dev build"
    return (
        f"install Headway again where there are cmake, ninja or make, and the MPI's headers "
        f"(Debian: {HEADERS[flavour]})"
    )


def rank_environment(
    flavour: str,
    settings: Mapping[str, str],
    folder: Path | None = None,
    first: Iterable[Path] = (),
) -> dict[str, str]:
    """What the ranks need: the library and every option of the caller's environment.

    `settings` (from the command line) win over the environment; both are checked.
    """
    chosen = {**os.environ, **settings}
    options.check_environment(chosen)
    known = {name for option in OPTIONS for name in (option.name, *option.aliases)}
    env = {name: chosen[name] for name in sorted(known) if name in chosen}
    own = library(flavour, folder)
    return env | {VARIABLE: joined(*map(str, first), str(own), os.environ.get(VARIABLE, ""))}


def named(text: str) -> list[str]:
    """What a value of the variable names."""
    return text.replace(":", " ").split()


def is_ours(name: str) -> bool:
    return re.fullmatch(OURS, Path(name).name) is not None


def is_sanitizer(name: str) -> bool:
    return re.fullmatch(program.ADDRESS_SANITIZER, Path(name).name) is not None


def joined(*values: str) -> str:
    """Of several values one, in their order, but for sanitizers, which come first. The first
    Headway is the only one: another, which a shell may export to all that it starts, would split
    the world once more."""
    names = dict.fromkeys(name for value in values for name in named(value))
    own = next(filter(is_ours, names), "")
    kept = [name for name in names if name == own or not is_ours(name)]
    return ":".join(sorted(kept, key=lambda name: not is_sanitizer(name)))
