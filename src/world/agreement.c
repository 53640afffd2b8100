/* SPDX-License-Identifier: BSD-3-Clause */
#include "world/agreement.h"

#include "base/log.h"

#include <stddef.h>

struct hw_world_terms hw_world_terms_own(void)
{
    return (struct hw_world_terms){.ghosts = hw_options.ghosts,
                                   .redirect = (int32_t)hw_options.redirect,
                                   .trigger = (int32_t)hw_options.trigger,
                                   .adapt = (int32_t)hw_options.adapt,
                                   .p2p = (int32_t)hw_options.p2p,
                                   .coll = (int32_t)hw_options.coll,
                                   .staging_bytes = hw_options.staging_bytes};
}

static struct hw_options options_of(const struct hw_world_terms *terms)
{
    struct hw_options options = hw_options_default;
    options.ghosts = terms->ghosts;
    options.redirect = (enum hw_option_redirect)terms->redirect;
    options.trigger = (enum hw_option_trigger)terms->trigger;
    options.adapt = (enum hw_option_adapt)terms->adapt;
    options.p2p = (enum hw_option_p2p)terms->p2p;
    options.coll = (enum hw_option_coll)terms->coll;
    options.staging_bytes = terms->staging_bytes;
    return options;
}

static void refuse(size_t offset, const struct hw_world_terms *first, const struct hw_world_terms *other,
                   int process)
{
    const struct hw_option_entry *entry = hw_option_of(offset);
    struct hw_options left = options_of(first), right = options_of(other);
    char value[64], other_value[64];
    hw_option_format(entry, &left, value, sizeof value);
    hw_option_format(entry, &right, other_value, sizeof other_value);
    hw_log_error("%s=%s at process 0, but %s=%s at process %d; start all processes with the same value",
                 entry->name, value, entry->name, other_value, process);
}

static bool is_redirect_alike(int32_t left, int32_t right, bool is_auto_on)
{
    return left == right || (is_auto_on && left != HW_OPTION_REDIRECT_OFF && right != HW_OPTION_REDIRECT_OFF);
}

/* Who may, takes part in making what helpers need. */
static bool may_be_helped(int32_t trigger)
{
    return trigger == HW_OPTION_TRIGGER_HELPER || trigger == HW_OPTION_TRIGGER_AUTO;
}

enum hw_status hw_world_terms_compare(const struct hw_world_terms *first, const struct hw_world_terms *other,
                                      int process, bool is_auto_on, bool is_speaker)
{
    size_t differing;
    if (first->ghosts.count != other->ghosts.count || first->ghosts.per != other->ghosts.per)
        differing = offsetof(struct hw_options, ghosts);
    else if (!is_redirect_alike(first->redirect, other->redirect, is_auto_on))
        differing = offsetof(struct hw_options, redirect);
    else if (may_be_helped(first->trigger) != may_be_helped(other->trigger))
        differing = offsetof(struct hw_options, trigger);
    else if (first->adapt != other->adapt)
        differing = offsetof(struct hw_options, adapt);
    else if (first->p2p != other->p2p)
        differing = offsetof(struct hw_options, p2p);
    else if (first->coll != other->coll)
        differing = offsetof(struct hw_options, coll);
    else if (first->p2p != HW_OPTION_P2P_THREAD && first->staging_bytes != other->staging_bytes)
        differing = offsetof(struct hw_options, staging_bytes);
    else
        return HW_OK;
    if (is_speaker)
        refuse(differing, first, other, process);
    return HW_BAD_INPUT;
}
