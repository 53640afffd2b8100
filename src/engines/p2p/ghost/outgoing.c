/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/outgoing.h"

#include "base/log.h"
#include "engines/p2p/ghost/credits.h"
#include "engines/p2p/ghost/gather.h"
#include "engines/p2p/ghost/users.h"
#include "engines/p2p/ghost/wire.h"
#include "engines/p2p/shared/room.h"
#include "ghost/give_up.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Reads in one turn at most: the ghost serves windows beside, whose operations wait meanwhile. */
enum { MESSAGES_MAX = HW_P2P_MESSAGES_MAX, CHUNKS_MAX = 16, TURN_MAX = 1 };

static struct message {
    struct hw_p2p_user *user; /* NULL: there is none here */
    struct hw_queue_cell *cell;
    struct hw_p2p_job job;
    const char *memory; /* where it lies, if it need not be read */
    struct hw_p2p_gather gather;
    uint64_t sent; /* bytes handed to the MPI, or given up */
    int in_flight; /* chunks that lie in the sender's memory */
    int place, tag, error;
} messages[MESSAGES_MAX];
static int message_count, next_message, next_user;

static MPI_Request *requests; /* of chunks */
static int indices[CHUNKS_MAX];
static struct message *owners[CHUNKS_MAX]; /* whose memory is being sent; NULL: it is a copy */
static int chunk_count;
static char *copies; /* CHUNKS_MAX chunks */
static uint64_t chunk_bytes;

bool hw_p2p_outgoing_open(void)
{
    chunk_bytes = hw_p2p_unit_bytes();
    copies = malloc((size_t)CHUNKS_MAX * chunk_bytes);
    requests = calloc(CHUNKS_MAX, sizeof(MPI_Request));
    for (int i = 0; requests && i < CHUNKS_MAX; i++)
        requests[i] = HW_REQUEST_NULL;
    return copies && requests;
}

void hw_p2p_outgoing_close(void)
{
    free(copies);
    free(requests);
    copies = NULL;
    requests = NULL;
}

/* One that is all sent may still be on its way, but its chunks come before those of the next with its tag. */
static bool is_used(int place, int tag)
{
    for (int i = 0; i < MESSAGES_MAX; i++)
        if (messages[i].user && messages[i].place == place && messages[i].tag == tag)
            return true;
    return false;
}

/* The sender may use its memory again. */
static void finish(struct message *message)
{
    struct hw_p2p_block *block = message->user->block;
    hw_atomic_add_relaxed(&block->moved_messages, 1);
    hw_atomic_add_relaxed(&block->moved_bytes, message->job.bytes);
    hw_queue_end(message->user->jobs.queue, message->cell, message->error, message->job.bytes);
    message->user = NULL;
    message_count--;
}

static void finish_if_done(struct message *message)
{
    if (message->sent == message->job.bytes && message->in_flight == 0)
        finish(message);
}

static void offer(const struct message *message)
{
    const struct hw_p2p_note note = {.kind = HW_P2P_NOTE_OFFER,
                                     .from = message->user->process,
                                     .to = message->job.to,
                                     .tag = message->tag,
                                     .number = message->job.number,
                                     .bytes = message->job.bytes};
    hw_p2p_wire_tell(message->place, &note);
}

static void begin(struct message *message, struct hw_p2p_user *user, struct hw_queue_cell *cell)
{
    *message = (struct message){.cell = cell};
    memcpy(&message->job, cell->job, sizeof message->job);
    if (message->job.to < 0 || message->job.to >= hw_world.size)
        hw_ghost_give_up("was told to send a message to nobody");
    message->place = hw_world_ghost_place(message->job.to);
    message->tag = hw_p2p_wire_tag(message->place, is_used);
    if (message->job.pieces == 0)
        message->memory = hw_p2p_user_memory(user, message->job.address, message->job.bytes);
    message->user = user;
    message_count++;
    offer(message);
    hw_p2p_credits_spent(user, message->place, (uint32_t)hw_p2p_units_of(message->job.bytes));
    finish_if_done(message);
}

/* A job of each user process in turn, while there is room. */
static bool take_jobs(void)
{
    bool has_done = false;
    for (int tried = 0;
         tried < hw_p2p_user_count() && message_count < MESSAGES_MAX && hw_p2p_wire_has_room();) {
        next_user = (next_user + 1) % hw_p2p_user_count();
        struct hw_p2p_user *user = hw_p2p_user_at(next_user);
        struct hw_queue_cell *cell = hw_queue_next(&user->jobs);
        tried = cell ? 0 : tried + 1;
        if (cell == NULL || !hw_queue_claim(cell))
            continue;
        int i = 0;
        while (messages[i].user)
            i++;
        begin(&messages[i], user, cell);
        has_done = true;
    }
    return has_done;
}

static bool end_chunks(void)
{
    int count = 0;
    if (chunk_count == 0)
        return false;
    if (hw_bottom.Testsome(CHUNKS_MAX, requests, &count, indices, HW_STATUSES_IGNORE) != MPI_SUCCESS)
        hw_ghost_give_up("cannot send messages of user processes any more");
    for (int i = 0; i < count; i++) {
        struct message *owner = owners[indices[i]];
        chunk_count--;
        if (owner) {
            owner->in_flight--;
            finish_if_done(owner);
        }
    }
    return count > 0;
}

static void fail(struct message *message, int error)
{
    message->error = error;
    hw_log_error(
        "rank %d sends %llu bytes from %#llx, and its ghost cannot read them (%s); give MPI a buffer "
        "that is there until the send is complete",
        hw_world.processes[message->user->process].user_rank, (unsigned long long)message->job.bytes,
        (unsigned long long)message->job.address, strerror(error));
}

static int read_chunk(struct message *message, char *copy, uint64_t bytes)
{
    if (message->job.pieces > 0)
        return hw_p2p_gather_read(&message->gather, message->user->pid, &message->job, copy, bytes);
    return hw_p2p_user_read(message->user, message->job.address + message->sent, copy, bytes);
}

/* A chunk that cannot be read is sent empty, so that the receiver's count of chunks is right. */
static void send_chunk(struct message *message, int chunk)
{
    uint64_t left = message->job.bytes - message->sent;
    uint64_t bytes = left < chunk_bytes ? left : chunk_bytes;
    const char *data = message->memory ? message->memory + message->sent : NULL;
    owners[chunk] = data ? message : NULL;
    if (data == NULL) {
        char *copy = copies + (size_t)chunk * chunk_bytes;
        int error = message->error ? message->error : read_chunk(message, copy, bytes);
        if (error && !message->error)
            fail(message, error);
        data = copy;
    }
    hw_p2p_wire_send(message->place, message->tag, data, message->error ? 0 : bytes, &requests[chunk]);
    message->sent += bytes;
    message->in_flight += owners[chunk] != NULL;
    chunk_count++;
    finish_if_done(message);
}

static struct message *choose(void)
{
    for (int i = 0; i < MESSAGES_MAX; i++) {
        next_message = (next_message + 1) % MESSAGES_MAX;
        struct message *message = &messages[next_message];
        if (message->user && message->sent < message->job.bytes)
            return message;
    }
    return NULL;
}

static bool send_chunks(void)
{
    struct message *message;
    int sent = 0, chunk = 0;
    while (sent < TURN_MAX && chunk_count < CHUNKS_MAX && message_count > 0 && (message = choose()) != NULL) {
        while (requests[chunk] != HW_REQUEST_NULL)
            chunk++;
        send_chunk(message, chunk);
        sent++;
    }
    return sent > 0;
}

bool hw_p2p_outgoing_advance(void)
{
    bool has_done = end_chunks();
    has_done = take_jobs() || has_done;
    return send_chunks() || has_done;
}

bool hw_p2p_outgoing_is_idle(void)
{
    take_jobs();
    return message_count == 0 && chunk_count == 0;
}
