/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a plan of a datatype that is freed while somebody holds it stays that datatype's to the end,
 * and then its memory is used for another one. */
#include "objects/datatype/plan.h"
#include "real/table.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SIZE = 1000, ROUNDS = 20000, TAKERS = 2, TYPES = 3 };

/* The n-th handle of derived datatypes, which have n times SIZE bytes. */
static MPI_Datatype derived(int n)
{
    return (MPI_Datatype)((uintptr_t)0x8c000000 + 16 * (uintptr_t)n); /* NOLINT(performance-no-int-to-ptr) */
}

static int number_of(MPI_Datatype type) { return (int)(((uintptr_t)type & 0xffff) / 16); }

static int type_size(MPI_Datatype type, MPI_Count *size)
{
    *size = (MPI_Count)number_of(type) * SIZE;
    return MPI_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    hw_real_pretend_loaded();
    hw_bottom.Type_size_x = type_size;
    return 0;
}

static void end_it(int n)
{
    MPI_Datatype type = derived(n);
    hw_plan_forget(&type);
}

static struct hw_plan *noted(int n)
{
    hw_plan_note(derived(n));
    struct hw_plan *plan = hw_plan_take(derived(n));
    assert_non_null(plan);
    return plan;
}

static bool is_of(const struct hw_plan *plan, int n)
{
    return plan->handle == (uintptr_t)derived(n) && hw_plan_size(plan) == (int64_t)n * SIZE;
}

static void plan_outlives_its_entry(void **state)
{
    (void)state;
    assert_null(hw_plan_take(derived(1)));
    struct hw_plan *first = noted(1);
    assert_ptr_equal(hw_plan_find(derived(1)), first);
    end_it(1);
    assert_null(hw_plan_find(derived(1)));
    assert_null(hw_plan_take(derived(1)));
    struct hw_plan *second = noted(2), *again = noted(1);
    assert_ptr_not_equal(second, first);
    assert_ptr_not_equal(again, first);
    assert_true(is_of(first, 1) && is_of(second, 2) && is_of(again, 1));
    hw_plan_release(first);
    struct hw_plan *third = noted(3);
    assert_ptr_equal(third, first); /* its memory */
    assert_true(is_of(third, 3) && is_of(again, 1));
    hw_plan_release(second);
    hw_plan_release(again);
    hw_plan_release(third);
    hw_plan_forget_all();
    assert_int_equal(hw_atomic_load_relaxed(&hw_plan_count), 0);
}

static atomic_bool is_over;
static atomic_int wrong, taken;

static void *take_often(void *unused)
{
    (void)unused;
    while (!hw_atomic_load_relaxed(&is_over))
        for (int n = 1; n <= TYPES; n++) {
            struct hw_plan *plan = hw_plan_take(derived(n));
            if (plan == NULL)
                continue;
            hw_atomic_add_relaxed(&taken, 1);
            if (!is_of(plan, n))
                hw_atomic_add_relaxed(&wrong, 1);
            hw_plan_release(plan);
        }
    return NULL;
}

/* Threads use a handle of which another one frees its own reference (MPI_Type_get_contents). */
static void nobody_gets_the_plan_of_another(void **state)
{
    (void)state;
    pthread_t takers[TAKERS];
    hw_atomic_store_relaxed(&is_over, false);
    for (int i = 0; i < TAKERS; i++)
        assert_int_equal(pthread_create(&takers[i], NULL, take_often, NULL), 0);
    for (int i = 0; i < ROUNDS || hw_atomic_load_relaxed(&taken) == 0; i++)
        for (int n = 1; n <= TYPES; n++) {
            hw_plan_note(derived(n));
            end_it(n);
        }
    hw_atomic_store_relaxed(&is_over, true);
    for (int i = 0; i < TAKERS; i++)
        pthread_join(takers[i], NULL);
    assert_int_equal(hw_atomic_load_relaxed(&wrong), 0);
    assert_int_equal(hw_atomic_load_relaxed(&hw_plan_count), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(plan_outlives_its_entry, begin),
        cmocka_unit_test_setup(nobody_gets_the_plan_of_another, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
