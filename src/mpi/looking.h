/* SPDX-License-Identifier: BSD-3-Clause */
/* Doors that look at their requests (objects/request_look.h): those that do not block, and those that wait
 * for one or some of many. Each makes the real call; `is` is none but HW_REQUEST_MUST_TAKE. Threads of the
 * program, within a door. */
#ifndef HW_MPI_LOOKING_H
#define HW_MPI_LOOKING_H

#include "objects/request_look.h"

/* Of a door that waits. A program calls it again and again until nothing is left of many: to take all of them
 * each time would take longer than all else. */
static inline enum hw_request_looking hw_looking_at_many(int count, const MPI_Request *requests)
{
    return count > HW_REQUEST_ITEMS ? hw_request_look(count, requests) : HW_REQUEST_MUST_TAKE;
}

int hw_looking_test(enum hw_request_looking is, MPI_Request *request, int *flag, MPI_Status *status);
int hw_looking_testany(enum hw_request_looking is, int count, MPI_Request requests[], int *index, int *flag,
                       MPI_Status *status);
int hw_looking_testall(enum hw_request_looking is, int count, MPI_Request requests[], int *flag,
                       MPI_Status statuses[]);
int hw_looking_testsome(enum hw_request_looking is, int count, MPI_Request requests[], int *outcount,
                        int indices[], MPI_Status statuses[]);
int hw_looking_waitany(enum hw_request_looking is, int count, MPI_Request requests[], int *index,
                       MPI_Status *status);
int hw_looking_waitsome(enum hw_request_looking is, int count, MPI_Request requests[], int *outcount,
                        int indices[], MPI_Status statuses[]);

#endif
