/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing as three engines: one is asked about MPI_Pack and MPI_Unpack, the others about messages and about
 * MPI_Put of datatypes with gaps (HEADWAY_PACK_MESSAGES). */
#include "engines/engine.h"

#include "base/cores.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/pack/calls.h"
#include "engines/pack/learnt.h"
#include "engines/pack/message.h"
#include "engines/pack/message_calls.h"
#include "engines/pack/puts.h"
#include "engines/pack/worth.h"
#include "profile/calls/calls.h"
#include "real/parts.h"
#include "team/team.h"
#include "world/world.h"

/* More threads than processors would take turns. */
static bool is_limit_possible(void)
{
    int processors = hw_cores_allowed();
    if (hw_options.pack_threads <= processors)
        return true;
    hw_log_fatal("HEADWAY_PACK_THREADS is %lld, but this process may use %d of the processors; give at most "
                 "that, or auto",
                 (long long)hw_options.pack_threads, processors);
    return false;
}

extern const struct hw_engine hw_engine_pack_messages;

static bool is_wanted(void)
{
    bool is_auto = hw_options.pack == HW_OPTION_PACK_AUTO && hw_options.engine != HW_OPTION_ENGINE_OFF;
    return is_auto || hw_options.pack == HW_OPTION_PACK_ON;
}

static enum hw_status begin(void)
{
    if (!is_limit_possible())
        return HW_BAD_INPUT;
    hw_team_begin((unsigned)hw_options.pack_threads);
    return is_wanted() ? HW_OK : HW_DECLINED;
}

/* A profile says which messages would gain by it, where they are not packed. */
static enum hw_status decide_messages(void)
{
    bool are_packed = is_wanted() && hw_options.pack_messages != HW_OPTION_PACK_MESSAGES_NO;
    hw_pack_message_only_measures = !are_packed;
    bool is_measured = hw_profile_is_on() && hw_options.pack != HW_OPTION_PACK_OFF;
    return are_packed || is_measured ? HW_OK : HW_DECLINED;
}

static enum hw_status begin_messages(void)
{
    hw_real_parts_find();
    return decide_messages();
}

/* Only what the user forces: nothing is learnt yet of what the MPI's way takes. Windows that ghosts serve
 * have epochs of their own. */
static enum hw_status begin_puts(void)
{
    bool is_forced =
        hw_options.pack == HW_OPTION_PACK_ON && hw_options.pack_messages == HW_OPTION_PACK_MESSAGES_YES;
    return is_forced && !hw_world_has_ghosts() && !hw_profile_is_on() ? HW_OK : HW_DECLINED;
}

/* Only to be stopped. */
static enum hw_status start_messages(bool has_world, uint64_t *min_bytes)
{
    (void)has_world, (void)min_bytes;
    return decide_messages();
}

static void stop_messages(void)
{
    hw_engines_end(&hw_engine_pack_messages);
    hw_pack_message_finish();
}

static void describe(struct hw_record_facts *facts) { hw_pack_learnt_describe(facts); }

const struct hw_engine hw_engine_pack = {
    .name = "pack",
    .begin = begin,
    .pack = &hw_pack_calls,
    .describe = describe,
};

const struct hw_engine hw_engine_pack_messages = {
    .name = "pack_messages",
    .begin = begin_messages,
    .start = start_messages,
    .stop = stop_messages,
    .goes = hw_pack_message_look_after,
    .p2p = &hw_pack_message_calls,
    .is_for_derived = true,
};

const struct hw_engine hw_engine_pack_puts = {
    .name = "pack_puts",
    .begin = begin_puts,
    .rma = &hw_pack_put_operations,
    .epoch = &hw_pack_put_epochs,
};
