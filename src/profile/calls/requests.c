/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/calls/requests.h"

#include "base/atomic.h"
#include "base/visibility.h"

#include <stdlib.h>

enum { BUCKET_COUNT = 4096, SLAB_COUNT = 128 };

HW_SPARSE static struct hw_profile_request *buckets[BUCKET_COUNT];
static struct hw_profile_request *free_ones;
static atomic_uint known_count;

bool hw_requests_is_any_known(void) { return hw_atomic_load_relaxed(&known_count) != 0; }

/* Where the first request of the handle is linked; *link is NULL if there is none. */
static struct hw_profile_request **find_link(uint64_t handle)
{
    struct hw_profile_request **link = &buckets[(handle * UINT64_C(0x9E3779B97F4A7C15) >> 32) % BUCKET_COUNT];
    while (*link && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

struct hw_profile_request *hw_requests_take(uint64_t handle)
{
    struct hw_profile_request **link = find_link(handle), *request = *link;
    if (!request)
        return NULL;
    *link = request->next;
    if (request->same) {
        request->same->next = request->next;
        request->same->last = request->last;
        *link = request->same;
    }
    hw_atomic_sub_relaxed(&known_count, 1);
    return request;
}

void hw_requests_put(struct hw_profile_request *request)
{
    struct hw_profile_request **link = find_link(request->handle), *first = *link;
    request->next = request->same = NULL;
    request->last = request;
    if (first) {
        first->last->same = request;
        first->last = request;
    } else {
        *link = request;
    }
    hw_atomic_add_relaxed(&known_count, 1);
}

struct hw_profile_request *hw_requests_new(void)
{
    if (!free_ones) {
        struct hw_profile_request *slab = calloc(SLAB_COUNT, sizeof *slab);
        for (int i = 0; slab && i < SLAB_COUNT; i++)
            hw_requests_release(&slab[i]);
    }
    struct hw_profile_request *request = free_ones;
    if (request)
        free_ones = request->next;
    return request;
}

void hw_requests_release(struct hw_profile_request *request)
{
    request->next = free_ones;
    free_ones = request;
}

void hw_requests_give_up(void (*tell)(const struct hw_profile_request *request))
{
    for (int i = 0; i < BUCKET_COUNT; i++) {
        struct hw_profile_request *kept = NULL, *next;
        while (buckets[i]) {
            struct hw_profile_request *request = hw_requests_take(buckets[i]->handle);
            if (request->is_active)
                tell(request);
            request->is_active = false;
            if (!request->is_persistent) {
                hw_requests_release(request);
                continue;
            }
            request->next = kept;
            kept = request;
        }
        for (; kept; kept = next) {
            next = kept->next;
            hw_requests_put(kept);
        }
    }
}
