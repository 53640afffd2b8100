/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/user/requests.h"

#include "engines/coll/shared/opened.h"
#include "ghost/channel.h"
#include "objects/request.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "world/world.h"

#include <stdlib.h>

/* Memory of ours that the ghost uses till the end, if any. */
struct copies {
    struct hw_coll_buffer sent, received;
};

static void completed(void *attachment, const MPI_Status *status, int error, bool is_cancelled)
{
    const struct copies *copies = attachment;
    (void)status;
    if (error == MPI_SUCCESS && !is_cancelled)
        hw_coll_buffer_unpack(&copies->received);
}

static void freed(void *attachment)
{
    struct copies *copies = attachment;
    hw_coll_buffer_drop(&copies->sent);
    hw_coll_buffer_drop(&copies->received);
    free(copies);
}

static const struct hw_request_calls calls = {.completed = completed, .freed = freed, .is_collective = true};

static int next_tag(void)
{
    static int tag;
    tag = (tag + 1) % hw_coll_opened.tag_count;
    return tag;
}

/* The receive is posted first, so it is not complete yet, and no other request has its handle. */
static int hand_over(const struct hw_coll_posted *posted, MPI_Request *request)
{
    int ghost = hw_world.processes[hw_world.rank].ghost, tag = next_tag();
    const struct hw_ghost_command command = hw_coll_command(posted, tag);
    int rc = hw_bottom.Irecv(NULL, 0, HW_BYTE, ghost, tag, hw_coll_opened.comm, request);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = hw_ghost_tell(ghost, &command);
    if (rc != MPI_SUCCESS) { /* nobody will answer */
        hw_bottom.Cancel(request);
        hw_bottom.Wait(request, HW_STATUS_IGNORE);
        return rc;
    }
    HW_COUNT(coll_moved);
    HW_COUNT_ADD(coll_moved_bytes, posted->bytes);
    return MPI_SUCCESS;
}

static void give_up(struct copies *copies, bool has_reserved, struct hw_coll_buffer *sent,
                    struct hw_coll_buffer *received)
{
    if (has_reserved)
        hw_request_give_back();
    free(copies);
    if (sent)
        hw_coll_buffer_drop(sent);
    if (received)
        hw_coll_buffer_drop(received);
}

int hw_coll_request(MPI_Comm comm, const struct hw_coll_posted *posted, struct hw_coll_buffer *sent,
                    struct hw_coll_buffer *received, MPI_Request *request)
{
    struct copies *copies = calloc(1, sizeof *copies);
    bool is_able = copies && hw_request_reserve();
    int rc = is_able ? hand_over(posted, request) : MPI_ERR_NO_MEM;
    if (rc != MPI_SUCCESS) {
        give_up(copies, is_able, sent, received);
        hw_bottom.Comm_call_errhandler(comm, rc);
        return rc;
    }
    if (sent)
        copies->sent = *sent;
    if (received)
        copies->received = *received;
    hw_request_attach(*request, &(struct hw_request_attachment){
                                    .calls = &calls, .attachment = copies, .bytes = posted->bytes});
    return MPI_SUCCESS;
}
