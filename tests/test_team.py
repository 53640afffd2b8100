# SPDX-License-Identifier: BSD-3-Clause
"""The team's unit program with LLVM's OpenMP runtime; ctest runs it with GCC's."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import support

PROGRAM = support.ROOT / "build/cmake/unit/test_team_openmp"


def llvm_runtime() -> Path | None:
    found = sorted(Path("/usr/lib").glob("llvm-*/lib/libomp.so.5"))
    return found[-1] if found else None


@pytest.mark.parametrize("policy", ["active", "passive"])
def test_llvm_runtime(tmp_path: Path, policy: str) -> None:
    runtime = llvm_runtime()
    if runtime is None:
        pytest.skip("no libomp: Debian has it in libomp5")
    (tmp_path / "libgomp.so.1").symlink_to(runtime)  # it has the names of GCC's, too
    done = subprocess.run(
        [PROGRAM],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "OMP_WAIT_POLICY": policy},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[       OK ] test_single" in done.stdout + done.stderr
