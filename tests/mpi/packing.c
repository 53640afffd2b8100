/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: random trees of datatypes, of every constructor, up to five deep, packed and unpacked:
 * negative strides and bounds, overlaps, nothing in between. Arguments: how many, the first seed, and "say"
 * to print each. Prints a digest of what was packed, for each hundred. */
#include "check.h"

enum { SIDE = 1 << 19, DEPTH = 5, PACKED = 1 << 16, EACH = 100, MEMBERS = 5, ROUNDS = 4 };

#if MPI_VERSION >= 4
#define HAS_LARGE 1
#else
#define HAS_LARGE 0
#endif

static unsigned long long state;
static bool is_saying;
static char *memory, *other; /* the middle of 2 * SIDE bytes */

static unsigned draw(unsigned most)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)((state >> 33) % (most + 1));
}

static int between(int least, int most) { return least + (int)draw((unsigned)(most - least)); }

static void fill(char *data, size_t bytes)
{
    unsigned long long value = state;
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        value = value * 6364136223846793005ull + 1442695040888963407ull;
        memcpy(data + i, &value, 8);
    }
}

static MPI_Datatype leaf(void)
{
    MPI_Datatype made;
    switch (draw(11)) {
    case 0:
        return MPI_CHAR;
    case 1:
        return MPI_SHORT;
    case 2:
        return MPI_INT;
    case 3:
        return MPI_SHORT_INT;
    case 4:
        return MPI_DOUBLE_INT;
    case 5:
        return MPI_LONG_DOUBLE_INT;
    case 6:
        return MPI_2INT;
    case 7:
        MPI_Type_create_f90_real(10, 40, &made);
        return made;
    case 8:
        MPI_Type_create_f90_integer(5, &made);
        return made;
    case 9:
        return MPI_FLOAT_INT;
    default:
        return MPI_DOUBLE;
    }
}

static bool is_named(MPI_Datatype type)
{
    int combiner;
#if HAS_LARGE
    MPI_Count ints, aints, counts, types;
    MPI_Type_get_envelope_c(type, &ints, &aints, &counts, &types, &combiner);
#else
    int ints, aints, types;
    MPI_Type_get_envelope(type, &ints, &aints, &types, &combiner);
#endif
    return types == 0;
}

static void drop(MPI_Datatype *type)
{
    if (!is_named(*type))
        MPI_Type_free(type);
}

static MPI_Datatype tree(int depth);

static MPI_Datatype make_struct(int depth)
{
    MPI_Datatype members[MEMBERS], made;
    int lengths[MEMBERS], count = between(1, MEMBERS);
    MPI_Aint places[MEMBERS];
    for (int i = 0; i < count; i++) {
        members[i] = tree(depth);
        lengths[i] = between(0, 3);
        places[i] = between(-200, 400);
    }
    bool is_large = HAS_LARGE && draw(2) == 0;
#if HAS_LARGE
    if (is_large) {
        MPI_Count large[MEMBERS], far[MEMBERS];
        for (int i = 0; i < count; i++) {
            large[i] = lengths[i];
            far[i] = places[i];
        }
        MPI_Type_create_struct_c(count, large, far, members, &made);
    }
#endif
    if (!is_large)
        MPI_Type_create_struct(count, lengths, places, members, &made);
    for (int i = 0; i < count; i++)
        drop(&members[i]);
    return made;
}

static MPI_Datatype make_blocks(MPI_Datatype inner)
{
    enum { BLOCKS = 40 };
    int lengths[BLOCKS], places[BLOCKS], count = between(1, draw(3) ? 6 : BLOCKS), length = between(0, 4);
    int is_ascending = draw(2) > 0, place = 0;
    MPI_Aint far[BLOCKS];
    MPI_Datatype made;
    for (int i = 0; i < count; i++) {
        lengths[i] = between(0, 4);
        places[i] = is_ascending ? (place += between(1, 5)) : between(-6, 12);
        far[i] = is_ascending ? 40 * (MPI_Aint)i : between(-200, 400);
    }
    switch (draw(HAS_LARGE ? 5 : 3)) {
    case 0:
        MPI_Type_indexed(count, lengths, places, inner, &made);
        break;
    case 1:
        MPI_Type_create_hindexed(count, lengths, far, inner, &made);
        break;
    case 2:
        MPI_Type_create_indexed_block(count, length, places, inner, &made);
        break;
    case 3:
        MPI_Type_create_hindexed_block(count, length, far, inner, &made);
        break;
#if HAS_LARGE
    default: {
        MPI_Count large[BLOCKS], at[BLOCKS];
        for (int i = 0; i < count; i++) {
            large[i] = lengths[i];
            at[i] = places[i];
        }
        if (draw(1))
            MPI_Type_indexed_c(count, large, at, inner, &made);
        else
            MPI_Type_create_hindexed_block_c(count, length, at, inner, &made);
        break;
    }
#endif
    }
    return made;
}

static MPI_Datatype make_subarray(MPI_Datatype inner)
{
    enum { DIMENSIONS = 4 };
    int count = between(1, DIMENSIONS), order = draw(1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    int sizes[DIMENSIONS], parts[DIMENSIONS], starts[DIMENSIONS];
    MPI_Datatype made;
    for (int i = 0; i < count; i++) {
        sizes[i] = between(1, 6);
        parts[i] = between(1, sizes[i]);
        starts[i] = between(0, sizes[i] - parts[i]);
    }
    bool is_large = HAS_LARGE && draw(2) == 0;
#if HAS_LARGE
    if (is_large) {
        MPI_Count a[DIMENSIONS], b[DIMENSIONS], c[DIMENSIONS];
        for (int i = 0; i < count; i++) {
            a[i] = sizes[i];
            b[i] = parts[i];
            c[i] = starts[i];
        }
        MPI_Type_create_subarray_c(count, a, b, c, order, inner, &made);
    }
#endif
    if (!is_large)
        MPI_Type_create_subarray(count, sizes, parts, starts, order, inner, &made);
    return made;
}

/* Open MPI refuses some: an array of nothing. */
static MPI_Datatype make_darray(MPI_Datatype inner)
{
    enum { DIMENSIONS = 3 };
    static const int ways[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE};
    int count = between(1, DIMENSIONS), order = draw(1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, size = 1;
    int sizes[DIMENSIONS], how[DIMENSIONS], arguments[DIMENSIONS], processes[DIMENSIONS];
    MPI_Datatype made;
    for (int i = 0; i < count; i++) {
        sizes[i] = between(1, 9);
        how[i] = ways[draw(2)];
        processes[i] = how[i] == MPI_DISTRIBUTE_NONE ? 1 : between(1, 3);
        arguments[i] = MPI_DISTRIBUTE_DFLT_DARG;
        if (how[i] == MPI_DISTRIBUTE_CYCLIC && draw(1))
            arguments[i] = between(1, 3);
        if (how[i] == MPI_DISTRIBUTE_BLOCK && draw(1))
            arguments[i] = (sizes[i] + processes[i] - 1) / processes[i] + between(0, 1);
        size *= processes[i];
    }
    int rank = (int)draw((unsigned)size - 1), rc = MPI_SUCCESS;
    bool is_large = HAS_LARGE && draw(2) == 0;
#if HAS_LARGE
    if (is_large) {
        MPI_Count large[DIMENSIONS];
        for (int i = 0; i < count; i++)
            large[i] = sizes[i];
        rc = MPI_Type_create_darray_c(size, rank, count, large, how, arguments, processes, order, inner,
                                      &made);
    }
#endif
    if (!is_large)
        rc = MPI_Type_create_darray(size, rank, count, sizes, how, arguments, processes, order, inner, &made);
    if (rc != MPI_SUCCESS)
        MPI_Type_dup(inner, &made);
    return made;
}

static MPI_Datatype make(int depth)
{
    MPI_Datatype made, inner;
    unsigned what = draw(9);
    if (what == 0)
        return make_struct(depth - 1);
    inner = tree(depth - 1);
    switch (what) {
    case 1:
        MPI_Type_dup(inner, &made);
        break;
    case 2:
        MPI_Type_contiguous(between(0, 5), inner, &made);
        break;
    case 3:
        MPI_Type_vector(between(1, 9), between(0, 3), between(-6, 9), inner, &made);
        break;
    case 4:
        MPI_Type_create_hvector(between(1, 9), between(1, 3), between(-200, 400), inner, &made);
        break;
    case 5:
        MPI_Type_create_resized(inner, between(-50, 50), between(-100, 300), &made);
        break;
    case 6:
        made = make_subarray(inner);
        break;
    case 7:
        made = make_darray(inner);
        break;
    default:
        made = make_blocks(inner);
    }
    drop(&inner);
    return made;
}

/* MPICH and Intel MPI divide by extents and sizes of what is inside others. */
static MPI_Datatype sound(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    int size;
    MPI_Datatype made = type;
    MPI_Type_size(type, &size);
    if (size == 0) {
        MPI_Type_free(&type);
        return MPI_INT;
    }
    MPI_Type_get_extent(type, &lb, &extent);
    if (extent == 0) {
        MPI_Type_create_resized(type, lb, 8, &made);
        MPI_Type_free(&type);
    }
    return made;
}

static MPI_Datatype tree(int depth) { return depth == 0 || draw(9) == 0 ? leaf() : sound(make(depth)); }

static void describe(unsigned long long seed, MPI_Datatype type, int count, int bytes, uint64_t digest)
{
    MPI_Aint lb, extent, lowest, span;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &lowest, &span);
    fprintf(stderr, "seed %llu: %d of %ld..%ld, true %ld..%ld: %d bytes, %016llx\n", seed, count, (long)lb,
            (long)(lb + extent), (long)lowest, (long)(lowest + span), bytes, (unsigned long long)digest);
}

/* How many of the type lie within the memory and fill the buffer. */
static int find_count(MPI_Datatype type, int size)
{
    MPI_Aint lb, extent, lowest, span;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &lowest, &span);
    int count = size ? between(1, 1 + 4096 / size) : 3;
    while (count > 0) {
        MPI_Aint last = (count - 1) * extent;
        MPI_Aint low = lowest + (last < 0 ? last : 0), high = lowest + span + (last > 0 ? last : 0);
        if (low > -SIDE && high < SIDE && (long)count * size <= PACKED - EACH)
            break;
        count /= 2;
    }
    return count;
}

/* Each byte has its own place: what the program may receive. */
static bool is_apart(MPI_Datatype type, int count, int bytes, char *packed)
{
    int position = 0, found = 0;
    memset(packed, 1, (size_t)bytes);
    memset(other - SIDE, 0, 2 * SIDE);
    if (MPI_Unpack(packed, bytes, &position, other, count, type, MPI_COMM_SELF) != MPI_SUCCESS)
        return false;
    for (int i = -SIDE; i < SIDE; i++)
        found += other[i];
    return found == bytes;
}

static uint64_t try_packing(MPI_Datatype type, int count, int bytes, char *packed)
{
    uint64_t digest = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int start = (int)draw(40), position = start;
        fill(memory - SIDE, 2 * SIDE);
        memset(packed, 0, PACKED);
        int room = start + bytes + (int)draw(1) * 8;
        int rc = MPI_Pack(memory, count, type, packed, room, &position, MPI_COMM_SELF);
        CHECK(rc == MPI_SUCCESS && position == start + bytes);
        digest = digest * 31 + check_digest(packed, PACKED);
    }
    return digest;
}

static uint64_t try_unpacking(MPI_Datatype type, int count, int bytes, char *packed)
{
    uint64_t digest = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int start = (int)draw(40), position = start;
        fill(packed, PACKED);
        memset(other - SIDE, 0, 2 * SIDE);
        int rc = MPI_Unpack(packed, start + bytes, &position, other, count, type, MPI_COMM_SELF);
        CHECK(rc == MPI_SUCCESS && position == start + bytes);
        digest = digest * 31 + check_digest(other - SIDE / 8, SIDE / 4);
    }
    return digest;
}

static uint64_t try_one(unsigned long long seed, char *packed)
{
    state = seed * 0x9E3779B97F4A7C15ull;
    for (int i = 0; i < 4; i++)
        draw(1);
    MPI_Datatype type = make(between(1, DEPTH));
    int size = 0;
    uint64_t digest = 0;
    MPI_Type_size(type, &size);
    MPI_Type_commit(&type);
    int count = size <= PACKED / 2 ? find_count(type, size) : 0, bytes = count * size;
    if (count > 0) {
        digest = try_packing(type, count, bytes, packed);
        if (bytes > 0 && is_apart(type, count, bytes, packed)) /* MPICH 4 divides by the size */
            digest = digest * 31 + try_unpacking(type, count, bytes, packed);
    }
    if (is_saying)
        describe(seed, type, count, bytes, digest);
    if (is_named(type) == false)
        MPI_Type_free(&type);
    return digest;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    long trees = argc > 1 ? atol(argv[1]) : EACH, first = argc > 2 ? atol(argv[2]) : 1;
    is_saying = argc > 3;
    char *packed = malloc(PACKED);
    memory = (char *)malloc(2 * SIDE) + SIDE;
    other = (char *)malloc(2 * SIDE) + SIDE;
    uint64_t digest = 0;
    for (long i = 0; i < trees; i++) {
        digest = digest * 31 + try_one((unsigned long long)(first + i), packed);
        if ((i + 1) % EACH == 0 || i + 1 == trees) {
            check_report("packed", digest);
            digest = 0;
        }
    }
    free(packed);
    free(memory - SIDE);
    free(other - SIDE);
    MPI_Finalize();
    return 0;
}
