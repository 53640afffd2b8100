/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: nonblocking and persistent collectives of a random program, on int64_t so sums are exact. */
#include "act.h"

#include <stdlib.h>
#include <string.h>

/* Elements peer `i` contributes to the uneven collectives. */
static int share_of(const struct collective *plan, int peer) { return plan->count / (1 + peer % 3); }

void collective_prepare(struct collective_part *part, const struct collective *plan,
                        const struct actor *actor)
{
    memset(part, 0, sizeof *part);
    part->plan = plan;
    part->request = MPI_REQUEST_NULL;
    size_t length = (size_t)plan->count * (size_t)actor->size + 1;
    part->send = malloc(length * sizeof *part->send);
    part->receive = malloc(length * sizeof *part->receive);
    part->receive_length = length;
    /* counts: what each peer has; then what this process has, once a peer (for both sides of Alltoallv). */
    part->counts = malloc(2 * (size_t)actor->size * sizeof *part->counts);
    part->displs = malloc((size_t)actor->size * sizeof *part->displs);
    for (int i = 0; i < actor->size; i++) {
        part->counts[i] = share_of(plan, i);
        part->counts[actor->size + i] = share_of(plan, actor->rank);
        part->displs[i] = plan->count * i;
    }
}

static void start_rooted(struct collective_part *part, const struct actor *actor, MPI_Comm comm)
{
    const struct collective *plan = part->plan;
    int mine = part->counts[actor->rank];
    MPI_Datatype type = MPI_INT64_T;
    switch (plan->kind) {
    case COLL_BCAST:
        MPI_Ibcast(part->receive, plan->count, type, plan->root, comm, &part->request);
        break;
    case COLL_GATHER:
        MPI_Igather(part->send, plan->count, type, part->receive, plan->count, type, plan->root, comm,
                    &part->request);
        break;
    case COLL_GATHERV:
        MPI_Igatherv(part->send, mine, type, part->receive, part->counts, part->displs, type, plan->root,
                     comm, &part->request);
        break;
    case COLL_SCATTER:
        MPI_Iscatter(part->send, plan->count, type, part->receive, plan->count, type, plan->root, comm,
                     &part->request);
        break;
    case COLL_SCATTERV:
        MPI_Iscatterv(part->send, part->counts, part->displs, type, part->receive, mine, type, plan->root,
                      comm, &part->request);
        break;
    default:
        MPI_Ireduce(part->send, part->receive, plan->count, type, MPI_SUM, plan->root, comm, &part->request);
        break;
    }
}

static void start_symmetric(struct collective_part *part, const struct actor *actor, MPI_Comm comm)
{
    const struct collective *plan = part->plan;
    int count = plan->count, mine = part->counts[actor->rank];
    MPI_Datatype type = MPI_INT64_T;
    MPI_Request *request = &part->request;
    switch (plan->kind) {
    case COLL_ALLGATHER:
        MPI_Iallgather(part->send, count, type, part->receive, count, type, comm, request);
        break;
    case COLL_ALLGATHERV:
        MPI_Iallgatherv(part->send, mine, type, part->receive, part->counts, part->displs, type, comm,
                        request);
        break;
    case COLL_ALLTOALL:
        MPI_Ialltoall(part->send, count, type, part->receive, count, type, comm, request);
        break;
    case COLL_ALLTOALLV: /* every peer gets this process's share; it gets each peer's */
        MPI_Ialltoallv(part->send, part->counts + actor->size, part->displs, type, part->receive,
                       part->counts, part->displs, type, comm, request);
        break;
    case COLL_ALLREDUCE:
        MPI_Iallreduce(part->send, part->receive, count, type, MPI_SUM, comm, request);
        break;
    case COLL_REDUCE_SCATTER_BLOCK:
        MPI_Ireduce_scatter_block(part->send, part->receive, count, type, MPI_SUM, comm, request);
        break;
    case COLL_SCAN:
        MPI_Iscan(part->send, part->receive, count, type, MPI_SUM, comm, request);
        break;
    case COLL_EXSCAN:
        MPI_Iexscan(part->send, part->receive, count, type, MPI_MAX, comm, request);
        break;
    default:
        MPI_Ibarrier(comm, request);
        break;
    }
}

#if HAVE_PERSISTENT_COLLECTIVES
/* Makes the request on first use; false for kinds that have no persistent form here. */
static bool start_persistent(struct collective_part *part, MPI_Comm comm)
{
    const struct collective *plan = part->plan;
    MPI_Datatype type = MPI_INT64_T;
    if (part->request == MPI_REQUEST_NULL) {
        switch (plan->kind) {
        case COLL_BCAST:
            MPI_Bcast_init(part->receive, plan->count, type, plan->root, comm, MPI_INFO_NULL, &part->request);
            break;
        case COLL_ALLREDUCE:
            MPI_Allreduce_init(part->send, part->receive, plan->count, type, MPI_SUM, comm, MPI_INFO_NULL,
                               &part->request);
            break;
        case COLL_ALLTOALL:
            MPI_Alltoall_init(part->send, plan->count, type, part->receive, plan->count, type, comm,
                              MPI_INFO_NULL, &part->request);
            break;
        default:
            return false;
        }
    }
    MPI_Start(&part->request);
    return true;
}
#else
static bool start_persistent(struct collective_part *part, MPI_Comm comm)
{
    (void)part;
    (void)comm;
    return false;
}
#endif

void collective_start(struct collective_part *part, const struct actor *actor, int iteration)
{
    const struct collective *plan = part->plan;
    MPI_Comm comm = actor->comms[MATCH_EXACT];
    uint64_t payload = plan->payload + (uint64_t)iteration * 7919u;
    fill_bytes(part->send, part->receive_length * sizeof *part->send, payload + (uint64_t)actor->rank + 1);
    for (size_t i = 0; i < part->receive_length; i++)
        part->receive[i] = -1;
    if (plan->kind == COLL_BCAST && actor->rank == plan->root)
        fill_bytes(part->receive, (size_t)plan->count * sizeof *part->receive, payload);
    if (plan->is_persistent && start_persistent(part, comm))
        return;
    if (plan->kind == COLL_BCAST || plan->kind == COLL_GATHER || plan->kind == COLL_GATHERV ||
        plan->kind == COLL_SCATTER || plan->kind == COLL_SCATTERV || plan->kind == COLL_REDUCE)
        start_rooted(part, actor, comm);
    else
        start_symmetric(part, actor, comm);
}

uint64_t collective_hash(const struct collective_part *part, uint64_t hash)
{
    return hash_bytes(hash, part->receive, part->receive_length * sizeof *part->receive);
}

void collective_release(struct collective_part *part)
{
    if (part->request != MPI_REQUEST_NULL)
        MPI_Request_free(&part->request);
    free(part->send);
    free(part->receive);
    free(part->counts);
    free(part->displs);
}
