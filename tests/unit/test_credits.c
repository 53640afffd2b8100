/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a ghost's room and the credits of two user processes of other nodes (pool.h, purse.h,
 * credit.h), in every order in which sends, misses, notes and receives can follow one another. In each state
 * every unit is in one place; from each, once nobody sends any more, all come back, and who asked has what it
 * asked for. */
#include "engines/p2p/ghost/pool.h"
#include "engines/p2p/ghost/purse.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { USERS = 2, UNITS = 3, FIRST = 1, NOTES_MAX = 2, BEGUN_MAX = 5, STATES_MAX = 1 << 20, SLOTS = 1 << 23 };

enum kind { OFFER, ASK, RETURN, GRANT, RECALL, FREED };

struct note {
    uint8_t kind, units, rest;
};

struct channel {
    struct note notes[NOTES_MAX];
    uint8_t count;
};

struct user {
    struct hw_p2p_credit credit;
    struct hw_p2p_purse purse;
    struct channel up, down; /* to the ghost with the room, and from it */
    uint8_t job;             /* units of a message that its ghost has not taken; 0: none */
    uint8_t asked, returned; /* to be told */
    uint8_t units[UNITS];    /* of messages that have come */
    uint8_t firsts[UNITS];
    uint8_t message_count;
};

static struct state {
    struct hw_p2p_pool pool;
    struct hw_p2p_account accounts[USERS];
    uint64_t used[2];
    uint32_t chain[UNITS];
    struct user users[USERS];
    uint64_t begun; /* sends, misses and rounds of recalls so far */
} now;
static_assert(sizeof now % sizeof(uint64_t) == 0, "hashed by words");

static struct state *stack;
static uint64_t *seen;
static uint64_t state_count;

/* ---- steps: false if there is none -----------------------------------------------------------------------
 */

static bool push(struct channel *channel, enum kind kind, uint32_t units, uint32_t rest)
{
    if (channel->count == NOTES_MAX)
        return false;
    channel->notes[channel->count++] =
        (struct note){.kind = (uint8_t)kind, .units = (uint8_t)units, .rest = (uint8_t)rest};
    return true;
}

static bool pop(struct channel *channel, struct note *note)
{
    if (channel->count == 0)
        return false;
    *note = channel->notes[0];
    memmove(channel->notes, channel->notes + 1, sizeof *channel->notes * --channel->count);
    memset(&channel->notes[channel->count], 0, sizeof *channel->notes);
    return true;
}

static bool send(int rank, uint32_t units)
{
    struct user *user = &now.users[rank];
    if (user->job > 0 || !hw_p2p_credit_take(&user->credit, units))
        return false;
    user->job = (uint8_t)units;
    return true;
}

static bool miss(int rank, uint32_t units)
{
    struct hw_p2p_credit *credit = &now.users[rank].credit;
    if (credit->wanted > 0 || credit->units >= units)
        return false;
    credit->wanted = units;
    return true;
}

static void owe(struct user *user, uint32_t asked)
{
    if (asked == 0)
        return;
    assert_int_equal(user->asked, 0); /* one question at a time */
    user->asked = (uint8_t)asked;
}

static bool hear_miss(int rank)
{
    struct user *user = &now.users[rank];
    if (user->credit.wanted == 0 || user->purse.is_asked)
        return false;
    owe(user, hw_p2p_purse_missed(&user->purse, &user->credit));
    return true;
}

/* With a pause or without: each way it may have come to it. */
static bool take_job(int rank, uint32_t pause)
{
    struct user *user = &now.users[rank];
    if (user->job == 0 || !push(&user->up, OFFER, user->job, 0))
        return false;
    user->purse.pause = pause;
    owe(user, hw_p2p_purse_spent(&user->purse, &user->credit, user->job));
    user->purse.pause = 0;
    user->job = 0;
    return true;
}

static bool pay(int rank)
{
    struct user *user = &now.users[rank];
    if (user->returned > 0 && push(&user->up, RETURN, user->returned, 0)) {
        user->returned = 0;
        return true;
    }
    if (user->asked > 0 && user->returned == 0 && push(&user->up, ASK, user->asked, user->purse.is_needy)) {
        user->asked = 0;
        return true;
    }
    return false;
}

static bool hear_up(int rank)
{
    struct user *user = &now.users[rank];
    struct note note;
    if (!pop(&user->up, &note))
        return false;
    uint32_t first;
    if (note.kind == OFFER) {
        assert_true(hw_p2p_pool_enter(&now.pool, rank, note.units, now.chain, &first));
        user->units[user->message_count] = note.units;
        user->firsts[user->message_count++] = (uint8_t)first;
    } else if (note.kind == ASK) {
        hw_p2p_pool_ask(&now.pool, rank, note.units, note.rest != 0);
    } else {
        assert_true(hw_p2p_pool_return(&now.pool, rank, note.units));
    }
    return true;
}

static bool hear_down(int rank)
{
    struct user *user = &now.users[rank];
    struct note note;
    if (!pop(&user->down, &note))
        return false;
    if (note.kind == GRANT)
        owe(user, hw_p2p_purse_granted(&user->purse, &user->credit, note.units, note.rest));
    else if (note.kind == FREED)
        hw_p2p_purse_freed(&user->purse, &user->credit, note.units, note.rest);
    else
        user->returned += (uint8_t)hw_p2p_purse_recalled(&user->purse, &user->credit);
    user->purse.longest_wait = user->purse.pause = 0; /* take_job has every pause */
    return true;
}

static bool receive(int rank)
{
    struct user *user = &now.users[rank];
    if (user->message_count == 0 || user->down.count == NOTES_MAX)
        return false;
    uint32_t units = user->units[0];
    uint32_t back = hw_p2p_pool_leave(&now.pool, rank, units, now.chain, user->firsts[0]);
    user->message_count--;
    memmove(user->units, user->units + 1, UNITS - 1);
    memmove(user->firsts, user->firsts + 1, UNITS - 1);
    user->units[UNITS - 1] = user->firsts[UNITS - 1] = 0;
    return push(&user->down, FREED, units, back);
}

static bool have_all_room(void)
{
    for (int i = 0; i < USERS; i++)
        if (now.users[i].down.count == NOTES_MAX)
            return false;
    return true;
}

static bool grant(void)
{
    int rank;
    uint32_t units, rest;
    return have_all_room() && hw_p2p_pool_grant(&now.pool, &rank, &units, &rest) &&
           push(&now.users[rank].down, GRANT, units, rest);
}

static bool recall(void)
{
    int rank;
    return have_all_room() && hw_p2p_pool_recall(&now.pool, &rank) &&
           push(&now.users[rank].down, RECALL, 0, 0);
}

static bool begin_round(void)
{
    if (now.pool.needy_count == 0 || now.pool.recall_count > 0)
        return false;
    hw_p2p_pool_begin_round(&now.pool);
    return true;
}

/* ---- what must be true -----------------------------------------------------------------------------------
 */

static uint32_t count_units(const struct user *user)
{
    uint32_t units = user->credit.units + user->job + user->returned;
    for (int i = 0; i < user->up.count; i++)
        units += user->up.notes[i].kind == ASK ? 0 : user->up.notes[i].units;
    for (int i = 0; i < user->down.count; i++)
        units += user->down.notes[i].kind == GRANT ? user->down.notes[i].units : user->down.notes[i].rest;
    return units;
}

static void check(void)
{
    uint32_t given = 0;
    for (int i = 0; i < USERS; i++) {
        given += now.accounts[i].given;
        assert_int_equal(now.accounts[i].given, count_units(&now.users[i]));
    }
    assert_int_equal(now.pool.free_count + given + now.pool.used_count, UNITS);
    assert_int_equal(__builtin_popcountll(now.used[0]), now.pool.used_count);
}

static bool settle_once(void)
{
    bool has_done = grant();
    for (int i = 0; i < USERS; i++) {
        has_done = take_job(i, 0) || has_done;
        has_done = hear_miss(i) || has_done;
        has_done = pay(i) || has_done;
        has_done = hear_up(i) || has_done;
        has_done = hear_down(i) || has_done;
        has_done = receive(i) || has_done;
    }
    return recall() || has_done;
}

/* Nobody sends any more; rounds of recalls begin by time. */
static void check_end(void)
{
    for (int round = 0; round < 8; round++) {
        for (int step = 0; settle_once(); step++)
            assert_true(step < 200);
        if (!begin_round())
            break;
    }
    check();
    assert_int_equal(now.pool.used_count + (uint32_t)now.pool.needy_count + (uint32_t)now.pool.due_count, 0);
    for (int i = 0; i < USERS; i++) {
        const struct user *user = &now.users[i];
        assert_int_equal(user->credit.wanted, 0);
        assert_int_equal(user->purse.in_use, 0);
        assert_false(user->purse.is_asked);
        assert_int_equal(user->credit.units, now.accounts[i].given);
    }
}

/* ---- all states ------------------------------------------------------------------------------------------
 */

/* Which units a message has makes no difference to anything but themselves. */
static uint64_t hash_of(const struct state *state)
{
    struct state plain = *state;
    plain.pool.first_word = 0;
    plain.pool.next_recalled = 0;
    memset(plain.used, 0, sizeof plain.used);
    memset(plain.chain, 0, sizeof plain.chain);
    for (int i = 0; i < USERS; i++)
        memset(plain.users[i].firsts, 0, sizeof plain.users[i].firsts);
    const uint64_t *words = (const uint64_t *)&plain;
    uint64_t hash = 14695981039346656037U;
    for (size_t i = 0; i < sizeof plain / sizeof *words; i++)
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
    return hash | 1;
}

static bool is_new(const struct state *state)
{
    uint64_t hash = hash_of(state), slot = hash % SLOTS;
    for (; seen[slot] != 0; slot = (slot + 1) % SLOTS)
        if (seen[slot] == hash)
            return false;
    seen[slot] = hash;
    return true;
}

static bool may_begin(void) { return now.begun++ < BEGUN_MAX; }

static bool step(int number)
{
    int rank = number % USERS;
    switch (number / USERS) {
    case 0:
        return may_begin() && send(rank, (uint32_t)rank + 1);
    case 1:
        return may_begin() && miss(rank, (uint32_t)rank + 2);
    case 2:
        return rank == 0 && may_begin() && begin_round();
    case 3:
        return hear_miss(rank);
    case 4:
        return take_job(rank, 0);
    case 5:
        return take_job(rank, 1);
    case 6:
        return pay(rank);
    case 7:
        return hear_up(rank);
    case 8:
        return hear_down(rank);
    case 9:
        return receive(rank);
    default:
        return rank == 0 ? grant() : recall();
    }
}
enum { STEPS = 11 * USERS };

static void go_through(void)
{
    uint64_t depth = 1;
    is_new(&now);
    stack[0] = now;
    while (depth > 0) {
        struct state from = stack[--depth];
        for (int i = 0; i < STEPS; i++) {
            now = from;
            if (!step(i))
                continue;
            check();
            if (!is_new(&now))
                continue;
            state_count++;
            assert_true(depth < STATES_MAX && state_count < SLOTS / 2);
            stack[depth++] = now;
            check_end();
        }
    }
}

static void every_order(void **context)
{
    (void)context;
    stack = calloc(STATES_MAX, sizeof *stack);
    seen = calloc(SLOTS, sizeof *seen);
    assert_true(stack && seen);
    memset(&now, 0, sizeof now);
    now.pool.unit_count = now.pool.free_count = UNITS;
    now.pool.account_count = USERS;
    now.pool.served = -1;
    now.pool.accounts = now.accounts; /* of the only copy that steps are taken in */
    now.pool.used = now.used;
    for (int i = 0; i < USERS; i++) {
        hw_p2p_pool_open_account(&now.pool, i, FIRST);
        hw_p2p_credit_give(&now.users[i].credit, FIRST);
    }
    go_through();
    print_message("%llu states\n", (unsigned long long)state_count);
    assert_true(state_count > 1000);
    free(stack);
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
