/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: an agent in a hurry is a thread of SCHED_RR, and no longer one afterwards; where the kernel
 * forbids it nothing changes, and it can be asked before. */
#include "base/agent.h"

#include "forbidden.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

static void who_may_hurries_for_a_while(void **state)
{
    (void)state;
    int before = sched_getscheduler(0);
    bool may = hw_agent_may_hurry();
    assert_int_equal(sched_getscheduler(0), before);
    assert_int_equal(hw_agent_hurry(true), may);
    assert_int_equal(sched_getscheduler(0), may ? SCHED_RR : before);
    assert_true(hw_agent_hurry(false));
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
}

static void *without_the_call(void *has_filter)
{
    *(bool *)has_filter = forbid(SYS_sched_setattr);
    assert_false(*(bool *)has_filter && (hw_agent_may_hurry() || hw_agent_hurry(true)));
    assert_int_equal(sched_getscheduler(0), SCHED_OTHER);
    return NULL;
}

static void who_may_not_goes_on(void **state)
{
    (void)state;
    pthread_t thread;
    bool has_filter = false;
    assert_int_equal(pthread_create(&thread, NULL, without_the_call, &has_filter), 0);
    pthread_join(thread, NULL);
    if (!has_filter)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_hurries_for_a_while),
        cmocka_unit_test(who_may_not_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
