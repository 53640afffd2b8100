/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a message is to be packed by us (doc/adr/0039). Any thread, inside MPI. */
#ifndef HW_ENGINES_PACK_WORTH_H
#define HW_ENGINES_PACK_WORTH_H

#include "base/visibility.h"
#include "engines/pack/given.h"
#include "engines/pack/learnt.h"

#include <stdbool.h>
#include <stdint.h>

/* What is to be learnt of a message once it is through. */
enum hw_pack_look_kind {
    HW_PACK_LOOK_NOT,
    HW_PACK_LOOK_TRY,  /* of a receive by the MPI's way: what came is unpacked by both ways */
    HW_PACK_LOOK_TIME, /* what it took */
};

struct hw_pack_look {
    enum hw_pack_look_kind kind;
    enum hw_choice_way way;
    struct hw_pack_class *of; /* NULL: the plan is yet to be made */
    uint64_t began_ns;
};

enum hw_pack_use {
    HW_PACK_ONCE,
    HW_PACK_AGAIN,   /* by a persistent request: what one does is settled when it is made */
    HW_PACK_AT_ONCE, /* it must be packed, though nothing is learnt: hw_pack_must_be_dense */
};

struct hw_pack_verdict {
    bool is_packed; /* by us; else by the MPI's way */
    int64_t bytes;
    struct hw_pack_look look;
};

/* All messages go by the MPI's way, and trials only measure: for the profile. Set before the program gets
 * control back from MPI_Init*. */
extern HW_HIDDEN bool hw_pack_message_only_measures;

/* Whether a receive with room for so many bytes must be packed though that is more than the pool has, since
 * the MPI would take long for one that was sent packed (hw_real_lists_posted_blocks). Its buffer is reserved
 * address space then: memory is what comes. */
bool hw_pack_message_needs_room(const struct hw_pack_given *given, int64_t bytes);

/* The MPI has accepted the first call with a datatype: from here on it may have a plan. Within
 * hw_real_type_hold, since the call may have waited. */
void hw_pack_message_accepted(const struct hw_pack_given *given);

/* False: the MPI's way, and nothing is learnt. If true, a look that is none but NOT ends by one of the next
 * two. */
bool hw_pack_message_judge(const struct hw_pack_given *given, struct hw_plan *plan, enum hw_pack_use use,
                           struct hw_pack_verdict *verdict);

/* It is through; the buffer is still that of the call. */
void hw_pack_look_end(struct hw_pack_look *look, const struct hw_pack_given *given, struct hw_plan *plan,
                      const MPI_Status *status);
/* Nothing is to be learnt of it. */
void hw_pack_look_drop(struct hw_pack_look *look);

#endif
