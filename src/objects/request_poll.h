/* SPDX-License-Identifier: BSD-3-Clause */
/* What hw_request_poll needs of the tracker's table. Progress thread, in its turn. */
#ifndef HW_OBJECTS_REQUEST_POLL_H
#define HW_OBJECTS_REQUEST_POLL_H

#include "objects/request.h"

/* The next request to ask about; *is_plainly: by hw_real_request_is_complete alone. False: there is none.
 * `how`: enum hw_request_asking. */
bool hw_request_choose(int how, MPI_Request *handle, bool *is_plainly);

/* It was found complete: there is nothing to ask any more. */
void hw_request_mark_done(MPI_Request handle);

#endif
