# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI libraries this machine has, and what each needs to compile and to start.

`find_mpis()` lists them under the names used everywhere in the project: `mpich5`, `ompi5` and
`impi` (virtual environments that `./dev setup` fills from the Python package index), the
distribution's packages by their version (`mpich4` and `ompi4` on Debian 12; `ompi5.0.7` where a
name is taken), and anything else whose `mpicc` is in PATH.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Container
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from headway.errors import HeadwayError

#: flavour -> the ABI family, which is also the suffix of the preloaded library
FLAVOURS = ("mpich", "ompi")
#: a name that an MPI gets when its version is known
BY_VERSION = ""


@dataclass(frozen=True)
class Mpi:
    """One MPI installation. Paths are absolute; `env` must be set to compile and to launch."""

    name: str
    flavour: str
    vendor: str
    version: str
    mpicc: Path
    mpiexec: Path
    header: Path
    library: Path
    env: dict[str, str] = field(default_factory=dict, hash=False)
    launcher: str = ""
    python: Path | None = None

    @property
    def title(self) -> str:
        return f"{self.vendor} {self.version}"

    @property
    def is_intel(self) -> bool:
        return self.vendor == "Intel MPI"

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    def owns(self, library: Path, flavour: str) -> bool:
        """Is this the library a program links? Wheels hold copies of it under several names."""
        return flavour == self.flavour and (
            library.samefile(self.library) or library.resolve().parent == self.library.parent
        )

    def environment(self, base: dict[str, str] | None = None) -> dict[str, str]:
        """The caller's environment plus what this MPI needs."""
        merged = dict(os.environ if base is None else base)
        merged.update(self.env)
        return merged

    @cached_property
    def mpifort(self) -> Path | None:
        """The Fortran wrapper, or None where the MPI has no Fortran a compiler here can use."""
        return self._fortran("      use mpi\n")

    @cached_property
    def mpif77(self) -> Path | None:
        """The same for programs that include mpif.h, which takes no module of the compiler's."""
        return self._fortran("      include 'mpif.h'\n")

    def _fortran(self, first_line: str) -> Path | None:
        suffix = self.mpicc.name.removeprefix("mpicc")
        wrapper = self.mpicc.with_name("mpifort" + suffix)
        if self.is_intel:
            wrapper = self.mpicc.with_name("mpif90")
        if not wrapper.exists() or shutil.which("gfortran") is None:
            return None
        probe = f"      program p\n{first_line}      end program\n"
        command = [str(wrapper), "-x", "f95", "-fsyntax-only", "-ffree-form", "-"]
        try:
            done = subprocess.run(
                command,
                input=probe,
                text=True,
                capture_output=True,
                env=self.environment(),
                timeout=30,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return wrapper if done.returncode == 0 else None


def repository_root() -> Path | None:
    """The source tree this package runs from, or None when it is installed elsewhere."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "spec").is_dir() or (root / "ARCHITECTURE.md").is_file() else None


def default_roots() -> list[Path]:
    """Prefixes to look into besides the distribution's own: build/mpi/* of the source tree."""
    root = repository_root()
    base = (root or Path.cwd()) / "build" / "mpi"
    return sorted(p for p in base.iterdir() if p.is_dir()) if base.is_dir() else []


def find_mpis(roots: list[Path] | None = None, *, with_path: bool = True) -> list[Mpi]:
    """Every usable MPI, each once: the distribution's, those under `roots`, the one in PATH.

    Never raises for an MPI that is missing or broken: it is left out.
    """
    candidates: list[tuple[str, Path]] = []
    for wrapper in ("mpicc.mpich", "mpicc.openmpi"):
        if found := shutil.which(wrapper):
            candidates.append((BY_VERSION, Path(found)))
    for root in default_roots() if roots is None else roots:
        candidates.append((root.name, root / "bin" / "mpicc"))
    if with_path and (found := shutil.which("mpicc")):
        candidates.append((BY_VERSION, Path(found)))

    taken = {name for name, _ in candidates}
    mpis: list[Mpi] = []
    for name, path in candidates:
        mpi = describe(name, path, taken)
        if mpi and not any(known.library.samefile(mpi.library) for known in mpis):
            mpis.append(mpi)
            taken.add(mpi.name)
    return sorted(mpis, key=lambda m: (m.flavour, m.is_intel, m.version))


def find_mpi(name: str, roots: list[Path] | None = None) -> Mpi:
    """The MPI of that name, or HeadwayError naming those there are."""
    mpis = find_mpis(roots)
    for mpi in mpis:
        if mpi.name == name:
            return mpi
    known = ", ".join(m.name for m in mpis) or "none"
    remedy = "install the distribution's MPI packages, or put an mpicc into PATH"
    if repository_root():
        remedy = f"run ./dev setup, or {remedy}"
    raise HeadwayError(f"no MPI called {name!r} here (found: {known})", remedy)


def describe(name: str, mpicc: Path, taken: Container[str] = ()) -> Mpi | None:
    """Read header, library and version behind one compiler wrapper; None if there is no MPI.

    An MPI that is called BY_VERSION gets a name that is not taken.
    """
    if not mpicc.exists():
        return None
    root = mpicc.parent.parent
    env: dict[str, str] = {}
    if (root / "lib" / "libmpi_shm_heap_proxy.so").exists() or (root / "opt" / "mpi").is_dir():
        env = {"I_MPI_ROOT": str(root), "FI_PROVIDER_PATH": str(intel_providers(root))}
        if Path(os.environ.get("I_MPI_ROOT", os.sep)).resolve() == root.resolve():
            # Its own module is loaded, which may name the system's providers, too.
            env["FI_PROVIDER_PATH"] = os.environ.get("FI_PROVIDER_PATH", env["FI_PROVIDER_PATH"])
    include, libdirs, libs = wrapper_flags(mpicc, env)
    header = first_existing([d / "mpi.h" for d in include])
    library = first_existing(
        [d / f"lib{lib}.so" for lib in libs if lib in ("mpi", "mpich") for d in libdirs]
    )
    suffix = mpicc.name.removeprefix("mpicc")
    mpiexec = first_existing([mpicc.with_name(n + suffix) for n in ("mpiexec", "mpirun")])
    if not (header and library and mpiexec):
        return None
    identity = read_version(header)
    if identity is None:
        return None
    vendor, version, flavour = identity
    launcher = {"Open MPI": "orte", "Intel MPI": "intel"}.get(vendor, "hydra")
    if vendor == "Open MPI" and int(version.split(".")[0]) >= 5:
        launcher = "prrte"
    if name == BY_VERSION:
        name = flavour + version.split(".")[0]
        name = flavour + version if name in taken else name
    python = root / "bin" / "python3"
    return Mpi(
        name,
        flavour,
        vendor,
        version,
        mpicc,
        mpiexec,
        header,
        library.resolve(),
        env,
        launcher,
        python if (root / "pyvenv.cfg").exists() else None,
    )


def intel_providers(root: Path) -> Path:
    """Where Intel's libfabric keeps its providers: wheels, older ones, and the oneAPI tree."""
    folders = ("opt/mpi/libfabric/lib/prov", "libfabric/lib/prov", "lib/libfabric/prov")
    for candidate in (root / folder for folder in folders):
        if candidate.is_dir():
            return candidate
    return root / "lib"


def wrapper_flags(mpicc: Path, env: dict[str, str]) -> tuple[list[Path], list[Path], list[str]]:
    """Include folders, library folders and library names a compiler wrapper would pass on."""
    try:
        done = subprocess.run(
            [str(mpicc), "-show"],
            text=True,
            capture_output=True,
            timeout=30,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return [], [], []
    words = done.stdout.replace('"', "").split()
    include = [Path(w[2:]) for w in words if w.startswith("-I")]
    libdirs = [Path(w[2:]) for w in words if w.startswith("-L")]
    libs = [w[2:] for w in words if w.startswith("-l")]
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    root = mpicc.parent.parent
    include += [root / "include"]
    libdirs += [root / "lib", Path("/usr/lib") / multiarch, Path("/usr/lib64")]
    return include, libdirs, libs


def read_version(header: Path) -> tuple[str, str, str] | None:
    """(vendor, version, flavour) as the header states them."""
    text = header.read_text(encoding="utf-8", errors="replace")

    def macro(name: str) -> str | None:
        found = re.search(rf'^\s*#\s*define\s+{name}\s+"?([^"\s]+)"?', text, re.MULTILINE)
        return found.group(1) if found else None

    if intel := macro("I_MPI_VERSION"):
        return "Intel MPI", intel, "mpich"
    if mpich := macro("MPICH_VERSION"):
        return "MPICH", mpich, "mpich"
    numbers = [macro(f"OMPI_{part}_VERSION") for part in ("MAJOR", "MINOR", "RELEASE")]
    if all(numbers):
        return "Open MPI", ".".join(n for n in numbers if n), "ompi"
    return None


def first_existing(paths: list[Path]) -> Path | None:
    return next((p for p in paths if p.exists()), None)
