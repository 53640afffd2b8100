/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the lock of accumulates between processes: it excludes, the ghost and those that hammer on it
 * both get their turns, a holder that died is replaced. */
#include "ghost/apply_lock.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { USERS = 3, TURNS = 20000, GHOST_TURNS = 2000 };

struct shared {
    struct hw_ghost_apply_lock lock;
    uint64_t sum, mirror; /* under the lock, always the same */
    _Atomic uint32_t finished;
};

static struct shared *shared;
static int progress_count;

static void note_progress(void) { progress_count++; }

/* Not atomic: two at once lose a turn, or see the two differ. */
static bool add_one(void)
{
    bool is_whole = shared->sum == shared->mirror;
    shared->sum++;
    __asm__ volatile("" ::: "memory");
    shared->mirror++;
    return is_whole;
}

static int use_as_user(uint32_t place)
{
    bool is_right = true;
    for (int i = 0; i < TURNS; i++) {
        bool has_waited = hw_ghost_apply_lock_take(&shared->lock, place, note_progress);
        is_right = add_one() && is_right;
        hw_ghost_apply_lock_give(&shared->lock, has_waited);
    }
    hw_atomic_add_seq_cst(&shared->finished, 1);
    return is_right ? 0 : 1;
}

static uint64_t use_as_ghost(void)
{
    uint64_t turns = 0;
    for (; turns < GHOST_TURNS || hw_atomic_load_seq_cst(&shared->finished) < USERS; turns++) {
        hw_ghost_apply_lock_ghost_take(&shared->lock);
        assert_true(add_one());
        hw_ghost_apply_lock_ghost_give(&shared->lock);
    }
    return turns;
}

static pid_t start(uint32_t place, int (*run)(uint32_t place))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(run(place));
    return pid;
}

static void expect_success(pid_t pid)
{
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int make_shared(void **state)
{
    (void)state;
    void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = memory == MAP_FAILED ? NULL : memory;
    return shared ? 0 : -1;
}

static int drop_shared(void **state)
{
    (void)state;
    return munmap(shared, sizeof *shared);
}

static void nothing_is_lost(void **state)
{
    (void)state;
    pid_t users[USERS];
    for (uint32_t i = 0; i < USERS; i++)
        users[i] = start(i + 1, use_as_user);
    uint64_t turns = use_as_ghost();
    for (int i = 0; i < USERS; i++)
        expect_success(users[i]);
    assert_int_equal(shared->sum, USERS * TURNS + turns);
    assert_int_equal(shared->mirror, shared->sum);
    assert_int_equal(shared->lock.word, 0);
    assert_int_equal(shared->lock.wanted, 0);
}

/* Only user processes, as while the ghost sleeps. */
static void users_alone(void **state)
{
    (void)state;
    pid_t users[USERS];
    for (uint32_t i = 0; i < USERS; i++)
        users[i] = start(i + 1, use_as_user);
    for (int i = 0; i < USERS; i++)
        expect_success(users[i]);
    assert_int_equal(shared->sum, USERS * TURNS);
    assert_int_equal(shared->lock.word, 0);
}

static int take_and_die(uint32_t place)
{
    hw_ghost_apply_lock_take(&shared->lock, place, note_progress);
    return 0;
}

/* The place on the node of the process that dies is 0; the ghost must get the lock, then a user process. */
static void dead_holder_is_replaced(void **state)
{
    (void)state;
    pid_t pids[2] = {0, getpid()};
    hw_world.node_pids = pids;
    for (int round = 0; round < 2; round++) {
        pids[0] = start(1, take_and_die);
        expect_success(pids[0]);
        assert_int_equal(shared->lock.word & HW_GHOST_APPLY_HOLDER, 1);
        if (round == 0) {
            hw_ghost_apply_lock_ghost_take(&shared->lock);
            hw_ghost_apply_lock_ghost_give(&shared->lock);
        } else {
            bool has_waited = hw_ghost_apply_lock_take(&shared->lock, 2, note_progress);
            assert_true(has_waited);
            assert_true(progress_count > 0);
            hw_ghost_apply_lock_give(&shared->lock, has_waited);
        }
        assert_int_equal(shared->lock.word, 0);
    }
    hw_world.node_pids = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_lost, make_shared, drop_shared),
        cmocka_unit_test_setup_teardown(users_alone, make_shared, drop_shared),
        cmocka_unit_test_setup_teardown(dead_holder_is_replaced, make_shared, drop_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
