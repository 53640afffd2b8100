# SPDX-License-Identifier: BSD-3-Clause
"""Fourier transforms of a distributed array with mpi4py-fft, there and back, and their time."""

import numpy
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

ROUNDS = 50

transform = PFFT(MPI.COMM_WORLD, [128, 128, 128], axes=(0, 1, 2), dtype=numpy.float64)
values = newDistArray(transform, False)
values[:] = numpy.random.default_rng(MPI.COMM_WORLD.rank).random(values.shape)
start = values.copy()
MPI.COMM_WORLD.Barrier()
began = MPI.Wtime()
for _ in range(ROUNDS):
    spectrum = transform.forward(values)
    values = transform.backward(spectrum, values)
seconds = MPI.COMM_WORLD.allreduce(MPI.Wtime() - began, MPI.MAX)
norm = MPI.COMM_WORLD.allreduce(float(numpy.sum(numpy.abs(spectrum) ** 2)))
error = MPI.COMM_WORLD.allreduce(float(numpy.max(numpy.abs(values - start))), MPI.MAX)
if MPI.COMM_WORLD.rank == 0:
    print(f"norm {norm!r}\nis the start again: {error < 1e-12}\nseconds {seconds:.4f}", flush=True)
