! SPDX-License-Identifier: BSD-3-Clause
! Description: a window of MPI_Win_create over memory of MPI_Alloc_mem, through `use mpi`.
! Prints "ok" and ends with 0, or says what is wrong and ends with 1.
program created_mpi
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: win
    include 'created.inc'
end program created_mpi
