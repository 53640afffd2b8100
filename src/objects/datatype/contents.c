/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/datatype/contents.h"

#include <stdlib.h>

static bool reserve(struct hw_datatype_contents *contents, MPI_Count int_count)
{
    contents->int_count = int_count;
    contents->ints = calloc((size_t)int_count + 1, sizeof *contents->ints);
    contents->numbers = calloc((size_t)contents->number_count + 1, sizeof *contents->numbers);
    contents->inner = calloc((size_t)contents->count, sizeof(MPI_Datatype));
    return contents->ints && contents->numbers && contents->inner;
}

void hw_datatype_contents_close(struct hw_datatype_contents *contents)
{
    free(contents->ints);
    free(contents->numbers);
    free(contents->inner);
}

/* Where counts are not large, ints come first. */
static void join_numbers(struct hw_datatype_contents *contents, const MPI_Aint *aints, MPI_Count aint_count)
{
    MPI_Count *numbers = contents->numbers;
    for (MPI_Count i = 0; i < contents->int_count; i++)
        *numbers++ = contents->ints[i];
    for (MPI_Count i = 0; i < aint_count; i++)
        *numbers++ = aints[i];
}

#ifdef HW_HAVE_Type_get_envelope_c

/* Knows datatypes that were made with large counts too, the plain one does not. */
static bool open_large(MPI_Datatype datatype, struct hw_datatype_contents *contents)
{
    MPI_Count int_count, aint_count, large_count;
    if (hw_bottom.Type_get_envelope_c(datatype, &int_count, &aint_count, &large_count, &contents->count,
                                      &contents->combiner) != MPI_SUCCESS)
        return false;
    if (contents->count == 0)
        return true;
    MPI_Aint *aints = calloc((size_t)aint_count + 1, sizeof *aints);
    contents->number_count = int_count + aint_count + large_count;
    bool is_open = reserve(contents, int_count) && aints &&
                   hw_bottom.Type_get_contents_c(datatype, int_count, aint_count, large_count,
                                                 contents->count, contents->ints, aints, contents->numbers,
                                                 contents->inner) == MPI_SUCCESS;
    if (is_open && large_count == 0)
        join_numbers(contents, aints, aint_count);
    else
        contents->number_count = large_count;
    free(aints);
    return is_open;
}

#endif

static bool open_plain(MPI_Datatype datatype, struct hw_datatype_contents *contents)
{
    int int_count, aint_count, count;
    if (hw_bottom.Type_get_envelope(datatype, &int_count, &aint_count, &count, &contents->combiner) !=
        MPI_SUCCESS)
        return false;
    contents->count = count;
    if (count == 0)
        return true;
    MPI_Aint *aints = calloc((size_t)aint_count + 1, sizeof *aints);
    contents->number_count = int_count + aint_count;
    bool is_open = reserve(contents, int_count) && aints &&
                   hw_bottom.Type_get_contents(datatype, int_count, aint_count, count, contents->ints, aints,
                                               contents->inner) == MPI_SUCCESS;
    if (is_open)
        join_numbers(contents, aints, aint_count);
    free(aints);
    return is_open;
}

bool hw_datatype_contents_open(MPI_Datatype datatype, struct hw_datatype_contents *contents)
{
    *contents = (struct hw_datatype_contents){0};
#ifdef HW_HAVE_Type_get_envelope_c
    if (HW_REAL_HAS(Type_get_envelope_c))
        return open_large(datatype, contents);
#endif
    return open_plain(datatype, contents);
}

void hw_datatype_release(MPI_Datatype datatype)
{
    int ints, aints, count, combiner;
#ifdef HW_HAVE_Type_get_envelope_c
    if (HW_REAL_HAS(Type_get_envelope_c)) {
        MPI_Count large[4];
        if (hw_bottom.Type_get_envelope_c(datatype, &large[0], &large[1], &large[2], &large[3], &combiner) ==
                MPI_SUCCESS &&
            large[3] > 0)
            hw_bottom.Type_free(&datatype);
        return;
    }
#endif
    if (hw_bottom.Type_get_envelope(datatype, &ints, &aints, &count, &combiner) == MPI_SUCCESS && count > 0)
        hw_bottom.Type_free(&datatype);
}
