/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/pack/trial.h"

#include "base/clock.h"
#include "engines/pack/twin.h"
#include "objects/datatype/packed.h"
#include "real/constants.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES_MAX = 1024 * 1024,  /* a trial packs no more, unless one datatype alone is larger */
    ONE_MAX = 16 * BYTES_MAX, /* which is then at most so large: it is packed twice into memory of ours */
    SPAN_MAX = 4 * BYTES_MAX, /* of memory of ours in the place of the program's */
    TIMES = 2,                /* the better one of */
};

/* A part of a message, packed by either. */
struct trial {
    struct hw_pack_given given;
    struct hw_plan *plan;
    struct hw_pack_dense dense; /* of a message */
    int64_t bytes;
    char *theirs, *ours;
};

bool hw_pack_trial_has_room(const struct hw_plan *plan) { return plan->shape.size <= ONE_MAX; }

bool hw_pack_trial_needs_data(MPI_Datatype datatype)
{
    MPI_Count lowest, span;
    return hw_bottom.Type_get_true_extent_x(datatype, &lowest, &span) != MPI_SUCCESS || span > SPAN_MAX;
}

static bool begin(struct trial *trial, const struct hw_pack_given *given, struct hw_plan *plan)
{
    int64_t size = plan->shape.size, most = size < BYTES_MAX ? BYTES_MAX / size : 1;
    *trial = (struct trial){.given = *given, .plan = plan};
    if (trial->given.count > most)
        trial->given.count = (MPI_Count)most;
    trial->bytes = size * (int64_t)trial->given.count;
    if (trial->bytes > INT_MAX || trial->bytes <= 0)
        return false;
    trial->theirs = malloc((size_t)trial->bytes);
    trial->ours = malloc((size_t)trial->bytes);
    return trial->theirs && trial->ours;
}

static void end(struct trial *trial)
{
    free(trial->theirs);
    free(trial->ours);
}

/* Not every MPI packs absolute addresses, which messages may have. */
static int move_by_mpi(const struct trial *trial, enum hw_shape_direction direction, int *position)
{
    MPI_Count count = trial->given.count;
    MPI_Datatype type = trial->given.datatype;
    void *memory = (void *)trial->given.memory, *packed = trial->theirs;
    int bytes = (int)trial->bytes;
    bool is_packing = direction == HW_SHAPE_PACK;
    if (memory == NULL) {
        *position = bytes;
        return is_packing ? hw_datatype_pack(memory, count, type, packed)
                          : hw_datatype_unpack(packed, memory, count, type);
    }
    return is_packing ? hw_bottom.Pack(memory, (int)count, type, packed, bytes, position, HW_COMM_SELF)
                      : hw_bottom.Unpack(packed, bytes, position, memory, (int)count, type, HW_COMM_SELF);
}

/* Returns what it took; 0: the MPI refuses. */
static uint64_t by_mpi(struct trial *trial, enum hw_shape_direction direction)
{
    int position = 0;
    uint64_t began_ns = hw_clock_now_ns();
    int rc = move_by_mpi(trial, direction, &position);
    uint64_t took_ns = hw_clock_now_ns() - began_ns;
    return rc == MPI_SUCCESS && position == trial->bytes ? took_ns + 1 : 0;
}

/* And what the MPI takes to send or receive the packed form. */
static uint64_t by_us(struct trial *trial, enum hw_shape_direction direction)
{
    int position = 0, bytes = (int)trial->bytes, count = (int)(trial->given.count * trial->dense.count), rc;
    const struct hw_shape_range all = {0, trial->bytes};
    uint64_t began_ns = hw_clock_now_ns();
    if (direction == HW_SHAPE_PACK) {
        hw_plan_copy(trial->plan, trial->given.count, direction, trial->given.memory, all, trial->ours);
        rc = hw_bottom.Pack(trial->ours, count, trial->dense.type, trial->theirs, bytes, &position,
                            HW_COMM_SELF);
    } else {
        rc = hw_bottom.Unpack(trial->theirs, bytes, &position, trial->ours, count, trial->dense.type,
                              HW_COMM_SELF);
        hw_plan_copy(trial->plan, trial->given.count, direction, trial->given.memory, all, trial->ours);
    }
    return rc == MPI_SUCCESS ? hw_clock_now_ns() - began_ns + 1 : UINT64_MAX;
}

static bool is_packed_alike(struct trial *trial)
{
    if (by_mpi(trial, HW_SHAPE_PACK) == 0)
        return false;
    hw_plan_copy(trial->plan, trial->given.count, HW_SHAPE_PACK, trial->given.memory,
                 (struct hw_shape_range){0, trial->bytes}, trial->ours);
    return memcmp(trial->ours, trial->theirs, (size_t)trial->bytes) == 0;
}

/* Bytes of which none is like its neighbours. */
static char *make_scratch(int64_t bytes)
{
    unsigned char *scratch = malloc((size_t)bytes);
    uint32_t state = 1;
    for (int64_t i = 0; scratch && i < bytes; i++)
        scratch[i] = (unsigned char)((state = state * 1664525 + 1013904223) >> 24);
    return (char *)scratch;
}

/* As many of them as memory of ours has room for. */
static bool leave_program(struct trial *trial, char **scratch)
{
    const struct hw_shape *shape = &trial->plan->shape;
    int64_t one = shape->highest - shape->lowest, extent = trial->plan->extent;
    int64_t step = extent < 0 ? -extent : extent;
    int64_t most = step > 0 ? 1 + (SPAN_MAX - one) / step : 1;
    if (one > SPAN_MAX)
        return false;
    if (trial->given.count > most)
        trial->given.count = most;
    trial->bytes = shape->size * (int64_t)trial->given.count;
    int64_t rest = ((int64_t)trial->given.count - 1) * extent;
    *scratch = make_scratch(one + (rest < 0 ? -rest : rest));
    trial->given.memory = (uintptr_t)*scratch - (uintptr_t)(shape->lowest + (rest < 0 ? rest : 0));
    return *scratch != NULL;
}

bool hw_pack_trial_is_alike(const struct hw_pack_given *given, struct hw_plan *plan, bool has_data)
{
    struct trial trial;
    char *scratch = NULL;
    bool is_alike = begin(&trial, given, plan) && (has_data || leave_program(&trial, &scratch)) &&
                    is_packed_alike(&trial);
    free(scratch);
    end(&trial);
    return is_alike;
}

bool hw_pack_trial_wins(const struct hw_pack_given *given, struct hw_plan *plan, uint64_t least_percent,
                        struct hw_packing_class *tried)
{
    uint64_t theirs = UINT64_MAX, ours = UINT64_MAX;
    struct trial trial;
    const struct hw_pack_dense *dense = hw_pack_dense_of(plan, given->datatype, given->direction);
    bool is_begun = dense && begin(&trial, given, plan) && by_mpi(&trial, HW_SHAPE_PACK) > 0;
    if (is_begun)
        trial.dense = *dense;
    for (int i = 0; is_begun && i < TIMES; i++) {
        uint64_t mpi = by_mpi(&trial, given->direction), we = by_us(&trial, given->direction);
        is_begun = mpi > 0;
        theirs = mpi < theirs ? mpi : theirs;
        ours = we < ours ? we : ours;
    }
    if (dense)
        end(&trial);
    if (is_begun && ours != UINT64_MAX) {
        hw_atomic_store_relaxed(&tried->mpi_ns, theirs);
        hw_atomic_store_relaxed(&tried->headway_ns, ours);
        hw_atomic_store_release(&tried->tried_bytes, (uint64_t)trial.bytes);
    }
    return is_begun && ours != UINT64_MAX && ours * least_percent < 100 * theirs;
}
