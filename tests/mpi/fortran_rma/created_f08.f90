! Description: a window of MPI_Win_create over memory of MPI_Alloc_mem, through `use mpi_f08`.
! Prints "ok" and ends with 0, or says what is wrong and ends with 1.
program created_f08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: count = 1000
    integer :: rank, size, next, i
    integer(MPI_ADDRESS_KIND) :: bytes
    type(MPI_Win) :: win
    type(c_ptr) :: memory
    double precision, pointer, asynchronous :: values(:)
    double precision :: one

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    next = mod(rank + 1, size)
    one = 1
    bytes = 8 * count
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, memory)
    call c_f_pointer(memory, values, [count])
    values = rank
    call MPI_Win_create(values, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_lock_all(0, win)
    call MPI_Barrier(MPI_COMM_WORLD)
    do i = 1, 10
        call MPI_Accumulate(one, 1, MPI_DOUBLE_PRECISION, next, 7_MPI_ADDRESS_KIND, 1, &
                            MPI_DOUBLE_PRECISION, MPI_SUM, win)
    end do
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    if (values(8) /= rank + 10 .or. values(7) /= rank .or. values(count) /= rank) then
        print *, 'rank', rank, 'has something else'
        call exit(1)
    end if
    call MPI_Win_free(win)
    call MPI_Free_mem(values)
    call MPI_Finalize()
    if (rank == 0) print '(a)', 'ok'
end program created_f08
