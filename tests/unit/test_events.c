/* Description: waiting for events sleeps, where the kernel refuses the call that takes nanoseconds as well:
 * containers answer EPERM to what they do not know. */
#include "progress/events.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
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

static void forbid_nanoseconds(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        skip();
}

static void wait_sleeps_where_it_is_forbidden(void **state)
{
    forbid_nanoseconds();
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
