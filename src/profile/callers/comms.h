/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures by communicator. A communicator is known by its handle while it lives; what is summed up belongs to
 * its name, size and ranks, so that one made and freed a thousand times is one line. Any thread may call; no
 * MPI is needed here. Nothing of this is allocated unless profiling is on. */
#ifndef HW_PROFILE_CALLERS_COMMS_H
#define HW_PROFILE_CALLERS_COMMS_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "profile/record/fields.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_COMM_NAME_BYTES = 64, HW_COMM_RANKS_BYTES = 48 };

struct hw_profile_comm {
    char name[HW_COMM_NAME_BYTES];   /* as MPI_Comm_set_name was told; empty: none */
    char ranks[HW_COMM_RANKS_BYTES]; /* of MPI_COMM_WORLD, such as "0-3,7"; empty: not known */
    int size;
    uint64_t group;                                   /* tells groups of one size apart */
#define HW_COMM_FIELD(field, meaning) uint64_t field; /* under the lock (lock.h) */
    HW_RECORD_COMMUNICATOR_COUNTERS(HW_COMM_FIELD)
#undef HW_COMM_FIELD
};

/* A thread's last answers hold until a handle anywhere is entered again, renamed or forgotten. */
struct hw_comms_cached {
    uint64_t number;
    struct hw_profile_comm *comm;
    unsigned generation;
};
enum { HW_COMMS_CACHED_BITS = 2 };
struct hw_comms_cache {
    struct hw_comms_cached slots[1 << HW_COMMS_CACHED_BITS];
};
extern HW_HIDDEN atomic_uint hw_comms_generation;

/* Makes the table. False if there is no memory. */
bool hw_comms_open(void);

/* As hw_comms_find, for what the thread's cache does not know. */
struct hw_profile_comm *hw_comms_look_up(struct hw_comms_cached *cached, uint64_t handle);

/* The entry of a handle; NULL if it is not known. Two compares if the thread named it before. */
static inline struct hw_profile_comm *hw_comms_find(struct hw_comms_cache *cache, uint64_t handle)
{
    struct hw_comms_cached *cached =
        &cache->slots[handle * UINT64_C(0x9E3779B97F4A7C15) >> (64 - HW_COMMS_CACHED_BITS)];
    if (cached->number == handle && cached->generation == hw_atomic_load_acquire(&hw_comms_generation))
        return cached->comm;
    return hw_comms_look_up(cached, handle);
}

/* Enters a handle. `ranks` are those of MPI_COMM_WORLD, sorted here; NULL: not known. Never NULL: when the
 * table is full, one entry for all that came too late. */
struct hw_profile_comm *hw_comms_add(uint64_t handle, const char *name, int size, int *ranks);

/* From now on the handle is called this. Nothing if it is not known. */
void hw_comms_rename(uint64_t handle, const char *name);

/* The handle is about to be freed. Nothing if there is no table. */
void hw_comms_forget(uint64_t handle);

/* This process's rank in the communicator; or (is_remote) ranks in it are those of another group. */
void hw_comms_set_own(uint64_t handle, int rank, bool is_remote);

/* Under the lock (lock.h). -1 if it is not known. */
int hw_comms_own_rank(uint64_t handle);

/* Under the lock (lock.h). A rank of the handle's communicator in the world; -1 if it is not known. */
int hw_comms_world_rank(uint64_t handle, int rank);

/* Whether it is MPI_COMM_WORLD itself. */
extern HW_HIDDEN _Atomic(const struct hw_profile_comm *) hw_comms_world;
static inline bool hw_comms_is_it_world(const struct hw_profile_comm *comm)
{
    return comm && comm == hw_atomic_load_relaxed(&hw_comms_world);
}

/* Under the lock. How many it has; 0 if it is not known. */
int hw_comms_size(uint64_t handle);

/* Under the lock. Whether it has all ranks of MPI_COMM_WORLD; false while the program has not named that. */
bool hw_comms_is_world(const struct hw_profile_comm *comm);

/* Where hw_comms_write writes it; -1: nowhere. */
int hw_comms_index(const struct hw_profile_comm *comm);

/* Adds the entries to the record's list of communicators. */
void hw_comms_write(struct hw_record_list *list, const void *unused);

#endif
