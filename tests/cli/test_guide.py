# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of the guide and of README.md are run as they stand, or listed with the reason."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import matrix
import namespaces
import pytest
import support
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi

MATRIX_RULES = [matrix.check(lambda: False)]
pytestmark = pytest.mark.beside  # short jobs: most of the time is that of their start
ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "doc" / "guide"
#: in the order in which a reader meets them: later lines use what earlier ones leave
PAGES = (
    "getting-started.md",
    "profiling.md",
    "waits.md",
    "exports.md",
    "programs.md",
    "tuning.md",
    "engines.md",
    "how-it-works.md",
    "ghosts.md",
    "messages.md",
    "clusters.md",
    "containers.md",
    "troubleshooting.md",
    "installing.md",
    "../../README.md",
)
#: how lines begin that are not run, and why
NOT_RUN = {
    "./dev build": "takes minutes; what it makes is what runs here",
    "./dev run": "takes a minute; test_demo.py runs the shortest one",
    "./dev test": "runs this",
    "./dev headway run -- mpiexec -hosts": "needs nodes of that name; test_cluster.py has some",
    "headway run --ghosts 1 -- mpiexec -hosts": "needs nodes of that name; test_ghosts.py has some",
    "headway run --ghosts 1 -- srun": "the stand-in for srun starts one process, no ghost",
    "./dev headway run -n 4 python3": "needs mpi4py; test_run.py has it with wheels",
    "./dev headway tune -n 4": "takes minutes; the shorter line of tuning.md is run",
    "headway tune --thresholds": "takes half a minute alone; test_thresholds.py has a short one",
    "mpiexec -n 4 -x": "another MPI than the one the guide is run with; test_run.py has it",
    "python3 -m venv ~/headway": "bare/test_installed.py installs by pip on a bare Debian",
    "~/headway/bin/pip": "as the line before it",
    "PATH=~/headway/bin": "as the line before it",
    "apt-get install": "bare/test_installed.py builds and installs it on a bare Debian",
    "cp -r packaging/debian": "as the line before it",
    "dpkg-buildpackage": "as the line before it",
    "cmake -S . -B build/aarch64": "bare/test_aarch64.py does it",
    "spack ": "Spack is no package; test_packaging.py reads the recipe",
    "mkdir -p REPOSITORY": "as the line before it",
    "ln -s $PWD/packaging/spack": "as the line before it",
    "module load": "test_cmake_install.py loads the module",
    "#": "a comment, or what is for the batch system",
}


def blocks(page: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", (GUIDE / page).read_text(), re.DOTALL | re.M)
    return [text for said, text in found if said == language]


def lines_of(page: str) -> list[str]:
    """Shell lines of a page."""
    return [line for block in blocks(page, "sh") for line in block.splitlines() if line]


def words_of(line: str) -> str:
    """Without the comment behind them."""
    return re.sub(r"\s+#.*", "", line)


def reason_not_to_run(line: str) -> str:
    """How a line of NOT_RUN begins, or nothing."""
    return next((start for start in NOT_RUN if line.startswith(start)), "")


def test_every_page_is_read() -> None:
    """No page is left out, no command stands where nobody looks, no exception is stale."""
    named = {(GUIDE / page).resolve() for page in (*PAGES, "cluster.md", "limits.md")}
    assert named == {*GUIDE.glob("*.md"), ROOT / "README.md"}
    for page in PAGES:
        for line in "".join(blocks(page, "")).splitlines():
            assert not line.startswith(("./dev ", "headway ", "mpiexec ")), f"{page}: {line}"
    used = {reason_not_to_run(line) for page in PAGES for line in lines_of(page)}
    assert used - {""} == set(NOT_RUN)


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
    mpiexec, srun, command = (launchers / name for name in ("mpiexec", "srun", "headway"))
    mpiexec.write_text(f'#!/bin/sh\nexec {mpi.mpiexec} "$@"\n')
    srun.write_text('#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n')
    command.write_text(f'#!/bin/sh\nexec {python} -m headway "$@"\n')
    # What tune writes for a program that gains; that of these pages does not.
    (tmp_path / "headway.toml").write_text('format = 1\n[settings]\nHEADWAY_GAP_US = "1ms"\n')
    (tmp_path / "doc").symlink_to(ROOT / "doc")
    (tmp_path / "RECORDS").symlink_to("records")
    for script in (dev, mpiexec, srun, command):
        script.chmod(0o755)
    return tmp_path


def run_line(line: str, reader: Path, page: str) -> None:
    path = f"{reader / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", line.replace("/path/to/", f"{ROOT}/build/lib/")],
        cwd=reader,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "cli"),
            "PATH": path,
            "SLURM_SUBMIT_DIR": str(reader),
        },
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert done.returncode == 0, f"{page}: {line}\n{done.stdout}{done.stderr}"


@matrix.only(matrix.on("mpich4"), "the guide is run with one MPI")
def test_commands_of_the_guide(reader: Path, mpi: Mpi) -> None:
    wanted = [
        (page, line) for page in PAGES for line in lines_of(page) if not reason_not_to_run(line)
    ]
    assert len(wanted) >= 35
    ran: set[str] = set()
    for page, line in wanted:
        if words_of(line) not in ran:  # some stand on several pages
            run_line(line, reader, page)
            ran.add(words_of(line))
    assert len(ran) >= 29
    assert sorted(path.name for path in (reader / "records").iterdir())[0] == "headway.0.json"
    for name in ("page.html", "table.csv", "calls.json", "timeline.png"):
        assert (reader / name).stat().st_size > 100


@matrix.only(matrix.on("mpich5"), "the guide is run with one MPI")
def test_commands_of_the_cluster(reader: Path, mpi: Mpi) -> None:
    """Under a name of their own: another cluster may be up on this machine."""
    with namespaces.skip_where_refused(), Cluster(2):
        pass
    name = f"guide{os.getpid()}"
    lines = [
        re.sub(r"^headway cluster (up|run|down)", rf"\g<0> --name {name}", line)
        for line in lines_of("cluster.md")
    ]
    assert [line.split()[2] for line in lines] == ["up", *["run"] * 4, "status", "down"]
    try:
        for line in lines:
            run_line(line, reader, "cluster.md")
    finally:
        run_line(f"{lines[-1]} || true", reader, "cluster.md")


@matrix.only(matrix.on("mpich4", "mpich5"), "no different for another MPI")
def test_programs_of_the_guide(mpi: Mpi, tmp_path: Path) -> None:
    """They compile, and run without the library as with it."""
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


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_launchers_that_take_the_environment(reader: Path, mpi: Mpi) -> None:
    """srun hands its environment on; its ranks may be elsewhere, so no record is promised."""
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
