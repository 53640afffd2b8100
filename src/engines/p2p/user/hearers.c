/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/hearers.h"

#include "base/atomic.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/receiving.h"
#include "engines/p2p/user/sealed_requests.h"
#include "engines/p2p/user/turns.h"
#include "real/constants.h"
#include "real/quirks.h"

#include <stdlib.h>

/* Of communicators that were freed: one for each error handler. A communicator is scarce (MPICH has 2048 of
 * them), and a program may make a handler for each of its own: so it is there as long as it is used. */
struct hw_p2p_like {
    struct hw_p2p_like *next;
    MPI_Comm comm;
    MPI_Errhandler handler;
    atomic_uint users; /* operations that tell it, and who is about to give it some */
};
static struct hw_p2p_like *likes; /* in turns, as is the step from and to no users */

static void end(struct hw_p2p_like *like)
{
    hw_bottom.Comm_free(&like->comm);
    hw_bottom.Errhandler_free(&like->handler);
    free(like);
}

/* In a turn. NULL: no memory, or the MPI has no communicator left. */
static struct hw_p2p_like *make_like(MPI_Errhandler handler)
{
    struct hw_p2p_like *made = calloc(1, sizeof *made);
    /* No duplicate: it would have the program's attributes, whose callbacks would run. */
    if (made == NULL || hw_bottom.Comm_split(hw_p2p_own_comm(), 0, 0, &made->comm) != MPI_SUCCESS) {
        free(made);
        return NULL;
    }
    hw_bottom.Comm_set_errhandler(made->comm, handler);
    made->handler = handler;
    made->next = likes;
    likes = made;
    return made;
}

/* In a turn; takes the handler. */
static struct hw_p2p_like *find_like(MPI_Errhandler handler)
{
    struct hw_p2p_like *one = likes;
    while (one && one->handler != handler)
        one = one->next;
    struct hw_p2p_like *found = one ? one : make_like(handler);
    if (one || found == NULL)
        hw_bottom.Errhandler_free(&handler);
    return found;
}

/* One with the error handler of a communicator that is about to be freed; the caller uses it. NULL:
 * MPI_COMM_WORLD is told. */
static struct hw_p2p_like *use_like(MPI_Comm other)
{
    MPI_Errhandler handler;
    if (hw_real_raises_requests_at_world() || hw_bottom.Comm_get_errhandler(other, &handler) != MPI_SUCCESS)
        return NULL;
    bool has_turn = hw_p2p_turn_begin();
    struct hw_p2p_like *like = find_like(handler);
    if (like)
        hw_atomic_add_relaxed(&like->users, 1);
    hw_p2p_turn_end(has_turn);
    return like;
}

/* In a turn. */
static void release(struct hw_p2p_like **link)
{
    struct hw_p2p_like *like = *link;
    if (hw_atomic_sub_acq_rel(&like->users, 1) > 1)
        return;
    *link = like->next;
    end(like);
}

void hw_p2p_hearers_drop(MPI_Comm hearer)
{
    bool has_turn = hw_p2p_turn_begin();
    struct hw_p2p_like **link = &likes;
    while (*link && (*link)->comm != hearer)
        link = &(*link)->next;
    if (*link) /* not MPI_COMM_WORLD */
        release(link);
    hw_p2p_turn_end(has_turn);
}

void hw_p2p_hearers_leave(struct hw_p2p_freed *freed, MPI_Comm *hearer)
{
    if (*hearer != freed->comm)
        return;
    freed->is_used = true;
    if (freed->hearer == HW_COMM_NULL)
        return;
    *hearer = freed->hearer;
    if (freed->like)
        hw_atomic_add_relaxed(&freed->like->users, 1);
}

static void leave_all(struct hw_p2p_freed *freed)
{
    hw_p2p_receiving_leave(freed);
    hw_p2p_sealed_requests_leave(freed);
}

/* Twice, as operations are visited with locks held under which no communicator can be made. */
void hw_p2p_hearers_comm_frees(MPI_Comm comm)
{
    struct hw_p2p_freed freed = {.comm = comm, .hearer = HW_COMM_NULL};
    leave_all(&freed);
    if (!freed.is_used)
        return;
    freed.like = use_like(comm);
    freed.hearer = freed.like ? freed.like->comm : HW_COMM_WORLD;
    leave_all(&freed);
    if (freed.like)
        hw_p2p_hearers_drop(freed.hearer);
}

void hw_p2p_hearers_close(void)
{
    for (struct hw_p2p_like *one; (one = likes) != NULL;) {
        likes = one->next;
        end(one);
    }
}
