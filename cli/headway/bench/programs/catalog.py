# SPDX-License-Identifier: BSD-3-Clause
"""The table of real programs: where each comes from, how it is started, what its answer is.

A program is added here and nowhere else; its input files go into inputs/.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: Devito builds its kernels with the mpicc it finds, and mpi4py loads the MPI it is told to
PYTHON_ENV = {
    "PATH": "{bin}:{path}",
    "MPI4PY_LIBMPI": "{libmpi}",
    "OMP_NUM_THREADS": "1",
}
PETSC_DIR = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real"
PETSC_EXAMPLES = "/usr/share/doc/python-petsc4py-doc/examples/demo"
ESPRESSO_EXAMPLES = "/usr/share/doc/quantum-espresso/examples"

#: of the suite that runs them
SUITE = "programs"


@dataclass(frozen=True)
class Answer:
    """Part of a program's output that must not change: every match of `pattern`, one group."""

    what: str
    pattern: str
    #: relative; 0: the same text. Only where plain runs differ among themselves
    tolerance: float = 0.0


@dataclass(frozen=True)
class RealProgram:
    """A program somebody else wrote. Words of `command` and `env` may hold {placeholders}."""

    name: str
    title: str
    does: str
    communicates: str  #: what it calls, as its profile shows
    mpis: tuple[str, ...]
    command: tuple[str, ...]
    answers: tuple[Answer, ...]
    seconds: str = ""  #: pattern of the time it measures itself; else the whole job's is taken
    debian: tuple[str, ...] = ()
    python: tuple[str, ...] = ()  #: distributions of the programs' virtual environment
    inputs: str = ""  #: folder of inputs/, copied to where it runs
    unpacks: dict[str, str] = field(default_factory=dict)  #: input file -> .gz of a package
    env: dict[str, str] = field(default_factory=dict)
    timeout_s: float = 60.0
    warm_ups: int = 0  #: runs before the first timed one, where the first builds a cache


def devito(name: str, mode: str, does: str) -> RealProgram:
    return RealProgram(
        name,
        f"Devito, {mode} mode",
        does,
        "MPI_Isend, MPI_Irecv, computes the interior, MPI_Wait",
        ("mpich5", "ompi5"),
        ("{venv}/bin/python", "elastic.py", "{cache}"),
        (Answer("norms of the receivers and of the wave field", r"norm \w+ (\S+)"),),
        seconds=r"Operator `ForwardElastic` ran in ([\d.]+) s",
        python=("devito", "mpi4py"),
        inputs="devito",
        env={
            **PYTHON_ENV,
            "DEVITO_MPI": mode,
            "DEVITO_ARCH": "gcc",
            "DEVITO_LANGUAGE": "C",
        },
        timeout_s=80.0,
        warm_ups=1,
    )


PROGRAMS = (
    devito(
        "devito",
        "overlap",
        "elastic waves on a grid, finite differences",
    ),
    RealProgram(
        "lammps",
        "LAMMPS",
        "molecular dynamics of 108,000 Lennard-Jones atoms",
        "MPI_Irecv, MPI_Send, MPI_Wait at once: nothing to compute meanwhile",
        ("ompi4",),
        ("/usr/bin/lmp", "-in", "in.lj", "-log", "none"),
        (Answer("energies and pressure by step", r"^ +\d+ +(\S+ +\S+ +\S+ +\S+ +\S+) *$"),),
        seconds=r"Loop time of ([\d.]+) on",
        debian=("lammps",),
        inputs="lammps",
    ),
    RealProgram(
        "quantum-espresso",
        "Quantum ESPRESSO",
        "plane-wave density-functional theory of silicon",
        "MPI_Alltoall, blocking",
        ("ompi4",),
        ("/usr/bin/pw.x", "-in", "si.in"),
        (
            Answer("total energy", r"! +total energy += +(\S+) Ry"),
            Answer("energies by iteration", r"^ +total energy += +(\S+) Ry"),
        ),
        seconds=r"PWSCF +:.* +([\d.]+)s WALL",
        debian=("quantum-espresso", "quantum-espresso-data"),
        inputs="quantum-espresso",
        unpacks={"Si.UPF": f"{ESPRESSO_EXAMPLES}/EPW/sic/pp/Si.pz-vbc.UPF.gz"},
        env={"OMP_NUM_THREADS": "1"},
    ),
    RealProgram(
        "petsc-mumps",
        "PETSc with MUMPS",
        "sparse direct solution of a Laplace equation (petsc4py's example ksp/ex2.py)",
        "MUMPS: MPI_Isend of factors from a buffer, MPI_Iprobe and MPI_Recv between fronts",
        ("ompi4",),
        (
            "/usr/bin/python3",
            f"{PETSC_EXAMPLES}/petsc-examples/ksp/ex2.py",
            *("-m", "600", "-n", "600", "-pc_type", "lu", "-ksp_type", "preonly"),
            *("-pc_factor_mat_solver_type", "mumps", "-log_view"),
        ),
        (Answer("PETSc's own check of the solution", r"^- (Parallel OK)"),),
        seconds=r"^Time \(sec\): +(\S+)",
        debian=("python3-petsc4py-real3.18", "python-petsc4py-doc"),
        env={
            "PETSC_DIR": PETSC_DIR,
            "PYTHONPATH": f"{PETSC_DIR}/lib/python3/dist-packages",
            "OMP_NUM_THREADS": "1",
        },
    ),
    RealProgram(
        "nwchem",
        "NWChem",
        "Hartree-Fock and MP2 of six water molecules",
        "One-sided, through Global Arrays: MPI_Get, MPI_Accumulate, MPI_Win_flush_local",
        ("mpich4",),
        ("/usr/bin/nwchem.mpich", "water.nw"),
        (
            # Tasks go to whoever asks first: the order of sums, and the last digits, vary plainly.
            Answer("SCF energy to 10 digits", r"Total SCF energy = +(\S+)", 1e-10),
            Answer("MP2 energy to 10 digits", r"Total MP2 energy +(\S+)", 1e-10),
        ),
        seconds=r"Total times +cpu: +\S+ +wall: +([\d.]+)s",
        debian=("nwchem-mpich",),
        inputs="nwchem",
        timeout_s=40.0,
    ),
    RealProgram(
        "cp2k",
        "CP2K",
        "density-functional theory of 32 water molecules",
        "MPI_Isend, MPI_Irecv, MPI_Waitall of matrix panels; MPI_Alltoallv of grids",
        ("ompi4",),
        ("/usr/bin/cp2k.psmp", "-i", "h2o.inp"),
        (Answer("energies by iteration", r"^ +\d+ OT .* (-\d+\.\d+) +\S+$"),),
        seconds=r"^ CP2K +1 +1\.0 +\S+ +\S+ +\S+ +(\S+)$",
        debian=("cp2k", "cp2k-data"),
        inputs="cp2k",
        env={"CP2K_DATA_DIR": "/usr/share/cp2k", "OMP_NUM_THREADS": "1"},
    ),
    RealProgram(
        "mpi4py-fft",
        "mpi4py-fft",
        "three-dimensional Fourier transforms there and back",
        "MPI_Alltoallw, blocking",
        ("ompi4",),
        ("/usr/bin/python3", "transform.py"),
        (
            # FFTW plans by measuring: plain runs differ in the last digits too.
            Answer("norm of the transform to 12 digits", r"^norm (\S+)", 1e-12),
            Answer("the way back ends at the start to 1e-12", r"^is the start again: (\w+)"),
        ),
        seconds=r"^seconds (\S+)",
        debian=("python3-mpi4py-fft",),
        inputs="mpi4py-fft",
        env={"OMP_NUM_THREADS": "1"},
    ),
)
