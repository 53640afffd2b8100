/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a ghost looks whether the user processes of its node are inside MPI, judges their share, and
 * is rung where it sleeps. This process is both. */
#include "base/options.h"
#include "ghost/bell.h"
#include "ghost/mark.h"
#include "ghost/rates.h"
#include "ghost/sample.h"
#include "progress/inside.h"
#include "real/table.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { USER, GHOST, PROCESSES, MOST_LOOKS = 1 << 26 };

static struct hw_world_process processes[PROCESSES] = {
    [USER] = {.user_rank = 0, .ghost = GHOST}, [GHOST] = {.user_rank = -1, .ghost = GHOST}};
static struct hw_world_node node = {.process_count = PROCESSES, .ghost_count = 1};
static pid_t pids[PROCESSES];
static void *memory;

static int allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win)
{
    (void)unit, (void)info, (void)comm;
    memory = calloc(1, (size_t)size);
    *(void **)base = memory;
    *win = MPI_WIN_NULL + 1;
    return MPI_SUCCESS;
}

static int query(MPI_Win win, int rank, MPI_Aint *size, int *unit, void *base)
{
    (void)win, (void)size, (void)unit;
    assert_int_equal(rank, GHOST);
    *(void **)base = memory;
    return MPI_SUCCESS;
}

static int free_window(MPI_Win *win)
{
    free(memory);
    *win = MPI_WIN_NULL;
    return MPI_SUCCESS;
}

/* The ghost's part is the user's too. */
static int allgather(const void *own, int bytes, MPI_Datatype type, void *all, int all_bytes,
                     MPI_Datatype all_type, MPI_Comm comm)
{
    (void)type, (void)all_bytes, (void)all_type, (void)comm;
    for (int i = 0; i < PROCESSES; i++)
        memcpy((char *)all + i * bytes, own, (size_t)bytes);
    return MPI_SUCCESS;
}

static int allreduce(const void *own, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)type, (void)op, (void)comm;
    memcpy(all, own, (size_t)count * sizeof(int));
    return MPI_SUCCESS;
}

static int barrier(MPI_Comm comm)
{
    (void)comm;
    return MPI_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    hw_real_pretend_loaded();
    hw_bottom.Win_allocate_shared = (void *)allocate;
    hw_bottom.Win_shared_query = (void *)query;
    hw_bottom.Win_free = free_window;
    hw_bottom.Allgather = allgather;
    hw_bottom.Allreduce = allreduce;
    hw_bottom.Barrier = barrier;
    pids[USER] = pids[GHOST] = getpid();
    hw_world = (struct hw_world){.rank = GHOST,
                                 .size = PROCESSES,
                                 .user_rank = -1,
                                 .user_count = 1,
                                 .node_count = 1,
                                 .ghost_count = 1,
                                 .processes = processes,
                                 .nodes = &node,
                                 .own_node = &node,
                                 .node_pids = pids};
    hw_options = hw_options_default;
    hw_ghost_bells_make(true);
    return 0;
}

static int end(void **state)
{
    (void)state;
    hw_ghost_sample_end();
    hw_ghost_bells_free();
    assert_null(hw_ghost_rates());
    return 0;
}

/* Looks, until the table says it, or something else for ever. */
static bool comes_to_say(enum hw_rate_says says)
{
    for (int i = 0; i < MOST_LOOKS; i++) {
        hw_ghost_sample_asleep();
        if (hw_rate_byte_says(hw_ghost_rates_read(USER)) == says)
            return true;
    }
    return false;
}

static void a_share_is_judged_by_thresholds(void **state)
{
    (void)state;
    hw_options.adapt = HW_OPTION_ADAPT_GLOBAL;
    hw_options.predict_int_us = 1000;
    hw_ghost_sample_begin();
    assert_true(hw_ghost_sample_nap_ns() < UINT64_MAX);
    assert_int_equal(hw_ghost_rates_read(USER), HW_RATE_BYTE_UNKNOWN);
    uint32_t generation = hw_ghost_rates_generation();
    hw_ghost_rates_show_mark();
    hw_inside.depth = HW_INSIDE_YES;
    assert_true(comes_to_say(HW_RATE_OWNER));
    assert_true(hw_ghost_rates_generation() > generation);
    assert_int_equal(hw_rate_byte_percent(hw_ghost_rates_read(USER)), 100);
    hw_inside.depth = 0;
    assert_true(comes_to_say(HW_RATE_GHOST));
    assert_true(atomic_load(&hw_ghost_rates()->looks) > 0);
    hw_ghost_rates_hide_mark();
    const char *why;
    assert_int_equal(hw_ghost_mark_look(USER, &why), HW_GHOST_MARK_UNKNOWN);
    assert_null(why);
}

static void nobody_looks_without_the_option(void **state)
{
    (void)state;
    hw_ghost_sample_begin(); /* guided */
    assert_true(hw_ghost_sample_nap_ns() == UINT64_MAX);
    hw_ghost_sample_asleep();
    hw_ghost_sample_turn();
    assert_int_equal(atomic_load(&hw_ghost_rates()->looks), 0);
}

static void a_sleeping_ghost_is_rung(void **state)
{
    (void)state;
    char ring;
    assert_non_null(hw_ghost_apply_lock_of(0));
    hw_ghost_bell_tell_cpu(77);
    assert_int_equal(hw_ghost_bell_cpu_ns(0), 77);
    int fd = hw_ghost_bell_descriptor();
    assert_true(fd >= 0);
    assert_int_equal(read(fd, &ring, 1), -1); /* nobody rings one that is awake */
    hw_ghost_bell_tell(true);
    assert_false(hw_ghost_bell_is_awaited());
    assert_null(hw_ghost_bell_own()); /* a ghost has no rope to its own bell */
    hw_ghost_bell_tell(false);
    assert_int_equal(read(fd, &ring, 1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_share_is_judged_by_thresholds, begin, end),
        cmocka_unit_test_setup_teardown(nobody_looks_without_the_option, begin, end),
        cmocka_unit_test_setup_teardown(a_sleeping_ghost_is_rung, begin, end),
    };
    return cmocka_run_group_tests_name("ghost_sample", tests, NULL, NULL);
}
