/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing as an engine: it is asked about MPI_Pack and MPI_Unpack. */
#include "engines/engine.h"

#include "base/options.h"
#include "engines/pack/calls.h"
#include "engines/pack/learnt.h"

static enum hw_status begin(void)
{
    bool is_auto = hw_options.pack == HW_OPTION_PACK_AUTO && hw_options.engine != HW_OPTION_ENGINE_OFF;
    return is_auto || hw_options.pack == HW_OPTION_PACK_ON ? HW_OK : HW_DECLINED;
}

static void describe(struct hw_record_facts *facts)
{
    (void)facts;
    hw_pack_learnt_describe();
}

const struct hw_engine hw_engine_pack = {
    .name = "pack",
    .begin = begin,
    .pack = &hw_pack_calls,
    .describe = describe,
};
