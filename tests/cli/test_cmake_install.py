# SPDX-License-Identifier: BSD-3-Clause
"""`cmake --install`, used by those who build their own programs: each way to find it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matrix
import pytest
import support
from conftest import ROOT
from headway import records
from headway.mpi import launch
from headway.mpi.mpis import Mpi

MATRIX_RULES = [matrix.check(lambda: False)]
pytestmark = pytest.mark.beside  # compiles, copies, one short job at most
BUILD = ROOT / "build" / "cmake"
INSTALL = ("cmake", "--install", BUILD, "--prefix")
PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(app C)
find_package(Headway 0.1 REQUIRED COMPONENTS headway {flavour})
add_executable(marked app.c)
target_link_libraries(marked PRIVATE Headway::headway)
add_executable(linked app.c)
target_link_libraries(linked PRIVATE Headway::{flavour})
target_include_directories(linked PRIVATE {include})
if(NOT EXISTS "${{Headway_LIBRARY_DIR}}/libheadway-{flavour}.so")
    message(FATAL_ERROR "nothing to preload in ${{Headway_LIBRARY_DIR}}")
endif()
find_package(Headway COMPONENTS no-such-thing QUIET)
if(Headway_FOUND)
    message(FATAL_ERROR "found what there is not")
endif()
"""

APP = """
#include <headway.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    headway_phase_begin("whole");
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("phase_end %d\\n", headway_phase_end());
    MPI_Finalize();
    return 0;
}
"""


LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")


def with_modules() -> dict[str, str]:
    """An environment whose python3 has what the command needs."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@contextmanager
def manifest_kept() -> Iterator[None]:
    """What the developer installed from this build can be uninstalled afterwards as before."""
    files = [BUILD / "install_manifest.txt", BUILD / "install" / "folders.txt"]
    texts = {path: path.read_text() for path in files if path.exists()}
    for path in texts:
        path.unlink()
    try:
        yield
    finally:
        for path in files:
            path.unlink(missing_ok=True)
            if path in texts:
                path.write_text(texts[path])


@pytest.fixture
def no_manifest() -> Iterator[None]:
    with manifest_kept():
        yield


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("install") / "prefix"
    with manifest_kept():
        done = subprocess.run([*INSTALL, place], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
@matrix.only(matrix.on("mpich4", "ompi4"), "one MPI of each ABI is enough")
@matrix.quick(matrix.on("mpich4"))
def one_of_each_abi(mpi: Mpi) -> Mpi:
    return mpi


@pytest.fixture
def programs(prefix: Path, one_of_each_abi: Mpi, tmp_path: Path) -> Path:
    """A project of a user's, configured and built."""
    mpi, source = one_of_each_abi, tmp_path / "source"
    source.mkdir()
    (source / "app.c").write_text(APP)
    text = PROJECT.format(flavour=mpi.flavour, include=f'"{prefix}/include"')
    (source / "CMakeLists.txt").write_text(text)
    configure = ["cmake", "-S", source, "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}"]
    for command in (
        [*configure, f"-DCMAKE_C_COMPILER={mpi.mpicc}"],
        ["cmake", "--build", tmp_path],
    ):
        done = subprocess.run(
            command, env=mpi.environment(), capture_output=True, text=True, timeout=100
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return tmp_path


def test_pages_and_completions(prefix: Path) -> None:
    share = prefix / "share"
    for name in (
        "man/man1/headway.1",
        "man/man7/headway.7",
        "bash-completion/completions/headway",
        "zsh/site-functions/_headway",
    ):
        assert (share / name).is_file(), name


def test_links_lead_to_what_is_installed(prefix: Path) -> None:
    pages = sorted((prefix / "share/doc/headway").rglob("*.md"))
    count = 0
    for page in pages:
        for target in LINK.findall(re.sub(r"(?ms)^```.*?^```", "", page.read_text())):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"
                count += 1
    assert len(pages) > 40 and count > 200
    assert (prefix / "share/doc/headway/schema/record.json").is_file()


def test_command_is_none_of_the_checkout(prefix: Path) -> None:
    """Nothing that is installed names the source tree, but for what a debugger is told."""
    needle = str(ROOT).encode()
    files = [path for path in prefix.rglob("*") if path.is_file() and path.suffix != ".so"]
    naming = [path for path in files if needle in path.read_bytes()]
    assert len(files) > 100 and naming == []


def test_python_that_cannot_run_the_command(prefix: Path, tmp_path: Path) -> None:
    """One line, whatever it lacks; where PATH has a Python that can, that one runs it."""
    bare = tmp_path / "bare"
    venv.create(bare, symlinks=True)
    script = prefix / "bin" / "headway"
    alone = {"PATH": str(tmp_path / "nothing")}
    words = [bare / "bin" / "python3", script, "--version"]
    done = subprocess.run(words, capture_output=True, text=True, env=alone)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"headway: \S+ has no jinja2 and no rich; install .*\n", done.stderr)

    (package,) = prefix.glob("lib*/**/headway/python")
    words = [bare / "bin" / "python3", "-m", "headway", "--version"]
    beside = {"PYTHONPATH": str(package)}
    done = subprocess.run(words, capture_output=True, text=True, env=beside)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"headway: \S+ has no jinja2 and no rich; install .*\n", done.stderr)

    old = tmp_path / "old.py"  # what a Python 3.9 would say of itself
    old.write_text(
        "import runpy, sys\nsys.version_info = (3, 9, 2)\nsys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    words = [sys.executable, old, script, "--version"]
    done = subprocess.run(words, capture_output=True, text=True, env=alone)
    assert done.returncode == 1 and "is Python 3.9; install" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1

    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "python3.12").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (tmp_path / "path" / "python3.12").chmod(0o755)
    words = [bare / "bin" / "python3", script, "--version"]
    other = {"PATH": f"{tmp_path / 'path'}:/bin"}
    done = subprocess.run(words, capture_output=True, text=True, env=other)
    assert done.returncode == 0 and done.stdout.startswith("headway 0."), done.stderr


def test_uninstall_leaves_nothing(no_manifest: None, tmp_path: Path) -> None:
    """Nothing of its own; the files of others stay, and the folders that these are in."""
    prefix = tmp_path / "prefix"
    (prefix / "share").mkdir(parents=True)
    (prefix / "share" / "theirs").write_text("theirs")
    uninstall = ["cmake", "--build", BUILD, "--target", "uninstall"]
    done = subprocess.run(uninstall, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "nothing to uninstall" in done.stdout + done.stderr

    def left() -> set[str]:
        return {str(path.relative_to(prefix)) for path in prefix.rglob("*")}

    before = left()
    for _ in range(2):
        done = subprocess.run([*INSTALL, prefix], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
    compiling = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    words = [sys.executable, prefix / "bin" / "headway", "--version"]
    subprocess.run(words, env=compiling, check=True, capture_output=True)
    (package,) = prefix.glob("lib*/**/headway/python/headway")
    assert list((package / "__pycache__").iterdir()) and len(left()) > 200
    mine = package / "__pycache__" / "mine"
    mine.write_text("")
    done = subprocess.run(uninstall, capture_output=True, text=True, timeout=60)
    count = re.search(r"uninstalled (\d+) files", done.stdout)
    assert done.returncode == 0 and count, done.stdout + done.stderr
    assert int(count[1]) > 200
    kept = mine.relative_to(prefix)
    assert left() - before == {str(path) for path in (kept, *kept.parents[:-1])}
    assert before <= left()


def test_benchmarks(prefix: Path) -> None:
    """The installed command has the sources of the benchmarks and the inputs of real programs."""
    words = [prefix / "bin" / "headway", "bench"]
    done = subprocess.run(words, env=with_modules(), capture_output=True, text=True)
    assert done.returncode == 0 and "casper2-fig5" in done.stdout, done.stderr
    (package,) = prefix.glob("lib*/**/headway/python/headway")
    sources, inputs = package / "bench/sources", package / "bench/programs/inputs"
    wanted = {name for name in names(ROOT / "bench") if name.suffix in (".c", ".h", ".sh")}
    assert names(sources) == wanted and len(wanted) > 20
    assert names(inputs) == names(ROOT / "cli/headway/bench/programs/inputs")
    assert (package / "bench/programs/requirements.txt").is_file()


def names(folder: Path) -> set[Path]:
    """Files in it, without what Python leaves."""
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path for path in files if "__pycache__" not in path.parts}


def test_find_package(prefix: Path, programs: Path, one_of_each_abi: Mpi) -> None:
    """One program that has the library preloaded by the installed command, one that links it."""
    kept = programs / "kept"
    command = [prefix / "bin" / "headway", "run", "--record", kept, "-n", "2", programs / "marked"]
    done = subprocess.run(command, env=with_modules(), capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("phase_end 0") == 2
    assert [r["phases"][0]["name"] for r in records.read_json(kept)] == ["whole"] * 2

    kept = programs / "kept-linked"
    kept.mkdir()
    plain = {**support.ENGINE, "HEADWAY_RECORD": str(kept)}
    done = launched(one_of_each_abi, programs / "linked", plain)
    assert done.status == 0 and done.stdout.count("phase_end 0") == 2, done.explain()
    found = records.read_json(kept)
    assert [r["engine"] for r in found] == ["thread"] * 2
    assert sum(r["tracked_collective"] for r in found) == 2

    done = launched(one_of_each_abi, programs / "marked", {})
    assert done.status == 0 and done.stdout.count("phase_end 1") == 2, done.explain()


def launched(mpi: Mpi, program: Path, forward: dict[str, str]) -> support.Result:
    """Without any preload."""
    made = launch.build(mpi, [str(program)], ranks=2, forward=forward)
    return support.run_group(made.argv, support.job_environment(mpi, made.env))


def test_pkg_config(prefix: Path, one_of_each_abi: Mpi, tmp_path: Path) -> None:
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config here")
    env = {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    (tmp_path / "app.c").write_text(APP)
    script = 'eval "$1 app.c -o app $(pkg-config --cflags --libs headway)"'
    done = subprocess.run(
        ["sh", "-ec", script, "sh", str(one_of_each_abi.mpicc)],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    asked = ["pkg-config", "--variable=librarydir", "headway"]
    folder = subprocess.run(asked, env=env, capture_output=True, text=True, check=True).stdout
    library = Path(folder.strip()) / f"libheadway-{one_of_each_abi.flavour}.so"
    assert library.is_file()
    done = support.run_mpi(
        one_of_each_abi, [tmp_path / "app"], ranks=2, options={}, preload=library
    )
    assert done.status == 0 and done.stdout.count("phase_end 0") == 2, done.explain()


#: what Environment Modules and Lmod define for a modulefile, as far as ours uses it
TCL = """
proc module-whatis {text} {}
proc conflict {name} {}
proc prepend-path {name value} { puts "export $name='$value':\\$$name" }
proc append-path {name value} { puts "export $name=\\$$name:'$value'" }
"""
MODULE_TOOLS = ("/usr/lib/modulecmd.tcl", "/usr/share/lmod/lmod/libexec/lmod")
USE = """
eval "$(loaded)"
headway --version
man -w headway 2>/dev/null || ls "${MANPATH%%:*}/man1/headway.1"
python3 -c 'import headway; print(headway.query()); print(headway.get_include())'
sed -n 's/^Version: //p' "${PKG_CONFIG_PATH%%:*}/headway.pc"
test -f "${CPATH%%:*}/headway.h" && echo header
"""
#: what a module tool has set must be gone after it, but for the tool's own variables
UNLOAD = """
eval "$(unloaded)"
for name in PATH MANPATH CPATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH PYTHONPATH LOADEDMODULES; do
    echo "$name=${!name-}"
done
"""


@pytest.mark.parametrize("tool", ["", *MODULE_TOOLS])
def test_modulefile(prefix: Path, tool: str, tmp_path: Path) -> None:
    """Loaded by what is there: the module system, or tclsh with the few procedures it defines.
    A module system must be able to unload it as well."""
    modulefile = prefix / "share" / "modulefiles" / "headway" / "0.1.0"
    needed = tool or shutil.which("tclsh") or "tclsh"
    if not Path(needed).exists():
        pytest.skip(f"no {needed} here")
    (tmp_path / "stub.tcl").write_text(TCL + f'source "{modulefile}"\n')
    loaded = f"tclsh {tmp_path}/stub.tcl"
    if tool:
        loaded = f"{'tclsh ' * tool.endswith('.tcl')}{tool} bash load headway"
    script = f"loaded() {{ {loaded}; }}\n{USE}"
    if tool:
        script += f"unloaded() {{ {loaded.replace(' load ', ' unload ')}; }}\n{UNLOAD}"
    env = {"PATH": with_modules()["PATH"], "MODULEPATH": str(modulefile.parents[1])}
    env["HOME"] = str(tmp_path)  # Lmod keeps a cache there
    done = subprocess.run(
        ["bash", "-ec", script],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    told = ["None", str(prefix / "include"), "0.1.0", "header"]
    assert lines[0] == "headway 0.1.0" and lines[2:6] == told, done.stdout
    assert lines[1].endswith("headway.1")
    if not tool:
        return
    left = dict(line.split("=", 1) for line in lines[6:])
    before = env["PATH"].split(":")
    assert set(left.pop("PATH").split(":")) == set(before)  # Lmod leaves doubles out
    assert len(left) == 6 and not any(left.values()), left
