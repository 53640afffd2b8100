! SPDX-License-Identifier: BSD-3-Clause
! Description: attributes of MPI_COMM_WORLD and of a window, through `use mpi_f08`. Prints what it finds.
program attributes_f08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    type(MPI_Comm) :: copy
    type(MPI_Win) :: win
    type(c_ptr) :: memory
    include 'attributes.inc'
end program attributes_f08
