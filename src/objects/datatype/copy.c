/* SPDX-License-Identifier: BSD-3-Clause */
/* A block whose length the compiler knows is a few moves. So there is a loop for each length that programs
 * have; other short blocks are two moves that overlap, and long ones are memcpy's. */
#include "objects/datatype/copy.h"

#include <stddef.h>
#include <string.h>

/* A stride of this many bytes or more is not followed by the processor itself; so many blocks ahead are asked
 * for, where there are so many that they cannot all be in the cache. */
enum { PREFETCHED_STRIDE = 192, PREFETCHED_AHEAD = 24, PREFETCHED_BYTES = 256 * 1024 };

enum { SHORT_MAX = 64 };

typedef void strided_function(char *to, int64_t to_stride, const char *from, int64_t from_stride,
                              int64_t count);

/* Strides differ from the length on one side at least, so what is far is read ahead on either. */
#define STRIDED(length)                                                                                      \
    static void strided_##length(char *restrict to, int64_t to_stride, const char *restrict from,            \
                                 int64_t from_stride, int64_t count)                                         \
    {                                                                                                        \
        int64_t i = 0;                                                                                       \
        for (; i + 4 <= count; i += 4) {                                                                     \
            memcpy(to, from, length);                                                                        \
            memcpy(to + to_stride, from + from_stride, length);                                              \
            memcpy(to + 2 * to_stride, from + 2 * from_stride, length);                                      \
            memcpy(to + 3 * to_stride, from + 3 * from_stride, length);                                      \
            to += 4 * to_stride;                                                                             \
            from += 4 * from_stride;                                                                         \
        }                                                                                                    \
        for (; i < count; i++) {                                                                             \
            memcpy(to, from, length);                                                                        \
            to += to_stride;                                                                                 \
            from += from_stride;                                                                             \
        }                                                                                                    \
    }

#define GATHER(length)                                                                                       \
    static void gather_##length(char *restrict to, const char *restrict base, const int32_t *places,         \
                                unsigned shift, int64_t count)                                               \
    {                                                                                                        \
        _Pragma("GCC unroll 8") for (int64_t i = 0; i < count; i++)                                          \
            memcpy(to + i * (length), base + ((int64_t)places[i] * (INT64_C(1) << shift)), length);          \
    }

#define SCATTER(length)                                                                                      \
    static void scatter_##length(char *restrict base, const int32_t *places, unsigned shift,                 \
                                 const char *restrict from, int64_t count)                                   \
    {                                                                                                        \
        _Pragma("GCC unroll 8") for (int64_t i = 0; i < count; i++)                                          \
            memcpy(base + ((int64_t)places[i] * (INT64_C(1) << shift)), from + i * (length), length);        \
    }

#define EACH_LENGTH(X) X(1) X(2) X(4) X(8) X(12) X(16) X(20) X(24) X(28) X(32) X(40) X(48) X(56) X(64)

EACH_LENGTH(STRIDED)
EACH_LENGTH(GATHER)
EACH_LENGTH(SCATTER)

#define STRIDED_ENTRY(length) [length] = strided_##length,
static strided_function *const strided[SHORT_MAX + 1] = {EACH_LENGTH(STRIDED_ENTRY)};

#define GATHER_ENTRY(length) [length] = gather_##length,
static void (*const gather[SHORT_MAX + 1])(char *, const char *, const int32_t *, unsigned,
                                           int64_t) = {EACH_LENGTH(GATHER_ENTRY)};

#define SCATTER_ENTRY(length) [length] = scatter_##length,
static void (*const scatter[SHORT_MAX + 1])(char *, const int32_t *, unsigned, const char *,
                                            int64_t) = {EACH_LENGTH(SCATTER_ENTRY)};

/* The first and the last `half` bytes of a block, which overlap. */
#define ENDS(half)                                                                                           \
    do {                                                                                                     \
        memcpy(to, from, half);                                                                              \
        memcpy(to + length - (half), from + length - (half), half);                                          \
    } while (0)

/* The packed side may be written only within the block: others may own what is beside it. */
static inline void copy_block(char *restrict to, const char *restrict from, size_t length)
{
    if (length > SHORT_MAX)
        memcpy(to, from, length);
    else if (length >= 32)
        ENDS(32);
    else if (length >= 16)
        ENDS(16);
    else if (length >= 8)
        ENDS(8);
    else if (length >= 4)
        ENDS(4);
    else if (length >= 2)
        ENDS(2);
    else if (length == 1)
        *to = *from;
}

static void strided_any(struct hw_copy_to to, struct hw_copy_from from, size_t length, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        copy_block(to.at + i * to.stride, from.at + i * from.stride, length);
}

static int64_t distance(int64_t stride) { return stride < 0 ? -stride : stride; }

/* Blocks so far apart that each is a line, and often a page, of its own: the lines are asked for ahead. */
static void strided_far(struct hw_copy_to to, struct hw_copy_from from, int64_t length, int64_t count)
{
    enum { ROUND = 8 };
    strided_function *copy = strided[length];
    while (count > 0) {
        int64_t round = count < ROUND ? count : ROUND;
        for (int64_t i = 0; i < round && i + PREFETCHED_AHEAD < count; i++)
            if (distance(from.stride) >= PREFETCHED_STRIDE)
                __builtin_prefetch(from.at + (i + PREFETCHED_AHEAD) * from.stride, 0);
            else
                __builtin_prefetch(to.at + (i + PREFETCHED_AHEAD) * to.stride, 1);
        copy(to.at, to.stride, from.at, from.stride, round);
        to.at += round * to.stride;
        from.at += round * from.stride;
        count -= round;
    }
}

void hw_copy_strided(struct hw_copy_to to, struct hw_copy_from from, int64_t length, int64_t count)
{
    if (length > SHORT_MAX || strided[length] == NULL) {
        strided_any(to, from, (size_t)length, count);
        return;
    }
    int64_t furthest = distance(from.stride);
    if (distance(to.stride) > furthest)
        furthest = distance(to.stride);
    if (__builtin_expect(furthest >= PREFETCHED_STRIDE && furthest * count >= PREFETCHED_BYTES, 0))
        strided_far(to, from, length, count);
    else
        strided[length](to.at, to.stride, from.at, from.stride, count);
}

static inline int64_t place_of(int32_t place, unsigned shift)
{
    return (int64_t)place * (INT64_C(1) << shift);
}

void hw_copy_gather(char *to, const char *base, const int32_t *places, unsigned shift, int64_t length,
                    int64_t count)
{
    if (length <= SHORT_MAX && gather[length]) {
        gather[length](to, base, places, shift, count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        copy_block(to + i * length, base + place_of(places[i], shift), (size_t)length);
}

void hw_copy_scatter(char *base, const int32_t *places, unsigned shift, const char *from, int64_t length,
                     int64_t count)
{
    if (length <= SHORT_MAX && scatter[length]) {
        scatter[length](base, places, shift, from, count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        copy_block(base + place_of(places[i], shift), from + i * length, (size_t)length);
}

char *hw_copy_gather_each(char *to, const char *base, const int32_t *places, const uint32_t *lengths,
                          unsigned shift, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        copy_block(to, base + place_of(places[i], shift), lengths[i]);
        to += lengths[i];
    }
    return to;
}

const char *hw_copy_scatter_each(char *base, const int32_t *places, const uint32_t *lengths, unsigned shift,
                                 const char *from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        copy_block(base + place_of(places[i], shift), from, lengths[i]);
        from += lengths[i];
    }
    return from;
}
