/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk through a shape that copies. A piece of the packed form may begin and end anywhere, in the midst
 * of a block too: threads take pieces, and messages are packed in segments. */
#include "objects/datatype/copy.h"
#include "objects/datatype/shape.h"

#include <string.h>

/* Few blocks again and again, as the fields of a struct: each is copied by itself, for as many rounds as stay
 * in the innermost cache. */
enum { FIELDS_MAX = 32, ROUNDS_MIN = 4, ROUNDS_BYTES = 16 * 1024 };

/* The packed side lies one behind the other from `packed`; the program's at addresses, since MPI_BOTTOM is
 * none to which anything could be added. */
struct walk {
    enum hw_shape_direction direction;
    char *packed;
};

static int64_t least(int64_t one, int64_t other) { return one < other ? one : other; }

static void copy_bytes(const struct walk *walk, uintptr_t address, char *packed, int64_t bytes)
{
    if (walk->direction == HW_SHAPE_PACK)
        memcpy(packed, (const char *)address, (size_t)bytes);
    else
        memcpy((char *)address, packed, (size_t)bytes);
}

struct run {
    uintptr_t address;
    int64_t stride;
    char *packed;
    int64_t packed_stride;
    int64_t length, count;
};

static void copy_run(const struct walk *walk, const struct run *run)
{
    if (walk->direction == HW_SHAPE_PACK)
        hw_copy_strided((struct hw_copy_to){run->packed, run->packed_stride},
                        (struct hw_copy_from){(const char *)run->address, run->stride}, run->length,
                        run->count);
    else
        hw_copy_strided((struct hw_copy_to){(char *)run->address, run->stride},
                        (struct hw_copy_from){run->packed, run->packed_stride}, run->length, run->count);
}

/* How many rounds of so wide a stride a cache holds. */
static int64_t rounds_at_once(int64_t stride)
{
    enum { AT_LEAST = 16 };
    int64_t distance = stride < 0 ? -stride : stride;
    int64_t rounds = distance ? ROUNDS_BYTES / distance : ROUNDS_BYTES;
    return rounds > AT_LEAST ? rounds : AT_LEAST;
}

/* ---- grids ---- */

/* Where a block of a grid is: by loop, outermost first. */
struct spot {
    int64_t index[HW_SHAPE_LOOPS_MAX];
    uintptr_t address;
};

static void find_spot(const struct hw_shape *grid, uintptr_t address, int64_t block, struct spot *spot)
{
    spot->address = address;
    for (int i = grid->loops - 1; i >= 0; i--) {
        spot->index[i] = block % grid->count[i];
        block /= grid->count[i];
        spot->address += (uintptr_t)(spot->index[i] * grid->stride[i]);
    }
}

/* `steps` further in one loop, at most to its end, where those around it go on. */
static void advance(const struct hw_shape *grid, int loop, int64_t steps, struct spot *spot)
{
    spot->index[loop] += steps;
    spot->address += (uintptr_t)(steps * grid->stride[loop]);
    while (loop > 0 && spot->index[loop] == grid->count[loop]) {
        spot->address -= (uintptr_t)(grid->count[loop] * grid->stride[loop]);
        spot->index[loop--] = 0;
        spot->index[loop]++;
        spot->address += (uintptr_t)grid->stride[loop];
    }
}

/* Rows of few blocks each: block by block of all rows. */
static void copy_columns(struct walk *walk, const struct hw_shape *grid, uintptr_t address, int64_t rows)
{
    int last = grid->loops - 1;
    int64_t row_size = grid->count[last] * grid->length, once = rounds_at_once(grid->stride[last - 1]);
    for (int64_t row = 0; row < rows; row += once) {
        struct run run = {.stride = grid->stride[last - 1],
                          .packed_stride = row_size,
                          .length = grid->length,
                          .count = least(once, rows - row)};
        for (int64_t column = 0; column < grid->count[last]; column++) {
            run.address = address + (uintptr_t)(row * grid->stride[last - 1] + column * grid->stride[last]);
            run.packed = walk->packed + column * grid->length;
            copy_run(walk, &run);
        }
        walk->packed += run.count * row_size;
    }
}

/* Whole blocks from one on. */
static void copy_blocks(struct walk *walk, const struct hw_shape *grid, uintptr_t address, int64_t first,
                        int64_t count)
{
    enum { COLUMNS_MAX = 8 };
    struct spot spot;
    int last = grid->loops - 1;
    int64_t inner = grid->count[last];
    find_spot(grid, address, first, &spot);
    while (count > 0) {
        if (last > 0 && inner <= COLUMNS_MAX && spot.index[last] == 0 && count >= ROUNDS_MIN * inner) {
            int64_t rows = least(count / inner, grid->count[last - 1] - spot.index[last - 1]);
            copy_columns(walk, grid, spot.address, rows);
            advance(grid, last - 1, rows, &spot);
            count -= rows * inner;
            continue;
        }
        struct run run = {.address = spot.address,
                          .stride = grid->stride[last],
                          .packed = walk->packed,
                          .packed_stride = grid->length,
                          .length = grid->length,
                          .count = least(count, inner - spot.index[last])};
        copy_run(walk, &run);
        walk->packed += run.count * grid->length;
        count -= run.count;
        advance(grid, last, run.count, &spot);
    }
}

/* Bytes of one block. */
static void copy_part_of_block(struct walk *walk, uintptr_t address, int64_t from, int64_t to)
{
    copy_bytes(walk, address + (uintptr_t)from, walk->packed, to - from);
    walk->packed += to - from;
}

static void copy_grid(struct walk *walk, const struct hw_shape *grid, uintptr_t address,
                      struct hw_shape_range range)
{
    address += (uintptr_t)grid->place;
    if (grid->loops == 0) {
        copy_part_of_block(walk, address, range.from, range.to);
        return;
    }
    int64_t block = range.from / grid->length, into = range.from % grid->length, left = range.to - range.from;
    struct spot spot;
    if (into > 0 && left > 0) {
        int64_t part = least(grid->length - into, left);
        find_spot(grid, address, block++, &spot);
        copy_part_of_block(walk, spot.address, into, into + part);
        left -= part;
    }
    copy_blocks(walk, grid, address, block, left / grid->length);
    if (left % grid->length > 0) {
        find_spot(grid, address, block + left / grid->length, &spot);
        copy_part_of_block(walk, spot.address, 0, left % grid->length);
    }
}

/* ---- lists ---- */

static int64_t place_in_list(const struct hw_shape *list, int64_t index)
{
    return (int64_t)list->places[index] * (INT64_C(1) << list->shift);
}

static int64_t length_in_list(const struct hw_shape *list, int64_t index)
{
    return list->length ? list->length : (int64_t)list->lengths[index];
}

/* The blocks first..end-1 of one round. */
static void copy_listed(struct walk *walk, const struct hw_shape *list, uintptr_t address, int64_t first,
                        int64_t end)
{
    const int32_t *places = list->places + first;
    const uint32_t *lengths = list->length ? NULL : list->lengths + first;
    unsigned shift = (unsigned)list->shift;
    int64_t count = end - first;
    if (count <= 0)
        return;
    if (lengths == NULL && walk->direction == HW_SHAPE_PACK)
        hw_copy_gather(walk->packed, (const char *)address, places, shift, list->length, count);
    else if (lengths == NULL)
        hw_copy_scatter((char *)address, places, shift, walk->packed, list->length, count);
    else if (walk->direction == HW_SHAPE_PACK)
        walk->packed =
            hw_copy_gather_each(walk->packed, (const char *)address, places, lengths, shift, count);
    else
        walk->packed +=
            hw_copy_scatter_each((char *)address, places, lengths, shift, walk->packed, count) - walk->packed;
    if (lengths == NULL)
        walk->packed += count * list->length;
}

/* The block of a list with byte `at` of a round, which has it; *into: which byte of the block that is. */
static int64_t find_listed(const struct hw_shape *list, int64_t at, int64_t *into)
{
    if (list->length) {
        *into = at % list->length;
        return at / list->length;
    }
    int64_t low = 0, high = (list->parts - 1) / HW_SHAPE_STARTS_EVERY;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (list->starts[middle] <= at)
            low = middle;
        else
            high = middle - 1;
    }
    int64_t index = low * HW_SHAPE_STARTS_EVERY;
    for (at -= list->starts[low]; at >= (int64_t)list->lengths[index]; index++)
        at -= list->lengths[index];
    *into = at;
    return index;
}

/* Part of one round. */
static void copy_part_of_round(struct walk *walk, const struct hw_shape *list, uintptr_t address,
                               struct hw_shape_range range)
{
    int64_t into, end_into = 0, end = list->parts;
    int64_t first = find_listed(list, range.from, &into);
    if (range.to < list->round_size)
        end = find_listed(list, range.to, &end_into);
    if (into > 0) {
        int64_t stop = first == end ? end_into : length_in_list(list, first);
        copy_part_of_block(walk, address + (uintptr_t)place_in_list(list, first), into, stop);
        if (first++ == end)
            return;
    }
    copy_listed(walk, list, address, first, end);
    if (end_into > 0)
        copy_part_of_block(walk, address + (uintptr_t)place_in_list(list, end), 0, end_into);
}

/* Whole rounds of a short list. */
static void copy_fields(struct walk *walk, const struct hw_shape *list, uintptr_t address, int64_t rounds)
{
    int64_t once = rounds_at_once(list->stride[0]);
    for (; rounds > 0; rounds -= once) {
        struct run run = {.stride = list->stride[0],
                          .packed = walk->packed,
                          .packed_stride = list->round_size,
                          .count = least(once, rounds)};
        for (int64_t i = 0; i < list->parts; i++) {
            run.length = length_in_list(list, i);
            run.address = address + (uintptr_t)place_in_list(list, i);
            copy_run(walk, &run);
            run.packed += run.length;
        }
        walk->packed += run.count * list->round_size;
        address += (uintptr_t)(run.count * list->stride[0]);
    }
}

static void copy_list_rounds(struct walk *walk, const struct hw_shape *list, uintptr_t address,
                             int64_t rounds)
{
    if (list->parts <= FIELDS_MAX && rounds >= ROUNDS_MIN) {
        copy_fields(walk, list, address, rounds);
        return;
    }
    for (int64_t i = 0; i < rounds; i++)
        copy_listed(walk, list, address + (uintptr_t)(i * list->stride[0]), 0, list->parts);
}

/* ---- sequences ---- */

static void copy_part(struct walk *walk, const struct hw_shape *shape, uintptr_t address,
                      struct hw_shape_range range);

static int64_t start_of(const struct hw_shape *sequence, int64_t child)
{
    return sequence->parts == 1 ? 0 : sequence->starts[child];
}

static int64_t find_child(const struct hw_shape *sequence, int64_t at)
{
    int64_t low = 0, high = sequence->parts - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (start_of(sequence, middle) <= at)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Part of one round. */
static void copy_children(struct walk *walk, const struct hw_shape *sequence, uintptr_t address,
                          struct hw_shape_range range)
{
    for (int64_t i = range.from ? find_child(sequence, range.from) : 0; i < sequence->parts; i++) {
        const struct hw_shape_child *child = &sequence->children[i];
        int64_t start = start_of(sequence, i);
        if (start >= range.to)
            return;
        struct hw_shape_range part = {.from = range.from > start ? range.from - start : 0,
                                      .to = least(range.to - start, child->shape->size)};
        copy_part(walk, child->shape, address + (uintptr_t)child->place, part);
    }
}

/* ---- all ---- */

static void copy_round(struct walk *walk, const struct hw_shape *shape, uintptr_t address,
                       struct hw_shape_range range)
{
    if (range.from >= range.to)
        return;
    if (shape->kind == HW_SHAPE_LIST)
        copy_part_of_round(walk, shape, address, range);
    else
        copy_children(walk, shape, address, range);
}

static void copy_part(struct walk *walk, const struct hw_shape *shape, uintptr_t address,
                      struct hw_shape_range range)
{
    if (shape->kind == HW_SHAPE_GRID) {
        copy_grid(walk, shape, address, range);
        return;
    }
    int64_t size = shape->round_size, round = 0, into = range.from, left = range.to - range.from;
    address += (uintptr_t)shape->place;
    if (range.from >= size) {
        round = range.from / size;
        into = range.from % size;
        address += (uintptr_t)(round * shape->stride[0]);
    }
    if (into > 0 && left > 0) {
        int64_t part = least(size - into, left);
        copy_round(walk, shape, address, (struct hw_shape_range){into, into + part});
        address += (uintptr_t)shape->stride[0];
        left -= part;
    }
    int64_t rounds = left < size ? 0 : left == size ? 1 : left / size;
    if (shape->kind == HW_SHAPE_LIST)
        copy_list_rounds(walk, shape, address, rounds);
    for (int64_t i = 0; i < rounds && shape->kind == HW_SHAPE_SEQUENCE; i++)
        copy_round(walk, shape, address + (uintptr_t)(i * shape->stride[0]),
                   (struct hw_shape_range){0, size});
    copy_round(walk, shape, address + (uintptr_t)(rounds * shape->stride[0]),
               (struct hw_shape_range){0, left - rounds * size});
}

void hw_shape_copy(const struct hw_shape *shape, int64_t count, int64_t extent,
                   enum hw_shape_direction direction, uintptr_t address, struct hw_shape_range range,
                   char *packed)
{
    struct hw_shape repeated;
    struct hw_shape_child child;
    struct walk walk = {.direction = direction, .packed = packed};
    if (range.from < range.to && hw_shape_repeat_once(shape, count, extent, &child, &repeated) == HW_OK)
        copy_part(&walk, &repeated, address, range);
}

/* ---- looking ---- */

static bool visit_grid(const struct hw_shape *grid, int64_t place, hw_shape_visitor *visit, void *context)
{
    int64_t index[HW_SHAPE_LOOPS_MAX] = {0};
    for (int64_t i = 0; i < grid->blocks; i++) {
        if (!visit(context, place, grid->length))
            return false;
        for (int loop = grid->loops - 1; loop >= 0; loop--) {
            place += grid->stride[loop];
            if (++index[loop] < grid->count[loop])
                break;
            place -= grid->count[loop] * grid->stride[loop];
            index[loop] = 0;
        }
    }
    return true;
}

static bool visit_round(const struct hw_shape *shape, int64_t place, hw_shape_visitor *visit, void *context)
{
    for (int64_t i = 0; i < shape->parts; i++) {
        bool goes_on =
            shape->kind == HW_SHAPE_LIST
                ? visit(context, place + place_in_list(shape, i), length_in_list(shape, i))
                : hw_shape_visit(shape->children[i].shape, place + shape->children[i].place, visit, context);
        if (!goes_on)
            return false;
    }
    return true;
}

bool hw_shape_visit(const struct hw_shape *shape, int64_t place, hw_shape_visitor *visit, void *context)
{
    if (shape->size == 0)
        return true;
    place += shape->place;
    if (shape->kind == HW_SHAPE_GRID)
        return visit_grid(shape, place, visit, context);
    for (int64_t i = 0; i < shape->count[0]; i++)
        if (!visit_round(shape, place + i * shape->stride[0], visit, context))
            return false;
    return true;
}
