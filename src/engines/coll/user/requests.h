/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands a collective to the ghost. The program's request is that of a receive of ours: of the empty message
 * by which the ghost says that the collective is complete for this process. So the MPI completes it in every
 * door, and nobody else has to look. Threads of the program, one at a time, inside a hook. */
#ifndef HW_ENGINES_COLL_USER_REQUESTS_H
#define HW_ENGINES_COLL_USER_REQUESTS_H

#include "engines/coll/shared/command.h"
#include "engines/coll/user/buffers.h"
#include "real/real.h"

/* Of `sent` and `received` one may be NULL, or both one; they become the request's. Returns an MPI error
 * code, raised at the handler of `comm`. */
int hw_coll_request(MPI_Comm comm, const struct hw_coll_posted *posted, struct hw_coll_buffer *sent,
                    struct hw_coll_buffer *received, MPI_Request *request);

#endif
