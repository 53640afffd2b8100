/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/user/calls.h"

#include "engines/coll/shared/command.h"
#include "engines/coll/shared/opened.h"
#include "engines/coll/user/buffers.h"
#include "engines/coll/user/comms.h"
#include "engines/coll/user/requests.h"
#include "profile/record.h"
#include "real/constants.h"
#include "world/world.h"

#include <stddef.h>

/* What the MPI refuses it shall refuse itself. */
static struct hw_coll_comm *judge(MPI_Count count, MPI_Datatype type, MPI_Comm comm, const void *request,
                                  uint64_t *bytes)
{
    if (count <= 0 || type == HW_DATATYPE_NULL || request == NULL)
        return NULL;
    *bytes = hw_engines_bytes(count, type);
    if (*bytes < hw_coll_opened.min_bytes)
        return NULL;
    struct hw_coll_comm *known = hw_coll_comm_of(comm);
    if (known == NULL)
        hw_record_declined(
            "coll: on a communicator that is not MPI_COMM_WORLD or made of it by MPI_Comm_dup");
    return known;
}

/* Of a send argument that counts. Else the program is wrong, and the MPI says so. */
static bool is_valid(MPI_Count count, MPI_Datatype type) { return count > 0 && type != HW_DATATYPE_NULL; }

static int no_memory(MPI_Comm comm)
{
    hw_bottom.Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

static int ibcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    struct hw_coll_buffer whole;
    struct hw_coll_posted posted = {.kind = HW_COLL_BCAST, .root = root};
    struct hw_coll_comm *known = judge(count, datatype, comm, request, &posted.bytes);
    if (known == NULL || root < 0 || root >= hw_world.user_count)
        return HW_DECLINES;
    if (!hw_coll_buffer_take(&whole, buffer, count, datatype))
        return no_memory(comm);
    bool is_root = root == hw_world.user_rank;
    if (is_root)
        hw_coll_buffer_pack(&whole);
    posted.id = hw_coll_id(known->number, known->sequence++);
    posted.recv = hw_coll_buffer_address(&whole);
    return hw_coll_request(comm, &posted, is_root ? &whole : NULL, is_root ? NULL : &whole, request);
}

/* Of a collective in which each process has a block for each. */
struct blocks {
    struct hw_coll_buffer sent, received;
};

/* In place a process's own block is where it is to be received. */
static bool take_own_block(struct blocks *blocks, MPI_Count count, MPI_Datatype type, uint64_t bytes)
{
    MPI_Aint lower, extent;
    uint64_t own = (uint64_t)hw_world.user_rank;
    if (blocks->received.copy == NULL) /* the datatype has no gaps */
        return hw_coll_buffer_take(&blocks->sent, (char *)blocks->received.memory + own * bytes,
                                   (MPI_Count)bytes, HW_BYTE);
    hw_bottom.Type_get_extent(type, &lower, &extent);
    MPI_Aint offset = (MPI_Aint)own * (MPI_Aint)count * extent;
    return hw_coll_buffer_take(&blocks->sent, (char *)blocks->received.memory + offset, count, type);
}

static int post_blocks(MPI_Comm comm, struct hw_coll_posted *posted, struct hw_coll_comm *known,
                       struct blocks *blocks, MPI_Request *request)
{
    hw_coll_buffer_pack(&blocks->sent);
    posted->id = hw_coll_id(known->number, known->sequence++);
    posted->send = hw_coll_buffer_address(&blocks->sent);
    posted->recv = hw_coll_buffer_address(&blocks->received);
    return hw_coll_request(comm, posted, &blocks->sent, &blocks->received, request);
}

static int iallgather(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                      MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct blocks blocks = {0};
    struct hw_coll_posted posted = {.kind = HW_COLL_ALLGATHER};
    struct hw_coll_comm *known = judge(recvcount, recvtype, comm, request, &posted.bytes);
    if (known == NULL || (sendbuf != HW_IN_PLACE && !is_valid(sendcount, sendtype)))
        return HW_DECLINES;
    if (!hw_coll_buffer_take(&blocks.received, recvbuf, recvcount * hw_world.user_count, recvtype))
        return no_memory(comm);
    bool is_taken = sendbuf == HW_IN_PLACE ? take_own_block(&blocks, recvcount, recvtype, posted.bytes)
                                           : hw_coll_buffer_take(&blocks.sent, sendbuf, sendcount, sendtype);
    if (is_taken)
        return post_blocks(comm, &posted, known, &blocks, request);
    hw_coll_buffer_drop(&blocks.received);
    return no_memory(comm);
}

/* In place is for all members or nobody (MPI-4.1 section 6.8). */
static int ialltoall(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct blocks blocks = {0};
    struct hw_coll_posted posted = {.kind = HW_COLL_ALLTOALL};
    struct hw_coll_comm *known = judge(recvcount, recvtype, comm, request, &posted.bytes);
    if (known == NULL)
        return HW_DECLINES;
    if (sendbuf == HW_IN_PLACE)
        hw_record_declined("coll: MPI_Ialltoall in place");
    if (sendbuf == HW_IN_PLACE || !is_valid(sendcount, sendtype))
        return HW_DECLINES;
    if (!hw_coll_buffer_take(&blocks.received, recvbuf, recvcount * hw_world.user_count, recvtype))
        return no_memory(comm);
    if (hw_coll_buffer_take(&blocks.sent, sendbuf, sendcount * hw_world.user_count, sendtype))
        return post_blocks(comm, &posted, known, &blocks, request);
    hw_coll_buffer_drop(&blocks.received);
    return no_memory(comm);
}

const struct hw_engine_collective hw_coll_calls = {
    .ibcast = ibcast, .iallgather = iallgather, .ialltoall = ialltoall};
const struct hw_engine_communicator hw_coll_communicator_calls = {
    .comm_dup = hw_coll_comm_dup, .comm_dup_with_info = hw_coll_comm_dup_with_info};
