/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages of derived datatypes at the edges of MPI: truncated, cancelled, freed while active,
 * shorter than an element, from MPI_BOTTOM, to nobody, with arguments that are wrong. Two ranks; each case
 * twice with the same datatype, for the first use shows only that the MPI accepts it. */
#include "check.h"

enum { ROWS = 600, PITCH = 5, INTS = ROWS * PITCH, REPEATS = 3 };

static int sent[2 * INTS], received[2 * INTS];
static MPI_Datatype column; /* every fifth int */
static int peer;

static void refill(void)
{
    check_fill(sent, 2 * INTS, (unsigned)check_rank + 3);
    memset(received, 0x5a, sizeof received);
}

static void say(const char *name, int number)
{
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    for (int i = 0; i < 2 * INTS; i++)
        digest = (digest ^ (uint32_t)received[i]) * UINT64_C(0x100000001B3);
    printf("rank %d %s-%d %016llx\n", check_rank, name, number, (unsigned long long)digest);
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    return class;
}

/* The first half arrives, and is a success for nobody but the sender. */
static void truncated(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2], status;
    for (int i = 0; i < REPEATS; i++) {
        refill();
        MPI_Isend(sent, 2, column, peer, 1, MPI_COMM_WORLD, &requests[0]);
        int rc = MPI_Recv(received, 1, column, peer, 1, MPI_COMM_WORLD, &status);
        CHECK(class_of(rc) == MPI_ERR_TRUNCATE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        for (int j = ROWS * PITCH; j < 2 * INTS; j++)
            CHECK(received[j] == 0x5a5a5a5a);
        for (int j = 0; j < ROWS * PITCH; j++)
            CHECK(j % PITCH == 0 || received[j] == 0x5a5a5a5a);
        refill();
        MPI_Irecv(received, 1, column, peer, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(sent, 2, column, peer, 2, MPI_COMM_WORLD, &requests[0]);
        rc = MPI_Waitall(2, requests, i == 1 ? MPI_STATUSES_IGNORE : statuses);
        if (i != 1)
            CHECK(class_of(rc) != MPI_ERR_IN_STATUS || class_of(statuses[1].MPI_ERROR) == MPI_ERR_TRUNCATE);
        /* Without statuses, and where the send was complete before, Open MPI 5 tells in the second wait
         * alone; plain, too. */
        for (int k = 0; k < 2; k++)
            if (requests[k] != MPI_REQUEST_NULL && MPI_Wait(&requests[k], MPI_STATUS_IGNORE) != MPI_SUCCESS)
                rc = MPI_ERR_OTHER;
        CHECK(rc != MPI_SUCCESS);
        MPI_Barrier(MPI_COMM_WORLD);
        printf("rank %d truncated-%d\n", check_rank, i);
    }
}

static void cancelled(void)
{
    for (int i = 0; i < REPEATS; i++) {
        MPI_Request request;
        MPI_Status status;
        int flag;
        refill();
        MPI_Irecv(received, 2, column, peer, 77, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &flag);
        CHECK(flag);
        say("cancelled", i);
    }
}

/* A send whose request is freed at once is sent all the same, what the program writes there later is not. */
static void freed_send(void)
{
    for (int i = 0; i < REPEATS; i++) {
        MPI_Request request;
        MPI_Status status;
        refill();
        MPI_Issend(sent, 2, column, peer, 3, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL);
        MPI_Recv(received, 2, column, peer, 3, MPI_COMM_WORLD, &status);
        MPI_Barrier(MPI_COMM_WORLD);
        say("freed-send", i);
    }
}

/* A receive whose request is freed: the message that follows on the same way tells that it is there. */
static void freed_receive(void)
{
    for (int i = 0; i < REPEATS; i++) {
        MPI_Request request, other;
        int token = 0;
        refill();
        MPI_Irecv(received, 2, column, peer, 4, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Isend(sent, 2, column, peer, 4, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (i % 2 == 0) {
            MPI_Sendrecv(&i, 1, MPI_INT, peer, 5, &token, 1, MPI_INT, peer, 5, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(&token, 1, MPI_INT, peer, 5, MPI_COMM_WORLD, &other);
            MPI_Send(&i, 1, MPI_INT, peer, 5, MPI_COMM_WORLD);
            MPI_Wait(&other, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        say("freed-receive", i);
    }
}

/* 1001 ints into columns: not a whole number of them. */
static void partial(void)
{
    for (int i = 0; i < REPEATS; i++) {
        MPI_Status status;
        MPI_Request request;
        int count, elements;
        refill();
        MPI_Isend(sent, 1001, MPI_INT, peer, 6, MPI_COMM_WORLD, &request);
        MPI_Probe(peer, 6, MPI_COMM_WORLD, &status);
        MPI_Get_elements(&status, column, &elements);
        CHECK(elements == 1001);
        MPI_Recv(received, 2, column, peer, 6, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, column, &count);
        MPI_Get_elements(&status, column, &elements);
        CHECK(count == MPI_UNDEFINED && elements == 1001);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        say("partial", i);
    }
}

static void absolute(void)
{
    MPI_Aint place;
    int length = 2;
    MPI_Datatype there, here;
    MPI_Get_address(sent, &place);
    MPI_Type_create_struct(1, &length, &place, &column, &there);
    MPI_Get_address(received, &place);
    MPI_Type_create_struct(1, &length, &place, &column, &here);
    MPI_Type_commit(&there);
    MPI_Type_commit(&here);
    for (int i = 0; i < REPEATS; i++) {
        refill();
        MPI_Sendrecv(MPI_BOTTOM, 1, there, peer, 7, MPI_BOTTOM, 1, here, peer, 7, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        say("bottom", i);
    }
    MPI_Type_free(&there);
    MPI_Type_free(&here);
}

static void nobody(void)
{
    MPI_Status status;
    MPI_Request request;
    int count;
    refill();
    CHECK(MPI_Send(sent, 2, column, MPI_PROC_NULL, 8, MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(MPI_Recv(received, 2, column, MPI_PROC_NULL, 8, MPI_COMM_WORLD, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, column, &count);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && count == 0);
    MPI_Isend(sent, 0, column, peer, 8, MPI_COMM_WORLD, &request);
    MPI_Recv(received, 0, column, peer, 8, MPI_COMM_WORLD, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    say("nobody", 0);
}

static void wrong(void)
{
    MPI_Request request;
    MPI_Datatype uncommitted;
    refill();
    MPI_Type_vector(ROWS, 1, 3, MPI_INT, &uncommitted);
    int codes[] = {
        MPI_Send(sent, 2, column, check_size, 9, MPI_COMM_WORLD),
        MPI_Send(sent, 2, column, peer, -5, MPI_COMM_WORLD),
        MPI_Send(sent, -2, column, peer, 9, MPI_COMM_WORLD),
        MPI_Send(sent, 2, uncommitted, peer, 9, MPI_COMM_WORLD),
        MPI_Send(sent, 2, MPI_DATATYPE_NULL, peer, 9, MPI_COMM_WORLD),
        MPI_Isend(sent, 2, column, check_size, 9, MPI_COMM_WORLD, &request),
        MPI_Irecv(received, 2, column, check_size, 9, MPI_COMM_WORLD, &request),
        MPI_Recv(received, -2, column, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        MPI_Recv(received, 2, column, check_size, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
        MPI_Send_init(sent, 2, column, check_size, 9, MPI_COMM_WORLD, &request),
        MPI_Send(sent, 2, column, peer, 9, MPI_COMM_NULL),
    };
    MPI_Type_free(&uncommitted);
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++)
        printf("rank %d wrong-%zu %d\n", check_rank, i, class_of(codes[i]));
    say("wrong", 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    peer = 1 - check_rank;
    MPI_Datatype bare;
    MPI_Type_vector(ROWS, 1, PITCH, MPI_INT, &bare);
    MPI_Type_create_resized(bare, 0, ROWS * PITCH * (MPI_Aint)sizeof(int), &column);
    MPI_Type_commit(&column);
    MPI_Type_free(&bare);
    partial();
    absolute(); /* with MPI_ERRORS_ARE_FATAL: nothing of ours may raise an error that the program did not make
                 */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    nobody();
    cancelled();
    freed_send();
    freed_receive();
    wrong();
    truncated();
    MPI_Type_free(&column);
    MPI_Finalize();
    return 0;
}
