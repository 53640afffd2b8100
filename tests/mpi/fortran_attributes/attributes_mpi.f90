! SPDX-License-Identifier: BSD-3-Clause
! Description: attributes of MPI_COMM_WORLD and of a window, through `use mpi`. Prints what it finds.
program attributes_mpi
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: copy, win
    type(c_ptr) :: memory
    include 'attributes.inc'
end program attributes_mpi
