# SPDX-License-Identifier: BSD-3-Clause
"""The part of the installation that pyproject.toml cannot say: the libraries, built by CMake, and
the sources of the benchmarks, which the command builds when it needs them.

They go into the package (headway/lib), where the command finds them. An installation has a library
at least; where none can be built it fails, with one line that says what is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
#: what the benchmarks are built of, below bench/; packaging/install.cmake has the same
BENCHMARKS = ("*.c", "common/*.[ch]", "common/*.sh")
#: commands of the build that the package index has as well
TOOLS = ("cmake", "ninja")


class BuildWithLibraries(build_py):
    """The libraries, then Python files as ever."""

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        package = Path(self.build_lib).absolute() / "headway"
        work = Path(self.get_finalized_command("build").build_temp).absolute() / "cmake"
        build_libraries(package / "lib", work)
        super().run()
        shutil.copytree(ROOT / "include", package / "include", dirs_exist_ok=True)
        sources = package / "bench" / "sources"
        for pattern in BENCHMARKS:
            for path in sorted((ROOT / "bench").glob(pattern)):
                place = sources / path.relative_to(ROOT / "bench")
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)


def build_libraries(target: Path, work: Path) -> None:
    """Builds what can be built into `target`; ends the installation if that is nothing. The build's
    own lines are its progress: `pip install -v` shows them."""
    compilers = os.environ.get("CC", "").split()[:1] or ["cc", "gcc", "clang"]
    if not any(map(shutil.which, compilers)):
        give_up(f"no C compiler ({', '.join(compilers)})", "install gcc, or name one in CC")
    if not shutil.which("cmake"):
        give_up("no cmake", "install it, 3.22 or newer")
    shutil.rmtree(work, ignore_errors=True)  # another environment's
    work.mkdir(parents=True)
    configure = ["cmake", *(["-G", "Ninja"] if shutil.which("ninja") else []), "-S", str(ROOT)]
    configure += ["-B", str(work), f"-DHEADWAY_LIBRARY_DIR={target}", "-DBUILD_TESTING=OFF"]
    configure += [f"-DPython3_EXECUTABLE={sys.executable}"]
    told = run_shown(configure)
    if any("no mpi.h found" in line for line in told):
        give_up(
            "no mpi.h of MPICH, Intel MPI or Open MPI", "install libmpich-dev or libopenmpi-dev"
        )
    if any("not able to compile a simple" in line for line in told):
        give_up("the C compiler finds no C library", "install libc6-dev, or name another in CC")
    if told:
        give_up("the libraries cannot be configured", reason_of(told))
    jobs = str(len(os.sched_getaffinity(0)))
    if told := run_shown(["cmake", "--build", str(work), "--parallel", jobs]):
        give_up("the libraries do not build", reason_of(told))
    if not list(target.glob("libheadway-*.so")):
        give_up("the build left no library", f"see {work}")


def run_shown(command: list[str]) -> list[str]:
    """Runs it, and hands its lines on as they come; all of them if it failed, else none."""
    lines = []
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.strip())
            print(line, end="", flush=True)
    return [line or " " for line in lines] if process.returncode else []


def reason_of(lines: list[str]) -> str:
    """The line that says most of why it failed."""
    # not "[59/569] Building C object src/mpi/errors.c.o"
    telling = [line for line in lines if re.search(r"\berror\b", line, re.IGNORECASE)]
    return next(iter([*telling, *lines]), "it says nothing")


def give_up(cause: str, remedy: str) -> None:
    sys.exit(f"headway: not installed: {cause}; {remedy}")


class WithLibraries(Distribution):
    """The wheel is for this platform, though it holds no Python extension."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    license="BSD-3-Clause",  # pyproject.toml says it one way to setuptools 76, another to 77
    license_files=["LICENSE"],
    cmdclass={"build_py": BuildWithLibraries},
    distclass=WithLibraries,
    # pip brings them along for the build alone
    setup_requires=[tool for tool in TOOLS if not shutil.which(tool)],
)
