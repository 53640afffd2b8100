/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors that hold persistent requests of ours which stand for one receive (is_once), where the MPI returns
 * MPI_SUCCESS for persistent ones that failed. It does so in MPI_Waitall, MPI_Testall and MPI_Testany, not in
 * MPI_Wait and MPI_Test: these complete them. Threads of the program, within a door. */
#ifndef HW_MPI_ONCE_H
#define HW_MPI_ONCE_H

#include "objects/request.h"

/* Whether a door must call these in place of the real calls. */
bool hw_once_must_be_single(const struct hw_request_taken *taken);

/* In place of MPI_Waitall, MPI_Testall and MPI_Testany. The first two mark those of ours that they completed.
 * There are statuses: the door's where the program wants none. */
int hw_once_waitall(struct hw_request_taken *taken, int count, MPI_Request requests[], MPI_Status statuses[]);
int hw_once_testall(struct hw_request_taken *taken, int count, MPI_Request requests[], int *flag,
                    MPI_Status statuses[]);
int hw_once_testany(const struct hw_request_taken *taken, int count, MPI_Request requests[], int *index,
                    int *flag, MPI_Status *status);

#endif
