/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress thread as an engine: whether there is one at all, and which messages it follows. */
#include "engines/engine.h"

#include "base/atomic.h"
#include "base/cores.h"
#include "base/link.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/thread/order.h"
#include "engines/thread/overlap.h"
#include "engines/thread/thread.h"
#include "policy/outset.h"
#include "progress/gate.h"
#include "progress/inside.h"
#include "progress/postponed.h"
#include "real/constants.h"
#include "real/eager.h"
#include "real/extensions.h"
#include "real/launcher.h"
#include "real/quirks.h"

#include <sched.h>
#include <stdio.h>

#define MOST_SLOW_BITS_PER_S UINT64_C(2500000000)

static const char name[] = "thread";

static const char *off_reason;
static uint64_t min_bytes; /* that are tracked; the record tells them also of a run without a thread */

/* Said in the record, and by HEADWAY_VERBOSE. */
static void stand_back(const char *reason)
{
    off_reason = reason;
    hw_record_declined(reason);
}

/* The same where the user may have expected the engine: a line says so as well. */
static void turn_off(const char *reason, const char *advice)
{
    if (off_reason)
        return;
    stand_back(reason);
    if (hw_log_rank() <= 0) /* all processes alike */
        hw_log_warn("%s; %s", reason, advice);
}

static bool is_crowded(void)
{
    cpu_set_t allowed;
    struct hw_real_job job = hw_real_launcher_job();
    bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    struct hw_policy_cores cores = {
        .is_one_node = hw_real_launcher_is_one_node(&job),
        .has_ghosts = hw_options.ghosts.count > 0,
        .own_count = is_known ? hw_cores_count(&allowed) : 0,
    };
    cores.has_spare_cores =
        cores.is_one_node && hw_real_launcher_has_spare_cores(&job, hw_real_launcher_core_count());
    return hw_policy_is_crowded(&cores);
}

/* Slow links hide the price (cli/headway/mpi/transport.py). */
static bool is_link_slow(void)
{
    uint64_t rate = hw_link_bits_per_s();
    return rate > 0 && rate <= MOST_SLOW_BITS_PER_S;
}

static void prepare_transport(void)
{
    if (hw_options.transport == HW_OPTION_TRANSPORT_KEEP || !hw_real_may_be_told_of_directions())
        return;
    if (hw_options.transport == HW_OPTION_TRANSPORT_DUPLEX || is_link_slow())
        hw_real_tell_of_directions();
}

static void prepare(void)
{
    if (hw_options.engine == HW_OPTION_ENGINE_OFF)
        off_reason = "HEADWAY_ENGINE=off";
    else if (!hw_real_is_complete())
        turn_off("interposition is incomplete", "the progress thread stays off");
    else if (!hw_inside_knows_threads())
        turn_off("the program has taken all keys for data of threads", "the progress thread stays off");
    else if (hw_options.engine == HW_OPTION_ENGINE_AUTO && is_crowded())
        stand_back("all ranks share one node with no idle core, so a progress thread would only slow them; "
                   "HEADWAY_ENGINE=thread forces it");
    if (off_reason)
        return;
    prepare_transport();
    hw_gate_prepare();
}

/* The thread cannot take turns with calls that are no entries of ours; only MPI's own locks keep them apart.
 */
static void heed_extensions(int level)
{
    static char reason[128];
    /* At MPI_THREAD_MULTIPLE, too: it has locks of its own. */
    if (!off_reason && hw_real_has_openshmem())
        turn_off("the program uses OpenSHMEM, whose calls make progress of this MPI",
                 "the progress thread stays off");
    const char *extension = off_reason || level == HW_THREAD_MULTIPLE ? NULL : hw_real_extension_used();
    if (extension == NULL)
        return;
    snprintf(reason, sizeof reason, "the program may call %s, which is not of the MPI standard", extension);
    turn_off(reason, "the progress thread stays off, but for programs at MPI_THREAD_MULTIPLE");
}

static void joined(int level, bool is_session)
{
    hw_postponed_joined(level, is_session);
    if (!is_session || !hw_thread_is_started())
        heed_extensions(level);
}

static enum hw_status start(bool has_world, uint64_t *least_bytes)
{
    *least_bytes = min_bytes = (uint64_t)hw_options.eager_limit;
    if (min_bytes == 0) {
        min_bytes = hw_policy_min_bytes(hw_real_eager_limit(), hw_real_directions_alternate());
        *least_bytes = hw_policy_min_bytes_of_several(hw_real_eager_limit());
    }
    if (HW_REAL_ASKING_RAISES && !has_world && !off_reason) {
        stand_back("a program with sessions only cannot be progressed on this MPI");
        hw_log_info("%s; the progress thread stays off", off_reason); /* it is none of the user's making */
    }
    hw_order_begin(*least_bytes);
    return off_reason ? HW_DECLINED : hw_thread_start(has_world);
}

/* Whether the thread may ask for the program's own requests: what that may raise, and where
 * (src/mpi/errors.h). */
static void heard(const struct hw_engine_handlers *handlers)
{
    bool is_silent = handlers->world == HW_HANDLER_RETURN &&
                     (handlers->self == HW_HANDLER_RETURN || hw_real_raises_at_world());
    enum hw_request_asking asking = HW_REQUEST_ASK_NOT;
    if (!handlers->is_changing && !handlers->has_own && is_silent)
        asking = HW_REQUEST_ASK;
    else if (!handlers->is_changing && !handlers->has_own && !handlers->has_return)
        asking = HW_REQUEST_ASK_MUTED;
    hw_request_allow_asking(asking);
}

/* Where no window is open a message that is not worth following alone opens none, unless there are several.
 * Receives alone may be what a program has always posted, for whatever comes. */
static bool is_worth(enum hw_request_kind kind, uint64_t bytes, bool is_receive)
{
    if (kind != HW_REQUEST_P2P || hw_overlap_is_open())
        return true;
    uint64_t pending_bytes = hw_atomic_load_relaxed(&hw_request_pending_bytes);
    unsigned pending = hw_atomic_load_relaxed(&hw_request_pending);
    bool are_started_at_once = pending > 1 && pending_bytes == bytes; /* told as their sum */
    if (bytes / (are_started_at_once ? pending : 1) >= min_bytes)
        return true;
    return !is_receive && hw_policy_are_enough(pending_bytes, min_bytes);
}

static void posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive)
{
    if (is_worth(kind, bytes, is_receive))
        hw_thread_posted(kind, bytes, is_receive);
    else
        hw_thread_passed_over(kind, is_receive);
}

static void messaged(const struct hw_engine_message *message)
{
    if (hw_overlap_is_open())
        hw_overlap_other(message->bytes, message->is_receive);
}

static void describe(struct hw_record_facts *facts)
{
    facts->eager_limit_bytes = min_bytes;
    if (!hw_thread_is_started())
        return;
    facts->engine = name;
    hw_thread_describe(facts);
}

static void say(void)
{
    bool is_on = hw_thread_is_started();
    hw_log_note("engine %s%s, messages from %llu bytes are tracked", is_on ? name : "off: ",
                is_on        ? ""
                : off_reason ? off_reason
                             : "it could not be started",
                (unsigned long long)min_bytes);
}

const struct hw_engine hw_engine_thread = {
    .name = name,
    .prepare = prepare,
    .joined = joined,
    .start = start,
    .stop = hw_thread_stop,
    .abandon = hw_thread_abandon,
    .posts = hw_thread_posts,
    .unposted = hw_thread_unposted,
    .messaged = messaged,
    .sent = hw_thread_sent,
    .receives = hw_overlap_receives,
    .posted = posted,
    .waits = hw_thread_waits,
    .returned = hw_thread_returned,
    .blocked = hw_overlap_blocked,
    .retire = hw_thread_retire,
    .exposed = hw_thread_exposed,
    .passed = hw_thread_passed,
    .deferred = hw_thread_deferred,
    .pause = hw_thread_pause,
    .listen = hw_thread_listen,
    .heard = heard,
    .describe = describe,
    .say = say,
};
