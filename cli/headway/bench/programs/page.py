# SPDX-License-Identifier: BSD-3-Clause
"""The page of real programs, written from their result and nothing else."""

from __future__ import annotations

import textwrap
from typing import Any

from headway.bench.published.claims import CHANGED

#: columns of a line that is no table
WIDTH = 118
#: within this of plain a program is called the same
LEVEL = 0.01
CAUSES = {
    "no_progress": "no progress",
    "bandwidth": "bandwidth",
    "late": "late partner",
    "unknown": "not known",
}
INTRODUCTION = """\
# Real programs

The programs run as their packages install them, on the two-node test cluster with {rate} links. A
node has one rank; the rank and Headway's thread share one core. Plain and Headway alternate,
{pairs} pairs each. Times are medians with *least..most* in brackets; the ratio is the median of
the pairs' ratios. The time is what the program says it took, or the time of the job. *Faster* and
*slower* mean more than 1 %, with three quarters of the pairs on that side. {same}

Made from `programs.json` by `headway bench programs` ({date}; {cpu}, {cores} cores, Linux
{kernel}; commit {commit}). `./dev headway bench programs --install` measures again, as root: it
installs Debian's programs from Debian's archive and Python's from the package index.
"""


def title_of(row: dict[str, Any]) -> str:
    return str(row.get("title", row["program"]))


def seconds_text(times: dict[str, float]) -> str:
    return f"{times['median']:.2f} ({times['min']:.2f}..{times['max']:.2f})"


def verdict(row: dict[str, Any]) -> str:
    """In one word, what Headway does to this program."""
    if not row["pairs"]:
        return "did not run"
    ratio = row["ratio"]
    if ratio["median"] < 1 - LEVEL and ratio["q3"] < 1:
        return "faster"
    if ratio["median"] > 1 + LEVEL and ratio["q1"] > 1:
        return "slower"
    return "the same"


def table_row(row: dict[str, Any], mpis: dict[str, str]) -> str:
    answer = "unchanged" if row["is_same_answer"] else "**CHANGED**"
    cells = [title_of(row), mpis[row["mpi"]] + (", small buffers" if is_small(row) else "")]
    if row["pairs"]:
        ratio = row["ratio"]
        cells += [
            seconds_text(row["plain_s"]),
            seconds_text(row["headway_s"]),
            f"**{ratio['median']:.3f}** ({ratio['min']:.3f}..{ratio['max']:.3f})",
            verdict(row),
            answer,
        ]
    else:
        cells += ["-", "-", "-", verdict(row), "-"]
    return "| " + " | ".join(cells) + " |"


def is_small(row: dict[str, Any]) -> bool:
    return bool(row["sockbuf"] == "small")


def reasons_text(profile: dict[str, Any]) -> str:
    """Why it waited, in the words of `headway report`."""
    reasons = profile["reasons_s"]
    whole = sum(reasons.values())
    if not whole:
        return "nothing in waits for requests"
    parts = sorted(reasons.items(), key=lambda item: -item[1])
    named = [f"{CAUSES[name]} {seconds:.2f} s" for name, seconds in parts if seconds > 0.03 * whole]
    return f"{profile['waited_s']:.2f} s in waits for requests ({', '.join(named)})"


def site_text(site: dict[str, Any]) -> str:
    size = "" if site["size"] == "-" else f" of {site['size']}"
    return f"MPI_{site['function']}{size} {site['seconds']:.2f} s in {site['calls']} calls"


def share_text(row: dict[str, Any], gain_s: float) -> str:
    """How much of what the profile promised was won, where it promised enough to tell."""
    plain_s = row["plain_s"]["median"]
    if gain_s < 2 * LEVEL * plain_s:
        return ""
    won_s = plain_s - row["headway_s"]["median"]
    return f", of which Headway won {won_s:.2f} s, {100 * won_s / gain_s:.0f} %"


def unknown_text(row: dict[str, Any]) -> str:
    """A bound that leaves out what was not known is none."""
    unknown_s = row["profile"]["reasons_s"]["unknown"]
    if unknown_s < 2 * LEVEL * row["plain_s"]["median"]:
        return ""
    won_s = row["plain_s"]["median"] - row["headway_s"]["median"]
    return f", beside the {unknown_s:.2f} s not known (Headway won {won_s:.2f} s in all)"


def profile_text(row: dict[str, Any]) -> str:
    profile = row["profile"]
    if not profile:
        return "Profile: failed."
    share = 100 * profile["mpi_s"] / profile["wall_s"] if profile["wall_s"] else 0.0
    sites = "; ".join(site_text(site) for site in profile["sites"] if site["seconds"] >= 0.01)
    gain = profile["reasons_s"]["no_progress"]
    return (
        f"*Profile*: {profile['wall_s']:.1f} s from MPI_Init to MPI_Finalize, in MPI "
        f"{profile['mpi_s']:.2f} s ({share:.0f} %): {sites or 'nothing above 0.01 s'}. "
        f"Of it {reasons_text(profile)}; an engine could recover at most {gain:.2f} s"
        f"{share_text(row, gain)}"
        f"{unknown_text(row)}."
    )


def told_text(row: dict[str, Any]) -> str:
    told = row["headway"]["told"]
    if told[0].endswith("."):  # each line is a sentence
        return "*Headway said*: " + " ".join(told)
    return "*Headway said*: " + "; ".join(told[1:] or told) + "."


def variants_lines(row: dict[str, Any]) -> list[str]:
    count = row.get("variants", {}).get("plain", 1)
    if count == 1:
        return []
    return [
        "",
        f"Plain runs alone printed {count} different answers, equal in the digits compared.",
    ]


def section(row: dict[str, Any], mpis: dict[str, str]) -> list[str]:
    versions = ", ".join(f"{name} {version}" for name, version in row["versions"].items())
    buffers = " (small socket buffers)" if is_small(row) else ""
    does = row["does"][0].upper() + row["does"][1:]
    lines = [
        f"### {title_of(row)}, {mpis[row['mpi']]}{buffers}",
        "",
        f"{does} ({versions}). {row['communicates']}. Compared: {row['compared']}.",
    ]
    if row["pairs"]:
        lines += ["", profile_text(row), "", told_text(row)]
        lines += variants_lines(row)
    if row["failures"]:
        failures = "; ".join(row["failures"])
        lines += ["", f"Failed: {failures}. The figures are of the other {row['pairs']} pairs."]
    return [*lines, ""]


def same_text(rows: list[dict[str, Any]]) -> str:
    changed = [row for row in rows if row["pairs"] and not row["is_same_answer"]]
    if not changed:
        return "**Every answer is unchanged**, profiled or accelerated."
    return "Not unchanged: " + ", ".join(title_of(row) for row in changed) + "."


def wrapped(line: str) -> str:
    """A paragraph in lines; rows of tables and headings stay as they are."""
    if line.startswith(("|", "#")):
        return line
    return textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)


def page_make(document: dict[str, Any]) -> str:
    """The page of a result."""
    rows = document["rows"]
    machine = document["machine"]
    introduction = INTRODUCTION.format(
        rate=document["options"]["rate"],
        pairs=document["options"]["pairs"],
        same=same_text(rows),
        date=document["date"][:10],
        cpu=machine["cpu"],
        cores=machine["cores"],
        kernel=machine["kernel"],
        commit=str(document["commit"]).replace(CHANGED, ", with uncommitted changes"),
    )
    ordered = sorted(rows, key=lambda row: row["ratio"]["median"] if row["pairs"] else 9.0)
    lines = [
        *("\n\n".join(map(wrapped, introduction.strip().split("\n\n"))), ""),
        "| program | MPI | plain, s | Headway, s | Headway / plain | | answer |",
        "|---|---|---|---|---|---|---|",
        *(table_row(row, document["mpis"]) for row in ordered),
        "",
        "## What each does, and why it gains or does not",
        "",
    ]
    for row in ordered:
        lines += map(wrapped, section(row, document["mpis"]))
    return "\n".join(lines)
