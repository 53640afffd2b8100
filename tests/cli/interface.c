/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may tell the library (headway.h), told by a program: pause, phases, queries, descriptors.
 * Each rank prints `NAME VALUE` lines; the same binary runs without the library. Also compiled as C++. */
#include "headway.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { BYTES = 4 << 20, ROUNDS = 6 };

static int rank;
static volatile double sink;

static void compute(double seconds)
{
    double until = MPI_Wtime() + seconds, x = 1.0;
    while (MPI_Wtime() < until)
        for (int i = 0; i < 1000; i++)
            x = x * 1.0000001 + 1e-9;
    sink = x;
}

static void tell(const char *name, double value) { printf("%d %s %.9g\n", rank, name, value); }

/* Both ranks post, compute, wait. Returns 1 if the data arrived. */
static int exchange(char *out, char *in, int round)
{
    MPI_Request requests[2];
    memset(out, 'a' + round, BYTES);
    MPI_Irecv(in, BYTES, MPI_CHAR, 1 - rank, round, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, BYTES, MPI_CHAR, 1 - rank, round, MPI_COMM_WORLD, &requests[1]);
    compute(0.02);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    return in[0] == 'a' + round && in[BYTES - 1] == 'a' + round;
}

/* The loop runs with HEADWAY_ABSENT as with HEADWAY_OK. Returns what every call returned, if the same. */
static int run_phases(char *out, char *in)
{
    int result = headway_phase_begin("loop");
    for (int i = 0; i < ROUNDS; i++) {
        int same = headway_phase_begin(i % 2 ? "odd" : "even") == result;
        same &= exchange(out, in, i);
        same &= headway_phase_end() == result;
        if (!same)
            return 99;
    }
    return headway_phase_end() == result ? result : 99;
}

static uint64_t looks_of(int descriptor)
{
    uint64_t count = 0;
    return read(descriptor, &count, sizeof count) == (ssize_t)sizeof count ? count : 0;
}

/* What the library does in a pause, and after it, with one exchange pending over both. A listener counts how
 * often its thread looked. */
static void run_pause(char *out, char *in)
{
    struct headway_state state;
    MPI_Request requests[2];
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    headway_listen(descriptor);
    tell("pause", headway_pause());
    tell("pause_twice", headway_pause());
    looks_of(descriptor);
    MPI_Irecv(in, BYTES, MPI_CHAR, 1 - rank, 50, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, BYTES, MPI_CHAR, 1 - rank, 50, MPI_COMM_WORLD, &requests[1]);
    compute(0.05);
    headway_query(&state);
    tell("paused", state.is_paused);
    tell("pending_in_pause", (double)state.pending);
    tell("resume", headway_resume());
    headway_query(&state);
    tell("still_paused", state.is_paused);
    tell("looks_in_pause", (double)looks_of(descriptor));
    tell("resume_last", headway_resume());
    tell("resume_too_often", headway_resume());
    compute(0.05);
    tell("looks_after_pause", (double)looks_of(descriptor));
    headway_unlisten(descriptor);
    close(descriptor);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void run_listening(char *out, char *in)
{
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    MPI_Request requests[2];
    tell("listen", headway_listen(descriptor));
    MPI_Irecv(in, BYTES, MPI_CHAR, 1 - rank, 60, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, BYTES, MPI_CHAR, 1 - rank, 60, MPI_COMM_WORLD, &requests[1]);
    compute(0.05);
    tell("told", (double)looks_of(descriptor));
    tell("unlisten", headway_unlisten(descriptor));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    looks_of(descriptor);
    exchange(out, in, 61);
    tell("told_afterwards", (double)looks_of(descriptor));
    tell("unlisten_too_often", headway_unlisten(descriptor));
    tell("listen_to_nothing", headway_listen(-1));
    close(descriptor);
}

int main(int argc, char **argv)
{
    struct headway_state state;
    char name[100], *out = (char *)malloc(BYTES), *in = (char *)malloc(BYTES);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    int early = headway_phase_begin("before MPI_Init");
    headway_phase_end();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tell("early", early);
    tell("phases", run_phases(out, in));
    run_pause(out, in);
    run_listening(out, in);
    tell("end_without_begin", headway_phase_end());
    tell("null_name", headway_phase_begin(NULL));
    headway_phase_begin(name);
    headway_phase_begin("open \"to\" the end");
    tell("query", headway_query(&state));
    tell("active", state.is_active);
    tell("tracked", (double)state.tracked);
    tell("waited", state.waited_s);
    tell("overlapped", state.overlapped_s);
    printf("%d library: version %s engine %s\n", rank, state.version, state.engine);
    MPI_Finalize();
    headway_query(&state);
    tell("active_afterwards", state.is_active);
    free(out);
    free(in);
    return 0;
}
