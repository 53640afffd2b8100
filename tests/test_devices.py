# SPDX-License-Identifier: BSD-3-Clause
"""A program that computes on a device keeps its messages: no other thread has the context."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
from headway.mpi.mpis import Mpi

REASON = "the program computes on a device"


def driver(mpi: Mpi) -> Path:
    """A library with the name of CUDA's."""
    flags = ["-shared", "-fPIC", "-Wl,-soname,libcuda.so.1"]
    return support.compile_program(mpi, "libcuda.so.1", [support.PROGRAMS / "fake_cuda.c"], flags)


@matrix.one_of_a("family")
@pytest.mark.parametrize("engine", ["auto", "thread"])
@pytest.mark.parametrize("has_context", [True, False], ids=["context", "none"])
def test_thread_beside_a_device(mpi: Mpi, has_context: bool, engine: str, tmp_path: Path) -> None:
    library = driver(mpi)
    flags = ["-Wl,--no-as-needed", library, f"-Wl,-rpath,{library.parent}"]
    program = support.compile_program(mpi, "doors-cuda", [support.PROGRAMS / "doors.c"], flags)
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


@matrix.one_of_a("family")
def test_packing_before_a_device(mpi: Mpi, tmp_path: Path) -> None:
    """A driver that is loaded late: what has a plan since before may lie in the device's memory."""
    program = support.compile_program(mpi, "late_device", [support.PROGRAMS / "late_device.c"])
    options = {"HEADWAY_PACK": "on", "HEADWAY_PACK_MESSAGES": "yes"}
    counts = []
    for words in ([], [driver(mpi)]):
        plain = support.run_mpi(mpi, [program, *words], ranks=1)
        folder = tmp_path / str(len(words))
        done = support.run_mpi(mpi, [program, *words], ranks=1, options=options, records=folder)
        assert (plain.status, done.status) == (0, 0), done.explain()
        assert done.lines == plain.lines, done.explain()
        counts.append([done.total(name) for name in ("packed_calls", "packed_messages")])
    assert all(counts[0]) and counts[1] == counts[0], counts
