/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking point-to-point (MPI-4.1 section 3.7): the real call, then the size test, unless an engine takes
 * the message. Persistent ones are made in the same way, and pending from each start (persistent.c). */
#include "hooks.h"
#include "mpi/errors.h"
#include "mpi/track.h"

/* What follows the real call in every hook; hands its result on. is_told: of hw_track_posts. */
static inline int tracked(int rc, bool is_told, MPI_Count count, MPI_Datatype datatype, int peer,
                          bool is_receive, const MPI_Request *request)
{
    uint64_t bytes;
    if (hw_real_is_made(rc, request) && hw_track_wants_p2p(count, datatype, peer, request, &bytes))
        hw_track_p2p(bytes, is_receive, request);
    else
        hw_track_unposted(is_told);
    return rc;
}

/* Before anybody is told that something was posted, which may take the core from the program: others wait for
 * what this tells them. */
static inline void tell_message(int peer, int tag, MPI_Comm comm, uint64_t bytes, bool is_receive)
{
    HW_ENGINES_TELL(messaged,
                    &(struct hw_engine_message){
                        .comm = comm, .peer = peer, .tag = tag, .bytes = bytes, .is_receive = is_receive});
}

/* The same of what is one message, sent or received. */
static inline int messaged(int rc, bool is_told, MPI_Count count, MPI_Datatype datatype, int peer, int tag,
                           MPI_Comm comm, bool is_receive, const MPI_Request *request)
{
    uint64_t bytes;
    if (!hw_real_is_made(rc, request)) {
        hw_engines_refused(count, datatype, peer, tag, comm, is_receive);
        hw_track_unposted(is_told);
        return rc;
    }
    if (!hw_track_wants_p2p(count, datatype, peer, request, &bytes)) {
        hw_track_unposted(is_told);
        return rc;
    }
    tell_message(peer, tag, comm, bytes, is_receive);
    hw_track_p2p(bytes, is_receive, request);
    return rc;
}

int hw_isend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
             MPI_Request *request)
{
    int rc = !hw_track_asks(count, datatype) ? HW_DECLINES
                                             : hw_ask_isend(buf, count, datatype, dest, tag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    bool is_told = hw_track_posts(count, datatype, dest);
    return messaged(hw_real_isend(buf, count, datatype, dest, tag, comm, request), is_told, count, datatype,
                    dest, tag, comm, false, request);
}

int hw_issend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int rc = !hw_track_asks(count, datatype) ? HW_DECLINES
                                             : hw_ask_issend(buf, count, datatype, dest, tag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    bool is_told = hw_track_posts(count, datatype, dest);
    return messaged(hw_real_issend(buf, count, datatype, dest, tag, comm, request), is_told, count, datatype,
                    dest, tag, comm, false, request);
}

int hw_irsend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int rc = !hw_track_asks(count, datatype) ? HW_DECLINES
                                             : hw_ask_irsend(buf, count, datatype, dest, tag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    bool is_told = hw_track_posts(count, datatype, dest);
    return messaged(hw_real_irsend(buf, count, datatype, dest, tag, comm, request), is_told, count, datatype,
                    dest, tag, comm, false, request);
}

int hw_ibsend(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int rc = hw_ask_ibsend(buf, count, datatype, dest, tag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    bool is_told = hw_track_posts(count, datatype, dest);
    rc = hw_real_ibsend(buf, count, datatype, dest, tag, comm, request);
    if (!hw_real_is_made(rc, request))
        hw_engines_refused(count, datatype, dest, tag, comm, false);
    return tracked(rc, is_told, count, datatype, dest, false, request);
}

/* Starts what is postponed where a receive that is posted now might take its message: receives match in the
 * order of their posts. */
static void start_before(int source, int tag, MPI_Comm comm)
{
    if (hw_inside_has_postponed() && hw_postponed_is_rival(source, tag, comm))
        hw_postponed_start();
}

/* The same, of a receive that begins after the sends that follow it: posted now, as the program sees it.
 * False if it is none; nothing was done then. */
static bool is_postponed(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                         MPI_Comm comm, MPI_Request *request, int *rc)
{
    uint64_t bytes;
    if (!hw_track_wants_known(count, datatype, &bytes) || !hw_postponed_is_possible(source, bytes) ||
        !hw_errors_are_alike(comm) || !hw_request_reserve()) {
        start_before(source, tag, comm);
        return false;
    }
    *rc = hw_postponed_receive(buf, count, datatype, source, tag, comm, request);
    if (*rc != MPI_SUCCESS) {
        hw_request_give_back();
        return true;
    }
    tell_message(source, tag, comm, bytes, true);
    HW_COUNT(tracked_p2p);
    HW_COUNT_ADD(tracked_bytes, bytes);
    hw_request_attach(*request,
                      &(struct hw_request_attachment){.bytes = bytes, .is_followed = true, .is_once = true});
    hw_engines_posted(HW_REQUEST_P2P, bytes, true);
    return true;
}

int hw_irecv(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Request *request)
{
    int rc = HW_DECLINES;
    if (hw_track_asks(count, datatype)) {
        start_before(source, tag, comm);
        rc = hw_ask_irecv(buf, count, datatype, source, tag, comm, request);
    }
    if (rc != HW_DECLINES)
        return rc;
    bool is_told = hw_track_posts(count, datatype, source);
    if (__builtin_expect(hw_postponed_is_wanted() || hw_inside_has_postponed(), 0) &&
        is_postponed(buf, count, datatype, source, tag, comm, request, &rc)) {
        if (rc != MPI_SUCCESS)
            hw_track_unposted(is_told);
        return rc;
    }
    return messaged(hw_real_irecv(buf, count, datatype, source, tag, comm, request), is_told, count, datatype,
                    source, tag, comm, true, request);
}

int hw_imrecv(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    int rc =
        !hw_track_asks(count, datatype) ? HW_DECLINES : hw_ask_imrecv(buf, count, datatype, message, request);
    if (rc != HW_DECLINES)
        return rc;
    bool is_told = hw_track_posts(count, datatype, HW_ANY_SOURCE);
    return tracked(hw_real_imrecv(buf, count, datatype, message, request), is_told, count, datatype,
                   HW_ANY_SOURCE, true, request);
}

int hw_isendrecv(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Request *request)
{
    int rc = hw_ask_isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                              source, recvtag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    rc = hw_real_isendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                           recvtag, comm, request);
    if (!hw_real_is_made(rc, request)) {
        hw_engines_refused(sendcount, sendtype, dest, sendtag, comm, false);
        hw_engines_refused(recvcount, recvtype, source, recvtag, comm, true);
    }
    if (rc == MPI_SUCCESS && hw_engines_want(sendcount, sendtype))
        return tracked(rc, false, sendcount, sendtype, HW_ANY_SOURCE, false, request);
    return tracked(rc, false, recvcount, recvtype, HW_ANY_SOURCE, false, request);
}

int hw_isendrecv_replace(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source,
                         int recvtag, MPI_Comm comm, MPI_Request *request)
{
    int rc = hw_ask_isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    rc = hw_real_isendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, comm, request);
    if (!hw_real_is_made(rc, request)) {
        hw_engines_refused(count, datatype, dest, sendtag, comm, false);
        hw_engines_refused(count, datatype, source, recvtag, comm, true);
    }
    return tracked(rc, false, count, datatype, HW_ANY_SOURCE, false, request);
}

/* What follows the real call that makes a persistent operation. */
static inline int defined(int rc, MPI_Count count, MPI_Datatype datatype, int peer, bool is_receive,
                          MPI_Request *request)
{
    if (hw_real_is_made(rc, request))
        hw_persistent_posted(count, datatype, peer, is_receive, request);
    return rc;
}

int hw_send_init(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    int rc = hw_ask_send_init(buf, count, datatype, dest, tag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    return defined(hw_real_send_init(buf, count, datatype, dest, tag, comm, request), count, datatype, dest,
                   false, request);
}

int hw_bsend_init(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    int rc = hw_ask_bsend_init(buf, count, datatype, dest, tag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    return defined(hw_real_bsend_init(buf, count, datatype, dest, tag, comm, request), count, datatype, dest,
                   false, request);
}

int hw_ssend_init(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    int rc = hw_ask_ssend_init(buf, count, datatype, dest, tag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    return defined(hw_real_ssend_init(buf, count, datatype, dest, tag, comm, request), count, datatype, dest,
                   false, request);
}

int hw_rsend_init(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    int rc = hw_ask_rsend_init(buf, count, datatype, dest, tag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    return defined(hw_real_rsend_init(buf, count, datatype, dest, tag, comm, request), count, datatype, dest,
                   false, request);
}

int hw_recv_init(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Request *request)
{
    int rc = hw_ask_recv_init(buf, count, datatype, source, tag, comm, request);
    if (rc != HW_DECLINES)
        return rc;
    return defined(hw_real_recv_init(buf, count, datatype, source, tag, comm, request), count, datatype,
                   source, true, request);
}
