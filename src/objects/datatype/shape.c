/* SPDX-License-Identifier: BSD-3-Clause */
/* The making of shapes. */
#include "objects/datatype/shape.h"

#include <stdlib.h>
#include <string.h>

enum { FLATTENED_BLOCKS_MAX = 16 };

struct hw_shape_chunk {
    struct hw_shape_chunk *older;
    max_align_t bytes[];
};

void hw_shape_arena_begin(struct hw_shape_arena *arena, size_t limit)
{
    *arena = (struct hw_shape_arena){.limit = limit};
}

void hw_shape_arena_free(struct hw_shape_arena *arena)
{
    while (arena->newest) {
        struct hw_shape_chunk *older = arena->newest->older;
        free(arena->newest);
        arena->newest = older;
    }
    arena->used = 0;
}

void *hw_shape_arena_take(struct hw_shape_arena *arena, size_t bytes)
{
    size_t all = sizeof(struct hw_shape_chunk) + bytes;
    if (all > arena->limit - arena->used)
        return NULL;
    struct hw_shape_chunk *chunk = malloc(all);
    if (chunk == NULL)
        return NULL;
    chunk->older = arena->newest;
    arena->newest = chunk;
    arena->used += all;
    return chunk->bytes;
}

void hw_shape_block(int64_t length, struct hw_shape *shape)
{
    *shape = (struct hw_shape){
        .kind = HW_SHAPE_GRID, .size = length, .blocks = length > 0, .highest = length, .length = length};
}

/* What addition and multiplication leave when they overflow is not used. */
static bool add_overflows(int64_t *sum, int64_t other) { return __builtin_add_overflow(*sum, other, sum); }

enum hw_status hw_shape_move(struct hw_shape *shape, int64_t by)
{
    bool is_over = add_overflows(&shape->place, by) | add_overflows(&shape->lowest, by) |
                   add_overflows(&shape->highest, by);
    return is_over ? HW_DECLINED : HW_OK;
}

/* Bounds and sizes of `count` times the shape. */
static bool extend_bounds(struct hw_shape *shape, int64_t count, int64_t stride)
{
    int64_t reach, *moved = stride < 0 ? &shape->lowest : &shape->highest;
    return __builtin_mul_overflow(count - 1, stride, &reach) || add_overflows(moved, reach) ||
           __builtin_mul_overflow(shape->size, count, &shape->size) ||
           __builtin_mul_overflow(shape->blocks, count, &shape->blocks);
}

/* Puts one more loop around the shape; false where there is no room for it. */
static bool add_loop(struct hw_shape *shape, int64_t count, int64_t stride)
{
    if (shape->kind == HW_SHAPE_GRID && shape->loops == 0 && stride == shape->length) {
        shape->length *= count;
        return true;
    }
    int64_t reach;
    if (shape->loops > 0 && !__builtin_mul_overflow(shape->count[0], shape->stride[0], &reach) &&
        reach == stride) {
        shape->count[0] *= count;
        return true;
    }
    if (shape->kind != HW_SHAPE_GRID) {
        if (shape->count[0] > 1)
            return false;
    } else {
        if (shape->loops == HW_SHAPE_LOOPS_MAX)
            return false;
        memmove(shape->count + 1, shape->count, (size_t)shape->loops * sizeof shape->count[0]);
        memmove(shape->stride + 1, shape->stride, (size_t)shape->loops * sizeof shape->stride[0]);
        shape->loops++;
    }
    shape->count[0] = count;
    shape->stride[0] = stride;
    return true;
}

/* A sequence of one: the shape, again and again. */
static void wrap(const struct hw_shape_child *child, int64_t count, int64_t stride, struct hw_shape *repeated)
{
    const struct hw_shape *shape = child->shape;
    *repeated = (struct hw_shape){.kind = HW_SHAPE_SEQUENCE,
                                  .loops = 1,
                                  .size = shape->size,
                                  .blocks = shape->blocks,
                                  .lowest = shape->lowest,
                                  .highest = shape->highest,
                                  .count = {count},
                                  .stride = {stride},
                                  .parts = 1,
                                  .round_size = shape->size,
                                  .children = child};
}

enum hw_status hw_shape_repeat_once(const struct hw_shape *shape, int64_t count, int64_t stride,
                                    struct hw_shape_child *child, struct hw_shape *repeated)
{
    *repeated = *shape;
    if (count <= 0 || shape->size == 0) {
        hw_shape_block(0, repeated);
        return HW_OK;
    }
    if (count == 1)
        return HW_OK;
    struct hw_shape bounds = *shape;
    if (extend_bounds(&bounds, count, stride))
        return HW_DECLINED;
    if (!add_loop(repeated, count, stride)) {
        *child = (struct hw_shape_child){.shape = shape};
        wrap(child, count, stride, repeated);
    }
    bool is_block = repeated->kind == HW_SHAPE_GRID && repeated->loops == 0;
    repeated->size = bounds.size;
    repeated->blocks = is_block ? 1 : bounds.blocks;
    repeated->lowest = bounds.lowest;
    repeated->highest = bounds.highest;
    return HW_OK;
}

static const struct hw_shape *keep(struct hw_shape_arena *arena, const struct hw_shape *shape)
{
    struct hw_shape *kept = hw_shape_arena_take(arena, sizeof *kept);
    if (kept)
        *kept = *shape;
    return kept;
}

enum hw_status hw_shape_repeat(struct hw_shape_arena *arena, int64_t count, int64_t stride,
                               struct hw_shape *shape)
{
    struct hw_shape_child child;
    struct hw_shape repeated;
    enum hw_status status = hw_shape_repeat_once(shape, count, stride, &child, &repeated);
    if (status != HW_OK)
        return status;
    if (repeated.kind == HW_SHAPE_SEQUENCE && repeated.children == &child) {
        struct hw_shape_child *kept = hw_shape_arena_take(arena, sizeof *kept);
        if (kept == NULL || (kept->shape = keep(arena, shape)) == NULL)
            return HW_DECLINED;
        kept->place = 0;
        repeated.children = kept;
    }
    *shape = repeated;
    return HW_OK;
}

void hw_shape_sequence_begin(struct hw_shape_sequence *sequence, struct hw_shape_arena *arena)
{
    *sequence = (struct hw_shape_sequence){.arena = arena, .status = HW_OK};
}

/* Room for one more; false without memory. */
static bool grow(void **items, int64_t count, int64_t *room, size_t item_bytes)
{
    enum { FIRST_ROOM = 16 };
    if (count < *room)
        return *items != NULL; /* always */
    int64_t more = *room ? *room * 2 : FIRST_ROOM;
    void *grown = realloc(*items, (size_t)more * item_bytes);
    if (grown == NULL)
        return false;
    *items = grown;
    *room = more;
    return true;
}

static void add_child(struct hw_shape_sequence *sequence, const struct hw_shape *shape, int64_t place)
{
    void *children = sequence->children;
    if (shape == NULL ||
        !grow(&children, sequence->child_count, &sequence->child_room, sizeof *sequence->children)) {
        sequence->status = HW_DECLINED;
        return;
    }
    sequence->children = children;
    sequence->children[sequence->child_count++] = (struct hw_shape_child){.place = place, .shape = shape};
}

static bool is_regular(const struct hw_shape_piece *pieces, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (pieces[i].length != pieces[0].length ||
            pieces[i].place - pieces[i - 1].place != pieces[1].place - pieces[0].place)
            return false;
    return true;
}

/* How many of the pieces one list can hold: places and lengths have 32 bits. */
static int64_t find_run(const struct hw_shape_piece *pieces, int64_t count, unsigned *shift)
{
    enum { SHIFT_MAX = 6 };
    uint64_t bits = 0;
    int64_t run = 0;
    int64_t lowest = 0, highest = 0; /* of the places so far: a later one may make the unit smaller */
    for (; run < count && pieces[run].length <= UINT32_MAX; run++) {
        int64_t place;
        if (__builtin_sub_overflow(pieces[run].place, pieces[0].place, &place))
            break;
        uint64_t all = bits | (uint64_t)place;
        unsigned common = all ? (unsigned)__builtin_ctzll(all) : SHIFT_MAX;
        common = common < SHIFT_MAX ? common : SHIFT_MAX;
        int64_t unit = INT64_C(1) << common;
        int64_t low = place < lowest ? place : lowest, high = place > highest ? place : highest;
        if (high / unit > INT32_MAX || low / unit < INT32_MIN)
            break;
        lowest = low;
        highest = high;
        bits = all;
        *shift = common;
    }
    return run;
}

/* The bounds of pieces, and what they pack. */
static void measure(const struct hw_shape_piece *pieces, int64_t count, struct hw_shape *list)
{
    list->lowest = pieces[0].place;
    list->highest = pieces[0].place;
    list->blocks = count;
    for (int64_t i = 0; i < count; i++) {
        int64_t end = pieces[i].place + pieces[i].length;
        list->lowest = pieces[i].place < list->lowest ? pieces[i].place : list->lowest;
        list->highest = end > list->highest ? end : list->highest;
        list->size += pieces[i].length;
        if (pieces[i].length != pieces[0].length)
            list->length = 0;
    }
    list->round_size = list->size;
}

static bool fill_lengths(struct hw_shape_arena *arena, const struct hw_shape_piece *pieces,
                         struct hw_shape *list)
{
    size_t count = (size_t)list->parts;
    uint32_t *lengths = hw_shape_arena_take(arena, count * sizeof *lengths);
    int64_t *starts = hw_shape_arena_take(arena, (count / HW_SHAPE_STARTS_EVERY + 1) * sizeof *starts),
            start = 0;
    if (lengths == NULL || starts == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (i % HW_SHAPE_STARTS_EVERY == 0)
            starts[i / HW_SHAPE_STARTS_EVERY] = start;
        lengths[i] = (uint32_t)pieces[i].length;
        start += pieces[i].length;
    }
    list->lengths = lengths;
    list->starts = starts;
    return true;
}

static bool make_list(struct hw_shape_arena *arena, const struct hw_shape_piece *pieces, int64_t count,
                      unsigned shift, struct hw_shape *list)
{
    *list = (struct hw_shape){.kind = HW_SHAPE_LIST,
                              .loops = 1,
                              .shift = shift,
                              .place = pieces[0].place,
                              .count = {1},
                              .length = pieces[0].length,
                              .parts = count};
    measure(pieces, count, list);
    int32_t *places = hw_shape_arena_take(arena, (size_t)count * sizeof *places);
    if (places == NULL)
        return false;
    for (int64_t i = 0; i < count; i++)
        places[i] = (int32_t)((pieces[i].place - pieces[0].place) / (INT64_C(1) << shift));
    list->places = places;
    return list->length || fill_lengths(arena, pieces, list);
}

/* The pieces, or as many of the first of them as one shape can hold. Returns how many; 0: none. */
static int64_t make_pieces(struct hw_shape_arena *arena, const struct hw_shape_piece *pieces, int64_t count,
                           struct hw_shape *shape)
{
    unsigned shift = 0;
    int64_t run = is_regular(pieces, count) ? count : find_run(pieces, count, &shift);
    if (run > 1 && run < count)
        run = is_regular(pieces, run) ? run : find_run(pieces, run, &shift);
    if (run > 1 && !is_regular(pieces, run))
        return make_list(arena, pieces, run, shift, shape) ? run : 0;
    run = run > 1 ? run : 1;
    hw_shape_block(pieces[0].length, shape);
    if (run > 1 && hw_shape_repeat(arena, run, pieces[1].place - pieces[0].place, shape) != HW_OK)
        return 0;
    return hw_shape_move(shape, pieces[0].place) == HW_OK ? run : 0;
}

/* The longest length that divides all pieces evenly. */
static int64_t common_length(const struct hw_shape_piece *pieces, int64_t count)
{
    int64_t common = 0;
    for (int64_t i = 0; i < count && common != 1; i++)
        for (int64_t other = pieces[i].length; other != 0;) {
            int64_t left = common % other;
            common = other;
            other = left;
        }
    return common;
}

/* Where a few blocks of one short length happened to touch, they are parted again: lengths that differ cost a
 * branch and four bytes a block, which is more than a few blocks more. */
static void part_again(struct hw_shape_sequence *sequence)
{
    enum { SHORT_MAX = 64, MORE_PARTS = 4 };
    int64_t count = sequence->piece_count, size = 0, made = 0;
    if (count < 2 || is_regular(sequence->pieces, count))
        return;
    int64_t common = common_length(sequence->pieces, count);
    for (int64_t i = 0; i < count && size <= INT64_MAX / 2; i++)
        size += sequence->pieces[i].length;
    int64_t parts = common > 0 ? size / common : 0;
    if (common > SHORT_MAX || parts <= count || parts > count + count / MORE_PARTS)
        return;
    struct hw_shape_piece *equal = calloc((size_t)parts, sizeof *equal);
    if (equal == NULL)
        return;
    for (int64_t i = 0; i < count; i++)
        for (int64_t at = 0; at < sequence->pieces[i].length; at += common)
            equal[made++] = (struct hw_shape_piece){sequence->pieces[i].place + at, common};
    free(sequence->pieces);
    sequence->pieces = equal;
    sequence->piece_count = sequence->piece_room = parts;
}

/* Makes children of the pieces. */
static void flush(struct hw_shape_sequence *sequence)
{
    part_again(sequence);
    const struct hw_shape_piece *next = sequence->pieces;
    while (sequence->status == HW_OK && sequence->piece_count > 0) {
        struct hw_shape shape;
        int64_t made = make_pieces(sequence->arena, next, sequence->piece_count, &shape);
        if (made == 0)
            sequence->status = HW_DECLINED;
        else
            add_child(sequence, keep(sequence->arena, &shape), 0);
        next += made;
        sequence->piece_count -= made;
    }
}

/* Places up to here, of either sign, can be added and subtracted freely. */
static bool is_far(int64_t place) { return place > INT64_MAX / 4 || place < INT64_MIN / 4; }

static bool add_piece(void *context, int64_t place, int64_t length)
{
    struct hw_shape_sequence *sequence = context;
    struct hw_shape_piece *last = NULL;
    if (sequence->piece_count > 0)
        last = &sequence->pieces[sequence->piece_count - 1];
    if (is_far(place) || is_far(length)) {
        sequence->status = HW_DECLINED;
        return false;
    }
    if (last && last->place + last->length == place) {
        last->length += length;
        return true;
    }
    void *pieces = sequence->pieces;
    bool has_room = grow(&pieces, sequence->piece_count, &sequence->piece_room, sizeof *sequence->pieces);
    sequence->pieces = pieces;
    /* A block takes four bytes of a list at least. */
    if (!has_room || (uint64_t)sequence->piece_count * sizeof(int32_t) > sequence->arena->limit) {
        sequence->status = HW_DECLINED;
        return false;
    }
    sequence->pieces[sequence->piece_count++] = (struct hw_shape_piece){.place = place, .length = length};
    return true;
}

static bool is_same(const struct hw_shape *one, const struct hw_shape *other)
{
    return memcmp(one, other, sizeof *one) == 0;
}

void hw_shape_sequence_add(struct hw_shape_sequence *sequence, const struct hw_shape *shape, int64_t place)
{
    if (sequence->status != HW_OK || shape->size == 0)
        return;
    if (shape->blocks <= FLATTENED_BLOCKS_MAX) {
        hw_shape_visit(shape, place, add_piece, sequence);
        return;
    }
    flush(sequence);
    const struct hw_shape *last = NULL;
    if (sequence->child_count > 0)
        last = sequence->children[sequence->child_count - 1].shape;
    bool is_again = last && is_same(last, shape);
    if (is_far(place) || is_far(shape->lowest) || is_far(shape->highest))
        sequence->status = HW_DECLINED;
    else
        add_child(sequence, is_again ? last : keep(sequence->arena, shape), place);
}

/* Children of equal shape at equal distances are a repetition. */
static bool is_repetition(const struct hw_shape_sequence *sequence)
{
    const struct hw_shape_child *children = sequence->children;
    for (int64_t i = 1; i < sequence->child_count; i++)
        if (children[i].shape != children[0].shape ||
            children[i].place - children[i - 1].place != children[1].place - children[0].place)
            return false;
    return sequence->child_count > 0;
}

static enum hw_status end_repetition(struct hw_shape_sequence *sequence, struct hw_shape *shape)
{
    const struct hw_shape_child *children = sequence->children;
    int64_t count = sequence->child_count;
    *shape = *children[0].shape;
    enum hw_status status = HW_OK;
    if (count > 1)
        status = hw_shape_repeat(sequence->arena, count, children[1].place - children[0].place, shape);
    return status == HW_OK ? hw_shape_move(shape, children[0].place) : status;
}

static enum hw_status end_children(struct hw_shape_sequence *sequence, struct hw_shape *shape)
{
    size_t count = (size_t)sequence->child_count;
    struct hw_shape_child *children = hw_shape_arena_take(sequence->arena, count * sizeof *children);
    int64_t *starts = hw_shape_arena_take(sequence->arena, count * sizeof *starts);
    if (children == NULL || starts == NULL)
        return HW_DECLINED;
    *shape = (struct hw_shape){.kind = HW_SHAPE_SEQUENCE,
                               .loops = 1,
                               .count = {1},
                               .parts = sequence->child_count,
                               .lowest = INT64_MAX,
                               .highest = INT64_MIN,
                               .starts = starts,
                               .children = children};
    for (size_t i = 0; i < count; i++) {
        children[i] = sequence->children[i];
        const struct hw_shape *child = children[i].shape;
        int64_t lowest = child->lowest + children[i].place, highest = child->highest + children[i].place;
        starts[i] = shape->size;
        shape->lowest = lowest < shape->lowest ? lowest : shape->lowest;
        shape->highest = highest > shape->highest ? highest : shape->highest;
        if (add_overflows(&shape->size, child->size) || add_overflows(&shape->blocks, child->blocks))
            return HW_DECLINED;
    }
    shape->round_size = shape->size;
    return HW_OK;
}

enum hw_status hw_shape_sequence_end(struct hw_shape_sequence *sequence, struct hw_shape *shape)
{
    flush(sequence);
    enum hw_status status = sequence->status;
    if (status == HW_OK && sequence->child_count == 0)
        hw_shape_block(0, shape);
    else if (status == HW_OK)
        status = is_repetition(sequence) ? end_repetition(sequence, shape) : end_children(sequence, shape);
    free(sequence->pieces);
    free(sequence->children);
    *sequence = (struct hw_shape_sequence){0};
    return status;
}
