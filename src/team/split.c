/* SPDX-License-Identifier: BSD-3-Clause */
#include "team/split.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "team/team.h"

/* A piece takes about so long, and a copy of two is the shortest to share. */
#define PIECE_NS (50 * HW_NS_PER_US)
/* Ranges begin at multiples of a page, so that threads write to different ones where memory is aligned. */
enum { PAGE = 4096, PIECES_MAX = 4096 };

struct copy {
    hw_team_range *range;
    void *context;
    int64_t bytes, piece_bytes;
};

static void do_piece(void *context, uint32_t piece)
{
    struct copy *copy = context;
    int64_t from = piece * copy->piece_bytes, to = from + copy->piece_bytes;
    copy->range(copy->context, from, to < copy->bytes ? to : copy->bytes);
}

static void share(struct copy *copy, unsigned pieces)
{
    copy->piece_bytes = (copy->bytes / pieces + PAGE) / PAGE * PAGE;
    pieces = (unsigned)((copy->bytes + copy->piece_bytes - 1) / copy->piece_bytes);
    hw_team_run(&(struct hw_team_task){do_piece, copy, pieces});
}

static unsigned pieces_of(uint64_t alone_ns)
{
    uint64_t pieces = alone_ns / PIECE_NS;
    return pieces < PIECES_MAX ? (unsigned)pieces : PIECES_MAX;
}

/* Neither way is learnt of while another thread learns, or while a region could only wait. */
static bool take(struct hw_team_split_at *of, enum hw_idle_place place)
{
    enum { CROWDED_PAUSE = 16 };
    if (place == HW_IDLE_REGION && hw_idle_is_crowded()) {
        hw_atomic_store_relaxed(&of->left, CROWDED_PAUSE);
        return false;
    }
    return !hw_atomic_exchange_acquire(&of->is_taken, true);
}

static void do_timed(struct hw_team_split_at *of, struct copy *copy)
{
    enum hw_choice_way way = hw_choice_next(&of->choice);
    unsigned pieces = pieces_of(of->choice.ns[HW_CHOICE_MPI]);
    uint64_t began_ns = hw_clock_now_ns();
    if (way == HW_CHOICE_OURS && pieces >= 2)
        share(copy, pieces);
    else
        copy->range(copy->context, 0, copy->bytes);
    uint32_t left = hw_choice_learn(&of->choice, way, hw_clock_now_ns() - began_ns);
    hw_atomic_store_relaxed(&of->pieces, pieces);
    hw_atomic_store_relaxed(&of->way, of->choice.way);
    hw_atomic_store_relaxed(&of->left, left);
    hw_atomic_store_release(&of->is_taken, false);
}

void hw_team_split(struct hw_team_split *split, hw_team_range *range, void *context, int64_t bytes)
{
    struct copy copy = {.range = range, .context = context, .bytes = bytes};
    enum hw_idle_place place = bytes < HW_TEAM_SPLIT_MIN ? HW_IDLE_NOWHERE : hw_team_place();
    struct hw_team_split_at *of = &split->at[place];
    unsigned left = place == HW_IDLE_NOWHERE ? 1 : hw_atomic_load_relaxed(&of->left);
    if (left == 0 && take(of, place)) {
        do_timed(of, &copy);
        return;
    }
    if (place != HW_IDLE_NOWHERE && left > 0)
        hw_atomic_store_relaxed(&of->left, left - 1);
    unsigned pieces = hw_atomic_load_relaxed(&of->pieces);
    if (hw_atomic_load_relaxed(&of->way) == HW_CHOICE_OURS && pieces >= 2)
        share(&copy, pieces);
    else
        range(context, 0, bytes);
}
