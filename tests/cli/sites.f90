! SPDX-License-Identifier: BSD-3-Clause
! Calls MPI from known lines, a known number of times, through the MPI's Fortran. Usage: sites.
module work
  use mpi
  implicit none
  integer, parameter :: rounds = 150
contains
  ! More than once from one line: what is remembered of the stack must hold from a deeper one too.
  recursive subroutine exchange(depth)
    integer, intent(in) :: depth
    integer :: requests(2), outgoing, incoming, error, rank
    if (depth > 0) then
      call exchange(depth - 1)
      return
    end if
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    outgoing = rank
    call MPI_Irecv(incoming, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, requests(1), error) ! site: irecv
    call MPI_Isend(outgoing, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, requests(2), error) ! site: isend
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error) ! site: waitall
    if (incoming /= 1 - rank) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end subroutine exchange
end module work

program sites
  use work
  implicit none
  integer :: i, error, one, total
  call MPI_Init(error)
  do i = 1, rounds
    call exchange(mod(i, 3))
  end do
  one = 1
  call MPI_Allreduce(one, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error) ! site: allreduce
  call MPI_Finalize(error)
end program sites
