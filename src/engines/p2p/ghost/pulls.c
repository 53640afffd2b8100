/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/pulls.h"

#include "base/log.h"
#include "engines/p2p/ghost/outbox.h"
#include "engines/p2p/ghost/rings.h"
#include "ghost/give_up.h"
#include "real/constants.h"
#include "world/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 8, CHUNKS = 4, TURN_MAX = 2 };

struct pull {
    struct pull *next;
    struct hw_p2p_offered *offered;
    struct hw_p2p_wanted *wanted;
};

static struct pull *first_waiting, **last_waiting = &first_waiting;

static struct slot {
    struct pull *pull; /* NULL: free */
    char *direct;      /* the receiver's memory, where it is mapped here and has room for all */
    uint64_t asked, arrived;
    int error;
    MPI_Request requests[CHUNKS]; /* of chunk n: n % CHUNKS */
} slots[SLOTS];
static int used_count, next_slot;
static char *chunks; /* SLOTS * CHUNKS */

bool hw_p2p_pulls_open(void)
{
    chunks = malloc((size_t)SLOTS * CHUNKS * HW_P2P_CHUNK_BYTES);
    return chunks != NULL;
}

static void free_pull(struct pull *pull)
{
    free(pull->offered);
    free(pull->wanted);
    free(pull);
}

void hw_p2p_pulls_close(void)
{
    for (struct pull *pull; (pull = first_waiting) != NULL;) {
        first_waiting = pull->next;
        free_pull(pull);
    }
    last_waiting = &first_waiting;
    free(chunks);
    chunks = NULL;
}

static uint64_t chunk_bytes(const struct slot *slot, uint64_t from)
{
    uint64_t left = slot->pull->offered->bytes - from;
    return left < HW_P2P_CHUNK_BYTES ? left : HW_P2P_CHUNK_BYTES;
}

static unsigned index_of(uint64_t from) { return (unsigned)(from / HW_P2P_CHUNK_BYTES % CHUNKS); }

static char *memory_of(const struct slot *slot, uint64_t from)
{
    if (slot->direct)
        return slot->direct + from;
    return chunks + ((size_t)(slot - slots) * CHUNKS + index_of(from)) * HW_P2P_CHUNK_BYTES;
}

static int tag_of(const struct slot *slot) { return HW_P2P_TAG_PULLED + (int)(slot - slots); }

static void ask(struct slot *slot)
{
    const struct hw_p2p_offered *offered = slot->pull->offered;
    while (slot->asked < offered->bytes &&
           slot->asked < slot->arrived + (uint64_t)CHUNKS * HW_P2P_CHUNK_BYTES) {
        uint64_t bytes = chunk_bytes(slot, slot->asked);
        hw_p2p_wire_receive(offered->place, tag_of(slot), memory_of(slot, slot->asked), bytes,
                            &slot->requests[index_of(slot->asked)]);
        slot->asked += bytes;
    }
}

static void start(struct slot *slot, struct pull *pull)
{
    const struct hw_p2p_offered *offered = pull->offered;
    const struct hw_p2p_wanted *wanted = pull->wanted;
    *slot = (struct slot){.pull = pull};
    if (offered->bytes <= wanted->bytes)
        slot->direct = (char *)(uintptr_t)hw_p2p_user_memory(wanted->user, wanted->address, offered->bytes);
    used_count++;
    ask(slot);
    const struct hw_p2p_note note = {.kind = HW_P2P_NOTE_PULL,
                                     .from = offered->link.key.from,
                                     .to = offered->link.key.to,
                                     .tag = tag_of(slot),
                                     .number = offered->number,
                                     .bytes = offered->bytes};
    hw_p2p_outbox_put(offered->place, &note);
}

static bool start_some(void)
{
    bool has_done = false;
    for (int i = 0; i < SLOTS && first_waiting; i++) {
        struct pull *pull = first_waiting;
        if (slots[i].pull)
            continue;
        first_waiting = pull->next;
        if (first_waiting == NULL)
            last_waiting = &first_waiting;
        start(&slots[i], pull);
        has_done = true;
    }
    return has_done;
}

void hw_p2p_pulls_begin(struct hw_p2p_offered *offered, struct hw_p2p_wanted *wanted)
{
    struct pull *pull = malloc(sizeof *pull);
    if (pull == NULL)
        hw_ghost_give_up("has no memory for messages");
    *pull = (struct pull){.offered = offered, .wanted = wanted};
    *last_waiting = pull;
    last_waiting = &pull->next;
    start_some();
}

/* ---- what comes ------------------------------------------------------------------------------------------
 */

/* Of a process that is not there any more its launcher tells. */
static void fail(struct slot *slot, int error)
{
    const struct hw_p2p_wanted *wanted = slot->pull->wanted;
    slot->error = error;
    if (error == ESRCH)
        return;
    hw_log_error(
        "rank %d receives into %#llx, and its ghost cannot write there (%s); give MPI a buffer that is "
        "there until the receive is complete",
        hw_world.processes[wanted->user->process].user_rank, (unsigned long long)wanted->address,
        strerror(error));
}

/* What is longer than the receive is left out. */
static void write_chunk(struct slot *slot, uint64_t bytes)
{
    const struct hw_p2p_wanted *wanted = slot->pull->wanted;
    uint64_t from = slot->arrived, room = wanted->bytes > from ? wanted->bytes - from : 0;
    uint64_t expected = chunk_bytes(slot, from), written = bytes < room ? bytes : room;
    if (bytes != expected && slot->error == 0)
        slot->error = EFAULT; /* the sender's ghost has said why */
    if (slot->error || slot->direct || written == 0)
        return;
    int error = hw_p2p_user_write(wanted->user, wanted->address + from, memory_of(slot, from), written);
    if (error)
        fail(slot, error);
}

static void finish(struct slot *slot)
{
    struct pull *pull = slot->pull;
    const struct hw_p2p_end end = {
        .operation = pull->wanted->operation, .bytes = pull->offered->bytes, .error = slot->error};
    hw_p2p_rings_end(pull->wanted->user, &end);
    slot->pull = NULL;
    used_count--;
    free_pull(pull);
}

/* True: a chunk came. */
static bool receive(struct slot *slot)
{
    uint64_t bytes;
    if (!hw_p2p_wire_has_come(&slot->requests[index_of(slot->arrived)], &bytes))
        return false;
    write_chunk(slot, bytes);
    slot->arrived += chunk_bytes(slot, slot->arrived);
    if (slot->arrived == slot->pull->offered->bytes)
        finish(slot);
    else
        ask(slot);
    return true;
}

bool hw_p2p_pulls_advance(void)
{
    int come = 0;
    for (int i = 0; used_count > 0 && i < SLOTS && come < TURN_MAX; i++) {
        next_slot = (next_slot + 1) % SLOTS;
        if (slots[next_slot].pull)
            come += receive(&slots[next_slot]);
    }
    return start_some() || come > 0;
}

bool hw_p2p_pulls_are_idle(void) { return used_count == 0 && first_waiting == NULL; }
