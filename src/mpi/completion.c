/* SPDX-License-Identifier: BSD-3-Clause */
/* The doors: every call through which a request is completed, freed, cancelled or inspected
 * (MPI-4.1 sections 3.7.3 to 3.7.6 and 3.8.4).
 *
 * While the tracker knows nothing the entry makes the real call itself, after one load. Otherwise a door
 * takes its requests from what is pending, makes the real call, and hands back what still is; one that does
 * not block, or waits for some of many, leaves them there, where nothing is attached (looking.h). */
#include "base/clock.h"
#include "engines/engine.h"
#include "hooks.h"
#include "mpi/guarded.h"
#include "mpi/looking.h"
#include "mpi/once.h"
#include "objects/request.h"

#include <stdlib.h>
#include <string.h>

/* Statuses in a door itself; and of an array that is kept for the next one that wants more, since a program
 * may ask about many requests again and again. */
enum { OWN_ROOM = 8, KEPT_ROOM = 256 };
static _Atomic(MPI_Status *) kept;

struct door {
    struct hw_request_taken taken;
    uint64_t entered_ns;
    MPI_Status *all; /* of a door with an array of them, as the real call gets it; NULL: none */
    int count;       /* of its statuses */
    MPI_Status *own; /* statuses where the program wants none, and attachments do; NULL: none */
    MPI_Status inline_own[OWN_ROOM];
    MPI_Status *single; /* of a call that has one, and guarded requests; NULL: none */
    int single_error;
};

/* Tells the program that there is no memory, as the MPI would where it has none. Nothing has happened. */
static int refuse(struct door *door, const MPI_Request *requests)
{
    int still_pending = hw_request_return(&door->taken, requests);
    hw_engines_returned(0, still_pending);
    hw_bottom.Comm_call_errhandler(HW_COMM_WORLD, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
}

enum { MUST_REFUSE = -1, NOTHING_TAKEN, TAKEN };

/* Statuses of zeros; NULL: no memory. */
static MPI_Status *take_own(struct door *door, int count)
{
    MPI_Status *own = door->inline_own;
    if (count > OWN_ROOM) {
        own = count <= KEPT_ROOM ? hw_atomic_exchange_acq_rel(&kept, NULL) : NULL;
        if (own == NULL)
            own = malloc((size_t)(count <= KEPT_ROOM ? KEPT_ROOM : count) * sizeof *own);
    }
    if (own != NULL && count > 0)
        memset(own, 0, (size_t)count * sizeof *own);
    return own;
}

static void give_own(struct door *door)
{
    if (door->own == NULL || door->own == door->inline_own)
        return;
    free(door->count <= KEPT_ROOM ? hw_atomic_exchange_acq_rel(&kept, door->own) : door->own);
}

/* Where a request with an attachment was taken there are statuses: ours if the program passed none. */
static int reserve_statuses(struct door *door, int count, MPI_Status **statuses)
{
    if (door->taken.is_short)
        return MUST_REFUSE;
    door->all = door->single = NULL;
    door->count = count;
    if (door->taken.attached == 0)
        return TAKEN;
    /* NOLINTNEXTLINE(misc-redundant-expression): they may differ */
    if (*statuses != HW_STATUS_IGNORE && *statuses != HW_STATUSES_IGNORE)
        return TAKEN;
    if ((door->own = take_own(door, count)) == NULL)
        return MUST_REFUSE;
    *statuses = door->own;
    return TAKEN;
}

/* TAKEN if any of the requests is tracked and active: leave_door must follow. `status_count`: what the real
 * call writes at most. */
static inline int enter_door(struct door *door, int count, const MPI_Request *requests, int status_count,
                             MPI_Status **statuses)
{
    door->own = NULL;
    if (!hw_request_take(count, requests, &door->taken) && !door->taken.is_short)
        return NOTHING_TAKEN;
    door->entered_ns = hw_clock_now_ns();
    return reserve_statuses(door, status_count, statuses);
}

/* The same of a door that blocks. */
static inline int enter_waiting_door(struct door *door, int count, const MPI_Request *requests,
                                     int status_count, MPI_Status **statuses)
{
    int entered = enter_door(door, count, requests, status_count, statuses);
    if (entered == TAKEN && door->taken.followed > 0)
        hw_engines_waits(0);
    return entered;
}

/* A call with one status leaves the error in it alone (MPI-4.1 section 3.2.5), whatever it is made of. */
static void keep_error(struct door *door, MPI_Status *status)
{
    if (door->taken.guarded == 0 || status == NULL)
        return;
    door->single = status;
    door->single_error = status->MPI_ERROR;
}

/* Likewise for a call that completes nothing: Cancel and Request_get_status*. */
static inline int enter_side_door(struct door *door, int count, const MPI_Request *requests, int status_count,
                                  MPI_Status **statuses)
{
    door->own = NULL;
    if (!hw_request_borrow(count, requests, &door->taken) && !door->taken.is_short)
        return NOTHING_TAKEN;
    door->entered_ns = hw_clock_now_ns();
    return reserve_statuses(door, status_count, statuses);
}

/* `rc`: what the real call returned. */
static int leave_door(struct door *door, const MPI_Request *requests, bool is_blocking, int rc)
{
    uint64_t blocked_ns = is_blocking ? hw_clock_now_ns() - door->entered_ns : 0;
    door->taken.error = rc;
    int followed = door->taken.followed;
    if (door->taken.guarded > 0)
        rc = hw_guarded_amend(&door->taken, requests, door->count, door->all, rc);
    if (door->single)
        door->single->MPI_ERROR = door->single_error;
    int still_pending = hw_request_return(&door->taken, requests);
    give_own(door);
    if (followed > 0)
        hw_engines_returned(blocked_ns, still_pending);
    return rc;
}

enum { BLOCKING = true, NONBLOCKING = false };

/* The same of a call that completes requests. */
static int leave_completing(struct door *door, MPI_Request *requests, bool is_blocking, int rc)
{
    if (door->taken.once > 0)
        hw_request_end_once(&door->taken, requests);
    return leave_door(door, requests, is_blocking, rc);
}

/* What a call about all of them found: whether it is over (`is_over`), and each status. */
static void mark_all(struct door *door, int rc, bool is_over, MPI_Status *statuses)
{
    if (door->taken.guarded > 0)
        door->all = statuses;
    if (rc == MPI_SUCCESS && is_over)
        hw_request_mark_all_complete(&door->taken, statuses);
    else if (rc == MPI_ERR_IN_STATUS && statuses != HW_STATUSES_IGNORE)
        hw_request_mark_each(&door->taken, statuses);
    else if (rc != MPI_SUCCESS)
        hw_request_mark_untold(&door->taken);
}

static void mark_some(struct door *door, int rc, int count, const int indices[], MPI_Status *statuses)
{
    if (door->taken.guarded > 0)
        door->all = statuses;
    bool has_statuses = statuses != HW_STATUSES_IGNORE;
    if (rc != MPI_SUCCESS && !(rc == MPI_ERR_IN_STATUS && has_statuses)) {
        hw_request_mark_untold(&door->taken);
        return;
    }
    for (int i = 0; count != MPI_UNDEFINED && i < count; i++) {
        int error = rc == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR;
        hw_request_mark_complete(&door->taken, indices[i], has_statuses ? &statuses[i] : NULL, error);
    }
}

/* The one at `index`, of the door's array. */
static void mark_one(struct door *door, int rc, int index, const MPI_Status *status)
{
    hw_request_mark_complete(&door->taken, index, door->taken.attached > 0 ? status : NULL, rc);
}

/* The same of a call that sets flags, which tell of an attached request that failed, too. */
static void mark_flagged(struct door *door, int rc, const int *flag, int index, const MPI_Status *status)
{
    if ((rc == MPI_SUCCESS || door->taken.attached > 0) && *flag)
        mark_one(door, rc, index, status);
    else if (rc != MPI_SUCCESS)
        hw_request_mark_untold(&door->taken);
}

int hw_wait(MPI_Request *request, MPI_Status *status)
{
    struct door door;
    int entered = enter_waiting_door(&door, 1, request, 1, &status);
    if (entered == NOTHING_TAKEN)
        return hw_real.Wait(request, status);
    if (entered == MUST_REFUSE)
        return refuse(&door, request);
    keep_error(&door, status);
    if (door.taken.guarded > 0)
        hw_guarded_settle(&door.taken);
    int rc = hw_real.Wait(request, status);
    mark_one(&door, rc, 0, status);
    return leave_completing(&door, request, BLOCKING, rc);
}

int hw_waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct door door;
    int entered = enter_waiting_door(&door, count, requests, count, &statuses);
    if (entered == NOTHING_TAKEN)
        return hw_real.Waitall(count, requests, statuses);
    if (entered == MUST_REFUSE)
        return refuse(&door, requests);
    if (door.taken.guarded > 0)
        hw_guarded_settle(&door.taken);
    int rc = hw_once_must_be_single(&door.taken) ? hw_once_waitall(&door.taken, count, requests, statuses)
                                                 : hw_real.Waitall(count, requests, statuses);
    mark_all(&door, rc, true, statuses);
    return leave_completing(&door, requests, BLOCKING, rc);
}

int hw_waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (index == NULL)
        return hw_real.Waitany(count, requests, index, status);
    enum hw_request_looking is = hw_looking_at_many(count, requests);
    if (is != HW_REQUEST_MUST_TAKE)
        return hw_looking_waitany(is, count, requests, index, status);
    struct door door;
    int entered = enter_waiting_door(&door, count, requests, 1, &status);
    if (entered == NOTHING_TAKEN)
        return hw_real.Waitany(count, requests, index, status);
    if (entered == MUST_REFUSE)
        return refuse(&door, requests);
    keep_error(&door, status);
    int flag, rc;
    if (door.taken.guarded > 0)
        rc = hw_guarded_any(&door.taken, (struct hw_guarded_any){.is_blocking = true}, count, requests, index,
                            &flag, status);
    else
        rc = hw_real.Waitany(count, requests, index, status);
    mark_one(&door, rc, *index, status);
    return leave_completing(&door, requests, BLOCKING, rc);
}

int hw_waitsome(int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    if (outcount == NULL || indices == NULL)
        return hw_real.Waitsome(count, requests, outcount, indices, statuses);
    enum hw_request_looking is = hw_looking_at_many(count, requests);
    if (is != HW_REQUEST_MUST_TAKE)
        return hw_looking_waitsome(is, count, requests, outcount, indices, statuses);
    struct door door;
    int entered = enter_waiting_door(&door, count, requests, count, &statuses);
    if (entered == NOTHING_TAKEN)
        return hw_real.Waitsome(count, requests, outcount, indices, statuses);
    if (entered == MUST_REFUSE)
        return refuse(&door, requests);
    int rc = door.taken.guarded > 0
                 ? hw_guarded_some(&door.taken, true, count, requests, outcount, indices, statuses)
                 : hw_real.Waitsome(count, requests, outcount, indices, statuses);
    mark_some(&door, rc, *outcount, indices, statuses);
    return leave_completing(&door, requests, BLOCKING, rc);
}

int hw_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (flag == NULL)
        return hw_real.Test(request, flag, status);
    enum hw_request_looking is = hw_request_look(1, request);
    if (is != HW_REQUEST_MUST_TAKE)
        return hw_looking_test(is, request, flag, status);
    struct door door;
    int entered = enter_door(&door, 1, request, 1, &status);
    if (entered == NOTHING_TAKEN)
        return hw_real.Test(request, flag, status);
    if (entered == MUST_REFUSE)
        return refuse(&door, request);
    keep_error(&door, status);
    if (door.taken.guarded > 0 && !hw_guarded_are_ready(&door.taken)) {
        *flag = 0;
        return leave_completing(&door, request, NONBLOCKING, MPI_SUCCESS);
    }
    int rc = hw_real.Test(request, flag, status);
    mark_flagged(&door, rc, flag, 0, status);
    return leave_completing(&door, request, NONBLOCKING, rc);
}

int hw_testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    if (flag == NULL)
        return hw_real.Testall(count, requests, flag, statuses);
    enum hw_request_looking is = hw_request_look(count, requests);
    if (is != HW_REQUEST_MUST_TAKE)
        return hw_looking_testall(is, count, requests, flag, statuses);
    struct door door;
    int entered = enter_door(&door, count, requests, count, &statuses);
    if (entered == NOTHING_TAKEN)
        return hw_real.Testall(count, requests, flag, statuses);
    if (entered == MUST_REFUSE)
        return refuse(&door, requests);
    if (door.taken.guarded > 0 && !hw_guarded_are_ready(&door.taken)) {
        *flag = 0;
        return leave_completing(&door, requests, NONBLOCKING, MPI_SUCCESS);
    }
    int rc = hw_once_must_be_single(&door.taken)
                 ? hw_once_testall(&door.taken, count, requests, flag, statuses)
                 : hw_real.Testall(count, requests, flag, statuses);
    mark_all(&door, rc, rc == MPI_SUCCESS && *flag, statuses);
    return leave_completing(&door, requests, NONBLOCKING, rc);
}

int hw_testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    if (index == NULL || flag == NULL)
        return hw_real.Testany(count, requests, index, flag, status);
    enum hw_request_looking is = hw_request_look(count, requests);
    if (is != HW_REQUEST_MUST_TAKE)
        return hw_looking_testany(is, count, requests, index, flag, status);
    struct door door;
    int entered = enter_door(&door, count, requests, 1, &status);
    if (entered == NOTHING_TAKEN)
        return hw_real.Testany(count, requests, index, flag, status);
    if (entered == MUST_REFUSE)
        return refuse(&door, requests);
    keep_error(&door, status);
    int rc;
    if (door.taken.guarded > 0)
        rc = hw_guarded_any(&door.taken, (struct hw_guarded_any){0}, count, requests, index, flag, status);
    else if (hw_once_must_be_single(&door.taken))
        rc = hw_once_testany(&door.taken, count, requests, index, flag, status);
    else
        rc = hw_real.Testany(count, requests, index, flag, status);
    mark_flagged(&door, rc, flag, *index, status);
    return leave_completing(&door, requests, NONBLOCKING, rc);
}

int hw_testsome(int count, MPI_Request requests[], int *outcount, int indices[], MPI_Status statuses[])
{
    if (outcount == NULL || indices == NULL)
        return hw_real.Testsome(count, requests, outcount, indices, statuses);
    enum hw_request_looking is = hw_request_look(count, requests);
    if (is != HW_REQUEST_MUST_TAKE)
        return hw_looking_testsome(is, count, requests, outcount, indices, statuses);
    struct door door;
    int entered = enter_door(&door, count, requests, count, &statuses);
    if (entered == NOTHING_TAKEN)
        return hw_real.Testsome(count, requests, outcount, indices, statuses);
    if (entered == MUST_REFUSE)
        return refuse(&door, requests);
    int rc = door.taken.guarded > 0
                 ? hw_guarded_some(&door.taken, false, count, requests, outcount, indices, statuses)
                 : hw_real.Testsome(count, requests, outcount, indices, statuses);
    mark_some(&door, rc, *outcount, indices, statuses);
    return leave_completing(&door, requests, NONBLOCKING, rc);
}

/* Nothing is completed: guarded requests stay known, and each is shown as it is in the end. While the door of
 * another thread has one, nothing is told: the MPI alone does not know. */

static bool is_elsewhere(const struct door *door) { return door->taken.elsewhere != NULL; }

static int tell_nothing(int *flag)
{
    *flag = 0;
    return MPI_SUCCESS;
}

int hw_request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    if (flag == NULL)
        return hw_real.Request_get_status(request, flag, status);
    struct door door;
    int entered = enter_side_door(&door, 1, &request, 1, &status);
    if (entered == NOTHING_TAKEN && is_elsewhere(&door))
        return tell_nothing(flag);
    if (entered == NOTHING_TAKEN)
        return hw_real.Request_get_status(request, flag, status);
    if (entered == MUST_REFUSE)
        return refuse(&door, &request);
    keep_error(&door, status);
    if (door.taken.guarded > 0 && !hw_guarded_are_ready(&door.taken)) {
        *flag = 0;
        return leave_door(&door, &request, NONBLOCKING, MPI_SUCCESS);
    }
    int rc = hw_real.Request_get_status(request, flag, status);
    if (door.taken.guarded > 0)
        rc = hw_guarded_show(&door.taken, 0, status, rc);
    else
        mark_flagged(&door, rc, flag, 0, status);
    return leave_door(&door, &request, NONBLOCKING, rc);
}

int hw_request_get_status_all(int count, const MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    if (flag == NULL)
        return hw_real.Request_get_status_all(count, requests, flag, statuses);
    struct door door;
    int entered = enter_side_door(&door, count, requests, count, &statuses);
    if (entered == NOTHING_TAKEN)
        return is_elsewhere(&door) ? tell_nothing(flag)
                                   : hw_real.Request_get_status_all(count, requests, flag, statuses);
    if (entered == MUST_REFUSE)
        return refuse(&door, requests);
    if (is_elsewhere(&door) || (door.taken.guarded > 0 && !hw_guarded_are_ready(&door.taken))) {
        *flag = 0;
        return leave_door(&door, requests, NONBLOCKING, MPI_SUCCESS);
    }
    int rc = hw_real.Request_get_status_all(count, requests, flag, statuses);
    if (door.taken.guarded > 0 && *flag)
        for (int i = 0; i < count; i++)
            rc = hw_guarded_show(&door.taken, i, &statuses[i], rc);
    else if (door.taken.guarded == 0)
        mark_all(&door, rc, rc == MPI_SUCCESS && *flag, statuses);
    return leave_door(&door, requests, NONBLOCKING, rc);
}

int hw_request_get_status_any(int count, const MPI_Request requests[], int *index, int *flag,
                              MPI_Status *status)
{
    if (index == NULL || flag == NULL)
        return hw_real.Request_get_status_any(count, requests, index, flag, status);
    struct door door;
    int entered = enter_side_door(&door, count, requests, 1, &status);
    if (entered == NOTHING_TAKEN)
        return is_elsewhere(&door) ? tell_nothing(flag)
                                   : hw_real.Request_get_status_any(count, requests, index, flag, status);
    if (entered == MUST_REFUSE)
        return refuse(&door, requests);
    keep_error(&door, status);
    if (is_elsewhere(&door)) {
        *flag = 0;
        return leave_door(&door, requests, NONBLOCKING, MPI_SUCCESS);
    }
    if (door.taken.guarded > 0) {
        int rc = hw_guarded_any(&door.taken, (struct hw_guarded_any){.is_kept = true}, count,
                                (MPI_Request *)(uintptr_t)requests, index, flag, status);
        if (*flag && *index != HW_UNDEFINED)
            rc = hw_guarded_show(&door.taken, *index, status, rc);
        return leave_door(&door, requests, NONBLOCKING, rc);
    }
    int rc = hw_real.Request_get_status_any(count, requests, index, flag, status);
    mark_flagged(&door, rc, flag, *index, status);
    return leave_door(&door, requests, NONBLOCKING, rc);
}

/* With guarded ones: one of them at most, which is what the MPI may answer, too. */
int hw_request_get_status_some(int count, const MPI_Request requests[], int *outcount, int indices[],
                               MPI_Status statuses[])
{
    if (outcount == NULL || indices == NULL)
        return hw_real.Request_get_status_some(count, requests, outcount, indices, statuses);
    struct door door;
    int entered = enter_side_door(&door, count, requests, count, &statuses);
    if (entered == NOTHING_TAKEN)
        return is_elsewhere(&door)
                   ? tell_nothing(outcount)
                   : hw_real.Request_get_status_some(count, requests, outcount, indices, statuses);
    if (entered == MUST_REFUSE)
        return refuse(&door, requests);
    if (is_elsewhere(&door)) {
        *outcount = 0;
        return leave_door(&door, requests, NONBLOCKING, MPI_SUCCESS);
    }
    if (door.taken.guarded > 0) {
        int flag, index;
        int rc = hw_guarded_any(&door.taken, (struct hw_guarded_any){.is_kept = true}, count,
                                (MPI_Request *)(uintptr_t)requests, &index, &flag, &statuses[0]);
        *outcount = flag && index != HW_UNDEFINED;
        indices[0] = index;
        if (*outcount)
            rc = hw_guarded_show(&door.taken, index, &statuses[0], rc);
        return leave_door(&door, requests, NONBLOCKING, rc);
    }
    int rc = hw_real.Request_get_status_some(count, requests, outcount, indices, statuses);
    mark_some(&door, rc, *outcount, indices, statuses);
    return leave_door(&door, requests, NONBLOCKING, rc);
}

static int raise_request(void)
{
    hw_bottom.Comm_call_errhandler(HW_COMM_WORLD, MPI_ERR_REQUEST);
    return MPI_ERR_REQUEST;
}

int hw_cancel(MPI_Request *request)
{
    struct door door;
    MPI_Status *none = HW_STATUS_IGNORE;
    int entered = enter_side_door(&door, 1, request, 1, &none);
    if (entered == NOTHING_TAKEN && is_elsewhere(&door) &&
        !door.taken.elsewhere->is_cancellable(door.taken.elsewhere_guarded))
        return MPI_SUCCESS;
    if (entered == NOTHING_TAKEN)
        return hw_real.Cancel(request);
    if (entered == MUST_REFUSE)
        return refuse(&door, request);
    const struct hw_request_calls *calls = door.taken.count > 0 ? door.taken.items[0].calls : NULL;
    if (calls && calls->is_collective)
        return leave_door(&door, request, NONBLOCKING, raise_request());
    if (calls && calls->cancelling)
        calls->cancelling(door.taken.items[0].guarded);
    int rc = hw_guarded_is_cancellable(&door.taken) ? hw_real.Cancel(request) : MPI_SUCCESS;
    return leave_door(&door, request, NONBLOCKING, rc);
}

int hw_request_free(MPI_Request *request)
{
    int rc = MPI_SUCCESS;
    enum hw_request_abandoning is = hw_request_abandon(request);
    if (is == HW_REQUEST_REFUSED)
        return raise_request();
    if (is == HW_REQUEST_NOT_ATTACHED) {
        hw_request_drop(1, request);
        rc = hw_real.Request_free(request);
    }
    hw_engines_returned(0, 0);
    return rc;
}
