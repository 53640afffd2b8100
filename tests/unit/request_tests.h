/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the pending tracker share: made-up handles and a look at the counters. */
#ifndef HW_TESTS_REQUEST_TESTS_H
#define HW_TESTS_REQUEST_TESTS_H

#include "objects/request.h"
#include "real/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Handles far apart, as the addresses of an MPI's objects are. */
enum { HANDLE_BASE = 0x10000, HANDLE_STEP = 0x150 };

static inline MPI_Request handle_of(int number)
{
    return (MPI_Request)(uintptr_t)(HANDLE_BASE + number * HANDLE_STEP);
}

static inline int number_of(MPI_Request handle)
{
    return ((int)(uintptr_t)handle - HANDLE_BASE) / HANDLE_STEP;
}

static inline uint32_t random_next(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

static inline int start_empty(void **state)
{
    (void)state;
    hw_request_fork_child();
    return 0;
}

#define assert_counts(known, pending, outstanding)                                                           \
    do {                                                                                                     \
        assert_int_equal(atomic_load(&hw_request_known), known);                                             \
        assert_int_equal(atomic_load(&hw_request_pending), pending);                                         \
        assert_int_equal(atomic_load(&hw_request_outstanding), outstanding);                                 \
    } while (0)

/* How many are followed; their *bytes. */
static inline int start(int count, const MPI_Request *requests, uint64_t *bytes)
{
    struct hw_request_started started = hw_request_start(count, requests);
    *bytes = started.bytes;
    return started.count;
}

#endif
