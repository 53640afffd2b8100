/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/herald.h"

#include "base/agent.h"
#include "base/atomic.h"
#include "ghost/service.h"
#include "real/launcher.h"
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SIGNALLED = 128 }; /* and the signal's number, as a shell tells of it */

/* How often it is looked for the launcher; and the time that its processes have between a signal that asks
 * and one that does not. */
enum { LOOK_S = 1, USERS_MAX = 1024 };

/* In which a launcher has ended the job, if it does. */
enum { GOING_ON_US = 300 * 1000 };

/* The ghost and its herald have it in common. */
struct life {
    pthread_mutex_t mutex; /* robust; the ghost has it as long as it lives */
    atomic_bool has_ended; /* as it should: nothing to tell */
    atomic_int ended_by;   /* a signal that asked the ghost to end, of anybody but the launcher; 0: none */
};

static struct life *life;
static pid_t herald;
static pid_t launcher; /* on this node; 0: out of sight */

static void announce(const char *format, pid_t process, int signal_number)
{
    char host[256] = "", line[512];
    gethostname(host, sizeof host - 1);
    int length = snprintf(line, sizeof line, format, (long)process, host, signal_number);
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written;
}

/* A file of /proc, as a string; false if the process is gone. */
static bool read_of(pid_t pid, const char *name, char *text, size_t capacity)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, capacity - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* pidfd_info of linux/pidfd.h as it was when a reaped process first had a status there (Linux 6.15). */
struct pidfd_info_exit {
    uint64_t mask, cgroup;
    uint32_t ids[11];
    int32_t exit_code;
};

enum { PIDFD_EXIT = 1 << 3 };
#define PIDFD_GET_INFO_EXIT _IOWR(0xff, 11, struct pidfd_info_exit)

/* The status of a process that somebody has waited for, which an older kernel no longer has: 0. */
static int reaped_status(int pidfd)
{
    struct pidfd_info_exit info = {.mask = PIDFD_EXIT};
    return ioctl(pidfd, PIDFD_GET_INFO_EXIT, &info) == 0 && info.mask & PIDFD_EXIT ? info.exit_code : 0;
}

/* By which a process died; 0: it ended itself, as an MPI does after an error of which it tells, or nobody
 * knows any more. Until it is waited for its status is the last word of its stat (proc(5)). */
static int signal_of(pid_t pid, int pidfd)
{
    char stat[2048];
    int asked = hw_atomic_load_seq_cst(&life->ended_by);
    if (asked)
        return asked;
    const char *last = read_of(pid, "stat", stat, sizeof stat) ? strrchr(stat, ' ') : NULL;
    int status = last ? (int)strtol(last, NULL, 10) : reaped_status(pidfd);
    return status & 0x7f;
}

/* Dead, or with a signal on its way that nobody survives: a launcher's. */
static bool is_ending(pid_t pid)
{
    char status[4096];
    if (!read_of(pid, "status", status, sizeof status))
        return true;
    const char *state = strstr(status, "\nState:\t"), *pending = strstr(status, "\nShdPnd:\t");
    char letter = state ? state[strlen("\nState:\t")] : 'X';
    uint64_t signals = pending ? strtoull(pending + strlen("\nShdPnd:\t"), NULL, 16) : 0;
    return letter == 'Z' || letter == 'X' ||
           signals & (UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1) << (SIGTERM - 1));
}

/* A launcher that ends the job, for MPI_Abort or for a process that died elsewhere, ends processes in the
 * order of their ranks, and so before a ghost one of those that it serves. */
static bool is_job_ending(void)
{
    int user_count = hw_world_own_user_count();
    for (int i = 0; i < user_count; i++)
        if (hw_world.node_pids[i] > 0 && is_ending(hw_world.node_pids[i]))
            return true;
    return false;
}

static void use_all_cores(void)
{
    cpu_set_t all;
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
}

/* What the launcher reads from the ghost stays open until the herald has told: Hydra ends the job once the
 * output and the connection of PMI (PMI_FD) have closed. What leads to other processes must close with the
 * ghost. */
static void close_all_but_launcher(void)
{
    unsigned first = STDERR_FILENO + 1;
    const char *pmi = getenv("PMI_FD");
    unsigned kept = pmi ? (unsigned)strtoul(pmi, NULL, 10) : 0;
    if (kept >= first) {
        if (kept > first)
            close_range(first, kept - 1, 0);
        first = kept + 1;
    }
    close_range(first, ~0U, 0);
}

/* -1: gone, or out of sight. */
static int open_process(pid_t pid) { return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1; }

static bool is_gone(int pidfd)
{
    struct pollfd process = {.fd = pidfd, .events = POLLIN};
    return pidfd >= 0 && poll(&process, 1, 0) > 0;
}

/* True: the ghost is dead. False: it still lives after `seconds`. */
static bool await_death(time_t seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    return pthread_mutex_clocklock(&life->mutex, CLOCK_MONOTONIC, &until) != ETIMEDOUT;
}

/* Where the job can do without the ghost a process that it served says so itself, unless the launcher ends
 * the job for it. */
static bool does_job_go_on(const int *users, int user_count)
{
    if (!hw_ghost_services_are_dispensable())
        return false;
    usleep(GOING_ON_US);
    for (int i = 0; i < user_count; i++)
        if (is_gone(users[i]))
            return false;
    return user_count > 0;
}

static void send_all(const int *users, int user_count, int number)
{
    for (int i = 0; i < user_count; i++)
        syscall(SYS_pidfd_send_signal, users[i], number, NULL, 0);
}

/* Of the node's processes and this ghost, for which nobody is left that could end them: a launcher that ends
 * takes them along, unless it was killed. */
static void end_orphans(const int *users, int user_count)
{
    if (await_death(LOOK_S))
        return;
    hw_atomic_store_seq_cst(&life->has_ended, true);
    announce("[headway ghost] the launcher's process %ld on %s is gone: the job ends; see what killed it\n",
             launcher, 0);
    send_all(users, user_count, SIGTERM);
    await_death(LOOK_S);
    send_all(users, user_count, SIGKILL);
    syscall(SYS_pidfd_send_signal, STDIN_FILENO, SIGKILL, NULL, 0);
}

/* True: the ghost is dead. False: the launcher is. */
static bool await_end(int launcher_fd)
{
    while (!await_death(LOOK_S))
        if (is_gone(launcher_fd))
            return false;
    return true;
}

/* Those that the ghost serves, of this node. */
static int open_users(int *users, int capacity)
{
    int user_count = hw_world_own_user_count(), count = 0;
    for (int i = 0; i < user_count && count < capacity; i++)
        if ((users[count] = open_process(hw_world.node_pids[i])) >= 0)
            count++;
    return count;
}

/* The kernel gives up the locks of a process that dies before its memory and its files, by which a launcher
 * learns of it. So the herald looks at the others before the launcher ends them for the ghost's sake. One
 * that learns by SIGCHLD it may meet too late, if it gets no core soon (any core, not the ghost's); then it
 * is silent. Calls only what a child of a process with threads may. */
_Noreturn static void wait_for_end(pid_t ghost, int pidfd)
{
    const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
    static int users[USERS_MAX];
    prctl(PR_SET_NAME, "headway-herald", 0, 0, 0);
    setsid();
    use_all_cores();
    hw_agent_prompt();
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    dup2(pidfd, STDIN_FILENO); /* where it stays open */
    close_all_but_launcher();
    int user_count = open_users(users, USERS_MAX), launcher_fd = open_process(launcher);
    bool is_orphan = launcher > 0 && launcher_fd < 0 && errno == ESRCH;
    if (is_orphan || !await_end(launcher_fd)) {
        end_orphans(users, user_count);
        _exit(0);
    }
    int number =
        !hw_atomic_load_seq_cst(&life->has_ended) && !is_job_ending() ? signal_of(ghost, STDIN_FILENO) : 0;
    if (number && !does_job_go_on(users, user_count))
        announce("[headway ghost] process %ld on %s, which served the windows of its node, was killed by "
                 "signal %d: the job ends; see what killed it, or run without HEADWAY_GHOSTS\n",
                 ghost, number);
    _exit(0);
}

/* A signal of the launcher, or of the terminal, ends the whole job. */
static void on_end(int number, siginfo_t *info, void *context)
{
    (void)context;
    bool is_ending = info->si_code == SI_KERNEL || (launcher > 0 && info->si_pid == launcher);
    if (life && is_ending)
        hw_atomic_store_seq_cst(&life->has_ended, true);
    else if (life)
        hw_atomic_store_seq_cst(&life->ended_by, number);
    _exit(EXIT_SIGNALLED + number);
}

static bool begin_life(void)
{
    pthread_mutexattr_t attributes;
    void *memory = mmap(NULL, sizeof *life, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    life = memory;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    bool is_begun =
        pthread_mutex_init(&life->mutex, &attributes) == 0 && pthread_mutex_lock(&life->mutex) == 0;
    pthread_mutexattr_destroy(&attributes);
    return is_begun;
}

void hw_ghost_herald_start(void)
{
    pid_t ghost = getpid();
    const int ending[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_sigaction = on_end, .sa_flags = SA_SIGINFO};
    launcher = hw_real_launcher_of(ghost);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        sigaction(ending[i], &action, NULL);
    if (!begin_life())
        return;
    /* Before the herald first gets a core the ghost may be gone. */
    int pidfd = open_process(ghost);
    herald = fork();
    if (herald == 0)
        wait_for_end(ghost, pidfd);
    if (pidfd >= 0)
        close(pidfd);
}

void hw_ghost_herald_stop(void)
{
    if (herald <= 0)
        return;
    hw_atomic_store_seq_cst(&life->has_ended, true);
    pthread_mutex_unlock(&life->mutex);
    waitpid(herald, NULL, 0);
}
