# SPDX-License-Identifier: BSD-3-Clause
"""`await headway.aio(request)` in real mpi4py programs, with the library and without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import matrix
import pytest
import support
from conftest import HERE, ROOT
from headway import records
from headway.mpi.mpis import Mpi

PROGRAM = HERE / "awaiting.py"


@pytest.fixture
@matrix.only(lambda mpi: mpi.python is not None, "the MPI has no wheel of mpi4py")
@matrix.one_of_a("family")
def python(mpi: Mpi) -> Path:
    """An interpreter with mpi4py and numpy for this MPI."""
    assert mpi.python
    return mpi.python


@pytest.fixture
def env() -> dict[str, str]:
    numpy = next(path for path in sys.path if (Path(path) / "numpy").is_dir())
    return {"PYTHONPATH": f"{ROOT / 'cli'}:{numpy}", "PYTHONDONTWRITEBYTECODE": "1"}


def check(stdout: str, last: str) -> None:
    cases = ["objects", "buffers", "collectives", "sleeps", "cancelled_and_awaited_again"]
    cases += ["cancelled_in_mpi", "errors", "nothing_left", last]
    for rank in ("0", "1"):
        mine = [word[2:] for word in stdout.split() if word.startswith(f"{rank}:")]
        assert mine == cases


@matrix.quick(matrix.on("mpich5"))
def test_plain(mpi: Mpi, python: Path, env: dict[str, str]) -> None:
    """Without the library: by pauses alone."""
    done = support.run_mpi(mpi, [python, PROGRAM], ranks=2, env=env)
    assert done.status == 0, done.explain()
    check(done.stdout, "plain")


@matrix.quick(lambda mpi, has_shm: has_shm != (mpi.name == "mpich5"), "another transport")
@pytest.mark.parametrize("has_shm", [True, False], ids=["shm", "tcp"])
def test_under_the_library(
    mpi: Mpi, python: Path, env: dict[str, str], has_shm: bool, tmp_path: Path
) -> None:
    done = support.run_mpi(
        mpi,
        [python, PROGRAM],
        ranks=2,
        env=env,
        options={"HEADWAY_LOG": "info"},
        records=tmp_path / "records",
        shared_memory=has_shm,
    )
    assert done.status == 0, done.explain()
    check(done.stdout, "library")
    assert done.total("polls") > 0 and done.total("tracked_p2p") > 0


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_as_a_module(mpi: Mpi, python: Path, env: dict[str, str], tmp_path: Path) -> None:
    """`python -m headway.run`, by an interpreter that has mpi4py, of a script that uses it."""
    script = tmp_path / "phases.py"
    # One write: launchers mix the ranks' output by the piece.
    script.write_text(
        "import os\nimport headway\nfrom mpi4py import MPI\n"
        "with headway.phase('sum'):\n    os.write(1, b'%d\\n' % MPI.COMM_WORLD.allreduce(1))\n"
    )
    words = [sys.executable, "-m", "headway.run", "--record", tmp_path / "kept", "-n", "2"]
    done = subprocess.run(
        [str(word) for word in (*words, python, script)],
        env={**os.environ, **mpi.env, **env},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["2", "2"]
    found = records.read_json(tmp_path / "kept")
    assert [r["phases"][0]["name"] for r in found] == ["sum", "sum"]
