/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: whichever allocation fails while a window is made, the member tells the others before anybody
 * waits for it, and all of them decline. */
#include "base/options.h"
#include "engines/rma/window/make.h"
#include "engines/rma/window/plan.h"
#include "fake_group.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { USERS = 2, GHOST = USERS, WORLD = USERS + 1, ALLOCATIONS_MAX = 100 };

/* Allocations are counted, and one fails, from when MPI is first asked about the window's group. */
static bool is_counted;
static int allocations, fails_at;

/* A window that fails in the joint part is left as it is: ghosts may have it already. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

/* By malloc, which the sanitizers have their own of, as of free. Not by memset: gcc would make a calloc of
 * it. */
void *calloc(size_t count, size_t size)
{
    void *memory = is_counted && allocations++ == fails_at ? NULL : malloc(count * size);
    if (memory)
        explicit_bzero(memory, count * size);
    return memory;
}

static struct hw_world_process processes[WORLD] = {{.user_rank = 0, .ghost = GHOST},
                                                   {.user_rank = 1, .ghost = GHOST},
                                                   {.user_rank = -1, .node = 1, .ghost = GHOST}};
static struct hw_world_node nodes[2] = {{.process_count = USERS}, {.process_count = 1, .ghost_count = 1}};

/* What this member tells the others each time, what they hear, and whether it met them otherwise. */
static int votes[8], vote_count, gathered, joined;
static bool has_other;

static void count_from_now(void) { is_counted = true; }

static int fake_allreduce(const void *own, void *all, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)type, (void)op, (void)comm;
    assert_int_equal(count, 1);
    votes[vote_count] = *(const int *)own;
    *(int *)all = votes[vote_count++] && has_other;
    return MPI_SUCCESS;
}

static int fake_allgather(const void *own, int size, MPI_Datatype type, void *all, int each, MPI_Datatype to,
                          MPI_Comm comm)
{
    (void)type, (void)each, (void)to, (void)comm;
    assert_int_equal(size, sizeof(struct hw_rma_offer));
    struct hw_rma_offer *offers = all;
    for (int i = 0; i < USERS; i++) {
        memcpy(&offers[i], own, sizeof offers[i]);
        offers[i].range_bytes = 4096;
    }
    gathered++;
    return MPI_SUCCESS;
}

/* The first that members do together once all have what they need; the test ends there. */
static int fake_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    (void)comm, (void)color, (void)key, (void)made;
    joined++;
    is_counted = false;
    return MPI_ERR_OTHER;
}

static int fake_call_errhandler(MPI_Comm comm, int code)
{
    (void)comm, (void)code;
    return MPI_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    static int user_ranks[] = {0, 1}, ghost_ranks[] = {GHOST};
    hw_world = (struct hw_world){.size = WORLD,
                                 .user_count = USERS,
                                 .node_count = 2,
                                 .ghost_count = 1,
                                 .processes = processes,
                                 .nodes = nodes,
                                 .own_node = nodes,
                                 .user_ranks = user_ranks,
                                 .ghost_ranks = ghost_ranks};
    hw_options.redirect = HW_OPTION_REDIRECT_ON;
    fake_group_install(0, USERS, user_ranks);
    fake_group.comparison = MPI_SIMILAR; /* not all: the window has communicators of its own */
    fake_group.told_group = count_from_now;
    hw_bottom.Allreduce = fake_allreduce;
    hw_bottom.Allgather = fake_allgather;
    hw_bottom.Comm_split = fake_split;
    hw_bottom.Comm_call_errhandler = fake_call_errhandler;
    return 0;
}

/* Fails the allocation of this number; returns what came of the window. */
static enum hw_status make_window(int failing)
{
    MPI_Win win;
    int rc = MPI_SUCCESS;
    vote_count = gathered = joined = allocations = 0;
    fails_at = failing;
    enum hw_status status = hw_rma_window_create_dynamic(HW_INFO_NULL, HW_COMM_WORLD, &win, &rc);
    is_counted = false;
    return status;
}

static void any_allocation_may_fail(void **state)
{
    (void)state;
    int in_first = 0, in_second = 0, failing = 0;
    has_other = true;
    for (; failing < ALLOCATIONS_MAX; failing++) {
        enum hw_status status = make_window(failing);
        if (allocations <= failing) /* none failed */
            break;
        assert_int_equal(status, HW_DECLINED);
        assert_int_equal(joined, 0);
        assert_true(vote_count == 1 || vote_count == 2);
        assert_int_equal(votes[vote_count - 1], 0);
        assert_int_equal(gathered, vote_count - 1);
        in_first += vote_count == 1;
        in_second += vote_count == 2;
    }
    assert_int_equal(in_first, 2); /* members, offers */
    assert_true(in_second > 5);
    assert_true(failing < ALLOCATIONS_MAX);
    assert_int_equal(vote_count, 2);
    assert_int_equal(joined, 1);
}

static void member_with_memory_declines_with_the_others(void **state)
{
    (void)state;
    has_other = false;
    assert_int_equal(make_window(ALLOCATIONS_MAX), HW_DECLINED);
    assert_int_equal(vote_count, 1);
    assert_int_equal(votes[0], 1);
    assert_int_equal(gathered + joined, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test(member_with_memory_declines_with_the_others),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
