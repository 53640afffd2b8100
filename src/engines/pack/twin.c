/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/pack/twin.h"

#include "objects/datatype/contents.h"
#include "real/constants.h"
#include "real/parts.h"
#include "real/quirks.h"

#include <limits.h>
#include <stdlib.h>

enum { FIELDS_MAX = 4096 };

/* `count` of `type`, one behind the other, have the signature. */
struct dense {
    MPI_Datatype type;
    bool is_owned; /* to be freed */
    int64_t count;
};

static bool find(MPI_Datatype datatype, struct dense *dense);

static int64_t size_of(MPI_Datatype datatype)
{
    MPI_Count size;
    return hw_bottom.Type_size_x(datatype, &size) == MPI_SUCCESS ? (int64_t)size : 0;
}

static void let_go(struct dense *dense)
{
    if (dense->is_owned)
        hw_bottom.Type_free(&dense->type);
    dense->is_owned = false;
}

/* One that MPI defines. Pairs of MPI_MINLOC have gaps. */
static bool find_basic(MPI_Datatype datatype, struct dense *dense)
{
    MPI_Count lowest, extent;
    *dense = (struct dense){.type = datatype, .count = 1};
    return hw_bottom.Type_get_extent_x(datatype, &lowest, &extent) == MPI_SUCCESS && lowest == 0 &&
           extent == size_of(datatype) && extent > 0;
}

/* All elements come from one inner datatype, so many times. */
static bool find_repeated(MPI_Datatype datatype, MPI_Datatype inner, struct dense *dense)
{
    int64_t size = size_of(datatype), inner_size = size_of(inner);
    if (inner_size <= 0 || size % inner_size != 0 || !find(inner, dense))
        return false;
    return !__builtin_mul_overflow(dense->count, size / inner_size, &dense->count);
}

/* The fields of a struct in the making: in memory as they are packed. */
struct fields {
    int count;
    int lengths[FIELDS_MAX];
    MPI_Aint places[FIELDS_MAX];
    MPI_Datatype types[FIELDS_MAX];
    int64_t size;
};

static bool add_field(struct fields *fields, const struct dense *dense, int64_t blocks)
{
    int64_t length, bytes;
    if (fields->count == FIELDS_MAX || __builtin_mul_overflow(dense->count, blocks, &length) ||
        length > INT_MAX)
        return false;
    bytes = length * size_of(dense->type);
    fields->types[fields->count] = dense->type;
    fields->lengths[fields->count] = (int)length;
    fields->places[fields->count++] = (MPI_Aint)fields->size;
    fields->size += bytes;
    return true;
}

static bool make_struct(struct fields *fields, struct dense *dense)
{
    MPI_Datatype packed = HW_DATATYPE_NULL;
    if (hw_bottom.Type_create_struct(fields->count, fields->lengths, fields->places, fields->types,
                                     &packed) != MPI_SUCCESS)
        return false;
    /* Without what alignment adds at the end. */
    bool is_made =
        hw_bottom.Type_create_resized(packed, 0, (MPI_Aint)fields->size, &dense->type) == MPI_SUCCESS;
    hw_bottom.Type_free(&packed);
    dense->count = 1;
    dense->is_owned = is_made;
    return is_made;
}

/* numbers: the count of blocks, then the length of each. */
static bool find_fields(const struct hw_datatype_contents *contents, struct dense *dense,
                        struct fields *fields)
{
    bool is_found = true, is_one_type = true;
    struct dense *inner = calloc((size_t)contents->count, sizeof *inner);
    int64_t total = 0;
    for (MPI_Count i = 0; inner && is_found && i < contents->count; i++) {
        int64_t blocks = contents->numbers[1 + i];
        if (blocks <= 0 || size_of(contents->inner[i]) == 0)
            continue;
        is_found = find(contents->inner[i], &inner[i]) && add_field(fields, &inner[i], blocks);
        is_one_type = is_one_type && is_found && !inner[i].is_owned && inner[i].type == fields->types[0];
        total += is_found ? fields->lengths[fields->count - 1] : 0;
    }
    is_found = inner && is_found && fields->count > 0;
    if (is_found && is_one_type)
        *dense = (struct dense){.type = fields->types[0], .count = total};
    else if (is_found)
        is_found = make_struct(fields, dense);
    for (MPI_Count i = 0; inner && i < contents->count; i++)
        let_go(&inner[i]);
    free(inner);
    return is_found;
}

static bool find_struct(const struct hw_datatype_contents *contents, struct dense *dense)
{
    struct fields *fields = calloc(1, sizeof *fields);
    bool is_found = fields && contents->count <= FIELDS_MAX && find_fields(contents, dense, fields);
    free(fields);
    return is_found;
}

/* No deeper than the plan, which there is. */
static bool find(MPI_Datatype datatype, struct dense *dense)
{
    struct hw_datatype_contents contents;
    bool is_found = hw_datatype_contents_open(datatype, &contents);
    *dense = (struct dense){0};
    if (is_found && contents.count == 0)
        is_found = find_basic(datatype, dense);
    else if (is_found && contents.combiner == MPI_COMBINER_STRUCT)
        is_found = find_struct(&contents, dense);
    else if (is_found)
        is_found = find_repeated(datatype, contents.inner[0], dense);
    for (MPI_Count i = 0; contents.inner && i < contents.count; i++)
        hw_datatype_release(contents.inner[i]);
    hw_datatype_contents_close(&contents);
    if (!is_found)
        let_go(dense);
    return is_found;
}

static void free_twin(void *of)
{
    struct hw_pack_twin *twin = of;
    if (twin->owned != HW_DATATYPE_NULL)
        hw_bottom.Type_free(&twin->owned);
    free(twin);
}

/* Whether all elements are of one basic datatype that is no larger. */
static bool is_whole(const struct hw_pack_twin *twin, int64_t bytes)
{
    return twin->owned == HW_DATATYPE_NULL && size_of(twin->by[HW_SHAPE_UNPACK].type) <= bytes;
}

/* Where there is none counts are 0. */
static struct hw_pack_twin *make(MPI_Datatype datatype)
{
    struct hw_pack_twin *twin = calloc(1, sizeof *twin);
    struct dense dense;
    if (twin == NULL)
        return NULL;
    twin->owned = HW_DATATYPE_NULL;
    if (!find(datatype, &dense))
        return twin;
    if (dense.is_owned && hw_bottom.Type_commit(&dense.type) != MPI_SUCCESS) {
        let_go(&dense);
        return twin;
    }
    const struct hw_pack_dense exact = {dense.type, dense.count}, packed = {HW_PACKED, size_of(datatype)};
    bool is_slow = dense.is_owned && HW_REAL_PACKS_DENSE_STRUCTS;
    twin->owned = dense.is_owned ? dense.type : HW_DATATYPE_NULL;
    twin->by[HW_SHAPE_UNPACK] = is_slow ? packed : exact;
    if (hw_real_takes_dense() || is_whole(twin, HW_REAL_WHOLE_BYTES))
        twin->by[HW_SHAPE_PACK] = twin->by[HW_SHAPE_UNPACK];
    return twin;
}

/* NULL: no memory. */
static const struct hw_pack_twin *twin_of(struct hw_plan *plan, MPI_Datatype datatype)
{
    struct hw_pack_twin *twin = hw_atomic_load_acquire(&plan->twin);
    void *none = NULL;
    if (twin || (twin = make(datatype)) == NULL)
        return twin;
    if (!hw_atomic_compare_exchange_acq_rel(&plan->twin, &none, twin)) {
        free_twin(twin);
        return none;
    }
    plan->free_twin = free_twin; /* for hw_plan_release, which comes when no call has the plan */
    return twin;
}

const struct hw_pack_dense *hw_pack_dense_of(struct hw_plan *plan, MPI_Datatype datatype,
                                             enum hw_shape_direction direction)
{
    const struct hw_pack_twin *twin = twin_of(plan, datatype);
    return twin && twin->by[direction].count > 0 ? &twin->by[direction] : NULL;
}

bool hw_pack_is_whole_in_parts(struct hw_plan *plan, MPI_Datatype datatype)
{
    const struct hw_pack_twin *twin = twin_of(plan, datatype);
    return twin && twin->by[HW_SHAPE_UNPACK].count > 0 && is_whole(twin, HW_REAL_WHOLE_PART_BYTES);
}

bool hw_pack_must_be_dense(struct hw_plan *plan, MPI_Datatype datatype, uint64_t bytes)
{
    enum { PARTS_FROM = 8 * 1024 }; /* what is shorter comes in one */
    if (bytes < PARTS_FROM || hw_real_takes_dense_matched())
        return false;
    struct hw_pack_twin *own = plan ? NULL : make(datatype);
    const struct hw_pack_twin *twin = plan ? twin_of(plan, datatype) : own;
    bool must = twin && twin->by[HW_SHAPE_UNPACK].count > 0 && !is_whole(twin, HW_REAL_WHOLE_MATCHED_BYTES);
    if (own)
        free_twin(own);
    return must;
}
