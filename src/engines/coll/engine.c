/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives made by ghosts (doc/adr/0050). Only with HEADWAY_COLL=ghost, and if all processes
 * of the job can (ghost/service.c). */
#include "engines/engine.h"

#include "base/log.h"
#include "base/options.h"
#include "engines/coll/ghost/service.h"
#include "engines/coll/shared/opened.h"
#include "engines/coll/user/calls.h"
#include "engines/coll/user/comms.h"
#include "real/constants.h"

#include <stddef.h>

extern const struct hw_engine hw_engine_coll;

static bool has_begun;

static bool is_wanted(void) { return hw_options.coll == HW_OPTION_COLL_GHOST; }

static void prepare(void)
{
    if (is_wanted() && hw_options.ghosts.count > 0)
        hw_coll_service_add();
}

static void joined(int level, bool is_session)
{
    (void)is_session;
    if (is_wanted() && level >= HW_THREAD_MULTIPLE)
        hw_coll_service_decline_threads();
}

static enum hw_status begin(void)
{
    if (!is_wanted())
        return HW_DECLINED;
    if (!hw_coll_opened.is_open) {
        if (hw_coll_opened.reason)
            hw_record_declined(hw_coll_opened.reason);
        return HW_DECLINED;
    }
    if (!hw_coll_comms_open()) {
        hw_log_fatal("no memory to have collectives made by ghosts; run without HEADWAY_COLL");
        return HW_NOMEM;
    }
    has_begun = true;
    return HW_OK;
}

/* Only to be stopped. */
static enum hw_status start(bool has_world, uint64_t *least)
{
    (void)has_world, (void)least;
    return has_begun ? HW_OK : HW_DECLINED;
}

static void stop(void)
{
    hw_engines_end(&hw_engine_coll);
    hw_coll_comms_close();
    has_begun = false;
}

static void say(void)
{
    if (has_begun)
        hw_log_note("ghosts make nonblocking collectives of %llu bytes and more",
                    (unsigned long long)hw_coll_opened.min_bytes);
    else if (hw_coll_opened.reason)
        hw_log_note("HEADWAY_COLL=ghost: the MPI makes all collectives; %s", hw_coll_opened.reason);
}

const struct hw_engine hw_engine_coll = {
    .name = "coll",
    .prepare = prepare,
    .joined = joined,
    .begin = begin,
    .start = start,
    .stop = stop,
    .collective = &hw_coll_calls,
    .communicator = &hw_coll_communicator_calls,
    .say = say,
};
