/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: messages sent right before MPI_Finalize arrive, and everybody leaves it. Each process sends to
 * each other one and calls MPI_Finalize at once; those of odd rank receive late. No two processes are in
 * step, and nothing is sent to tell that a message has come.
 *
 *   eager     16 small ones each: MPI_Isend and MPI_Request_free
 *   buffered  the same with MPI_Bsend
 *   large     one of 1 MiB, completed by MPI_Waitall
 *   freed     one of 1 MiB, MPI_Isend and MPI_Request_free: MPI_Finalize has to send what is left of it
 *   callback  small ones from an attribute callback on MPI_COMM_SELF, so within MPI_Finalize
 */
#include "check.h"

#include <unistd.h>

enum { SMALL = 64, LARGE = 1 << 20, SMALL_COUNT = 16, MOST = 64, LATE_US = 30 * 1000 };

static int rank, size;
static int bytes, count;
static char *sent, *received;
static char buffer[MOST * SMALL_COUNT * (SMALL + MPI_BSEND_OVERHEAD)];

static char content(int from, int to, int number, int at) { return (char)(from * 31 + to * 7 + number + at); }

static char *sent_to(int to, int number) { return sent + ((size_t)to * count + number) * bytes; }

static void send_all(const char *how)
{
    for (int to = 0; to < size; to++)
        for (int number = 0; number < count; number++)
            for (int at = 0; at < bytes; at++)
                sent_to(to, number)[at] = content(rank, to, number, at);
    for (int number = 0; number < count; number++)
        for (int to = 0; to < size; to++) {
            MPI_Request request;
            if (to == rank)
                continue;
            if (strcmp(how, "buffered") == 0) {
                MPI_Bsend(sent_to(to, number), bytes, MPI_CHAR, to, number, MPI_COMM_WORLD);
                continue;
            }
            MPI_Isend(sent_to(to, number), bytes, MPI_CHAR, to, number, MPI_COMM_WORLD, &request);
            MPI_Request_free(&request);
        }
}

static void take(int from, int number)
{
    MPI_Recv(received, bytes, MPI_CHAR, from, number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int at = 0; at < bytes; at++)
        CHECK(received[at] == content(from, rank, number, at));
}

static void receive_all(void)
{
    if (rank % 2)
        usleep(LATE_US);
    for (int from = 0; from < size; from++)
        for (int number = 0; number < count && from != rank; number++)
            take(from, number);
}

/* Sends and receives are all begun before any is waited for. */
static void exchange_large(void)
{
    MPI_Request requests[MOST];
    int request_count = 0;
    for (int to = 0; to < size; to++) {
        for (int at = 0; at < bytes; at++)
            sent_to(to, 0)[at] = content(rank, to, 0, at);
        if (to != rank)
            MPI_Isend(sent_to(to, 0), bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[request_count++]);
    }
    receive_all();
    MPI_Waitall(request_count, requests, MPI_STATUSES_IGNORE);
}

static void say(void)
{
    printf("rank %d of %d has all\n", rank, size);
    fflush(stdout);
}

static int at_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    send_all("callback");
    receive_all();
    say();
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "eager";
    int keyval;
    MPI_Init(&argc, &argv);
    check_begin();
    rank = check_rank;
    size = check_size;
    CHECK(size <= MOST);
    bool is_large = strcmp(how, "large") == 0 || strcmp(how, "freed") == 0;
    bytes = is_large ? LARGE : SMALL;
    count = is_large ? 1 : SMALL_COUNT;
    sent = malloc((size_t)size * count * bytes);
    received = malloc(bytes);
    CHECK(sent && received);
    MPI_Buffer_attach(buffer, sizeof buffer);
    if (strcmp(how, "callback") == 0) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    } else if (strcmp(how, "large") == 0) {
        exchange_large();
        say();
    } else {
        send_all(how);
        receive_all();
        say();
    }
    MPI_Finalize();
    return 0;
}
