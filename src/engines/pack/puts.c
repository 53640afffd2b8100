/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Put from an origin with gaps (MPI-4.1 section 12.3.1): packed into a buffer of the pool, from which the
 * MPI puts the dense twin of the datatype. The buffer is used again after a call of the program's has
 * completed the operation at the origin (section 12.5). Whatever is wrong with a call is left to the MPI, so
 * that its error is the MPI's. */
#include "engines/pack/puts.h"

#include "engines/pack/learnt.h"
#include "engines/pack/pool.h"
#include "engines/pack/twin.h"
#include "engines/pack/worth.h"
#include "objects/datatype/plan.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "real/type_size.h"

#include <pthread.h>

/* The buffer of one. */
struct put {
    _Alignas(64) struct put *next;
    MPI_Win win;
    int target;
    int64_t bytes;
    _Alignas(64) char data[];
};

enum { EVERY_TARGET = -1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct put *issued;                               /* and perhaps not complete at the origin */
static atomic_uint issued_count;

static size_t room_of(int64_t bytes) { return sizeof(struct put) + (size_t)bytes; }

/* After the real call: what completes operations that are issued by then completes this one. */
static void keep(struct put *put)
{
    pthread_mutex_lock(&lock);
    put->next = issued;
    issued = put;
    hw_atomic_add_relaxed(&issued_count, 1);
    pthread_mutex_unlock(&lock);
}

/* Takes those to `target` out of the list. */
static struct put *take(MPI_Win win, int target)
{
    struct put *taken = NULL;
    pthread_mutex_lock(&lock);
    for (struct put **at = &issued, *put; (put = *at) != NULL;) {
        if (put->win != win || (target != EVERY_TARGET && put->target != target)) {
            at = &put->next;
            continue;
        }
        *at = put->next;
        put->next = taken;
        taken = put;
        hw_atomic_sub_relaxed(&issued_count, 1);
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

/* After the call that was to complete them. */
static int completed(struct put *taken, int rc)
{
    for (struct put *put = taken, *next; put; put = next) {
        next = put->next;
        if (rc == MPI_SUCCESS)
            hw_pack_pool_give(put, room_of(put->bytes));
        else
            keep(put);
    }
    return rc;
}

/* Those that were issued before the call; there is none in most programs. */
#define COMPLETES(target, call)                                                                              \
    do {                                                                                                     \
        struct put *taken = hw_atomic_load_relaxed(&issued_count) > 0 ? take(win, (target)) : NULL;          \
        return taken ? completed(taken, (call)) : HW_DECLINES;                                               \
    } while (0)

static int fence(int assertion, MPI_Win win)
{
    if (assertion & MPI_MODE_NOPRECEDE) /* it completes nothing */
        return HW_DECLINES;
    COMPLETES(EVERY_TARGET, hw_real.Win_fence(assertion, win));
}

static int complete(MPI_Win win) { COMPLETES(EVERY_TARGET, hw_real.Win_complete(win)); }
static int unlock(int rank, MPI_Win win) { COMPLETES(rank, hw_real.Win_unlock(rank, win)); }
static int unlock_all(MPI_Win win) { COMPLETES(EVERY_TARGET, hw_real.Win_unlock_all(win)); }
static int flush(int rank, MPI_Win win) { COMPLETES(rank, hw_real.Win_flush(rank, win)); }
static int flush_local(int rank, MPI_Win win) { COMPLETES(rank, hw_real.Win_flush_local(rank, win)); }
static int flush_all(MPI_Win win) { COMPLETES(EVERY_TARGET, hw_real.Win_flush_all(win)); }
static int flush_local_all(MPI_Win win) { COMPLETES(EVERY_TARGET, hw_real.Win_flush_local_all(win)); }

/* One that has the signature of the datatype, as MPI_PACKED has not. */
static const struct hw_pack_dense *dense_of(struct hw_plan *plan, MPI_Datatype datatype)
{
    const struct hw_pack_dense *dense = hw_pack_dense_of(plan, datatype, HW_SHAPE_PACK);
    return dense && dense->type != HW_PACKED ? dense : NULL;
}

/* NULL: by the MPI's way. */
static struct put *packed(const struct hw_pack_given *given, struct hw_plan *plan,
                          const struct hw_pack_dense **dense)
{
    struct hw_pack_verdict verdict;
    if (!hw_pack_message_judge(given, plan, HW_PACK_ONCE, &verdict))
        return NULL;
    struct put *put = NULL;
    if (verdict.is_packed && verdict.bytes <= HW_PACK_POOL_BYTES_MAX &&
        (*dense = dense_of(plan, given->datatype)) != NULL)
        put = hw_pack_pool_take(room_of(verdict.bytes));
    hw_pack_look_drop(&verdict.look);
    if (put == NULL)
        return NULL;
    put->bytes = verdict.bytes;
    hw_plan_copy(plan, given->count, HW_SHAPE_PACK, given->memory, (struct hw_shape_range){0, verdict.bytes},
                 put->data);
    return put;
}

/* The first large use of a datatype shows that the MPI accepts it. */
static int put_first(const struct hw_pack_given *given, int target_rank, MPI_Aint target_disp,
                     MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    unsigned frees = hw_atomic_load_acquire(&hw_real_type_frees);
    int rc = hw_real_put((const void *)given->memory, given->count, given->datatype, target_rank, target_disp,
                         target_count, target_datatype, win);
    if (rc != MPI_SUCCESS || !hw_real_type_hold(frees))
        return rc;
    if ((uint64_t)given->count * hw_real_type_size_keep(given->datatype) >= HW_PACK_BYTES_MIN)
        hw_pack_message_accepted(given);
    hw_real_type_let_go();
    return rc;
}

static int put_derived(const struct hw_pack_given *given, int target_rank, MPI_Aint target_disp,
                       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    struct hw_plan *plan = hw_plan_take(given->datatype);
    if (plan == NULL)
        return put_first(given, target_rank, target_disp, target_count, target_datatype, win);
    const struct hw_pack_dense *dense = NULL;
    struct put *put = packed(given, plan, &dense);
    int rc = HW_DECLINES;
    if (put) {
        put->win = win;
        put->target = target_rank;
        rc = hw_real_put(put->data, given->count * (MPI_Count)dense->count, dense->type, target_rank,
                         target_disp, target_count, target_datatype, win);
        HW_COUNT(packed_puts);
        keep(put);
    }
    hw_plan_release(plan); /* which has the dense twin */
    return rc;
}

/* Most calls must cost next to nothing: those of little, and of datatypes that are not ours. */
static bool is_left(MPI_Count count, MPI_Datatype datatype)
{
    uint64_t size;
    if (count <= 0 || hw_real_type_is_basic(datatype, &size))
        return true;
    if (hw_real_type_is_kept(datatype, &size) && (uint64_t)count * size < HW_PACK_BYTES_MIN)
        return true;
    struct hw_plan *plan = hw_plan_find(datatype);
    return plan && ((uint64_t)count * (uint64_t)hw_plan_size(plan) < HW_PACK_BYTES_MIN ||
                    hw_plan_state(plan) == HW_PLAN_NONE);
}

static int put(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank,
               MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    if (is_left(origin_count, origin_datatype) || target_rank == HW_PROC_NULL || win == HW_WIN_NULL)
        return HW_DECLINES;
    const struct hw_pack_given given = {HW_SHAPE_PACK, (uintptr_t)origin_addr, origin_count, origin_datatype};
    return put_derived(&given, target_rank, target_disp, target_count, target_datatype, win);
}

const struct hw_engine_rma hw_pack_put_operations = {.put = put};

const struct hw_engine_epoch hw_pack_put_epochs = {
    .win_complete = complete,
    .win_fence = fence,
    .win_flush = flush,
    .win_flush_all = flush_all,
    .win_flush_local = flush_local,
    .win_flush_local_all = flush_local_all,
    .win_unlock = unlock,
    .win_unlock_all = unlock_all,
};
