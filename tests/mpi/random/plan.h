/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the plan of one randomly generated, legal MPI program.
 *
 * A plan is drawn from a seed by every rank alike, so all ranks hold the same one. It is deadlock-free by
 * construction: each iteration posts every receive, then every send, then receives by probe, and only
 * then completes anything. What MPI leaves open (which message a wildcard receive gets) is kept apart in
 * groups whose results are sorted before they are hashed; everything else must come out the same in
 * every run. */
#ifndef RANDOM_PLAN_H
#define RANDOM_PLAN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_MESSAGES = 20, MAX_COLLECTIVES = 3, MAX_ITERATIONS = 3, MANY_ITERATIONS = 12, TYPE_COUNT = 8 };
enum { MAX_EXCHANGES = 6, MAX_CHAIN = 4, MAX_CANCELLED_INTS = 50000 };

#if defined(OMPI_MAJOR_VERSION)
#define HAVE_PARTITIONED 0         /* since 5.0, but waiting for a few of them at once hangs */
#define HAVE_PERSISTENT_BUFFERED 0 /* 4.1: a restarted MPI_Bsend_init may send stale data with threads */
#define HAVE_PERSISTENT_COLLECTIVES (OMPI_MAJOR_VERSION >= 5)
#else
#define HAVE_PARTITIONED (MPI_VERSION >= 4)
#define HAVE_PERSISTENT_BUFFERED 1
#define HAVE_PERSISTENT_COLLECTIVES (MPI_VERSION >= 4)
#endif

/* MPICH 4.0 and 5.0 free a datatype of an exchange between nodes too early, plain too. */
#if defined(OMPI_MAJOR_VERSION)
#define HAVE_EXCHANGED_TYPES 1
#else
#define HAVE_EXCHANGED_TYPES 0
#endif

/* Intel MPI 2021 crashes when a synchronous send within the node ends after MPI_Comm_free of its
 * communicator, plain too. */
#if defined I_MPI_VERSION
#define HAVE_SYNCHRONOUS_ON_FREED 0
#else
#define HAVE_SYNCHRONOUS_ON_FREED 1
#endif

/* MPICH 5.0 over UCX crashes when a large send within the node is cancelled, plain too. */
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION >= 50000000
#define HAVE_CANCELLED_SENDS 0
#else
#define HAVE_CANCELLED_SENDS 1
#endif

/* MPICH 4.0 does not recognise inactive persistent collectives, and MPICH 4.0 and 5.0 report an error that is
 * none when a partitioned request is in an array: such requests are completed one by one, only while active.
 */
#if defined(OMPI_MAJOR_VERSION)
#define HAVE_NEW_KINDS_IN_ARRAYS 1
#else
#define HAVE_NEW_KINDS_IN_ARRAYS 0
#endif

struct rng {
    uint64_t state;
};

/* One communicator per kind of matching, so that wildcards never meet messages meant for others. */
enum matching {
    MATCH_EXACT,      /* source and tag given */
    MATCH_ANY_TAG,    /* source given: order between two processes decides */
    MATCH_ANY_SOURCE, /* tag given, one tag a group: the group's results are sorted */
    MATCH_ANY_ANY,    /* the results of all receives of one process are sorted */
    MATCH_COUNT
};

enum send_mode { SEND_STANDARD, SEND_SYNCHRONOUS, SEND_BUFFERED, SEND_READY, SEND_MODE_COUNT };
enum receive_mode { RECV_POSTED, RECV_MPROBE_IMRECV, RECV_IMPROBE_MRECV, RECV_IPROBE_IRECV, RECV_MODE_COUNT };

struct message {
    int source, dest, tag;
    enum matching matching;
    enum send_mode send_mode;
    enum receive_mode receive_mode;
    bool is_partitioned;
    bool is_send_persistent, is_receive_persistent;
    bool is_send_freed;                         /* MPI_Request_free while the send is active */
    bool is_send_absolute, is_receive_absolute; /* from, or to, MPI_BOTTOM */
    int send_type, receive_type;
    int send_count;   /* elements of send_type */
    int room_ints;    /* ints the receive has room for: at least those of every message that may match */
    int partitions;   /* of a partitioned message: both sides */
    int group;        /* results of one group at one process are sorted; -1: none */
    uint64_t payload; /* seed of the bytes sent */
};

enum collective_kind {
    COLL_BARRIER,
    COLL_BCAST,
    COLL_GATHER,
    COLL_GATHERV,
    COLL_SCATTER,
    COLL_SCATTERV,
    COLL_ALLGATHER,
    COLL_ALLGATHERV,
    COLL_ALLTOALL,
    COLL_ALLTOALLV,
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_REDUCE_SCATTER_BLOCK,
    COLL_SCAN,
    COLL_EXSCAN,
    COLL_KIND_COUNT
};

struct collective {
    enum collective_kind kind;
    int root;
    int count; /* int64_t elements per peer */
    bool is_persistent;
    uint64_t payload;
};

/* What all processes do alike on a communicator of one iteration: each sends to one other process, and
 * receives from one. */
enum exchange_kind {
    EXCHANGE_ISENDRECV,
    EXCHANGE_ISENDRECV_REPLACE,
    EXCHANGE_SENDRECV,
    EXCHANGE_SENDRECV_REPLACE,
    EXCHANGE_PLAIN,     /* MPI_Irecv and MPI_Isend, or MPI_Issend */
    EXCHANGE_CHAIN,     /* several messages, matched by probes first, and received in another order */
    EXCHANGE_RESTARTED, /* persistent ones, many times */
    EXCHANGE_FREED,     /* the send's request is freed at once */
    EXCHANGE_KIND_COUNT
};

struct exchange {
    enum exchange_kind kind;
    int distance; /* in ranks */
    int type, chain;
    int repeats; /* of restarted ones */
    bool is_synchronous, is_send_cancelled;
    uint64_t payload; /* of the bytes, and of each sender's length */
};

enum transient_kind {
    TRANSIENT_NONE,
    TRANSIENT_DUPLICATE,
    TRANSIENT_SPLIT,    /* ranks in the opposite order */
    TRANSIENT_ASSERTED, /* with the assertions that seal it */
    TRANSIENT_INTER,
    TRANSIENT_KIND_COUNT
};

struct plan {
    int message_count, collective_count, iterations, exchange_count;
    struct message messages[MAX_MESSAGES];
    struct collective collectives[MAX_COLLECTIVES];
    struct exchange exchanges[MAX_EXCHANGES];
    enum transient_kind transient;
    bool is_transient_freed_early; /* while its messages are under way */
    int max_exchange_bytes;
    int cancelled_ints;  /* of the receive that is cancelled */
    bool has_ready_send; /* a barrier stands between receives and sends */
    bool wants_barrier;  /* a barrier ends the iteration */
    bool wants_nonblocking_barrier;
    bool wants_collectives_first;
    bool wants_cancelled_receive;
    bool wants_inactive_request; /* a persistent request never started sits in the arrays */
    bool ignores_statuses;
    int compute_us;
};

uint64_t rng_next(struct rng *rng);
/* Uniform in [0, bound). */
int rng_below(struct rng *rng, int bound);
bool rng_chance(struct rng *rng, int percent);

/* Ints in one element of each derived type; the types themselves are made by types_create. */
extern const int type_ints[TYPE_COUNT];
void types_create(MPI_Datatype types[TYPE_COUNT]);
void types_free(MPI_Datatype types[TYPE_COUNT]);

/* Draws a length around the sizes at which MPIs change their ways. */
int draw_bytes(struct rng *rng, int eager_bytes, int max_bytes);

/* Draws one plan for `size` processes. Sizes lie around `eager_bytes`; none exceeds `max_bytes`. */
void plan_draw(struct plan *plan, struct rng *rng, int size, int eager_bytes, int max_bytes);

/* How many messages all processes send, those of exchanges included and those of collectives not. */
long plan_messages(const struct plan *plan, int size);

/* Makes of it a plan without wildcards in which each receive has the length of its message. */
void plan_make_exact(struct plan *plan);

#endif
