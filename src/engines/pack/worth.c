/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/pack/worth.h"

#include "base/clock.h"
#include "base/options.h"
#include "engines/engine.h"
#include "engines/pack/pool.h"
#include "engines/pack/trial.h"
#include "objects/datatype/contents.h"
#include "profile/calls/calls.h"
#include "real/constants.h"
#include "real/device_memory.h"
#include "real/parts.h"
#include "real/quirks.h"
#include "real/type_size.h"

/* Large uses of a handle before it gets a plan, at first, and of a class before it is tried: what is used now
 * and then pays nothing. Receives that bring too little for a trial are looked at so often. */
enum { USES_OF_TYPE = 8, USES_OF_CLASS = 8, USES_MAX = 4 * USES_OF_CLASS };

bool hw_pack_message_only_measures;

static unsigned uses_before_plan(void)
{
    return hw_pack_message_only_measures ? USES_OF_TYPE : hw_pack_uses_before_plan(USES_OF_TYPE);
}

static void count_made(const struct hw_pack_given *given, struct hw_plan *plan)
{
    int64_t bytes = hw_plan_size(plan) * (int64_t)given->count;
    bool is_usable = hw_plan_state(plan) == HW_PLAN_USABLE && bytes >= HW_PACK_BYTES_MIN;
    struct hw_pack_class *class = is_usable ? hw_pack_class_find(plan, given->direction, bytes) : NULL;
    hw_pack_plan_made(plan, class && hw_atomic_load_relaxed(&class->messages.way) == HW_PACK_MESSAGE_OURS);
}

/* What the MPI must take, in percent of ours, to be left: where the user asks for it, and where nobody does.
 */
enum { ASKED_FOR_PERCENT = 125, UNASKED_PERCENT = 200 };

static bool is_asked_for(void) { return hw_options.pack_messages == HW_OPTION_PACK_MESSAGES_YES; }

/* By the MPI's way unless the user says otherwise. */
static bool is_packed_on_its_way(int64_t bytes)
{
    return HW_REAL_PACKS_WHILE_SENDING_BYTES > 0 && bytes >= HW_REAL_PACKS_WHILE_SENDING_BYTES &&
           !is_asked_for() && !hw_pack_message_only_measures;
}

/* Whether all that can be packed is, or this message must be. */
static bool is_forced(enum hw_pack_use use)
{
    bool are_all = hw_options.pack == HW_OPTION_PACK_ON && is_asked_for();
    return (are_all || use == HW_PACK_AT_ONCE) && !hw_pack_message_only_measures;
}

/* Nothing is there but where a datatype has absolute addresses. */
static bool is_there(const struct hw_plan *plan, uintptr_t memory)
{
    enum { FIRST_PAGES = 64 * 1024 };
    return memory != 0 || plan->shape.lowest >= FIRST_PAGES;
}

bool hw_pack_message_needs_room(const struct hw_pack_given *given, int64_t bytes)
{
    return given->direction == HW_SHAPE_UNPACK && bytes > HW_PACK_POOL_BYTES_MAX &&
           hw_real_lists_posted_blocks() && !hw_pack_message_only_measures;
}

/* Makes the plan, and looks whether it says what the MPI does. */
static void consider(const struct hw_pack_given *given, struct hw_plan *plan, bool has_data)
{
    const char *reason;
    bool is_made = hw_plan_make(plan, given->datatype, &reason);
    if (is_made) {
        bool has_room = hw_pack_trial_has_room(plan);
        bool is_usable =
            has_room && is_there(plan, given->memory) && hw_pack_trial_is_alike(given, plan, has_data);
        const char *unlike = has_room ? "packing: the MPI packs a datatype otherwise than its plan"
                                      : "packing: one datatype holds more than 16 MiB";
        hw_plan_decide(plan, is_usable);
        reason = is_usable ? NULL : unlike;
    }
    if (is_made || reason)
        count_made(given, plan);
    if (reason)
        hw_record_declined(reason);
}

/* One that MPI defines, but for pairs with gaps. */
static bool is_named_dense(MPI_Datatype datatype)
{
    struct hw_datatype_envelope envelope;
    MPI_Count lowest, extent;
    return hw_datatype_envelope_of(datatype, &envelope) && envelope.combiner == MPI_COMBINER_NAMED &&
           hw_bottom.Type_get_extent_x(datatype, &lowest, &extent) == MPI_SUCCESS &&
           (uint64_t)extent == hw_real_type_size(datatype);
}

void hw_pack_message_accepted(const struct hw_pack_given *given)
{
    const char *reason;
    hw_plan_note(given->datatype);
    struct hw_plan *plan = is_named_dense(given->datatype) ? hw_plan_take(given->datatype) : NULL;
    if (plan == NULL)
        return;
    if (hw_plan_make(plan, given->datatype, &reason))
        hw_plan_decide(plan, false);
    hw_plan_release(plan);
}

/* One more; true from the limit on. Lost ones do not matter. */
static bool is_used_often(atomic_uint *uses, unsigned limit)
{
    unsigned used = hw_atomic_load_relaxed(uses);
    hw_atomic_store_relaxed(uses, used + 1);
    return used >= limit;
}

static void settle(struct hw_pack_messages *of, enum hw_pack_message_way way)
{
    hw_atomic_store_relaxed(&of->way, way);
}

static enum hw_pack_message_way by_trial(const struct hw_pack_given *given, struct hw_plan *plan,
                                         struct hw_pack_class *class)
{
    uint64_t least_percent = is_asked_for() ? ASKED_FOR_PERCENT : UNASKED_PERCENT;
    bool wins = !hw_real_has_device_memory() && hw_pack_trial_wins(given, plan, least_percent, &class->tried);
    return wins && !hw_pack_message_only_measures ? HW_PACK_MESSAGE_TRIED : HW_PACK_MESSAGE_MPI;
}

/* Of a class in which ours was shorter in a trial. */
static bool judge_tried(struct hw_pack_class *class, struct hw_pack_verdict *verdict)
{
    struct hw_pack_messages *of = &class->messages;
    if (hw_atomic_exchange_acquire(&of->is_looked_at, true)) {
        verdict->is_packed = hw_atomic_load_relaxed(&of->turn) == HW_CHOICE_OURS;
        return verdict->is_packed;
    }
    int way = hw_atomic_load_relaxed(&of->way);
    if (way != HW_PACK_MESSAGE_TRIED) { /* meanwhile */
        hw_atomic_store_release(&of->is_looked_at, false);
        verdict->is_packed = way == HW_PACK_MESSAGE_OURS;
        return verdict->is_packed;
    }
    verdict->look =
        (struct hw_pack_look){HW_PACK_LOOK_TIME, hw_confirm_next(&of->confirm), class, hw_clock_fast_ns()};
    verdict->is_packed = verdict->look.way == HW_CHOICE_OURS;
    hw_atomic_store_relaxed(&of->turn, verdict->look.way);
    return true;
}

/* By what is known of such messages. What one request does again and again is settled when it is made. */
static bool judge_class(const struct hw_pack_given *given, struct hw_plan *plan, struct hw_pack_class *class,
                        bool is_persistent, struct hw_pack_verdict *verdict)
{
    struct hw_pack_messages *of = &class->messages;
    int way = hw_atomic_load_relaxed(&of->way);
    if (way == HW_PACK_MESSAGE_UNKNOWN) {
        if (is_persistent || !is_used_often(&of->uses, USES_OF_CLASS))
            return false;
        if (given->direction == HW_SHAPE_UNPACK) {
            verdict->look = (struct hw_pack_look){.kind = HW_PACK_LOOK_TRY, .of = class};
            if (hw_atomic_load_relaxed(&of->uses) > USES_MAX)
                settle(of, HW_PACK_MESSAGE_MPI);
            return true;
        }
        HW_COUNT(packed_message_trials);
        way = by_trial(given, plan, class);
        settle(of, way);
    } else if (way != HW_PACK_MESSAGE_MPI && hw_real_has_device_memory()) { /* it has come since */
        way = HW_PACK_MESSAGE_MPI;
        settle(of, way);
    }
    verdict->is_packed = way == HW_PACK_MESSAGE_OURS;
    if (verdict->is_packed)
        hw_pack_plan_serves(plan);
    if (way == HW_PACK_MESSAGE_TRIED && !is_persistent)
        return judge_tried(class, verdict);
    return verdict->is_packed;
}

/* Whether a receive is looked at once it has come, which costs it a copy of its datatype: ever more seldom
 * where all that comes is too little to tell anything. */
static bool is_looked_at(const struct hw_plan *plan)
{
    unsigned used = hw_atomic_load_relaxed(&plan->uses);
    return used <= uses_before_plan() + USES_MAX || (used & (used - 1)) == 0;
}

/* Makes a plan for a datatype that is used often enough. True: once what is received has come. */
static bool wants_plan(const struct hw_pack_given *given, struct hw_plan *plan, enum hw_pack_use use)
{
    bool is_receive = given->direction == HW_SHAPE_UNPACK;
    if (hw_plan_state(plan) != HW_PLAN_SEEN)
        return false;
    bool is_now = is_forced(use) && !(is_receive && hw_pack_trial_needs_data(given->datatype));
    if (!is_now && !is_used_often(&plan->uses, uses_before_plan()))
        return false;
    if (!is_now && is_receive)
        return use != HW_PACK_AGAIN && is_looked_at(plan);
    if (is_now || use != HW_PACK_AGAIN)
        consider(given, plan, !is_receive);
    return false;
}

bool hw_pack_message_judge(const struct hw_pack_given *given, struct hw_plan *plan, enum hw_pack_use use,
                           struct hw_pack_verdict *verdict)
{
    *verdict = (struct hw_pack_verdict){.is_packed = false};
    if (__builtin_mul_overflow(hw_plan_size(plan), (int64_t)given->count, &verdict->bytes) ||
        is_packed_on_its_way(verdict->bytes))
        return false;
    bool needs_room = hw_pack_message_needs_room(given, verdict->bytes);
    if (verdict->bytes > HW_PACK_POOL_BYTES_MAX && !needs_room)
        return false; /* there is no buffer for it */
    if (needs_room)
        use = HW_PACK_AT_ONCE;
    if (wants_plan(given, plan, use)) {
        verdict->look.kind = HW_PACK_LOOK_TRY;
        return true;
    }
    if (hw_plan_state(plan) != HW_PLAN_USABLE || !is_there(plan, given->memory))
        return false;
    if (given->direction == HW_SHAPE_UNPACK &&
        !(plan->is_disjoint && hw_shape_stays_disjoint(&plan->shape, given->count, plan->extent)))
        return false;
    struct hw_pack_class *class = NULL;
    verdict->is_packed = is_forced(use) && !hw_real_has_device_memory();
    if (verdict->is_packed)
        hw_pack_plan_serves(plan);
    if (!verdict->is_packed || hw_profile_is_on())
        class = hw_pack_class_find(plan, given->direction, verdict->bytes);
    bool is_taken =
        verdict->is_packed || (class && judge_class(given, plan, class, use == HW_PACK_AGAIN, verdict));
    if (class && hw_profile_is_on())
        hw_packings_tell(&class->tried, verdict->bytes, verdict->is_packed);
    return is_taken;
}

/* What came is tried, as far as it is whole. */
static void try_received(const struct hw_pack_look *look, const struct hw_pack_given *given,
                         struct hw_plan *plan, const MPI_Status *status)
{
    int bytes = 0;
    struct hw_pack_given came = *given;
    if (status == NULL || hw_bottom.Get_count(status, HW_BYTE, &bytes) != MPI_SUCCESS ||
        bytes < HW_PACK_BYTES_MIN || bytes < hw_plan_size(plan))
        return;
    came.count = bytes / hw_plan_size(plan);
    if (look->of == NULL)
        consider(&came, plan, true);
    else if (hw_atomic_load_relaxed(&look->of->messages.way) == HW_PACK_MESSAGE_UNKNOWN)
        settle(&look->of->messages, by_trial(&came, plan, look->of));
}

void hw_pack_look_end(struct hw_pack_look *look, const struct hw_pack_given *given, struct hw_plan *plan,
                      const MPI_Status *status)
{
    if (look->kind != HW_PACK_LOOK_NOT)
        HW_COUNT(packed_message_trials);
    if (look->kind == HW_PACK_LOOK_TRY) {
        try_received(look, given, plan, status);
    } else if (look->kind == HW_PACK_LOOK_TIME) {
        struct hw_pack_messages *of = &look->of->messages;
        enum hw_confirm_state state =
            hw_confirm_learn(&of->confirm, look->way, hw_clock_fast_ns() - look->began_ns);
        if (state != HW_CONFIRM_ON)
            settle(of, state == HW_CONFIRM_KEEP ? HW_PACK_MESSAGE_OURS : HW_PACK_MESSAGE_MPI);
        hw_atomic_store_release(&of->is_looked_at, false);
    }
    look->kind = HW_PACK_LOOK_NOT;
}

void hw_pack_look_drop(struct hw_pack_look *look)
{
    if (look->kind == HW_PACK_LOOK_TIME)
        hw_atomic_store_release(&look->of->messages.is_looked_at, false);
    look->kind = HW_PACK_LOOK_NOT;
}
