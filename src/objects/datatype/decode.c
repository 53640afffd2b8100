/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/datatype/decode.h"

#include "objects/datatype/contents.h"
#include "real/type_size.h"

enum { DEPTH_MAX = 64 };

/* What one datatype is decoded with. */
struct decoder {
    struct hw_shape_arena *arena;
    int depth;
};

/* A datatype inside another: its shape, and how far one is from the next. */
struct element {
    struct hw_shape shape;
    int64_t extent;
};

static enum hw_status decode(struct decoder *decoder, MPI_Datatype datatype, struct hw_shape *shape);

static enum hw_status find_element(struct decoder *decoder, MPI_Datatype datatype, struct element *element)
{
    MPI_Count lb, extent;
    if (hw_bottom.Type_get_extent_x(datatype, &lb, &extent) != MPI_SUCCESS)
        return HW_MPI;
    element->extent = (int64_t)extent;
    return decode(decoder, datatype, &element->shape);
}

/* A predefined one. All but two of them are without gaps inside. */
static enum hw_status decode_basic(struct decoder *decoder, MPI_Datatype datatype, struct hw_shape *shape)
{
    enum { SHORT_INT_SIZE = sizeof(short) + sizeof(int), SHORT_INT_SPAN = 2 * sizeof(int) };
    MPI_Count lowest, span;
    int64_t size = (int64_t)hw_real_type_size(datatype);
    hw_shape_block(size, shape);
    if (size == 0)
        return HW_OK;
    if (hw_bottom.Type_get_true_extent_x(datatype, &lowest, &span) != MPI_SUCCESS)
        return HW_MPI;
    if (span == size)
        return hw_shape_move(shape, (int64_t)lowest);
    if (size != SHORT_INT_SIZE || span != SHORT_INT_SPAN || lowest != 0)
        return HW_DECLINED;
    struct hw_shape_sequence fields;
    struct hw_shape field;
    hw_shape_sequence_begin(&fields, decoder->arena);
    hw_shape_block(sizeof(short), &field);
    hw_shape_sequence_add(&fields, &field, 0);
    hw_shape_block(sizeof(int), &field);
    hw_shape_sequence_add(&fields, &field, sizeof(int));
    return hw_shape_sequence_end(&fields, shape);
}

/* `length` elements one behind the other, `count` times, each `stride` bytes further on. */
static enum hw_status repeat(struct decoder *decoder, int64_t count, int64_t length, int64_t stride,
                             const struct element *element, struct hw_shape *shape)
{
    *shape = element->shape;
    enum hw_status status = hw_shape_repeat(decoder->arena, length, element->extent, shape);
    return status == HW_OK ? hw_shape_repeat(decoder->arena, count, stride, shape) : status;
}

static bool scale(int64_t place, int64_t unit, int64_t *bytes)
{
    return !__builtin_mul_overflow(place, unit, bytes);
}

static enum hw_status decode_vector(struct decoder *decoder, const struct hw_datatype_contents *contents,
                                    struct hw_shape *shape)
{
    struct element element;
    enum hw_status status = find_element(decoder, contents->inner[0], &element);
    if (status != HW_OK)
        return status;
    int64_t stride, unit = contents->combiner == MPI_COMBINER_VECTOR ? element.extent : 1;
    if (!scale(contents->numbers[2], unit, &stride))
        return HW_DECLINED;
    return repeat(decoder, contents->numbers[0], contents->numbers[1], stride, &element, shape);
}

/* Where the i-th block of a datatype begins, and its length in elements, by what names blocks. */
static bool find_block(const struct hw_datatype_contents *contents, MPI_Count i, int64_t extent,
                       int64_t *length, int64_t *place)
{
    const MPI_Count *numbers = contents->numbers;
    switch (contents->combiner) {
    case MPI_COMBINER_INDEXED_BLOCK:
        *length = numbers[1];
        return scale(numbers[2 + i], extent, place);
    case MPI_COMBINER_HINDEXED_BLOCK:
        *length = numbers[1];
        *place = numbers[2 + i];
        return true;
    case MPI_COMBINER_INDEXED:
        *length = numbers[1 + i];
        return scale(numbers[1 + numbers[0] + i], extent, place);
    default: /* MPI_COMBINER_HINDEXED, MPI_COMBINER_STRUCT */
        *length = numbers[1 + i];
        *place = numbers[1 + numbers[0] + i];
        return true;
    }
}

static enum hw_status decode_blocks(struct decoder *decoder, const struct hw_datatype_contents *contents,
                                    struct hw_shape *shape)
{
    bool is_struct = contents->combiner == MPI_COMBINER_STRUCT;
    struct hw_shape_sequence blocks;
    struct element element;
    const MPI_Datatype *known = NULL; /* what `element` is of */
    enum hw_status status = HW_OK;
    hw_shape_sequence_begin(&blocks, decoder->arena);
    for (MPI_Count i = 0; i < contents->numbers[0] && status == HW_OK && blocks.status == HW_OK; i++) {
        int64_t length, place;
        const MPI_Datatype *inner = &contents->inner[is_struct ? i : 0];
        if (is_struct && contents->numbers[1 + i] == 0)
            continue; /* its datatype may be anything */
        if (known == NULL || *known != *inner)
            status = find_element(decoder, *inner, &element);
        known = inner;
        if (status == HW_OK && !find_block(contents, i, element.extent, &length, &place))
            status = HW_DECLINED;
        struct hw_shape block = element.shape;
        if (status == HW_OK)
            status = hw_shape_repeat(decoder->arena, length, element.extent, &block);
        if (status == HW_OK)
            hw_shape_sequence_add(&blocks, &block, place);
    }
    enum hw_status ended = hw_shape_sequence_end(&blocks, shape);
    return status == HW_OK ? ended : status;
}

/* ---- parts of arrays ---- */

/* One dimension after the other, beginning with that whose elements are beside one another. */
struct array {
    struct decoder *decoder;
    struct hw_shape *shape; /* of what the dimensions so far take */
    int64_t extent;         /* of all that is in the dimensions so far */
};

/* `count` of `all` from `first` on. */
static enum hw_status take_range(struct array *array, int64_t first, int64_t count)
{
    int64_t place;
    enum hw_status status = hw_shape_repeat(array->decoder->arena, count, array->extent, array->shape);
    if (status != HW_OK || !scale(first, array->extent, &place))
        return status == HW_OK ? HW_DECLINED : status;
    return array->shape->size ? hw_shape_move(array->shape, place) : HW_OK;
}

static enum hw_status end_dimension(struct array *array, int64_t all)
{
    return scale(array->extent, all, &array->extent) ? HW_OK : HW_DECLINED;
}

/* Numbers: sizes, subsizes, starts. */
static enum hw_status decode_subarray(struct decoder *decoder, const struct hw_datatype_contents *contents,
                                      struct hw_shape *shape)
{
    int dimensions = contents->ints[0], order = contents->ints[contents->int_count - 1];
    bool is_large = contents->int_count == 2; /* dimensions and order alone */
    const MPI_Count *sizes = contents->numbers + (is_large ? 0 : 1);
    struct element element;
    enum hw_status status = find_element(decoder, contents->inner[0], &element);
    struct array array = {.decoder = decoder, .shape = shape, .extent = element.extent};
    *shape = element.shape;
    for (int i = 0; i < dimensions && status == HW_OK; i++) {
        int at = order == MPI_ORDER_C ? dimensions - 1 - i : i;
        status = take_range(&array, sizes[2 * dimensions + at], sizes[dimensions + at]);
        if (status == HW_OK)
            status = end_dimension(&array, sizes[at]);
    }
    return status;
}

/* How one dimension of a distributed array is dealt out. */
struct dealt {
    int64_t size;     /* of the array */
    int64_t argument; /* MPI_DISTRIBUTE_DFLT_DARG, or the block */
    int distribution;
    int processes, rank; /* in this dimension */
};

/* Blocks of `block` in turn, of which the last may be short. */
static enum hw_status take_cyclic(struct array *array, const struct dealt *dealt, int64_t block)
{
    int64_t turn, stride, first = dealt->rank * block;
    if (first >= dealt->size) {
        hw_shape_block(0, array->shape);
        return HW_OK;
    }
    if (!scale(block, dealt->processes, &turn) || !scale(turn, array->extent, &stride))
        return HW_DECLINED;
    int64_t whole = (dealt->size - first) / turn, rest = (dealt->size - first) % turn;
    if (rest >= block) {
        whole++;
        rest = 0;
    }
    struct hw_shape_arena *arena = array->decoder->arena;
    struct hw_shape blocks = *array->shape, last = *array->shape;
    struct hw_shape_sequence sequence;
    enum hw_status status = hw_shape_repeat(arena, block, array->extent, &blocks);
    if (status == HW_OK)
        status = hw_shape_repeat(arena, whole, stride, &blocks);
    if (status == HW_OK)
        status = hw_shape_repeat(arena, rest, array->extent, &last);
    if (status != HW_OK)
        return status;
    hw_shape_sequence_begin(&sequence, arena);
    hw_shape_sequence_add(&sequence, &blocks, first * array->extent);
    hw_shape_sequence_add(&sequence, &last, (first + whole * turn) * array->extent);
    return hw_shape_sequence_end(&sequence, array->shape);
}

static enum hw_status take_dealt(struct array *array, const struct dealt *dealt)
{
    int64_t block = dealt->argument;
    switch (dealt->distribution) {
    case MPI_DISTRIBUTE_NONE:
        return take_range(array, 0, dealt->size);
    case MPI_DISTRIBUTE_BLOCK:
        if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = (dealt->size + dealt->processes - 1) / dealt->processes;
        break;
    case MPI_DISTRIBUTE_CYCLIC:
        if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = 1;
        return take_cyclic(array, dealt, block);
    default:
        return HW_DECLINED;
    }
    int64_t first = block * dealt->rank, left = dealt->size - first;
    int64_t count = left < block ? left : block;
    return count > 0 ? take_range(array, first, count) : take_range(array, 0, 0);
}

/* Of arguments size, rank, ndims, gsizes, distribs, dargs, psizes, order: where gsizes are large, they are
 * the only numbers. */
static enum hw_status decode_darray(struct decoder *decoder, const struct hw_datatype_contents *contents,
                                    struct hw_shape *shape)
{
    enum { RANK = 1, DIMENSIONS = 2, FIRST = 3 };
    int dimensions = contents->ints[DIMENSIONS], order = contents->ints[contents->int_count - 1];
    bool is_large = contents->int_count == FIRST + 3 * dimensions + 1;
    const MPI_Count *sizes = contents->numbers + (is_large ? 0 : FIRST);
    const int *distributions = contents->ints + FIRST + (is_large ? 0 : dimensions);
    const int *arguments = distributions + dimensions, *processes = arguments + dimensions;
    struct element element;
    enum hw_status status = find_element(decoder, contents->inner[0], &element);
    struct array array = {.decoder = decoder, .shape = shape, .extent = element.extent};
    *shape = element.shape;
    for (int i = 0; i < dimensions && status == HW_OK; i++) {
        int at = order == MPI_ORDER_C ? dimensions - 1 - i : i, rank = contents->ints[RANK];
        for (int j = dimensions - 1; j > at; j--)
            rank /= processes[j];
        struct dealt dealt = {.size = sizes[at],
                              .argument = arguments[at],
                              .distribution = distributions[at],
                              .processes = processes[at],
                              .rank = rank % processes[at]};
        status = take_dealt(&array, &dealt);
        if (status == HW_OK)
            status = end_dimension(&array, dealt.size);
    }
    return status;
}

static enum hw_status decode_contents(struct decoder *decoder, const struct hw_datatype_contents *contents,
                                      struct hw_shape *shape)
{
    switch (contents->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return decode(decoder, contents->inner[0], shape);
    case MPI_COMBINER_CONTIGUOUS: {
        struct element element;
        enum hw_status status = find_element(decoder, contents->inner[0], &element);
        return status == HW_OK ? repeat(decoder, 1, contents->numbers[0], 0, &element, shape) : status;
    }
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        return decode_vector(decoder, contents, shape);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
        return decode_blocks(decoder, contents, shape);
    case MPI_COMBINER_SUBARRAY:
        return decode_subarray(decoder, contents, shape);
    case MPI_COMBINER_DARRAY:
        return decode_darray(decoder, contents, shape);
    default:
        return HW_DECLINED;
    }
}

/* One without elements has no shape to look for, whatever it is made of. */
static enum hw_status decode(struct decoder *decoder, MPI_Datatype datatype, struct hw_shape *shape)
{
    uint64_t size = hw_real_type_size(datatype);
    hw_shape_block(0, shape);
    if (size == 0)
        return HW_OK;
    if (decoder->depth >= DEPTH_MAX)
        return HW_DECLINED;
    struct hw_datatype_contents contents;
    enum hw_status status = HW_MPI;
    decoder->depth++;
    if (hw_datatype_contents_open(datatype, &contents)) {
        status = contents.count == 0 ? decode_basic(decoder, datatype, shape)
                                     : decode_contents(decoder, &contents, shape);
        for (MPI_Count i = 0; i < contents.count; i++)
            hw_datatype_release(contents.inner[i]);
    }
    hw_datatype_contents_close(&contents);
    decoder->depth--;
    if (status == HW_OK && (uint64_t)shape->size != size)
        return HW_DECLINED; /* the MPI means something else */
    return status;
}

enum hw_status hw_datatype_decode(MPI_Datatype datatype, struct hw_shape_arena *arena, struct hw_shape *shape)
{
    struct decoder decoder = {.arena = arena};
    return decode(&decoder, datatype, shape);
}
