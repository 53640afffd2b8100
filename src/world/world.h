/* SPDX-License-Identifier: BSD-3-Clause */
/* The world is split into user processes and ghosts.
 *
 * Every process of MPI_COMM_WORLD calls hw_world_split in MPI_Init*, and knows the same afterwards. Some
 * processes of each node become its ghosts (placement.h); the others keep their order and are the program's
 * world. All communicators here are private: nothing of the program ever travels on them. Filled once, then
 * read-only until the end of MPI_Finalize; any thread may read. */
#ifndef HW_WORLD_WORLD_H
#define HW_WORLD_WORLD_H

#include "base/options.h"
#include "base/status.h"
#include "base/visibility.h"
#include "real/real.h"

#include <sys/types.h>

struct hw_world_process {
    int node;
    int user_rank;   /* in the program's world; -1: a ghost */
    int local_index; /* among the user processes, or among the ghosts, of its node */
    int ghost;       /* rank in `all` of the ghost that serves it; of a ghost: its own */
};

struct hw_world_node {
    int process_count, ghost_count;
    int first_ghost; /* in ghost_ranks */
};

struct hw_world {
    MPI_Comm all; /* every process, in the order of MPI_COMM_WORLD */
    MPI_Comm
        ghosts_first; /* every process: the ghosts in the order of ghost_ranks, then the user processes */
    MPI_Comm users;   /* the program's world */
    MPI_Comm node;    /* this node: its user processes, then its ghosts */
    int rank, size;   /* in `all` */
    int user_rank;    /* -1 in a ghost */
    int user_count;
    int node_count;
    int ghost_count;                    /* of all nodes; 0: no ghosts */
    struct hw_world_process *processes; /* by rank in `all` */
    struct hw_world_node *nodes;
    const struct hw_world_node *own_node;
    int *user_ranks;       /* rank in `all`, by rank in `users` */
    int *ghost_ranks;      /* rank in `all`, node by node, in a node by rank */
    pid_t *node_pids;      /* by rank in `node`; a user's own word, 0 if unknown */
    const char *placement; /* how the ghosts of this node were chosen, for the record */
};

extern HW_HIDDEN struct hw_world hw_world;

/* Collective over MPI_COMM_WORLD. HW_OK; HW_BAD_INPUT, after one line, if processes have unlike options
 * (agreement.h), a node is too small for its ghosts, or their number depends on sockets that nothing tells
 * of: every process gets it; HW_MPI, after one line, if the MPI refuses. */
enum hw_status hw_world_split(struct hw_option_share wanted);

static inline bool hw_world_has_ghosts(void) { return hw_world.ghost_count > 0; }
static inline bool hw_world_is_ghost(void) { return hw_world_has_ghosts() && hw_world.user_rank < 0; }

/* The ghosts of a node: nodes[node].ghost_count ranks in `all`. */
static inline const int *hw_world_ghosts_of_node(int node)
{
    return hw_world.ghost_ranks + hw_world.nodes[node].first_ghost;
}

/* Place in ghost_ranks of the ghost that serves `process`, a rank in `all`; of a ghost: its own. */
static inline int hw_world_ghost_place(int process)
{
    const struct hw_world_process *ghost = &hw_world.processes[hw_world.processes[process].ghost];
    return hw_world.nodes[ghost->node].first_ghost + ghost->local_index;
}

/* User processes of this node: in `node` they are first, its ghosts last. */
static inline int hw_world_own_user_count(void)
{
    return hw_world.own_node->process_count - hw_world.own_node->ghost_count;
}

/* Where the ghost that serves this process is in `node`. */
static inline int hw_world_ghost_in_node(void)
{
    int ghost = hw_world.processes[hw_world.rank].ghost;
    return hw_world_own_user_count() + hw_world.processes[ghost].local_index;
}

static inline int hw_world_own_node(void) { return hw_world.processes[hw_world.rank].node; }

/* Of the first `process_count` processes of this node, in the order of `node`, the caller among them: whether
 * those that may run where it may are more than the cores they may run on, so that somebody must share. A
 * launcher that binds each process leaves each its own. `when_unknown` where the kernel does not tell. */
bool hw_world_is_crowded(int process_count, bool when_unknown);

/* Where there are ghosts: whether `comm` is the program's world or made of it by MPI_Comm_dup, once or again.
 */
bool hw_world_is_duplicate(MPI_Comm comm);

/* Collective over `comm`, one of the above: true if all its processes have what they say they have, and the
 * MPI let them tell. */
bool hw_world_have_all(MPI_Comm comm, bool has_one);

/* `before_end` runs within MPI_Finalize of a user process, after every attribute callback of the program's on
 * MPI_COMM_SELF (MPI-4.1 section 11.2.4), when the program can do nothing more. The program's world ends
 * right after it. */
enum hw_status hw_world_at_end(void (*before_end)(void));

/* Frees the communicators. Collective over `all`. */
void hw_world_end(void);

#endif
