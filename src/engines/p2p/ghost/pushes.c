/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/pushes.h"

#include "base/log.h"
#include "engines/p2p/ghost/outbox.h"
#include "engines/p2p/ghost/rings.h"
#include "ghost/give_up.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

/* Reads in one turn at most: the ghost serves windows beside, whose operations wait meanwhile. */
enum { CHUNKS_MAX = 16, TURN_MAX = 1, BUCKETS = 256 };

struct push {
    struct push *next, **link; /* in the list that has it */
    struct hw_p2p_user *user;
    struct hw_p2p_command command;
    uint64_t number;
    const char *memory; /* where it lies, if it need not be read */
    uint64_t sent;
    int in_flight; /* chunks that lie in the sender's memory */
    int place, tag, error;
};

static struct push *offered[BUCKETS]; /* by number; nobody asked for them yet */
static struct push *active;
static uint64_t last_number;

static MPI_Request requests[CHUNKS_MAX];
static int indices[CHUNKS_MAX];
static struct push *owners[CHUNKS_MAX]; /* whose memory is being sent; NULL: it is a copy */
static int chunk_count;
static char *copies;

bool hw_p2p_pushes_open(void)
{
    copies = malloc((size_t)CHUNKS_MAX * HW_P2P_CHUNK_BYTES);
    for (int i = 0; i < CHUNKS_MAX; i++)
        requests[i] = HW_REQUEST_NULL;
    return copies != NULL;
}

static void unlink_push(struct push *push)
{
    *push->link = push->next;
    if (push->next)
        push->next->link = push->link;
}

static void link_push(struct push **list, struct push *push)
{
    push->next = *list;
    push->link = list;
    if (*list)
        (*list)->link = &push->next;
    *list = push;
}

void hw_p2p_pushes_close(void)
{
    for (int i = 0; i < BUCKETS; i++)
        for (struct push *push; (push = offered[i]) != NULL;) {
            offered[i] = push->next;
            free(push);
        }
    free(copies);
    copies = NULL;
}

static struct push *find(uint64_t number)
{
    struct push *push = offered[number % BUCKETS];
    while (push && push->number != number)
        push = push->next;
    return push;
}

static void tell(const struct push *push, enum hw_p2p_note_kind kind)
{
    const struct hw_p2p_note note = {.kind = (int32_t)kind,
                                     .from = push->user->process,
                                     .to = push->command.peer,
                                     .tag = push->command.tag,
                                     .number = push->number,
                                     .bytes = push->command.bytes,
                                     .comm = push->command.comm,
                                     .before = push->command.before};
    hw_p2p_outbox_put(push->place, &note);
}

void hw_p2p_pushes_offer(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct push *push = calloc(1, sizeof *push);
    if (push == NULL)
        hw_ghost_give_up("has no memory for messages");
    push->user = user;
    push->command = *command;
    push->number = ++last_number;
    push->place = hw_world_ghost_place(command->peer);
    push->memory = hw_p2p_user_memory(user, command->address, command->bytes);
    link_push(&offered[push->number % BUCKETS], push);
    tell(push, HW_P2P_NOTE_SEALED);
}

void hw_p2p_pushes_cancel(const struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    for (int i = 0; i < BUCKETS; i++)
        for (const struct push *push = offered[i]; push; push = push->next)
            if (push->user == user && push->command.operation == command->operation) {
                tell(push, HW_P2P_NOTE_CANCEL);
                return;
            }
}

static void finish(struct push *push, uint32_t flags)
{
    struct hw_p2p_block *block = push->user->block;
    const struct hw_p2p_end end = {.operation = push->command.operation,
                                   .bytes = push->command.bytes,
                                   .error = push->error,
                                   .flags = flags};
    hw_atomic_add_relaxed(&block->moved_messages, 1);
    hw_atomic_add_relaxed(&block->moved_bytes, push->sent);
    hw_p2p_rings_end(push->user, &end);
    unlink_push(push);
    free(push);
}

void hw_p2p_pushes_pulled(const struct hw_p2p_note *note)
{
    struct push *push = find(note->number);
    if (push == NULL)
        hw_ghost_give_up("was asked for a message that it does not have");
    unlink_push(push);
    push->tag = note->tag;
    link_push(&active, push);
}

void hw_p2p_pushes_cancelled(const struct hw_p2p_note *note)
{
    struct push *push = find(note->number);
    if (push)
        finish(push, HW_P2P_END_CANCELLED);
}

/* ---- data ------------------------------------------------------------------------------------------------
 */

static void finish_if_done(struct push *push)
{
    if (push->sent == push->command.bytes && push->in_flight == 0)
        finish(push, 0);
}

static bool end_chunks(void)
{
    int count = 0;
    if (chunk_count == 0)
        return false;
    if (hw_bottom.Testsome(CHUNKS_MAX, requests, &count, indices, HW_STATUSES_IGNORE) != MPI_SUCCESS)
        hw_ghost_give_up("cannot send messages of user processes any more");
    for (int i = 0; i < count; i++) {
        struct push *owner = owners[indices[i]];
        chunk_count--;
        if (owner) {
            owner->in_flight--;
            finish_if_done(owner);
        }
    }
    return count > 0;
}

static void fail(struct push *push, int error)
{
    push->error = error;
    hw_log_error(
        "rank %d sends %llu bytes from %#llx, and its ghost cannot read them (%s); give MPI a buffer "
        "that is there until the send is complete",
        hw_world.processes[push->user->process].user_rank, (unsigned long long)push->command.bytes,
        (unsigned long long)push->command.address, strerror(error));
}

/* A chunk that cannot be read is sent empty, so that the receiver's count of chunks is right. */
static void send_chunk(struct push *push, int chunk)
{
    uint64_t left = push->command.bytes - push->sent;
    uint64_t bytes = left < HW_P2P_CHUNK_BYTES ? left : HW_P2P_CHUNK_BYTES;
    const char *data = push->memory ? push->memory + push->sent : NULL;
    owners[chunk] = data ? push : NULL;
    if (data == NULL) {
        char *copy = copies + (size_t)chunk * HW_P2P_CHUNK_BYTES;
        int error = push->error
                        ? push->error
                        : hw_p2p_user_read(push->user, push->command.address + push->sent, copy, bytes);
        if (error && !push->error)
            fail(push, error);
        data = copy;
    }
    hw_p2p_wire_send(push->place, push->tag, data, push->error ? 0 : bytes, &requests[chunk]);
    push->sent += bytes;
    push->in_flight += owners[chunk] != NULL;
    chunk_count++;
    finish_if_done(push);
}

/* The one whose turn it is, which comes last then. NULL: all is sent. */
static struct push *choose(void)
{
    struct push **end = &active, *chosen = NULL;
    for (struct push *push = active; push; push = push->next) {
        if (push->sent < push->command.bytes && chosen == NULL)
            chosen = push;
        end = &push->next;
    }
    if (chosen == NULL || chosen->next == NULL)
        return chosen;
    unlink_push(chosen);
    link_push(end, chosen);
    return chosen;
}

static bool send_chunks(void)
{
    struct push *push;
    int sent = 0, chunk = 0;
    while (sent < TURN_MAX && chunk_count < CHUNKS_MAX && (push = choose()) != NULL) {
        while (requests[chunk] != HW_REQUEST_NULL)
            chunk++;
        send_chunk(push, chunk);
        sent++;
    }
    return sent > 0;
}

bool hw_p2p_pushes_advance(void)
{
    bool has_done = end_chunks();
    return send_chunks() || has_done;
}

bool hw_p2p_pushes_are_idle(void) { return active == NULL && chunk_count == 0; }
