! SPDX-License-Identifier: BSD-3-Clause
! Description: a window of MPI_Win_create over memory of MPI_Alloc_mem, through `use mpi_f08`.
! Prints "ok" and ends with 0, or says what is wrong and ends with 1.
program created_f08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    type(MPI_Win) :: win
    include 'created.inc'
end program created_f08
