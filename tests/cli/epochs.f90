! SPDX-License-Identifier: BSD-3-Clause
! Rank 0 waits for rank 1 at the end of epochs, and sends it integers with gaps, at known lines through the MPI's
! Fortran. Usage: epochs.
module steps
  use mpi
  implicit none
  integer, parameter :: rounds = 100, count = 4096
  integer, target, save :: values(4 * count), exposed(1)
contains
  subroutine epoch(win, rank)
    integer, intent(in) :: win, rank
    integer(kind=MPI_ADDRESS_KIND) :: place
    integer :: error
    place = 0
    if (rank == 0) call MPI_Put(values, 1, MPI_INTEGER, 1, place, 1, MPI_INTEGER, win, error) ! site: put
    if (rank == 1) call pause()
    call MPI_Win_fence(0, win, error) ! site: fence
  end subroutine epoch

  subroutine message(made, rank)
    integer, intent(in) :: made, rank
    integer :: error
    if (rank == 0) then
      call MPI_Send(values, count, made, 1, 0, MPI_COMM_WORLD, error) ! site: send
    else
      call MPI_Recv(values, count, made, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error) ! site: recv
    end if
  end subroutine message

  subroutine pause()
    integer(kind=8) :: began, now, rate
    call system_clock(began, rate)
    do
      call system_clock(now)
      if (now - began > rate / 1000) exit
    end do
  end subroutine pause
end module steps

program epochs
  use steps
  implicit none
  integer :: win, made, rank, error, i
  integer(kind=MPI_ADDRESS_KIND) :: places(2)
  values = 1
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  places = [0, 8]
  call MPI_Type_create_struct(2, [1, 2], places, [MPI_INTEGER, MPI_INTEGER], made, error)
  call MPI_Type_commit(made, error)
  places(1) = 4
  call MPI_Win_create(exposed, places(1), 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, error)
  call MPI_Win_fence(0, win, error)
  do i = 1, rounds
    call epoch(win, rank)
    call message(made, rank)
  end do
  call MPI_Type_free(made, error)
  call MPI_Win_free(win, error)
  call MPI_Finalize(error)
end program epochs
