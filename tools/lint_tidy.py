#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run clang-tidy over our own C files, one a core: lint_tidy.py BUILD_DIR.

Files that are compiled once per MPI family are checked once; generated files are left out. The
benchmarks, which CMake does not compile, are checked as MPICH's compiler sees them. A file
that was clean is not checked again until something changes that clang-tidy sees: the file, a header
that it includes, the compile command, the checks, or clang-tidy itself. A digest of all of these
names an empty file below build/tidy/.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "cli"))

from headway.bench import build  # noqa: E402  (needs the path above)
from headway.mpi.mpis import find_mpis  # noqa: E402

FOLDERS = ("src", "tests")
# An atomic variable used like a plain one has an order that nobody chose (src/base/atomic.h).
LIBRARY_OPTIONS = ("-Watomic-implicit-seq-cst",)
CACHE = ROOT / "build" / "tidy"
#: what no run asked for since then is forgotten
KEPT_S = 30 * 24 * 3600


def own_entries(database: Path) -> list[dict]:
    """One compile command per source file of ours, the first of those that compile it."""
    entries: dict[Path, dict] = {}
    for entry in json.loads(database.read_text()):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in FOLDERS:
            entries.setdefault(path, entry)
    return list(entries.values())


def bench_entries() -> list[dict]:
    """The same of the benchmarks and what they share, as `headway bench` compiles them."""
    mpi = next(mpi for mpi in find_mpis(with_path=False) if mpi.flavour == "mpich")
    told = subprocess.run([mpi.mpicc, "-show"], capture_output=True, text=True, check=True).stdout
    included = [word for word in shlex.split(told) if word.startswith("-I")]
    words = ["gcc", *build.FLAGS, "-fopenmp", *included, "-c"]
    return [
        {
            "directory": str(ROOT),
            "file": str(path),
            "command": shlex.join([*words, str(path), "-o", f"{path.stem}.o"]),
        }
        for path in sorted((ROOT / "bench").rglob("*.c"))
    ]


def command(database: Path, path: str) -> list[str]:
    options = LIBRARY_OPTIONS if (ROOT / "src") in Path(path).parents else ()
    return [
        "clang-tidy",
        "--quiet",
        "--extra-arg=-Wno-unknown-warning-option",
        *(f"--extra-arg={option}" for option in options),
        "-p",
        str(database),
        path,
    ]


def tidy(database: Path, path: str) -> str:
    done = subprocess.run(
        command(database, path), capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return done.stdout + done.stderr if done.returncode else ""


# ---- what was clean before ----------------------------------------------------------------------


def dependencies(entry: dict) -> list[str]:
    """The file and every header that it includes, as its compiler sees them; none: it refuses."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    done = subprocess.run(
        [*words[:at], *words[at + 2 :], "-M", "-MT", "it"],
        cwd=entry["directory"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        return []
    return done.stdout.replace("\\\n", " ").removeprefix("it:").split()


def digest_of_file(path: Path, known: dict[Path, str]) -> str:
    if path not in known:
        known[path] = hashlib.sha256(path.read_bytes()).hexdigest()
    return known[path]


def key_of(entry: dict, checks: str, known: dict[Path, str]) -> str | None:
    """Names all that clang-tidy sees; None where that cannot be told."""
    listed = dependencies(entry)
    if not listed:
        return None
    folder = Path(entry["directory"])
    seen = [f"{name} {digest_of_file(folder / name, known)}" for name in listed]
    asked = " ".join(command(Path(), entry["file"]))
    return hashlib.sha256("\n".join([checks, asked, entry["command"], *seen]).encode()).hexdigest()


def checks_now() -> str:
    """clang-tidy's version, and what it is told to check."""
    words = ["clang-tidy", "--version"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return told + (ROOT / ".clang-tidy").read_text()


def check(database: Path, entry: dict, checks: str, known: dict[Path, str]) -> str | None:
    """The report of one file; None: it was clean before, and nothing changed."""
    key = key_of(entry, checks, known)
    mark = CACHE / key if key else None
    if mark and mark.exists():
        mark.touch()
        return None
    report = tidy(database, entry["file"])
    if mark and not report:
        mark.touch()
    return report


def forget_old() -> None:
    limit = time.time() - KEPT_S
    for mark in CACHE.iterdir():
        if mark.stat().st_mtime < limit:
            mark.unlink(missing_ok=True)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: lint_tidy.py BUILD_DIR", file=sys.stderr)
        return 2
    entries = own_entries(Path(sys.argv[1]) / "compile_commands.json")
    if not entries:
        print("lint_tidy: no source of ours is in compile_commands.json", file=sys.stderr)
        return 1
    entries += bench_entries()
    CACHE.mkdir(parents=True, exist_ok=True)
    checks, known = checks_now(), {}
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(cores) as pool:
        (Path(folder) / "compile_commands.json").write_text(json.dumps(entries))
        reports = list(pool.map(lambda one: check(Path(folder), one, checks, known), entries))
    forget_old()
    found = [report for report in reports if report]
    unchanged = reports.count(None)
    print("\n".join(found), end="")
    print(
        f"clang-tidy: {len(entries)} files, {unchanged} of them clean before and unchanged, "
        f"{len(found)} with findings"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
