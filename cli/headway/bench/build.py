# SPDX-License-Identifier: BSD-3-Clause
"""Builds the benchmark programs, each for every MPI: <folder>/<mpi>/<program>.

`python -m headway.bench.build` builds all of them, as ./dev build does; `headway bench` and
`headway demo` build what they start. A program is rebuilt when it, a shared source or this file is
newer. What they share is compiled once for each MPI, into <folder>/<mpi>/.common. A program that
needs a library which is not here is left out when all are built, and fails when asked for.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

from headway.bench import places
from headway.errors import HeadwayError
from headway.mpi.mpis import Mpi, find_mpis, repository_root

# MPI_STATUSES_IGNORE is a small integer cast to a pointer in MPICH; gcc takes it for an array of
# no elements and warns about every use.
FLAGS = [
    "-std=gnu17",
    "-O2",
    "-D_GNU_SOURCE",
    "-Wall",
    "-Wextra",
    "-Wno-stringop-overflow",
]

#: our compilers are to be silent; of a user's we do not know what it warns about
STRICT = ["-Werror"]

#: program -> (what the linker is told, what the library is called, Debian's package)
LIBRARIES = {
    "lu": ("-lblas", "BLAS", "libblas-dev"),
    "mg": ("-fopenmp", "OpenMP", "libgomp1"),
    "stripes": ("-fopenmp", "OpenMP", "libgomp1"),
    "pack": ("-fopenmp", "OpenMP", "libgomp1"),
    "rma_patterns": ("-lblas", "BLAS", "libblas-dev"),
    "rma_phases": ("-lblas", "BLAS", "libblas-dev"),
}


def program_names() -> list[str]:
    return sorted(path.stem for path in places.sources().glob("*.c"))


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
    try:
        done = subprocess.run(
            ["gcc", "-x", "c", "-", flag, "-o", "/dev/null"],
            input="int main(void) { return 0; }",
            text=True,
            capture_output=True,
        )
    except OSError:
        return "no gcc; Debian: gcc"
    return None if done.returncode == 0 else f"no {library} ({flag}); Debian: {package}"


def shared_sources() -> list[Path]:
    """What every program has a copy of; compiled once for each MPI."""
    return sorted((places.sources() / "common").glob("*.c"))


def shared_headers() -> list[Path]:
    return [*sorted((places.sources() / "common").glob("*.h")), Path(__file__)]


def object_of(mpi: Mpi, source: Path, directory: Path) -> Path:
    return directory / places.folder_of(mpi) / ".common" / f"{source.stem}.o"


def object_build(mpi: Mpi, source: Path, directory: Path) -> str | None:
    """Compiles one shared source; returns the compiler's complaint, or None."""
    target = object_of(mpi, source, directory)
    if is_current(target, [source, *shared_headers()]):
        return None
    return compile_to(mpi, target, ["-c", str(source)], [])


def program_build(mpi: Mpi, name: str, directory: Path) -> str | None:
    """Compiles one program, whose shared objects are built; the same."""
    objects = [object_of(mpi, source, directory) for source in shared_sources()]
    source = places.sources() / f"{name}.c"
    target = directory / places.folder_of(mpi) / name
    if is_current(target, [source, *objects, *shared_headers()]):
        return None
    libraries = ["-lm", *([LIBRARIES[name][0]] if name in LIBRARIES else [])]
    return compile_to(mpi, target, [str(source), *map(str, objects)], libraries)


def compile_to(mpi: Mpi, target: Path, sources: list[str], libraries: list[str]) -> str | None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeadwayError(
            f"cannot build in {target.parent}: {error.strerror}",
            "make room there" if repository_root() else "set XDG_CACHE_HOME to another folder",
        ) from error
    fresh = target.with_name(f".{target.name}.{os.getpid()}")  # others may build it meanwhile
    flags = [*FLAGS, *(STRICT if repository_root() else [])]
    command = [str(mpi.mpicc), *flags, *sources, "-o", str(fresh), *libraries]
    try:
        done = subprocess.run(command, env=mpi.environment(), text=True, capture_output=True)
        if done.returncode != 0:
            return done.stderr or done.stdout
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)
    return None


#: MPI, what it is called, and what returns the compiler's complaint, or None
Compilation = tuple[Mpi, str, Callable[[], str | None]]


def compile_all(compilations: Sequence[Compilation]) -> list[str]:
    """One a core; prints complaints, and returns for each the name of the MPI."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        complaints = list(pool.map(lambda one: one[2](), compilations))
    refused = []
    for (mpi, name, _), complaint in zip(compilations, complaints, strict=True):
        if complaint is not None:
            refused.append(mpi.name)
            text = f"bench: {name} does not build with {mpi.title}:\n{complaint}"
            print(text, file=sys.stderr)
    return refused


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
    refused = compile_all(
        [
            (mpi, f"common/{source.name}", partial(object_build, mpi, source, directory))
            for mpi, source in product(mpis, shared_sources())
        ]
    )
    programs: list[Compilation] = [
        (mpi, name, partial(program_build, mpi, name, directory))
        for mpi, name in product(mpis, buildable)
        if mpi.name not in refused
    ]
    return failures + len(refused) + len(compile_all(programs))


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the benchmark programs.")
    parser.add_argument("--mpi", help="comma-separated names; default: every MPI found")
    parser.add_argument("--out", type=Path, default=places.built())
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
