/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/hearers.h"

#include "engines/p2p/user/receiving.h"
#include "engines/p2p/user/sealed_requests.h"
#include "engines/p2p/user/turns.h"
#include "real/constants.h"
#include "real/quirks.h"

#include <stdlib.h>

/* Of communicators that were freed: one for each error handler. */
struct like {
    struct like *next;
    MPI_Comm comm;
    MPI_Errhandler handler;
};
static struct like *likes; /* in turns */

static MPI_Comm find_like(MPI_Errhandler *handler)
{
    for (struct like *one = likes; one; one = one->next)
        if (one->handler == *handler) {
            hw_bottom.Errhandler_free(handler);
            return one->comm;
        }
    struct like *made = malloc(sizeof *made);
    /* No duplicate: it would have the program's attributes, whose callbacks would run. */
    if (made == NULL || hw_bottom.Comm_split(HW_COMM_SELF, 0, 0, &made->comm) != MPI_SUCCESS) {
        free(made);
        hw_bottom.Errhandler_free(handler);
        return HW_COMM_WORLD;
    }
    hw_bottom.Comm_set_errhandler(made->comm, *handler);
    made->handler = *handler;
    made->next = likes;
    likes = made;
    return made->comm;
}

/* A communicator with the error handler of one that is about to be freed. */
static MPI_Comm hearer_like(MPI_Comm other)
{
    MPI_Errhandler handler;
    if (hw_real_raises_requests_at_world() || hw_bottom.Comm_get_errhandler(other, &handler) != MPI_SUCCESS)
        return HW_COMM_WORLD;
    bool has_turn = hw_p2p_turn_begin();
    MPI_Comm like = find_like(&handler);
    hw_p2p_turn_end(has_turn);
    return like;
}

void hw_p2p_hearers_leave(struct hw_p2p_freed *freed, MPI_Comm *hearer)
{
    if (*hearer != freed->comm)
        return;
    freed->is_used = true;
    if (freed->hearer != HW_COMM_NULL)
        *hearer = freed->hearer;
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
    freed.hearer = hearer_like(comm);
    leave_all(&freed);
}

void hw_p2p_hearers_close(void)
{
    for (struct like *one; (one = likes) != NULL;) {
        likes = one->next;
        hw_bottom.Comm_free(&one->comm);
        hw_bottom.Errhandler_free(&one->handler);
        free(one);
    }
}
