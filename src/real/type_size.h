/* SPDX-License-Identifier: BSD-3-Clause */
/* hw_real_type_size gives the size of a datatype in bytes, as fast as the MPI underneath allows. `type` must
 * be valid, or MPI_DATATYPE_NULL, which has none. */
#ifndef HW_REAL_TYPE_SIZE_H
#define HW_REAL_TYPE_SIZE_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "real/constants.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

/* True for a basic type whose *size is known without a call. */
static inline bool hw_real_type_is_basic(MPI_Datatype type, uint64_t *size)
{
#if HW_ABI_OPEN_MPI
    if (type == HW_BYTE || type == HW_CHAR)
        *size = 1;
    else if (type == HW_DOUBLE)
        *size = sizeof(double);
    else if (type == HW_INT)
        *size = sizeof(int);
    else
        return false;
    return true;
#else
    /* MPICH ABI: a handle of kind "builtin" (top bits 01) carries the size of its type in bits 8 to 15. */
    *size = (uint32_t)type >> 8 & 0xff;
    return (uint32_t)type >> 30 == 1;
#endif
}

/* Sizes of derived datatypes that the program has used, by handle, so that a call with one costs hardly more
 * than with a basic one. A place holds handle and size in one word, and the handle that comes last has it.
 * Only sizes below 1 MiB. What is found says which way a call goes, and nothing of its contents. */
enum { HW_REAL_TYPE_PLACES = 256, HW_REAL_TYPE_SIZE_BITS = 20 };
extern HW_HIDDEN _Atomic uint64_t hw_real_type_places[HW_REAL_TYPE_PLACES];

static inline uint64_t hw_real_type_key(MPI_Datatype type)
{
    /* Addresses are of objects that hold pointers. */
    uint64_t handle = (uint64_t)(uintptr_t)type;
    return (sizeof type > sizeof(int) ? handle >> 3 : handle) << HW_REAL_TYPE_SIZE_BITS;
}

static inline _Atomic uint64_t *hw_real_type_place(uint64_t key)
{
    return &hw_real_type_places[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 56];
}

/* True if the size has been kept. Any handle. */
static inline bool hw_real_type_is_kept(MPI_Datatype type, uint64_t *size)
{
    uint64_t key = hw_real_type_key(type);
    *size = hw_atomic_load_relaxed(hw_real_type_place(key)) ^ key;
    return *size >> HW_REAL_TYPE_SIZE_BITS == 0;
}

/* Of any handle, which the MPI need not have accepted: true if the size is known without a call. */
static inline bool hw_real_type_is_known(MPI_Datatype type, uint64_t *size)
{
    return hw_real_type_is_basic(type, size) || hw_real_type_is_kept(type, size);
}

/* Before MPI ends: another one may use handles of datatypes that were never freed. */
void hw_real_type_forget_all(void);

/* How often the program has begun to free a datatype. A call that waits may end when its datatype has been
 * freed by another thread (MPI-4.1 section 5.1.9): only if this is what it was before, its handle is good. */
extern HW_HIDDEN atomic_uint hw_real_type_frees;

/* Keeps it so until hw_real_type_let_go: no datatype is freed meanwhile. False: one was since `frees`, and
 * there is nothing to let go. Only for questions about a datatype's size, extent and envelope: who waits may
 * be code of the program that the MPI runs under a lock, and those take none. */
bool hw_real_type_hold(unsigned frees);
void hw_real_type_let_go(void);

/* Part of hw_real_type_forget. */
extern HW_HIDDEN atomic_bool hw_real_type_is_held;
void hw_real_type_await(void);

/* Before MPI_Type_free of any handle, which the MPI may use again. */
static inline void hw_real_type_forget(MPI_Datatype type)
{
    uint64_t size;
    hw_atomic_add_seq_cst(&hw_real_type_frees, 1);
    if (__builtin_expect(hw_atomic_load_seq_cst(&hw_real_type_is_held), 0))
        hw_real_type_await();
    if (hw_real_type_is_kept(type, &size))
        hw_atomic_store_relaxed(hw_real_type_place(hw_real_type_key(type)), 0);
}

static inline uint64_t hw_real_type_size(MPI_Datatype type)
{
    uint64_t known;
    if (hw_real_type_is_basic(type, &known))
        return known;
    if (__builtin_expect(type == HW_DATATYPE_NULL, 0))
        return 0; /* the program's handler has heard of it, or will */
    MPI_Count size = 0;
    hw_bottom.Type_size_x(type, &size);
    return size > 0 ? (uint64_t)size : 0;
}

/* The same of a datatype that the program passes to the call it is in, which the MPI has accepted: so that it
 * ends by an MPI_Type_free of the program's, and not before. Keeps it. */
static inline uint64_t hw_real_type_size_keep(MPI_Datatype type)
{
    uint64_t size;
    if (hw_real_type_is_known(type, &size))
        return size;
    size = hw_real_type_size(type);
    uint64_t key = hw_real_type_key(type);
    if (size >> HW_REAL_TYPE_SIZE_BITS == 0)
        hw_atomic_store_relaxed(hw_real_type_place(key), key | size);
    return size;
}

#endif
