/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/pushes.h"

#include "engines/p2p/ghost/chunks.h"
#include "engines/p2p/ghost/outbox.h"
#include "engines/p2p/ghost/rings.h"
#include "ghost/give_up.h"
#include "world/world.h"

#include <stdlib.h>

enum { BUCKETS = 256 };

struct push {
    struct hw_p2p_source source; /* first */
    struct push *next, **link;   /* in the list that has it */
    struct hw_p2p_command command;
    uint64_t number;
};

static struct push *offered[BUCKETS]; /* by number; nobody asked for them yet */
static struct push *active;
static uint64_t last_number;

static struct hw_p2p_chunks chunks;

bool hw_p2p_pushes_open(void) { return hw_p2p_chunks_open(&chunks, HW_P2P_CHUNK_BYTES); }

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
    hw_p2p_chunks_close(&chunks);
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
                                     .from = push->source.user->process,
                                     .to = push->command.peer,
                                     .tag = push->command.tag,
                                     .number = push->number,
                                     .bytes = push->command.bytes,
                                     .comm = push->command.comm,
                                     .before = push->command.before};
    hw_p2p_outbox_put(push->source.place, &note);
}

void hw_p2p_pushes_offer(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct push *push = calloc(1, sizeof *push);
    if (push == NULL)
        hw_ghost_give_up("has no memory for messages");
    push->source =
        (struct hw_p2p_source){.user = user,
                               .address = command->address,
                               .bytes = command->bytes,
                               .place = hw_world_ghost_place(command->peer),
                               .memory = hw_p2p_user_memory(user, command->address, command->bytes)};
    push->command = *command;
    push->number = ++last_number;
    link_push(&offered[push->number % BUCKETS], push);
    tell(push, HW_P2P_NOTE_SEALED);
}

void hw_p2p_pushes_cancel(const struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    for (int i = 0; i < BUCKETS; i++)
        for (const struct push *push = offered[i]; push; push = push->next)
            if (push->source.user == user && push->command.operation == command->operation) {
                tell(push, HW_P2P_NOTE_CANCEL);
                return;
            }
}

static void finish(struct push *push, uint32_t flags)
{
    struct hw_p2p_block *block = push->source.user->block;
    const struct hw_p2p_end end = {.operation = push->command.operation,
                                   .bytes = push->command.bytes,
                                   .error = push->source.error,
                                   .flags = flags};
    hw_atomic_add_relaxed(&block->moved_messages, 1);
    hw_atomic_add_relaxed(&block->moved_bytes, push->source.sent);
    hw_p2p_rings_end(push->source.user, &end);
    unlink_push(push);
    free(push);
}

void hw_p2p_pushes_pulled(const struct hw_p2p_note *note)
{
    struct push *push = find(note->number);
    if (push == NULL)
        hw_ghost_give_up("was asked for a message that it does not have");
    unlink_push(push);
    push->source.tag = note->tag;
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

static void sent(struct hw_p2p_source *source) { finish((struct push *)source, 0); }

/* The one whose turn it is, which comes last then. NULL: all is sent. */
static struct hw_p2p_source *choose(void)
{
    struct push **end = &active, *chosen = NULL;
    for (struct push *push = active; push; push = push->next) {
        if (push->source.sent < push->source.bytes && chosen == NULL)
            chosen = push;
        end = &push->next;
    }
    if (chosen == NULL)
        return NULL;
    if (chosen->next) {
        unlink_push(chosen);
        link_push(end, chosen);
    }
    return &chosen->source;
}

bool hw_p2p_pushes_advance(void)
{
    bool has_done = hw_p2p_chunks_end(&chunks, sent);
    return hw_p2p_chunks_send(&chunks, choose, sent) || has_done;
}

bool hw_p2p_pushes_are_idle(void) { return active == NULL && chunks.count == 0; }
