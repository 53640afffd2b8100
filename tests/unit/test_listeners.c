/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: descriptors that want to know of progress: told while they listen, never afterwards. */
#include "progress/listeners.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t count_of(int descriptor)
{
    uint64_t count = 0;
    return read(descriptor, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

static void test_told_while_listening(void **state)
{
    (void)state;
    int one = eventfd(0, EFD_NONBLOCK), two = eventfd(0, EFD_NONBLOCK);
    hw_listeners_tell();
    assert_false(hw_listeners_is_any());
    assert_int_equal(hw_listeners_add(one), HW_OK);
    assert_int_equal(hw_listeners_add(two), HW_OK);
    hw_listeners_tell();
    hw_listeners_tell();
    assert_true(hw_listeners_remove(one));
    hw_listeners_tell();
    assert_int_equal(count_of(one), 2);
    assert_int_equal(count_of(two), 3);
    assert_false(hw_listeners_remove(one));
    assert_true(hw_listeners_remove(two));
    hw_listeners_tell();
    assert_int_equal(count_of(two), 0);
    close(one);
    close(two);
}

/* A full eventfd, or one that is none, is nobody's trouble. */
static void test_odd_descriptors(void **state)
{
    (void)state;
    int full = eventfd(0, EFD_NONBLOCK);
    const uint64_t most = UINT64_MAX - 1;
    assert_int_equal(write(full, &most, sizeof most), sizeof most);
    hw_listeners_add(full);
    hw_listeners_add(-1);
    hw_listeners_tell();
    assert_true(count_of(full) == most);
    hw_listeners_remove(full);
    hw_listeners_remove(-1);
    close(full);
}

static void test_limit(void **state)
{
    (void)state;
    int descriptor = eventfd(0, EFD_NONBLOCK), count = 0;
    while (hw_listeners_add(descriptor) == HW_OK)
        count++;
    assert_int_equal(count, HW_LISTENER_COUNT);
    while (count-- > 0)
        assert_true(hw_listeners_remove(descriptor));
    assert_false(hw_listeners_is_any());
    close(descriptor);
}

static atomic_bool is_over;

static void *tell(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over))
        hw_listeners_tell();
    return NULL;
}

/* Another thread tells all the time; once removed, a descriptor stays as it is. */
static void test_threads(void **state)
{
    (void)state;
    pthread_t teller;
    pthread_create(&teller, NULL, tell, NULL);
    for (int i = 0; i < 200; i++) {
        int descriptor = eventfd(0, EFD_NONBLOCK);
        hw_listeners_add(descriptor);
        while (count_of(descriptor) == 0)
            continue;
        hw_listeners_remove(descriptor);
        count_of(descriptor);
        assert_int_equal(count_of(descriptor), 0);
        close(descriptor);
    }
    atomic_store(&is_over, true);
    pthread_join(teller, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told_while_listening),
        cmocka_unit_test(test_odd_descriptors),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
