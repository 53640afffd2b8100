/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: what the machine itself takes to wake a process that shares its core, after it has slept as long as
 * the core's owner computed. No MPI is in what is timed: it is the floor below an operation that a sleeping
 * ghost or progress thread serves (rma_overlap, overlap_p2p).
 *
 * The last rank's node has a second process that sleeps in poll() on a TCP connection from rank 0 and sends
 * back each byte. In a round the last rank computes, on the same core, and rank 0 sends a byte and waits for
 * the answer, spinning; the sample is rank 0's time. With no work nobody computes: the last rank sleeps. */
#include "common/bench.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct {
    struct bench_list work;
    int64_t rounds, warmup;
} options = {.rounds = 50, .warmup = 5};

enum { TAG_PORT = 1, TAG_BEGIN, TAG_END, HOST_BYTES = 256 };

struct address {
    char host[HOST_BYTES];
    char port[8];
};

static void fail(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void no_delay(int fd) { setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)); }

/* The process that sleeps; ends with its connection or its parent. */
_Noreturn static void echo(int listener)
{
    char byte;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int fd = accept(listener, NULL, NULL);
    no_delay(fd);
    for (struct pollfd wait = {.fd = fd, .events = POLLIN}; poll(&wait, 1, -1) == 1;)
        if (read(fd, &byte, 1) != 1 || write(fd, &byte, 1) != 1)
            break;
    _exit(0);
}

/* Starts it; *ADDRESS is where it listens. */
static pid_t echo_start(struct address *address)
{
    struct sockaddr_in any = {.sin_family = AF_INET};
    socklen_t length = sizeof any;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&any, sizeof any) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&any, &length) != 0 ||
        gethostname(address->host, sizeof address->host) != 0)
        fail("wakeup: cannot listen");
    snprintf(address->port, sizeof address->port, "%u", ntohs(any.sin_port));
    pid_t child = fork();
    if (child < 0)
        fail("wakeup: fork");
    if (child == 0)
        echo(listener);
    close(listener);
    return child;
}

static int echo_connect(const struct address *address)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(address->host, address->port, &hints, &found) != 0)
        fail("wakeup: the name of the last rank's node is not known");
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0)
        fail("wakeup: connect");
    freeaddrinfo(found);
    no_delay(fd);
    return fd;
}

static double echo_ask(int fd)
{
    char byte = 0;
    double start_s = bench_now_s();
    if (send(fd, &byte, 1, 0) != 1)
        fail("wakeup: send");
    while (recv(fd, &byte, 1, MSG_DONTWAIT) != 1)
        ;
    return bench_now_s() - start_s;
}

/* What the last rank does meanwhile. */
static void keep_busy(int64_t units)
{
    if (units > 0)
        bench_work(units);
    else
        nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
}

struct asking {
    const struct bench *bench;
    int fd; /* rank 0's connection */
};

static double round_run(void *context, int64_t units)
{
    const struct asking *asking = context;
    const struct bench *bench = asking->bench;
    int last = bench->ranks - 1;
    double taken_s = 0;
    if (bench->rank == 0) {
        MPI_Recv(NULL, 0, MPI_BYTE, last, TAG_BEGIN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        taken_s = echo_ask(asking->fd);
        MPI_Send(NULL, 0, MPI_BYTE, last, TAG_END, MPI_COMM_WORLD);
    } else if (bench->rank == last) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_BEGIN, MPI_COMM_WORLD);
        keep_busy(units);
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return taken_s;
}

int main(int argc, char **argv)
{
    options.work = bench_list_make("0,200,1000,4000");
    const struct bench_option table[] = {
        {"work", BENCH_LIST, &options.work, "of the last rank: units of work; 0: it sleeps"},
        {"rounds", BENCH_INTEGER, &options.rounds, "timed rounds a point"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed rounds a point"},
        {0},
    };
    struct bench bench;
    struct bench_json json;
    struct address address = {0};
    struct asking asking = {.bench = &bench, .fd = -1};
    pid_t child = -1;
    bench_start(&bench, "wakeup", argc, argv, table);
    if (bench.ranks < 2)
        bench_refuse(&bench, "at least 2 ranks are needed");
    if (bench.rank == bench.ranks - 1) {
        child = echo_start(&address);
        MPI_Send(&address, sizeof address, MPI_BYTE, 0, TAG_PORT, MPI_COMM_WORLD);
    } else if (bench.rank == 0) {
        MPI_Recv(&address, sizeof address, MPI_BYTE, bench.ranks - 1, TAG_PORT, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        asking.fd = echo_connect(&address);
    }
    bench_json_begin(&json, &bench);
    bench_json_open(&json, "points", '[');
    for (int at = 0; at < options.work.count; at++)
        bench_rounds_measure(&json, 0, options.work.values[at], options.rounds, options.warmup, round_run,
                             &asking);
    bench_json_close(&json, ']');
    bench_json_number(&json, "work_checksum", bench_work_checksum());
    bench_json_end(&json);
    if (asking.fd >= 0)
        close(asking.fd);
    if (child > 0)
        waitpid(child, NULL, 0);
    bench_finish(&bench);
    return 0;
}
