/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing as an engine: it is asked about MPI_Pack and MPI_Unpack. */
#include "engines/engine.h"

#include "base/log.h"
#include "base/options.h"
#include "engines/pack/calls.h"
#include "engines/pack/learnt.h"
#include "team/team.h"

#include <unistd.h>

/* More threads than processors would take turns. */
static bool is_limit_possible(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (hw_options.pack_threads <= processors)
        return true;
    hw_log_fatal(
        "HEADWAY_PACK_THREADS is %lld, but this machine has %ld processors; give at most that, or auto",
        (long long)hw_options.pack_threads, processors);
    return false;
}

static enum hw_status begin(void)
{
    if (!is_limit_possible())
        return HW_BAD_INPUT;
    hw_team_limit((unsigned)hw_options.pack_threads);
    bool is_auto = hw_options.pack == HW_OPTION_PACK_AUTO && hw_options.engine != HW_OPTION_ENGINE_OFF;
    return is_auto || hw_options.pack == HW_OPTION_PACK_ON ? HW_OK : HW_DECLINED;
}

static void describe(struct hw_record_facts *facts) { hw_pack_learnt_describe(facts); }

const struct hw_engine hw_engine_pack = {
    .name = "pack",
    .begin = begin,
    .pack = &hw_pack_calls,
    .describe = describe,
};
