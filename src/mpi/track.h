/* SPDX-License-Identifier: BSD-3-Clause */
/* hw_track_* is the one step between a posting hook and the tracker: is this operation worth following? */
#ifndef HW_MPI_TRACK_H
#define HW_MPI_TRACK_H

#include "engines/engine.h"
#include "objects/datatype/plan.h"
#include "profile/record/counters.h"
#include "progress/inside.h"
#include "progress/postponed.h"
#include "real/constants.h"
#include "real/op.h"
#include "real/quirks.h"
#include "real/real.h"
#include "real/type_size.h"

/* True if the message is surely too small for anybody, found without any call: the entry then needs no
 * hook, and nothing of the call has to be kept for afterwards. False where the hook has to look. */
static inline bool hw_track_is_small(MPI_Count count, MPI_Datatype type)
{
    uint64_t size;
    if (__builtin_expect(hw_inside_has_postponed(), 0))
        return false; /* it must not overtake what is postponed */
    if (__builtin_expect(hw_real_type_is_basic(type, &size), 1))
        return (uint64_t)count * size < hw_engines_hook_bytes;
    return (hw_real_type_is_kept(type, &size) && (uint64_t)count * size < hw_engines_hook_bytes_derived) ||
           hw_engines_hook_bytes_derived == UINT64_MAX;
}

/* Of a message that the MPI has accepted. */
static inline uint64_t hw_track_bytes(MPI_Count count, MPI_Datatype type)
{
    return count > 0 ? (uint64_t)count * hw_real_type_size_keep(type) : 0;
}

/* Whether engines want to be told of such a message, and its *bytes if they do. */
static inline bool hw_track_wants(MPI_Count count, MPI_Datatype type, uint64_t *bytes)
{
    if (hw_engines_min_bytes == UINT64_MAX)
        return false;
    *bytes = hw_track_bytes(count, type);
    return *bytes >= hw_engines_min_bytes;
}

/* The same where the size is known without a call: of a datatype that another thread may have freed. */
static inline bool hw_track_wants_known(MPI_Count count, MPI_Datatype type, uint64_t *bytes)
{
    uint64_t size;
    *bytes = count > 0 && hw_real_type_is_known(type, &size) ? (uint64_t)count * size : 0;
    return *bytes >= hw_engines_min_bytes;
}

/* True if a message is surely nothing for an engine that is asked about derived datatypes only: of a basic
 * one, of one without gaps that has been used before, or of little. */
static inline bool hw_track_is_plain(MPI_Count count, MPI_Datatype type)
{
    uint64_t size;
    if (hw_real_type_is_basic(type, &size) ||
        (hw_real_type_is_kept(type, &size) && (uint64_t)count * size < HW_ENGINES_PACK_BYTES))
        return true;
    struct hw_plan *plan = hw_plan_find(type);
    return plan && ((uint64_t)count * (uint64_t)hw_plan_size(plan) < HW_ENGINES_PACK_BYTES ||
                    hw_plan_state(plan) == HW_PLAN_NONE);
}

/* True if an engine may take a message. What is postponed begins before, if messages go to ghosts: they are
 * to see receives as the program posts them. Who packs looks at nothing but the message. */
static inline bool hw_track_asks(MPI_Count count, MPI_Datatype type)
{
    if (!hw_inside_wants(HW_INSIDE_ASKED))
        return hw_inside_wants(HW_INSIDE_ASKED_DERIVED) && !hw_track_is_plain(count, type);
    hw_postponed_start();
    return true;
}

/* True if a blocking call with this datatype is not just forwarded. */
static inline bool hw_track_watches(MPI_Count count, MPI_Datatype type)
{
    if (__builtin_expect(!hw_inside_is_watched(), 1))
        return false;
    return hw_inside_wants((uint8_t)~HW_INSIDE_ASKED_DERIVED) || !hw_track_is_plain(count, type);
}

/* True if the packing of a call is surely not worth a question: of a basic datatype, of little, or of a
 * datatype without gaps that has been packed before. */
#define HW_PACK_IS_PLAIN(datatype, size, position)                                                           \
    ({                                                                                                       \
        uint64_t hw_bytes;                                                                                   \
        hw_real_type_is_basic(datatype, &hw_bytes) ||                                                        \
            ((position) && (MPI_Count)(size) - *(position) < HW_ENGINES_PACK_BYTES) ||                       \
            hw_plan_is_none(datatype);                                                                       \
    })

/* True if progress of a reduction runs code of the program, so that nobody else may make it. */
static inline bool hw_track_is_callback(MPI_Op op)
{
    return hw_engine_is_on() && !hw_real_op_is_predefined(op);
}

/* Before a post, which has not been accepted yet: tells engines that time calls that something is posted,
 * since the time in it is no computation. Not of what is surely none or too small. Returns whether they were
 * told. */
static inline bool hw_track_posts(MPI_Count count, MPI_Datatype type, int peer)
{
    uint64_t size;
    if (__builtin_expect(!hw_inside_wants(HW_INSIDE_TIMES), 1) || peer == HW_PROC_NULL)
        return false;
    if (hw_real_type_is_known(type, &size) && (uint64_t)count * size < hw_engines_min_bytes)
        return false;
    HW_ENGINES_TELL(posts);
    return true;
}

/* And after one that is not followed. */
static inline void hw_track_unposted(bool is_told)
{
    if (__builtin_expect(is_told, 0))
        HW_ENGINES_TELL(unposted);
}

/* In HW_BLOCKING: the value of `call`, which sends a message. */
#define HW_SENDING(count, type, peer, call)                                                                  \
    ({                                                                                                       \
        __auto_type hw_sent = (call);                                                                        \
        uint64_t hw_sent_bytes;                                                                              \
        if (__builtin_expect(hw_began_ns != 0, 0) && hw_sent == MPI_SUCCESS && (peer) != HW_PROC_NULL &&     \
            hw_track_wants_known(count, type, &hw_sent_bytes))                                               \
            HW_ENGINES_TELL(sent, hw_sent_bytes, hw_began_ns);                                               \
        hw_sent;                                                                                             \
    })

/* Likewise, which receives one. */
#define HW_RECEIVING(count, type, peer, call)                                                                \
    ({                                                                                                       \
        uint64_t hw_received_bytes;                                                                          \
        if (__builtin_expect(hw_began_ns != 0, 0) && (peer) != HW_PROC_NULL &&                               \
            hw_track_wants_known(count, type, &hw_received_bytes))                                           \
            HW_ENGINES_TELL(receives, hw_received_bytes, hw_began_ns);                                       \
        (call);                                                                                              \
    })

/* After a persistent operation was made (persistent.c). */
void hw_persistent_posted(MPI_Count count, MPI_Datatype datatype, int peer, bool is_receive,
                          MPI_Request *request);

/* After a successful point-to-point post: whether it is followed, and its *bytes. Nothing travels to or from
 * MPI_PROC_NULL, where programs post at the edge of a grid as large as elsewhere. */
static inline bool hw_track_wants_p2p(MPI_Count count, MPI_Datatype type, int peer,
                                      const MPI_Request *request, uint64_t *bytes)
{
    if (peer != HW_PROC_NULL && hw_track_wants(count, type, bytes))
        return true;
    hw_request_leave_out(*request);
    return false;
}

/* And follows it. */
static inline void hw_track_p2p(uint64_t bytes, bool is_receive, const MPI_Request *request)
{
    HW_COUNT(tracked_p2p);
    hw_engines_post(HW_REQUEST_P2P, bytes, is_receive, *request);
}

#endif
