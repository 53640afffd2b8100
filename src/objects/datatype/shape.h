/* SPDX-License-Identifier: BSD-3-Clause */
/* A shape says where the bytes of a datatype lie, in the order in which they are packed, as compactly as it
 * finds: a grid, which is up to three nested loops of equal blocks; a list of places and lengths; or a
 * sequence of shapes. A list or a sequence may be repeated. All places are in bytes from the address that
 * the program passes, so they may be negative, or absolute for MPI_BOTTOM.
 *
 * A shape is made once (hw_shape_block and what follows) from memory of an arena, which owns all that it
 * points to, and does not change any more. Making is one thread's; the rest is any thread's. Knows no MPI. */
#ifndef HW_OBJECTS_DATATYPE_SHAPE_H
#define HW_OBJECTS_DATATYPE_SHAPE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HW_SHAPE_LOOPS_MAX = 3, HW_SHAPE_STARTS_EVERY = 64 };

enum hw_shape_kind { HW_SHAPE_GRID, HW_SHAPE_LIST, HW_SHAPE_SEQUENCE };

struct hw_shape_child;

struct hw_shape {
    enum hw_shape_kind kind;
    int loops;               /* of a grid; 0: one block. Else 1: the repetition */
    int64_t shift;           /* list: by which places are multiplied, as a power of two */
    int64_t place;           /* grid: of the first block; else what all places begin at */
    int64_t size;            /* bytes packed; 0: none, and nothing else here means anything */
    int64_t blocks;          /* how many make them up */
    int64_t lowest, highest; /* all bytes lie from here to before there */
    int64_t count[HW_SHAPE_LOOPS_MAX], stride[HW_SHAPE_LOOPS_MAX]; /* outermost first */
    int64_t length;                                                /* of each block; 0: lengths tell */
    int64_t parts;           /* list: blocks of one round; sequence: children */
    int64_t round_size;      /* list, sequence: bytes packed by one round */
    const int32_t *places;   /* list: of each block */
    const uint32_t *lengths; /* list: of each block, if they differ */
    const int64_t *starts;   /* list whose lengths differ: packed bytes before each 64th block;
                              * sequence of several: before each child */
    const struct hw_shape_child *children;
};

struct hw_shape_child {
    int64_t place; /* added to the shape's own */
    const struct hw_shape *shape;
};

/* Memory of shapes. */
struct hw_shape_arena {
    struct hw_shape_chunk *newest;
    size_t used, limit; /* bytes */
};

/* Nothing is reserved before the first use. */
void hw_shape_arena_begin(struct hw_shape_arena *arena, size_t limit);
void hw_shape_arena_free(struct hw_shape_arena *arena);
/* NULL: the limit is reached, or there is no memory. */
void *hw_shape_arena_take(struct hw_shape_arena *arena, size_t bytes);

/* Shapes in the making. HW_DECLINED: it would take too much memory, or numbers overflow. */

/* `length` bytes at the address; 0: an empty shape. */
void hw_shape_block(int64_t length, struct hw_shape *shape);

/* Moves all places. */
enum hw_status hw_shape_move(struct hw_shape *shape, int64_t by);

/* `count` times, each `stride` bytes further on. */
enum hw_status hw_shape_repeat(struct hw_shape_arena *arena, int64_t count, int64_t stride,
                               struct hw_shape *shape);

/* The same for one use: where one more loop does not fit in, the result refers to *shape and to *child. */
enum hw_status hw_shape_repeat_once(const struct hw_shape *shape, int64_t count, int64_t stride,
                                    struct hw_shape_child *child, struct hw_shape *repeated);

/* A sequence in the making: shapes one behind the other. Short ones become a list, and blocks that touch one
 * block. */
struct hw_shape_sequence {
    struct hw_shape_arena *arena;
    enum hw_status status;
    struct hw_shape_piece {
        int64_t place, length;
    } * pieces; /* blocks that are no child yet */
    int64_t piece_count, piece_room;
    struct hw_shape_child *children;
    int64_t child_count, child_room;
};

void hw_shape_sequence_begin(struct hw_shape_sequence *sequence, struct hw_shape_arena *arena);
/* Equal shapes that follow one another at different places are kept once. An error is kept until the end. */
void hw_shape_sequence_add(struct hw_shape_sequence *sequence, const struct hw_shape *shape, int64_t place);
/* Frees what the making took, whatever became of it. */
enum hw_status hw_shape_sequence_end(struct hw_shape_sequence *sequence, struct hw_shape *shape);

/* A finished shape. */

/* Calls `visit` for each block, in the order of packing, until it returns false; then returns false. */
typedef bool hw_shape_visitor(void *context, int64_t place, int64_t length);
bool hw_shape_visit(const struct hw_shape *shape, int64_t place, hw_shape_visitor *visit, void *context);

/* True if no two of its bytes are the same. False also where that is too long to find out. */
bool hw_shape_is_disjoint(const struct hw_shape *shape);
/* The same for so many of one that is, each `extent` bytes further on. Quick. */
bool hw_shape_stays_disjoint(const struct hw_shape *shape, int64_t count, int64_t extent);

/* Whether a copy packs or unpacks. */
enum hw_shape_direction { HW_SHAPE_PACK, HW_SHAPE_UNPACK };

/* Copies bytes from..to of the packed form of `count` shapes, each `extent` bytes further on than the one
 * before, at `address`. `packed` is where byte `from` of it lies. 0 <= from <= to <= count * size. */
struct hw_shape_range {
    int64_t from, to;
};
void hw_shape_copy(const struct hw_shape *shape, int64_t count, int64_t extent,
                   enum hw_shape_direction direction, uintptr_t address, struct hw_shape_range range,
                   char *packed);

#endif
