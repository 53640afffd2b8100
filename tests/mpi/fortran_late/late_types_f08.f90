! SPDX-License-Identifier: BSD-3-Clause
! Datatypes with attributes are freed while nonblocking collectives use them: delete functions of Fortran
! run in the thread that calls MPI.
module callbacks
  use mpi_f08
  implicit none
  interface
    subroutine note_thread() bind(c)
    end subroutine
    subroutine note_deleted() bind(c)
    end subroutine
    subroutine compute() bind(c)
    end subroutine
    subroutine report() bind(c)
    end subroutine
  end interface
contains
  subroutine delete_type(datatype, keyval, value, extra, ierror)
    type(MPI_Datatype) :: datatype
    integer :: keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    call note_deleted()
    ierror = MPI_SUCCESS
  end subroutine
end module

program late_types
  use callbacks
  implicit none
  integer, parameter :: rounds = 6, elements = 1000000
  integer, asynchronous :: data(2 * elements)
  integer :: keyval, round
  type(MPI_Datatype) :: datatype
  type(MPI_Request) :: request
  call MPI_Init()
  call note_thread()
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_type, keyval, 0_MPI_ADDRESS_KIND)
  data = 0
  do round = 1, rounds
    call MPI_Type_vector(elements, 1, 2, MPI_INTEGER, datatype)
    call MPI_Type_commit(datatype)
    call MPI_Type_set_attr(datatype, keyval, 1_MPI_ADDRESS_KIND)
    call MPI_Ibcast(data, 1, datatype, 0, MPI_COMM_WORLD, request)
    call MPI_Type_free(datatype)
    call compute()
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  call report()
  call MPI_Finalize()
end program
