/* SPDX-License-Identifier: BSD-3-Clause */
/* State of ours attached to a communicator, by an attribute: it lives as long as the communicator does, and a
 * duplicate begins without any. Memory of malloc(3); the end of the communicator frees it. Threads of a user
 * process, inside a hook or an entry; those that write the state of one communicator at once need a lock of
 * their own. */
#ifndef HW_OBJECTS_COMM_STATE_H
#define HW_OBJECTS_COMM_STATE_H

#include "base/atomic.h"
#include "real/real.h"

#include <pthread.h>
#include <stdbool.h>

/* One kind of state; static, and HW_COMM_STATE_CLOSED at first. */
struct hw_comm_state {
    void (*ended)(void *state); /* frees the state of a communicator; NULL: free(3) does */
    pthread_mutex_t mutex;  /* held while the keyval, or a state, is made, and while the keyval is freed */
    int keyval;             /* if has_keyval */
    atomic_bool has_keyval; /* release, after the keyval */
};
#define HW_COMM_STATE_CLOSED                                                                                 \
    {                                                                                                        \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                                                   \
    }

/* The communicator's; at the first call what MAKE returns, which calls nothing that waits for others. NULL:
 * MAKE did, there is no memory, or the MPI gives no attribute. */
void *hw_comm_state_of(struct hw_comm_state *state, MPI_Comm comm, void *(*make)(MPI_Comm comm));

/* Before MPI_Finalize: no communicator gets any from here on. */
void hw_comm_state_close(struct hw_comm_state *state);

#endif
