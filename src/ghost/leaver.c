/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/leaver.h"

#include "base/atomic.h"
#include "ghost/bell.h"
#include "ghost/herald.h"
#include "world/world.h"

#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the word of a user process: its connection, its status, and whether it leaves, and is gone but for what
 * the C library and the kernel do; and that the ghost has heard of either. */
enum { STATUS_MASK = 0xff, CONNECTION_SHIFT = 8, CONNECTION_MASK = 0xfffff };
#define IS_LEAVING (UINT32_C(1) << 28)
#define IS_HEARD (UINT32_C(1) << 29)
#define IS_GONE (UINT32_C(1) << 30)
#define IS_LET_GO (UINT32_C(1) << 31)

/* A ghost that gets no core is not waited for much longer than one takes to wake up. */
enum { LOOKS_MAX = 1000, LOOK_US = 100 };

/* Descriptors above are not the launcher's. */
enum { PIPES_MAX = 1024 };

/* In which the launcher has seen the ghost's connection close. */
enum { LAUNCHER_US = 50 * 1000 };

static pid_t own_pid;
static uint32_t connection;

/* 0: another launcher. */
static uint32_t own_connection(void)
{
    const char *text = getenv("PMI_FD");
    return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static int last_ghost(void) { return hw_world.own_node->ghost_count - 1; }

/* NULL: a child of fork, which is no process of the job; or MPI has ended, and with it the bells. */
static struct hw_ghost_leavers *own_leavers(void) { return getpid() == own_pid ? hw_ghost_leavers() : NULL; }

/* Says so in `own`, and waits until the ghost has heard. */
static void tell(struct hw_ghost_leavers *leavers, uint32_t what, uint32_t answer)
{
    _Atomic uint32_t *own = &leavers->words[hw_world.processes[hw_world.rank].local_index];
    hw_atomic_or_seq_cst(own, what);
    hw_atomic_store_release(&leavers->has_some, 1);
    hw_ghost_bell_ring(hw_ghost_bell_of(last_ghost()));
    for (int i = 0; i < LOOKS_MAX && !(hw_atomic_load_acquire(own) & answer); i++)
        usleep(LOOK_US);
}

/* Called by exit(3), before the handlers of the MPI and of what came before it. */
static void leave(int status, void *unused)
{
    (void)unused;
    struct hw_ghost_leavers *leavers = own_leavers();
    if (leavers == NULL)
        return;
    int first_ghost = hw_world_own_user_count();
    prctl(PR_SET_PTRACER, (unsigned long)hw_world.node_pids[first_ghost + last_ghost()], 0, 0, 0);
    tell(leavers, IS_LEAVING | connection << CONNECTION_SHIFT | (status & STATUS_MASK), IS_HEARD);
}

/* After the handlers of exit(3) and the destructors of the program: one of them may have used windows, or
 * called MPI_Finalize. */
__attribute__((destructor)) static void go(void)
{
    struct hw_ghost_leavers *leavers = own_pid ? own_leavers() : NULL;
    if (leavers)
        tell(leavers, IS_GONE, IS_LET_GO);
}

void hw_ghost_leaver_start(void)
{
    connection = own_connection();
    if (connection == 0 || connection > CONNECTION_MASK)
        return;
    own_pid = getpid();
    on_exit(leave, NULL);
}

bool hw_ghost_leaver_is_any(void)
{
    struct hw_ghost_leavers *leavers = hw_ghost_leavers();
    return leavers && hw_atomic_load_acquire(&leavers->has_some);
}

static bool says(struct hw_ghost_leavers *leavers, int user, uint32_t what, uint32_t answer)
{
    return (hw_atomic_load_acquire(&leavers->words[user]) & (what | answer)) == what;
}

/* Takes the connection too. Returns the descriptor by which the end of the process is seen, or -1. */
static int hear(struct hw_ghost_leavers *leavers, int user)
{
    uint32_t word = hw_atomic_load_acquire(&leavers->words[user]);
    pid_t pid = hw_world.node_pids[user];
    int process = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    if (process >= 0)
        syscall(SYS_pidfd_getfd, process, word >> CONNECTION_SHIFT & CONNECTION_MASK, 0);
    hw_atomic_or_seq_cst(&leavers->words[user], IS_HEARD);
    return process;
}

static int find_pipes(int *pipes)
{
    struct stat info;
    int count = 0;
    for (int i = 0; i < PIPES_MAX; i++)
        if (fstat(i, &info) == 0 && S_ISFIFO(info.st_mode))
            pipes[count++] = i;
    return count;
}

/* Called by a child of the ghost. While there is something left for Hydra to read it may take the status of a
 * process that it killed for the job's, so all pipes close as soon as the ghost has ended. Of MPICH 5 each
 * process has some of the others' too. */
_Noreturn static void hold_open(int ghost, int ready)
{
    int pipes[PIPES_MAX], pipe_count = find_pipes(pipes);
    setsid();
    close((int)own_connection());
    ssize_t written = write(ready, "", 1);
    (void)written;
    poll(&(struct pollfd){.fd = ghost, .events = POLLIN}, 1, LAUNCHER_US / 1000);
    for (int i = 0; i < pipe_count; i++)
        close(pipes[i]);
    usleep(LAUNCHER_US);
    _exit(0);
}

/* Hydra takes a closed connection for a failure (1), until it has the status of that process; then it kills
 * the others. Of one that it has waited for before, that failure stays. So the ghost's connection closes
 * first, as it ends; those of who left, and what Hydra reads of the ghost, a child has open until then. */
_Noreturn static void end_first(int status)
{
    int ready[2];
    char byte;
    hw_ghost_herald_stop();
    int own = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (pipe2(ready, O_CLOEXEC) == 0 && fork() == 0)
        hold_open(own, ready[1]);
    close(ready[1]);
    ssize_t got = read(ready[0], &byte, 1);
    (void)got;
    _exit(status);
}

/* Of who leaves: by which their end is seen. */
static struct pollfd *processes;

static void begin(int user_count)
{
    processes = calloc((size_t)user_count, sizeof *processes);
    for (int i = 0; processes && i < user_count; i++)
        processes[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    if (processes == NULL)
        end_first(1);
}

/* True: one is gone, and the MPI may meet its closed connections. */
static bool follow(struct hw_ghost_leavers *leavers, int user_count)
{
    bool is_one_gone = false;
    for (int user = 0; user < user_count; user++) {
        if (says(leavers, user, IS_LEAVING, IS_HEARD))
            processes[user].fd = hear(leavers, user);
        if (says(leavers, user, IS_GONE, IS_LET_GO))
            hw_atomic_or_seq_cst(&leavers->words[user], IS_LET_GO);
        is_one_gone |= (hw_atomic_load_acquire(&leavers->words[user]) & IS_GONE) != 0;
        if (poll(&processes[user], 1, 0) > 0)
            end_first((int)(hw_atomic_load_acquire(&leavers->words[user]) & STATUS_MASK));
    }
    return is_one_gone;
}

bool hw_ghost_leaver_look(void)
{
    struct hw_ghost_leavers *leavers = hw_ghost_leavers();
    if (leavers == NULL || __builtin_expect(!hw_atomic_load_acquire(&leavers->has_some), 1) ||
        hw_world.processes[hw_world.rank].local_index != last_ghost())
        return false;
    int user_count = hw_world_own_user_count();
    if (processes == NULL)
        begin(user_count);
    while (follow(leavers, user_count))
        usleep(LOOK_US);
    return true;
}

void hw_ghost_leaver_pause(void) { usleep(LOOK_US); }
