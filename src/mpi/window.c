/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows (MPI-4.1 section 12.2): made, freed and asked about. One that no engine takes is an exposure, whose
 * target side may need progress at any time. */
#include "mpi/window.h"
#include "engines/engine.h"
#include "hooks.h"
#include "profile/record/counters.h"
#include "progress/inside.h"
#include "real/constants.h"

#include <pthread.h>
#include <stdlib.h>

/* Those that engines were told of, in the order they were made. A callback of the program's may make a
 * window, of which nobody is told, and free it outside; or free one from within that was made outside. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
static MPI_Win *exposed;
static size_t exposed_count, exposed_capacity;

/* False: no memory. */
static bool enter(MPI_Win win)
{
    enum { FIRST_CAPACITY = 16 };
    pthread_mutex_lock(&lock);
    if (exposed_count == exposed_capacity) {
        size_t capacity = exposed_capacity ? exposed_capacity * 2 : FIRST_CAPACITY;
        MPI_Win *larger = realloc(exposed, capacity * sizeof(MPI_Win));
        if (larger) {
            exposed = larger;
            exposed_capacity = capacity;
        }
    }
    bool is_entered = exposed_count < exposed_capacity;
    if (is_entered)
        exposed[exposed_count++] = win;
    pthread_mutex_unlock(&lock);
    return is_entered;
}

/* Behind its place; 0: it is not there. Under the lock. */
static size_t find(MPI_Win win)
{
    size_t place = exposed_count;
    while (place > 0 && exposed[place - 1] != win)
        place--;
    return place;
}

static bool is_exposed(MPI_Win win)
{
    pthread_mutex_lock(&lock);
    bool is_there = find(win) > 0;
    pthread_mutex_unlock(&lock);
    return is_there;
}

/* False: it is not there. */
static bool take(MPI_Win win)
{
    pthread_mutex_lock(&lock);
    size_t place = find(win);
    if (place > 0) {
        memmove(&exposed[place - 1], &exposed[place], (exposed_count - place) * sizeof(MPI_Win));
        exposed_count--;
    }
    pthread_mutex_unlock(&lock);
    return place > 0;
}

/* Of a window that is the MPI's own: passes on what making it gave. With a handler of the program's MPICH 5
 * returns MPI_SUCCESS for what it refused: then none was made. */
static int expose(int rc, MPI_Win made, MPI_Win *win)
{
    if (rc == MPI_SUCCESS && made != HW_WIN_NULL) {
        *win = made;
        HW_COUNT(exposures);
        if (!enter(made)) /* it goes without the thread */
            return rc;
        hw_engines_left(1);
        hw_engines_exposed(1);
    }
    return rc;
}

/* Where the real call puts it: the program may have passed none. */
static MPI_Win *place_of(MPI_Win *made, const MPI_Win *win)
{
    *made = HW_WIN_NULL;
    return win ? made : NULL;
}

/* The handle may be another's as soon as it is free. With a handler of the program's MPICH 5 returns
 * MPI_SUCCESS for what it refused. */
static int free_by(int (*real_free)(MPI_Win *win), MPI_Win *win)
{
    MPI_Win handle = win ? *win : HW_WIN_NULL;
    bool was_exposed = take(handle);
    int rc = real_free(win);
    if (win && was_exposed && (*win == HW_WIN_NULL || !enter(handle))) {
        hw_engines_left(-1);
        hw_engines_exposed(-1);
    }
    return rc;
}

int hw_win_allocate(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                    MPI_Win *win)
{
    int rc = hw_ask_win_allocate(size, disp_unit, info, comm, baseptr, win);
    if (rc != HW_DECLINES)
        return rc;
    MPI_Win made, *place = place_of(&made, win);
    rc = hw_real_win_allocate(size, disp_unit, info, comm, baseptr, place);
    return expose(rc, made, win);
}

int hw_win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                           MPI_Win *win)
{
    int rc = hw_ask_win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
    if (rc != HW_DECLINES)
        return rc;
    MPI_Win made, *place = place_of(&made, win);
    rc = hw_real_win_allocate_shared(size, disp_unit, info, comm, baseptr, place);
    return expose(rc, made, win);
}

int hw_win_create(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    int rc = hw_ask_win_create(base, size, disp_unit, info, comm, win);
    if (rc != HW_DECLINES)
        return rc;
    MPI_Win made, *place = place_of(&made, win);
    rc = hw_real_win_create(base, size, disp_unit, info, comm, place);
    return expose(rc, made, win);
}

int hw_win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    int rc = hw_ask_win_create_dynamic(info, comm, win);
    if (rc != HW_DECLINES)
        return rc;
    MPI_Win made, *place = place_of(&made, win);
    rc = hw_real.Win_create_dynamic(info, comm, place);
    return expose(rc, made, win);
}

int hw_win_free(MPI_Win *win)
{
    int rc = hw_ask_win_free(win);
    return rc != HW_DECLINES ? rc : free_by(hw_real.Win_free, win);
}

bool hw_win_freed_within(MPI_Win *win)
{
    if (win == NULL || !is_exposed(*win))
        return false;
    hw_inside_pay();
    return free_by(hw_bottom.Win_free, win) == MPI_SUCCESS;
}

struct hw_engine_place hw_win_memory(MPI_Win *win, int *rank)
{
    struct hw_engine_place place = {0};
    if (!hw_real_next_has_call)
        hw_engines_window_place(win, rank, &place);
    return place;
}

int hw_win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    int rc = hw_ask_win_get_attr(win, keyval, value, flag);
    return rc != HW_DECLINES ? rc : hw_real.Win_get_attr(win, keyval, value, flag);
}

int hw_win_get_group(MPI_Win win, MPI_Group *group)
{
    int rc = hw_ask_win_get_group(win, group);
    return rc != HW_DECLINES ? rc : hw_real.Win_get_group(win, group);
}

int hw_win_set_info(MPI_Win win, MPI_Info info)
{
    int rc = hw_ask_win_set_info(win, info);
    return rc != HW_DECLINES ? rc : hw_real.Win_set_info(win, info);
}

int hw_win_get_info(MPI_Win win, MPI_Info *info)
{
    int rc = hw_ask_win_get_info(win, info);
    return rc != HW_DECLINES ? rc : hw_real.Win_get_info(win, info);
}
