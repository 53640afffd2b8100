/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/service.h"

#include "base/options.h"
#include "real/quirks.h"

#include <stddef.h>

enum { SERVICES_MAX = 8 };

static const struct hw_ghost_service *services[SERVICES_MAX];
static int service_count;

static bool has_tag(const struct hw_ghost_service *service, int tag)
{
    return tag >= service->tags.first && tag < service->tags.first + service->tags.count;
}

static bool overlap(const struct hw_ghost_service *one, const struct hw_ghost_service *other)
{
    return one->tags.count > 0 && other->tags.count > 0 &&
           (has_tag(one, other->tags.first) || has_tag(other, one->tags.first));
}

enum hw_status hw_ghost_service_add(const struct hw_ghost_service *service)
{
    int behind = service->tags.first + service->tags.count;
    if (service->tags.count < 0 || (service->tags.count > 0 && service->obey == NULL) ||
        (service->tags.count > 0 &&
         (service->tags.first <= HW_GHOST_TAG_NEVER || behind > HW_GHOST_TAG_GRANT_FIRST)))
        return HW_BAD_INPUT;
    for (int i = 0; i < service_count; i++)
        if (overlap(services[i], service))
            return HW_BAD_INPUT;
    if (service_count == SERVICES_MAX)
        return HW_NOMEM;
    services[service_count++] = service;
    return HW_OK;
}

const struct hw_ghost_service *hw_ghost_service_at(int index)
{
    return index < service_count ? services[index] : NULL;
}

/* A helper alone. */
bool hw_ghost_services_are_dispensable(void)
{
    return hw_real_ends_without_dead() && hw_options.redirect == HW_OPTION_REDIRECT_OFF &&
           hw_options.p2p == HW_OPTION_P2P_THREAD && hw_options.coll == HW_OPTION_COLL_THREAD;
}

void hw_ghost_services_lost(void)
{
    for (int i = 0; i < service_count; i++)
        if (services[i]->lost)
            services[i]->lost();
}

bool hw_ghost_services_were_lost(void)
{
    bool is_any = false;
    for (int i = 0; i < service_count; i++)
        is_any = (services[i]->was_lost && services[i]->was_lost()) || is_any;
    return is_any;
}

bool hw_ghost_services_obey(const struct hw_ghost_command *command, int origin)
{
    for (int i = 0; i < service_count; i++) {
        if (has_tag(services[i], command->tag)) {
            services[i]->obey(command, origin);
            return true;
        }
    }
    return false;
}

bool hw_ghost_services_poll(void)
{
    static int first;
    bool has_done = false;
    for (int i = 0; i < service_count; i++) {
        const struct hw_ghost_service *service = services[(first + i) % service_count];
        if (service->poll)
            has_done = service->poll() || has_done;
    }
    if (service_count > 0)
        first = (first + 1) % service_count;
    return has_done;
}

bool hw_ghost_services_have_work(void)
{
    for (int i = 0; i < service_count; i++)
        if (services[i]->has_work && services[i]->has_work())
            return true;
    return false;
}

bool hw_ghost_services_need_net(void)
{
    for (int i = 0; i < service_count; i++)
        if (services[i]->needs_net && services[i]->needs_net())
            return true;
    return false;
}

uint64_t hw_ghost_services_asleep(void)
{
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < service_count; i++) {
        uint64_t ns = services[i]->asleep ? services[i]->asleep() : UINT64_MAX;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return least_ns;
}
