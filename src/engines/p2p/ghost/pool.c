/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/pool.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64 };

static uint32_t word_count(uint32_t units) { return (units + WORD_BITS - 1) / WORD_BITS; }

bool hw_p2p_pool_make(struct hw_p2p_pool *pool, uint32_t units, int account_count)
{
    *pool = (struct hw_p2p_pool){
        .unit_count = units, .free_count = units, .account_count = account_count, .served = -1};
    pool->accounts = calloc((size_t)account_count, sizeof *pool->accounts);
    pool->used = calloc(word_count(units) + 1, sizeof *pool->used);
    return pool->accounts && pool->used;
}

void hw_p2p_pool_drop(struct hw_p2p_pool *pool)
{
    free(pool->accounts);
    free(pool->used);
    *pool = (struct hw_p2p_pool){0};
}

void hw_p2p_pool_open_account(struct hw_p2p_pool *pool, int rank, uint32_t units)
{
    pool->accounts[rank].given = units;
    pool->free_count -= units;
}

/* The lowest one: it was used before, so its pages are there. */
static uint32_t take_unit(struct hw_p2p_pool *pool)
{
    while (pool->used[pool->first_word] == UINT64_MAX)
        pool->first_word++;
    uint64_t *word = &pool->used[pool->first_word];
    uint32_t bit = (uint32_t)__builtin_ctzll(~*word);
    *word |= UINT64_C(1) << bit;
    return pool->first_word * WORD_BITS + bit;
}

static void free_unit(struct hw_p2p_pool *pool, uint32_t unit)
{
    uint32_t word = unit / WORD_BITS;
    pool->used[word] &= ~(UINT64_C(1) << unit % WORD_BITS);
    if (word < pool->first_word)
        pool->first_word = word;
}

bool hw_p2p_pool_enter(struct hw_p2p_pool *pool, int rank, uint32_t units, uint32_t *chain, uint32_t *first)
{
    struct hw_p2p_account *account = &pool->accounts[rank];
    if (account->given < units)
        return false;
    account->given -= units;
    pool->used_count += units;
    uint32_t last = *first = units > 0 ? take_unit(pool) : 0;
    for (uint32_t i = 1; i < units; i++)
        last = chain[last] = take_unit(pool);
    return true;
}

uint32_t hw_p2p_pool_leave(struct hw_p2p_pool *pool, int rank, uint32_t units, const uint32_t *chain,
                           uint32_t first)
{
    for (uint32_t i = 0, unit = first; i < units; i++) {
        uint32_t next = i + 1 < units ? chain[unit] : 0;
        free_unit(pool, unit);
        unit = next;
    }
    pool->used_count -= units;
    if (pool->needy_count > 0) {
        pool->free_count += units;
        return 0;
    }
    pool->accounts[rank].given += units;
    return units;
}

static void serve_next(struct hw_p2p_pool *pool)
{
    int rank = pool->served;
    pool->served = -1;
    for (int i = 0; i < pool->account_count && pool->needy_count > 0 && pool->served < 0; i++) {
        rank = (rank + 1) % pool->account_count;
        pool->served = pool->accounts[rank].is_needy ? rank : -1;
    }
}

static void set_needy(struct hw_p2p_pool *pool, int rank, bool is_needy)
{
    pool->needy_count += (int)is_needy - (int)pool->accounts[rank].is_needy;
    pool->accounts[rank].is_needy = is_needy;
    if (pool->served == rank || pool->served < 0)
        serve_next(pool);
}

static void set_due(struct hw_p2p_pool *pool, struct hw_p2p_account *account, bool is_due)
{
    pool->due_count += (int)is_due - (int)account->is_due;
    account->is_due = is_due;
}

static void begin_recall(struct hw_p2p_pool *pool)
{
    for (int i = 0; i < pool->account_count; i++) {
        struct hw_p2p_account *account = &pool->accounts[i];
        bool is_asked = pool->needy_count > 0 && i != pool->served && account->given > 0;
        pool->recall_count += (int)is_asked - (int)account->is_to_recall;
        account->is_to_recall = is_asked;
    }
}

static void ask_for(struct hw_p2p_pool *pool, struct hw_p2p_account *account, uint32_t units)
{
    uint32_t most = pool->unit_count - account->given;
    account->asked = units < most ? units : most;
}

void hw_p2p_pool_ask(struct hw_p2p_pool *pool, int rank, uint32_t units, bool is_needy)
{
    struct hw_p2p_account *account = &pool->accounts[rank];
    ask_for(pool, account, units);
    set_due(pool, account, !is_needy);
    if (is_needy != account->is_needy)
        set_needy(pool, rank, is_needy);
    if (is_needy && pool->free_count < units)
        begin_recall(pool);
}

/* Ahead of need nobody gets more than half of what is free, and nothing while somebody is needy. */
static uint32_t share_of(const struct hw_p2p_pool *pool, const struct hw_p2p_account *account)
{
    uint32_t ahead = pool->needy_count > 0 ? 0 : pool->free_count / 2;
    uint32_t most = account->is_needy ? pool->free_count : ahead;
    return account->asked < most ? account->asked : most;
}

static int find_due(struct hw_p2p_pool *pool)
{
    int rank = pool->next;
    while (!pool->accounts[rank].is_due)
        rank = (rank + 1) % pool->account_count;
    pool->next = (rank + 1) % pool->account_count;
    return rank;
}

bool hw_p2p_pool_grant(struct hw_p2p_pool *pool, int *rank, uint32_t *units, uint32_t *rest)
{
    if (pool->due_count > 0)
        *rank = find_due(pool);
    else if (pool->served >= 0 && (pool->free_count > 0 || pool->accounts[pool->served].asked == 0))
        *rank = pool->served; /* nothing asked for: it has all that there is */
    else
        return false;
    struct hw_p2p_account *account = &pool->accounts[*rank];
    *units = share_of(pool, account);
    *rest = account->is_needy ? account->asked - *units : 0;
    account->asked = *rest;
    account->given += *units;
    pool->free_count -= *units;
    set_due(pool, account, false);
    if (account->is_needy && *rest == 0)
        set_needy(pool, *rank, false);
    return true;
}

void hw_p2p_pool_begin_round(struct hw_p2p_pool *pool)
{
    if (pool->needy_count > 1)
        serve_next(pool);
    begin_recall(pool);
}

bool hw_p2p_pool_recall(struct hw_p2p_pool *pool, int *rank)
{
    while (pool->recall_count > 0) {
        int next = pool->next_recalled;
        struct hw_p2p_account *account = &pool->accounts[next];
        pool->next_recalled = (next + 1) % pool->account_count;
        if (!account->is_to_recall)
            continue;
        account->is_to_recall = false;
        pool->recall_count--;
        *rank = next;
        if (pool->needy_count > 0 && next != pool->served)
            return true;
    }
    return false;
}

bool hw_p2p_pool_return(struct hw_p2p_pool *pool, int rank, uint32_t units)
{
    struct hw_p2p_account *account = &pool->accounts[rank];
    if (account->given < units)
        return false;
    account->given -= units;
    pool->free_count += units;
    if (account->is_needy)
        ask_for(pool, account, account->asked + units);
    return true;
}
