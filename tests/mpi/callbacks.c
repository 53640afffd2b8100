/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: the program's code run by MPI from inside MPI: attribute callbacks, generalized requests and
 * user-defined reductions that themselves call MPI and complete requests, while large messages are pending.
 */
#include "check.h"

static int *sent, *received;
static int peer, calls;
static MPI_Request from_callback;

/* Posts and completes a large exchange with itself inside a callback. */
static void exchange_inside(void)
{
    MPI_Request both[2];
    static int out[LARGE_INTS], in[LARGE_INTS];
    check_fill(out, LARGE_INTS, 5);
    MPI_Irecv(in, LARGE_INTS, MPI_INT, 0, 8, MPI_COMM_SELF, &both[0]);
    MPI_Isend(out, LARGE_INTS, MPI_INT, 0, 8, MPI_COMM_SELF, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    CHECK(check_is_filled(in, LARGE_INTS, 5));
    calls++;
}

static int delete_attribute(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    exchange_inside();
    if (from_callback != MPI_REQUEST_NULL) /* a request the program posted outside */
        MPI_Wait(&from_callback, MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
}

static void attributes(void)
{
    MPI_Comm comm;
    MPI_Request receive;
    int key;
    calls = 0;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL);
    MPI_Comm_set_attr(comm, key, &calls);
    check_fill(sent, LARGE_INTS, (unsigned)check_rank);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &receive);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 1, MPI_COMM_WORLD, &from_callback);
    check_compute(COMPUTE_US);
    MPI_Comm_delete_attr(comm, key);
    CHECK(calls == 1 && from_callback == MPI_REQUEST_NULL);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    CHECK(check_is_filled(received, LARGE_INTS, (unsigned)peer));
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&comm);
    check_report("attributes", check_digest(received, LARGE_INTS * sizeof(int)));
}

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_INT, 17);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (*(int *)extra)++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int is_complete)
{
    (void)extra;
    (void)is_complete;
    return MPI_SUCCESS;
}

static void generalized_requests(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int released = 0, count = 0, done = 0;
    MPI_Grequest_start(query, release, cancel, &released, &requests[1]);
    check_fill(sent, LARGE_INTS, 30u + (unsigned)check_rank);
    MPI_Irecv(received, LARGE_INTS, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, LARGE_INTS, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[2]);
    check_compute(COMPUTE_US);
    MPI_Request_get_status(requests[1], &done, &statuses[1]);
    CHECK(!done);
    MPI_Testall(3, requests, &done, statuses);
    CHECK(!done && requests[1] != MPI_REQUEST_NULL);
    MPI_Grequest_complete(requests[1]);
    MPI_Waitall(3, requests, statuses);
    MPI_Get_count(&statuses[1], MPI_INT, &count);
    CHECK(count == 17 && released == 1);
    CHECK(check_is_filled(received, LARGE_INTS, 30u + (unsigned)peer));
    check_report("generalized", check_digest(received, LARGE_INTS * sizeof(int)));
}

static void reduce(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout, size;
    MPI_Type_size(*type, &size); /* may run on the progress thread */
    CHECK(size == (int)sizeof(int));
    for (int i = 0; i < *length; i++)
        b[i] ^= a[i];
}

static void reductions(void)
{
    MPI_Op op;
    MPI_Request request;
    MPI_Op_create(reduce, 1, &op);
    check_fill(sent, LARGE_INTS, 60u + (unsigned)check_rank);
    MPI_Iallreduce(sent, received, LARGE_INTS, MPI_INT, op, MPI_COMM_WORLD, &request);
    check_compute(COMPUTE_US);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Op_free(&op);
    check_report("reductions", check_digest(received, LARGE_INTS * sizeof(int)));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    peer = check_rank ^ 1;
    from_callback = MPI_REQUEST_NULL;
    sent = check_ints(LARGE_INTS);
    received = check_ints(LARGE_INTS);
    attributes();
    generalized_requests();
    reductions();
    free(sent);
    free(received);
    MPI_Finalize();
    return 0;
}
