! SPDX-License-Identifier: BSD-3-Clause
! What a Fortran program may tell Headway: the Fortran door to headway.h, which has the explanations.
!
! Compile this file with your program; nothing is linked. Without the library every function returns
! headway_absent and does nothing.
!
!     use headway
!     integer :: ignored
!     ignored = headway_phase_begin('exchange')
!     ...
!     ignored = headway_phase_end()
module headway
    use, intrinsic :: iso_c_binding
    implicit none
    private

    integer, parameter, public :: headway_ok = 0, headway_absent = 1, headway_misuse = -1, headway_full = -2
    public :: headway_pause, headway_resume, headway_phase_begin, headway_phase_end, headway_query

    ! struct headway_state of headway.h; version and engine end at the first c_null_char.
    type, bind(c), public :: headway_state
        integer(c_int) :: is_active, is_paused
        character(kind=c_char) :: version(16), engine(16)
        integer(c_int64_t) :: pending, tracked
        real(c_double) :: waited_s, overlapped_s, recovered_s, progress_cpu_s
    end type

    ! struct headway_interface of headway.h
    type, bind(c) :: functions_type
        integer(c_size_t) :: size
        type(c_funptr) :: pause, resume, phase_begin, phase_end, query, listen, unlisten
    end type

    integer(c_int), parameter :: version = 1
    type(functions_type), pointer, save :: functions => null()
    logical, save :: is_looked_up = .false.

    abstract interface
        function plain_function() bind(c)
            import
            integer(c_int) :: plain_function
        end function
        function name_function(name) bind(c)
            import
            integer(c_int) :: name_function
            character(kind=c_char), intent(in) :: name(*)
        end function
        function query_function(state, size) bind(c)
            import
            integer(c_int) :: query_function
            type(headway_state), intent(out) :: state
            integer(c_size_t), value :: size
        end function
        function interface_function(version) bind(c)
            import
            type(c_ptr) :: interface_function
            integer(c_int), value :: version
        end function
    end interface

    interface
        function dlsym(handle, name) bind(c, name='dlsym')
            import
            type(c_funptr) :: dlsym
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
        end function
    end interface

contains

    logical function is_found()
        type(c_funptr) :: symbol
        type(c_ptr) :: found
        procedure(interface_function), pointer :: get
        if (.not. is_looked_up) then
            symbol = dlsym(c_null_ptr, 'headway_interface' // c_null_char)
            if (c_associated(symbol)) then
                call c_f_procpointer(symbol, get)
                found = get(version)
                if (c_associated(found)) call c_f_pointer(found, functions)
            end if
            is_looked_up = .true.
        end if
        is_found = associated(functions)
    end function

    integer function call_plain(address)
        type(c_funptr), intent(in) :: address
        procedure(plain_function), pointer :: wanted
        call c_f_procpointer(address, wanted)
        call_plain = wanted()
    end function

    integer function headway_pause()
        headway_pause = headway_absent
        if (is_found()) headway_pause = call_plain(functions%pause)
    end function

    integer function headway_resume()
        headway_resume = headway_absent
        if (is_found()) headway_resume = call_plain(functions%resume)
    end function

    ! Blanks at the end of the name do not count.
    integer function headway_phase_begin(name)
        character(len=*), intent(in) :: name
        procedure(name_function), pointer :: wanted
        headway_phase_begin = headway_absent
        if (.not. is_found()) return
        call c_f_procpointer(functions%phase_begin, wanted)
        headway_phase_begin = wanted(trim(name) // c_null_char)
    end function

    integer function headway_phase_end()
        headway_phase_end = headway_absent
        if (is_found()) headway_phase_end = call_plain(functions%phase_end)
    end function

    integer function headway_query(state)
        type(headway_state), intent(out) :: state
        procedure(query_function), pointer :: wanted
        state = headway_state(0, 0, c_null_char, c_null_char, 0, 0, 0d0, 0d0, 0d0, 0d0)
        headway_query = headway_absent
        if (.not. is_found()) return
        call c_f_procpointer(functions%query, wanted)
        headway_query = wanted(state, c_sizeof(state))
    end function
end module headway
