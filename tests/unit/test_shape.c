/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: shapes of datatypes pack and unpack what their blocks say, whole and in pieces. */
#include "objects/datatype/copy.h"
#include "objects/datatype/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MEMORY = 1 << 20, ARENA = 1 << 20, BLOCKS_MAX = 1 << 16, TREES = 1500 };

static unsigned seed;

static int64_t draw(int64_t least, int64_t most)
{
    seed = seed * 1103515245U + 12345U;
    return least + (int64_t)((seed >> 8) % (uint64_t)(most - least + 1));
}

/* What a shape has to be: its blocks, in order. */
struct truth {
    int64_t count;
    struct {
        int64_t place, length;
    } blocks[BLOCKS_MAX];
};

static bool add(void *context, int64_t place, int64_t length)
{
    struct truth *truth = context;
    assert_true(truth->count < BLOCKS_MAX);
    truth->blocks[truth->count].place = place;
    truth->blocks[truth->count++].length = length;
    return true;
}

static void repeat_truth(struct truth *truth, int64_t count, int64_t stride)
{
    int64_t once = truth->count;
    truth->count = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < once; j++)
            add(truth, truth->blocks[j].place + i * stride, truth->blocks[j].length);
}

static int64_t size_of(const struct truth *truth)
{
    int64_t size = 0;
    for (int64_t i = 0; i < truth->count; i++)
        size += truth->blocks[i].length;
    return size;
}

/* A random shape, and what it has to be. */
static void grow_tree(struct hw_shape_arena *arena, int depth, struct hw_shape *shape, struct truth *truth)
{
    static const int64_t lengths[] = {1, 2, 3, 4, 8, 8, 12, 16, 20, 24, 31, 40, 64, 65, 130};
    truth->count = 0;
    if (depth == 0) {
        int64_t length = lengths[draw(0, sizeof lengths / sizeof lengths[0] - 1)];
        hw_shape_block(length, shape);
        add(truth, 0, length);
    } else if (draw(0, 2) > 0) {
        grow_tree(arena, depth - 1, shape, truth);
        int64_t room = BLOCKS_MAX / 64 / (truth->count + 1);
        int64_t count = draw(0, room < 9 ? room : 9), stride = draw(0, 3) ? draw(-300, 300) : shape->highest;
        assert_int_equal(hw_shape_repeat(arena, count, stride, shape), HW_OK);
        repeat_truth(truth, count, stride);
    } else {
        struct hw_shape_sequence sequence;
        struct truth *part = malloc(sizeof *part);
        hw_shape_sequence_begin(&sequence, arena);
        int64_t place = draw(-200, 200), step = draw(-50, 300);
        struct hw_shape child;
        for (int64_t i = draw(0, 5), is_alike = draw(0, 1), drawn = 0; i > 0 && truth->count < 500; i--) {
            if (!is_alike || !drawn++)
                grow_tree(arena, depth - 1, &child, part);
            hw_shape_sequence_add(&sequence, &child, place);
            for (int64_t j = 0; j < part->count; j++)
                add(truth, part->blocks[j].place + place, part->blocks[j].length);
            place += is_alike ? step : draw(-200, 300);
        }
        free(part);
        assert_int_equal(hw_shape_sequence_end(&sequence, shape), HW_OK);
    }
}

static char *packed_of(const struct truth *truth, const char *memory)
{
    char *packed = malloc((size_t)size_of(truth) + 1), *next = packed;
    for (int64_t i = 0; i < truth->count; i++) {
        memcpy(next, memory + truth->blocks[i].place, (size_t)truth->blocks[i].length);
        next += truth->blocks[i].length;
    }
    return packed;
}

static bool is_truth_disjoint(const struct truth *truth, const char *memory)
{
    char *marks = calloc(1, MEMORY);
    bool is_disjoint = true;
    ptrdiff_t middle = MEMORY / 2;
    (void)memory;
    for (int64_t i = 0; i < truth->count && is_disjoint; i++)
        for (int64_t j = 0; j < truth->blocks[i].length && is_disjoint; j++)
            is_disjoint = marks[middle + truth->blocks[i].place + j]++ == 0;
    free(marks);
    return is_disjoint;
}

static char *memory, *other; /* the middle of MEMORY bytes each */

static void check_packing(const struct hw_shape *shape, int64_t count, int64_t extent,
                          const struct truth *truth)
{
    int64_t size = size_of(truth);
    char *expected = packed_of(truth, memory), *packed = malloc((size_t)size + 1);
    memset(packed, 0, (size_t)size + 1);
    hw_shape_copy(shape, count, extent, HW_SHAPE_PACK, (uintptr_t)memory, (struct hw_shape_range){0, size},
                  packed);
    assert_memory_equal(packed, expected, (size_t)size);
    for (int i = 0; i < 8 && size > 0; i++) { /* in a block of its own: nothing beside it is touched */
        struct hw_shape_range range = {.from = draw(0, size)};
        range.to = draw(range.from, draw(0, 1) ? size : range.from);
        char *piece = malloc((size_t)(range.to - range.from) + 1);
        hw_shape_copy(shape, count, extent, HW_SHAPE_PACK, (uintptr_t)memory, range, piece);
        assert_memory_equal(piece, expected + range.from, (size_t)(range.to - range.from));
        free(piece);
    }
    free(expected);
    free(packed);
}

/* In three pieces; what lies between the blocks stays. */
static void check_unpacking(const struct hw_shape *shape, int64_t count, int64_t extent,
                            const struct truth *truth)
{
    int64_t size = size_of(truth), first = draw(0, size), second = draw(first, size);
    char *packed = packed_of(truth, memory);
    memset(other - MEMORY / 2, 0x55, MEMORY);
    const struct hw_shape_range ranges[] = {{0, first}, {first, second}, {second, size}};
    for (int i = 0; i < 3; i++)
        hw_shape_copy(shape, count, extent, HW_SHAPE_UNPACK, (uintptr_t)other, ranges[i],
                      packed + ranges[i].from);
    char *expected = malloc(MEMORY), *middle = expected + MEMORY / 2;
    memset(expected, 0x55, MEMORY);
    for (int64_t i = 0; i < truth->count; i++)
        memcpy(middle + truth->blocks[i].place, memory + truth->blocks[i].place,
               (size_t)truth->blocks[i].length);
    assert_memory_equal(other - MEMORY / 2, expected, MEMORY);
    free(expected);
    free(packed);
}

static void check_bounds(const struct hw_shape *shape, const struct truth *truth)
{
    int64_t lowest = INT64_MAX, highest = INT64_MIN;
    for (int64_t i = 0; i < truth->count; i++) {
        int64_t end = truth->blocks[i].place + truth->blocks[i].length;
        lowest = truth->blocks[i].place < lowest ? truth->blocks[i].place : lowest;
        highest = end > highest ? end : highest;
    }
    assert_int_equal(shape->size, size_of(truth));
    if (shape->size) {
        assert_int_equal(shape->lowest, lowest);
        assert_int_equal(shape->highest, highest);
        assert_true(shape->blocks <= truth->count && shape->blocks > 0);
    }
}

static void random_trees_are_what_their_blocks_say(void **state)
{
    (void)state;
    struct truth *truth = malloc(sizeof *truth);
    int kinds[3] = {0}, disjoint = 0, wrapped = 0;
    for (seed = 1; seed < TREES; seed++) {
        unsigned keep = seed;
        seed *= 2654435761U;
        struct hw_shape_arena arena;
        struct hw_shape shape;
        hw_shape_arena_begin(&arena, ARENA);
        grow_tree(&arena, (int)draw(1, 5), &shape, truth);
        check_bounds(&shape, truth);
        bool is_disjoint = shape.size > 0 && hw_shape_is_disjoint(&shape);
        int64_t count = draw(1, 4), extent = draw(0, 2) ? shape.highest - shape.lowest : draw(-64, 256);
        if (is_disjoint)
            is_disjoint = hw_shape_stays_disjoint(&shape, count, extent);
        repeat_truth(truth, count, extent);
        check_packing(&shape, count, extent, truth);
        if (is_disjoint) {
            assert_true(is_truth_disjoint(truth, memory));
            check_unpacking(&shape, count, extent, truth);
        }
        disjoint += is_disjoint;
        kinds[shape.kind]++;
        wrapped += shape.kind == HW_SHAPE_SEQUENCE && shape.parts == 1;
        hw_shape_arena_free(&arena);
        seed = keep;
    }
    for (int i = 0; i < 3; i++)
        assert_true(kinds[i] > TREES / 50);
    assert_true(disjoint > TREES / 10 && wrapped > 0);
    free(truth);
}

/* A 4D grid: three loops and a sequence of one around them. */
static void loops_are_merged(void **state)
{
    (void)state;
    struct hw_shape_arena arena;
    struct hw_shape shape;
    hw_shape_arena_begin(&arena, ARENA);
    hw_shape_block(8, &shape);
    assert_int_equal(hw_shape_repeat(&arena, 4, 8, &shape), HW_OK);
    assert_int_equal(shape.loops, 0);
    assert_int_equal(shape.length, 32);
    assert_int_equal(hw_shape_repeat(&arena, 4, 64, &shape), HW_OK);
    assert_int_equal(hw_shape_repeat(&arena, 3, 4 * 64, &shape), HW_OK);
    assert_int_equal(shape.loops, 1);
    assert_int_equal(shape.count[0], 12);
    assert_int_equal(hw_shape_repeat(&arena, 2, 2000, &shape), HW_OK);
    assert_int_equal(hw_shape_repeat(&arena, 2, 9000, &shape), HW_OK);
    assert_int_equal(shape.loops, 3);
    assert_int_equal(arena.used, 0);
    assert_int_equal(hw_shape_repeat(&arena, 2, 50000, &shape), HW_OK);
    assert_int_equal(shape.kind, HW_SHAPE_SEQUENCE);
    assert_int_equal(shape.blocks, 12 * 2 * 2 * 2);
    hw_shape_arena_free(&arena);
}

/* Equal lengths at equal distances, however they came. */
static void regular_places_are_a_loop(void **state)
{
    (void)state;
    struct hw_shape_arena arena;
    struct hw_shape_sequence sequence;
    struct hw_shape shape, block;
    hw_shape_arena_begin(&arena, ARENA);
    hw_shape_sequence_begin(&sequence, &arena);
    hw_shape_block(8, &block);
    for (int i = 0; i < 1000; i++)
        hw_shape_sequence_add(&sequence, &block, 100 + i * 24);
    assert_int_equal(hw_shape_sequence_end(&sequence, &shape), HW_OK);
    assert_int_equal(shape.kind, HW_SHAPE_GRID);
    assert_int_equal(shape.count[0], 1000);
    assert_int_equal(shape.place, 100);
    hw_shape_arena_free(&arena);
}

/* Single numbers at random places, of which some touch: a list of one length, whose blocks take four bytes.
 */
static void few_that_touch_are_parted(void **state)
{
    enum { COUNT = 4000, STEP = 32, LIMIT = COUNT * STEP / 8 + 1024 };
    (void)state;
    struct hw_shape_arena arena;
    struct hw_shape_sequence sequence;
    struct hw_shape shape, block;
    struct truth *truth = malloc(sizeof *truth);
    truth->count = 0;
    seed = 5;
    hw_shape_arena_begin(&arena, LIMIT);
    hw_shape_sequence_begin(&sequence, &arena);
    hw_shape_block(8, &block);
    int64_t touching = 0, last = -STEP;
    for (int i = 0; i < COUNT; i++) {
        int64_t place = (int64_t)i * STEP + 8 * draw(0, 3);
        touching += place == last + 8;
        last = place;
        add(truth, place, 8);
        hw_shape_sequence_add(&sequence, &block, place);
    }
    assert_true(touching > 0);
    assert_int_equal(hw_shape_sequence_end(&sequence, &shape), HW_OK);
    assert_int_equal(shape.kind, HW_SHAPE_LIST);
    assert_int_equal(shape.length, 8);
    assert_int_equal(shape.blocks, COUNT);
    struct truth *seen = malloc(sizeof *seen);
    seen->count = 0;
    assert_true(hw_shape_visit(&shape, 0, add, seen));
    assert_memory_equal(seen->blocks, truth->blocks, COUNT * sizeof truth->blocks[0]);
    free(seen);
    free(truth);
    hw_shape_arena_free(&arena);
}

enum { PLACES = 6 };

static void check_places(const int64_t *places)
{
    struct hw_shape_arena arena;
    struct hw_shape_sequence sequence;
    struct hw_shape shape, block;
    hw_shape_arena_begin(&arena, ARENA);
    hw_shape_sequence_begin(&sequence, &arena);
    hw_shape_block(1, &block);
    for (int i = 0; i < PLACES; i++)
        hw_shape_sequence_add(&sequence, &block, places[i]);
    assert_int_equal(hw_shape_sequence_end(&sequence, &shape), HW_OK);
    assert_int_equal(shape.blocks, PLACES);
    assert_true(hw_shape_is_disjoint(&shape));
    struct truth *seen = malloc(sizeof *seen);
    seen->count = 0;
    assert_true(hw_shape_visit(&shape, 0, add, seen));
    for (int i = 0; i < PLACES; i++)
        assert_int_equal(seen->blocks[i].place, places[i]);
    free(seen);
    hw_shape_arena_free(&arena);
}

/* Places that need more than 32 bits, as absolute ones of stack and heap. */
static void places_may_be_far_apart(void **state)
{
    (void)state;
    check_places((const int64_t[PLACES]){3, 9, INT64_C(1) << 46, (INT64_C(1) << 46) + 5, 12, -1});
}

/* A list has room for what is far in multiples of 64; what comes then is no multiple. */
static void far_places_stay_where_the_unit_shrinks(void **state)
{
    (void)state;
    check_places((const int64_t[PLACES]){0, INT64_C(1) << 36, 64, 7, -(INT64_C(1) << 34), 11});
}

static void what_takes_too_much_is_declined(void **state)
{
    (void)state;
    struct hw_shape_arena arena;
    struct hw_shape_sequence sequence;
    struct hw_shape shape, block;
    hw_shape_arena_begin(&arena, 1000);
    hw_shape_sequence_begin(&sequence, &arena);
    hw_shape_block(8, &block);
    for (int64_t i = 0; i < 1000; i++)
        hw_shape_sequence_add(&sequence, &block, i * i * 16);
    assert_int_equal(hw_shape_sequence_end(&sequence, &shape), HW_DECLINED);
    assert_true(arena.used <= 1000);
    hw_shape_arena_free(&arena);
    hw_shape_arena_begin(&arena, 1000);
    hw_shape_block(8, &shape);
    assert_int_equal(hw_shape_repeat(&arena, INT64_MAX / 8, 16, &shape), HW_DECLINED);
    assert_int_equal(hw_shape_move(&shape, INT64_MAX), HW_DECLINED);
}

/* Far strides and many blocks: what is read ahead changes nothing. */
static void copies_of_every_length_are_right(void **state)
{
    (void)state;
    for (int64_t length = 1; length <= 80; length++)
        for (int64_t stride = 80; stride <= 1000; stride += 460) {
            int64_t count = 500;
            struct hw_shape_arena arena;
            struct hw_shape shape;
            struct truth *truth = malloc(sizeof *truth);
            truth->count = 0;
            add(truth, 0, length);
            repeat_truth(truth, count, stride);
            hw_shape_arena_begin(&arena, ARENA);
            hw_shape_block(length, &shape);
            assert_int_equal(hw_shape_repeat(&arena, count, stride, &shape), HW_OK);
            check_packing(&shape, 1, 0, truth);
            check_unpacking(&shape, 1, 0, truth);
            free(truth);
        }
}

int main(void)
{
    memory = malloc(MEMORY);
    other = malloc(MEMORY);
    for (size_t i = 0; i < MEMORY; i++)
        memory[i] = (char)(i * 2654435761U >> 13);
    memory += MEMORY / 2;
    other += MEMORY / 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_trees_are_what_their_blocks_say),
        cmocka_unit_test(loops_are_merged),
        cmocka_unit_test(regular_places_are_a_loop),
        cmocka_unit_test(few_that_touch_are_parted),
        cmocka_unit_test(places_may_be_far_apart),
        cmocka_unit_test(far_places_stay_where_the_unit_shrinks),
        cmocka_unit_test(what_takes_too_much_is_declined),
        cmocka_unit_test(copies_of_every_length_are_right),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(memory - MEMORY / 2);
    free(other - MEMORY / 2);
    return failed;
}
