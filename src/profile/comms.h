/* Figures by communicator. A communicator is known by its handle while it lives; what is summed up belongs to
 * its name, size and ranks, so that one made and freed a thousand times is one line. Any thread may call; no
 * MPI is needed here. Nothing of this is allocated unless profiling is on. */
#ifndef HW_PROFILE_COMMS_H
#define HW_PROFILE_COMMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* name, what it sums up (the record's schema repeats the names) */
#define HW_COMM_COUNTERS(X)                                                                                  \
    X(calls, "calls that name it, and starts of requests made with it")                                      \
    X(bytes, "bytes they were about")                                                                        \
    X(call_ns, "time in them")                                                                               \
    X(completed, "requests posted on it that were completed")                                                \
    X(computed_ns, "time outside MPI while these were pending")                                              \
    X(blocked_ns, "their share, by bytes, of the time in the doors that completed them")

enum { HW_COMM_NAME_BYTES = 64, HW_COMM_RANKS_BYTES = 48 };

struct hw_profile_comm {
    char name[HW_COMM_NAME_BYTES];   /* as MPI_Comm_set_name was told; empty: none */
    char ranks[HW_COMM_RANKS_BYTES]; /* of MPI_COMM_WORLD, such as "0-3,7"; empty: not known */
    int size;
    uint64_t group; /* tells groups of one size apart */
#define HW_COMM_FIELD(field, meaning) atomic_uint_fast64_t field;
    HW_COMM_COUNTERS(HW_COMM_FIELD)
#undef HW_COMM_FIELD
};

#define HW_COMM_ADD(comm, field, amount)                                                                     \
    atomic_fetch_add_explicit(&(comm)->field, (uint_fast64_t)(amount), memory_order_relaxed)

/* Makes the table. False if there is no memory. */
bool hw_comms_open(void);

/* The entry of a handle; NULL if it is not known. One compare if the thread's last call named it too. */
struct hw_profile_comm *hw_comms_find(uint64_t handle);

/* Enters a handle. `ranks` are those of MPI_COMM_WORLD, sorted here; NULL: not known. Never NULL: when the
 * table is full, one entry for all that came too late. */
struct hw_profile_comm *hw_comms_add(uint64_t handle, const char *name, int size, int *ranks);

/* From now on the handle is called this. Nothing if it is not known. */
void hw_comms_rename(uint64_t handle, const char *name);

/* The handle is about to be freed. */
void hw_comms_forget(uint64_t handle);

/* Writes the entries as elements of a JSON array. */
void hw_comms_write(FILE *file);

#endif
