/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: phases that a program names: nesting, limits, and what the record says of them. */
#include "profile/calls/phases.h"
#include "profile/record/counters.h"
#include "written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Empty if the list is absent. */
static char *written(void)
{
    struct hw_record_part phases = hw_phase_describe();
    return phases.write ? written_by(phases.write) : calloc(1, 1);
}

static void test_none(void **state)
{
    (void)state;
    char *text = written();
    assert_string_equal(text, "");
    free(text);
    assert_int_equal(hw_phase_end(), HW_PHASE_MISUSE);
    assert_int_equal(hw_phase_begin(NULL), HW_PHASE_MISUSE);
    assert_int_equal(hw_phase_begin(""), HW_PHASE_MISUSE);
}

/* What an inner phase counts is in the outer one too; a phase inside itself counts once. */
static void test_nesting(void **state)
{
    (void)state;
    assert_int_equal(hw_phase_begin("outer"), HW_PHASE_OK);
    HW_COUNT_ADD(tracked_p2p, 1);
    hw_phase_begin("inner");
    hw_phase_begin("outer");
    HW_COUNT_ADD(tracked_collective, 10);
    HW_COUNT_ADD(blocked_ns, 5);
    assert_int_equal(hw_phase_end(), HW_PHASE_OK);
    hw_phase_end();
    HW_COUNT_ADD(overlapped_ns, 7);
    hw_phase_end();
    HW_COUNT_ADD(started, 100);
    char *text = written();
    assert_non_null(strstr(text, "\"outer\", \"count\": 2"));
    assert_non_null(strstr(text, "\"tracked\": 11, \"blocked_ns\": 5, \"overlapped_ns\": 7"));
    assert_non_null(strstr(text, "\"tracked\": 10, \"blocked_ns\": 5, \"overlapped_ns\": 0"));
    free(text);
}

/* A long name is cut at a whole character, and names that are the same then are one phase. */
static void test_names(void **state)
{
    (void)state;
    char name[80];
    memset(name, 'x', sizeof name);
    memcpy(name + HW_PHASE_NAME_BYTES - 2, "\xc3\xa9y", 4);
    assert_int_equal(hw_phase_begin(name), HW_PHASE_OK);
    hw_phase_end();
    name[HW_PHASE_NAME_BYTES - 2] = '\0';
    hw_phase_begin(name);
    hw_phase_end();
    hw_phase_begin("a \"quoted\"\n name");
    char *text = written(); /* also what is open */
    char wanted[2 * sizeof name];
    snprintf(wanted, sizeof wanted, "\"%s\", \"count\": 2", name);
    assert_non_null(strstr(text, wanted));
    assert_non_null(strstr(text, "a \\\"quoted\\\"\\u000a name"));
    free(text);
    assert_int_equal(hw_phase_end_if("another"), HW_PHASE_MISUSE);
    assert_int_equal(hw_phase_end_if("a \"quoted\"\n name"), HW_PHASE_OK);
    assert_int_equal(hw_phase_end(), HW_PHASE_MISUSE);
}

static void test_limits(void **state)
{
    (void)state;
    int depth = 0;
    while (hw_phase_begin("deep") == HW_PHASE_OK)
        depth++;
    assert_int_equal(depth, HW_PHASE_DEPTH);
    while (depth-- > 0)
        assert_int_equal(hw_phase_end(), HW_PHASE_OK);
    int names = 0;
    for (char name[] = "!"; names < 2 * HW_PHASE_NAME_COUNT && hw_phase_begin(name) == HW_PHASE_OK;
         name[0]++) {
        hw_phase_end();
        names++;
    }
    assert_in_range(names, 1, HW_PHASE_NAME_COUNT);
    assert_int_equal(hw_phase_begin("one more"), HW_PHASE_FULL);
    assert_int_equal(hw_phase_begin("deep"), HW_PHASE_OK);
    assert_int_equal(hw_phase_end(), HW_PHASE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
