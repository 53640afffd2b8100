/* SPDX-License-Identifier: BSD-3-Clause */
/* Extensions (extensions.h) that take a communicator. With ghosts they must not get MPI_COMM_WORLD as the MPI
 * has it, whose ghosts take no part in them; nothing else is done about them. The two names of a function
 * stay apart: a tool behind us that has the first calls the second, which must not lead to the tool again. */
#include "real/extensions.h"
#include "real/fortran.h"
#include "real/real.h"
#include "real/table.h"

#define ENTRY(name, parameters, arguments)                                                                   \
    __attribute__((visibility("default"))) int name parameters;                                              \
    int name parameters                                                                                      \
    {                                                                                                        \
        static struct hw_real_fortran real = {#name, NULL};                                                  \
        __typeof__(name) *function = hw_real_fortran_find(&real);                                            \
        if (function == NULL)                                                                                \
            return hw_real_missing(#name);                                                                   \
        comm = hw_real_fortran_hooks.translate(comm);                                                        \
        return function arguments;                                                                           \
    }

#define ENTRIES(name, parameters, arguments)                                                                 \
    ENTRY(MPIX_##name, parameters, arguments)                                                                \
    ENTRY(PMPIX_##name, parameters, arguments)

/* Processes that fail. */
ENTRIES(Comm_agree, (MPI_Comm comm, int *flag), (comm, flag))
ENTRIES(Comm_failure_ack, (MPI_Comm comm), (comm))
ENTRIES(Comm_failure_get_acked, (MPI_Comm comm, MPI_Group *group), (comm, group))
ENTRIES(Comm_get_failed, (MPI_Comm comm, MPI_Group *group), (comm, group))
ENTRIES(Comm_revoke, (MPI_Comm comm), (comm))
ENTRIES(Comm_shrink, (MPI_Comm comm, MPI_Comm *shrunk), (comm, shrunk))

#if HW_ABI_OPEN_MPI

ENTRIES(Comm_ack_failed, (MPI_Comm comm, int wanted, int *acked), (comm, wanted, acked))
ENTRIES(Comm_iagree, (MPI_Comm comm, int *flag, MPI_Request *request), (comm, flag, request))
ENTRIES(Comm_is_revoked, (MPI_Comm comm, int *flag), (comm, flag))
ENTRIES(Comm_ishrink, (MPI_Comm comm, MPI_Comm *shrunk, MPI_Request *request), (comm, shrunk, request))

/* Persistent collectives before MPI 4.0. */
#define SENT const void *sent, int sent_count, MPI_Datatype sent_type
#define SENT_V const void *sent, const int sent_counts[], const int sent_places[], MPI_Datatype sent_type
#define RECEIVED void *received, int count, MPI_Datatype type
#define RECEIVED_V void *received, const int counts[], const int places[], MPI_Datatype type
#define REDUCED const void *sent, void *received, int count, MPI_Datatype type, MPI_Op op
#define REDUCED_V const void *sent, void *received, const int counts[], MPI_Datatype type, MPI_Op op
#define WHERE MPI_Comm comm, MPI_Info info, MPI_Request *request
#define EACH(PLACE)                                                                                          \
    const void *sent, const int sent_counts[], const PLACE sent_places[], const MPI_Datatype sent_types[],   \
        void *received, const int counts[], const PLACE places[], const MPI_Datatype types[]

#define GIVEN sent, sent_count, sent_type, received, count, type
#define GIVEN_V sent, sent_count, sent_type, received, counts, places, type
#define GIVEN_VV sent, sent_counts, sent_places, sent_type, received, counts, places, type
#define GIVEN_EACH sent, sent_counts, sent_places, sent_types, received, counts, places, types
#define THERE comm, info, request

ENTRIES(Allgather_init, (SENT, RECEIVED, WHERE), (GIVEN, THERE))
ENTRIES(Allgatherv_init, (SENT, RECEIVED_V, WHERE), (GIVEN_V, THERE))
ENTRIES(Allreduce_init, (REDUCED, WHERE), (sent, received, count, type, op, THERE))
ENTRIES(Alltoall_init, (SENT, RECEIVED, WHERE), (GIVEN, THERE))
ENTRIES(Alltoallv_init, (SENT_V, RECEIVED_V, WHERE), (GIVEN_VV, THERE))
ENTRIES(Alltoallw_init, (EACH(int), WHERE), (GIVEN_EACH, THERE))
ENTRIES(Barrier_init, (WHERE), (THERE))
ENTRIES(Bcast_init, (void *buffer, int count, MPI_Datatype type, int root, WHERE),
        (buffer, count, type, root, THERE))
ENTRIES(Exscan_init, (REDUCED, WHERE), (sent, received, count, type, op, THERE))
ENTRIES(Gather_init, (SENT, RECEIVED, int root, WHERE), (GIVEN, root, THERE))
ENTRIES(Gatherv_init, (SENT, RECEIVED_V, int root, WHERE), (GIVEN_V, root, THERE))
ENTRIES(Neighbor_allgather_init, (SENT, RECEIVED, WHERE), (GIVEN, THERE))
ENTRIES(Neighbor_allgatherv_init, (SENT, RECEIVED_V, WHERE), (GIVEN_V, THERE))
ENTRIES(Neighbor_alltoall_init, (SENT, RECEIVED, WHERE), (GIVEN, THERE))
ENTRIES(Neighbor_alltoallv_init, (SENT_V, RECEIVED_V, WHERE), (GIVEN_VV, THERE))
ENTRIES(Neighbor_alltoallw_init, (EACH(MPI_Aint), WHERE), (GIVEN_EACH, THERE))
ENTRIES(Reduce_init, (REDUCED, int root, WHERE), (sent, received, count, type, op, root, THERE))
ENTRIES(Reduce_scatter_init, (REDUCED_V, WHERE), (sent, received, counts, type, op, THERE))
ENTRIES(Reduce_scatter_block_init, (REDUCED, WHERE), (sent, received, count, type, op, THERE))
ENTRIES(Scan_init, (REDUCED, WHERE), (sent, received, count, type, op, THERE))
ENTRIES(Scatter_init, (SENT, RECEIVED, int root, WHERE), (GIVEN, root, THERE))
ENTRIES(Scatterv_init, (SENT_V, RECEIVED, int root, WHERE),
        (sent, sent_counts, sent_places, sent_type, received, count, type, root, THERE))

#else

/* Threads as processes, and streams, whose handles are numbers. */
ENTRIES(Comm_get_stream, (MPI_Comm comm, int place, int *stream), (comm, place, stream))
ENTRIES(Comm_test_threadcomm, (MPI_Comm comm, int *flag), (comm, flag))
ENTRIES(Stream_comm_create, (MPI_Comm comm, int stream, MPI_Comm *made), (comm, stream, made))
ENTRIES(Stream_comm_create_multiplex, (MPI_Comm comm, int count, int streams[], MPI_Comm *made),
        (comm, count, streams, made))
ENTRIES(Threadcomm_init, (MPI_Comm comm, int thread_count, MPI_Comm *made), (comm, thread_count, made))

/* What the program's function is told is its own world. */
#define HANDLER_ENTRY(name)                                                                                  \
    __attribute__((visibility("default"))) hw_real_handler_create name;                                      \
    int name(hw_real_handler_function *function, hw_real_handler_destructor *destructor, void *state,        \
             MPI_Errhandler *errhandler)                                                                     \
    {                                                                                                        \
        static struct hw_real_fortran real = {#name, NULL};                                                  \
        hw_real_handler_create *create = hw_real_fortran_find(&real);                                        \
        if (create == NULL)                                                                                  \
            return hw_real_missing(#name);                                                                   \
        return hw_real_extension_hooks.create_handler(create, function, destructor, state, errhandler);      \
    }

HANDLER_ENTRY(MPIX_Comm_create_errhandler_x)
HANDLER_ENTRY(PMPIX_Comm_create_errhandler_x)

#endif
