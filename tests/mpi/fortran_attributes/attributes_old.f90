! SPDX-License-Identifier: BSD-3-Clause
! Description: attributes of MPI_COMM_WORLD through the functions that MPI-2.0 deprecated, whose values are
! INTEGERs; the word behind stays as it is. Prints what it finds.
program attributes_old
    implicit none
    include 'mpif.h'
    integer :: rank, key, copy, ierr
    integer :: numbers(2)
    logical :: is_set

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0, ierr)
    numbers = -1
    call MPI_Attr_put(MPI_COMM_WORLD, key, -41, ierr)
    call MPI_Attr_get(MPI_COMM_WORLD, key, numbers, is_set, ierr)
    print *, rank, 'world', is_set, numbers
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Attr_get(copy, key, numbers, is_set, ierr)
    print *, rank, 'copy', is_set, numbers
    call MPI_Attr_delete(MPI_COMM_WORLD, key, ierr)
    call MPI_Attr_get(MPI_COMM_WORLD, key, numbers, is_set, ierr)
    print *, rank, 'deleted', is_set
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, numbers, is_set, ierr)
    print *, rank, 'universe', is_set, numbers
    call MPI_Comm_free(copy, ierr)
    call MPI_Finalize(ierr)
end program attributes_old
