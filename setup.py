# SPDX-License-Identifier: BSD-3-Clause
"""The part of the installation that pyproject.toml cannot say: the libraries, built by CMake, and
the sources of the benchmarks, which the command builds when it needs them.

They go into the package (headway/lib), where the command finds them. Without CMake or an MPI the
command is installed alone, with one line that says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
#: what the benchmarks are built of, below bench/; packaging/install.cmake has the same
BENCHMARKS = ("*.c", "common/*.[ch]", "common/*.sh")


class BuildWithLibraries(build_py):
    """Python files as ever, then the libraries."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        package = Path(self.build_lib).absolute() / "headway"
        shutil.copytree(ROOT / "include", package / "include", dirs_exist_ok=True)
        sources = package / "bench" / "sources"
        for pattern in BENCHMARKS:
            for path in sorted((ROOT / "bench").glob(pattern)):
                place = sources / path.relative_to(ROOT / "bench")
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
        target = package / "lib"
        work = Path(self.get_finalized_command("build").build_temp).absolute() / "cmake"
        if complaint := build_libraries(target, work):
            print(f"headway: only the command is installed: {complaint}", file=sys.stderr)


def build_libraries(target: Path, work: Path) -> str:
    """Builds what can be built into `target`; what went wrong, in one line."""
    cmake = shutil.which("cmake")
    if cmake is None:
        return "no cmake; install it and libmpich-dev or libopenmpi-dev, then install again"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    if not generator and shutil.which("make") is None:
        return "neither ninja nor make; install one of them, then install again"
    work.mkdir(parents=True, exist_ok=True)
    configure = [
        cmake,
        *generator,
        "-S",
        str(ROOT),
        "-B",
        str(work),
        f"-DHEADWAY_LIBRARY_DIR={target}",
    ]
    configure += ["-DBUILD_TESTING=OFF", f"-DPython3_EXECUTABLE={sys.executable}"]
    if complaint := complaint_of(configure):
        return complaint
    jobs = str(min(os.cpu_count() or 1, 8))
    complaints = []
    for library in ("headway-mpich", "headway-ompi"):
        build = [cmake, "--build", str(work), "--target", library, "--parallel", jobs]
        complaints.append(complaint_of(build))
    return "" if not all(complaints) else complaints[0]


def complaint_of(command: list[str]) -> str:
    """Runs it; the line that says why it failed, or nothing."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return ""
    lines = [line.strip() for line in (done.stderr + done.stdout).splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower()]
    return f"the libraries do not build: {next(iter(telling + lines), 'cmake failed')}"


class WithLibraries(Distribution):
    """The wheel is for this platform, though it holds no Python extension."""

    def has_ext_modules(self) -> bool:
        return True


setup(cmdclass={"build_py": BuildWithLibraries}, distclass=WithLibraries)
