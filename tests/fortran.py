# SPDX-License-Identifier: BSD-3-Clause
"""Test programs in Fortran, where there is a compiler for the MPI's."""

from __future__ import annotations

from pathlib import Path

import pytest
import support
from headway.mpi.mpis import Mpi


def compile_or_skip(mpi: Mpi, source: Path, *others: Path, name: str = "") -> Path:
    """Skips where the MPI has no Fortran, or not this binding, that the compiler here can use."""
    text = source.read_text()
    compiler = mpi.mpif77 if "mpif.h" in text else mpi.mpifort
    if compiler is None:
        pytest.skip(f"{mpi.title} has no Fortran that the compiler here can use")
    modules = support.BUILD / mpi.name
    modules.mkdir(parents=True, exist_ok=True)
    flags: list[str | Path] = ["-ffree-line-length-none", "-J", modules]
    if mpi.is_intel:  # its Fortran library does not say where its libmpi is
        flags += ["-Wl,--no-as-needed", "-lmpi"]
    try:
        return support.compile_program(mpi, name or source.stem, [source, *others], flags, compiler)
    except AssertionError as error:
        if "mpi_f08" in text and "Cannot open module file" in str(error):
            pytest.skip(f"{mpi.title} has no mpi_f08 module for the compiler here")
        raise
