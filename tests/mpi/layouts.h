/* SPDX-License-Identifier: BSD-3-Clause */
/* Random datatypes with gaps, the same from the same `state`. */
#ifndef TESTS_MPI_LAYOUTS_H
#define TESTS_MPI_LAYOUTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static uint32_t state;

static unsigned below(unsigned limit)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % limit;
}

struct mixed {
    double a;
    int b;
    double c[2];
};

static MPI_Datatype make_mixed(bool is_dense)
{
    int lengths[] = {1, 1, 2};
    MPI_Aint gappy[] = {offsetof(struct mixed, a), offsetof(struct mixed, b), offsetof(struct mixed, c)};
    MPI_Aint dense[] = {0, sizeof(double), sizeof(double) + sizeof(int)};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE}, made, resized;
    MPI_Type_create_struct(3, lengths, is_dense ? dense : gappy, types, &made);
    MPI_Type_create_resized(made, 0, is_dense ? 28 : (MPI_Aint)sizeof(struct mixed), &resized);
    MPI_Type_free(&made);
    return resized;
}

static MPI_Datatype make_element(unsigned kind, bool is_dense)
{
    MPI_Datatype basic[] = {MPI_DOUBLE, MPI_INT, MPI_SHORT, MPI_CHAR, MPI_FLOAT}, made;
    if (kind == 5)
        return make_mixed(is_dense);
    MPI_Type_dup(basic[kind], &made);
    return made;
}

static MPI_Datatype make_indexed(int count, MPI_Datatype element)
{
    int *lengths = calloc((size_t)count, sizeof(int)), *places = calloc((size_t)count, sizeof(int));
    int blocks = 0, place = 0;
    for (int left = count; left > 0; blocks++) {
        int length = 1 + (int)below(4);
        lengths[blocks] = length < left ? length : left;
        places[blocks] = place;
        place += lengths[blocks] + (int)below(3);
        left -= lengths[blocks];
    }
    MPI_Datatype made;
    MPI_Type_indexed(blocks, lengths, places, element, &made);
    free(lengths);
    free(places);
    return made;
}

/* `count` elements in one of several layouts, `count` a multiple of 4. */
static MPI_Datatype make_layout(int count, MPI_Datatype element, bool is_mixed)
{
    MPI_Datatype made, inner;
    MPI_Aint lowest, extent;
    MPI_Type_get_extent(element, &lowest, &extent);
    unsigned layout = below(6);
    switch (layout == 3 && is_mixed ? 2 : layout) { /* structs do not go backwards */
    case 0:
        MPI_Type_contiguous(count, element, &made);
        break;
    case 1:
        MPI_Type_vector(count / 2, 2, 3 + (int)below(3), element, &made);
        break;
    case 2:
        MPI_Type_vector(count, 1, 2 + (int)below(7), element, &made);
        break;
    case 3:
        MPI_Type_create_hvector(count / 4, 4, -extent * (5 + (int)below(2)), element, &made);
        break;
    case 4: {
        int sizes[] = {count / 4 + 2, 7}, part[] = {count / 4, 4}, starts[] = {1, 2};
        MPI_Type_create_subarray(2, sizes, part, starts, below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, element,
                                 &made);
        break;
    }
    default:
        inner = make_indexed(count / 2, element);
        MPI_Type_get_extent(inner, &lowest, &extent);
        MPI_Type_create_hvector(2, 1, extent + 24, inner, &made);
        MPI_Type_free(&inner);
    }
    MPI_Type_commit(&made);
    return made;
}

#endif
