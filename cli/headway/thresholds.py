# SPDX-License-Identifier: BSD-3-Clause
"""Shares of time in MPI at which ghosts and owners of one-sided operations take equally long
(papers/002 section 7.2), as `headway tune --thresholds` measured them on this machine.

One file of the user's holds them, a row for each pattern of operations, MPI, number of user
processes and of ghosts on a node. `headway run` takes HEADWAY_LOW_CR and HEADWAY_HIGH_CR from it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway import __version__
from headway.errors import HeadwayError

FORMAT = 1
LOW, HIGH = "HEADWAY_LOW_CR", "HEADWAY_HIGH_CR"
#: how a share is to be read: found, or equal only above or below what was tried
FOUND, ABOVE, BELOW = "found", "above", "below"


@dataclass(frozen=True)
class Place:
    """What one launch has in common, and a pair of thresholds is for."""

    mpi: str  #: name and version
    users: int  #: user processes a node
    ghosts: int  #: a node


@dataclass(frozen=True)
class Row:
    """One pattern on one place."""

    mpi: str
    users: int
    ghosts: int
    operation: str
    bytes: int
    is_strided: bool
    is_blocking: bool  #: a flush after each operation
    share: float  #: of the time in MPI at which both routes take equally long
    bound: str  #: FOUND, ABOVE or BELOW

    @property
    def place(self) -> Place:
        return Place(self.mpi, self.users, self.ghosts)


def path() -> Path:
    """In the user's folder of settings (XDG Base Directory Specification)."""
    told = os.environ.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(told):  # others are to be ignored
        return Path(told) / "headway" / "thresholds.toml"
    try:
        return Path.home() / ".config" / "headway" / "thresholds.toml"
    except RuntimeError as error:
        raise HeadwayError(
            "there is no home directory with thresholds", "set XDG_CONFIG_HOME"
        ) from error


def boundaries(rows: Sequence[Row]) -> tuple[float, float] | None:
    """The lowest and the highest share of the patterns of one place. A share that is only a bound
    widens nothing: patterns that one route always wins say nothing of where the other begins to."""
    found = [row.share for row in rows if row.bound == FOUND]
    return (min(found), max(found)) if found else None


def pair(
    rows: Sequence[Row], mpi: str, users: int | None, ghosts: int
) -> tuple[float, float] | None:
    """For so many user processes a node, else the nearest number that was measured; where it is not
    known, the mean over those that were (the paper's second strategy)."""
    places: dict[Place, list[Row]] = {}
    for row in rows:
        if (row.mpi, row.ghosts) == (mpi, ghosts):
            places.setdefault(row.place, []).append(row)
    known = {at.users: both for at, mine in places.items() if (both := boundaries(mine))}
    if not known:
        return None
    if users is not None:
        return known[min(known, key=lambda measured: (abs(measured - users), measured))]
    import statistics  # where thresholds are used; every run loads this module

    low, high = (statistics.fmean(both[side] for both in known.values()) for side in (0, 1))
    return low, high


def settings(mpi: str, users: int | None, ghosts: int) -> dict[str, str]:
    """The options of the library; nothing where this machine was not measured."""
    found = pair(read(path()), mpi, users, ghosts) if path().is_file() else None
    return {LOW: f"{found[0]:.3f}", HIGH: f"{found[1]:.3f}"} if found else {}


def read(file: Path) -> list[Row]:
    import tomllib  # as statistics

    remedy = "headway tune --thresholds writes it; delete this one"
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise HeadwayError(f"cannot read {file}: {error.strerror}", remedy) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HeadwayError(f"{file} is not TOML: {error}", remedy) from error
    rows = found.get("pattern", [])
    if found.get("format") != FORMAT or not isinstance(rows, list):
        raise HeadwayError(f"{file} is not a file of thresholds of this version", remedy)
    return [row_read(file, row, remedy) for row in rows]


def row_read(file: Path, row: object, remedy: str) -> Row:
    kinds = {name: kind for name, kind in Row.__annotations__.items()}
    if not isinstance(row, dict) or set(row) != set(kinds):
        raise HeadwayError(f"{file}: a pattern needs {', '.join(kinds)}", remedy)
    made = Row(**row)
    if any(type(getattr(made, name)).__name__ != kind for name, kind in kinds.items()):
        raise HeadwayError(f"{file}: a pattern has a value of another kind", remedy)
    if not 0 <= made.share <= 1 or made.bound not in (FOUND, ABOVE, BELOW):
        raise HeadwayError(f"{file}: a share is from 0 to 1, a bound one of three words", remedy)
    return made


def merged(old: Sequence[Row], new: Sequence[Row]) -> list[Row]:
    """What was measured on other places stays."""
    again = {row.place for row in new}
    return [*(row for row in old if row.place not in again), *new]


def write(file: Path, rows: Sequence[Row]) -> None:
    lines = [
        f"# Written by headway tune --thresholds {__version__}; headway run takes from it "
        f"{LOW} and {HIGH}.",
        f"format = {FORMAT}",
        *(line for row in rows for line in row_lines(asdict(row))),
    ]
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise HeadwayError(f"cannot write {file}: {error.strerror}", "name another") from error


def row_lines(row: Mapping[str, Any]) -> list[str]:
    return ["", "[[pattern]]", *(f"{name} = {value_text(value)}" for name, value in row.items())]


def value_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4f}"
    return f'"{value}"' if isinstance(value, str) else str(value)
