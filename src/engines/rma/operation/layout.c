/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/operation/layout.h"

#include "objects/datatype/contents.h"
#include "real/constants.h"
#include "real/type_size.h"
#include "world/world.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

enum { BITS_PER_PASS = 8 };

/* What spans more is taken apart first: the ruler (find_places) is as long as the datatype, and one of
 * absolute addresses spans most of the address space. */
enum { RULER_BYTES_MAX = 16 * 1024 * 1024 };

/* Not an empty block of a struct. */
static bool is_used(const struct hw_datatype_contents *contents, MPI_Count index)
{
    bool is_empty = contents->combiner == MPI_COMBINER_STRUCT && contents->numbers[1 + index] <= 0;
    return !is_empty && hw_real_type_size(contents->inner[index]) > 0;
}

/* Keeps the first inner datatype that has elements, and lets go of the others. */
static MPI_Datatype keep_first(const struct hw_datatype_contents *contents)
{
    MPI_Datatype kept = HW_DATATYPE_NULL;
    for (MPI_Count i = 0; i < contents->count; i++) {
        if (kept == HW_DATATYPE_NULL && is_used(contents, i))
            kept = contents->inner[i];
        else
            hw_datatype_release(contents->inner[i]);
    }
    return kept;
}

MPI_Datatype hw_rma_layout_element(MPI_Datatype datatype)
{
    bool is_ours = false;
    while (datatype != HW_DATATYPE_NULL) {
        struct hw_datatype_contents contents;
        bool is_open = hw_datatype_contents_open(datatype, &contents);
        MPI_Datatype next = is_open && contents.count > 0 ? keep_first(&contents) : HW_DATATYPE_NULL;
        hw_datatype_contents_close(&contents);
        if (is_open && contents.count == 0)
            return datatype;
        if (is_ours)
            hw_bottom.Type_free(&datatype);
        datatype = next;
        is_ours = true;
    }
    return HW_DATATYPE_NULL;
}

/* Writes where the elements of datatypes lie, one behind the other. */
struct writer {
    MPI_Count element_size;
    MPI_Aint *next;
};

/* One byte of every place in each pass; what comes out first of an element says where it begins. */
static bool measure(struct writer *writer, MPI_Datatype datatype, MPI_Count lowest, MPI_Count span,
                    MPI_Aint offset)
{
    int element_size = (int)writer->element_size, bytes = (int)hw_real_type_size(datatype);
    MPI_Count count = bytes / element_size;
    unsigned char *ruler = malloc((size_t)span + 1), *packed = malloc((size_t)bytes + 1);
    bool is_found = ruler && packed;
    for (MPI_Count i = 0; i < count; i++)
        writer->next[i] = offset + (MPI_Aint)lowest;
    for (int shift = 0; is_found && shift < 64 && (uint64_t)(span - 1) >> shift; shift += BITS_PER_PASS) {
        int position = 0;
        for (MPI_Count i = 0; i < span; i++)
            ruler[i] = (unsigned char)((uint64_t)i >> shift);
        is_found = hw_bottom.Pack(ruler - lowest, 1, datatype, packed, bytes, &position, hw_world.all) ==
                       MPI_SUCCESS &&
                   position == bytes;
        for (MPI_Count i = 0; is_found && i < count; i++)
            writer->next[i] += (MPI_Aint)packed[i * element_size] << shift;
    }
    writer->next += count;
    free(ruler);
    free(packed);
    return is_found;
}

static bool find_places(struct writer *writer, MPI_Datatype datatype, MPI_Aint offset);

/* `length` of a datatype, one behind the other. */
static bool find_block(struct writer *writer, MPI_Datatype datatype, MPI_Count length, MPI_Aint offset)
{
    MPI_Count lb, extent;
    const MPI_Aint *first = writer->next;
    if (length <= 0)
        return true;
    if (hw_bottom.Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS ||
        !find_places(writer, datatype, offset))
        return false;
    MPI_Count count = writer->next - first;
    for (MPI_Count i = 1; i < length; i++)
        for (MPI_Count j = 0; j < count; j++)
            *writer->next++ = first[j] + (MPI_Aint)(i * extent);
    return true;
}

/* The i-th block of a datatype whose constructor (MPI-4.1 section 5.1.2) names blocks. */
static bool find_ith(struct writer *writer, const struct hw_datatype_contents *contents, MPI_Count i,
                     MPI_Aint offset)
{
    const MPI_Count *numbers = contents->numbers;
    bool is_struct = contents->combiner == MPI_COMBINER_STRUCT;
    MPI_Datatype inner = contents->inner[is_struct ? i : 0];
    MPI_Count lb, unit = 1, length = numbers[1], place;
    switch (contents->combiner) {
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
        if (hw_bottom.Type_get_extent_x(inner, &lb, &unit) != MPI_SUCCESS)
            return false;
        break;
    default:
        break;
    }
    switch (contents->combiner) {
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        place = i * numbers[2];
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        place = numbers[2 + i];
        break;
    default:
        length = numbers[1 + i];
        place = numbers[1 + numbers[0] + i];
    }
    return find_block(writer, inner, length, offset + (MPI_Aint)(place * unit));
}

/* A datatype by what it was made of. HW_DECLINED: it is of another kind; nothing was written. */
static enum hw_status find_in_contents(struct writer *writer, const struct hw_datatype_contents *contents,
                                       MPI_Aint offset)
{
    bool is_found = true;
    switch (contents->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        is_found = find_places(writer, contents->inner[0], offset);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        is_found = find_block(writer, contents->inner[0], contents->numbers[0], offset);
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
        for (MPI_Count i = 0; i < contents->numbers[0] && is_found; i++)
            is_found = find_ith(writer, contents, i, offset);
        break;
    default:
        return HW_DECLINED;
    }
    return is_found ? HW_OK : HW_MPI;
}

static bool find_places(struct writer *writer, MPI_Datatype datatype, MPI_Aint offset)
{
    MPI_Count lowest, span;
    if (hw_real_type_size(datatype) == 0)
        return true;
    if (hw_bottom.Type_get_true_extent_x(datatype, &lowest, &span) != MPI_SUCCESS)
        return false;
    enum hw_status status = HW_DECLINED;
    struct hw_datatype_contents contents;
    if (span > RULER_BYTES_MAX) {
        if (hw_datatype_contents_open(datatype, &contents) && contents.count > 0)
            status = find_in_contents(writer, &contents, offset);
        for (MPI_Count i = 0; i < contents.count && contents.inner; i++)
            hw_datatype_release(contents.inner[i]);
        hw_datatype_contents_close(&contents);
    }
    return status == HW_DECLINED ? measure(writer, datatype, lowest, span, offset) : status == HW_OK;
}

enum hw_status hw_rma_layout_make(MPI_Count count, MPI_Datatype datatype, MPI_Count element_size,
                                  struct hw_rma_layout *layout)
{
    MPI_Count bytes = (MPI_Count)hw_real_type_size(datatype), lb, extent, lowest, span;
    *layout = (struct hw_rma_layout){0};
    if (element_size <= 0 || bytes % element_size != 0 || bytes > INT_MAX ||
        hw_bottom.Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS ||
        hw_bottom.Type_get_true_extent_x(datatype, &lowest, &span) != MPI_SUCCESS)
        return HW_MPI;
    layout->group_count = bytes / element_size;
    layout->count = layout->group_count * count;
    layout->extent = (MPI_Aint)extent;
    if (layout->group_count == 1 && lowest == 0)
        return HW_OK;
    layout->places = calloc((size_t)layout->group_count + 1, sizeof *layout->places);
    if (layout->places == NULL)
        return HW_NOMEM;
    struct writer writer = {.element_size = element_size, .next = layout->places};
    if (find_places(&writer, datatype, 0))
        return HW_OK;
    hw_rma_layout_free(layout);
    return HW_MPI;
}

void hw_rma_layout_free(struct hw_rma_layout *layout)
{
    free(layout->places);
    layout->places = NULL;
}
