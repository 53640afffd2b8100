/* SPDX-License-Identifier: BSD-3-Clause */
/* A message of ours: the packed form of one of the program's, in a buffer of the pool, from before the real
 * call until the MPI is through with it. Where the program gets a request for it the message is that
 * request's attachment. Any thread, inside MPI. */
#ifndef HW_ENGINES_PACK_MESSAGE_H
#define HW_ENGINES_PACK_MESSAGE_H

#include "engines/pack/given.h"
#include "engines/pack/twin.h"
#include "engines/pack/worth.h"
#include "objects/datatype/plan.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_pack_message {
    _Alignas(64) struct hw_pack_given given;
    struct hw_plan *plan;     /* held */
    bool is_packed;           /* else by the MPI's way: `data` is empty, and what it takes is to be learnt */
    int64_t bytes;            /* of the packed form */
    struct hw_pack_look look; /* until it has ended */
    MPI_Datatype held;        /* of the same contents, for that, if the program may free its own before */
    MPI_Datatype type;        /* so many of it make up `data` */
    MPI_Count count;
    MPI_Request request; /* once the program has freed it */
    struct hw_pack_message *next;
    _Alignas(64) char data[];
};

/* NULL: the pool has no room, or the datatype no twin. The look is the message's from here on. */
struct hw_pack_message *hw_pack_message_make(const struct hw_pack_given *given, struct hw_plan *plan,
                                             struct hw_pack_verdict *verdict);
void hw_pack_message_free(struct hw_pack_message *message);

/* Packs the whole. */
void hw_pack_message_fill(struct hw_pack_message *message);

/* Unpacks what has come. */
void hw_pack_message_empty(struct hw_pack_message *message, const MPI_Status *status, int error);

/* It is through, and unpacked. */
void hw_pack_message_learn(struct hw_pack_message *message, const MPI_Status *status, int error);

/* After a post that succeeded; before it hw_request_reserve did. The message is the request's from here on.
 */
void hw_pack_message_attach(struct hw_pack_message *message, MPI_Request request, bool is_persistent);

/* Messages whose active request the program has freed. Sees which of them are through. */
void hw_pack_message_look_after(void);
/* The same of a few sends, before a call that needs a buffer and tells the program of no end. */
void hw_pack_message_give_back(void);
/* So many of them are receives that a further one should not be packed. */
bool hw_pack_message_frees_many(void);
/* In MPI_Finalize: waits for those. */
void hw_pack_message_finish(void);

#endif
