/* SPDX-License-Identifier: BSD-3-Clause */
/* A message of ours: the packed form of one of the program's, in a buffer of the pool, from before the real
 * call until the MPI is through with it. Where the program gets a request for it the message is that
 * request's attachment. Any thread, inside MPI. */
#ifndef HW_ENGINES_PACK_MESSAGE_H
#define HW_ENGINES_PACK_MESSAGE_H

#include "engines/pack/twin.h"
#include "objects/datatype/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* What the program passes. */
struct hw_pack_given {
    enum hw_shape_direction direction; /* PACK: it is sent */
    uintptr_t memory;
    MPI_Count count;
    MPI_Datatype datatype;
};

struct hw_pack_message {
    _Alignas(64) struct hw_pack_given given;
    struct hw_plan *plan; /* held */
    int64_t bytes;        /* of `data` */
    MPI_Datatype type;    /* so many of it make up `data` */
    MPI_Count count;
    MPI_Request request; /* once the program has freed it */
    struct hw_pack_message *next;
    _Alignas(64) char data[];
};

/* NULL: the pool has no room, or the datatype no twin. */
struct hw_pack_message *hw_pack_message_make(const struct hw_pack_given *given, struct hw_plan *plan,
                                             int64_t bytes);
void hw_pack_message_free(struct hw_pack_message *message);

/* Packs the whole. */
void hw_pack_message_fill(struct hw_pack_message *message);

/* Unpacks what has come. */
void hw_pack_message_empty(struct hw_pack_message *message, const MPI_Status *status, int error);

/* After a post that succeeded; before it hw_request_reserve did. The message is the request's from here on.
 */
void hw_pack_message_attach(struct hw_pack_message *message, MPI_Request request, bool is_persistent);

/* Messages whose active request the program has freed. Sees which of them are through. */
void hw_pack_message_look_after(void);
/* In MPI_Finalize: waits for those. */
void hw_pack_message_finish(void);

#endif
