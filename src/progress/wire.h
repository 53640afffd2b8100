/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire is what this process's TCP connections have carried, as the kernel counts it: whether data moved
 * while the program computed or only while it waited is seen there, whatever the MPI does. */
#ifndef HW_PROGRESS_WIRE_H
#define HW_PROGRESS_WIRE_H

#include "profile/waits/bytes.h"
#include "progress/sockets.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_WIRE_MAX_SOCKETS = 64 };

/* The connections that somebody looks at; all zero at first. */
struct hw_wire {
    struct hw_socket sockets[HW_WIRE_MAX_SOCKETS];
    int count, age, vain_count;
    bool is_too_many;
    long descriptor_count;
    uint64_t last_bytes;
};

/* Sums over the connections to other processes; about 1 us each. False where there are none, or too many.
 * Connections made after the last look with is_first are not among them. For the owner of the list alone. */
bool hw_wire_look(struct hw_wire *listed, struct hw_profile_wire *sums, bool is_first);

/* Bytes that the process has handed to these connections and whose arrival the other ends have not yet told.
 * About half a microsecond a connection. */
uint64_t hw_wire_queued(const struct hw_wire *listed);

/* Of them, those that wait for the other ends to read. The rest travels without anybody's help. */
uint64_t hw_wire_unsent(const struct hw_wire *listed);

/* What the process has handed to these connections and read from them so far. */
struct hw_wire_handled {
    uint64_t written_bytes, read_bytes, unread_bytes;
};

/* False where the kernel does not tell. About one and a half microseconds a connection. */
bool hw_wire_handled(const struct hw_wire *listed, struct hw_wire_handled *handled);

/* Bytes that have come by these connections and the process has not read; a third of a microsecond each. */
uint64_t hw_wire_unread(const struct hw_wire *listed);

/* What the process has to send leaves without it for a while, and an answer to what has come would leave
 * behind that: nothing is gained by reading now. About a microsecond a connection. */
bool hw_wire_is_busy(const struct hw_wire *listed);

/* The same as hw_wire_look with a list of the program's threads, which serialise. */
bool hw_wire_read(struct hw_profile_wire *sums, bool is_first);

#endif
