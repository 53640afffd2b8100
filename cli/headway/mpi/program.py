# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI a program uses, found without running the program itself."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from headway.errors import HeadwayError
from headway.mpi import elf

#: soname -> flavour of the library to preload
SONAMES = (
    (r"libmpi\.so\.40", "ompi"),
    (r"libmpi\.so\.12", "mpich"),
    (r"libmpich\.so\.12", "mpich"),
)
#: an MPI's by its name, of whatever version
ANY_MPI = r"libmpi(ch)?\.so\.\d+"
STANDARD_ABI = r"libmpi_abi\.so\.\d+"
#: an interpreter's own name
PYTHON = r"python[\d.]*"
#: the runtime of -fsanitize=address, GCC's and LLVM's: it ends a program that has another before it
ADDRESS_SANITIZER = r"libasan\.so(\.\d+)*|libclang_rt\.asan.*\.so"

#: run by the script's own interpreter: which libmpi does mpi4py load?
MPI4PY_PROBE = """
import mpi4py
mpi4py.rc.initialize = mpi4py.rc.finalize = False
from mpi4py import MPI
for line in open('/proc/self/maps'):
    path = line.split(None, 5)[5].strip() if line.count('/') else ''
    if '/libmpi' in path and '.so' in path:
        print(path)
"""

#: run by our own interpreter: the version string, which MPI gives before MPI_Init
VERSION_PROBE = """
import ctypes, sys
mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
text, length = ctypes.create_string_buffer(1 << 15), ctypes.c_int()
mpi.MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode(errors='replace'))
"""


@dataclass(frozen=True)
class Target:
    """A program, the flavour of its MPI, and the MPI library it loads."""

    path: str
    flavour: str
    library: Path | None
    title: str
    #: what must be preloaded before anything else
    first: tuple[Path, ...] = ()


def strip_dashes(words: list[str]) -> list[str]:
    """A command after `--`: argparse leaves the dashes in."""
    return words[1:] if words[:1] == ["--"] else words


def find_executable(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        if Path(name).is_dir():
            raise HeadwayError(f"{name} is a folder", "name the program in it")
        if name.endswith(".py") and Path(name).exists():
            raise by_its_interpreter(name)
        if os.access(name, os.X_OK):  # the loader looks for it in PATH only
            raise HeadwayError(f"{name} is in this folder, not in PATH", f"name it ./{name}")
        if Path(name).exists():
            raise HeadwayError(f"{name} is not executable", "is it a program? chmod +x it")
        raise HeadwayError(f"there is no program {name!r}", "check the path")
    return Path(found)


def by_its_interpreter(name: str) -> HeadwayError:
    """What to type for a Python program that cannot be started by itself."""
    return HeadwayError(
        f"{name} is a Python program without an interpreter in its first line, or not executable",
        f"name the interpreter: headway run -n 2 python3 {name}",
    )


def flavour_of(soname: str) -> str | None:
    return next(
        (flavour for pattern, flavour in SONAMES if re.match(pattern + r"(\.|$)", soname)), None
    )


def inspect(name: str, arguments: list[str] | None = None) -> Target:
    """Which MPI does this program use? HeadwayError if none, or one that cannot be preloaded."""
    path = find_executable(name)
    try:
        with path.open("rb") as file:
            head = file.read(256)
    except OSError as error:
        raise unreadable(name, error) from error
    if re.fullmatch(PYTHON, path.name):  # of pyenv and its like a script
        return inspect_python(str(path), str(path))
    if head.startswith(b"#!"):
        interpreter = interpreter_of(head.splitlines()[0][2:].decode(errors="replace"))
        if "python" not in Path(interpreter).name:
            raise HeadwayError(
                f"{name} is a script, so its MPI cannot be seen",
                "name it: headway run --abi mpich|ompi ...",
            )
        return inspect_python(str(path), interpreter)
    return inspect_elf(name, path)


def is_likely(name: str) -> bool:
    """Does this command load an MPI, or run Python? Of a script nobody knows."""
    found = shutil.which(name)
    if found is None:
        return False
    path = Path(found)
    return bool(re.fullmatch(PYTHON, path.name)) or any(map(flavour_of, elf.libraries(path)))


def interpreter_of(line: str) -> str:
    """What a script's first line names, also behind env and its options; "" if nothing."""
    words = line.split()
    if words and words[0].endswith("/env"):
        return next((word for word in words[1:] if word[0] != "-" and "=" not in word), "")
    return words[0] if words else ""


def unreadable(name: str, error: OSError) -> HeadwayError:
    return HeadwayError(
        f"{name} cannot be read: {error.strerror}",
        "say which MPI it uses: headway run --abi mpich|ompi ...",
    )


def inspect_elf(name: str, path: Path) -> Target:
    try:
        header = elf.read(path)
    except elf.NotElf as error:
        if name.endswith(".py"):
            raise by_its_interpreter(name) from error
        raise HeadwayError(
            f"{name} is neither an ELF program nor a script", "name the MPI program itself"
        ) from error
    except OSError as error:
        raise unreadable(name, error) from error
    if not header.is_dynamic or not header.is_program:  # static, or static and relocatable
        raise HeadwayError(
            f"{name} is statically linked, nothing can be preloaded into it",
            "link it with the shared MPI library",
        )
    libraries = elf.libraries(path)
    for soname, where in libraries.items():
        if flavour := flavour_of(soname):
            if is_privileged(path):
                raise HeadwayError(
                    f"{name} is setuid, setgid or has capabilities: the loader preloads nothing "
                    "into it",
                    "run a copy of it: cp keeps none of these",
                )
            first = tuple(
                sanitizer
                for soname, sanitizer in libraries.items()
                if sanitizer and re.fullmatch(ADDRESS_SANITIZER, soname)
            )
            library = where and where.resolve()
            return Target(str(path), flavour, library, title(where, flavour), first)
    if any(re.match(STANDARD_ABI, soname) for soname in libraries):
        raise HeadwayError(
            f"{name} uses the MPI standard ABI, for which there is no library here",
            "build it with mpicc instead of mpicc_abi",
        )
    if other := next((soname for soname in libraries if re.match(ANY_MPI, soname)), ""):
        raise HeadwayError(
            f"{name} uses {other}, an MPI of an ABI for which there is no library here",
            "build it with MPICH 3.1 or later, Intel MPI, or Open MPI 4 or later",
        )
    raise HeadwayError(
        f"{name} does not link an MPI library",
        "headway run is for MPI programs (for one that loads MPI later: --abi)",
    )


def is_privileged(path: Path) -> bool:
    """Does ld.so(8) run this program in its secure mode, for us?"""
    try:
        is_nosuid = os.statvfs(path).f_flag & os.ST_NOSUID
        found = path.stat()
    except OSError:
        return False
    if is_nosuid:
        return False
    is_setuid = bool(found.st_mode & stat.S_ISUID) and found.st_uid != os.getuid()
    group_run = stat.S_ISGID | stat.S_IXGRP
    is_setgid = found.st_mode & group_run == group_run and found.st_gid != os.getgid()
    return is_setuid or is_setgid or (os.getuid() != 0 and has_capabilities(path))


def has_capabilities(path: Path) -> bool:
    try:
        return bool(os.getxattr(path, "security.capability"))
    except OSError:
        return False


def inspect_python(path: str, interpreter: str) -> Target:
    found = shutil.which(interpreter)
    if found is None:
        raise HeadwayError(
            f"{path} wants the interpreter {interpreter!r}, which is not here",
            "install it or edit the first line",
        )
    try:
        done = subprocess.run(
            [found, "-c", MPI4PY_PROBE],
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise HeadwayError(
            f"{found} did not load mpi4py within 60 s", "does it work alone?"
        ) from None
    for line in done.stdout.splitlines():
        library = Path(line.strip())
        if flavour := library_flavour(library):
            return Target(path, flavour, library.resolve(), title(library, flavour))
    if "libmpi_abi" in done.stdout:
        raise HeadwayError(
            f"mpi4py of {found} uses the MPI standard ABI, which is not supported",
            "set MPI4PY_MPIABI=mpich or openmpi",
        )
    raise HeadwayError(f"{found} has no usable mpi4py", "install mpi4py beside an MPI library")


def library_flavour(library: Path) -> str | None:
    """Of a loaded libmpi, by its own name: it may have been opened as plain libmpi.so."""
    try:
        soname = elf.read(library).soname
    except (elf.NotElf, OSError):
        soname = ""
    names = (soname, library.name, library.resolve().name)
    return next((flavour for name in names if (flavour := flavour_of(name))), None)


def title(library: Path | None, flavour: str) -> str:
    """Name and version of an MPI library, asked from the library itself."""
    fallback = {"mpich": "an MPI of the MPICH ABI", "ompi": "Open MPI"}[flavour]
    if library is None:
        return fallback
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", VERSION_PROBE, str(library)],
            text=True,
            timeout=30,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return fallback
    return vendor_and_version(done.stdout) or fallback


def vendor_and_version(text: str) -> str:
    """In short, of what MPI_Get_library_version says; "" if that is of none we know."""
    for pattern, vendor in (
        (r"Intel\(R\) MPI Library (\S+)", "Intel MPI"),
        (r"MPICH Version:\s*(\S+)", "MPICH"),
        (r"Open MPI v([\w.]+)", "Open MPI"),
    ):
        if match := re.search(pattern, text):
            return f"{vendor} {match[1]}"
    return ""
