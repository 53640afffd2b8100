/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: an accumulate over the segments of two ghosts: each element is applied once, by the ghost that
 * has its place, whatever the datatypes. */
#include "engines/rma/operation/pieces.h"

#include "engines/rma/window/spread.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/table.h"
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GHOSTS = 2, NODE_BYTES = 2 * HW_RMA_ALIGNMENT, ELEMENT = sizeof(int), RUNS_MAX = 16, TYPES_MAX = 8 };
/* Datatypes of the program beside HW_INT: two elements, far apart or the later one first. */
enum { FIRST_HANDLE = 0x0c000100, GAPS = 0, TURNED, FIRST_MADE };
/* Of the datatypes that the pieces make. */
struct made {
    int count, lengths[RUNS_MAX];
    MPI_Aint places[RUNS_MAX];
};

static const MPI_Aint places_of[FIRST_MADE][2] = {[GAPS] = {0, 12}, [TURNED] = {8, 0}};
static const MPI_Aint extent_of[FIRST_MADE] = {[GAPS] = 20, [TURNED] = 12};

static struct hw_world_process processes[] = {
    {.node = 0}, {.node = 0, .user_rank = -1}, {.node = 0, .user_rank = -1}};
static int ghosts[GHOSTS] = {1, 2};
static MPI_Aint node_bytes[1] = {NODE_BYTES};
static struct hw_rma_target targets[1];
static struct hw_rma_window window;

static struct made made[TYPES_MAX];
static int made_count, alive_count, call_count;
static int memory[GHOSTS][NODE_BYTES / ELEMENT]; /* what each ghost adds, by place */
static int failing_ghost, raised;

static int kind_of(MPI_Datatype type) { return (int)((intptr_t)type - FIRST_HANDLE); }
static MPI_Datatype handle_of(int kind) { return (MPI_Datatype)(intptr_t)(FIRST_HANDLE + kind); }

static int type_size(MPI_Datatype type, MPI_Count *size)
{
    *size = type == HW_INT ? ELEMENT : 2 * ELEMENT;
    if (type != HW_INT && kind_of(type) >= FIRST_MADE) {
        *size = 0;
        for (int i = 0; i < made[kind_of(type) - FIRST_MADE].count; i++)
            *size += made[kind_of(type) - FIRST_MADE].lengths[i] * ELEMENT;
    }
    return MPI_SUCCESS;
}

static int type_extent(MPI_Datatype type, MPI_Count *lb, MPI_Count *extent)
{
    *lb = 0;
    *extent = type == HW_INT ? ELEMENT : extent_of[kind_of(type)];
    return MPI_SUCCESS;
}

static int pack(const void *from, int count, MPI_Datatype type, void *to, int bytes, int *position,
                MPI_Comm comm)
{
    (void)comm, (void)count, (void)bytes;
    for (int i = 0; i < 2; i++)
        memcpy((char *)to + (size_t)i * ELEMENT, (const char *)from + places_of[kind_of(type)][i], ELEMENT);
    *position += 2 * ELEMENT;
    return MPI_SUCCESS;
}

static int type_envelope(MPI_Datatype type, int *ints, int *aints, int *types, int *combiner)
{
    *ints = *aints = 0;
    *types = type != HW_INT;
    *combiner = type == HW_INT ? MPI_COMBINER_NAMED : MPI_COMBINER_DUP;
    return MPI_SUCCESS;
}

static int type_contents(MPI_Datatype type, int ints, int aints, int count, int *numbers, MPI_Aint *places,
                         MPI_Datatype *inner)
{
    (void)type, (void)ints, (void)aints, (void)count, (void)numbers, (void)places;
    inner[0] = HW_INT;
    return MPI_SUCCESS;
}

static int create(int count, const int *lengths, const MPI_Aint *places, MPI_Datatype element,
                  MPI_Datatype *type)
{
    assert_true(count <= RUNS_MAX && made_count < TYPES_MAX && element == HW_INT);
    struct made *one = &made[made_count];
    one->count = count;
    memcpy(one->lengths, lengths, (size_t)count * sizeof *lengths);
    memcpy(one->places, places, (size_t)count * sizeof *places);
    *type = handle_of(FIRST_MADE + made_count++);
    alive_count++;
    return MPI_SUCCESS;
}

static int commit(MPI_Datatype *type) { return type ? MPI_SUCCESS : MPI_ERR_TYPE; }

static int type_free(MPI_Datatype *type)
{
    alive_count--;
    *type = HW_DATATYPE_NULL;
    return MPI_SUCCESS;
}

/* The places of a made datatype's elements, in its order. */
static int list_places(MPI_Datatype type, MPI_Aint *places)
{
    const struct made *one = &made[kind_of(type) - FIRST_MADE];
    int count = 0;
    for (int run = 0; run < one->count; run++)
        for (int i = 0; i < one->lengths[run]; i++)
            places[count++] = one->places[run] + (MPI_Aint)i * ELEMENT;
    return count;
}

static int accumulate(const void *origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint disp,
                      int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win win)
{
    MPI_Aint from[RUNS_MAX] = {0}, to[RUNS_MAX] = {0};
    (void)op, (void)win;
    assert_int_equal(origin_count, 1);
    assert_int_equal(target_count, 1);
    int count = list_places(target_type, to);
    assert_int_equal(list_places(origin_type, from), count);
    call_count++;
    for (int i = 0; i < count && rank != failing_ghost; i++)
        memory[rank][(disp + to[i]) / ELEMENT] += *(const int *)((const char *)origin + from[i]);
    return rank == failing_ghost ? MPI_ERR_RANK : MPI_SUCCESS;
}

static int call_errhandler(MPI_Win win, int code)
{
    (void)win;
    raised = code;
    return MPI_SUCCESS;
}

/* Of this MPI, MPI_Type_get_envelope_c is missing. */
static void pretend_loaded(void)
{
    hw_real_pretend_loaded();
#ifdef HW_HAVE_Type_get_envelope_c
    size_t index = offsetof(struct hw_real_table, Type_get_envelope_c) / sizeof(void *);
    ((void **)&hw_bottom)[index] = hw_real_missing_function(index);
#endif
}

static int begin(void **state)
{
    (void)state;
    pretend_loaded();
    hw_world.processes = processes;
    hw_world.node_count = 1;
    hw_bottom.Type_size_x = type_size;
    hw_bottom.Type_get_extent_x = hw_bottom.Type_get_true_extent_x = type_extent;
    hw_bottom.Pack = pack;
    hw_bottom.Type_get_envelope = type_envelope;
    hw_bottom.Type_get_contents = type_contents;
    hw_bottom.Type_create_hindexed = create;
    hw_bottom.Type_commit = commit;
    hw_bottom.Type_free = type_free;
    hw_real.Accumulate = accumulate;
    hw_real.Win_call_errhandler = call_errhandler;
    static struct hw_rma_sent sent[GHOSTS];
    window = (struct hw_rma_window){
        .ghost_count = GHOSTS, .ghosts = ghosts, .sent = sent, .generation = 1, .targets = targets};
    targets[0] = (struct hw_rma_target){.node = 0, .ghost = 0};
    assert_true(hw_rma_spread_make(&window, HW_OPTION_GHOST_BINDING_SEGMENT, node_bytes));
    memset(memory, 0, sizeof memory);
    made_count = alive_count = call_count = raised = 0;
    failing_ghost = -1;
    return 0;
}

static int end(void **state)
{
    (void)state;
    hw_rma_spread_free(&window);
    return 0;
}

/* `count` of the datatypes, the target's from `disp` on: element i of the origin is i + 1. */
static int add(MPI_Count count, MPI_Datatype origin_type, MPI_Datatype target_type, MPI_Aint disp)
{
    int values[32] = {0};
    MPI_Count in_one = origin_type == HW_INT ? 1 : 2, target_in_one = target_type == HW_INT ? 1 : 2;
    for (MPI_Count i = 0; i < count; i++) {
        MPI_Aint place = origin_type == HW_INT ? (MPI_Aint)i * ELEMENT
                                               : (MPI_Aint)(i / 2) * extent_of[kind_of(origin_type)] +
                                                     places_of[kind_of(origin_type)][i % 2];
        values[place / ELEMENT] = (int)i + 1;
    }
    struct hw_rma_accumulate call = {.origin = {values, count / in_one, origin_type},
                                     .target = {NULL, count / target_in_one, target_type},
                                     .op = HW_SUM};
    return hw_rma_pieces_make(&window, 0, disp, &call);
}

/* Each element once, at its place, by the ghost of that place. */
static void check_memory(MPI_Count count, MPI_Datatype target_type, MPI_Aint disp)
{
    MPI_Aint border = hw_rma_spread_span(&window, &targets[0])->segment_bytes;
    for (MPI_Count i = 0; i < count; i++) {
        MPI_Aint place = disp + (target_type == HW_INT ? (MPI_Aint)i * ELEMENT
                                                       : (MPI_Aint)(i / 2) * extent_of[kind_of(target_type)] +
                                                             places_of[kind_of(target_type)][i % 2]);
        int *added = &memory[place >= border][place / ELEMENT];
        assert_int_equal(*added, i + 1);
        *added = 0;
    }
    static const int nothing[GHOSTS][NODE_BYTES / ELEMENT];
    assert_memory_equal(memory, nothing, sizeof memory);
    assert_int_equal(alive_count, 0);
}

static void each_element_is_applied_once(void **state)
{
    (void)state;
    const MPI_Datatype types[] = {HW_INT, handle_of(GAPS), handle_of(TURNED)};
    MPI_Aint border = hw_rma_spread_span(&window, &targets[0])->segment_bytes;
    for (int origin = 0; origin < 3; origin++)
        for (int target = 0; target < 3; target++)
            for (MPI_Aint before = 0; before <= 40; before += ELEMENT) {
                made_count = 0;
                assert_int_equal(add(6, types[origin], types[target], border - before), MPI_SUCCESS);
                check_memory(6, types[target], border - before);
            }
}

static void neighbours_are_one_run(void **state)
{
    (void)state;
    MPI_Aint border = hw_rma_spread_span(&window, &targets[0])->segment_bytes;
    assert_int_equal(add(6, HW_INT, HW_INT, border - 2 * ELEMENT), MPI_SUCCESS);
    assert_int_equal(call_count, GHOSTS);
    for (int i = 0; i < made_count; i++)
        assert_int_equal(made[i].count, 1);
}

static void what_fails_is_the_last(void **state)
{
    (void)state;
    MPI_Aint border = hw_rma_spread_span(&window, &targets[0])->segment_bytes;
    failing_ghost = 0;
    assert_int_equal(add(6, HW_INT, HW_INT, border - 2 * ELEMENT), MPI_ERR_RANK);
    assert_int_equal(call_count, 1);
    assert_int_equal(alive_count, 0);
}

static void sides_of_different_length_are_refused(void **state)
{
    (void)state;
    int values[8] = {0};
    struct hw_rma_accumulate call = {
        .origin = {values, 5, HW_INT}, .target = {NULL, 6, HW_INT}, .op = HW_SUM};
    assert_int_equal(hw_rma_pieces_make(&window, 0, 0, &call), MPI_ERR_TYPE);
    assert_int_equal(raised, MPI_ERR_TYPE);
    assert_int_equal(call_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_element_is_applied_once, begin, end),
        cmocka_unit_test_setup_teardown(neighbours_are_one_run, begin, end),
        cmocka_unit_test_setup_teardown(what_fails_is_the_last, begin, end),
        cmocka_unit_test_setup_teardown(sides_of_different_length_are_refused, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
