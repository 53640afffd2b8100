/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/ghost/combine.h"

#include <math.h>

/* One loop for each operation: the compiler makes vectors of them. 1u: two small ones make an int. */
#define EACH(expression)                                                                                     \
    for (size_t i = 0; i < count; i++)                                                                       \
        into[i] = (expression);                                                                              \
    break

#define ORDER_CASES                                                                                          \
    case HW_OP_MIN:                                                                                          \
        EACH(into[i] < from[i] ? into[i] : from[i]);                                                         \
    case HW_OP_MAX:                                                                                          \
        EACH(into[i] > from[i] ? into[i] : from[i]);

/* NOLINTBEGIN(bugprone-macro-parentheses): arguments are types. */
#define SIGNED(type)                                                                                         \
    static void order_##type(enum hw_real_op op, type *into, const type *from, size_t count)                 \
    {                                                                                                        \
        switch (op) {                                                                                        \
            ORDER_CASES                                                                                      \
        default:                                                                                             \
            break;                                                                                           \
        }                                                                                                    \
    }

#define UNSIGNED(type)                                                                                       \
    static void combine_##type(enum hw_real_op op, type *into, const type *from, size_t count)               \
    {                                                                                                        \
        switch (op) {                                                                                        \
            ORDER_CASES                                                                                      \
        case HW_OP_SUM:                                                                                      \
            EACH((type)(into[i] + from[i]));                                                                 \
        case HW_OP_PROD:                                                                                     \
            EACH((type)(1u * into[i] * from[i]));                                                            \
        case HW_OP_LAND:                                                                                     \
            EACH((type)(into[i] && from[i]));                                                                \
        case HW_OP_LOR:                                                                                      \
            EACH((type)(into[i] || from[i]));                                                                \
        case HW_OP_LXOR:                                                                                     \
            EACH((type)(!into[i] != !from[i]));                                                              \
        case HW_OP_BAND:                                                                                     \
            EACH((type)(into[i] & from[i]));                                                                 \
        case HW_OP_BOR:                                                                                      \
            EACH((type)(into[i] | from[i]));                                                                 \
        case HW_OP_BXOR:                                                                                     \
            EACH((type)(into[i] ^ from[i]));                                                                 \
        default:                                                                                             \
            break;                                                                                           \
        }                                                                                                    \
    }

/* Equal numbers are those of one sign, or zeros. */
#define FLOATING(type)                                                                                       \
    static type less_##type(type one, type other)                                                            \
    {                                                                                                        \
        if (one != one || one < other)                                                                       \
            return one;                                                                                      \
        return other != other || other < one || signbit(other) ? other : one;                                \
    }                                                                                                        \
    static void order_##type(enum hw_real_op op, type *into, const type *from, size_t count)                 \
    {                                                                                                        \
        for (size_t i = 0; i < count; i++)                                                                   \
            into[i] = op == HW_OP_MIN ? less_##type(into[i], from[i]) : -less_##type(-into[i], -from[i]);    \
    }

/* NOLINTEND(bugprone-macro-parentheses) */

UNSIGNED(uint8_t)
UNSIGNED(uint16_t)
UNSIGNED(uint32_t)
UNSIGNED(uint64_t)
SIGNED(int8_t)
SIGNED(int16_t)
SIGNED(int32_t)
SIGNED(int64_t)
FLOATING(float)
FLOATING(double)

static void order(const struct hw_real_reduction *reduction, void *into, const void *from, size_t count)
{
    bool is_floating = reduction->class == HW_CLASS_FLOATING;
    switch (reduction->size) {
    case 1:
        order_int8_t(reduction->op, into, from, count);
        break;
    case 2:
        order_int16_t(reduction->op, into, from, count);
        break;
    case 4:
        if (is_floating)
            order_float(reduction->op, into, from, count);
        else
            order_int32_t(reduction->op, into, from, count);
        break;
    default:
        if (is_floating)
            order_double(reduction->op, into, from, count);
        else
            order_int64_t(reduction->op, into, from, count);
    }
}

static void combine(const struct hw_real_reduction *reduction, void *into, const void *from, size_t count)
{
    switch (reduction->size) {
    case 1:
        combine_uint8_t(reduction->op, into, from, count);
        break;
    case 2:
        combine_uint16_t(reduction->op, into, from, count);
        break;
    case 4:
        combine_uint32_t(reduction->op, into, from, count);
        break;
    default:
        combine_uint64_t(reduction->op, into, from, count);
    }
}

void hw_coll_combine(const struct hw_real_reduction *reduction, void *into, const void *from, uint64_t bytes)
{
    size_t count = (size_t)(bytes / (uint64_t)reduction->size);
    bool is_order = reduction->op == HW_OP_MIN || reduction->op == HW_OP_MAX;
    if (is_order && reduction->class != HW_CLASS_UNSIGNED)
        order(reduction, into, from, count);
    else
        combine(reduction, into, from, count);
}
