/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/chunks.h"

#include "base/log.h"
#include "engines/p2p/ghost/wire.h"
#include "ghost/give_up.h"
#include "real/constants.h"
#include "world/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reads in one turn at most: the ghost serves windows beside, whose operations wait meanwhile. */
enum { TURN_MAX = 1 };

bool hw_p2p_chunks_open(struct hw_p2p_chunks *chunks, uint64_t chunk_bytes)
{
    *chunks = (struct hw_p2p_chunks){.chunk_bytes = chunk_bytes};
    chunks->copies = malloc((size_t)HW_P2P_CHUNKS_MAX * chunk_bytes);
    for (int i = 0; i < HW_P2P_CHUNKS_MAX; i++)
        chunks->requests[i] = HW_REQUEST_NULL;
    return chunks->copies != NULL;
}

void hw_p2p_chunks_close(struct hw_p2p_chunks *chunks)
{
    free(chunks->copies);
    chunks->copies = NULL;
}

bool hw_p2p_source_is_done(const struct hw_p2p_source *source)
{
    return source->sent == source->bytes && source->in_flight == 0;
}

bool hw_p2p_chunks_end(struct hw_p2p_chunks *chunks, void (*done)(struct hw_p2p_source *source))
{
    int count = 0;
    if (chunks->count == 0)
        return false;
    if (hw_bottom.Testsome(HW_P2P_CHUNKS_MAX, chunks->requests, &count, chunks->indices,
                           HW_STATUSES_IGNORE) != MPI_SUCCESS)
        hw_ghost_give_up("cannot send messages of user processes any more");
    for (int i = 0; i < count; i++) {
        struct hw_p2p_source *owner = chunks->owners[chunks->indices[i]];
        chunks->count--;
        if (owner == NULL)
            continue;
        owner->in_flight--;
        if (hw_p2p_source_is_done(owner))
            done(owner);
    }
    return count > 0;
}

/* Of a process that is not there any more its launcher tells. */
static void fail(struct hw_p2p_source *source, int error)
{
    source->error = error;
    if (error == ESRCH)
        return;
    hw_log_error(
        "rank %d sends %llu bytes from %#llx, and its ghost cannot read them (%s); give MPI a buffer "
        "that is there until the send is complete",
        hw_world.processes[source->user->process].user_rank, (unsigned long long)source->bytes,
        (unsigned long long)source->address, strerror(error));
}

static int read_chunk(struct hw_p2p_source *source, char *copy, uint64_t bytes)
{
    if (source->pieces > 0)
        return hw_p2p_gather_read(&source->gather, source->user->pid, source->address, source->pieces, copy,
                                  bytes);
    return hw_p2p_user_read(source->user, source->address + source->sent, copy, bytes);
}

/* A chunk that cannot be read is sent empty, so that the receiver's count of chunks is right. */
static void send_chunk(struct hw_p2p_chunks *chunks, int chunk, struct hw_p2p_source *source)
{
    uint64_t left = source->bytes - source->sent;
    uint64_t bytes = left < chunks->chunk_bytes ? left : chunks->chunk_bytes;
    const char *data = source->memory ? source->memory + source->sent : NULL;
    chunks->owners[chunk] = data ? source : NULL;
    if (data == NULL) {
        char *copy = chunks->copies + (size_t)chunk * chunks->chunk_bytes;
        int error = source->error ? source->error : read_chunk(source, copy, bytes);
        if (error && !source->error)
            fail(source, error);
        data = copy;
    }
    hw_p2p_wire_send(source->place, source->tag, data, source->error ? 0 : bytes, &chunks->requests[chunk]);
    source->sent += bytes;
    source->in_flight += chunks->owners[chunk] != NULL;
    chunks->count++;
}

bool hw_p2p_chunks_send(struct hw_p2p_chunks *chunks, struct hw_p2p_source *(*choose)(void),
                        void (*done)(struct hw_p2p_source *source))
{
    struct hw_p2p_source *source;
    int sent = 0, chunk = 0;
    while (sent < TURN_MAX && chunks->count < HW_P2P_CHUNKS_MAX && (source = choose()) != NULL) {
        while (chunks->requests[chunk] != HW_REQUEST_NULL)
            chunk++;
        send_chunk(chunks, chunk, source);
        sent++;
        if (hw_p2p_source_is_done(source))
            done(source);
    }
    return sent > 0;
}
