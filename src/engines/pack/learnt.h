/* SPDX-License-Identifier: BSD-3-Clause */
/* What is learnt about packing, for each kind of datatype (hw_plan.kind), direction and power of two of
 * bytes: by which way it goes, and what that won. Kept until the process ends, though datatypes come and go.
 * Any thread. */
#ifndef HW_ENGINES_PACK_LEARNT_H
#define HW_ENGINES_PACK_LEARNT_H

#include "base/atomic.h"
#include "objects/datatype/plan.h"
#include "policy/choice.h"
#include "policy/confirm.h"
#include "profile/callers/packings.h"
#include "profile/record.h"
#include "team/split.h"

#include <stdbool.h>
#include <stdint.h>

enum { HW_PACK_LOG_MIN = 10, HW_PACK_LOG_MAX = 30, HW_PACK_BYTES_MIN = 1 << HW_PACK_LOG_MIN };

/* How point-to-point messages go. */
enum hw_pack_message_way {
    HW_PACK_MESSAGE_UNKNOWN,
    HW_PACK_MESSAGE_TRIED, /* ours was shorter in a trial, and is looked at in earnest */
    HW_PACK_MESSAGE_MPI,   /* for good, as the next */
    HW_PACK_MESSAGE_OURS,
};

/* Of messages: any thread, relaxed; `confirm` is whose who has set `is_looked_at`. */
struct hw_pack_messages {
    atomic_int way;   /* enum hw_pack_message_way */
    atomic_uint uses; /* while unknown */
    atomic_bool is_looked_at;
    atomic_int turn; /* enum hw_choice_way, while tried: of all that go meanwhile */
    struct hw_confirm confirm;
};

struct hw_pack_class {
    struct hw_pack_messages messages;
    struct hw_packing_class tried; /* what a trial of messages has measured */
    atomic_uint left;              /* calls before the next is timed */
    atomic_uint way;               /* enum hw_choice_way of those */
    atomic_bool is_taken;          /* somebody has `choice` */
    struct hw_choice choice;
    struct hw_team_split split;        /* of our way: alone, or with idle threads */
    atomic_uint_fast64_t calls, bytes; /* by our way */
};

/* NULL: too many kinds; nothing is learnt of this one. */
struct hw_pack_class *hw_pack_class_find(struct hw_plan *plan, enum hw_shape_direction direction,
                                         int64_t bytes);

/* To make a plan, and to find out what it wins, takes as long as dozens of calls. A program that makes its
 * datatypes anew again and again would pay that each time: after so many plans that have not packed enough to
 * pay for it a handle needs twice as many large uses, up to a limit. `first`: so many at first. */
unsigned hw_pack_uses_before_plan(unsigned first);
/* One was made. is_paid: of a kind that is known to win, so that it costs little. */
void hw_pack_plan_made(struct hw_plan *plan, bool is_paid);
/* It packs, or unpacks, once more, and not for a trial. */
void hw_pack_plan_serves(struct hw_plan *plan);

/* True if the caller may time this call, by *way, and has to say what it took. */
bool hw_pack_class_take(struct hw_pack_class *of, enum hw_choice_way *way);
void hw_pack_class_learn(struct hw_pack_class *of, enum hw_choice_way way, uint64_t took_ns);

static inline void hw_pack_class_count(struct hw_pack_class *of, int64_t bytes)
{
    hw_atomic_store_relaxed(&of->calls, hw_atomic_load_relaxed(&of->calls) + 1);
    hw_atomic_store_relaxed(&of->bytes, hw_atomic_load_relaxed(&of->bytes) + (uint64_t)bytes);
}

/* Into the record, once what it tells of is over. */
void hw_pack_learnt_describe(struct hw_record_facts *facts);

#endif
