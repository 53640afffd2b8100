/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include "base/atomic.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { RANK_UNKNOWN = -1, RANK_NOT_ASKED = -2 };

/* Within this time the other processes of a node have met the same fate. */
enum { SIBLINGS_US = 500 * 1000 };

/* A reader that has no core for so long is not waited for. */
enum { READER_LOOK_US = 1000, READER_LOOKS = 500 };

enum { NAME_TRIES = 20, NAME_TRY_US = 1000 };

static _Atomic(int) log_level = HW_LOG_WARN;
static _Atomic(int) log_rank = RANK_NOT_ASKED;

void hw_log_set_level(enum hw_log_level level) { hw_atomic_store_relaxed(&log_level, (int)level); }

enum hw_log_level hw_log_level(void) { return (enum hw_log_level)hw_atomic_load_relaxed(&log_level); }

void hw_log_set_rank(int rank) { hw_atomic_store_relaxed(&log_rank, rank); }

static int rank_from_environment(void)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text == NULL || *text == '\0')
            continue;
        char *end;
        long rank = strtol(text, &end, 10);
        if (*end == '\0' && rank >= 0 && rank <= INT_MAX)
            return (int)rank;
    }
    return RANK_UNKNOWN;
}

int hw_log_rank(void)
{
    int rank = hw_atomic_load_relaxed(&log_rank);
    if (rank != RANK_NOT_ASKED)
        return rank;
    int expected = RANK_NOT_ASKED; /* a rank set meanwhile by another thread must win */
    rank = rank_from_environment();
    return hw_atomic_compare_exchange_seq_cst(&log_rank, &expected, rank) ? rank : expected;
}

/* Cuts the text to one line that fits, ending in "..." and a newline. Returns its length. */
static size_t line_finish(char *line, size_t capacity, size_t wanted)
{
    size_t length = wanted;
    if (wanted > capacity - 2) {
        length = capacity - 2;
        memset(line + length - 3, '.', 3);
    }
    for (size_t i = 0; i < length; i++)
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    line[length] = '\n';
    return length + 1;
}

struct line {
    char text[HW_LOG_LINE_MAX];
    size_t body;   /* where the prefix ends */
    size_t length; /* 0: could not be formatted */
};

static void line_format(struct line *line, const char *format, va_list arguments)
{
    int saved_errno = errno;
    int rank = hw_log_rank();
    int prefix = rank >= 0 ? snprintf(line->text, sizeof line->text, "[headway rank %d] ", rank)
                           : snprintf(line->text, sizeof line->text, "[headway] ");
    errno = saved_errno; /* for %m */
    int body = vsnprintf(line->text + prefix, sizeof line->text - (size_t)prefix, format, arguments);
    line->body = (size_t)prefix;
    line->length = body < 0 ? 0 : line_finish(line->text, sizeof line->text, (size_t)prefix + (size_t)body);
    errno = saved_errno;
}

static void line_write(const struct line *line)
{
    int saved_errno = errno;
    while (write(STDERR_FILENO, line->text, line->length) < 0 && errno == EINTR) {
    }
    errno = saved_errno;
}

static bool is_printed(enum hw_log_level level)
{
    enum hw_log_level limit = hw_log_level();
    if (level > limit)
        return false;
    return level != HW_LOG_INFO || limit >= HW_LOG_DEBUG || hw_log_rank() <= 0;
}

#define LOG_BODY(condition, format)                                                                          \
    do {                                                                                                     \
        if (condition) {                                                                                     \
            va_list arguments;                                                                               \
            va_start(arguments, format);                                                                     \
            struct line line;                                                                                \
            line_format(&line, format, arguments);                                                           \
            line_write(&line);                                                                               \
            va_end(arguments);                                                                               \
        }                                                                                                    \
    } while (0)

void hw_log_error(const char *format, ...) { LOG_BODY(is_printed(HW_LOG_ERROR), format); }

/* Who holds the name may be a stranger's process, which must not silence ours. One that was seen between its
 * bind and its listen is asked again. */
static bool is_held_by_own_user(const struct sockaddr_un *address, socklen_t size)
{
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t peer_size = sizeof peer;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), rc = -1;
    for (int tries = 0; fd >= 0 && rc != 0 && tries < NAME_TRIES; tries++) {
        rc = connect(fd, (const struct sockaddr *)address, size);
        if (rc != 0 && errno != ECONNREFUSED)
            break;
        if (rc != 0)
            usleep(NAME_TRY_US);
    }
    bool is_own =
        rc == 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0 && peer.uid == geteuid();
    if (fd >= 0)
        close(fd);
    return is_own;
}

/* Containers may share the network, and so the abstract namespace, while each counts its own processes. */
static uint64_t process_namespace(void)
{
    struct stat about;
    return stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

/* Takes a name made of the launcher's process and the line, in the abstract namespace: nothing is left
 * behind. False if a sibling that is still there has it. */
static bool is_first_to_say(const struct line *line)
{
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a */
    for (size_t i = line->body; i < line->length; i++)
        hash = (hash ^ (unsigned char)line->text[i]) * UINT64_C(1099511628211);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1,
                          "headway.%" PRIx64 ".%d.%" PRIx64, process_namespace(), getppid(), hash);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int name = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); /* held until the process ends */
    if (name < 0)
        return true;
    if (bind(name, (struct sockaddr *)&address, size) == 0) {
        listen(name, SOMAXCONN);
        return true;
    }
    bool is_taken = errno == EADDRINUSE;
    close(name);
    return !is_taken || !is_held_by_own_user(&address, size);
}

void hw_log_fatal(const char *format, ...)
{
    struct line line;
    va_list arguments;
    va_start(arguments, format);
    line_format(&line, format, arguments);
    va_end(arguments);
    if (!is_printed(HW_LOG_ERROR))
        return;
    bool has_siblings = hw_log_rank() >= 0;
    if (has_siblings && !is_first_to_say(&line))
        return;
    line_write(&line);
    if (has_siblings)
        usleep(SIBLINGS_US);
}

void hw_log_await_reader(void)
{
    int saved_errno = errno, unread = 0;
    struct stat about;
    bool is_pipe = fstat(STDERR_FILENO, &about) == 0 && S_ISFIFO(about.st_mode);
    for (int looks = 0; is_pipe && looks < READER_LOOKS; looks++) {
        if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0)
            break;
        usleep(READER_LOOK_US);
    }
    errno = saved_errno;
}

void hw_log_warn(const char *format, ...) { LOG_BODY(is_printed(HW_LOG_WARN), format); }

void hw_log_note(const char *format, ...)
{
    LOG_BODY(hw_log_level() != HW_LOG_QUIET && (hw_log_rank() <= 0 || hw_log_level() >= HW_LOG_DEBUG),
             format);
}

void hw_log_info(const char *format, ...) { LOG_BODY(is_printed(HW_LOG_INFO), format); }

void hw_log_debug(const char *format, ...) { LOG_BODY(is_printed(HW_LOG_DEBUG), format); }

void hw_log_once(atomic_flag *flag, enum hw_log_level level, const char *format, ...)
{
    LOG_BODY(is_printed(level) && !hw_atomic_flag_set_relaxed(flag), format);
}
