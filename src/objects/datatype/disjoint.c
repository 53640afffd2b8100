/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a shape may be received into: no byte twice. */
#include "objects/datatype/shape.h"

#include <stdlib.h>

/* What cannot be seen from the loops is sorted, up to so many blocks. */
enum { SORTED_MAX = 64 * 1024 };

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Loops of any order: each steps over all that the shorter steps reach. */
static bool is_grid_disjoint(int loops, const int64_t *count, const int64_t *stride, int64_t length)
{
    bool is_used[HW_SHAPE_LOOPS_MAX + 1] = {false};
    int64_t span = length;
    for (int done = 0; done < loops; done++) {
        int shortest = -1;
        for (int i = 0; i < loops; i++)
            if (!is_used[i] && (shortest < 0 || distance(stride[i]) < distance(stride[shortest])))
                shortest = i;
        is_used[shortest] = true;
        if (count[shortest] > 1 && distance(stride[shortest]) < span)
            return false;
        span += (count[shortest] - 1) * distance(stride[shortest]);
    }
    return true;
}

struct blocks {
    struct block {
        int64_t place, length;
    } * all;
    int64_t count;
};

static bool note(void *context, int64_t place, int64_t length)
{
    struct blocks *blocks = context;
    blocks->all[blocks->count++] = (struct block){place, length};
    return true;
}

static int by_place(const void *one, const void *other)
{
    int64_t first = ((const struct block *)one)->place, second = ((const struct block *)other)->place;
    return (first > second) - (first < second);
}

static bool is_sorted_disjoint(const struct hw_shape *shape)
{
    if (shape->blocks > SORTED_MAX)
        return false;
    struct blocks blocks = {.all = malloc((size_t)shape->blocks * sizeof *blocks.all)};
    if (blocks.all == NULL)
        return false;
    hw_shape_visit(shape, 0, note, &blocks);
    qsort(blocks.all, (size_t)blocks.count, sizeof *blocks.all, by_place);
    bool is_disjoint = true;
    for (int64_t i = 1; i < blocks.count && is_disjoint; i++)
        is_disjoint = blocks.all[i - 1].place + blocks.all[i - 1].length <= blocks.all[i].place;
    free(blocks.all);
    return is_disjoint;
}

/* A list of equal blocks, longer than is sorted, in ascending order; or a shape that steps over one. */
static bool is_round_disjoint(const struct hw_shape *shape)
{
    if (shape->kind == HW_SHAPE_LIST) {
        for (int64_t i = 1; i < shape->parts; i++) {
            int64_t length = shape->length ? shape->length : (int64_t)shape->lengths[i - 1];
            int64_t step = ((int64_t)shape->places[i] - shape->places[i - 1]) * (INT64_C(1) << shape->shift);
            if (step < length)
                return false;
        }
        return true;
    }
    for (int64_t i = 0; i < shape->parts; i++) {
        const struct hw_shape_child *child = &shape->children[i], *last = i ? child - 1 : NULL;
        if (!hw_shape_is_disjoint(child->shape) ||
            (last && child->place + child->shape->lowest < last->place + last->shape->highest))
            return false;
    }
    return true;
}

bool hw_shape_is_disjoint(const struct hw_shape *shape)
{
    if (shape->kind == HW_SHAPE_GRID)
        return is_grid_disjoint(shape->loops, shape->count, shape->stride, shape->length) ||
               is_sorted_disjoint(shape);
    int64_t around = (shape->count[0] - 1) * distance(shape->stride[0]);
    int64_t span = shape->highest - shape->lowest - around;
    if ((shape->count[0] == 1 || distance(shape->stride[0]) >= span) && is_round_disjoint(shape))
        return true;
    return is_sorted_disjoint(shape);
}

bool hw_shape_stays_disjoint(const struct hw_shape *shape, int64_t count, int64_t extent)
{
    if (count <= 1 || distance(extent) >= shape->highest - shape->lowest)
        return true;
    if (shape->kind != HW_SHAPE_GRID)
        return false;
    int64_t counts[HW_SHAPE_LOOPS_MAX + 1] = {count}, strides[HW_SHAPE_LOOPS_MAX + 1] = {extent};
    for (int i = 0; i < shape->loops; i++) {
        counts[i + 1] = shape->count[i];
        strides[i + 1] = shape->stride[i];
    }
    return is_grid_disjoint(shape->loops + 1, counts, strides, shape->length);
}
