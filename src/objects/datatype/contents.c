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

/* The plain call does not know datatypes that were made with large counts, and raises an error. */
bool hw_datatype_envelope_of(MPI_Datatype datatype, struct hw_datatype_envelope *envelope)
{
    int int_count, aint_count, count;
#ifdef HW_HAVE_Type_get_envelope_c
    if (HW_REAL_HAS(Type_get_envelope_c))
        return hw_bottom.Type_get_envelope_c(datatype, &envelope->int_count, &envelope->aint_count,
                                             &envelope->large_count, &envelope->count,
                                             &envelope->combiner) == MPI_SUCCESS;
#endif
    if (hw_bottom.Type_get_envelope(datatype, &int_count, &aint_count, &count, &envelope->combiner) !=
        MPI_SUCCESS)
        return false;
    *envelope = (struct hw_datatype_envelope){int_count, aint_count, 0, count, envelope->combiner};
    return true;
}

bool hw_datatype_repeated(MPI_Datatype datatype, const struct hw_datatype_envelope *envelope,
                          MPI_Datatype *inner)
{
    int number;
    MPI_Aint address;
    if (envelope->combiner != MPI_COMBINER_CONTIGUOUS && envelope->combiner != MPI_COMBINER_DUP)
        return false;
#ifdef HW_HAVE_Type_get_envelope_c
    MPI_Count large;
    if (HW_REAL_HAS(Type_get_envelope_c))
        return hw_bottom.Type_get_contents_c(datatype, envelope->int_count, envelope->aint_count,
                                             envelope->large_count, 1, &number, &address, &large,
                                             inner) == MPI_SUCCESS;
#endif
    return hw_bottom.Type_get_contents(datatype, (int)envelope->int_count, (int)envelope->aint_count, 1,
                                       &number, &address, inner) == MPI_SUCCESS;
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

static bool open_large(MPI_Datatype datatype, const struct hw_datatype_envelope *envelope,
                       struct hw_datatype_contents *contents)
{
    MPI_Count int_count = envelope->int_count, aint_count = envelope->aint_count;
    MPI_Count large_count = envelope->large_count;
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

static bool open_plain(MPI_Datatype datatype, const struct hw_datatype_envelope *envelope,
                       struct hw_datatype_contents *contents)
{
    MPI_Count int_count = envelope->int_count, aint_count = envelope->aint_count;
    MPI_Aint *aints = calloc((size_t)aint_count + 1, sizeof *aints);
    contents->number_count = int_count + aint_count;
    bool is_open =
        reserve(contents, int_count) && aints &&
        hw_bottom.Type_get_contents(datatype, (int)int_count, (int)aint_count, (int)contents->count,
                                    contents->ints, aints, contents->inner) == MPI_SUCCESS;
    if (is_open)
        join_numbers(contents, aints, aint_count);
    free(aints);
    return is_open;
}

bool hw_datatype_contents_open(MPI_Datatype datatype, struct hw_datatype_contents *contents)
{
    struct hw_datatype_envelope envelope;
    *contents = (struct hw_datatype_contents){0};
    if (!hw_datatype_envelope_of(datatype, &envelope))
        return false;
    contents->count = envelope.count;
    contents->combiner = envelope.combiner;
    if (contents->count == 0)
        return true;
#ifdef HW_HAVE_Type_get_envelope_c
    if (HW_REAL_HAS(Type_get_envelope_c))
        return open_large(datatype, &envelope, contents);
#endif
    return open_plain(datatype, &envelope, contents);
}

void hw_datatype_release(MPI_Datatype datatype)
{
    struct hw_datatype_envelope envelope;
    if (hw_datatype_envelope_of(datatype, &envelope) && envelope.count > 0)
        hw_bottom.Type_free(&datatype);
}
