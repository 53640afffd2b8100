#include "engines/rma/ghost_herald.h"

#include "world/world.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_ENDED = 143 }; /* as a shell tells of SIGTERM */
enum { GHOST, USER };

static int line_fd = -1;
static pid_t herald;

static void watch(int epoll_fd, int fd, uint32_t what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};
    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void announce(pid_t ghost)
{
    char host[256] = "", line[512];
    gethostname(host, sizeof host - 1);
    int length =
        snprintf(line, sizeof line,
                 "[headway ghost] process %ld on %s, which served the windows of its node, was killed: "
                 "the job ends; unless a process of the program died before it, see what killed it, "
                 "or run without HEADWAY_GHOSTS\n",
                 (long)ghost, host);
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written;
}

/* An epoll set hands out events in the order in which they came, however late this process gets a core. The
 * ghost's line closes a little before its pidfd would tell, and so before any user process that a launcher
 * kills for it; where a user process died first the launcher may be as quick, and the ghost's line close
 * before the user's pidfd tells. Calls only what a child of a process with threads may. */
_Noreturn static void wait_for_first(int said_fd, pid_t ghost)
{
    const int ignored[] = {SIGINT, SIGTERM, SIGHUP};
    int user_count = hw_world.own_node->process_count - hw_world.own_node->ghost_count, epoll_fd;
    struct epoll_event first = {.data.u32 = USER};
    char word;
    setsid();
    prctl(PR_SET_NAME, "headway-herald", 0, 0, 0);
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    /* The launcher must see the ghost's connections to it close when the ghost closes them. */
    dup2(said_fd, STDIN_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    epoll_fd = epoll_create1(0);
    watch(epoll_fd, STDIN_FILENO, GHOST);
    for (int i = 0; i < user_count; i++)
        if (hw_world.node_pids[i] > 0)
            watch(epoll_fd, (int)syscall(SYS_pidfd_open, hw_world.node_pids[i], 0), USER);
    while (epoll_wait(epoll_fd, &first, 1, -1) < 0)
        continue;
    if (first.data.u32 == GHOST && read(STDIN_FILENO, &word, 1) == 0)
        announce(ghost);
    _exit(0);
}

/* Without SIGPIPE: the herald has gone already if a user process ended first. */
static void say_end(void)
{
    if (line_fd >= 0)
        send(line_fd, "end\n", 4, MSG_NOSIGNAL);
}

static void on_end(int number)
{
    say_end();
    _exit(EXIT_ENDED - SIGTERM + number);
}

void hw_rma_ghost_herald_start(void)
{
    int ends[2];
    pid_t ghost = getpid();
    const int ending[] = {SIGTERM, SIGINT, SIGHUP};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    herald = fork();
    if (herald == 0)
        wait_for_first(ends[0], ghost);
    close(ends[0]);
    if (herald > 0)
        line_fd = ends[1];
    else
        close(ends[1]);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        signal(ending[i], on_end);
}

void hw_rma_ghost_herald_stop(void)
{
    if (line_fd < 0)
        return;
    say_end();
    close(line_fd);
    waitpid(herald, NULL, 0);
}
