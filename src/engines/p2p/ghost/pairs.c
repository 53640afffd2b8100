/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/pairs.h"

#include <stdlib.h>

enum { BUCKETS = 1024 };

/* In the order in which they came. */
struct list {
    struct hw_p2p_link *first, **last;
};
static struct bucket {
    struct list offered, wanted;
} * buckets;

bool hw_p2p_pairs_open(void)
{
    buckets = calloc(BUCKETS, sizeof *buckets);
    for (int i = 0; buckets && i < BUCKETS; i++) {
        buckets[i].offered.last = &buckets[i].offered.first;
        buckets[i].wanted.last = &buckets[i].wanted.first;
    }
    return buckets != NULL;
}

static void drop(struct list *list)
{
    for (struct hw_p2p_link *link; (link = list->first) != NULL;) {
        list->first = link->next;
        free(link);
    }
}

void hw_p2p_pairs_close(void)
{
    for (int i = 0; buckets && i < BUCKETS; i++) {
        drop(&buckets[i].offered);
        drop(&buckets[i].wanted);
    }
    free(buckets);
    buckets = NULL;
}

static struct bucket *bucket_of(const struct hw_p2p_key *key)
{
    uint64_t hash = key->comm;
    hash = (hash ^ (uint32_t)key->from) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (uint32_t)key->to) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ (uint32_t)key->tag) * UINT64_C(0x9E3779B97F4A7C15);
    return &buckets[(hash >> 32) % BUCKETS];
}

static bool is_same(const struct hw_p2p_key *one, const struct hw_p2p_key *other)
{
    return one->comm == other->comm && one->from == other->from && one->to == other->to &&
           one->tag == other->tag;
}

/* Where the first of a key is linked; NULL: there is none. */
static struct hw_p2p_link **find(struct list *list, const struct hw_p2p_key *key)
{
    for (struct hw_p2p_link **link = &list->first; *link; link = &(*link)->next)
        if (is_same(&(*link)->key, key))
            return link;
    return NULL;
}

static void append(struct list *list, struct hw_p2p_link *link)
{
    link->next = NULL;
    *list->last = link;
    list->last = &link->next;
}

static struct hw_p2p_link *take(struct list *list, struct hw_p2p_link **link)
{
    struct hw_p2p_link *taken = link ? *link : NULL;
    if (taken == NULL)
        return NULL;
    *link = taken->next;
    if (*link == NULL)
        list->last = link;
    return taken;
}

struct hw_p2p_wanted *hw_p2p_pairs_offer(struct hw_p2p_offered *offered)
{
    struct bucket *bucket = bucket_of(&offered->link.key);
    struct hw_p2p_link *found = take(&bucket->wanted, find(&bucket->wanted, &offered->link.key));
    if (found == NULL)
        append(&bucket->offered, &offered->link);
    return (struct hw_p2p_wanted *)found;
}

struct hw_p2p_offered *hw_p2p_pairs_want(struct hw_p2p_wanted *wanted)
{
    struct bucket *bucket = bucket_of(&wanted->link.key);
    struct hw_p2p_link *found = take(&bucket->offered, find(&bucket->offered, &wanted->link.key));
    if (found == NULL)
        append(&bucket->wanted, &wanted->link);
    return (struct hw_p2p_offered *)found;
}

const struct hw_p2p_offered *hw_p2p_pairs_look(const struct hw_p2p_key *key)
{
    struct hw_p2p_link **link = find(&bucket_of(key)->offered, key);
    return link ? (const struct hw_p2p_offered *)*link : NULL;
}

void hw_p2p_pairs_look_over(bool (*look)(struct hw_p2p_offered *))
{
    static unsigned next;
    bool wants_more = true;
    for (int i = 0; i < BUCKETS && wants_more; i++) {
        struct list *list = &buckets[next++ % BUCKETS].offered;
        for (struct hw_p2p_link *link = list->first; link; link = link->next)
            if (*find(list, &link->key) == link)
                wants_more = look((struct hw_p2p_offered *)link) && wants_more;
    }
}

struct hw_p2p_offered *hw_p2p_pairs_claim(const struct hw_p2p_key *key)
{
    struct list *list = &bucket_of(key)->offered;
    return (struct hw_p2p_offered *)take(list, find(list, key));
}

struct hw_p2p_offered *hw_p2p_pairs_withdraw_offer(const struct hw_p2p_key *key, int place, uint64_t number)
{
    struct list *list = &bucket_of(key)->offered;
    for (struct hw_p2p_link **link = &list->first; *link; link = &(*link)->next) {
        const struct hw_p2p_offered *offered = (const struct hw_p2p_offered *)*link;
        if (offered->place == place && offered->number == number)
            return (struct hw_p2p_offered *)take(list, link);
    }
    return NULL;
}

struct hw_p2p_wanted *hw_p2p_pairs_withdraw_want(const struct hw_p2p_key *key, uint64_t operation)
{
    struct list *list = &bucket_of(key)->wanted;
    for (struct hw_p2p_link **link = &list->first; *link; link = &(*link)->next) {
        const struct hw_p2p_wanted *wanted = (const struct hw_p2p_wanted *)*link;
        if (is_same(&wanted->link.key, key) && wanted->operation == operation)
            return (struct hw_p2p_wanted *)take(list, link);
    }
    return NULL;
}
