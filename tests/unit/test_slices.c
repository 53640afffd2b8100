/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: time in MPI by slices of the run; the slices become longer as the run does, the sum stays. */
#include "profile/calls/slices.h"
#include "written.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LENGTH = 1 << 24, START = 1000 };

static struct hw_slices_share mine;

/* Length of a slice, and the time in each; returns how many. */
static int read_slices(uint64_t now_ns, unsigned long long *length, unsigned long long inside[64])
{
    hw_slices_flush(&mine);
    char *text = written_object(HW_RECORD_SLICES, hw_slices_describe(now_ns));
    assert_int_equal(sscanf(text, "{\"length_ns\": %llu, \"mpi_ns\": [", length), 1);
    int count = 0;
    for (char *at = strchr(text, '[') + 1; *at && *at != ']' && count < 64; at += *at == ',')
        inside[count++] = strtoull(at, &at, 10);
    free(text);
    return count;
}

static void call_is_divided_where_slices_meet(void **state)
{
    (void)state;
    unsigned long long length, inside[64] = {0};
    hw_slices_begin(START);
    hw_slices_add(&mine, START + LENGTH / 2, LENGTH / 4);
    hw_slices_add(&mine, START + 3 * LENGTH + 7, 2 * LENGTH);
    hw_slices_add(&mine, START + 3 * LENGTH + 50, 11); /* both in the slice this thread is in */
    hw_slices_add(&mine, START + 3 * LENGTH + 90, 22);
    assert_int_equal(read_slices(START + 4 * LENGTH, &length, inside), 5);
    assert_int_equal(length, LENGTH);
    static const unsigned long long wanted[] = {LENGTH / 4, LENGTH - 7, LENGTH, 7 + 33, 0};
    for (int i = 0; i < 5; i++)
        assert_int_equal(inside[i], wanted[i]);
}

static void slices_double_when_used_up(void **state)
{
    (void)state;
    unsigned long long length, inside[64] = {0};
    uint64_t end_ns = START + (uint64_t)200 * LENGTH;
    hw_slices_add(&mine, end_ns, 10);
    int count = read_slices(end_ns, &length, inside);
    assert_int_equal(length, 4 * LENGTH);
    assert_int_equal(count, 51);
    assert_int_equal(inside[0], LENGTH / 4 + LENGTH - 7 + LENGTH + 7 + 33);
    assert_int_equal(inside[49], 10);
    assert_int_equal(inside[50], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_is_divided_where_slices_meet),
        cmocka_unit_test(slices_double_when_used_up),
    };
    return cmocka_run_group_tests_name("slices", tests, NULL, NULL);
}
