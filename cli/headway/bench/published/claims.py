# SPDX-License-Identifier: BSD-3-Clause
"""Claims, and the figures that support them.

`doc/results/claims.toml` states each claim once; the figures in its sentences are read from the
claim's result file, so that a sentence cannot differ from what was measured.
"""

from __future__ import annotations

import json
import re
import statistics
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway.bench import report
from headway.errors import HeadwayError

Row = Mapping[str, Any]

TABLE = "claims.toml"
DATA = "data"
#: keys of a figure that say what is done with the values; the others choose rows
WORDS = ("value", "of", "unit", "against", "against_mode")
#: two shares agree when they differ by at most this
AGREE = 0.1
#: the mark that older result files append to the commit of a tree with uncommitted changes
CHANGED = "+changes"
PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Figure:
    """A number, or the two ends of a range, taken from chosen rows of a result file."""

    name: str
    value: str
    where: Mapping[str, Any]
    of: str = "range"  # range, median, least, most, count (a sum), rows, agreement
    unit: str = ""
    against: str = ""  # of an agreement: the other value, and its mode
    against_mode: str = ""

    def values_from(self, rows: Iterable[Row]) -> list[float]:
        found = (value_of(row, self.value) for row in rows if is_chosen(row, self.where))
        return [value for value in found if value is not None]

    def text(self, rows: Iterable[Row]) -> str:
        """The figure in words; `-` where no chosen row has the value."""
        rows = list(rows)
        if self.of == "agreement":
            return self.agreement_text(rows)
        values = self.values_from(rows)
        if self.of == "rows":
            return str(len(values))
        if self.of == "count":
            return str(round(sum(values)))
        if not values:
            return "-"
        if self.of == "range":
            least, most = (self.one_text(value) for value in (min(values), max(values)))
            return least if least == most else f"{least} to {most}"
        chosen = {"median": statistics.median(values), "least": min(values), "most": max(values)}
        return self.one_text(chosen[self.of])

    def agreement_text(self, rows: Sequence[Row]) -> str:
        """In how many points the value agrees with that of another mode."""
        others = {
            point_of(row): value_of(row, self.against)
            for row in rows
            if row["mode"] == self.against_mode
        }
        pairs = [
            (value_of(row, self.value), others.get(point_of(row)))
            for row in rows
            if is_chosen(row, self.where)
        ]
        known = [(one, other) for one, other in pairs if one is not None and other is not None]
        agreeing = sum(abs(one - other) <= AGREE for one, other in known)
        return f"{agreeing} of {len(known)}" if known else "-"

    def one_text(self, value: float) -> str:
        scales = {"us": 1e6, "ms": 1e3, "ns": 1.0, "KiB": 1 / 1024, "%": 100.0}
        if self.unit in scales:
            scaled = value * scales[self.unit]
            return f"{scaled:.0f}" if scaled >= 20 else f"{scaled:.1f}"
        return f"{value:.2f}"


@dataclass(frozen=True)
class Claim:
    """One claim: its page has the claim's name, its file is `data/<name>.json`."""

    name: str
    area: str
    claim: str
    figure: str
    shows: str
    paths: tuple[str, ...]
    cells: tuple[str, ...] = ()
    kept: str = ""  # why a file stays although newer ones have all its rows
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def filled(self, text: str, rows: Sequence[Row]) -> str:
        """TEXT with each `{name}` replaced by the figure of that name."""

        def one(match: re.Match[str]) -> str:
            figure = self.figures.get(match[1])
            if figure is None:
                raise HeadwayError(f"claim {self.name} has no figure called {match[1]}", TABLE)
            return figure.text(rows)

        return PLACEHOLDER.sub(one, text)


@dataclass(frozen=True)
class Result:
    """One published file."""

    path: Path
    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def rows(self) -> list[Row]:
        return list(self.document["rows"])

    @property
    def commits(self) -> list[str]:
        """The measured commit; several where a file collects launches of several."""
        told = [self.document["commit"], *(row.get("commit", "") for row in self.rows)]
        return list(dict.fromkeys(one.removesuffix(CHANGED) for one in told if one))

    @property
    def is_tree_clean(self) -> bool:
        """Nothing uncommitted was measured."""
        told = [self.document, *(row for row in self.rows if "commit" in row)]
        return all(
            one.get("is_tree_clean", True) and not str(one["commit"]).endswith(CHANGED)
            for one in told
        )

    @property
    def programs(self) -> list[str]:
        return list(dict.fromkeys(row["program"] for row in self.rows if "program" in row))


def point_of(row: Row) -> tuple[object, ...]:
    """What a row is of, but for its mode."""
    return tuple(row[name] for name in ("mpi", "rate", "sockbuf", "case", "bytes"))


def value_of(row: Row, name: str) -> float | None:
    """A value of a row by its name: derived, summarized (the mean if there is one), or plain."""
    derived = row.get("derived", {}).get(name)
    if derived is not None:
        return float(derived)
    summary = row.get("values", {}).get(name)
    if summary is not None:
        return float(summary.get("mean", summary["median"]))
    ends = row.get("values", {}).get(name[:-4])  # of all launches: NAME_min, NAME_max
    if ends is not None and name[-4:] in ("_min", "_max"):
        return float(ends[name[-3:]])
    own = row.get(name)
    if isinstance(own, Mapping):
        return float(own["median"])
    return float(own) if isinstance(own, int | float) else None


def is_chosen(row: Row, where: Mapping[str, Any]) -> bool:
    """A row that has every value asked for; `case` and `not_case` are parts of its name."""
    for key, wanted in where.items():
        wanted_list = wanted if isinstance(wanted, list) else [wanted]
        if key == "case":
            fits = any(part in row["case"] for part in wanted_list)
        elif key == "not_case":
            fits = not any(part in row["case"] for part in wanted_list)
        elif key == "bytes_from":
            fits = row["bytes"] >= wanted
        elif key == "bytes_to":
            fits = row["bytes"] <= wanted
        else:
            fits = row.get(key) in wanted_list
        if not fits:
            return False
    return True


def figure_read(name: str, entry: Mapping[str, Any]) -> Figure:
    where = {key: value for key, value in entry.items() if key not in WORDS}
    words = {key: str(entry[key]) for key in WORDS if key in entry}
    return Figure(name, where=where, **words)


def claim_read(name: str, entry: Mapping[str, Any], paths: Mapping[str, Sequence[str]]) -> Claim:
    figures = {key: figure_read(key, one) for key, one in entry.get("figures", {}).items()}
    return Claim(
        name=name,
        area=entry["area"],
        claim=entry["claim"],
        figure=entry["figure"],
        shows=" ".join(entry["shows"].split()),
        paths=tuple(path for one in entry["paths"] for path in paths[one]),
        cells=tuple(entry.get("cells", ())),
        kept=entry.get("kept", ""),
        figures=figures,
    )


def unlisted(result: Result) -> Claim:
    """The claim of a file that the table does not name: a suite that was published just now."""
    whole = Figure("ratio", "ratio", {"mode": "headway"})
    return Claim(
        name=result.name,
        area="Other",
        claim=str(result.document["title"]),
        figure="{ratio} of plain",
        shows=f"The suite ran with every mode in turn. `{TABLE}` does not state its claim yet.",
        paths=("src",),
        figures={"ratio": whole},
    )


@dataclass(frozen=True)
class Table:
    """`claims.toml`."""

    areas: tuple[str, ...]
    claims: Mapping[str, Claim]
    headline: Sequence[Mapping[str, Any]]


def table_read(folder: Path) -> Table:
    whole = tomllib.loads((folder / TABLE).read_text(encoding="utf-8"))
    claims = {
        name: claim_read(name, entry, whole["paths"]) for name, entry in whole["claims"].items()
    }
    return Table(tuple(whole["areas"]), claims, whole["headline"])


def results_read(folder: Path) -> Iterator[Result]:
    for path in sorted((folder / DATA).glob("*.json")):
        yield Result(path, json.loads(path.read_text(encoding="utf-8")))


def size_text(row: Row) -> str:
    return report.size_text(row["bytes"]) if row.get("bytes") else ""
