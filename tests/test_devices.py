# SPDX-License-Identifier: BSD-3-Clause
"""A program that computes on a device keeps its messages: no other thread has the context."""

from __future__ import annotations

import subprocess
from pathlib import Path

import matrix
import pytest
import support
from headway.mpi.mpis import Mpi

REASON = "the program computes on a device"


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with the name of CUDA's."""
    path = tmp_path_factory.mktemp("cuda") / "libcuda.so.1"
    source = support.PROGRAMS / "fake_cuda.c"
    soname = f"-Wl,-soname,{path.name}"
    subprocess.run(["cc", "-shared", "-fPIC", soname, "-o", path, source], check=True)
    return path


@matrix.one_of_a("family")
@pytest.mark.parametrize("engine", ["auto", "thread"])
@pytest.mark.parametrize("has_context", [True, False], ids=["context", "none"])
def test_thread_beside_a_device(
    mpi: Mpi, has_context: bool, engine: str, driver: Path, tmp_path: Path
) -> None:
    flags = ["-Wl,--no-as-needed", driver, f"-Wl,-rpath,{driver.parent}"]
    name = f"doors-{driver.parent.name}"
    program = support.compile_program(mpi, name, [support.PROGRAMS / "doors.c"], flags)
    # To the library each process is on a node of its own, so that it takes a thread.
    alone = "export MPI_LOCALNRANKS=1 OMPI_COMM_WORLD_LOCAL_SIZE=1"
    context = "export FAKE_CONTEXT=yes" if has_context else ":"
    argv = ["sh", "-c", f'{alone}; {context}; exec "$0"', program]
    options = {**support.FORCED, "HEADWAY_ENGINE": engine}
    done = support.run_mpi(mpi, argv, ranks=2, options=options, records=tmp_path)
    assert done.status == 0, done.explain()
    told = [text for record in done.records for text in record["declined"]]
    is_barred = has_context and engine == "auto"
    assert [text.startswith(REASON) for text in told] == [True] * (2 * is_barred), told
    assert not is_barred or done.total("polls") == 0, done.explain()
