# SPDX-License-Identifier: BSD-3-Clause
"""The classic mistakes, looked for in one program without running it."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

from headway import options
from headway.doctor import calls
from headway.doctor.finding import NOTE, OK, PROBLEM, Finding
from headway.errors import HeadwayError
from headway.mpi import elf, preload, program
from headway.mpi.launchers import family_of
from headway.mpi.mpis import Mpi

#: what stands before MPI defines some of these
INTERPOSED = {"MPI_Init", "MPI_Init_thread", "MPI_Isend", "MPI_Waitall"}


def examine(name: str, mpis: list[Mpi]) -> tuple[list[Finding], list[Mpi]]:
    """Everything that can be said about one program, and its MPI, if it is one of these."""
    found = [environment(), *preloads()]
    try:
        path = program.find_executable(name)
        target = program.inspect(name)
    except HeadwayError as error:
        cause, _, remedy = str(error).partition("; ")
        return [*found, Finding(PROBLEM, name, cause, remedy)], []
    own = [m for m in mpis if target.library and m.owns(target.library, target.flavour)]
    found += which_mpi(name, target, own)
    found += [*privileges(path), *library(target), *launcher(target, own)]
    if path.read_bytes()[:4] == b"\x7fELF" and not re.fullmatch(r"python[\d.]*", path.name):
        found += linked(path, target)
    return found, own


def environment() -> Finding:
    try:
        options.check_environment(os.environ)
    except HeadwayError as error:
        cause, _, remedy = str(error).partition("; ")
        return Finding(PROBLEM, "environment", cause, remedy)
    given = sorted(name for name in os.environ if name.startswith(options.FAMILY))
    return Finding(OK, "environment", "set: " + " ".join(given) if given else "no HEADWAY_* set")


def preloads(environ: Mapping[str, str] = os.environ) -> list[Finding]:
    """What else is preloaded into every program started from here."""
    names = environ.get("LD_PRELOAD", "").replace(":", " ").split()
    system = Path("/etc/ld.so.preload")
    if system.exists():
        names += system.read_text(errors="replace").split()
    found = []
    for name in names:
        if "$" in name:  # for the loader to fill in
            continue
        path = elf.locate(name, elf.Elf(), Path(), [])
        if path is None:
            text = f"{name} in LD_PRELOAD is not there"
            found.append(Finding(PROBLEM, "preload", text, "unset LD_PRELOAD"))
        elif re.match(r"libheadway-\w+\.so", path.name):
            text = f"{name} is in LD_PRELOAD already"
            remedy = "headway run adds it itself; in other shells every program would load it"
            found.append(Finding(NOTE, "preload", text, remedy))
        elif elf.defined(path, INTERPOSED):
            remedy = "it sees Headway's calls; without it there is less to go wrong"
            found.append(Finding(NOTE, "preload", f"{path.name} stands before MPI too", remedy))
        else:
            found.append(Finding(OK, "preload", f"{path.name} is preloaded, and leaves MPI alone"))
    return found


def which_mpi(name: str, target: program.Target, own: list[Mpi]) -> list[Finding]:
    if target.library is None and target.path:
        text = f"needs {target.title}, but the loader does not find its library"
        remedy = "set LD_LIBRARY_PATH as when it was built, or load its module"
        return [Finding(PROBLEM, name, text, remedy)]
    found = [Finding(OK, name, f"uses {target.title} ({target.library})")]
    if not own:
        text = f"{target.title} is none of the MPIs asked below, which were found by their mpicc"
        found.append(Finding(NOTE, name, text, "put its mpicc into PATH and ask again"))
    return found


def privileges(path: Path) -> list[Finding]:
    """The loader ignores LD_PRELOAD for programs that gain privileges. This one gains none here
    (program.inspect); who starts it as somebody else may."""
    group_run = stat.S_ISGID | stat.S_IXGRP
    mode = path.stat().st_mode
    has_more = mode & stat.S_ISUID or mode & group_run == group_run
    if not has_more and not program.has_capabilities(path):
        return []
    text = "is setuid, setgid or has capabilities: for other users nothing is preloaded into it"
    return [Finding(NOTE, path.name, text, "they run a copy of it: cp keeps none of these")]


def library(target: program.Target) -> list[Finding]:
    try:
        return [Finding(OK, "library", str(preload.library(target.flavour)))]
    except HeadwayError as error:
        cause, _, remedy = str(error).partition("; ")
        return [Finding(PROBLEM, "library", cause, remedy)]


def launcher(target: program.Target, own: list[Mpi]) -> list[Finding]:
    """Is the mpiexec that the shell finds the one of the program's MPI?"""
    found = shutil.which("mpiexec")
    if found is None:
        if own:
            return [Finding(OK, "launcher", f"headway run -n N takes {own[0].mpiexec}")]
        text = "no mpiexec in PATH"
        return [Finding(NOTE, "launcher", text, "headway run -- LAUNCHER ... PROGRAM")]
    family = family_of(Path(found))
    if family == "unknown":
        text = f"{found} does not say which MPI it belongs to"
        remedy = f"headway run -n N takes {own[0].mpiexec}" if own else "ask who installed it"
        return [Finding(NOTE, "launcher", text, remedy)]
    if (family == "ompi") != (target.flavour == "ompi"):
        text = f"{found} is not {target.title}'s: every rank would be alone in its world"
        remedy = f"headway run -n N takes {own[0].mpiexec}" if own else "put its own into PATH"
        return [Finding(NOTE, "launcher", text, remedy)]
    return [Finding(OK, "launcher", f"{found} is of the same family")]


def contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def linked(path: Path, target: program.Target) -> list[Finding]:
    """Which libraries come with it: a second MPI, another tool, anything nonblocking at all."""
    found: list[Finding] = tools(path)
    pending: set[str] = set()
    flavours: dict[str, str] = {}
    pieces: dict[str, Path | None] = {path.name: path, **elf.libraries(path)}
    for soname, where in pieces.items():
        if flavour := program.flavour_of(soname):
            flavours[flavour] = soname
        elif where is None:
            text = f"{soname} is not found"
            found.append(Finding(PROBLEM, path.name, text, "set LD_LIBRARY_PATH"))
        elif not is_of_mpi(where, target) and not re.match(r"(lib[cm]|ld-)\b", soname):
            pending |= calls.pending(contents(where))
    if len(flavours) > 1:
        text = f"loads two MPIs: {' and '.join(sorted(flavours.values()))}"
        remedy = "one of its libraries was built with another MPI: rebuild it with this one"
        found.append(Finding(PROBLEM, path.name, text, remedy))
    if pending:
        names = ", ".join(sorted(pending)[:4])
        more = f" and {len(pending) - 4} more" if len(pending) > 4 else ""
        found.append(Finding(OK, "calls", f"{names}{more}"))
    else:
        text = "nothing nonblocking is called: there is nothing to overlap"
        remedy = "headway profile shows where it waits"
        found.append(Finding(NOTE, "calls", text, remedy))
    return found


def tools(path: Path) -> list[Finding]:
    """What stands before MPI in the program itself, or in a library that is no MPI."""
    found = []
    if elf.defined(path, INTERPOSED):
        text = "a tool that stands before MPI is linked into it"
        remedy = "Headway sees what the tool calls; build without it if something goes wrong"
        found.append(Finding(NOTE, path.name, text, remedy))
    for soname, where in elf.libraries(path).items():
        if not where or re.match(program.ANY_MPI, soname) or re.match(program.STANDARD_ABI, soname):
            continue
        if re.match(r"libheadway-\w+\.so", soname):
            found.append(Finding(OK, path.name, f"links {soname}: it has Headway in any launch"))
        elif elf.defined(where, INTERPOSED):
            text = f"links {soname}, which stands before MPI too"
            remedy = (
                "it sees the program's calls or Headway's; without it there is less to go wrong"
            )
            found.append(Finding(NOTE, path.name, text, remedy))
    return found


def is_of_mpi(where: Path, target: program.Target) -> bool:
    """Lies in the folder of the MPI's own libraries, and is one by its name."""
    name = where.name
    own = (
        "libmpi",
        "libmpich",
        "libopen-",
        "libpmix",
        "libprrte",
        "libuc",
        "libfabric",
        "libhwloc",
    )
    return bool(target.library) and name.startswith(own)
