/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/outgoing.h"

#include "engines/p2p/ghost/chunks.h"
#include "engines/p2p/ghost/credits.h"
#include "engines/p2p/ghost/users.h"
#include "engines/p2p/ghost/wire.h"
#include "engines/p2p/shared/room.h"
#include "ghost/give_up.h"
#include "world/world.h"

#include <stdint.h>
#include <string.h>

enum { MESSAGES_MAX = HW_P2P_MESSAGES_MAX };

static struct message {
    struct hw_p2p_source source; /* first; user NULL: there is none here */
    struct hw_queue_cell *cell;
} messages[MESSAGES_MAX];
static int message_count, next_message, next_user;

static struct hw_p2p_chunks chunks;

bool hw_p2p_outgoing_open(void) { return hw_p2p_chunks_open(&chunks, hw_p2p_unit_bytes()); }

void hw_p2p_outgoing_close(void) { hw_p2p_chunks_close(&chunks); }

/* One that is all sent may still be on its way, but its chunks come before those of the next with its tag. */
static bool is_used(int place, int tag)
{
    for (int i = 0; i < MESSAGES_MAX; i++)
        if (messages[i].source.user && messages[i].source.place == place && messages[i].source.tag == tag)
            return true;
    return false;
}

/* The sender may use its memory again. */
static void finish(struct hw_p2p_source *source)
{
    const struct message *message = (struct message *)source;
    struct hw_p2p_block *block = source->user->block;
    hw_atomic_add_relaxed(&block->moved_messages, 1);
    hw_atomic_add_relaxed(&block->moved_bytes, source->bytes);
    hw_queue_end(source->user->jobs.queue, message->cell, source->error, source->bytes);
    source->user = NULL;
    message_count--;
}

static void offer(const struct hw_p2p_source *source, const struct hw_p2p_job *job)
{
    const struct hw_p2p_note note = {.kind = HW_P2P_NOTE_OFFER,
                                     .from = source->user->process,
                                     .to = job->to,
                                     .tag = source->tag,
                                     .number = job->number,
                                     .bytes = job->bytes};
    hw_p2p_wire_tell(source->place, &note);
}

/* take_jobs has seen that there is room for a note. */
static void withdraw(struct hw_p2p_user *user, struct hw_queue_cell *cell, const struct hw_p2p_job *job,
                     int place)
{
    const struct hw_p2p_note note = {
        .kind = HW_P2P_NOTE_WITHDRAWN, .from = user->process, .to = job->to, .number = job->number};
    hw_p2p_wire_tell(place, &note);
    hw_queue_end(user->jobs.queue, cell, 0, 0);
}

static void begin(struct message *message, struct hw_p2p_user *user, struct hw_queue_cell *cell)
{
    struct hw_p2p_source *source = &message->source;
    struct hw_p2p_job job;
    memcpy(&job, cell->job, sizeof job);
    if (job.to < 0 || job.to >= hw_world.size)
        hw_ghost_give_up("was told to send a message to nobody");
    int place = hw_world_ghost_place(job.to);
    if (job.pieces == HW_P2P_JOB_WITHDRAWN) {
        withdraw(user, cell, &job, place);
        return;
    }
    message->cell = cell;
    *source = (struct hw_p2p_source){.user = user,
                                     .address = job.address,
                                     .bytes = job.bytes,
                                     .pieces = job.pieces,
                                     .place = place,
                                     .tag = hw_p2p_wire_tag(place, is_used)};
    if (job.pieces == 0)
        source->memory = hw_p2p_user_memory(user, job.address, job.bytes);
    message_count++;
    offer(source, &job);
    hw_p2p_credits_spent(user, place, (uint32_t)hw_p2p_units_of(job.bytes));
    if (hw_p2p_source_is_done(source))
        finish(source);
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
        while (messages[i].source.user)
            i++;
        begin(&messages[i], user, cell);
        has_done = true;
    }
    return has_done;
}

static struct hw_p2p_source *choose(void)
{
    for (int i = 0; message_count > 0 && i < MESSAGES_MAX; i++) {
        next_message = (next_message + 1) % MESSAGES_MAX;
        struct hw_p2p_source *source = &messages[next_message].source;
        if (source->user && source->sent < source->bytes)
            return source;
    }
    return NULL;
}

bool hw_p2p_outgoing_advance(void)
{
    bool has_done = hw_p2p_chunks_end(&chunks, finish);
    has_done = take_jobs() || has_done;
    return hw_p2p_chunks_send(&chunks, choose, finish) || has_done;
}

bool hw_p2p_outgoing_is_idle(void)
{
    take_jobs();
    return message_count == 0 && chunks.count == 0;
}
