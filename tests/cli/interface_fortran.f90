! SPDX-License-Identifier: BSD-3-Clause
! The Fortran door to headway.h: prints what each call returned.
program interface_fortran
    use mpi
    use headway
    implicit none
    integer :: ierror, rank, begun, paused, resumed, ended, asked
    type(headway_state) :: state
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    begun = headway_phase_begin('from Fortran   ')
    paused = headway_pause()
    asked = headway_query(state)
    resumed = headway_resume()
    ended = headway_phase_end()
    print '(a,7i4)', 'fortran', begun, paused, state%is_paused, asked, resumed, ended, headway_resume()
    call MPI_Finalize(ierror)
end program
