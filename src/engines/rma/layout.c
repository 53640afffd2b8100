#include "engines/rma/layout.h"

#include "real/constants.h"
#include "real/type_size.h"
#include "world/world.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

enum { BITS_PER_PASS = 8 };

/* What a datatype was made of. */
struct contents {
    MPI_Count count; /* of inner; 0: basic */
    MPI_Datatype *inner;
    bool *is_used; /* not an empty block of a struct */
};

static void fill_used(struct contents *contents, int combiner, const int *ints, const MPI_Count *larges)
{
    for (MPI_Count i = 0; i < contents->count; i++) {
        MPI_Count length = 1;
        if (combiner == MPI_COMBINER_STRUCT)
            length = larges ? larges[1 + i] : ints[1 + i];
        contents->is_used[i] = length > 0 && hw_real_type_size(contents->inner[i]) > 0;
    }
}

static bool reserve(struct contents *contents)
{
    size_t size = (size_t)contents->count;
    contents->inner = calloc(size, sizeof(MPI_Datatype));
    contents->is_used = calloc(size, sizeof *contents->is_used);
    return contents->inner && contents->is_used;
}

#ifdef HW_HAVE_Type_get_envelope_c

/* Knows datatypes that were made with large counts too, the plain one does not. */
static bool open_large(MPI_Datatype datatype, struct contents *contents)
{
    MPI_Count int_count, aint_count, large_count;
    int combiner;
    if (hw_bottom.Type_get_envelope_c(datatype, &int_count, &aint_count, &large_count, &contents->count,
                                      &combiner) != MPI_SUCCESS)
        return false;
    if (contents->count == 0)
        return true;
    int *ints = calloc((size_t)int_count + 1, sizeof *ints);
    MPI_Aint *aints = calloc((size_t)aint_count + 1, sizeof *aints);
    MPI_Count *larges = calloc((size_t)large_count + 1, sizeof *larges);
    bool is_open =
        reserve(contents) && ints && aints && larges &&
        hw_bottom.Type_get_contents_c(datatype, int_count, aint_count, large_count, contents->count, ints,
                                      aints, larges, contents->inner) == MPI_SUCCESS;
    if (is_open)
        fill_used(contents, combiner, ints, large_count > 0 ? larges : NULL);
    free(ints);
    free(aints);
    free(larges);
    return is_open;
}

#endif

static bool open_plain(MPI_Datatype datatype, struct contents *contents)
{
    int int_count, aint_count, count, combiner;
    if (hw_bottom.Type_get_envelope(datatype, &int_count, &aint_count, &count, &combiner) != MPI_SUCCESS)
        return false;
    contents->count = count;
    if (count == 0)
        return true;
    int *ints = calloc((size_t)int_count + 1, sizeof *ints);
    MPI_Aint *aints = calloc((size_t)aint_count + 1, sizeof *aints);
    bool is_open = reserve(contents) && ints && aints &&
                   hw_bottom.Type_get_contents(datatype, int_count, aint_count, count, ints, aints,
                                               contents->inner) == MPI_SUCCESS;
    if (is_open)
        fill_used(contents, combiner, ints, NULL);
    free(ints);
    free(aints);
    return is_open;
}

static bool open_type(MPI_Datatype datatype, struct contents *contents)
{
    *contents = (struct contents){0};
#ifdef HW_HAVE_Type_get_envelope_c
    if (HW_REAL_HAS(Type_get_envelope_c))
        return open_large(datatype, contents);
#endif
    return open_plain(datatype, contents);
}

/* A handle that MPI_Type_get_contents gave: derived ones are the caller's. */
static void release(MPI_Datatype datatype)
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

/* Keeps the first inner datatype that has elements, and lets go of the others. */
static MPI_Datatype keep_first(const struct contents *contents)
{
    MPI_Datatype kept = HW_DATATYPE_NULL;
    for (MPI_Count i = 0; i < contents->count; i++) {
        if (kept == HW_DATATYPE_NULL && contents->is_used[i])
            kept = contents->inner[i];
        else
            release(contents->inner[i]);
    }
    return kept;
}

MPI_Datatype hw_rma_layout_element(MPI_Datatype datatype)
{
    bool is_ours = false;
    while (datatype != HW_DATATYPE_NULL) {
        struct contents contents;
        bool is_open = open_type(datatype, &contents);
        MPI_Datatype next = is_open && contents.count > 0 ? keep_first(&contents) : HW_DATATYPE_NULL;
        free(contents.inner);
        free(contents.is_used);
        if (is_open && contents.count == 0)
            return datatype;
        if (is_ours)
            hw_bottom.Type_free(&datatype);
        datatype = next;
        is_ours = true;
    }
    return HW_DATATYPE_NULL;
}

/* One byte of every place in each pass; what comes out first of an element says where it begins. */
static bool find_places(MPI_Datatype datatype, MPI_Count lowest, MPI_Count span, int element_size,
                        struct hw_rma_layout *layout)
{
    int bytes = (int)(layout->group_count * element_size);
    unsigned char *ruler = malloc((size_t)span + 1), *packed = malloc((size_t)bytes + 1);
    bool is_found = ruler && packed;
    for (int shift = 0; is_found && shift < 64 && (uint64_t)(span - 1) >> shift; shift += BITS_PER_PASS) {
        int position = 0;
        for (MPI_Count i = 0; i < span; i++)
            ruler[i] = (unsigned char)((uint64_t)i >> shift);
        is_found = hw_bottom.Pack(ruler - lowest, 1, datatype, packed, bytes, &position, hw_world.all) ==
                       MPI_SUCCESS &&
                   position == bytes;
        for (MPI_Count i = 0; is_found && i < layout->group_count; i++)
            layout->places[i] += (MPI_Aint)packed[i * element_size] << shift;
    }
    for (MPI_Count i = 0; is_found && i < layout->group_count; i++)
        layout->places[i] += (MPI_Aint)lowest;
    free(ruler);
    free(packed);
    return is_found;
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
    if (find_places(datatype, lowest, span, (int)element_size, layout))
        return HW_OK;
    hw_rma_layout_free(layout);
    return HW_MPI;
}

void hw_rma_layout_free(struct hw_rma_layout *layout)
{
    free(layout->places);
    layout->places = NULL;
}
