/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the locks a ghost keeps: who is granted what, in which order, and who may pass whom. */
#include "base/clock.h"
#include "ghost/locks.h"
#include "real/constants.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { GRANTS_MAX = 64, USERS = 4, FIRST_TAG = 1024 };

/* Grants in the order in which they were sent: to whom, with which tag. */
static struct {
    int origin, tag;
} grants[GRANTS_MAX];
static int grant_count;

static int note_grant(const void *buffer, int count, MPI_Datatype type, int destination, int tag,
                      MPI_Comm comm)
{
    (void)buffer;
    (void)type;
    (void)comm;
    assert_int_equal(count, 0);
    assert_true(grant_count < GRANTS_MAX);
    grants[grant_count].origin = destination;
    grants[grant_count++].tag = tag;
    return MPI_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    hw_bottom.Send = note_grant;
    hw_world.user_count = USERS;
    grant_count = 0;
    return 0;
}

static void tell(int origin, int tag, uint64_t id, int target, enum hw_ghost_lock lock)
{
    struct hw_ghost_command command = {.tag = tag, .grant_tag = FIRST_TAG + origin, .id = id};
    command.words[HW_GHOST_LOCK_WORD_TARGET] = target;
    command.words[HW_GHOST_LOCK_WORD_KIND] = (int32_t)lock;
    hw_ghost_locks_service.obey(&command, origin);
}

static void ask(int origin, uint64_t id, int target, enum hw_ghost_lock lock)
{
    tell(origin, HW_GHOST_TAG_LOCK, id, target, lock);
}

static void ask_several(int origin, uint64_t id, int target, uint64_t more)
{
    struct hw_ghost_command command = {
        .tag = HW_GHOST_TAG_LOCK, .grant_tag = FIRST_TAG + origin, .id = id, .words = {target}};
    command.words[HW_GHOST_LOCK_WORD_KIND] = HW_GHOST_LOCK_SHARED;
    command.words[HW_GHOST_LOCK_WORD_MORE] = (int32_t)(uint32_t)more;
    command.words[HW_GHOST_LOCK_WORD_MORE + 1] = (int32_t)(uint32_t)(more >> 32);
    hw_ghost_locks_service.obey(&command, origin);
}

static void release(uint64_t id, int target)
{
    tell(0, HW_GHOST_TAG_UNLOCK, id, target, HW_GHOST_LOCK_SHARED);
}

static void assert_granted(int count, int last_origin)
{
    assert_int_equal(grant_count, count);
    assert_int_equal(grants[count - 1].origin, last_origin);
    assert_int_equal(grants[count - 1].tag, FIRST_TAG + last_origin);
}

static void an_exclusive_lock_is_one_processes(void **state)
{
    (void)state;
    ask(0, 1, 0, HW_GHOST_LOCK_EXCLUSIVE);
    assert_granted(1, 0);
    ask(1, 1, 0, HW_GHOST_LOCK_EXCLUSIVE);
    ask(2, 1, 0, HW_GHOST_LOCK_SHARED);
    assert_granted(1, 0);
    release(1, 0);
    assert_granted(2, 1);
    release(1, 0);
    assert_granted(3, 2);
    release(1, 0);
}

static void shared_locks_are_granted_at_once(void **state)
{
    (void)state;
    for (int origin = 0; origin < USERS; origin++)
        ask(origin, 1, 0, HW_GHOST_LOCK_SHARED);
    assert_granted(USERS, USERS - 1);
    for (int origin = 0; origin < USERS; origin++)
        release(1, 0);
    ask(0, 1, 0, HW_GHOST_LOCK_EXCLUSIVE);
    assert_granted(USERS + 1, 0);
    release(1, 0);
}

/* Nobody starves: behind an exclusive request shared ones wait, too. */
static void requests_are_granted_in_their_order(void **state)
{
    (void)state;
    ask(0, 1, 0, HW_GHOST_LOCK_SHARED);
    ask(1, 1, 0, HW_GHOST_LOCK_EXCLUSIVE);
    ask(2, 1, 0, HW_GHOST_LOCK_SHARED);
    ask(3, 1, 0, HW_GHOST_LOCK_SHARED);
    assert_granted(1, 0);
    release(1, 0);
    assert_granted(2, 1);
    release(1, 0);
    assert_int_equal(grant_count, 4);
    assert_int_equal(grants[2].origin, 2);
    assert_int_equal(grants[3].origin, 3);
    release(1, 0);
    release(1, 0);
}

static void targets_and_windows_have_locks_of_their_own(void **state)
{
    (void)state;
    ask(0, 1, 0, HW_GHOST_LOCK_EXCLUSIVE);
    ask(1, 1, 1, HW_GHOST_LOCK_EXCLUSIVE);
    ask(2, 2, 0, HW_GHOST_LOCK_EXCLUSIVE);
    ask(3, UINT64_MAX, 0, HW_GHOST_LOCK_EXCLUSIVE);
    assert_granted(4, 3);
    release(1, 0);
    release(1, 1);
    release(2, 0);
    release(UINT64_MAX, 0);
    /* A release too many is said, and does no harm. */
    release(1, 0);
    assert_int_equal(grant_count, 4);
}

/* One grant, when the last is held; meanwhile none is held behind the one that is waited for. */
static void several_are_taken_in_their_order(void **state)
{
    (void)state;
    const uint64_t more = UINT64_C(1) << 1 | UINT64_C(1) << 63;
    ask(0, 1, 5, HW_GHOST_LOCK_EXCLUSIVE);
    ask_several(1, 1, 3, more); /* 3, 5 and 67 */
    ask(2, 1, 4, HW_GHOST_LOCK_EXCLUSIVE);
    ask(0, 1, 67, HW_GHOST_LOCK_EXCLUSIVE);
    assert_granted(3, 0);
    ask(3, 1, 3, HW_GHOST_LOCK_EXCLUSIVE);
    assert_int_equal(grant_count, 3); /* the first of them is held */
    release(1, 5);
    assert_int_equal(grant_count, 3);
    release(1, 67);
    assert_granted(4, 1);
    release(1, 5);
    release(1, 67);
    release(1, 3);
    assert_granted(5, 3);
    release(1, 3);
    release(1, 4);
}

/* Whoever holds a shared lock may wait until another has one, whatever a third one asks for in between. */
static void who_waits_long_passes_an_exclusive_request(void **state)
{
    (void)state;
    ask(0, 1, 0, HW_GHOST_LOCK_SHARED);
    ask(1, 1, 0, HW_GHOST_LOCK_EXCLUSIVE);
    ask(2, 1, 0, HW_GHOST_LOCK_SHARED);
    assert_granted(1, 0);
    while (grant_count == 1)
        hw_ghost_locks_service.poll();
    assert_granted(2, 2);
    release(1, 0);
    assert_int_equal(grant_count, 2);
    release(1, 0);
    assert_granted(3, 1);
    release(1, 0);
}

static void nobody_passes_who_holds_an_exclusive_lock(void **state)
{
    (void)state;
    ask(0, 1, 0, HW_GHOST_LOCK_EXCLUSIVE);
    ask(1, 1, 0, HW_GHOST_LOCK_SHARED);
    uint64_t began_ns = hw_clock_now_ns();
    while (hw_clock_now_ns() - began_ns < 50 * HW_NS_PER_MS)
        hw_ghost_locks_service.poll();
    assert_granted(1, 0);
    release(1, 0);
    assert_granted(2, 1);
    release(1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_exclusive_lock_is_one_processes, begin),
        cmocka_unit_test_setup(shared_locks_are_granted_at_once, begin),
        cmocka_unit_test_setup(requests_are_granted_in_their_order, begin),
        cmocka_unit_test_setup(targets_and_windows_have_locks_of_their_own, begin),
        cmocka_unit_test_setup(several_are_taken_in_their_order, begin),
        cmocka_unit_test_setup(who_waits_long_passes_an_exclusive_request, begin),
        cmocka_unit_test_setup(nobody_passes_who_holds_an_exclusive_lock, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
