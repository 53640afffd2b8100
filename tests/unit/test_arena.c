/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the arena behind MPI_Alloc_mem: pieces do not overlap and keep what is written, whatever is
 * taken and given back; others see them through the file; what is given back leaves the file; addresses are
 * places while there is a range for them, and nobody else's; a child of fork has its own. */
#include "shm/arena.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

enum { FIRST = 3 * HW_ARENA_ALIGNMENT, KEPT_BYTES = 32 * 1024 * 1024 };
#define PART_BYTES (INT64_C(1) << 40)
#define RANGE_BYTES ((size_t)160 << 20)

static int file;

static int set_up(void **state)
{
    (void)state;
    file = memfd_create("test", MFD_CLOEXEC);
    return file >= 0 && ftruncate(file, FIRST + PART_BYTES) == 0 &&
                   hw_arena_open(file, FIRST, PART_BYTES) == HW_OK && hw_arena_reserve(RANGE_BYTES)
               ? 0
               : -1;
}

static size_t file_bytes(void)
{
    struct stat status;
    assert_int_equal(fstat(file, &status), 0);
    return (size_t)status.st_blocks * 512;
}

/* One byte of the file, as another process would see it. */
static unsigned char seen(int64_t place)
{
    unsigned char byte = 0;
    assert_int_equal(pread(file, &byte, 1, place), 1);
    return byte;
}

/* Whether nobody can read there. */
static bool is_nobodys(const char *address)
{
    int sink = memfd_create("sink", MFD_CLOEXEC);
    ssize_t written = write(sink, address, 1);
    bool is_refused = written < 0 && errno == EFAULT;
    close(sink);
    return is_refused;
}

/* First: no place was used yet. */
static void test_addresses_are_places(void **state)
{
    (void)state;
    struct hw_arena_range range = hw_arena_range();
    assert_int_equal(range.bytes, RANGE_BYTES);
    assert_true(is_nobodys(range.base - 1) && is_nobodys(range.base));
    assert_true(is_nobodys(range.base + range.bytes - 1) && is_nobodys(range.base + range.bytes));
    const size_t sizes[] = {8, 100000, 300, 5000000, 70000000};
    char *taken[5];
    for (int i = 0; i < 5; i++) {
        taken[i] = hw_arena_take(sizes[i], 1);
        assert_non_null(taken[i]);
        memset(taken[i], i + 1, sizes[i]);
        assert_int_equal(taken[i] - range.base, hw_arena_find(taken[i], sizes[i]) - FIRST);
        assert_int_equal(seen(FIRST + (taken[i] - range.base)), i + 1);
    }
    for (int i = 0; i < 5; i++)
        assert_true(hw_arena_give(taken[i]));
}

/* Beyond what is kept: it leaves the file and the process, but its addresses stay reserved. */
static void test_given_back_is_nobodys(void **state)
{
    (void)state;
    size_t bytes = KEPT_BYTES + HW_ARENA_ALIGNMENT;
    struct hw_arena_range range = hw_arena_range();
    char *memory = hw_arena_take(bytes, 1);
    assert_true(memory >= range.base && memory + bytes <= range.base + range.bytes);
    memset(memory, 1, bytes);
    assert_true(hw_arena_give(memory));
    assert_true(is_nobodys(memory) && is_nobodys(memory + bytes - 1));
    char *other = mmap(memory, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(other != MAP_FAILED);
    assert_true(other + bytes <= range.base || other >= range.base + range.bytes);
    munmap(other, bytes);
    assert_null(hw_arena_take((size_t)PART_BYTES - RANGE_BYTES / 2, 1)); /* refused as malloc is */
    assert_true(is_nobodys(memory));
}

/* What does not fit lies elsewhere, and what fits after it in the range again. */
static void test_beyond_the_range(void **state)
{
    (void)state;
    struct hw_arena_range range = hw_arena_range();
    char *large = hw_arena_take(RANGE_BYTES, 1);
    assert_non_null(large);
    assert_true(large + RANGE_BYTES <= range.base || large >= range.base + range.bytes);
    large[RANGE_BYTES - 1] = 5;
    assert_int_equal(seen(hw_arena_find(large + RANGE_BYTES - 1, 1)), 5);
    char *next = hw_arena_take(KEPT_BYTES + 1, 1);
    assert_non_null(next);
    assert_true(next >= range.base && next + KEPT_BYTES < range.base + range.bytes);
    next[0] = 6;
    assert_int_equal(seen(hw_arena_find(next, 1)), 6);
    assert_true(hw_arena_give(next) && hw_arena_give(large));
}

static void test_seen_through_the_file(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 64, 65, 4096, 65536, 65537, 300000, 5000000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t bytes = sizes[i];
        unsigned char *memory = hw_arena_take(bytes, 1);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 64, 0);
        memset(memory, (int)i + 1, bytes);
        int64_t place = hw_arena_find(memory, bytes);
        assert_true(place >= FIRST && place + (int64_t)bytes <= FIRST + PART_BYTES);
        assert_int_equal(seen(place), i + 1);
        assert_int_equal(seen(place + (int64_t)bytes - 1), i + 1);
        assert_int_equal(hw_arena_find(memory + bytes - 1, 1), place + (int64_t)bytes - 1);
        assert_int_equal(hw_arena_find(memory, (size_t)PART_BYTES), -1);
        assert_true(hw_arena_give(memory));
    }
}

static void test_aligned(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t alignment = 1; alignment <= page; alignment *= 2) {
        void *memory = hw_arena_take(24, alignment);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % alignment, 0);
        assert_true(hw_arena_give(memory));
    }
    assert_null(hw_arena_take(24, 2 * page));
}

static void test_not_ours(void **state)
{
    (void)state;
    int local = 0;
    char *small = hw_arena_take(200, 1), *large = hw_arena_take(200000, 1);
    assert_false(hw_arena_give(&local));
    assert_false(hw_arena_give(NULL));
    assert_false(hw_arena_give(small + 64));
    assert_false(hw_arena_give(large + 64));
    assert_int_equal(hw_arena_find(&local, sizeof local), -1);
    assert_int_equal(hw_arena_find(NULL, 1), -1);
    assert_true(hw_arena_give(small) && hw_arena_give(large));
    assert_false(hw_arena_give(small));
    assert_false(hw_arena_give(large));
    assert_int_equal(hw_arena_find(large, 1), -1);
}

static void test_too_much(void **state)
{
    (void)state;
    assert_null(hw_arena_take(SIZE_MAX, 1));
    assert_null(hw_arena_take((size_t)PART_BYTES * 2, 1));
}

/* As malloc does not, the file keeps nothing of what was given back, but for a part that may be used again.
 */
static void test_leaves_the_file(void **state)
{
    (void)state;
    size_t before = file_bytes(), bytes = (size_t)KEPT_BYTES * 2;
    char *memory = hw_arena_take(bytes, 1);
    assert_non_null(memory);
    memset(memory, 1, bytes);
    assert_true(file_bytes() >= before + bytes);
    assert_true(hw_arena_give(memory));
    assert_true(file_bytes() <= before);
    void *pieces[20];
    for (int i = 0; i < 20; i++) {
        pieces[i] = hw_arena_take(KEPT_BYTES / 8, 1);
        memset(pieces[i], 1, KEPT_BYTES / 8);
    }
    for (int i = 0; i < 20; i++)
        assert_true(hw_arena_give(pieces[i]));
    assert_true(file_bytes() <= before + KEPT_BYTES);
}

static void test_used_again(void **state)
{
    (void)state;
    char *first = hw_arena_take(1000000, 1);
    int64_t place = hw_arena_find(first, 1);
    assert_true(hw_arena_give(first));
    char *second = hw_arena_take(990000, 1);
    assert_int_equal(hw_arena_find(second, 1), place);
    assert_true(hw_arena_give(second));
}

/* Whether or not it was somebody's before. */
static void test_zeroed(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 4096, 65536, 70000, 300000, 5000000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int round = 0; round < 3; round++) {
            size_t bytes = sizes[i];
            unsigned char *memory = hw_arena_take_zeroed(bytes, 64);
            assert_non_null(memory);
            for (size_t at = 0; at < bytes; at++)
                assert_int_equal(memory[at], 0);
            memset(memory, 0xa5, bytes);
            assert_int_equal(seen(hw_arena_find(memory, bytes)), 0xa5);
            assert_true(hw_arena_give(memory));
        }
}

enum { SLOTS = 300, STEPS = 40000 };

struct slot {
    unsigned char *memory;
    size_t bytes;
    unsigned char mark;
};

static bool is_whole(const struct slot *slot)
{
    for (size_t i = 0; i < slot->bytes; i += 61)
        if (slot->memory[i] != slot->mark)
            return false;
    return slot->memory[slot->bytes - 1] == slot->mark;
}

/* Pieces of all sizes come and go; each holds what was written to it until it goes. */
static void *come_and_go(void *argument)
{
    struct slot slots[SLOTS] = {0};
    uint64_t dice = *(unsigned *)argument * UINT64_C(0x9E3779B97F4A7C15) + 1;
    intptr_t failures = 0;
    for (int step = 0; step < STEPS; step++) {
        dice ^= dice >> 12, dice ^= dice << 25, dice ^= dice >> 27;
        struct slot *slot = &slots[dice % SLOTS];
        if (slot->memory) {
            failures += !is_whole(slot) || !hw_arena_give(slot->memory);
            slot->memory = NULL;
            continue;
        }
        size_t scale = dice >> 60;
        slot->bytes = 1 + (dice >> 20) % (scale == 0 ? 150000 : scale < 4 ? 9000 : 300);
        slot->memory = hw_arena_take(slot->bytes, 1);
        slot->mark = (unsigned char)(dice >> 40);
        if (slot->memory == NULL)
            return (void *)-1;
        memset(slot->memory, slot->mark, slot->bytes);
    }
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].memory)
            failures += !is_whole(&slots[i]) || !hw_arena_give(slots[i].memory);
    return (void *)failures;
}

static void test_come_and_go(void **state)
{
    (void)state;
    pthread_t threads[2];
    unsigned seeds[3] = {11, 12, 13};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &seeds[i]), 0);
    assert_ptr_equal(come_and_go(&seeds[2]), (void *)0);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(threads[i], &result);
        assert_ptr_equal(result, (void *)0);
    }
    assert_true(file_bytes() <= 2 * KEPT_BYTES);
}

/* 0, or which of its expectations was wrong. */
static int use_as_child(unsigned char *small, unsigned char *large)
{
    if (small[0] != 1 || large[0] != 2 || large[199999] != 2)
        return 1;
    memset(small, 9, 200);
    memset(large, 9, 200000);
    if (hw_arena_take(100, 1) != NULL || hw_arena_find(large, 1) != -1 || hw_arena_range().bytes != 0)
        return 2;
    return hw_arena_give(large) && large[7] == 9 ? 0 : 3;
}

static void test_child_has_its_own(void **state)
{
    (void)state;
    unsigned char *small = hw_arena_take(200, 1), *large = hw_arena_take(200000, 1);
    int status = -1;
    memset(small, 1, 200);
    memset(large, 2, 200000);
    pid_t child = fork();
    if (child == 0)
        _exit(use_as_child(small, large));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(small[0], 1);
    assert_int_equal(large[0], 2);
    assert_int_equal(large[199999], 2);
    assert_true(hw_arena_give(small) && hw_arena_give(large));
}

/* Last: a program closed every descriptor that it does not know, and has another file in its place. */
static void test_descriptor_taken_away(void **state)
{
    (void)state;
    char *memory = hw_arena_take(200000, 1);
    assert_non_null(memory);
    int other = memfd_create("other", MFD_CLOEXEC);
    assert_true(other >= 0 && ftruncate(other, FIRST + PART_BYTES) == 0);
    assert_int_equal(dup2(other, file), file);
    assert_null(hw_arena_take(400000000, 1));
    memset(memory, 1, 200000);
    assert_true(hw_arena_give(memory));
    assert_int_equal(file_bytes(), 0);
    close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_are_places),
        cmocka_unit_test(test_given_back_is_nobodys),
        cmocka_unit_test(test_beyond_the_range),
        cmocka_unit_test(test_seen_through_the_file),
        cmocka_unit_test(test_aligned),
        cmocka_unit_test(test_not_ours),
        cmocka_unit_test(test_too_much),
        cmocka_unit_test(test_leaves_the_file),
        cmocka_unit_test(test_used_again),
        cmocka_unit_test(test_zeroed),
        cmocka_unit_test(test_come_and_go),
        cmocka_unit_test(test_child_has_its_own),
        cmocka_unit_test(test_descriptor_taken_away),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
