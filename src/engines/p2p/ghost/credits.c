/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/credits.h"

#include "base/clock.h"
#include "engines/p2p/shared/room.h"
#include "ghost/give_up.h"
#include "world/world.h"

/* Between two rounds of recalls while somebody is needy, the first time and later. Who sent nothing in
 * between gives all back. */
#define FIRST_ROUND_NS (10 * HW_NS_PER_MS)
#define MAX_ROUND_NS (160 * HW_NS_PER_MS)

static struct hw_p2p_pool pool;
static uint64_t next_round_ns,
    round_ns = FIRST_ROUND_NS; /* when the next one begins; from that to the next */

bool hw_p2p_credits_open(void)
{
    int own_place = hw_world_ghost_place(hw_world.rank);
    if (!hw_p2p_pool_make(&pool, hw_p2p_room_units(own_place), hw_world.user_count))
        return false;
    for (int rank = 0; rank < hw_world.user_count; rank++)
        hw_p2p_pool_open_account(&pool, rank, hw_p2p_first_credit(hw_world.user_ranks[rank], own_place));
    return true;
}

void hw_p2p_credits_close(void) { hw_p2p_pool_drop(&pool); }

struct hw_p2p_pool *hw_p2p_credits_pool(void) { return &pool; }

/* ---- a sender's ghost: `from` of a note is the user process, `to` the ghost that has the room ------------
 */

static struct hw_p2p_user *sender_of(const struct hw_p2p_note *note)
{
    struct hw_p2p_user *user = hw_p2p_user_of(note->from);
    if (user == NULL)
        hw_ghost_give_up("was told of the room of a process that it does not serve");
    return user;
}

static void owe(struct hw_p2p_user *user, int place, uint32_t asked)
{
    user->debts[place].asked = asked;
    user->owes_notes = user->owes_notes || asked > 0;
}

void hw_p2p_credits_spent(struct hw_p2p_user *user, int place, uint32_t units)
{
    uint32_t asked = hw_p2p_purse_spent(&user->purses[place], hw_p2p_credit_of(user->block, place), units);
    if (asked > 0)
        owe(user, place, asked);
}

void hw_p2p_credits_freed(const struct hw_p2p_note *note)
{
    struct hw_p2p_user *user = sender_of(note);
    int place = hw_world_ghost_place(note->to);
    hw_p2p_purse_freed(&user->purses[place], hw_p2p_credit_of(user->block, place), note->units, note->rest);
}

static void granted(const struct hw_p2p_note *note)
{
    struct hw_p2p_user *user = sender_of(note);
    int place = hw_world_ghost_place(note->to);
    uint32_t asked = hw_p2p_purse_granted(&user->purses[place], hw_p2p_credit_of(user->block, place),
                                          note->units, note->rest);
    if (asked > 0)
        owe(user, place, asked);
}

static void recalled(const struct hw_p2p_note *note)
{
    struct hw_p2p_user *user = sender_of(note);
    int place = hw_world_ghost_place(note->to);
    user->debts[place].returned +=
        hw_p2p_purse_recalled(&user->purses[place], hw_p2p_credit_of(user->block, place));
    user->owes_notes = true;
}

/* What user processes have missed since the last time. */
static void hear_misses(struct hw_p2p_user *user)
{
    uint32_t misses = hw_atomic_load_seq_cst(&user->block->misses);
    if (misses == user->misses)
        return;
    user->misses = misses;
    for (int place = 0; place < hw_world.ghost_count; place++) {
        uint32_t asked = hw_p2p_purse_missed(&user->purses[place], hw_p2p_credit_of(user->block, place));
        if (asked > 0)
            owe(user, place, asked);
    }
}

static bool tell(enum hw_p2p_note_kind kind, int process, int place, uint32_t units, uint32_t rest)
{
    const struct hw_p2p_note note = {
        .kind = kind, .from = process, .to = hw_world.ghost_ranks[place], .units = units, .rest = rest};
    bool is_asking = kind == HW_P2P_NOTE_ASK || kind == HW_P2P_NOTE_RETURN;
    return hw_p2p_wire_tell(is_asking ? place : hw_world_ghost_place(process), &note);
}

/* False: some are still owed. */
static bool pay(struct hw_p2p_user *user)
{
    for (int place = 0; place < hw_world.ghost_count; place++) {
        struct hw_p2p_debt *debt = &user->debts[place];
        if (debt->returned > 0) {
            if (!tell(HW_P2P_NOTE_RETURN, user->process, place, debt->returned, 0))
                return false;
            debt->returned = 0;
        }
        if (debt->asked > 0) {
            uint32_t is_needy = user->purses[place].is_needy;
            if (!tell(HW_P2P_NOTE_ASK, user->process, place, debt->asked, is_needy))
                return false;
            debt->asked = 0;
        }
    }
    return true;
}

/* ---- the ghost that has the room -------------------------------------------------------------------------
 */

static bool grant(void)
{
    int rank;
    uint32_t units, rest;
    bool has_done = false;
    while (hw_p2p_wire_has_room() && hw_p2p_pool_grant(&pool, &rank, &units, &rest)) {
        tell(HW_P2P_NOTE_GRANT, hw_world.user_ranks[rank], hw_world_ghost_place(hw_world.rank), units, rest);
        has_done = true;
    }
    return has_done;
}

static void begin_round_if_due(void)
{
    if (pool.needy_count == 0)
        round_ns = FIRST_ROUND_NS;
    if (pool.needy_count == 0 || pool.recall_count > 0)
        return;
    uint64_t now_ns = hw_clock_now_ns();
    if (now_ns < next_round_ns)
        return;
    hw_p2p_pool_begin_round(&pool);
    next_round_ns = now_ns + round_ns;
    round_ns = round_ns < MAX_ROUND_NS ? 2 * round_ns : MAX_ROUND_NS;
}

static bool recall(void)
{
    int rank;
    bool has_done = false;
    begin_round_if_due();
    while (pool.recall_count > 0 && hw_p2p_wire_has_room() && hw_p2p_pool_recall(&pool, &rank)) {
        tell(HW_P2P_NOTE_RECALL, hw_world.user_ranks[rank], hw_world_ghost_place(hw_world.rank), 0, 0);
        has_done = true;
    }
    return has_done;
}

/* ---- both ------------------------------------------------------------------------------------------------
 */

void hw_p2p_credits_heard(const struct hw_p2p_note *note)
{
    int rank = hw_world.processes[note->from].user_rank;
    switch (note->kind) {
    case HW_P2P_NOTE_ASK:
        hw_p2p_pool_ask(&pool, rank, note->units, note->rest != 0);
        break;
    case HW_P2P_NOTE_RETURN:
        if (!hw_p2p_pool_return(&pool, rank, note->units))
            hw_ghost_give_up("was given back more room than it gave");
        break;
    case HW_P2P_NOTE_GRANT:
        granted(note);
        break;
    case HW_P2P_NOTE_RECALL:
        recalled(note);
        break;
    default:
        hw_ghost_give_up("was told something of messages that it does not understand");
    }
}

bool hw_p2p_credits_advance(void)
{
    bool has_done = false;
    for (int i = 0; i < hw_p2p_user_count(); i++) {
        struct hw_p2p_user *user = hw_p2p_user_at(i);
        hear_misses(user);
        if (!user->owes_notes)
            continue;
        user->owes_notes = !pay(user);
        has_done = true;
    }
    has_done = grant() || has_done;
    return recall() || has_done;
}
