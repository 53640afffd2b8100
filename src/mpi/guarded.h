/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors that hold guarded requests (objects/request.h): whose completion is not the MPI's alone to tell. The
 * MPI is asked to complete only what is complete in every way. Threads of the program, within a door. */
#ifndef HW_MPI_GUARDED_H
#define HW_MPI_GUARDED_H

#include "objects/request.h"

/* Whether the MPI may complete all that are guarded. May make progress. */
bool hw_guarded_are_ready(const struct hw_request_taken *taken);

/* Before a real call that waits for all of them. */
void hw_guarded_settle(const struct hw_request_taken *taken);

/* In place of MPI_Waitany (is_blocking), MPI_Testany and MPI_Request_get_status_any (is_kept: nothing is
 * completed). */
struct hw_guarded_any {
    bool is_blocking, is_kept;
};
int hw_guarded_any(const struct hw_request_taken *taken, struct hw_guarded_any how, int count,
                   MPI_Request requests[], int *index, int *flag, MPI_Status *status);

/* In place of MPI_Waitsome and MPI_Testsome. */
int hw_guarded_some(const struct hw_request_taken *taken, bool is_blocking, int count, MPI_Request requests[],
                    int *outcount, int indices[], MPI_Status statuses[]);

/* After the real call of a door over `count` requests: what the program gets of those that are complete. RC
 * is the real call's; returns the door's. `statuses`: of an array of statuses that tells errors, one for each
 * of `count`; else NULL. */
int hw_guarded_amend(struct hw_request_taken *taken, const MPI_Request *requests, int count,
                     MPI_Status *statuses, int rc);

/* The same of what is complete and stays known: MPI_Request_get_status. */
int hw_guarded_show(const struct hw_request_taken *taken, int index, MPI_Status *status, int rc);

/* MPI_Cancel: whether the MPI is to be asked. */
bool hw_guarded_is_cancellable(const struct hw_request_taken *taken);

#endif
