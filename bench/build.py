#!/usr/bin/env python3
"""Builds every benchmark program for every MPI found: build/bench/<mpi>/<program>.

Called by ./dev build. A program is rebuilt when it, a shared source or this script is newer. One
that needs a library which is not here is left out when all are built, and fails when asked for.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
sys.path.insert(0, str(ROOT / "cli"))

from headway.mpis import Mpi, find_mpis  # noqa: E402

# MPI_STATUSES_IGNORE is a small integer cast to a pointer in MPICH; gcc takes it for an array of
# no elements and warns about every use.
FLAGS = [
    "-std=gnu17",
    "-O2",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-stringop-overflow",
]

#: program -> (what the linker is told, what the library is called, Debian's package)
LIBRARIES = {"rma_patterns": ("-lblas", "BLAS", "libblas-dev")}


def program_names() -> list[str]:
    return sorted(path.stem for path in BENCH.glob("*.c"))


def is_current(target: Path, sources: list[Path]) -> bool:
    if not target.exists():
        return False
    made = target.stat().st_mtime
    return all(source.stat().st_mtime <= made for source in sources)


def library_missing(name: str) -> str | None:
    """Says which library the program NAME needs and the linker does not find."""
    if name not in LIBRARIES:
        return None
    flag, library, package = LIBRARIES[name]
    done = subprocess.run(
        ["gcc", "-x", "c", "-", flag, "-o", "/dev/null"],
        input="int main(void) { return 0; }",
        text=True,
        capture_output=True,
    )
    return None if done.returncode == 0 else f"no {library} ({flag}); Debian: {package}"


def program_build(mpi: Mpi, name: str, directory: Path) -> str | None:
    """Compiles one program; returns the compiler's complaint, or None."""
    shared = sorted((BENCH / "common").glob("*.c"))
    headers = sorted((BENCH / "common").glob("*.h"))
    source = BENCH / f"{name}.c"
    target = directory / mpi.name / name
    if is_current(target, [source, *shared, *headers, Path(__file__)]):
        return None
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".{name}.new")
    command = [str(mpi.mpicc), *FLAGS, str(source), *map(str, shared), "-o", str(fresh), "-lm"]
    command += [LIBRARIES[name][0]] if name in LIBRARIES else []
    done = subprocess.run(command, env=mpi.environment(), text=True, capture_output=True)
    if done.returncode != 0:
        fresh.unlink(missing_ok=True)
        return done.stderr
    fresh.replace(target)
    return None


def build(mpis: list[Mpi], directory: Path, names: list[str] | None = None) -> int:
    """Builds the programs for each MPI; returns how many failed."""
    failures = 0
    buildable = []
    for name in names or program_names():
        if missing := library_missing(name):
            failures += bool(names)
            print(f"bench: {name} is not built: {missing}", file=sys.stderr)
        else:
            buildable.append(name)
    for mpi in mpis:
        for name in buildable:
            complaint = program_build(mpi, name, directory)
            if complaint is not None:
                failures += 1
                print(
                    f"bench: {name} does not build with {mpi.title}:\n{complaint}", file=sys.stderr
                )
    return failures


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the benchmark programs.")
    parser.add_argument("--mpi", help="comma-separated names; default: every MPI found")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("programs", nargs="*", help="default: all")
    arguments = parser.parse_args()
    mpis = find_mpis()
    if arguments.mpi:
        wanted = arguments.mpi.split(",")
        unknown = sorted(set(wanted) - {mpi.name for mpi in mpis})
        if unknown:
            found = ", ".join(mpi.name for mpi in mpis)
            print(f"bench: no MPI named {', '.join(unknown)}; found: {found}", file=sys.stderr)
            return 2
        mpis = [mpi for mpi in mpis if mpi.name in wanted]
    return 1 if build(mpis, arguments.out, arguments.programs) else 0


if __name__ == "__main__":
    sys.exit(main())
