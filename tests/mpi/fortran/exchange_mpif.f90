! SPDX-License-Identifier: BSD-3-Clause
! Description: the exchange through mpif.h.
! Prints "ok" and ends with 0, or says what is wrong and ends with 1.
program exchange_mpif
    implicit none
    include 'mpif.h'
    integer, parameter :: count = 200000
    integer :: rank, size, next, previous, ierr, requests(2), request, status(MPI_STATUS_SIZE)
    integer :: statuses(MPI_STATUS_SIZE, 2)
    integer :: received, i
    logical :: flag, is_wrong
    integer(kind=MPI_ADDRESS_KIND) :: largest_tag
    double precision, allocatable :: outgoing(:), incoming(:)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    next = mod(rank + 1, size)
    previous = mod(rank + size - 1, size)
    allocate (outgoing(count), incoming(count))
    outgoing = [(dble(rank) * count + i, i=1, count)]
    is_wrong = .false.

    incoming = -1
    call MPI_Irecv(incoming, count, MPI_DOUBLE_PRECISION, previous, 7, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Isend(outgoing, count, MPI_DOUBLE_PRECISION, next, 7, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Waitall(2, requests, statuses, ierr)
    call MPI_Get_count(statuses(:, 1), MPI_DOUBLE_PRECISION, received, ierr)
    is_wrong = is_wrong .or. received /= count .or. incoming(count) /= dble(previous) * count + count
    is_wrong = is_wrong .or. any(requests /= MPI_REQUEST_NULL)

    incoming = -1
    call MPI_Irecv(incoming, count, MPI_DOUBLE_PRECISION, previous, 8, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, largest_tag, flag, ierr)
    call MPI_Isend(outgoing, count, MPI_DOUBLE_PRECISION, next, 8, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Wait(requests(1), status, ierr)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE, ierr)
    is_wrong = is_wrong .or. incoming(1) /= dble(previous) * count + 1

    incoming = dble(rank)
    call MPI_Ibcast(incoming, count, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, request, ierr)
    flag = .false.
    do while (.not. flag)
        call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierr)
    end do
    is_wrong = is_wrong .or. any(incoming /= 0)

    call MPI_Iallreduce(MPI_IN_PLACE, outgoing, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, &
                        request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    is_wrong = is_wrong .or. outgoing(1) /= dble(size) + dble(count) * size * (size - 1) / 2
    call MPI_Finalize(ierr)
    if (is_wrong) then
        print *, 'rank', rank, 'received something else'
        call exit(1)
    end if
    if (rank == 0) print '(a)', 'ok'
end program exchange_mpif
