/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends messages of user processes to other ghosts in chunks. A chunk is sent from where the memory is
 * mapped, or from a copy that is read. A bounded number of chunks is in flight, of any messages. Ghost's only
 * thread. */
#ifndef HW_ENGINES_P2P_GHOST_CHUNKS_H
#define HW_ENGINES_P2P_GHOST_CHUNKS_H

#include "engines/p2p/ghost/gather.h"
#include "engines/p2p/ghost/users.h"
#include "real/real.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_P2P_CHUNKS_MAX = 16 };

/* One message. The caller embeds it in a record of its own, which must not move or be freed before the source
 * is done. Zero but for what the caller knows. */
struct hw_p2p_source {
    struct hw_p2p_user *user;
    uint64_t address, bytes; /* in that process's memory */
    int32_t pieces;          /* as in struct hw_p2p_job */
    int place, tag;          /* of the receiving ghost; of the chunks */
    int error;               /* 0; or an errno: it cannot be read */
    int in_flight;           /* chunks that lie in the sender's memory */
    uint64_t sent;           /* bytes handed to the MPI, or given up */
    const char *memory;      /* where it lies, if it need not be read */
    struct hw_p2p_gather gather;
};

struct hw_p2p_chunks {
    uint64_t chunk_bytes; /* the last chunk of a message has less */
    char *copies;         /* HW_P2P_CHUNKS_MAX chunks */
    int count;            /* in flight */
    int indices[HW_P2P_CHUNKS_MAX];
    MPI_Request requests[HW_P2P_CHUNKS_MAX];
    struct hw_p2p_source *owners[HW_P2P_CHUNKS_MAX]; /* whose memory is being sent; NULL: it is a copy */
};

/* False: no memory. */
bool hw_p2p_chunks_open(struct hw_p2p_chunks *chunks, uint64_t chunk_bytes);
void hw_p2p_chunks_close(struct hw_p2p_chunks *chunks);

/* All of it is sent, or copied: the sender may use its memory again. */
bool hw_p2p_source_is_done(const struct hw_p2p_source *source);

/* Both functions call DONE for a source that is done; DONE may free it. True: they did something. */

/* Looks which chunks are complete. */
bool hw_p2p_chunks_end(struct hw_p2p_chunks *chunks, void (*done)(struct hw_p2p_source *source));
/* Sends the next chunks, if there is room. CHOOSE returns the source whose turn it is, of which a part is
 * still to be sent; NULL: there is none. */
bool hw_p2p_chunks_send(struct hw_p2p_chunks *chunks, struct hw_p2p_source *(*choose)(void),
                        void (*done)(struct hw_p2p_source *source));

#endif
