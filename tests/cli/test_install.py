# SPDX-License-Identifier: BSD-3-Clause
"""What an installation holds: the command, and the libraries where it looks for them."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import matrix
import pytest
import support
from headway import main
from headway.mpi.mpis import Mpi

MATRIX_RULES = [matrix.check(lambda: False)]
pytestmark = pytest.mark.beside  # compiles, copies, one short job at most
ROOT = Path(__file__).resolve().parents[2]
INCLUDE = ROOT / "include"


is_of_the_system = matrix.only(
    matrix.on("mpich4", "ompi4"), "found by ./dev only, which an installed command is not part of"
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pip install .` would put into site-packages, from a clone in which nothing was built.
    Only the distribution's MPIs are found then: each library is made from one header."""
    folder = tmp_path_factory.mktemp("install")
    source = folder / "source"
    leave_out = shutil.ignore_patterns("build", ".git", "results", "__pycache__")
    shutil.copytree(ROOT, source, ignore=leave_out)
    command = [sys.executable, "setup.py", "-q", "build", "--build-base", str(folder / "base")]
    command += ["--build-lib", str(folder / "site")]
    command += ["install_data", "--install-dir", str(folder / "prefix")]
    quickly = {**os.environ, "CMAKE_BUILD_TYPE": "Debug"}  # without optimisation
    done = subprocess.run(
        command, cwd=source, env=quickly, capture_output=True, text=True, timeout=550
    )
    assert done.returncode == 0, done.stderr
    assert "only the command" not in done.stderr, done.stderr
    made = {path.name for path in (folder / "site" / "headway" / "lib").iterdir()}
    assert made == {"libheadway-mpich.so", "libheadway-ompi.so"}
    return folder / "site"


@is_of_the_system
def test_installed_command_runs(installed: Path, mpi: Mpi, hello: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-m", "headway", "run", "--engine", "thread", "-n", "2", str(hello)],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert "2 ranks, engine thread" in done.stderr
    assert (installed / "headway" / "lib" / f"libheadway-{mpi.flavour}.so").is_file()


def headway_in(
    installed: Path, folder: Path, *words: object, **env: str
) -> subprocess.CompletedProcess[str]:
    """The installed command, with no source tree in sight and a cache of its own."""
    folder.mkdir(exist_ok=True)
    own = {"PYTHONPATH": str(installed), "XDG_CACHE_HOME": str(folder.parent / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "headway", *map(str, words)],
        env={**os.environ, **own, **env},
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=280,
    )


@is_of_the_system
@matrix.quick(matrix.on("mpich4"))
def test_benchmarks_come_along(installed: Path, mpi: Mpi, tmp_path: Path) -> None:
    """Built in the cache when first asked for, never again; results stay where one stands."""
    words = ("bench", "latency", "--mpi", mpi.name, "--modes", "headway", "--launches", 1)
    words += ("--sizes", 8, "--rate", "none", "--sockbuf", "default")
    here = tmp_path / "here"
    done = headway_in(installed, here, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads((here / "headway-bench" / "latency.json").read_text())
    assert {row["mode"] for row in document["rows"]} == {"plain", "headway"}
    failures = [launch["failure"] for launch in document["launches"] if launch["failure"]]
    # Beside others a ping-pong of processes that spin gets a turn each few milliseconds.
    is_late = any(failure.startswith("ran out of its") for failure in failures)
    support.tally("a benchmark's launch ran out of time", is_late)
    assert is_late or not failures, failures
    assert document["commit"].startswith("0.1.0, sources ")
    assert "wrote headway-bench/latency.json" in done.stdout
    (programs,) = (tmp_path / "cache" / "headway" / "bench").glob(f"0.1.0-*/{mpi.name}-*")
    assert {path.name for path in programs.iterdir()} == {".common", "latency", "workrate"}
    made = {path.name: path.stat().st_mtime_ns for path in programs.iterdir()}
    again = headway_in(installed, here, *words)
    assert again.returncode == 0, again.stdout + again.stderr
    assert made == {path.name: path.stat().st_mtime_ns for path in programs.iterdir()}


@matrix.only(matrix.on("ompi4"), "test_benchmarks_come_along has the other of the system")
@matrix.quick(lambda: False, "test_demo.py has one of the checkout")
def test_demo_comes_along(installed: Path, mpi: Mpi, tmp_path: Path) -> None:
    words = ("demo", "--launches", 1, "--steps", 8, "--mpi", mpi.name)
    done = headway_in(installed, tmp_path / "here", *words)
    assert done.returncode == 0, done.stderr
    assert "every launch gave the same answer" in done.stderr
    names = {path.name for path in (tmp_path / "here").iterdir()}
    assert names == {"headway-demo.png", "headway-demo.json"}


def test_what_an_installed_command_cannot_do(installed: Path, tmp_path: Path) -> None:
    here = tmp_path / "here"
    refused = headway_in(installed, here, "doctor", "--mpi", "mpich77")
    assert refused.returncode == 2 and "./dev" not in refused.stderr, refused.stderr
    refused = headway_in(installed, here, "bench", "latency", "--publish")
    assert refused.returncode == 2 and "source tree" in refused.stderr
    (tmp_path / "file").write_text("")
    nowhere = {"XDG_CACHE_HOME": str(tmp_path / "file")}
    refused = headway_in(installed, here, "demo", **nowhere)
    assert refused.returncode == 2 and "set XDG_CACHE_HOME" in refused.stderr, refused.stderr
    assert not list(here.iterdir())


def test_nothing_but_the_package(installed: Path) -> None:
    assert [entry.name for entry in installed.iterdir()] == ["headway"]
    assert (installed / "headway" / "include" / "headway.h").is_file()
    for name in ("doctor", "report", "cluster", "tune", "bench"):
        assert (installed / "headway" / name / "__init__.py").is_file()
    sources = installed / "headway" / "bench" / "sources"
    assert contents(sources) == benchmark_sources()
    programs = "bench/programs"
    assert contents(installed / "headway" / programs) == contents(ROOT / "cli/headway" / programs)


def test_says_where_the_header_is(installed: Path) -> None:
    for path, folder in ((installed, installed / "headway" / "include"), (ROOT / "cli", INCLUDE)):
        ask = [sys.executable, "-c", "import headway; print(headway.get_include())"]
        env = {**os.environ, "PYTHONPATH": str(path)}
        told = subprocess.run(ask, env=env, capture_output=True, text=True, check=True).stdout
        assert told == f"{folder}\n"


def contents(folder: Path) -> set[str]:
    """Files in it, without what Python leaves."""
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {str(path) for path in files if "__pycache__" not in path.parts}


def benchmark_sources() -> set[str]:
    return {name for name in contents(ROOT / "bench") if name.endswith((".c", ".h", ".sh"))}


def test_pages_and_completions_come_along(installed: Path) -> None:
    share = installed.parent / "prefix" / "share"
    assert {str(path.relative_to(share)) for path in share.rglob("*") if path.is_file()} == {
        "man/man1/headway.1",
        "man/man7/headway.7",
        "bash-completion/completions/headway",
        "zsh/site-functions/_headway",
    }


def commands() -> set[str]:
    """As the command itself lists them."""
    shown = subprocess.run(
        [sys.executable, "-m", "headway", "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "cli")},
    ).stdout.partition("environment of the library")[0]
    lines = [line for line in shown.splitlines() if line[:4] == "    " and line[4:5].isalpha()]
    return {line.split()[0] for line in lines}


def completed(words: str) -> set[str]:
    """What bash offers for the last of these words. It is asked, not the file read."""
    script = ROOT / "packaging" / "completions" / "headway"
    ask = f"source '{script}'; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))"
    ask += "; compopt() { :; }; $(complete -p ${COMP_WORDS[0]} | sed 's/.* -F \\(.*\\) .*/\\1/')"
    ask += '; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", ask], cwd=ROOT, capture_output=True, text=True, timeout=20)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("headway ru", {"run"}),
        ("headway cluster ''", {"up", "run", "down", "status"}),
        ("headway run --g", {"--ghosts"}),
        ("headway run --engine ''", {"auto", "thread", "off"}),
        ("headway tune --transport d", {"duplex"}),
        ("headway cluster up --pin ''", {"core", "none"}),
        ("headway bench overlap-p", {"overlap-peers"}),
        ("headway report --html READ", {"README.md"}),
        ("headway run --engine thread -n 2 READ", {"README.md"}),
        ("headway run --record packaging/comp", {"packaging/completions"}),
        ("env HEADWAY_ENG", {"HEADWAY_ENGINE="}),
        ("export HEADWAY_ENGINE = th", {"thread"}),
    ],
)
def test_completion(words: str, offered: set[str]) -> None:
    assert completed(words) == offered


def test_completion_knows_every_command() -> None:
    assert commands() >= {"run", "profile", "report", "doctor", "bench"}
    assert completed("headway ''") == commands()


def options(parser: argparse.ArgumentParser) -> set[tuple[str, str]]:
    """(command, option), of all subcommands."""
    found = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                found |= options(inner)
        elif action.dest not in ("help", "version"):
            assert action.help or not action.option_strings, (parser.prog, action.dest)
            found |= {(parser.prog, name) for name in action.option_strings}
    return found


def test_man_page_has_every_option() -> None:
    page = (ROOT / "doc" / "man" / "headway.1").read_text()
    assert {name for name in commands() if f".B headway {name}" in page} == commands()
    told = page.partition(".SH OPTIONS")[2].replace("\\-", "-").split(".SS ")[1:]
    sections = {text.partition("\n")[0]: text for text in told}
    wanted = options(main.build_parser())
    assert len(wanted) > 50
    assert {(c, name) for c, name in wanted if rf"\fB{name}\fP" in sections.get(c, "")} == wanted
