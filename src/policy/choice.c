/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/choice.h"

enum {
    TRIALS = 5,        /* of each way before it is settled; the first finds cold caches and does not count */
    CLEAR = 2,         /* times as long: settled after fewer */
    CLEAR_TRIALS = 3,  /* so many */
    CLOSE = 4,         /* one longer than the other by less than this part: settled after more, */
    CLOSE_TRIALS = 12, /* so many: what a trial costs is little then, and what a mistake costs lasts */
    MARGIN = 10,       /* ours must be shorter by this part: less is noise, and a declined call the cheaper */
    REGRET = 128,      /* the part of all time that looking may take */
    TIMING_NS = 100,   /* what timing a call takes besides */
    CALLS_MIN = 64,    /* between looks */
    CALLS_MAX = 1 << 20,
    UP = 8, /* what is longer than known counts for this part: others may have had the core */
};

static enum hw_choice_way other(enum hw_choice_way way)
{
    return way == HW_CHOICE_MPI ? HW_CHOICE_OURS : HW_CHOICE_MPI;
}

/* In turn; settled, the way in use first, so that both find the same. */
enum hw_choice_way hw_choice_next(const struct hw_choice *choice)
{
    bool is_odd = choice->looks % 2 == 1;
    if (choice->is_settled)
        return is_odd ? other(choice->way) : choice->way;
    return is_odd ? HW_CHOICE_OURS : HW_CHOICE_MPI;
}

static void note(struct hw_choice *choice, enum hw_choice_way way, uint64_t took_ns)
{
    uint64_t *known = &choice->ns[way];
    took_ns = took_ns ? took_ns : 1;
    if (*known == 0 || took_ns < *known)
        *known = took_ns;
    else
        *known += (took_ns - *known) / UP;
}

static enum hw_choice_way shorter(const struct hw_choice *choice)
{
    uint64_t ours = choice->ns[HW_CHOICE_OURS], mpi = choice->ns[HW_CHOICE_MPI];
    return ours + ours / MARGIN < mpi ? HW_CHOICE_OURS : HW_CHOICE_MPI;
}

static bool is_tried(const struct hw_choice *choice)
{
    uint64_t ours = choice->ns[HW_CHOICE_OURS], mpi = choice->ns[HW_CHOICE_MPI];
    bool is_clear = ours > mpi * CLEAR || mpi > ours * CLEAR;
    bool is_close = ours < mpi + mpi / CLOSE && mpi < ours + ours / CLOSE;
    return choice->looks >= 2U * (is_clear ? CLEAR_TRIALS : is_close ? CLOSE_TRIALS : TRIALS);
}

uint32_t hw_choice_calls_before(uint64_t price_ns, uint64_t each_ns, uint32_t controls)
{
    uint64_t calls = REGRET * price_ns / each_ns + CALLS_MIN;
    calls <<= controls;
    return calls < CALLS_MAX ? (uint32_t)calls : CALLS_MAX;
}

static uint32_t calls_before_next(const struct hw_choice *choice)
{
    uint64_t used = choice->ns[choice->way], left = choice->ns[other(choice->way)];
    return hw_choice_calls_before(2 * TIMING_NS + (left > used ? left - used : 0), used, choice->controls);
}

uint32_t hw_choice_learn(struct hw_choice *choice, enum hw_choice_way way, uint64_t took_ns)
{
    if (choice->looks >= HW_CHOICE_WAYS)
        note(choice, way, took_ns);
    choice->looks++;
    if (choice->looks % 2 == 1 || (!choice->is_settled && !is_tried(choice)))
        return 0;
    enum hw_choice_way best = shorter(choice);
    if (choice->is_settled && best == choice->way)
        choice->controls += choice->controls < HW_CHOICE_CONTROLS_MAX;
    else
        choice->controls = 0;
    choice->way = best;
    choice->is_settled = true;
    return calls_before_next(choice);
}

uint64_t hw_choice_won_ns(const struct hw_choice *choice)
{
    uint64_t ours = choice->ns[HW_CHOICE_OURS], mpi = choice->ns[HW_CHOICE_MPI];
    return ours && mpi > ours ? mpi - ours : 0;
}
