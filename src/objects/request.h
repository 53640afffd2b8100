/* SPDX-License-Identifier: BSD-3-Clause */
/* The pending tracker knows every operation of the program that may need software progress.
 *
 * A tracked request is known by its MPI handle from the call that posted (or defined) it until a door
 * finds it complete or frees it. Requests too small to matter are never entered, and while nothing is
 * known a door pays one relaxed load (hw_request_is_any_known).
 *
 *   INACTIVE  persistent or partitioned, defined but not started
 *   ACTIVE    posted or started, in nobody's hands: the progress thread may ask the MPI about it
 *   DONE      the progress thread saw it complete; the program has not asked yet
 *   TAKEN     a door of the program has it; doors that do not block leave most as they are
 *             (objects/request_look.h)
 *
 * The program and the progress thread never touch one request at the same time (two threads must not:
 * MPI-4.1 section 3.7.3 and 11.6.1), since they are never in MPI at the same time (progress/gate.h). A door
 * takes its requests (hw_request_take), makes the real call, and hands back what is still pending
 * (hw_request_return).
 *
 * Threads of the program call, inside an entry, unless a function says otherwise. */
#ifndef HW_OBJECTS_REQUEST_H
#define HW_OBJECTS_REQUEST_H

#include "base/atomic.h"
#include "base/visibility.h"
#include "real/constants.h"
#include "real/real.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum hw_request_kind {
    HW_REQUEST_P2P,         /* nonblocking point-to-point at or above the eager limit */
    HW_REQUEST_COLLECTIVE,  /* nonblocking collective of any size */
    HW_REQUEST_CALLBACK,    /* one whose progress is the program's alone: hw_request_callbacks */
    HW_REQUEST_PARTITIONED, /* MPI-4.1 chapter 4; never polled through its own handle */
    HW_REQUEST_RMA, /* Rput, Rget, Raccumulate, Rget_accumulate; not polled where asking raises errors */
    HW_REQUEST_IO,  /* nonblocking file access; never polled through its own handle */
    HW_REQUEST_KIND_COUNT
};

/* Requests in the table, in any state: zero means every door goes straight on. */
extern HW_HIDDEN atomic_uint hw_request_known;
/* Of them, those with an attachment. */
extern HW_HIDDEN atomic_uint hw_request_attached;
/* ACTIVE requests and operations without one: what the progress thread has to do. Neither here nor in the
 * next: attached requests that nobody follows. */
extern HW_HIDDEN atomic_uint hw_request_pending;
/* Threads in a door that looks at requests (request_look.h): what is pending may be what they look at, and is
 * nothing to do for now. */
extern HW_HIDDEN atomic_uint hw_request_lookers;
/* Bytes of ACTIVE requests; relaxed. */
extern HW_HIDDEN atomic_uint_fast64_t hw_request_pending_bytes;
/* ACTIVE, DONE and TAKEN requests, and operations without one: what the program still has to complete. */
extern HW_HIDDEN atomic_uint hw_request_outstanding;

/* HW_REQUEST_CALLBACK requests among the outstanding ones. While there are any, nobody but the program may
 * make progress: its code may wait for what the program holds while it waits for the progress thread's turn
 * to end (Python's interpreter lock), or an MPI cannot have it (HW_REAL_IS_DUPLICATION_SAFE). */
extern HW_HIDDEN atomic_uint hw_request_callbacks;

/* HW_REQUEST_RMA requests among the outstanding ones. */
extern HW_HIDDEN atomic_uint hw_request_one_sided;

static inline bool hw_request_is_any_known(void) { return hw_atomic_load_relaxed(&hw_request_known) != 0; }

/* Enters a request that has just been posted. `bytes` is an estimate (a receive may get less).
 * Returns false if there was no memory for it: it then stays untracked. */
bool hw_request_post(MPI_Request request, enum hw_request_kind kind, uint64_t bytes);

/* Enters an inactive persistent or partitioned request. */
void hw_request_define(MPI_Request request, enum hw_request_kind kind, uint64_t bytes);
void hw_request_define_receive(MPI_Request request, uint64_t bytes); /* the same, point-to-point */

/* What a start is about. */
enum hw_request_direction {
    HW_REQUEST_UNKNOWN,  /* both, or what is not known */
    HW_REQUEST_SENDS,    /* inactive persistent point-to-point sends, all of them */
    HW_REQUEST_RECEIVES, /* receives without an attachment; *bytes: the fewest of one of them */
};
enum hw_request_direction hw_request_direction(int count, const MPI_Request *requests, uint64_t *bytes);

/* The positions of `requests` in the order in which they are to be started: what is known as a receive comes
 * last. `order` has room for `count`. False if that is the order they have. */
bool hw_request_sends_first(int count, const MPI_Request *requests, int order[]);

/* How far the operation is that the program sees in a guarded request. */
enum hw_request_readiness {
    HW_REQUEST_OPEN,   /* the MPI has not completed it */
    HW_REQUEST_MOVING, /* it has, and the rest is under way */
    HW_REQUEST_READY,  /* a call that completes it may be made */
    HW_REQUEST_ITSELF, /* it is complete, and the MPI knows nothing of that */
};

/* A guard stands for requests whose completion is not the MPI's alone to tell. Doors ask it; calls of MPI are
 * allowed in these functions. */
struct hw_request_guard {
    /* May make progress. */
    enum hw_request_readiness (*look)(void *attachment, MPI_Request request);
    /* Before a call that blocks until the request is complete: returns when the MPI alone can complete it. */
    void (*settle)(void *attachment, MPI_Request request);
    /* After the real call: makes of what the MPI said what the program gets, which is the error returned, and
     * raises that if it is not the MPI's. Where the request was not looked at before, it waits. More than
     * once for one completion (MPI_Request_get_status). */
    int (*amend)(void *attachment, MPI_Status *status, int error);
    /* Between two looks at one that is MOVING. */
    void (*pause)(void *attachment);
    /* MPI_Cancel: whether the MPI is to cancel it. Also while another door has it: it may be freed as soon as
     * it is cancelled. */
    bool (*is_cancellable)(void *attachment);
    /* After `starting`: makes the start, and returns an MPI error code, raised; or HW_REQUEST_PLAINLY, and
     * the real call starts it. NULL: always so. */
    int (*start)(void *attachment, MPI_Request *request);
};

/* No MPI has such an error code. */
enum { HW_REQUEST_PLAINLY = INT_MIN };

/* An attachment is what somebody has to do about a request of his own making when the program learns what
 * became of it, in the call that tells it so. Calls of MPI are allowed in these functions. NULL for
 * `completed`, `starting` and `cancelling`: there is nothing to do. */
struct hw_request_calls {
    /* At a door, before it returns, once for each completion: what the MPI said there. NULL for the status
     * where it said nothing; `error` is then none but MPI_SUCCESS. */
    void (*completed)(void *attachment, const MPI_Status *status, int error, bool is_cancelled);
    /* Before each start of a persistent request. */
    void (*starting)(void *attachment);
    /* MPI_Cancel: before the real call, if that is made. Not while another door has the request. */
    void (*cancelling)(void *attachment);
    /* MPI_Request_free of an active request: the handle is theirs from here on, as the attachment is. */
    void (*abandoned)(void *attachment, MPI_Request request);
    /* The last one in all other cases. */
    void (*freed)(void *attachment);
    bool is_collective; /* MPI_Request_free and MPI_Cancel are refused (MPI-4.1 section 6.12) */
    const struct hw_request_guard *guard; /* NULL: none */
};

struct hw_request_attachment {
    const struct hw_request_calls *calls; /* NULL: none, but is_once */
    void *attachment;
    uint64_t bytes;     /* an estimate, as for hw_request_post */
    bool is_persistent; /* inactive then */
    bool is_followed;   /* the progress thread is to see to it: told by the caller (hw_engines_posted) */
    bool is_receive;    /* of a persistent one: hw_request_sends_first */
    /* A persistent request of ours that stands for one operation, active from now on: the door that completes
     * it frees it, as the program expects (hw_request_end_once). */
    bool is_once;
};

/* Room for one more entry, before the real call that makes the request: hw_request_attach cannot fail then.
 * False: there is no memory. hw_request_give_back, if there is nothing to attach. */
bool hw_request_reserve(void);
void hw_request_give_back(void);

/* Enters a point-to-point request that no other request shares its handle with: MPIs give requests that are
 * complete from the start one handle. */
void hw_request_attach(MPI_Request request, const struct hw_request_attachment *attachment);

/* Whether somebody else than the MPI may start it, which hw_request_starting does at once. */
bool hw_request_has_start(MPI_Request request);

/* Before the real call of a start. HW_REQUEST_PLAINLY: that is to be made. Else what the start returned. */
int hw_request_starting(MPI_Request *request);

/* Before the real MPI_Request_free. ABANDONED: the active request was left to its attachment. REFUSED: the
 * call is an error, and all stays as it is. */
enum hw_request_abandoning { HW_REQUEST_NOT_ATTACHED, HW_REQUEST_ABANDONED, HW_REQUEST_REFUSED };
enum hw_request_abandoning hw_request_abandon(MPI_Request *request);

/* Marks the known ones of `requests` as started. What is returned is about those that are followed. */
struct hw_request_started {
    int count;
    uint64_t bytes;
    bool are_receives; /* all of them */
};
struct hw_request_started hw_request_start(int count, const MPI_Request *requests);

/* After a successful post of a request that nobody enters. The MPI may have given it the handle of one
 * with an attachment that another thread's door still has: that is over, and the door's alone, so a call
 * about the new one must not find it. Doors that complete requests need not be told: they leave alone what
 * another one has. */
void hw_request_forget_taken(MPI_Request request);
static inline void hw_request_leave_out(MPI_Request request)
{
    if (__builtin_expect(hw_atomic_load_relaxed(&hw_request_attached) != 0, 0))
        hw_request_forget_taken(request);
}

enum { HW_REQUEST_ITEMS = 32 }; /* of a door, without an array of their own */

/* What a door took: the position of each known request in the door's array, and its handle there. */
struct hw_request_taken {
    int count;
    int capacity;
    int followed; /* those not followed are known for their attachments alone */
    int attached; /* or once */
    int once;
    int guarded;      /* of them, those with a guard */
    int error;        /* what the door says of those that it does not mark */
    bool is_short;    /* no memory to take all that are attached: the door must not go on */
    bool is_untold;   /* there was an error, and nothing tells of which (hw_request_mark_untold) */
    bool is_borrowed; /* by hw_request_borrow */
    /* Of hw_request_borrow: a guarded one that another door has; NULL: none. */
    const struct hw_request_guard *elsewhere;
    void *elsewhere_guarded;
    struct hw_request_item {
        int index;
        uint32_t place; /* of its entry, and */
        uint64_t number;
        bool is_complete, is_gone, is_once;
        MPI_Request handle;
        const struct hw_request_calls *calls; /* NULL: none */
        const struct hw_request_guard *guard; /* NULL: none */
        /* What follows counts where the entry is attached, or once. */
        void *attachment;
        void *guarded;            /* the attachment, guard or not, while it is taken */
        const MPI_Status *status; /* NULL: not known */
        int error;
    } * items, inline_items[HW_REQUEST_ITEMS];
};

/* Takes the known, active requests of the array, for a door that may complete them: from another door, too,
 * which cancels or asks. One with an attachment that is in a door which completes it is not the one meant.
 * Returns true if it took any; only then must hw_request_return follow. */
bool hw_request_take(int count, const MPI_Request *requests, struct hw_request_taken *taken);

/* The same for a door that completes nothing: leaves alone what another door has, whose it is. Of a guarded
 * one that only that door can tell what it is. */
bool hw_request_borrow(int count, const MPI_Request *requests, struct hw_request_taken *taken);

/* The door found the request at `index` complete (needed where the handle does not change: persistent
 * requests and Request_get_status; and for attachments). A status must live on until hw_request_return. */
void hw_request_mark_complete(struct hw_request_taken *taken, int index, const MPI_Status *status, int error);
/* All of them, with MPI_SUCCESS; `statuses` has one for each of the door's array, or is
 * MPI_STATUSES_IGNORE where nothing is attached. */
void hw_request_mark_all_complete(struct hw_request_taken *taken, const MPI_Status *statuses);
/* The same where the statuses tell which (MPI_ERR_IN_STATUS). */
void hw_request_mark_each(struct hw_request_taken *taken, const MPI_Status *statuses);

/* The call failed, and there is no status that tells whose error it is. Persistent ones, whose handles do not
 * change, may be complete: nobody follows them until they are started again. */
static inline void hw_request_mark_untold(struct hw_request_taken *taken) { taken->is_untold = true; }

/* Of those that stand for one receive and are marked: frees them, which makes the door's handles null. Before
 * hw_request_return. */
void hw_request_end_once(const struct hw_request_taken *taken, MPI_Request *requests);

/* Ends what hw_request_take began. `requests` is the same array after the real call: an entry that
 * changed there, or was marked, is complete, which its attachment is told; the rest goes back to ACTIVE.
 * Returns the number of followed requests that went back. */
int hw_request_return(struct hw_request_taken *taken, const MPI_Request *requests);

/* Parts of hw_request_take and hw_request_return: room for more items, false if there is no memory. */
bool hw_request_items_grow(struct hw_request_taken *taken);
void hw_request_items_free(struct hw_request_taken *taken);

/* Part of hw_request_return: tells the attachments that are left in the items. */
void hw_request_tell(const struct hw_request_taken *taken);

/* Forgets requests that are about to be freed, in any state (MPI_Request_free). */
void hw_request_drop(int count, const MPI_Request *requests);

/* As hw_request_drop, for a door reached from inside MPI (a user's callback, in the progress thread's turn as
 * well). Requests that a door has TAKEN stay: this is then that door's own call, come back through a tool
 * below us. Generated doors call it. True if one of the others has an attachment: all stay, nobody follows
 * those any more, and the door's hook has to be called. */
bool hw_request_forget(int count, const MPI_Request *requests);

/* Progress thread only, in its turn: asks the MPI about pending requests, one after the other, until one is
 * found incomplete, none is left to ask, or many are complete (somebody may wait for the turn's end). Returns
 * the number of requests seen complete; sets *has_polled if a call that makes progress was made and there may
 * be more to do, which asking is but where hw_real_request_is_complete has to answer. */
int hw_request_poll(bool *has_polled);

/* Whether hw_request_poll may ask by MPI_Request_get_status, as far as errors go (mpi/errors.h). Where it may
 * not, the private receive polls, and only hw_real_request_is_complete tells that a request is complete. */
enum hw_request_asking {
    HW_REQUEST_ASK_NOT,
    HW_REQUEST_ASK,       /* nobody hears of an error; at first */
    HW_REQUEST_ASK_MUTED, /* both handlers that may hear of one end the job: they are replaced meanwhile */
};

/* Not within the progress thread's turn. */
void hw_request_allow_asking(enum hw_request_asking asking);

/* Operations without a request: one-sided ones, from the call that makes them until a flush. They are pending
 * from nameless_post to nameless_take and outstanding until nameless_end, as requests are that a door takes
 * and completes. Nobody can ask the MPI about them, so what makes progress for them is the private receive
 * (progress/poll.h). */
static inline void hw_request_nameless_post(void)
{
    hw_atomic_add_seq_cst(&hw_request_outstanding, 1);
    hw_atomic_add_seq_cst(&hw_request_pending, 1);
}
static inline void hw_request_nameless_take(unsigned count)
{
    hw_atomic_sub_seq_cst(&hw_request_pending, count);
}
static inline void hw_request_nameless_end(unsigned count)
{
    hw_atomic_sub_seq_cst(&hw_request_outstanding, count);
}

/* Each attachment with these calls. The tracker is locked: no calls of it, nor of MPI. */
void hw_request_visit(const struct hw_request_calls *calls, void (*visit)(void *attachment, void *context),
                      void *context);

/* Holds every lock of the tracker across fork(2), and releases it in parent and child; but where a handler of
 * a signal forks that came while the same thread was at the lock. */
void hw_request_fork_prepare(void);
void hw_request_fork_release(void);
/* In the child: the table belongs to the parent's MPI; forget it. */
void hw_request_fork_child(void);

#endif
