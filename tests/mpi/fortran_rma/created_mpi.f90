! Description: a window of MPI_Win_create over memory of MPI_Alloc_mem, through `use mpi`.
! Prints "ok" and ends with 0, or says what is wrong and ends with 1.
program created_mpi
    use mpi
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: count = 1000
    integer :: rank, size, next, i
    integer(MPI_ADDRESS_KIND) :: bytes
    integer :: win, ierr
    type(c_ptr) :: memory
    double precision, pointer, asynchronous :: values(:)
    double precision :: one

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
    next = mod(rank + 1, size)
    one = 1
    bytes = 8 * count
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, memory, ierr)
    call c_f_pointer(memory, values, [count])
    values = rank
    call MPI_Win_create(values, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Win_lock_all(0, win, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    do i = 1, 10
        call MPI_Accumulate(one, 1, MPI_DOUBLE_PRECISION, next, 7_MPI_ADDRESS_KIND, 1, &
                            MPI_DOUBLE_PRECISION, MPI_SUM, win, ierr)
    end do
    call MPI_Win_unlock_all(win, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (values(8) /= rank + 10 .or. values(7) /= rank .or. values(count) /= rank) then
        print *, 'rank', rank, 'has something else'
        call exit(1)
    end if
    call MPI_Win_free(win, ierr)
    call MPI_Free_mem(values, ierr)
    call MPI_Finalize(ierr)
    if (rank == 0) print '(a)', 'ok'
end program created_mpi
