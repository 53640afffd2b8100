! SPDX-License-Identifier: BSD-3-Clause
! Description: a window of MPI_Win_allocate_shared, through `use mpi_f08`: one process stores, another adds.
! Prints "ok" and ends with 0, or says what is wrong and ends with 1.
program shared_f08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    type(MPI_Win) :: win
    integer :: rank, size, next, unit, i, ierr
    integer(MPI_ADDRESS_KIND) :: bytes
    type(c_ptr) :: memory
    double precision, pointer, asynchronous :: own(:), theirs(:)
    double precision :: one

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    next = mod(rank + 1, size)
    one = 1
    bytes = 8 * (rank + 3)
    call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, memory, win, ierr)
    call c_f_pointer(memory, own, [rank + 3])
    call MPI_Win_shared_query(win, next, bytes, unit, memory, ierr)
    if (bytes /= 8 * (next + 3) .or. unit /= 8) call fail('another size')
    call c_f_pointer(memory, theirs, [next + 3])
    call MPI_Win_fence(0, win, ierr)
    theirs = next
    call MPI_Win_fence(0, win, ierr)
    call MPI_Win_lock_all(0, win, ierr)
    do i = 1, 10
        call MPI_Accumulate(one, 1, MPI_DOUBLE_PRECISION, next, 1_MPI_ADDRESS_KIND, 1, &
                            MPI_DOUBLE_PRECISION, MPI_SUM, win, ierr)
    end do
    call MPI_Win_unlock_all(win, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (own(1) /= rank .or. own(2) /= rank + 10 .or. own(rank + 3) /= rank) call fail('something else')
    call MPI_Win_free(win, ierr)
    call MPI_Finalize(ierr)
    if (rank == 0) print '(a)', 'ok'

contains

    subroutine fail(what)
        character(*), intent(in) :: what
        print *, 'rank', rank, 'has ', what
        call exit(1)
    end subroutine
end program shared_f08
