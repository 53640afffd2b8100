# SPDX-License-Identifier: BSD-3-Clause
"""`headway bench`: suites by name, from the source tree; test_install.py has it without one."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import matrix
import pytest
from headway.bench import build, places
from headway.errors import HeadwayError
from headway.mpi import preload
from headway.mpi.mpis import Mpi

Headway = Callable[..., subprocess.CompletedProcess[str]]


def test_lists_and_refuses(headway: Headway, tmp_path: Path) -> None:
    for words in ([], ["--list"]):
        listed = headway("bench", *words)
        assert listed.returncode == 0 and "casper2-fig5" in listed.stdout
    unknown = headway("bench", "no-such-suite")
    assert unknown.returncode == 2 and "no suite called 'no-such-suite'" in unknown.stderr
    odd = headway("bench", "overlap", "--case", "nothing like it")
    assert odd.returncode == 2 and "both ways" in odd.stderr
    for text in ("", "[]", "{}"):
        (tmp_path / "odd.json").write_text(text)
        odd = headway("bench", "--render", "odd.json")
        assert odd.returncode == 2 and "no result of headway bench" in odd.stderr
    odd = headway("bench", "latency", "--sizes", "1K")
    assert odd.returncode == 2 and "--sizes" in odd.stderr
    for count in (0, -1):
        odd = headway("bench", "latency", f"--launches={count}")
        assert odd.returncode == 2 and f"--launches {count}: nothing" in odd.stderr
    odd = headway("bench", "latency", "--out", "odd.json")
    assert odd.returncode == 2 and "cannot make the directory odd.json" in odd.stderr


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """As if installed; the cache is this test's own."""
    sources = places.sources()
    monkeypatch.setattr(places, "repository_root", lambda: None)
    monkeypatch.setattr(build, "repository_root", lambda: None)
    monkeypatch.setattr(places, "sources", lambda: sources)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_places_outside_the_source_tree(
    outside: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert places.built().is_relative_to(outside / "cache" / "headway")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(outside))
    assert places.built().is_relative_to(outside / ".cache" / "headway")
    with pytest.raises(HeadwayError, match="source tree"):
        places.publications()
    moved = replace(mpi, mpicc=Path("/elsewhere/mpicc"))
    names = {places.folder_of(mpi), places.folder_of(moved)}
    assert len(names) == 2 and all(name.startswith("mpich4-4.") for name in names)


def test_a_missing_library_is_named_with_what_to_do(
    outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for root, remedy in ((outside, "build it: ./dev build"), (None, "Debian: libopenmpi-dev")):
        monkeypatch.setattr(preload, "repository_root", lambda root=root: root)
        with pytest.raises(HeadwayError, match=remedy):
            preload.library("ompi", outside)


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_a_compiler_that_warns_is_enough_outside(
    outside: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """We know what our compilers warn about, not what a user's does."""
    sources = outside / "sources"
    (sources / "common").mkdir(parents=True)
    (sources / "odd.c").write_text("int main(void) { int unused; return 0; }\n")
    monkeypatch.setattr(places, "sources", lambda: sources)
    assert build.build([mpi], places.built()) == 0
    made = places.built() / places.folder_of(mpi)
    assert [path.name for path in made.iterdir()] == ["odd"]
    monkeypatch.setattr(build, "repository_root", lambda: outside)
    assert build.build([mpi], outside / "strict") == 1
    assert not list((outside / "strict").rglob("*odd*"))
