/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/wire.h"

#include "ghost/give_up.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>

enum { NOTES_MAX = 64, TAG_NOTE = 1, TAG_FIRST = 16, TAG_COUNT = 1024 };

static_assert(TAG_FIRST + TAG_COUNT <= HW_P2P_TAG_PULLED, "tags of senders and of receivers differ");

static MPI_Comm ghosts;
static int own_place;

static struct hw_p2p_note *outgoing, *incoming; /* incoming: by place */
static MPI_Request *outgoing_requests, *incoming_requests;
static int *indices; /* of notes that have come and were not heard */
static int index_count, index_next;
static bool *has_ended;  /* by place: its last note came */
static uint32_t *counts; /* by place: messages so far */

static void check(int rc)
{
    if (rc != MPI_SUCCESS)
        hw_ghost_give_up("cannot send or receive messages of user processes any more");
}

static bool take_memory(void)
{
    size_t count = (size_t)hw_world.ghost_count;
    outgoing = calloc(NOTES_MAX, sizeof *outgoing);
    outgoing_requests = calloc(NOTES_MAX, sizeof(MPI_Request));
    incoming = calloc(count, sizeof *incoming);
    incoming_requests = calloc(count, sizeof(MPI_Request));
    indices = calloc(count, sizeof *indices);
    has_ended = calloc(count, sizeof *has_ended);
    counts = calloc(count, sizeof *counts);
    return outgoing && outgoing_requests && incoming && incoming_requests && indices && has_ended && counts;
}

bool hw_p2p_wire_open(void)
{
    bool is_ghost = hw_world_is_ghost(), has_memory = !is_ghost || take_memory();
    ghosts = HW_COMM_NULL;
    if (is_ghost && has_memory) {
        own_place = hw_world_ghost_place(hw_world.rank);
        for (int i = 0; i < NOTES_MAX; i++)
            outgoing_requests[i] = HW_REQUEST_NULL;
        for (int i = 0; i < hw_world.ghost_count; i++)
            incoming_requests[i] = HW_REQUEST_NULL;
    }
    return hw_bottom.Comm_split(hw_world.all, is_ghost ? 0 : HW_UNDEFINED, own_place, &ghosts) ==
               MPI_SUCCESS &&
           has_memory;
}

void hw_p2p_wire_free(void)
{
    if (ghosts != HW_COMM_NULL)
        hw_bottom.Comm_free(&ghosts);
    ghosts = HW_COMM_NULL;
    free(outgoing);
    free(outgoing_requests);
    free(incoming);
    free(incoming_requests);
    free(indices);
    free(has_ended);
    free(counts);
    indices = NULL;
    outgoing = incoming = NULL;
    outgoing_requests = incoming_requests = NULL;
    has_ended = NULL;
    counts = NULL;
    index_count = index_next = 0;
}

static void expect(int place)
{
    check(hw_bottom.Irecv(&incoming[place], sizeof *incoming, HW_BYTE, place, TAG_NOTE, ghosts,
                          &incoming_requests[place]));
}

/* One receive a ghost and not one from any, which MPICH 5.0 over UCX never completes for some messages from
 * other nodes (doc/guide/troubleshooting.md). */
void hw_p2p_wire_listen(void)
{
    for (int i = 0; i < hw_world.ghost_count; i++)
        expect(i);
}

static int free_note(void)
{
    for (int i = 0; i < NOTES_MAX; i++) {
        int is_free = outgoing_requests[i] == HW_REQUEST_NULL;
        if (!is_free)
            check(hw_bottom.Test(&outgoing_requests[i], &is_free, HW_STATUS_IGNORE));
        if (is_free)
            return i;
    }
    return -1;
}

bool hw_p2p_wire_has_room(void) { return free_note() >= 0; }

bool hw_p2p_wire_tell(int place, const struct hw_p2p_note *note)
{
    int index = free_note();
    if (index < 0)
        return false;
    outgoing[index] = *note;
    check(hw_bottom.Isend(&outgoing[index], sizeof *note, HW_BYTE, place, TAG_NOTE, ghosts,
                          &outgoing_requests[index]));
    return true;
}

bool hw_p2p_wire_hear(int *place, struct hw_p2p_note *note)
{
    if (index_next == index_count) {
        index_next = 0;
        check(hw_bottom.Testsome(hw_world.ghost_count, incoming_requests, &index_count, indices,
                                 HW_STATUSES_IGNORE));
        if (index_count == HW_UNDEFINED) /* all have ended */
            index_count = 0;
    }
    if (index_next == index_count)
        return false;
    *place = indices[index_next++];
    *note = incoming[*place];
    if (note->kind == HW_P2P_NOTE_END)
        has_ended[*place] = true;
    else
        expect(*place);
    return true;
}

int hw_p2p_wire_tag(int place, bool (*is_used)(int place, int tag))
{
    int tag;
    do
        tag = TAG_FIRST + (int)(counts[place]++ % TAG_COUNT);
    while (is_used(place, tag));
    return tag;
}

void hw_p2p_wire_send(int place, int tag, const void *data, uint64_t bytes, MPI_Request *request)
{
    check(hw_bottom.Isend(data, (int)bytes, HW_BYTE, place, tag, ghosts, request));
}

void hw_p2p_wire_receive(int place, int tag, void *data, uint64_t bytes, MPI_Request *request)
{
    check(hw_bottom.Irecv(data, (int)bytes, HW_BYTE, place, tag, ghosts, request));
}

bool hw_p2p_wire_has_come(MPI_Request *request, uint64_t *bytes)
{
    MPI_Status status;
    int is_complete = 0, count = 0;
    check(hw_bottom.Test(request, &is_complete, &status));
    if (!is_complete)
        return false;
    check(hw_bottom.Get_count(&status, HW_BYTE, &count));
    *bytes = count > 0 ? (uint64_t)count : 0;
    return true;
}

void hw_p2p_wire_say_end(void)
{
    const struct hw_p2p_note last = {.kind = HW_P2P_NOTE_END};
    for (int i = 0; i < hw_world.ghost_count; i++)
        while (!hw_p2p_wire_tell(i, &last))
            continue;
}

bool hw_p2p_wire_has_ended(void)
{
    for (int i = 0; i < hw_world.ghost_count; i++)
        if (!has_ended[i])
            return false;
    for (int i = 0; i < NOTES_MAX; i++) {
        int is_complete = 0;
        check(hw_bottom.Test(&outgoing_requests[i], &is_complete, HW_STATUS_IGNORE));
        if (!is_complete)
            return false;
    }
    return true;
}
