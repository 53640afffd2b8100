/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: completes an array of requests through randomly drawn doors of MPI. */
#include "act.h"

#include <stdlib.h>

enum door {
    DOOR_WAIT,
    DOOR_WAITALL,
    DOOR_WAITANY,
    DOOR_WAITSOME,
    DOOR_TEST,
    DOOR_TESTALL,
    DOOR_TESTANY,
    DOOR_TESTSOME,
    DOOR_STATUS_THEN_WAIT,
    DOOR_STATUS_THEN_TEST,
    DOOR_COUNT
};

struct batch {
    int count;
    MPI_Request *requests;
    MPI_Status *statuses;
    int *indices;
    MPI_Status *some;
    bool ignores_statuses;
};

static MPI_Status *one_status(const struct batch *batch, int index)
{
    return batch->ignores_statuses ? MPI_STATUS_IGNORE : &batch->statuses[index];
}

static MPI_Status *all_statuses(const struct batch *batch, MPI_Status *statuses)
{
    return batch->ignores_statuses ? MPI_STATUSES_IGNORE : statuses;
}

static void each_one(struct batch *batch, enum door door)
{
    for (int i = 0; i < batch->count; i++) {
        int is_done = 0;
        MPI_Status seen;
        if (door == DOOR_STATUS_THEN_WAIT || door == DOOR_STATUS_THEN_TEST)
            while (!is_done)
                MPI_Request_get_status(batch->requests[i], &is_done, &seen);
        is_done = 0;
        if (door == DOOR_WAIT || door == DOOR_STATUS_THEN_WAIT)
            MPI_Wait(&batch->requests[i], one_status(batch, i));
        else
            while (!is_done)
                MPI_Test(&batch->requests[i], &is_done, one_status(batch, i));
    }
}

static void whole_array(struct batch *batch, enum door door)
{
    int is_done = 0;
    MPI_Status *statuses = all_statuses(batch, batch->statuses);
    if (door == DOOR_WAITALL)
        MPI_Waitall(batch->count, batch->requests, statuses);
    else
        while (!is_done)
            MPI_Testall(batch->count, batch->requests, &is_done, statuses);
}

static void one_at_a_time(struct batch *batch, enum door door)
{
    for (;;) {
        int index = MPI_UNDEFINED, is_done = 1;
        MPI_Status status;
        MPI_Status *where = batch->ignores_statuses ? MPI_STATUS_IGNORE : &status;
        if (door == DOOR_WAITANY)
            MPI_Waitany(batch->count, batch->requests, &index, where);
        else
            MPI_Testany(batch->count, batch->requests, &index, &is_done, where);
        if (!is_done)
            continue;
        if (index == MPI_UNDEFINED)
            return;
        if (!batch->ignores_statuses)
            batch->statuses[index] = status;
    }
}

static void some_at_a_time(struct batch *batch, enum door door)
{
    for (;;) {
        int completed = 0;
        MPI_Status *where = all_statuses(batch, batch->some);
        if (door == DOOR_WAITSOME)
            MPI_Waitsome(batch->count, batch->requests, &completed, batch->indices, where);
        else
            MPI_Testsome(batch->count, batch->requests, &completed, batch->indices, where);
        if (completed == MPI_UNDEFINED)
            return;
        for (int i = 0; i < completed && !batch->ignores_statuses; i++)
            batch->statuses[batch->indices[i]] = batch->some[i];
    }
}

static void complete_batch(struct batch *batch, enum door door)
{
    switch (door) {
    case DOOR_WAITALL:
    case DOOR_TESTALL:
        whole_array(batch, door);
        break;
    case DOOR_WAITANY:
    case DOOR_TESTANY:
        one_at_a_time(batch, door);
        break;
    case DOOR_WAITSOME:
    case DOOR_TESTSOME:
        some_at_a_time(batch, door);
        break;
    default:
        each_one(batch, door);
        break;
    }
}

static void shuffle(int count, int *order, struct rng *rng)
{
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = rng_below(rng, i + 1);
        int kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

void complete_all(int count, MPI_Request *requests, MPI_Status *statuses, bool ignores_statuses,
                  struct rng *rng)
{
    size_t room = (size_t)count + 1;
    int *order = malloc(room * sizeof *order);
    int *indices = malloc(room * sizeof *indices);
    MPI_Request *mixed = malloc(room * sizeof *mixed);
    MPI_Status *mixed_statuses = calloc(room, sizeof *mixed_statuses);
    MPI_Status *some = calloc(room, sizeof *some);
    shuffle(count, order, rng);
    for (int i = 0; i < count; i++)
        mixed[i] = requests[order[i]];
    int done = 0;
    while (done < count) {
        int part = 1 + rng_below(rng, count - done);
        struct batch batch = {part, mixed + done, mixed_statuses + done, indices, some, ignores_statuses};
        complete_batch(&batch, (enum door)rng_below(rng, DOOR_COUNT));
        done += part;
        compute_for(rng_below(rng, 200));
    }
    for (int i = 0; i < count; i++) {
        requests[order[i]] = mixed[i];
        statuses[order[i]] = mixed_statuses[i];
    }
    free(order);
    free(indices);
    free(mixed);
    free(mixed_statuses);
    free(some);
}
