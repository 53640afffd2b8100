# SPDX-License-Identifier: BSD-3-Clause
"""Which calls of a file leave something pending in MPI: from C, C++ and Fortran, not running it."""

from __future__ import annotations

import re

from headway.mpi import elf

COLLECTIVES = (
    *("barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv"),
    *("alltoall", "alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter"),
    *("reduce_scatter_block", "scan", "exscan", "neighbor_allgather", "neighbor_allgatherv"),
    *("neighbor_alltoall", "neighbor_alltoallv", "neighbor_alltoallw"),
)
P2P = ("send", "bsend", "ssend", "rsend", "recv", "mrecv", "sendrecv", "sendrecv_replace")
ACCESSES = ("", "_at", "_all", "_at_all", "_shared")
#: MPI_ left out, in the case of C; a program with none of them has nothing to overlap
PENDING = (
    *(f"I{name}" for name in (*P2P, *COLLECTIVES)),
    *("Comm_idup", "Comm_idup_with_info", "Start", "Startall"),
    *("Rput", "Rget", "Raccumulate", "Rget_accumulate"),
    *("Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic"),
    *(f"File_i{way}{access}" for way in ("read", "write") for access in ACCESSES),
)
NAMES = {f"mpi_{name}".lower(): f"MPI_{name}" for name in PENDING}

#: Before and after the name of a procedure of a module: GNU, Intel, NAG, flang, Cray, NVIDIA.
MODULES = re.compile(
    r"__\w+?_MOD_(?P<gnu>\w+)|\w+?_mp_(?P<intel>\w+)|\w+?_MP_(?P<nag>\w+)"
    r"|_QM[a-z0-9_]+P(?P<flang>\w+)|(?P<cray>\w+)\$\w+|mpi_f08_(?P<nvidia>p?mpi_\w+)",
)
#: mpi_isend, mpi_isend_, mpi_isend__, MPI_ISEND, mpi_isend_f08_ (Open MPI), mpi_isend_f08ts_,
#: mpi_isend_f08ts_large_, mpi_isend_c_f08ts_, mpi_win_allocate_cptr_ (MPICH, Intel MPI), with PMPI
#: as well
PROCEDURE = re.compile(r"p?mpir?_(\w+?)(?:_c|_cptr)?(?:_f08(?:ts)?(?:_large)?)?_{0,2}")


def pending(data: bytes) -> set[str]:
    """Of the file with these contents: as MPI spells them, whatever the language."""
    imports = elf.imported(data)
    found = {name for one in imports if (name := spelled(one))}
    if "dlsym" in imports:  # it may look its calls up by name
        found |= {name for name in NAMES.values() if b"\0%s\0" % name.encode() in data}
    return found


def spelled(symbol: str) -> str:
    """The nonblocking call of MPI that a symbol names, or nothing."""
    if module := MODULES.fullmatch(symbol):
        symbol = next(name for name in module.groups() if name)
    match = PROCEDURE.fullmatch(symbol.lower())
    return NAMES.get(f"mpi_{match[1]}", "") if match else ""
