/* The one step between a posting hook and the tracker: is this operation worth following? */
#ifndef HW_MPI_TRACK_H
#define HW_MPI_TRACK_H

#include "base/log.h"
#include "base/visibility.h"
#include "engines/engine.h"
#include "objects/request.h"
#include "profile/counters.h"
#include "real/constants.h"
#include "real/op.h"
#include "real/quirks.h"
#include "real/real.h"
#include "real/type_size.h"

/* The smallest point-to-point message that is tracked; UINT64_MAX while no engine is on, so that the size
 * test is the only test a small message meets. Written in MPI_Init* and MPI_Finalize. */
extern HW_HIDDEN uint64_t hw_track_min_bytes;

static inline uint64_t hw_track_bytes(MPI_Count count, MPI_Datatype type)
{
    return count > 0 ? (uint64_t)count * hw_real_type_size(type) : 0;
}

static inline bool hw_track_is_large(MPI_Count count, MPI_Datatype type)
{
    return __builtin_expect(hw_track_min_bytes != UINT64_MAX, 1) &&
           __builtin_expect(hw_track_bytes(count, type) >= hw_track_min_bytes, 0);
}

/* True if the message is surely too small to be tracked, found without any call: the entry then needs no
 * hook, and nothing of the call has to be kept for afterwards. False where the hook has to look. */
static inline bool hw_track_is_small(MPI_Count count, MPI_Datatype type)
{
    uint64_t size;
    return __builtin_expect(hw_real_type_is_basic(type, &size), 1) &&
           (uint64_t)count * size < hw_track_min_bytes;
}

/* Enters a request that was just posted, and tells the engine. Call only while an engine is on. */
static inline void hw_track_posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive,
                                   MPI_Request request)
{
    HW_COUNT_ADD(tracked_bytes, bytes);
    if (hw_request_post(request, kind, bytes))
        hw_engine_active->posted(kind, bytes, is_receive);
}

/* True if progress of a reduction runs code of the program, so that nobody else may make it. */
static inline bool hw_track_is_callback(MPI_Op op)
{
    return hw_engine_is_on() && !hw_real_op_is_predefined(op);
}

/* Before the first operation of a kind that this MPI cannot have progressed by another thread. */
static inline void hw_track_retire(const char *reason)
{
    if (hw_track_min_bytes != UINT64_MAX) {
        hw_record_declined(reason);
        hw_log_info("%s; the progress thread is off from here on", reason);
    }
    hw_track_min_bytes = UINT64_MAX;
    hw_engine_active->retire();
}

/* After a successful point-to-point post. Nothing travels to or from MPI_PROC_NULL, where programs post at
 * the edge of a grid as large as elsewhere. */
static inline void hw_track_p2p(MPI_Count count, MPI_Datatype type, int peer, bool is_receive,
                                const MPI_Request *request)
{
    if (!hw_track_is_large(count, type) || peer == HW_PROC_NULL)
        return;
    HW_COUNT(tracked_p2p);
    hw_track_posted(HW_REQUEST_P2P, hw_track_bytes(count, type), is_receive, *request);
}

#endif
