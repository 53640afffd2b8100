! SPDX-License-Identifier: BSD-3-Clause
! As sites.f90, through the module mpi_f08.
subroutine exchange()
  use mpi_f08
  implicit none
  integer :: outgoing, incoming, rank
  type(MPI_Request) :: requests(2)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  outgoing = rank
  call MPI_Irecv(incoming, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, requests(1)) ! site: irecv
  call MPI_Isend(outgoing, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, requests(2)) ! site: isend
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) ! site: waitall
  if (incoming /= 1 - rank) call MPI_Abort(MPI_COMM_WORLD, 1)
end subroutine exchange

program sites
  use mpi_f08
  implicit none
  integer :: i
  integer, parameter :: rounds = 150
  call MPI_Init()
  do i = 1, rounds
    call exchange()
  end do
  call MPI_Finalize()
end program sites
