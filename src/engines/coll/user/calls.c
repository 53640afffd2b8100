/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/user/calls.h"

#include "engines/coll/shared/command.h"
#include "engines/coll/shared/opened.h"
#include "engines/coll/user/buffers.h"
#include "engines/coll/user/comms.h"
#include "engines/coll/user/requests.h"
#include "profile/record.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "world/world.h"

#include <stddef.h>

static struct hw_coll_comm *judge_comm(MPI_Comm comm)
{
    struct hw_coll_comm *known = hw_coll_comm_of(comm);
    if (known == NULL)
        hw_record_declined(
            "coll: on a communicator that is not MPI_COMM_WORLD or made of it by MPI_Comm_dup");
    return known;
}

/* What the MPI refuses it shall refuse itself. */
static struct hw_coll_comm *judge(MPI_Count count, MPI_Datatype type, MPI_Comm comm, const void *request,
                                  uint64_t *bytes)
{
    if (count <= 0 || type == HW_DATATYPE_NULL || request == NULL)
        return NULL;
    *bytes = hw_engines_bytes(count, type);
    return *bytes < hw_coll_opened.min_bytes ? NULL : judge_comm(comm);
}

/* Of a send argument that counts. Else the program is wrong, and the MPI says so. */
static bool is_valid(MPI_Count count, MPI_Datatype type) { return count > 0 && type != HW_DATATYPE_NULL; }

static int raise(MPI_Comm comm, int error)
{
    hw_bottom.Comm_call_errhandler(comm, error);
    return error;
}

static int no_memory(MPI_Comm comm) { return raise(comm, MPI_ERR_NO_MEM); }

/* What is wrong with buffers is said here: ghosts would find it out when the other members rely on them. */

static bool is_missing(const void *buffer, MPI_Datatype type)
{
    uint64_t size;
    return buffer == HW_IN_PLACE || (buffer == NULL && hw_real_type_is_basic(type, &size));
}

/* Of a send buffer that may be MPI_IN_PLACE. */
static bool is_none(const void *buffer, MPI_Datatype type)
{
    return buffer != HW_IN_PLACE && is_missing(buffer, type);
}

/* Whether what is sent lies where element `index` is received, of one datatype: two may pick different parts
 * of one array. */
static bool is_alias(const void *sendbuf, const void *recvbuf, int64_t index, MPI_Datatype type)
{
    MPI_Aint lower, extent = 0;
    if (!HW_REAL_REFUSES_ALIASES || sendbuf == NULL) /* absolute addresses */
        return false;
    if (index != 0)
        hw_bottom.Type_get_extent(type, &lower, &extent);
    return sendbuf == (const void *)((uintptr_t)recvbuf + (uintptr_t)(index * extent));
}

static int ibcast(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    struct hw_coll_buffer whole;
    struct hw_coll_posted posted = {.kind = HW_COLL_BCAST, .root = root};
    struct hw_coll_comm *known = judge(count, datatype, comm, request, &posted.bytes);
    if (known == NULL || root < 0 || root >= hw_world.user_count)
        return HW_DECLINES;
    if (is_missing(buffer, datatype))
        return raise(comm, MPI_ERR_BUFFER);
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
    if (is_missing(recvbuf, recvtype) || is_none(sendbuf, sendtype) ||
        (sendtype == recvtype && sendcount == recvcount &&
         is_alias(sendbuf, recvbuf, hw_world.user_rank * (int64_t)recvcount, recvtype)))
        return raise(comm, MPI_ERR_BUFFER);
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
    if (is_missing(recvbuf, recvtype) || is_missing(sendbuf, sendtype) ||
        (sendtype == recvtype && sendcount == recvcount && is_alias(sendbuf, recvbuf, 0, recvtype)))
        return raise(comm, MPI_ERR_BUFFER);
    if (!hw_coll_buffer_take(&blocks.received, recvbuf, recvcount * hw_world.user_count, recvtype))
        return no_memory(comm);
    if (hw_coll_buffer_take(&blocks.sent, sendbuf, sendcount * hw_world.user_count, sendtype))
        return post_blocks(comm, &posted, known, &blocks, request);
    hw_coll_buffer_drop(&blocks.received);
    return no_memory(comm);
}

/* ---- counts for each process -----------------------------------------------------------------------------
 */

/* In bytes. */
struct measure {
    uint64_t sum, largest;
};

/* False: the program is wrong, and the MPI says so. Datatypes are looked at only where something is counted:
 * elsewhere they need not be valid. */
static bool measure(const struct hw_coll_each *each, struct measure *found)
{
    uint64_t size = 0;
    *found = (struct measure){0};
    if (each->counts.array == NULL || each->displs.array == NULL)
        return false;
    for (int rank = 0; rank < hw_world.user_count; rank++) {
        MPI_Count count = hw_engine_number(each->counts, rank);
        if (count < 0 || (count > 0 && each->type == HW_DATATYPE_NULL))
            return false;
        if (count > 0 && size == 0)
            size = hw_real_type_size(each->type);
        uint64_t bytes = (uint64_t)count * size;
        found->sum += bytes;
        found->largest = bytes > found->largest ? bytes : found->largest;
    }
    return true;
}

static bool take_own_of_each(struct blocks *blocks, const struct hw_coll_each *each)
{
    int own = hw_world.user_rank;
    const struct hw_coll_piece *piece = &blocks->received.pieces[own];
    MPI_Aint lower, extent;
    if (blocks->received.copy == NULL)
        return hw_coll_buffer_take(&blocks->sent, (const void *)(uintptr_t)piece->address,
                                   (MPI_Count)piece->bytes, HW_BYTE);
    hw_bottom.Type_get_extent(each->type, &lower, &extent);
    MPI_Aint offset = hw_engine_number(each->displs, own) * extent;
    return hw_coll_buffer_take(&blocks->sent, (const char *)each->memory + offset,
                               hw_engine_number(each->counts, own), each->type);
}

/* All know the counts of all. The largest decides: one process may have nearly all. */
static int iallgatherv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                       struct hw_engine_numbers recvcounts, struct hw_engine_numbers displs,
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct blocks blocks = {0};
    struct measure bytes;
    struct hw_coll_comm *known = judge_comm(comm); /* first: of others the arrays have another length */
    const struct hw_coll_each each = {recvbuf, recvcounts, displs, recvtype};
    bool is_sent = sendbuf == HW_IN_PLACE || sendcount == 0 || is_valid(sendcount, sendtype);
    if (known == NULL || request == NULL || !is_sent || !measure(&each, &bytes) ||
        bytes.largest < hw_coll_opened.min_bytes)
        return HW_DECLINES;
    if (is_missing(recvbuf, recvtype) || (sendcount > 0 && is_none(sendbuf, sendtype)) ||
        (sendcount > 0 && sendtype == recvtype &&
         is_alias(sendbuf, recvbuf, hw_engine_number(displs, hw_world.user_rank), recvtype)))
        return raise(comm, MPI_ERR_BUFFER);
    struct hw_coll_posted posted = {.kind = HW_COLL_ALLGATHERV,
                                    .bytes = bytes.sum / (uint64_t)hw_world.user_count};
    if (!hw_coll_buffer_take_each(&blocks.received, &each))
        return no_memory(comm);
    bool is_taken = sendbuf == HW_IN_PLACE ? take_own_of_each(&blocks, &each)
                                           : hw_coll_buffer_take(&blocks.sent, sendbuf, sendcount,
                                                                 sendcount > 0 ? sendtype : HW_BYTE);
    if (is_taken)
        return post_blocks(comm, &posted, known, &blocks, request);
    hw_coll_buffer_drop(&blocks.received);
    return no_memory(comm);
}

/* Whether what is sent to a process lies where what it sends is received: one buffer may have both apart. */
static bool share_a_place(const struct hw_coll_each *sent, const struct hw_coll_each *received)
{
    if (sent->type != received->type)
        return false;
    for (int rank = 0; rank < hw_world.user_count; rank++)
        if (hw_engine_number(sent->counts, rank) > 0 && hw_engine_number(received->counts, rank) > 0 &&
            hw_engine_number(sent->displs, rank) == hw_engine_number(received->displs, rank))
            return is_alias(sent->memory, received->memory, 0, sent->type);
    return false;
}

/* No process knows what the others exchange, so it is taken however much that is. */
static int ialltoallv(const void *sendbuf, struct hw_engine_numbers sendcounts,
                      struct hw_engine_numbers sdispls, MPI_Datatype sendtype, void *recvbuf,
                      struct hw_engine_numbers recvcounts, struct hw_engine_numbers rdispls,
                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct blocks blocks = {0};
    struct measure sent, received;
    struct hw_coll_comm *known = judge_comm(comm);
    const struct hw_coll_each each_sent = {sendbuf, sendcounts, sdispls, sendtype};
    const struct hw_coll_each each_received = {recvbuf, recvcounts, rdispls, recvtype};
    if (known && sendbuf == HW_IN_PLACE)
        hw_record_declined("coll: MPI_Ialltoallv in place");
    if (known == NULL || sendbuf == HW_IN_PLACE || request == NULL || !measure(&each_sent, &sent) ||
        !measure(&each_received, &received))
        return HW_DECLINES;
    if ((received.sum > 0 && is_missing(recvbuf, recvtype)) ||
        (sent.sum > 0 && is_missing(sendbuf, sendtype)) || share_a_place(&each_sent, &each_received))
        return raise(comm, MPI_ERR_BUFFER);
    struct hw_coll_posted posted = {.kind = HW_COLL_ALLTOALLV,
                                    .bytes = received.sum / (uint64_t)hw_world.user_count};
    if (!hw_coll_buffer_take_each(&blocks.received, &each_received))
        return no_memory(comm);
    if (hw_coll_buffer_take_each(&blocks.sent, &each_sent))
        return post_blocks(comm, &posted, known, &blocks, request);
    hw_coll_buffer_drop(&blocks.received);
    return no_memory(comm);
}

/* ---- reductions ------------------------------------------------------------------------------------------
 */

/* Only those whose result does not depend on the order of combination: an answer must not change. */
static int iallreduce(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                      MPI_Comm comm, MPI_Request *request)
{
    struct hw_coll_posted posted = {.kind = HW_COLL_ALLREDUCE, .recv = (uint64_t)(uintptr_t)recvbuf};
    struct hw_coll_comm *known = judge(count, datatype, comm, request, &posted.bytes);
    if (known == NULL || posted.bytes >> HW_COLL_BYTES_BITS)
        return HW_DECLINES;
    posted.reduction = hw_real_reduction_of(op, datatype);
    if (posted.reduction.op == HW_OP_NONE) {
        hw_record_declined(
            posted.reduction.has_no_order
                ? "coll: MPI_Iallreduce of floating-point numbers by MPI_SUM or MPI_PROD: the "
                  "order of operations would differ"
                : "coll: MPI_Iallreduce by an operation or of a datatype that ghosts do not have");
        return HW_DECLINES;
    }
    if (is_missing(recvbuf, datatype) || is_none(sendbuf, datatype) ||
        is_alias(sendbuf, recvbuf, 0, datatype))
        return raise(comm, MPI_ERR_BUFFER);
    posted.send = sendbuf == HW_IN_PLACE ? posted.recv : (uint64_t)(uintptr_t)sendbuf;
    posted.id = hw_coll_id(known->number, known->sequence++);
    return hw_coll_request(comm, &posted, NULL, NULL, request);
}

const struct hw_engine_collective hw_coll_calls = {.ibcast = ibcast,
                                                   .iallgather = iallgather,
                                                   .iallgatherv = iallgatherv,
                                                   .iallreduce = iallreduce,
                                                   .ialltoall = ialltoall,
                                                   .ialltoallv = ialltoallv};
const struct hw_engine_communicator hw_coll_communicator_calls = {
    .comm_dup = hw_coll_comm_dup, .comm_dup_with_info = hw_coll_comm_dup_with_info};
