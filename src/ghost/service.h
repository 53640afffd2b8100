/* SPDX-License-Identifier: BSD-3-Clause */
/* A service: what ghosts do for one engine, and what both sides of it do when the job begins and ends.
 *
 * An engine registers its service in every process, before MPI_Init* splits the world (any may become a
 * ghost). In a ghost the loop (run.h) hands each command to the service whose tags it has, and gives every
 * service its turn in each round. doc/adr/0023.
 *
 * Every member but name and tags may be NULL. */
#ifndef HW_GHOST_SERVICE_H
#define HW_GHOST_SERVICE_H

#include "base/status.h"
#include "ghost/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_ghost_service {
    const char *name;
    struct {
        int first, count; /* of commands, and of the messages that follow them; no other service has them */
    } tags;

    /* In a ghost, its only thread; `obey` and `poll` with its lock held (apply_lock.h). */

    /* Collective with `open` and `close` of the user processes, in the order in which services were added. */
    void (*begin)(void);
    void (*end)(void);
    /* A command with a tag of this service came from ORIGIN, a rank in hw_world.all. */
    void (*obey)(const struct hw_ghost_command *command, int origin);
    /* Once in each round. True: it did something, so there may be more to do. */
    bool (*poll)(void);
    /* True: the ghost must not sleep, since nothing would wake it for what this service has to do. */
    bool (*has_work)(void);
    /* True: the MPI may have something to do for it that was missed, so the ghost looks now and then. */
    bool (*needs_net)(void);
    /* It is about to sleep, or wakes for a moment; without the lock and without MPI. Returns how long nothing
     * is to be done here, in ns. */
    uint64_t (*asleep)(void);

    /* In a user process. */

    /* In MPI_Init*. Anything but HW_OK, after one line, ends the job. */
    enum hw_status (*open)(void);
    /* A ghost of this node has died, and the job does without: from a thread of ours in the node's first user
     * process, no MPI. NULL: the service has nothing to lose. */
    void (*lost)(void);
    /* Collective over the user processes, in MPI_Finalize: whether that happened on any node. */
    bool (*was_lost)(void);
    /* In MPI_Finalize, when the program can do nothing more: the last commands. */
    void (*leave)(void);
    /* After every command of every process was sent. */
    void (*close)(void);
};

/* HW_BAD_INPUT: its tags overlap another's, or it cannot be told what its tags ask for; HW_NOMEM: there are
 * too many. A service that was added stays. Before MPI_Init* returns, by one thread. */
enum hw_status hw_ghost_service_add(const struct hw_ghost_service *service);

/* In the order in which they were added; NULL: there are no more. */
const struct hw_ghost_service *hw_ghost_service_at(int index);

/* True where nothing that the program does needs a ghost, so that the job can do without. */
bool hw_ghost_services_are_dispensable(void);
void hw_ghost_services_lost(void);
bool hw_ghost_services_were_lost(void);

/* Hands it to its service. False: no service has such a tag. */
bool hw_ghost_services_obey(const struct hw_ghost_command *command, int origin);

/* A turn for each, a different one first in each round. True: one of them did something. */
bool hw_ghost_services_poll(void);

bool hw_ghost_services_have_work(void);

bool hw_ghost_services_need_net(void);

/* The shortest time that one of them says. */
uint64_t hw_ghost_services_asleep(void);

#endif
