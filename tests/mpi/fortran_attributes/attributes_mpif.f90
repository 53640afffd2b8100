! SPDX-License-Identifier: BSD-3-Clause
! Description: attributes of MPI_COMM_WORLD and of a window, through mpif.h. Prints what it finds.
program attributes_mpif
    use, intrinsic :: iso_c_binding
    implicit none
    include 'mpif.h'
    integer :: copy, win
    integer(MPI_ADDRESS_KIND) :: memory
    include 'attributes.inc'
end program attributes_mpif
