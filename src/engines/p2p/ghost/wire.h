/* SPDX-License-Identifier: BSD-3-Clause */
/* What ghosts tell one another of messages that they move, over a communicator of theirs: notes, and the data
 * of messages in chunks of a unit (shared/room.h), the last one of a message shorter. Nothing here waits but
 * opening and closing. Ghost's only thread. */
#ifndef HW_ENGINES_P2P_GHOST_WIRE_H
#define HW_ENGINES_P2P_GHOST_WIRE_H

#include "real/real.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HW_P2P_MESSAGES_MAX = 16,        /* of one ghost to another that are sent, and received, at once */
    HW_P2P_CHUNK_BYTES = 256 * 1024, /* of a message that was pulled; the last one has less */
    HW_P2P_TAG_PULLED = 4096,        /* the first of those that the receiver of a message chooses */
};

enum hw_p2p_note_kind {
    HW_P2P_NOTE_OFFER = 1, /* a message follows, in chunks with the tag. A chunk without bytes: the sender's
                              memory cannot be read */
    HW_P2P_NOTE_FREED, /* number: messages that the receiver has given back; units: of those since the last
                          note; rest: those of them that are the sender's credit again */
    HW_P2P_NOTE_WITHDRAWN, /* number: of a message that was offered, and that nobody will ask for */
    HW_P2P_NOTE_ASK,       /* for units more of `to`, a ghost; rest: 1 if a message went without */
    HW_P2P_NOTE_GRANT,     /* the answer; rest: what is to come still */
    HW_P2P_NOTE_RECALL,    /* others need them */
    HW_P2P_NOTE_RETURN,    /* the answer, if there are any */
    HW_P2P_NOTE_END,       /* the last note */

    /* On sealed communicators (sealed.h). `number` is what the ghost knows a message, or a question, by that
     * the note is about: the sender's of the first five, the asker's of the others. */
    HW_P2P_NOTE_SEALED,    /* a message, with comm, before, and its own tag */
    HW_P2P_NOTE_PULL,      /* it has its receive: it is to be sent, in chunks with the tag */
    HW_P2P_NOTE_CANCEL,    /* it is not to be received, unless it has its receive; with comm and tag */
    HW_P2P_NOTE_CANCELLED, /* nor will it be */
    HW_P2P_NOTE_FLUSH,     /* what process `from` has posted so far is to be told; then the answer is */
    HW_P2P_NOTE_FLUSHED,
};

struct hw_p2p_note {
    int32_t kind;     /* enum hw_p2p_note_kind */
    int32_t from, to; /* of the message: ranks in hw_world.all */
    int32_t tag;
    uint64_t number, bytes; /* as in struct hw_p2p_job */
    uint32_t units, rest;   /* of room */
    uint64_t comm, before;  /* on sealed communicators: its number; smaller messages before this one */
};
static_assert(sizeof(struct hw_p2p_note) == 56, "both sides read it as bytes");

/* Collective over hw_world.all. False, in any process: it has nothing, and says so in what follows. */
bool hw_p2p_wire_open(void);
void hw_p2p_wire_free(void);

/* In ghosts, once all processes have it. */
void hw_p2p_wire_listen(void);

/* A ghost is told by its place (hw_world_ghost_place). Notes of one ghost to another arrive in order. False:
 * there is no room now; after has_room there is. */
bool hw_p2p_wire_has_room(void);
bool hw_p2p_wire_tell(int place, const struct hw_p2p_note *note);

/* False: there is none. */
bool hw_p2p_wire_hear(int *place, struct hw_p2p_note *note);

/* A number that no two messages of this ghost to that one have at the same time. */
int hw_p2p_wire_tag(int place, bool (*is_used)(int place, int tag));

void hw_p2p_wire_send(int place, int tag, const void *data, uint64_t bytes, MPI_Request *request);
void hw_p2p_wire_receive(int place, int tag, void *data, uint64_t bytes, MPI_Request *request);

/* Whether it is complete; then *bytes are what came. */
bool hw_p2p_wire_has_come(MPI_Request *request, uint64_t *bytes);

/* Says END to all. After that nothing is told. */
void hw_p2p_wire_say_end(void);
/* Every ghost has said END, and all that was told was sent. */
bool hw_p2p_wire_has_ended(void);

#endif
