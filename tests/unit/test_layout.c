/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: where the elements of a datatype lie, found by what an MPI packs. */
#include "engines/rma/operation/layout.h"

#include "real/constants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ELEMENTS_MAX = 8, ELEMENT = sizeof(double), KINDS = 4, FIRST_HANDLE = 0x0c000010 };

/* A datatype of doubles, by where they lie, in the order in which they are packed. */
struct kind {
    int count;
    MPI_Aint places[ELEMENTS_MAX];
    MPI_Aint extent;
};

enum { STRIDED, BACKWARDS, BELOW, SPREAD_FAR };

static const struct kind kinds[KINDS] = {
    [STRIDED] = {3, {0, 24, 48}, 72},
    [BACKWARDS] = {3, {48, 24, 0}, 56},
    [BELOW] = {4, {-16, 0, 8, 40}, 64},
    [SPREAD_FAR] = {3, {0, 70000, 300}, 70008}, /* more than two bytes tell */
};
static bool is_packing_refused;

static MPI_Datatype handle_of(int kind) { return (MPI_Datatype)(intptr_t)(FIRST_HANDLE + kind); }
static const struct kind *kind_of(MPI_Datatype type) { return &kinds[(intptr_t)type - FIRST_HANDLE]; }

static int type_size(MPI_Datatype type, MPI_Count *size)
{
    *size = (MPI_Count)kind_of(type)->count * ELEMENT;
    return MPI_SUCCESS;
}

static int type_extent(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    *lb = 0;
    *extent = type == HW_DOUBLE ? ELEMENT : kind_of(type)->extent;
    return MPI_SUCCESS;
}

static int type_true_extent(MPI_Datatype type, MPI_Count *lowest, MPI_Count *span)
{
    MPI_Count highest = ELEMENT;
    *lowest = 0;
    for (int i = 0; type != HW_DOUBLE && i < kind_of(type)->count; i++) {
        MPI_Count place = kind_of(type)->places[i];
        *lowest = place < *lowest ? place : *lowest;
        highest = place + ELEMENT > highest ? place + ELEMENT : highest;
    }
    *span = highest - *lowest;
    return MPI_SUCCESS;
}

static int pack(const void *from, int count, MPI_Datatype type, void *to, int bytes, int *position,
                MPI_Comm comm)
{
    (void)comm;
    assert_int_equal(count, 1);
    const struct kind *kind = kind_of(type);
    assert_true(bytes >= kind->count * ELEMENT);
    for (int i = 0; i < kind->count; i++)
        memcpy((char *)to + (size_t)i * ELEMENT, (const char *)from + kind->places[i], ELEMENT);
    *position += kind->count * ELEMENT;
    return is_packing_refused ? MPI_ERR_TYPE : MPI_SUCCESS;
}

static int begin(void **state)
{
    (void)state;
    hw_bottom.Type_size_x = type_size;
    hw_bottom.Type_get_extent_x = type_extent;
    hw_bottom.Type_get_true_extent_x = type_true_extent;
    hw_bottom.Pack = pack;
    is_packing_refused = false;
    return 0;
}

static void every_element_is_found(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        enum { COUNT = 3 };
        struct hw_rma_layout layout;
        assert_int_equal(hw_rma_layout_make(COUNT, handle_of(kind), ELEMENT, &layout), HW_OK);
        assert_int_equal(layout.group_count, kinds[kind].count);
        assert_int_equal(layout.count, COUNT * kinds[kind].count);
        for (MPI_Count i = 0; i < layout.count; i++) {
            MPI_Count group = i / kinds[kind].count, place = kinds[kind].places[i % kinds[kind].count];
            assert_int_equal(hw_rma_layout_place(&layout, i), group * kinds[kind].extent + place);
        }
        hw_rma_layout_free(&layout);
        assert_null(layout.places);
    }
}

static void elements_side_by_side_need_no_places(void **state)
{
    (void)state;
    struct hw_rma_layout layout;
    assert_int_equal(hw_rma_layout_make(7, HW_DOUBLE, ELEMENT, &layout), HW_OK);
    assert_null(layout.places);
    assert_int_equal(layout.count, 7);
    assert_int_equal(hw_rma_layout_place(&layout, 6), 6 * ELEMENT);
    hw_rma_layout_free(&layout);
}

static void what_is_not_known_is_said(void **state)
{
    (void)state;
    struct hw_rma_layout layout;
    assert_int_equal(hw_rma_layout_make(1, handle_of(STRIDED), ELEMENT - 1, &layout), HW_MPI);
    assert_int_equal(hw_rma_layout_make(1, handle_of(STRIDED), 0, &layout), HW_MPI);
    is_packing_refused = true;
    assert_int_equal(hw_rma_layout_make(1, handle_of(STRIDED), ELEMENT, &layout), HW_MPI);
    assert_null(layout.places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_element_is_found, begin),
        cmocka_unit_test_setup(elements_side_by_side_need_no_places, begin),
        cmocka_unit_test_setup(what_is_not_known_is_said, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
