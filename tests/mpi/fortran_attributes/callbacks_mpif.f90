! SPDX-License-Identifier: BSD-3-Clause
! Description: what Fortran's functions of attributes and error handlers are told of MPI_COMM_WORLD, and of
! another communicator. Prints it.
program callbacks_mpif
    implicit none
    include 'mpif.h'
    external copy_value, delete_value, on_error
    integer :: key, copy, handler, size, ierr
    integer(MPI_ADDRESS_KIND) :: extra, number

    call MPI_Init(ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    extra = 5
    number = 41
    call MPI_Comm_create_keyval(copy_value, delete_value, key, extra, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, number, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy, ierr)
    call MPI_Comm_delete_attr(copy, key, ierr)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
    call MPI_Comm_free_keyval(key, ierr)
    call MPI_Comm_create_errhandler(on_error, handler, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler, ierr)
    call MPI_Comm_set_errhandler(copy, handler, ierr)
    call MPI_Send(number, 0, MPI_INTEGER, size, 0, MPI_COMM_WORLD, ierr)
    call MPI_Send(number, 0, MPI_INTEGER, size, 0, copy, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Comm_free(copy, ierr)
    call MPI_Finalize(ierr)
end program callbacks_mpif

subroutine copy_value(comm, key, extra, number, copied, is_wanted, ierr)
    implicit none
    include 'mpif.h'
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, number, copied
    logical :: is_wanted
    print *, 'copy', comm == MPI_COMM_WORLD, extra, number
    copied = number + 1
    is_wanted = .true.
    ierr = MPI_SUCCESS
end subroutine copy_value

subroutine delete_value(comm, key, number, extra, ierr)
    implicit none
    include 'mpif.h'
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: number, extra
    print *, 'delete', comm == MPI_COMM_WORLD, extra, number
    ierr = MPI_SUCCESS
end subroutine delete_value

subroutine on_error(comm, code)
    implicit none
    include 'mpif.h'
    integer :: comm, code
    print *, 'error', comm == MPI_COMM_WORLD, code /= MPI_SUCCESS
end subroutine on_error
