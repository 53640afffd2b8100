/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a plan counts only if it packs what the MPI packs, and is used only where our way is clearly
 * shorter, by the better of two times each. The MPI and the clock are made up, so times are exact. */
#include "engines/pack/trial.h"

#include "base/clock.h"
#include "engines/pack/twin.h"
#include "real/real.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A datatype of four blocks. */
enum { BLOCKS = 4, LENGTH = 8, STRIDE = 16, SIZE = BLOCKS * LENGTH, EXTENT = BLOCKS * STRIDE, COUNT = 3 };
enum { MANY = 1 << 20, MOST_BYTES = 1024 * 1024, WIDE_STRIDE = 4 * MOST_BYTES };
#define GAPPED MPI_DOUBLE
#define DENSE MPI_BYTE

static uint64_t now_ns;
static uint64_t mpi_ns[2], dense_ns[2]; /* what a call takes, in turns */
static unsigned mpi_calls, dense_calls;
static int stride, packed_count; /* of the datatype, and how many of it were packed last */
static bool is_refused, is_backwards;
static uint64_t least_percent;

static struct hw_plan plan;
static struct hw_pack_twin twin = {.by = {{DENSE, SIZE}, {DENSE, SIZE}}};
static struct hw_packing_class tried;
static char memory[COUNT * EXTENT];

int clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){(time_t)(now_ns / HW_NS_PER_S), (long)(now_ns % HW_NS_PER_S)};
    return 0;
}

/* The place of a packed byte. */
static int place_of(int at)
{
    int block = is_backwards ? BLOCKS - 1 - at / LENGTH % BLOCKS : at / LENGTH % BLOCKS;
    return at / SIZE * BLOCKS * stride + block * stride + at % LENGTH;
}

static bool begin_call(MPI_Datatype datatype)
{
    now_ns += datatype == GAPPED ? mpi_ns[mpi_calls++ % 2] : dense_ns[dense_calls++ % 2];
    return !is_refused;
}

static int pack(const void *from, int count, MPI_Datatype datatype, void *to, int room, int *position,
                MPI_Comm comm)
{
    (void)comm;
    if (!begin_call(datatype))
        return MPI_ERR_TYPE;
    int bytes = datatype == GAPPED ? count * SIZE : count;
    assert_true(bytes <= room);
    packed_count = count;
    for (int i = 0; i < bytes; i++)
        ((char *)to)[i] = ((const char *)from)[datatype == GAPPED ? place_of(i) : i];
    *position = bytes;
    return MPI_SUCCESS;
}

static int unpack(const void *from, int room, int *position, void *to, int count, MPI_Datatype datatype,
                  MPI_Comm comm)
{
    (void)comm;
    if (!begin_call(datatype))
        return MPI_ERR_TYPE;
    int bytes = datatype == GAPPED ? count * SIZE : count;
    assert_int_equal(bytes, room);
    for (int i = 0; i < bytes; i++)
        ((char *)to)[datatype == GAPPED ? place_of(i) : i] = ((const char *)from)[i];
    *position = bytes;
    return MPI_SUCCESS;
}

static void make_plan(int of_stride)
{
    memset(&plan, 0, sizeof plan);
    hw_shape_block(LENGTH, &plan.shape);
    hw_shape_arena_begin(&plan.arena, 4096);
    assert_int_equal(hw_shape_repeat(&plan.arena, BLOCKS, of_stride, &plan.shape), HW_OK);
    plan.size = SIZE;
    plan.extent = BLOCKS * of_stride;
    atomic_init(&plan.state, HW_PLAN_USABLE);
    atomic_init(&plan.twin, &twin);
    stride = of_stride;
}

static int begin(void **state)
{
    (void)state;
    hw_bottom.Pack = pack;
    hw_bottom.Unpack = unpack;
    is_refused = is_backwards = false;
    least_percent = 125;
    mpi_calls = dense_calls = 0;
    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (char)(i * 7);
    make_plan(STRIDE);
    memset(&tried, 0, sizeof tried);
    return 0;
}

static int end(void **state)
{
    (void)state;
    hw_shape_arena_free(&plan.arena);
    return 0;
}

static struct hw_pack_given given_of(enum hw_shape_direction direction)
{
    return (struct hw_pack_given){direction, (uintptr_t)memory, COUNT, GAPPED};
}

/* What the MPI takes each time, and what it takes with the packed form. */
static bool wins(enum hw_shape_direction direction, const uint64_t mpi[2], const uint64_t dense[2])
{
    struct hw_pack_given given = given_of(direction);
    memcpy(mpi_ns, mpi, sizeof mpi_ns);
    memcpy(dense_ns, dense, sizeof dense_ns);
    mpi_calls = 1; /* the first is not timed: it packs what is unpacked then */
    return hw_pack_trial_wins(&given, &plan, least_percent, &tried);
}

static void plan_is_alike_if_it_packs_the_same(void **state)
{
    (void)state;
    struct hw_pack_given given = given_of(HW_SHAPE_PACK);
    assert_true(hw_pack_trial_is_alike(&given, &plan, true));
    is_backwards = true;
    assert_false(hw_pack_trial_is_alike(&given, &plan, true));
    is_backwards = false;
    is_refused = true;
    assert_false(hw_pack_trial_is_alike(&given, &plan, true));
}

static void without_data_the_buffer_is_left_alone(void **state)
{
    (void)state;
    const struct hw_pack_given given = {HW_SHAPE_UNPACK, 8, MANY, GAPPED}; /* nothing is there */
    assert_true(hw_pack_trial_is_alike(&given, &plan, false));
    assert_true(packed_count > 1);
    is_backwards = true;
    assert_false(hw_pack_trial_is_alike(&given, &plan, false));
}

static void what_spans_much_is_tried_with_data(void **state)
{
    (void)state;
    hw_shape_arena_free(&plan.arena);
    make_plan(WIDE_STRIDE);
    char *wide = calloc(BLOCKS, WIDE_STRIDE); /* room for one of them */
    assert_non_null(wide);
    for (int i = 0; i < SIZE; i++)
        wide[place_of(i)] = (char)(i * 7);
    const struct hw_pack_given given = {HW_SHAPE_UNPACK, (uintptr_t)wide, 1, GAPPED};
    assert_false(hw_pack_trial_is_alike(&given, &plan, false)); /* the program may have less */
    assert_true(hw_pack_trial_is_alike(&given, &plan, true));
    free(wide);
}

static void what_is_too_large_is_not_tried(void **state)
{
    (void)state;
    assert_true(hw_pack_trial_has_room(&plan));
    plan.shape.size = INT64_C(17) * MOST_BYTES;
    assert_false(hw_pack_trial_has_room(&plan));
}

static void ours_wins_if_it_is_clearly_shorter(void **state)
{
    (void)state;
    for (int way = HW_SHAPE_PACK; way <= HW_SHAPE_UNPACK; way++) {
        enum hw_shape_direction direction = (enum hw_shape_direction)way;
        assert_true(wins(direction, (uint64_t[]){1000, 1000}, (uint64_t[]){700, 700}));
        assert_false(wins(direction, (uint64_t[]){1000, 1000}, (uint64_t[]){850, 850}));
        assert_false(wins(direction, (uint64_t[]){1000, 1000}, (uint64_t[]){5000, 5000}));
        least_percent = 200;
        assert_true(wins(direction, (uint64_t[]){1000, 1000}, (uint64_t[]){450, 450}));
        assert_false(wins(direction, (uint64_t[]){1000, 1000}, (uint64_t[]){550, 550}));
        least_percent = 125;
    }
}

static void better_of_two_times_counts(void **state)
{
    (void)state;
    assert_true(wins(HW_SHAPE_PACK, (uint64_t[]){1000, 1000}, (uint64_t[]){9000, 700}));
    assert_int_equal(hw_atomic_load_relaxed(&tried.mpi_ns), 1001);
    assert_int_equal(hw_atomic_load_relaxed(&tried.headway_ns), 701);
    assert_int_equal(hw_atomic_load_relaxed(&tried.tried_bytes), COUNT * SIZE);
    assert_false(wins(HW_SHAPE_PACK, (uint64_t[]){9000, 500}, (uint64_t[]){700, 700}));
    assert_int_equal(hw_atomic_load_relaxed(&tried.mpi_ns), 501);
}

static void trial_of_a_receive_leaves_the_bytes(void **state)
{
    (void)state;
    char before[sizeof memory];
    memcpy(before, memory, sizeof before);
    assert_true(wins(HW_SHAPE_UNPACK, (uint64_t[]){1000, 1000}, (uint64_t[]){100, 100}));
    assert_true(dense_calls > 0);
    assert_memory_equal(memory, before, sizeof before);
}

static void nothing_is_learnt_where_the_mpi_refuses(void **state)
{
    (void)state;
    is_refused = true;
    assert_false(wins(HW_SHAPE_PACK, (uint64_t[]){1000, 1000}, (uint64_t[]){1, 1}));
    assert_int_equal(hw_atomic_load_relaxed(&tried.tried_bytes), 0);
}

static void trial_of_much_takes_a_part(void **state)
{
    (void)state;
    size_t bytes = (size_t)MOST_BYTES / SIZE * EXTENT;
    char *large = calloc(1, bytes);
    assert_non_null(large);
    struct hw_pack_given given = {HW_SHAPE_PACK, (uintptr_t)large, MANY, GAPPED};
    hw_pack_trial_wins(&given, &plan, least_percent, &tried);
    assert_int_equal(hw_atomic_load_relaxed(&tried.tried_bytes), MOST_BYTES);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plan_is_alike_if_it_packs_the_same, begin, end),
        cmocka_unit_test_setup_teardown(without_data_the_buffer_is_left_alone, begin, end),
        cmocka_unit_test_setup_teardown(what_is_too_large_is_not_tried, begin, end),
        cmocka_unit_test_setup_teardown(what_spans_much_is_tried_with_data, begin, end),
        cmocka_unit_test_setup_teardown(ours_wins_if_it_is_clearly_shorter, begin, end),
        cmocka_unit_test_setup_teardown(better_of_two_times_counts, begin, end),
        cmocka_unit_test_setup_teardown(trial_of_a_receive_leaves_the_bytes, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_learnt_where_the_mpi_refuses, begin, end),
        cmocka_unit_test_setup_teardown(trial_of_much_takes_a_part, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
