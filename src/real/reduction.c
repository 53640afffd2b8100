/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/reduction.h"

#include "real/type_size.h"

#include <stddef.h>
#include <stdint.h>

/* Sets of enum hw_real_op. */
#define BIT(op) (1u << HW_OP_##op)
enum {
    ADDED = BIT(SUM) | BIT(PROD),
    ORDERED = BIT(MIN) | BIT(MAX),
    LOGICAL = BIT(LAND) | BIT(LOR) | BIT(LXOR),
    BITWISE = BIT(BAND) | BIT(BOR) | BIT(BXOR),
    FORTRAN_INTEGER = ADDED | ORDERED | BITWISE, /* MPI_AINT and its like too */
    C_INTEGER = FORTRAN_INTEGER | LOGICAL,
};

/* Name in C, name of Open MPI's variable, class, operations. Those that programs use most come first. */
#define DATATYPES(X)                                                                                         \
    X(INT, int, SIGNED, C_INTEGER)                                                                           \
    X(DOUBLE, double, FLOATING, ORDERED)                                                                     \
    X(LONG, long, SIGNED, C_INTEGER)                                                                         \
    X(INT64_T, int64_t, SIGNED, C_INTEGER)                                                                   \
    X(UINT64_T, uint64_t, UNSIGNED, C_INTEGER)                                                               \
    X(FLOAT, float, FLOATING, ORDERED)                                                                       \
    X(LONG_LONG_INT, long_long_int, SIGNED, C_INTEGER)                                                       \
    X(UNSIGNED_LONG, unsigned_long, UNSIGNED, C_INTEGER)                                                     \
    X(INT32_T, int32_t, SIGNED, C_INTEGER)                                                                   \
    X(UINT32_T, uint32_t, UNSIGNED, C_INTEGER)                                                               \
    X(UNSIGNED, unsigned, UNSIGNED, C_INTEGER)                                                               \
    X(UNSIGNED_LONG_LONG, unsigned_long_long, UNSIGNED, C_INTEGER)                                           \
    X(DOUBLE_PRECISION, dblprec, FLOATING, ORDERED)                                                          \
    X(INTEGER, integer, SIGNED, FORTRAN_INTEGER)                                                             \
    X(REAL, real, FLOATING, ORDERED)                                                                         \
    X(BYTE, byte, UNSIGNED, BITWISE)                                                                         \
    X(AINT, aint, SIGNED, FORTRAN_INTEGER)                                                                   \
    X(COUNT, count, SIGNED, FORTRAN_INTEGER)                                                                 \
    X(OFFSET, offset, SIGNED, FORTRAN_INTEGER)                                                               \
    X(SHORT, short, SIGNED, C_INTEGER)                                                                       \
    X(UNSIGNED_SHORT, unsigned_short, UNSIGNED, C_INTEGER)                                                   \
    X(SIGNED_CHAR, signed_char, SIGNED, C_INTEGER)                                                           \
    X(UNSIGNED_CHAR, unsigned_char, UNSIGNED, C_INTEGER)                                                     \
    X(INT16_T, int16_t, SIGNED, C_INTEGER)                                                                   \
    X(UINT16_T, uint16_t, UNSIGNED, C_INTEGER)                                                               \
    X(INT8_T, int8_t, SIGNED, C_INTEGER)                                                                     \
    X(UINT8_T, uint8_t, UNSIGNED, C_INTEGER)                                                                 \
    X(C_BOOL, c_bool, UNSIGNED, LOGICAL)

#define OPS(X)                                                                                               \
    X(SUM, sum)                                                                                              \
    X(PROD, prod)                                                                                            \
    X(MIN, min)                                                                                              \
    X(MAX, max)                                                                                              \
    X(LAND, land)                                                                                            \
    X(LOR, lor)                                                                                              \
    X(LXOR, lxor)                                                                                            \
    X(BAND, band)                                                                                            \
    X(BOR, bor)                                                                                              \
    X(BXOR, bxor)

struct datatype {
    MPI_Datatype handle;
    enum hw_real_class class;
    unsigned ops;
};

#if HW_ABI_OPEN_MPI

#include <dlfcn.h>

/* Their handles are addresses of variables, NULL where the MPI has none. */
#define DATATYPE(name, variable, class, ops) {NULL, HW_CLASS_##class, ops},
static struct datatype datatypes[] = {DATATYPES(DATATYPE)};
static MPI_Op ops[HW_OP_COUNT];

/* The program first: a copy relocation moves the variable from libmpi into the executable. */
static void *find(void *handle, const char *symbol)
{
    void *address = dlsym(RTLD_DEFAULT, symbol);
    return address ? address : dlsym(handle, symbol);
}

void hw_real_reductions_load(void *handle)
{
#define VARIABLE(name, variable, class, ops) "ompi_mpi_" #variable,
    static const char *const variables[] = {DATATYPES(VARIABLE)};
#define OP_VARIABLE(name, variable) [HW_OP_##name] = "ompi_mpi_op_" #variable,
    static const char *const op_variables[HW_OP_COUNT] = {OPS(OP_VARIABLE)};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        datatypes[i].handle = find(handle, variables[i]);
    for (int op = HW_OP_NONE + 1; op < HW_OP_COUNT; op++)
        ops[op] = find(handle, op_variables[op]);
}

#else

#define DATATYPE(name, variable, class, ops) {MPI_##name, HW_CLASS_##class, ops},
static const struct datatype datatypes[] = {DATATYPES(DATATYPE)};
#define OP(name, variable) [HW_OP_##name] = MPI_##name,
static const MPI_Op ops[HW_OP_COUNT] = {OPS(OP)};

void hw_real_reductions_load(void *handle) { (void)handle; }

#endif

static enum hw_real_op op_of(MPI_Op op)
{
    for (int known = HW_OP_NONE + 1; known < HW_OP_COUNT; known++)
        if (ops[known] == op)
            return (enum hw_real_op)known;
    return HW_OP_NONE;
}

static const struct datatype *datatype_of(MPI_Datatype handle)
{
    for (size_t i = 0; i < sizeof datatypes / sizeof datatypes[0]; i++)
        if (datatypes[i].handle == handle)
            return &datatypes[i];
    return NULL;
}

/* Sums of small integers saturate in Open MPI where it adds vectors, and wrap round elsewhere. MPICH 4.0
 * orders unsigned ones as if they were signed, which we do not. */
static bool is_alike(enum hw_real_op op, uint64_t size, enum hw_real_class class)
{
    bool is_small = class != HW_CLASS_FLOATING && (size == 1 || size == 2);
    return size == 4 || size == 8 || (is_small && !(1u << op & ADDED));
}

struct hw_real_reduction hw_real_reduction_of(MPI_Op op, MPI_Datatype datatype)
{
    struct hw_real_reduction found = {.op = op_of(op)};
    const struct datatype *known = datatype_of(datatype);
    if (found.op == HW_OP_NONE || known == NULL)
        return (struct hw_real_reduction){.op = HW_OP_NONE};
    uint64_t size = hw_real_type_size(datatype);
    bool is_defined = known->ops >> found.op & 1;
    found.has_no_order =
        known->class == HW_CLASS_FLOATING && (found.op == HW_OP_SUM || found.op == HW_OP_PROD);
    if (!is_defined || !is_alike(found.op, size, known->class))
        found.op = HW_OP_NONE;
    found.class = known->class;
    found.size = (int)size;
    return found;
}
