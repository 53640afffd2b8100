/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations whose traces are known, and their check. */
#include "exchange.h"

#include "one_sided.h"

#include <stdlib.h>
#include <string.h>

static const char *const operation_names[BENCH_OPERATIONS] = {
    "none", "put", "get", "accumulate", "get_accumulate", "fetch_and_op"};

/* Places of a target's memory, each as long as a message lies there: one that is read, one that is added to,
 * and one for each operation of each origin that writes. */
enum { READ, SUMMED, WRITTEN };

enum bench_operation bench_operation_find(const char *name)
{
    return (enum bench_operation)bench_name_find(operation_names, BENCH_OPERATIONS, name);
}

double bench_exchange_entry(int rank, int64_t at) { return (double)((rank * 7 + at * 13) % 11 - 5); }

struct bench_aims bench_aims_find(const struct bench *bench, bool is_one_node)
{
    struct bench_aims aims = {0};
    int length;
    char name[MPI_MAX_PROCESSOR_NAME] = {0}, first[MPI_MAX_PROCESSOR_NAME];
    MPI_Get_processor_name(name, &length);
    memcpy(first, name, sizeof first);
    MPI_Bcast(first, (int)sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    bool is_one = !is_one_node || strcmp(name, first) == 0;
    aims.is_aimed_at = bench_allocate((size_t)bench->ranks * sizeof *aims.is_aimed_at);
    aims.target = bench_allocate((size_t)bench->ranks * sizeof *aims.target);
    MPI_Allgather(&is_one, (int)sizeof is_one, MPI_BYTE, aims.is_aimed_at, (int)sizeof is_one, MPI_BYTE,
                  MPI_COMM_WORLD);
    for (int i = 1; i < bench->ranks; i++) {
        int rank = (bench->rank + i) % bench->ranks;
        if (aims.is_aimed_at[rank])
            aims.target[aims.count++] = rank;
    }
    return aims;
}

void bench_aims_free(struct bench_aims *aims)
{
    free(aims->target);
    free(aims->is_aimed_at);
}

static MPI_Aint place(const struct bench_exchange *x, int64_t which) { return (MPI_Aint)which * x->extent; }

static bool uses(const struct bench_exchange *x, enum bench_operation operation)
{
    return x->shape.use[0] == operation || x->shape.use[1] == operation;
}

/* Where the result of that operation goes. */
static int64_t result_at(const struct bench_exchange *x, int turn, int aim)
{
    return ((int64_t)turn * x->aims->count + aim) * x->count;
}

static void operate(const struct bench_exchange *x, enum bench_operation operation, int turn, int aim)
{
    int target = x->aims->target[aim];
    int64_t result = result_at(x, turn, aim), slot = (int64_t)x->bench->rank * x->shape.most + turn;
    switch (operation) {
    case BENCH_PUT:
        MPI_Put(x->sent, x->count, MPI_DOUBLE, target, place(x, WRITTEN + slot), 1, x->type, x->win);
        break;
    case BENCH_GET:
        MPI_Get(x->received + result, x->count, MPI_DOUBLE, target, place(x, READ), 1, x->type, x->win);
        break;
    case BENCH_ACCUMULATE:
        MPI_Accumulate(x->sent, x->count, MPI_DOUBLE, target, place(x, SUMMED), 1, x->type, MPI_SUM, x->win);
        break;
    case BENCH_GET_ACCUMULATE:
        MPI_Get_accumulate(x->sent, x->count, MPI_DOUBLE, x->fetched + result, x->count, MPI_DOUBLE, target,
                           place(x, SUMMED), 1, x->type, MPI_SUM, x->win);
        break;
    default:
        MPI_Fetch_and_op(x->sent, x->fetched + result, MPI_DOUBLE, target, place(x, SUMMED), MPI_SUM, x->win);
        break;
    }
    if (x->has_flush_each)
        MPI_Win_flush(target, x->win);
}

void bench_exchange_operate(struct bench_exchange *x, enum bench_operation operation, int operations)
{
    if (operation == BENCH_NONE)
        return;
    for (int turn = 0; turn < operations; turn++)
        for (int aim = 0; aim < x->aims->count; aim++)
            operate(x, operation, turn, aim);
    if (!x->has_flush_each)
        MPI_Win_flush_all(x->win);
    if (operation == BENCH_PUT)
        x->put = x->put > operations ? x->put : operations;
    else if (operation == BENCH_GET)
        x->got = x->got > operations ? x->got : operations;
    else
        x->added += operations;
}

/* Whether the message at WHICH of the own memory is FACTOR x what each sender sends, summed over them. */
static bool is_place_right(const struct bench_exchange *x, int64_t which, double factor,
                           const bool *is_sender)
{
    double *found = bench_allocate((size_t)x->count * sizeof *found);
    bool is_right = true;
    MPI_Sendrecv(x->base + place(x, which), 1, x->type, 0, 0, found, x->count, MPI_DOUBLE, 0, 0,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < x->count; i++) {
        double sum = 0.0;
        for (int rank = 0; rank < x->bench->ranks; rank++)
            sum += is_sender[rank] ? factor * bench_exchange_entry(rank, i) : 0.0;
        is_right = is_right && found[i] == sum;
    }
    free(found);
    return is_right;
}

/* Each sender's, as often as it was added. */
static bool are_sums_right(const struct bench_exchange *x, bool *is_sender)
{
    for (int rank = 0; rank < x->bench->ranks; rank++)
        is_sender[rank] = x->aims->is_aimed_at[x->bench->rank] && rank != x->bench->rank;
    return is_place_right(x, SUMMED, (double)x->added, is_sender);
}

static bool are_puts_right(const struct bench_exchange *x, bool *is_sender)
{
    int me = x->bench->rank, ranks = x->bench->ranks;
    bool is_right = true;
    for (int sender = 0; sender < ranks; sender++) {
        for (int rank = 0; rank < ranks; rank++)
            is_sender[rank] = x->aims->is_aimed_at[me] && sender != me && rank == sender;
        for (int turn = 0; turn < x->put; turn++)
            is_right = is_right && is_place_right(x, WRITTEN + sender * x->shape.most + turn, 1.0, is_sender);
    }
    return is_right;
}

static bool are_gets_right(const struct bench_exchange *x)
{
    bool is_right = true;
    for (int turn = 0; turn < x->got; turn++)
        for (int aim = 0; aim < x->aims->count; aim++)
            for (int i = 0; i < x->count; i++)
                is_right = is_right && x->received[result_at(x, turn, aim) + i] ==
                                           bench_exchange_entry(x->aims->target[aim], i + 1);
    return is_right;
}

bool bench_exchange_is_right(const struct bench_exchange *x)
{
    bool *is_sender = bench_allocate((size_t)x->bench->ranks * sizeof *is_sender);
    MPI_Win_sync(x->win);
    bool is_right = are_sums_right(x, is_sender) && are_puts_right(x, is_sender) && are_gets_right(x);
    free(is_sender);
    return is_right;
}

static int64_t places(const struct bench_exchange *x)
{
    return WRITTEN + (uses(x, BENCH_PUT) ? (int64_t)x->bench->ranks * x->shape.most : 0);
}

size_t bench_exchange_bytes(const struct bench_exchange *x)
{
    return (size_t)place(x, places(x)) * sizeof(double);
}

/* One message for each operation and target; none where nothing comes back. */
static double *results_make(const struct bench_exchange *x, bool has_results)
{
    size_t messages = (size_t)x->shape.most * (size_t)x->aims->count;
    return has_results ? bench_allocate(messages * (size_t)x->count * sizeof(double)) : NULL;
}

void bench_exchange_make(struct bench_exchange *x, const struct bench *bench, const struct bench_aims *aims,
                         const struct bench_exchange_shape *shape, MPI_Info info)
{
    MPI_Aint low, extent;
    bool has_flush_each = x->has_flush_each;
    *x = (struct bench_exchange){
        .bench = bench, .aims = aims, .shape = *shape, .has_flush_each = has_flush_each};
    x->count = (int)(shape->bytes / (int64_t)sizeof(double));
    x->type = bench_target_type(x->count, shape->is_strided);
    MPI_Type_get_extent(x->type, &low, &extent);
    x->extent = extent / (MPI_Aint)sizeof(double);
    x->sent = bench_allocate((size_t)x->count * sizeof(double));
    x->received = results_make(x, uses(x, BENCH_GET));
    x->fetched = results_make(x, uses(x, BENCH_GET_ACCUMULATE) || uses(x, BENCH_FETCH_AND_OP));
    MPI_Win_allocate((MPI_Aint)bench_exchange_bytes(x), sizeof(double), info, MPI_COMM_WORLD, &x->base,
                     &x->win);
    MPI_Win_lock_all(0, x->win);
    memset(x->base, 0, bench_exchange_bytes(x));
    for (int i = 0; i < x->count; i++)
        x->sent[i] = bench_exchange_entry(bench->rank, i + 1);
    MPI_Sendrecv(x->sent, x->count, MPI_DOUBLE, 0, 0, x->base + place(x, READ), 1, x->type, 0, 0,
                 MPI_COMM_SELF, MPI_STATUS_IGNORE);
    for (int i = 0; i < x->count; i++)
        x->sent[i] = bench_exchange_entry(bench->rank, i);
    MPI_Win_sync(x->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

void bench_exchange_free(struct bench_exchange *x)
{
    MPI_Win_unlock_all(x->win);
    MPI_Win_free(&x->win);
    MPI_Type_free(&x->type);
    free(x->sent);
    free(x->received);
    free(x->fetched);
}
