! SPDX-License-Identifier: BSD-3-Clause
! Description: a window of MPI_Win_create_dynamic with memory of MPI_Alloc_mem and of the program, through
! `use mpi_f08`. Prints "ok" and ends with 0, or says what is wrong and ends with 1.
program dynamic_f08
    use mpi_f08
    use, intrinsic :: iso_c_binding
    implicit none
    integer, parameter :: count = 1000
    integer :: rank, size, next, i
    integer(MPI_ADDRESS_KIND) :: bytes, flavor, own(2)
    integer(MPI_ADDRESS_KIND), allocatable :: places(:, :)
    logical :: is_set
    type(MPI_Win) :: win
    type(c_ptr) :: memory
    double precision, pointer, asynchronous :: values(:)
    double precision, allocatable, target, asynchronous :: others(:)
    double precision :: one

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, size)
    next = mod(rank + 1, size) + 1
    one = 1
    bytes = 8 * count
    allocate (others(count), places(2, size))
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, memory)
    call c_f_pointer(memory, values, [count])
    values = rank
    others = rank
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_attach(win, values, bytes)
    call MPI_Win_attach(win, others, bytes)
    call MPI_Get_address(values(8), own(1))
    call MPI_Get_address(others(8), own(2))
    call MPI_Allgather(own, 2, MPI_AINT, places, 2, MPI_AINT, MPI_COMM_WORLD)
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, flavor, is_set)
    call MPI_Win_lock_all(0, win)
    do i = 1, 10
        call MPI_Accumulate(one, 1, MPI_DOUBLE_PRECISION, next - 1, places(1, next), 1, &
                            MPI_DOUBLE_PRECISION, MPI_SUM, win)
        call MPI_Accumulate(one, 1, MPI_DOUBLE_PRECISION, next - 1, places(2, next), 1, &
                            MPI_DOUBLE_PRECISION, MPI_SUM, win)
    end do
    call MPI_Win_unlock_all(win)
    call MPI_Barrier(MPI_COMM_WORLD)
    if (values(8) /= rank + 10 .or. others(8) /= rank + 10 .or. values(9) /= rank .or. &
        .not. is_set .or. flavor /= MPI_WIN_FLAVOR_DYNAMIC) then
        print *, 'rank', rank, 'has something else'
        call exit(1)
    end if
    call MPI_Win_detach(win, values)
    call MPI_Win_detach(win, others)
    call MPI_Win_free(win)
    call MPI_Free_mem(values)
    call MPI_Finalize()
    if (rank == 0) print '(a)', 'ok'
end program dynamic_f08
