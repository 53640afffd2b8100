"""Every command line of the guide that costs little is run as it stands there."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import support
from headway.mpis import Mpi

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "doc" / "guide"
#: in the order a reader meets them: later lines use what earlier ones leave
PAGES = ("getting-started.md", "profiling.md", "programs.md", "tuning.md")


def lines_of(page: str) -> list[str]:
    """Shell lines of a page that call the command or only touch files; the rest is left out."""
    blocks = re.findall(r"```sh\n(.*?)```", (GUIDE / page).read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if "./dev headway" in line or line.startswith("mkdir")]


@pytest.fixture
def reader(tmp_path: Path, mpi: Mpi, hello: Path) -> Path:
    """A directory as a reader has it: the program, the checkout's ./dev, launchers in bin."""
    (tmp_path / "app").symlink_to(hello)
    dev = tmp_path / "dev"
    python = shlex.quote(sys.executable)
    dev.write_text(f'#!/bin/sh\nshift\nexec {python} -m headway "$@"\n')
    launchers = tmp_path / "bin"
    launchers.mkdir()
    # Not a link: Hydra looks for its parts beside its own name.
    mpiexec, srun = launchers / "mpiexec", launchers / "srun"
    mpiexec.write_text(f'#!/bin/sh\nexec {mpi.mpiexec} "$@"\n')
    srun.write_text('#!/bin/sh\nexec "$@"\n')
    # What tune writes for a program that gains; that of these pages does not.
    (tmp_path / "headway.toml").write_text('format = 1\n[settings]\nHEADWAY_GAP_US = "1ms"\n')
    for script in (dev, mpiexec, srun):
        script.chmod(0o755)
    return tmp_path


def test_commands_of_the_guide(reader: Path, mpi: Mpi) -> None:
    if mpi.name != "mpich4":
        pytest.skip("the guide is run with one MPI")
    path = f"{reader / 'bin'}:{os.environ['PATH']}"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "cli"), "PATH": path}
    ran = 0
    for page in PAGES:
        for line in lines_of(page):
            done = subprocess.run(
                ["sh", "-ec", line],
                cwd=reader,
                env=env,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=60,
            )
            assert done.returncode == 0, f"{page}: {line}\n{done.stdout}{done.stderr}"
            ran += 1
    assert ran >= 10
    assert sorted(path.name for path in (reader / "records").iterdir())[0] == "headway.0.json"
    for name in ("page.html", "table.csv", "calls.json"):
        assert (reader / name).stat().st_size > 100


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (GUIDE / page).read_text(), re.DOTALL)


def test_programs_of_the_guide(mpi: Mpi, tmp_path: Path) -> None:
    """They compile, and run without the library as with it."""
    if mpi.name not in ("mpich4", "mpich5"):
        pytest.skip("no different for another MPI")
    include = ROOT / "include"
    if mpi.name == "mpich5":
        env = {"PYTHONPATH": str(ROOT / "cli"), "PYTHONDONTWRITEBYTECODE": "1"}
        for number, code in enumerate(blocks("programs.md", "python")):
            (tmp_path / f"{number}.py").write_text(code)
            done = support.run_mpi(mpi, [mpi.python, tmp_path / f"{number}.py"], ranks=2, env=env)
            assert done.status == 0, done.explain()
        return
    (code,) = blocks("programs.md", "c")
    (tmp_path / "c.c").write_text(code)
    build = [
        mpi.mpicc,
        "-Wall",
        "-Werror",
        "-Wno-stringop-overflow",
        f"-I{include}",
        "-o",
        tmp_path / "c",
    ]
    subprocess.run([*build, tmp_path / "c.c", "-ldl"], check=True)
    (code,) = blocks("programs.md", "fortran")
    (tmp_path / "f.f90").write_text(code)
    build = [mpi.mpifort, "-J", tmp_path, "-o", tmp_path / "f", include / "headway.f90"]
    if mpi.mpifort:
        subprocess.run([*build, tmp_path / "f.f90", "-ldl"], check=True)
    for name in ("c", "f") if mpi.mpifort else ("c",):
        for options in (None, {}):
            done = support.run_mpi(mpi, [tmp_path / name], ranks=2, options=options)
            assert done.status == 0, done.explain()
            assert ("Headway 0.1.0" in done.stdout) == (name == "c" and options is not None)


def test_launchers_that_take_the_environment(reader: Path, mpi: Mpi) -> None:
    """srun hands its environment on; its ranks may be elsewhere, so no record is promised."""
    if mpi.name != "mpich4":
        pytest.skip("no different for another MPI")
    env = {**os.environ, "PATH": f"{reader / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["./dev", "headway", "run", "--", "srun", "./app"],
        cwd=reader,
        env={**env, "PYTHONPATH": str(ROOT / "cli"), "HEADWAY_VERBOSE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "engine thread" in done.stderr and "no records of ranks on other" in done.stderr
