/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that are followed, by their handle. Internal to src/profile; under the lock (lock.h) but for
 * the question whether there are any. */
#ifndef HW_PROFILE_CALLS_REQUESTS_H
#define HW_PROFILE_CALLS_REQUESTS_H

#include "profile/callers/comms.h"
#include "profile/callers/sites.h"
#include "profile/calls/calls.h"
#include "profile/waits/delays.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_profile_request {
    uint64_t handle;
    struct hw_profile_request *next;
    /* Others of this handle, in the order they were posted, and (of the first) the last of them. */
    struct hw_profile_request *same, *last;
    struct hw_profile_site *site;
    struct hw_profile_comm *comm;
    struct hw_delay_who who; /* in ranks of the world */
    uint64_t taken_on;       /* a communicator, where it takes from whoever sends first; else 0 */
    const struct hw_profile_thread *thread;
    uint64_t bytes;
    uint64_t posted_ns;
    uint64_t mpi_ns;      /* of the thread that posted it, by then */
    const char *function; /* that posted or defined it */
    unsigned window;      /* of looks at the wire (wire_windows.h) */
    bool is_unsized;      /* a collective whose arguments do not tell its bytes */
    bool is_persistent;
    bool is_active;
};

/* A request to be filled in and put into the table; NULL: no memory. */
struct hw_profile_request *hw_requests_new(void);

/* One that is in no table. */
void hw_requests_release(struct hw_profile_request *request);

/* Of one handle there may be several: MPIs have one for all sends that were complete at once. */
void hw_requests_put(struct hw_profile_request *request);

/* Takes out the one that was put first; NULL if there is none. */
struct hw_profile_request *hw_requests_take(uint64_t handle);

/* Nobody follows any more what is pending: `tell` of each, after which only persistent ones stay. */
void hw_requests_give_up(void (*tell)(const struct hw_profile_request *request));

bool hw_requests_is_any_known(void);

#endif
