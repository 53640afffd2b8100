/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/pack/message.h"

#include "base/clock.h"
#include "engines/engine.h"
#include "engines/pack/learnt.h"
#include "engines/pack/pool.h"
#include "objects/datatype/hold.h"
#include "objects/request.h"
#include "progress/inside.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "team/split.h"

#include <limits.h>
#include <pthread.h>
#include <string.h>

/* What is sent keeps nobody waiting, whether or not its buffer is given back at once. Of receives all are
 * looked at: that one is through the program may learn by any call. */
enum { SENDS_PER_LOOK = 2 };

/* Of one direction; the oldest comes first. */
struct queue {
    struct hw_pack_message *first, **end;
};

/* With so many receives all further ones go by the MPI's way, since each call looks at all. */
enum { RECEIVES_MANY = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the queues */
static struct queue abandoned[HW_SHAPE_UNPACK + 1];      /* by direction */
static atomic_uint abandoned_count, abandoned_receives;  /* all; of them those */

static size_t room_of(const struct hw_pack_message *message)
{
    return sizeof *message + (message->is_packed ? (size_t)message->bytes : 0);
}

struct hw_pack_message *hw_pack_message_make(const struct hw_pack_given *given, struct hw_plan *plan,
                                             struct hw_pack_verdict *verdict)
{
    struct hw_pack_message made = {
        .given = *given,
        .plan = plan,
        .is_packed = verdict->is_packed,
        .bytes = verdict->bytes,
        .look = verdict->look,
        .held = HW_DATATYPE_NULL,
        .request = HW_REQUEST_NULL,
    };
    if (made.is_packed) {
        const struct hw_pack_dense *dense = hw_pack_dense_of(plan, given->datatype, given->direction);
        if (dense == NULL)
            return NULL;
        made.type = dense->type;
        made.count = given->count * (MPI_Count)dense->count;
    }
    size_t room = room_of(&made);
    struct hw_pack_message *message = hw_pack_pool_take(room);
    if (message == NULL && hw_pack_message_needs_room(given, made.bytes))
        message = hw_pack_pool_reserve(room);
    if (message == NULL)
        return NULL;
    if (made.look.kind == HW_PACK_LOOK_TRY)
        made.held = hw_datatype_hold(given->datatype);
    hw_plan_hold(plan);
    verdict->look.kind = HW_PACK_LOOK_NOT;
    memcpy(message, &made, sizeof made);
    return message;
}

void hw_pack_message_free(struct hw_pack_message *message)
{
    hw_pack_look_drop(&message->look);
    if (message->held != HW_DATATYPE_NULL)
        hw_bottom.Type_free(&message->held);
    hw_plan_release(message->plan);
    hw_pack_pool_give(message, room_of(message));
}

static void copy_range(void *context, int64_t from, int64_t to)
{
    struct hw_pack_message *message = context;
    hw_plan_copy(message->plan, message->given.count, message->given.direction, message->given.memory,
                 (struct hw_shape_range){from, to}, message->data + from);
}

/* With idle threads of the program where that is faster, which MPI_Pack of the same has learnt as well. */
static void copy(struct hw_pack_message *message, int64_t bytes)
{
    uint64_t began_ns = hw_clock_fast_ns();
    struct hw_pack_class *of =
        bytes < HW_TEAM_SPLIT_MIN ? NULL : hw_pack_class_find(message->plan, message->given.direction, bytes);
    if (of)
        hw_team_split(&of->split, copy_range, message, bytes);
    else
        copy_range(message, 0, bytes);
    HW_COUNT(packed_messages);
    HW_COUNT_ADD(packed_message_bytes, bytes);
    HW_COUNT_ADD(packed_message_ns, hw_clock_fast_ns() - began_ns);
}

void hw_pack_message_fill(struct hw_pack_message *message) { copy(message, message->bytes); }

/* A message that was too long has filled the buffer. */
void hw_pack_message_empty(struct hw_pack_message *message, const MPI_Status *status, int error)
{
    MPI_Count bytes = 0;
    int error_class = MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        hw_bottom.Error_class(error, &error_class);
    if (status == NULL || (error_class != MPI_SUCCESS && error_class != MPI_ERR_TRUNCATE) ||
        hw_bottom.Get_elements_x(status, HW_BYTE, &bytes) != MPI_SUCCESS || bytes <= 0)
        return;
    copy(message, bytes < message->bytes ? (int64_t)bytes : message->bytes);
}

void hw_pack_message_learn(struct hw_pack_message *message, const MPI_Status *status, int error)
{
    struct hw_pack_given given = message->given;
    given.datatype = message->held;
    if (error == MPI_SUCCESS && (message->look.kind != HW_PACK_LOOK_TRY || message->held != HW_DATATYPE_NULL))
        hw_pack_look_end(&message->look, &given, message->plan, status);
    else
        hw_pack_look_drop(&message->look);
}

static void completed(void *attachment, const MPI_Status *status, int error, bool is_cancelled)
{
    struct hw_pack_message *message = attachment;
    if (is_cancelled)
        return;
    if (message->is_packed && message->given.direction == HW_SHAPE_UNPACK)
        hw_pack_message_empty(message, status, error);
    hw_pack_message_learn(message, status, error);
}

static void starting(void *attachment)
{
    struct hw_pack_message *message = attachment;
    if (message->is_packed && message->given.direction == HW_SHAPE_PACK)
        hw_pack_message_fill(message);
}

static void freed(void *attachment) { hw_pack_message_free(attachment); }

/* Under the lock. */
static void append(struct hw_pack_message *message)
{
    struct queue *queue = &abandoned[message->given.direction];
    if (queue->first == NULL)
        queue->end = &queue->first;
    message->next = NULL;
    *queue->end = message;
    queue->end = &message->next;
}

static void on_abandoned(void *attachment, MPI_Request request)
{
    struct hw_pack_message *message = attachment;
    hw_pack_look_drop(&message->look);
    message->request = request;
    pthread_mutex_lock(&lock);
    append(message);
    hw_atomic_add_relaxed(&abandoned_count, 1);
    hw_atomic_add_relaxed(&abandoned_receives, message->given.direction == HW_SHAPE_UNPACK);
    hw_inside_want(HW_INSIDE_GOES_PACKED,
                   true); /* the program may learn by any call that a receive is through */
    pthread_mutex_unlock(&lock);
}

static const struct hw_request_calls calls = {
    .completed = completed, .starting = starting, .abandoned = on_abandoned, .freed = freed};

/* As hw_track_p2p does of other messages. */
static bool is_followed(const struct hw_pack_message *message)
{
    return hw_engines_min_bytes != UINT64_MAX && (uint64_t)message->bytes >= hw_engines_min_bytes;
}

void hw_pack_message_attach(struct hw_pack_message *message, MPI_Request request, bool is_persistent)
{
    bool is_receive = message->given.direction == HW_SHAPE_UNPACK;
    const struct hw_request_attachment attachment = {
        .calls = &calls,
        .attachment = message,
        .bytes = (uint64_t)message->bytes,
        .is_persistent = is_persistent,
        .is_followed = is_followed(message),
        .is_receive = is_receive,
    };
    uint64_t bytes = attachment.bytes;
    hw_request_attach(request, &attachment);
    if (attachment.is_followed && is_persistent)
        HW_COUNT(tracked_persistent);
    if (!attachment.is_followed || is_persistent)
        return;
    HW_COUNT(tracked_p2p);
    HW_COUNT_ADD(tracked_bytes, bytes);
    hw_engines_posted(HW_REQUEST_P2P, bytes, is_receive);
}

/* Gives away a message whose request is complete; a persistent one is freed besides. */
static void finish(struct hw_pack_message *message, const MPI_Status *status, int error)
{
    completed(message, status, error, hw_real_is_cancelled(status));
    if (message->request != HW_REQUEST_NULL)
        hw_bottom.Request_free(&message->request);
    hw_pack_message_free(message);
}

/* The first ones, so many at most. */
static struct hw_pack_message *take(enum hw_shape_direction direction, unsigned most)
{
    pthread_mutex_lock(&lock);
    struct queue *queue = &abandoned[direction];
    struct hw_pack_message *list = queue->first, **link = &list;
    while (*link && most-- > 0)
        link = &(*link)->next;
    queue->first = *link;
    *link = NULL;
    pthread_mutex_unlock(&lock);
    return list;
}

static void look(struct hw_pack_message *list, bool is_last)
{
    for (struct hw_pack_message *next; list; list = next) {
        MPI_Status status;
        int is_over = 0;
        next = list->next;
        bool waits = is_last && list->given.direction == HW_SHAPE_PACK; /* a receive may never end */
        int rc = waits ? hw_bottom.Wait(&list->request, &status)
                       : hw_bottom.Test(&list->request, &is_over, &status);
        if (waits || is_over || rc != MPI_SUCCESS) {
            hw_atomic_sub_relaxed(&abandoned_count, 1);
            hw_atomic_sub_relaxed(&abandoned_receives, list->given.direction == HW_SHAPE_UNPACK);
            finish(list, &status, rc);
        } else {
            pthread_mutex_lock(&lock);
            append(list);
            pthread_mutex_unlock(&lock);
        }
    }
}

bool hw_pack_message_frees_many(void) { return hw_atomic_load_relaxed(&abandoned_receives) >= RECEIVES_MANY; }

void hw_pack_message_give_back(void)
{
    if (__builtin_expect(hw_atomic_load_relaxed(&abandoned_count) != 0, 0))
        look(take(HW_SHAPE_PACK, SENDS_PER_LOOK), false);
}

void hw_pack_message_look_after(void)
{
    if (__builtin_expect(hw_atomic_load_relaxed(&abandoned_count) == 0, 1))
        return;
    look(take(HW_SHAPE_UNPACK, UINT_MAX), false);
    look(take(HW_SHAPE_PACK, SENDS_PER_LOOK), false);
    pthread_mutex_lock(&lock);
    if (hw_atomic_load_relaxed(&abandoned_count) == 0)
        hw_inside_want(HW_INSIDE_GOES_PACKED, false);
    pthread_mutex_unlock(&lock);
}

void hw_pack_message_finish(void)
{
    look(take(HW_SHAPE_UNPACK, UINT_MAX), true);
    look(take(HW_SHAPE_PACK, UINT_MAX), true);
    hw_pack_pool_trim();
}
