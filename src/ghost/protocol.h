/* SPDX-License-Identifier: BSD-3-Clause */
/* What user processes say to ghosts, and what ghosts answer. All of it travels on hw_world.all.
 *
 * A user process sends commands: one struct each, with the message tag HW_GHOST_TAG_COMMAND. What a command
 * asks for is its `tag`, in the range of the service that obeys it (service.h). Messages that follow a
 * command have tags of the same range. An answer, if there is one, is a grant: an empty message with the tag
 * that the command named. */
#ifndef HW_GHOST_PROTOCOL_H
#define HW_GHOST_PROTOCOL_H

#include <assert.h>
#include <stdint.h>

enum hw_ghost_tag {
    HW_GHOST_TAG_COMMAND = 1,
    HW_GHOST_TAG_FINISH, /* of the loop itself. id: how many other commands this ghost gets in all; every user
                            process is in MPI_Finalize */
    HW_GHOST_TAG_NEVER,  /* no message has it */
    HW_GHOST_TAG_EXCHANGE,  /* of MPI_Comm_create_group (exchange.h) */
    HW_GHOST_TAG_LOCK = 16, /* of the locks. id, words: queue; a grant answers */
    HW_GHOST_TAG_UNLOCK,    /* id, words: no answer */
    /* Those of the engines' services: 32 to 1023. */
    HW_GHOST_TAG_GRANT_FIRST = 1024,
    HW_GHOST_TAG_GRANT_COUNT = 16384,
    /* Of grants that nobody waits for: each has its own as long as it is under way. */
    HW_GHOST_TAG_LATER_FIRST = HW_GHOST_TAG_GRANT_FIRST + HW_GHOST_TAG_GRANT_COUNT,
    HW_GHOST_TAG_LATER_COUNT = 1024,
};

enum { HW_GHOST_COMMAND_WORDS = 6 };

struct hw_ghost_command {
    int32_t tag;
    int32_t grant_tag;                     /* of an answer; 0: none is expected */
    uint64_t id;                           /* of what it is about: the same at all processes that know it */
    int32_t words[HW_GHOST_COMMAND_WORDS]; /* the service's own */
};
static_assert(sizeof(struct hw_ghost_command) == 40, "both sides read it as bytes");

#endif
