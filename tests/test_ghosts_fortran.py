# SPDX-License-Identifier: BSD-3-Clause
"""Ghosts under programs in Fortran."""

from __future__ import annotations

from pathlib import Path

import fortran
import matrix
import pytest
import support
from headway.mpi.mpis import Mpi
from test_ghosts import DECLINED, is_served

pytestmark = pytest.mark.beside  # short jobs: most of the time is that of their start

WINDOWS = sorted((support.PROGRAMS / "fortran_rma").glob("*.f90"))
CALLBACKS = "callbacks_mpif"
ATTRIBUTES = sorted((support.PROGRAMS / "fortran_attributes").glob("*.f90"))


@is_served
@pytest.mark.parametrize("source", WINDOWS, ids=lambda path: path.stem)
def test_windows(mpi: Mpi, source: Path, tmp_path: Path) -> None:
    program = fortran.compile_or_skip(mpi, source)
    headway = support.run_mpi(
        mpi,
        [program],
        ranks=3,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"},
        records=tmp_path,
    )
    assert headway.status == 0 and headway.lines == ["ok"], headway.explain()
    assert headway.total("windows_redirected") == 2, "the memory was not where ghosts reach it"


def universe(mpi: Mpi, size: int, scratch: Path) -> list[str]:
    """What the launcher takes for MPI_UNIVERSE_SIZE."""
    if mpi.flavour != "ompi":
        return ["-usize", str(size)]
    hosts = scratch / f"hosts.{size}"
    hosts.write_text(f"localhost slots={size}\n")
    return ["--hostfile", str(hosts)]


@matrix.only(
    lambda mpi, source: mpi.flavour != "ompi" or source.stem != CALLBACKS,
    "Open MPI tells Fortran's functions another communicator for the world",
)
@pytest.mark.parametrize("source", ATTRIBUTES, ids=lambda path: path.stem)
def test_attributes(mpi: Mpi, source: Path, tmp_path: Path) -> None:
    """Fortran sets, gets and deletes attributes by functions that are not the entries of C."""
    program = fortran.compile_or_skip(mpi, source, source.with_name("from_c.c"))
    eight = universe(mpi, 8, tmp_path)
    plain = support.run_mpi(mpi, [program], ranks=3, extra=eight)
    assert plain.status == 0 and plain.lines, f"the plain control failed, {plain.explain()}"
    off = support.run_mpi(mpi, [program], ranks=3, options={}, extra=eight)
    assert off.status == 0 and off.lines == plain.lines, off.explain()
    headway = support.run_mpi(
        mpi,
        [program],
        ranks=4,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"},
        records=tmp_path,
        extra=universe(mpi, 9, tmp_path),
    )
    assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
    has_window = source.stem not in ("attributes_old", CALLBACKS) and mpi.name not in DECLINED
    assert (headway.total("windows_redirected") > 0) == has_window
