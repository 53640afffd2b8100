/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/incoming.h"

#include "engines/p2p/ghost/credits.h"
#include "engines/p2p/ghost/users.h"
#include "engines/p2p/shared/opened.h"
#include "engines/p2p/shared/room.h"
#include "ghost/give_up.h"
#include "world/world.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/* Receives under way, of a message. The first messages of a ghost are received at once: those before one that
 * it still sends are complete some time, whatever it does, so all that it sends are among them then. */
enum { CHUNKS_MAX = 8 };

struct message {
    struct message *next;
    struct hw_p2p_user *user;
    struct hw_p2p_note note;
    uint32_t units, first;   /* of room */
    uint32_t next_unit;      /* into which the next chunk is received */
    uint64_t asked, arrived; /* bytes of chunks */
    int error;
    bool is_withdrawn;                /* nobody will ask for it */
    MPI_Request requests[CHUNKS_MAX]; /* of chunk n: n % CHUNKS_MAX */
};

/* By place of the ghost that offered them, in the order of offers. */
static struct queue {
    struct message *first, **last;
} * queues;
static struct message *unused; /* kept for the next */
static int message_count, own_place;
static uint64_t unit_bytes;

bool hw_p2p_incoming_open(void)
{
    own_place = hw_world_ghost_place(hw_world.rank);
    unit_bytes = hw_p2p_unit_bytes();
    queues = calloc((size_t)hw_world.ghost_count, sizeof *queues);
    for (int i = 0; queues && i < hw_world.ghost_count; i++)
        queues[i].last = &queues[i].first;
    return queues != NULL;
}

void hw_p2p_incoming_close(void)
{
    for (struct message *message; (message = unused) != NULL;) {
        unused = message->next;
        free(message);
    }
    free(queues);
    queues = NULL;
}

static struct message *new_message(void)
{
    struct message *message = unused;
    if (message == NULL)
        message = malloc(sizeof *message);
    else
        unused = message->next;
    if (message == NULL)
        hw_ghost_give_up("has no memory for messages");
    return message;
}

static int sender_of(const struct hw_p2p_note *note) { return hw_world.processes[note->from].user_rank; }

void hw_p2p_incoming_offered(int place, const struct hw_p2p_note *note)
{
    struct message *message = new_message();
    *message = (struct message){.user = hw_p2p_user_of(note->to), .note = *note};
    if (message->user == NULL)
        hw_ghost_give_up("was offered a message for a process that it does not serve");
    message->units = (uint32_t)hw_p2p_units_of(note->bytes);
    if (!hw_p2p_pool_enter(hw_p2p_credits_pool(), sender_of(note), message->units,
                           hw_p2p_room_chain(hw_p2p_opened.room), &message->first))
        hw_ghost_give_up("was offered a message for which the sender has no credit");
    message->next_unit = message->first;
    *queues[place].last = message;
    queues[place].last = &message->next;
    message_count++;
}

static uint64_t chunk_bytes(const struct message *message, uint64_t from)
{
    uint64_t left = message->note.bytes - from;
    return left < unit_bytes ? left : unit_bytes;
}

static MPI_Request *request_at(struct message *message, uint64_t from)
{
    return &message->requests[from / unit_bytes % CHUNKS_MAX];
}

static void ask(struct message *message, int place)
{
    while (message->asked < message->note.bytes &&
           message->asked < message->arrived + CHUNKS_MAX * unit_bytes) {
        uint64_t bytes = chunk_bytes(message, message->asked);
        hw_p2p_wire_receive(place, message->note.tag,
                            hw_p2p_room_unit(hw_p2p_opened.room, own_place, message->next_unit), bytes,
                            request_at(message, message->asked));
        message->next_unit = hw_p2p_room_chain(hw_p2p_opened.room)[message->next_unit];
        message->asked += bytes;
    }
}

static bool receive(struct message *message, int place)
{
    bool has_come = false;
    uint64_t bytes;
    ask(message, place);
    while (message->arrived < message->asked &&
           hw_p2p_wire_has_come(request_at(message, message->arrived), &bytes)) {
        uint64_t expected = chunk_bytes(message, message->arrived);
        if (bytes != expected)
            message->error = EFAULT;
        message->arrived += expected;
        ask(message, place);
        has_come = true;
    }
    return has_come;
}

/* The user process knows it from now on. */
static void arrive(const struct message *message)
{
    const struct hw_p2p_note *note = &message->note;
    struct hw_p2p_entry *entry = hw_p2p_entry_of(message->user->block, sender_of(note), note->number);
    entry->number = note->number;
    entry->bytes = note->bytes;
    entry->units = message->units;
    entry->first = message->first;
    entry->error = message->error;
    hw_atomic_store_release(&entry->state,
                            message->is_withdrawn ? HW_P2P_ENTRY_CONSUMED : HW_P2P_ENTRY_ARRIVED);
    message->user->owes_freed = message->user->owes_freed || message->is_withdrawn;
    message->user->lanes[sender_of(note)].arrived++;
    hw_queue_tell(message->user->jobs.queue);
}

void hw_p2p_incoming_withdrawn(int place, const struct hw_p2p_note *note)
{
    struct hw_p2p_user *user = hw_p2p_user_of(note->to);
    if (user == NULL)
        hw_ghost_give_up("was told of a message for a process that it does not serve");
    for (struct message *message = queues[place].first; message; message = message->next)
        if (message->note.from == note->from && message->note.to == note->to &&
            message->note.number == note->number) {
            message->is_withdrawn = true;
            return;
        }
    struct hw_p2p_entry *entry = hw_p2p_entry_of(user->block, sender_of(note), note->number);
    hw_atomic_store_release(&entry->state, HW_P2P_ENTRY_CONSUMED);
    user->owes_freed = true;
}

/* An earlier one that is not complete has the tag: its chunks come first. */
static bool must_wait(const struct queue *queue, const struct message *message)
{
    for (const struct message *earlier = queue->first; earlier != message; earlier = earlier->next)
        if (earlier->note.tag == message->note.tag)
            return true;
    return false;
}

static bool receive_from(int place)
{
    struct queue *queue = &queues[place];
    struct message **link = &queue->first, *message;
    bool has_done = false;
    for (int i = 0; i < HW_P2P_MESSAGES_MAX && (message = *link) != NULL; i++) {
        if (message->asked > 0 || !must_wait(queue, message))
            has_done = receive(message, place) || has_done;
        if (message->arrived < message->note.bytes) {
            link = &message->next;
            continue;
        }
        arrive(message);
        *link = message->next;
        if (*link == NULL)
            queue->last = link;
        message->next = unused;
        unused = message;
        message_count--;
        has_done = true;
    }
    return has_done;
}

bool hw_p2p_incoming_advance(void)
{
    bool has_done = false;
    for (int i = 0; message_count > 0 && i < hw_world.ghost_count; i++)
        has_done = receive_from(i) || has_done;
    return has_done;
}

bool hw_p2p_incoming_is_idle(void) { return message_count == 0; }

static void leave(struct hw_p2p_lane *lane, struct hw_p2p_entry *entry, int sender)
{
    lane->units += entry->units;
    lane->back += hw_p2p_pool_leave(hw_p2p_credits_pool(), sender, entry->units,
                                    hw_p2p_room_chain(hw_p2p_opened.room), entry->first);
    hw_atomic_store_release(&entry->state, HW_P2P_ENTRY_LEFT);
    lane->is_owed = true;
}

/* Units in any order, entries in theirs. */
static void free_entries(struct hw_p2p_user *user, int sender)
{
    struct hw_p2p_lane *lane = &user->lanes[sender];
    uint32_t found = 0;
    for (uint64_t number = lane->freed; found < lane->arrived; number++) {
        struct hw_p2p_entry *entry = hw_p2p_entry_of(user->block, sender, number);
        uint32_t state = hw_atomic_load_acquire(&entry->state);
        found += state != HW_P2P_ENTRY_FREE;
        if (state == HW_P2P_ENTRY_CONSUMED)
            leave(lane, entry, sender);
    }
    while (lane->arrived > 0) {
        struct hw_p2p_entry *entry = hw_p2p_entry_of(user->block, sender, lane->freed);
        if (hw_atomic_load_relaxed(&entry->state) != HW_P2P_ENTRY_LEFT)
            break;
        hw_atomic_store_release(&entry->state, HW_P2P_ENTRY_FREE);
        lane->freed++;
        lane->arrived--;
    }
}

static bool tell_freed(const struct hw_p2p_user *user, int sender)
{
    const struct hw_p2p_lane *lane = &user->lanes[sender];
    const struct hw_p2p_note note = {.kind = HW_P2P_NOTE_FREED,
                                     .from = hw_world.user_ranks[sender],
                                     .to = user->process,
                                     .number = lane->freed,
                                     .units = lane->units,
                                     .rest = lane->back};
    return hw_p2p_wire_tell(hw_world_ghost_place(note.from), &note);
}

static bool give_back_of(struct hw_p2p_user *user)
{
    uint64_t consumed = hw_atomic_load_seq_cst(&user->block->consumed);
    if (consumed == user->consumed && !user->owes_freed)
        return false;
    user->consumed = consumed;
    user->owes_freed = false;
    bool has_done = false;
    for (int i = 0; i < hw_world.user_count; i++) {
        struct hw_p2p_lane *lane = &user->lanes[i];
        free_entries(user, i);
        if (!lane->is_owed)
            continue;
        lane->is_owed = !tell_freed(user, i);
        if (!lane->is_owed)
            lane->units = lane->back = 0;
        user->owes_freed = user->owes_freed || lane->is_owed;
        has_done = true;
    }
    return has_done;
}

bool hw_p2p_incoming_give_back(void)
{
    bool has_done = false;
    for (int i = 0; i < hw_p2p_user_count(); i++)
        has_done = give_back_of(hw_p2p_user_at(i)) || has_done;
    return has_done;
}

void hw_p2p_incoming_freed(const struct hw_p2p_note *note)
{
    struct hw_p2p_user *user = hw_p2p_user_of(note->from);
    if (user == NULL)
        hw_ghost_give_up("was given back a message of a process that it does not serve");
    struct hw_p2p_out *out = hw_p2p_out_of(user->block, hw_world.processes[note->to].user_rank);
    hw_atomic_store_release(&out->freed_count, note->number);
    hw_p2p_credits_freed(note);
}
