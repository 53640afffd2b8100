/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: waiting for events sleeps, where the kernel refuses the call that takes nanoseconds as well:
 * containers answer EPERM to what they do not know. */
#include "progress/events.h"

#include "base/clock.h"
#include "forbidden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

static void wait_sleeps(void **state)
{
    (void)state;
    struct hw_events events;
    assert_int_equal(hw_events_open(&events), HW_OK);
    uint64_t began_ns = hw_clock_now_ns();
    assert_int_equal(hw_events_wait(&events, 10 * HW_NS_PER_MS), HW_EVENT_NONE);
    assert_true(hw_clock_now_ns() - began_ns >= 9 * HW_NS_PER_MS);
    hw_events_close(&events);
}

static void wait_sleeps_where_it_is_forbidden(void **state)
{
    if (!forbid(SYS_epoll_pwait2))
        skip();
    wait_sleeps(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait_sleeps),
        cmocka_unit_test(wait_sleeps_where_it_is_forbidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
