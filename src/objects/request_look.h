/* SPDX-License-Identifier: BSD-3-Clause */
/* A door that does not block, or waits for some of many, looks at its requests: they stay as they are, and
 * only those that it finds complete are touched. So it costs next to nothing for each of many that are not.
 * Nobody asks about them meanwhile, since the progress thread is not in MPI together with the program
 * (progress/gate.h). Requests with an attachment are taken instead (hw_request_take).
 *
 * A thread looks at one array at a time. What it looks at is taken after all when it comes back to a door
 * from inside MPI (hw_request_forget). Threads of the program, inside an entry. */
#ifndef HW_OBJECTS_REQUEST_LOOK_H
#define HW_OBJECTS_REQUEST_LOOK_H

#include "objects/request.h"

struct hw_request_changes;

enum hw_request_looking {
    HW_REQUEST_LOOKS,            /* hw_request_looked must follow */
    HW_REQUEST_LOOKS_AT_NOTHING, /* none of the array is known and active */
    HW_REQUEST_MUST_TAKE,
};

enum hw_request_looking hw_request_look(int count, const MPI_Request *requests);

/* The door found the one at `index` complete. `requests` is the same array after the real call, here and in
 * the next. */
void hw_request_look_found(const MPI_Request *requests, int index);

/* The call failed, and nothing tells whose error it is (hw_request_mark_untold). */
void hw_request_look_untold(const MPI_Request *requests);

/* Ends it. The door found `found` of them complete: those at `indices`, or the first where that is NULL.
 * Unless these `are_all`, any whose handle has changed is complete, too: of thousands, that takes as long as
 * the MPI's own look at them. Sets *is_any_pending, of all that is tracked, since a look hides all of it from
 * the progress thread; returns whether anybody follows what was looked at, or what is pending. */
bool hw_request_looked(const MPI_Request *requests, int found, const int *indices, bool are_all,
                       bool *is_any_pending);

/* Part of hw_request_forget, under the lock. */
void hw_request_look_take(struct hw_request_changes *by);

#endif
