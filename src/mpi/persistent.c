/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent and partitioned operations (MPI-4.1 sections 3.9 and 6.13, chapter 4): known from their
 * definition, pending from each start. */
#include "base/options.h"
#include "hooks.h"
#include "mpi/track.h"
#include "real/quirks.h"

void hw_persistent_posted(MPI_Count count, MPI_Datatype datatype, int peer, bool is_receive,
                          MPI_Request *request)
{
    uint64_t bytes;
    if (!hw_track_wants_p2p(count, datatype, peer, request, &bytes))
        return;
    HW_COUNT(tracked_persistent);
    if (is_receive)
        hw_request_define_receive(*request, bytes);
    else
        hw_request_define(*request, HW_REQUEST_P2P, bytes);
}

void hw_persistent_collective_posted(MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
                                     MPI_Request *request)
{
    (void)comm;
    if (!hw_engine_is_on())
        return;
    HW_COUNT(tracked_persistent);
    hw_request_define(*request, HW_REQUEST_COLLECTIVE, hw_engines_bytes(count, datatype));
}

void hw_persistent_reduction_posted(MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                    MPI_Request *request)
{
    if (hw_track_is_callback(op))
        hw_request_define(*request, HW_REQUEST_CALLBACK, hw_engines_bytes(count, datatype));
    else
        hw_persistent_collective_posted(count, datatype, comm, request);
}

void hw_partitioned_posted(int partitions, MPI_Count count, MPI_Datatype datatype, MPI_Request *request)
{
    if (!hw_engine_is_on())
        return;
    HW_COUNT(tracked_partitioned);
    if (!HW_REAL_IS_PARTITIONED_SAFE)
        hw_engines_retire("partitioned operations are not safe against a second thread on Open MPI");
    hw_request_define(*request, HW_REQUEST_PARTITIONED,
                      (uint64_t)partitions * hw_engines_bytes(count, datatype));
}

static void started(int count, const MPI_Request *requests)
{
    struct hw_request_started started = hw_request_start(count, requests);
    if (started.count == 0)
        return;
    HW_COUNT_ADD(started, started.count);
    HW_COUNT_ADD(tracked_bytes, started.bytes);
    hw_engines_posted(HW_REQUEST_P2P, started.bytes, started.are_receives);
}

/* Receives that begin after the sends which are started next (progress/postponed.h). False if these are none;
 * what was postponed has begun then, unless these are sends. */
static bool is_postponed(int count, const MPI_Request *requests)
{
    uint64_t bytes;
    enum hw_request_direction direction = requests && !hw_inside_wants(HW_INSIDE_ASKED)
                                              ? hw_request_direction(count, requests, &bytes)
                                              : HW_REQUEST_UNKNOWN;
    if (direction == HW_REQUEST_RECEIVES && hw_postponed_restart(count, requests, bytes)) {
        started(count, requests);
        return true;
    }
    if (direction != HW_REQUEST_SENDS)
        hw_postponed_start();
    return false;
}

static inline bool is_to_wait(int count, const MPI_Request *requests)
{
    return __builtin_expect(hw_postponed_is_wanted() || hw_inside_has_postponed(), 0) &&
           is_postponed(count, requests);
}

int hw_start(MPI_Request *request)
{
    if (is_to_wait(1, request))
        return MPI_SUCCESS;
    int rc = hw_request_starting(request);
    if (rc == HW_REQUEST_PLAINLY)
        rc = hw_real.Start(request);
    if (rc == MPI_SUCCESS)
        started(1, request);
    return rc;
}

/* In the order of the array, which that of messages follows. A start leaves handles as they are. */
static int start_in_order(int count, MPI_Request requests[])
{
    int rc = MPI_SUCCESS, first = 0; /* from here on they are still to be started */
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++) {
        if (hw_request_has_start(requests[i]) && first < i) {
            rc = hw_real.Startall(i - first, &requests[first]);
            first = i;
        }
        int started_rc = rc == MPI_SUCCESS ? hw_request_starting(&requests[i]) : HW_REQUEST_PLAINLY;
        if (started_rc != HW_REQUEST_PLAINLY) {
            rc = started_rc;
            first = i + 1;
        }
    }
    return rc == MPI_SUCCESS && first < count ? hw_real.Startall(count - first, &requests[first]) : rc;
}

static int start_all(int count, MPI_Request requests[])
{
    bool is_asked = requests && count > 0 && hw_atomic_load_relaxed(&hw_request_attached) > 0;
    return is_asked ? start_in_order(count, requests) : hw_real.Startall(count, requests);
}

/* The MPI starts them in any order (MPI-4.1 section 3.9). A receive that answers before this process has
 * announced its own messages makes the two directions take turns (doc/adr/0053). */
static int start_sends_first(int count, MPI_Request requests[])
{
    enum { MOST = 64 };
    MPI_Request ordered[MOST];
    int order[MOST];
    if (count > MOST || !hw_request_sends_first(count, requests, order))
        return start_all(count, requests);
    for (int i = 0; i < count; i++)
        ordered[i] = requests[order[i]];
    int rc = start_all(count, ordered);
    for (int i = 0; i < count; i++)
        requests[order[i]] = ordered[i];
    return rc;
}

int hw_startall(int count, MPI_Request requests[])
{
    if (is_to_wait(count, requests))
        return MPI_SUCCESS;
    bool may_gain = count > 1 && requests && hw_request_is_any_known() &&
                    hw_options.postpone != HW_OPTION_POSTPONE_OFF && hw_real_answers_hold_up();
    int rc = may_gain ? start_sends_first(count, requests) : start_all(count, requests);
    if (rc == MPI_SUCCESS)
        started(count, requests);
    return rc;
}
