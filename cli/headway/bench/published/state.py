# SPDX-License-Identifier: BSD-3-Clause
"""Whether what a result file measured is still the code of the tree.

Each claim names the paths that it measures. A file is *older code* when one of them differs from
the commit that the file names. Comments, blank lines, moves of whole files and texts (*.md) are no
difference.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from headway.bench.published.claims import Claim, Result

CURRENT = "current"
OLDER = "older code"
CHANGED_TREE = "changed tree"
FOREIGN = "commit not in this history"

C_COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|("(?:\\.|[^"\\])*")', re.DOTALL)
PYTHON_COMMENT = re.compile(r"^\s*#[^\n]*$", re.MULTILINE)
#: a file that moves takes other includes with it
LOCAL_INCLUDE = re.compile(r'^\s*#\s*include\s+"[^"]*"\s*$', re.MULTILINE)


def code_of(name: str, text: str) -> str:
    """TEXT without what the compiler does not see."""
    if name.endswith((".c", ".h")):
        text = LOCAL_INCLUDE.sub("", text)
        text = C_COMMENT.sub(lambda match: match[1] or " ", text)
    elif name.endswith((".py", ".toml")):
        text = PYTHON_COMMENT.sub("", text)
    elif name.endswith(".md"):
        text = ""
    return "".join(text.split())


@cache
def git(root: Path, *words: str) -> str | None:
    """What git prints; None if it refuses."""
    done = subprocess.run(
        ["git", "-C", str(root), *words], capture_output=True, check=False, stdin=subprocess.DEVNULL
    )
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def now_text(root: Path, name: str) -> str:
    path = root / name
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def is_known(root: Path, commit: str) -> bool:
    return git(root, "merge-base", "--is-ancestor", commit, "HEAD") is not None


def paths_changed(root: Path, commit: str, paths: Sequence[str]) -> str | None:
    """The first file below PATHS whose code differs from the commit; None: none does."""
    told = git(root, "diff", "--name-status", "-M", "-z", commit, "--", *paths) or ""
    words = iter(told.split("\0"))
    for status in words:
        if not status:
            break
        before = next(words)
        after = next(words) if status[0] in "RC" else before
        if status == "R100":
            continue
        old = "" if status[0] == "A" else git(root, "show", f"{commit}:{before}") or ""
        if code_of(before, old) != code_of(after, now_text(root, after)):
            return after
    return None


def measured_paths(claim: Claim, result: Result) -> tuple[str, ...]:
    return (*claim.paths, *(f"bench/{program}.c" for program in result.programs))


def older_by(root: Path, claim: Claim, result: Result) -> str | None:
    """What makes the file older code: a file that changed since, or an unknown commit."""
    for commit in result.commits:
        if not is_known(root, commit):
            return FOREIGN
        changed = paths_changed(root, commit, measured_paths(claim, result))
        if changed:
            return changed
    return None


def state_of(root: Path, claim: Claim, result: Result) -> str:
    """The state that the index shows."""
    older = older_by(root, claim, result)
    marks = [] if older is None else [FOREIGN if older == FOREIGN else OLDER]
    if not result.is_tree_clean:
        marks.append(CHANGED_TREE)
    return ", ".join(f"*{mark}*" for mark in marks) or CURRENT
