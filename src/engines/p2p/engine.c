/* SPDX-License-Identifier: BSD-3-Clause */
/* Point-to-point messages moved by ghosts (papers/000; doc/adr/0044): the MPI matches a ticket, the ghosts
 * move the data. Only with HEADWAY_P2P=ghost or auto, and if all processes of the job can (ghost/service.h).
 */
#include "engines/engine.h"

#include "base/log.h"
#include "base/options.h"
#include "engines/p2p/ghost/service.h"
#include "engines/p2p/shared/opened.h"
#include "engines/p2p/user/hearers.h"
#include "engines/p2p/user/near.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/persistent.h"
#include "engines/p2p/user/receiving.h"
#include "engines/p2p/user/seal.h"
#include "engines/p2p/user/sealed.h"
#include "engines/p2p/user/sealed_calls.h"
#include "engines/p2p/user/sealed_requests.h"
#include "engines/p2p/user/transfer.h"
#include "engines/p2p/user/turns.h"
#include "ghost/offload.h"
#include "objects/request.h"
#include "progress/inside.h"
#include "real/constants.h"
#include "world/members.h"

#include <stddef.h>

extern const struct hw_engine hw_engine_p2p;

static bool has_begun;
static bool has_moved; /* it had begun, or has: for the record, which is also written when all has ended */

static void prepare(void)
{
    if (hw_options.p2p != HW_OPTION_P2P_THREAD && hw_options.ghosts.count > 0)
        hw_p2p_service_add();
}

static void joined(int level, bool is_session)
{
    (void)is_session;
    if (level >= HW_THREAD_MULTIPLE)
        hw_p2p_turns_take();
}

static enum hw_status begin(void)
{
    if (hw_options.p2p == HW_OPTION_P2P_THREAD)
        return HW_DECLINED;
    if (!hw_p2p_opened.is_open) {
        if (hw_p2p_opened.reason)
            hw_record_declined(hw_p2p_opened.reason);
        return HW_DECLINED;
    }
    if (!hw_p2p_own_open() ||
        !hw_p2p_transfers_open(hw_ghost_offload_min_bytes(), hw_options.p2p == HW_OPTION_P2P_AUTO)) {
        hw_log_fatal("no memory to have messages moved by ghosts; run without HEADWAY_P2P");
        return HW_NOMEM;
    }
    hw_p2p_near_open();
    hw_p2p_sealed_open();
    hw_p2p_seals_open(!hw_p2p_takes_turns() && !hw_p2p_opened.is_arena_only &&
                          hw_options.p2p == HW_OPTION_P2P_GHOST, /* not auto: no call may decline there */
                      hw_ghost_offload_min_bytes());
    has_begun = has_moved = true;
    return HW_OK;
}

/* Only to be stopped. */
static enum hw_status start(bool has_world, uint64_t *least)
{
    (void)has_world, (void)least;
    return has_begun ? HW_OK : HW_DECLINED;
}

static void look_after(void)
{
    hw_p2p_transfers_look_after();
    hw_p2p_receiving_look_after();
    hw_p2p_sealed_requests_look_after();
}

/* Their errors are raised at its handler as it is now. */
static void comm_frees(MPI_Comm comm)
{
    if (hw_atomic_load_relaxed(&hw_request_attached) == 0 && !hw_inside_wants(HW_INSIDE_GOES_MOVED))
        return;
    hw_p2p_hearers_comm_frees(comm);
}

static void refused(MPI_Count count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, bool is_receive)
{
    const struct hw_p2p_part part = {.count = count, .type = datatype, .peer = peer, .tag = tag};
    struct hw_p2p_seal *seal = hw_p2p_seals_are_open && comm != HW_COMM_NULL ? hw_p2p_seal_for(comm) : NULL;
    if (seal)
        hw_p2p_sealed_refused(seal, &part, is_receive);
}

static void stop(void)
{
    hw_engines_end(&hw_engine_p2p);
    look_after();
    hw_p2p_transfers_close();
    hw_p2p_near_close();
    hw_p2p_persistent_close();
    hw_p2p_sealed_requests_close();
    hw_p2p_sealed_close();
    hw_p2p_seals_close();
    hw_world_members_close();
    hw_p2p_hearers_close();
    hw_p2p_own_close();
    has_begun = false;
}

static void say(void)
{
    if (has_begun)
        hw_log_note("ghosts move messages of %llu bytes and more between nodes%s",
                    (unsigned long long)hw_ghost_offload_min_bytes(),
                    hw_p2p_opened.neighbours ? ", and receivers read such messages within the node" : "");
    else if (hw_p2p_opened.reason)
        hw_log_note("HEADWAY_P2P=%s: the MPI moves all messages, because %s",
                    hw_options.p2p == HW_OPTION_P2P_AUTO ? "auto" : "ghost", hw_p2p_opened.reason);
}

static void describe(struct hw_record_facts *facts)
{
    bool is_asked = hw_options.p2p != HW_OPTION_P2P_THREAD;
    facts->p2p = has_moved ? "ghost" : "thread";
    if (!is_asked || has_moved)
        facts->p2p_reason = NULL;
    else if (hw_options.ghosts.count == 0)
        facts->p2p_reason = "there are no ghosts";
    else
        facts->p2p_reason = hw_p2p_opened.reason;
}

const struct hw_engine hw_engine_p2p = {
    .name = "p2p",
    .prepare = prepare,
    .joined = joined,
    .begin = begin,
    .start = start,
    .stop = stop,
    .p2p = &hw_p2p_sealed_calls,
    .communicator = &hw_p2p_communicator_calls,
    .goes = look_after,
    .comm_frees = comm_frees,
    .refused = refused,
    .describe = describe,
    .say = say,
};
