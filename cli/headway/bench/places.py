# SPDX-License-Identifier: BSD-3-Clause
"""Where the benchmarks' sources are, what is built of them, and what is written.

The source tree has its places below build/. An installed command has the sources beside itself,
builds in the user's cache and writes into the current folder.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from functools import cache
from pathlib import Path

from headway import __version__
from headway.errors import HeadwayError
from headway.mpi.mpis import Mpi, repository_root

PACKAGE = Path(__file__).resolve().parent
#: in the current folder, where an installed command leaves its results
RESULTS = "headway-bench"


def sources() -> Path:
    """The folder of the programs' C files, with common/ in it."""
    root = repository_root()
    return root / "bench" if root else PACKAGE / "sources"


def publications() -> Path:
    """Where --publish puts result files: the source tree alone has a place for them."""
    root = repository_root()
    if root is None:
        raise HeadwayError(
            "--publish is for the source tree", "leave it out: results are written anyway"
        )
    return root / "doc" / "results" / "data"


def is_published(path: Path) -> bool:
    """A file of the source tree's doc/results/data."""
    return repository_root() is not None and path.absolute().parent == publications()


def results() -> Path:
    root = repository_root()
    return root / "build" / "bench-results" if root else Path(RESULTS)


def user_cache() -> Path:
    """headway/ in the user's cache folder (XDG Base Directory Specification)."""
    told = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(told):  # others are to be ignored
        return Path(told) / "headway"
    try:
        return Path.home() / ".cache" / "headway"
    except RuntimeError as error:
        raise HeadwayError(
            "there is no home directory to build benchmarks in", "set XDG_CACHE_HOME"
        ) from error


@cache
def sources_digest() -> str:
    """Of everything the programs are made of: another version, another folder."""
    found = hashlib.sha256()
    for path in sorted(path for path in sources().rglob("*") if path.suffix in (".c", ".h")):
        found.update(f"{path.relative_to(sources())}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()[:12]


def built() -> Path:
    """The folder with a folder of programs for each MPI."""
    if root := repository_root():
        return root / "build" / "bench"
    return user_cache() / "bench" / f"{__version__}-{sources_digest()}"


def folder_of(mpi: Mpi) -> str:
    """Its folder's name there. The tree has one MPI of each name; a machine's modules may give
    several, one after another, whose programs are linked to their own libraries."""
    if repository_root():
        return mpi.name
    place = hashlib.sha256(f"{mpi.mpicc.absolute()}\0{mpi.library}".encode()).hexdigest()[:8]
    return f"{mpi.name}-{mpi.version}-{place}"


def real_programs() -> Path:
    """Where the suite of real programs keeps its Python packages."""
    root = repository_root()
    return root / "build" / "programs" if root else user_cache() / "programs"


def git(root: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", str(root), *words], text=True, capture_output=True, check=False
    ).stdout.strip()


def commit() -> str:
    """The commit the tree is at; without a tree the version and what the programs are made of."""
    root = repository_root()
    if root is None:
        return f"{__version__}, sources {sources_digest()}"
    return git(root, "rev-parse", "--short=12", "HEAD") or "unknown"


def is_tree_clean() -> bool:
    """Nothing that is measured has uncommitted changes."""
    root = repository_root()
    # Results published before, and what is written from them, are not what is measured.
    measured = ("--untracked-files=no", "--", ".", ":(exclude)doc", ":(exclude)README.md")
    return root is None or not git(root, "status", "--porcelain", *measured)


def shown(path: Path) -> str:
    """A path as a reader finds it: from the tree's root, or from here."""
    base = repository_root() or Path.cwd()
    whole = path.absolute()
    return str(whole.relative_to(base) if whole.is_relative_to(base) else path)
