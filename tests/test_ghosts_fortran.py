"""Ghosts under programs in Fortran."""

from __future__ import annotations

from pathlib import Path

import pytest
import support
from headway.mpis import Mpi
from test_ghosts import DECLINED

WINDOWS = sorted((support.PROGRAMS / "fortran_rma").glob("*.f90"))
ATTRIBUTES = sorted((support.PROGRAMS / "fortran_attributes").glob("*.f90"))


@pytest.mark.parametrize("source", WINDOWS, ids=lambda path: path.stem)
def test_windows(mpi: Mpi, source: Path, tmp_path: Path) -> None:
    if mpi.mpifort is None:
        pytest.skip(f"{mpi.title} has no Fortran that the compiler here can use")
    if mpi.name in DECLINED:
        pytest.skip(f"{mpi.title} keeps its own windows")
    try:
        program = support.compile_program(mpi, source.stem, [source], (), mpi.mpifort)
    except AssertionError as error:
        if "mpi_f08" in source.read_text() and "Cannot open module file" in str(error):
            pytest.skip(f"{mpi.title} has no mpi_f08 module for the compiler here")
        raise
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


@pytest.mark.parametrize("source", ATTRIBUTES, ids=lambda path: path.stem)
def test_attributes(mpi: Mpi, source: Path, tmp_path: Path) -> None:
    """Fortran sets, gets and deletes attributes by functions that are not the entries of C."""
    is_module = "mpif.h" not in source.read_text()
    compiler = mpi.mpifort if is_module else mpi.mpif77
    if compiler is None:
        pytest.skip(f"{mpi.title} has no such Fortran that the compiler here can use")
    sources = [source, source.with_name("from_c.c")]
    try:
        program = support.compile_program(mpi, source.stem, sources, (), compiler)
    except AssertionError as error:
        if source.stem.endswith("f08") and "Cannot open module file" in str(error):
            pytest.skip(f"{mpi.title} has no mpi_f08 module for the compiler here")
        raise
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
    has_window = source.stem != "attributes_old" and mpi.name not in DECLINED
    assert (headway.total("windows_redirected") > 0) == has_window
