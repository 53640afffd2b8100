/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the record. A half-written file never carries the final name, nor, where the file system has files
 * without names, any: it gets one when it is whole, and is renamed into place. */
#include "profile/record.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/visibility.h"
#include "profile/calls/calls.h"
#include "profile/calls/phases.h"
#include "profile/record/counters.h"
#include "profile/record/origin.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_REASON_COUNT = 16 };

static uint64_t began_ns;
HW_SPARSE static char directory[PATH_MAX];
static bool is_told;             /* that no record can be written */
static bool is_nameless_refused; /* files without names do not get one here */
static struct {
    _Atomic(const char *) text;
    atomic_uint_fast64_t count;
} reasons[MAX_REASON_COUNT];

void hw_record_begin(const char *path)
{
    began_ns = hw_clock_now_ns();
    hw_origin_begin();
    if (path[0] != '\0' && !realpath(path, directory)) /* perhaps it is made later */
        snprintf(directory, sizeof directory, "%s", path);
}

/* A name beside the records that nobody guesses. */
static bool name_scratch(char path[PATH_MAX])
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return false;
    if (snprintf(path, PATH_MAX, "%s/.headway.%016" PRIx64 ".tmp", directory, number) < PATH_MAX)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

/* Makes the file in which the record is written before it gets its name. Returns its descriptor, or -1 with
 * errno set. Others may write to the directory: what they put there is neither opened nor guessed. The path
 * is empty where the file has no name yet. */
static int make_scratch(char path[PATH_MAX])
{
    path[0] = '\0';
    int fd = is_nameless_refused ? -1 : open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd >= 0)
        return fd;
    do {
        if (!name_scratch(path))
            return -1;
        fd = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

/* A name for a file that has none; it replaces nothing, as only rename does. */
static bool link_scratch(int fd, char path[PATH_MAX])
{
    char unnamed[64];
    snprintf(unnamed, sizeof unnamed, "/proc/self/fd/%d", fd);
    int rc = -1;
    do {
        if (!name_scratch(path))
            return false;
        rc = linkat(AT_FDCWD, unnamed, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
    } while (rc != 0 && errno == EEXIST);
    if (rc != 0)
        path[0] = '\0';
    is_nameless_refused = rc != 0;
    return rc == 0;
}

static void remove_scratch(const char *path)
{
    if (path[0] != '\0')
        unlink(path);
}

void hw_record_check(bool is_speaker, bool are_alike)
{
    char scratch[PATH_MAX];
    if (directory[0] == '\0')
        return;
    int fd = make_scratch(scratch);
    if (fd >= 0) {
        close(fd);
        remove_scratch(scratch);
        return;
    }
    if (is_speaker)
        hw_log_warn(
            "HEADWAY_RECORD=%s: %s; the job goes on, and will leave no record unless such a directory "
            "is there, and writable, when it ends",
            directory, strerror(errno));
    is_told = is_speaker || are_alike;
}

bool hw_record_is_possible(void)
{
    char scratch[PATH_MAX], host[HOST_NAME_MAX + 1] = "";
    if (directory[0] == '\0')
        return true;
    int fd = make_scratch(scratch), error = errno;
    if (fd >= 0) {
        close(fd);
        remove_scratch(scratch);
        return true;
    }
    gethostname(host, sizeof host - 1);
    hw_log_fatal("HEADWAY_RECORD=%s: %s on %s; name a directory that all machines share (--record DIRECTORY)",
                 directory, strerror(error), host);
    return false;
}

void hw_record_declined(const char *reason)
{
    for (int i = 0; i < MAX_REASON_COUNT; i++) {
        const char *seen = NULL;
        if (hw_atomic_compare_exchange_seq_cst(&reasons[i].text, &seen, reason) || seen == reason) {
            hw_atomic_add_relaxed(&reasons[i].count, 1);
            return;
        }
    }
}

static double seconds(uint64_t ns) { return (double)ns / (double)HW_NS_PER_S; }

static void write_reasons(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    for (int i = 0; i < MAX_REASON_COUNT && hw_atomic_load_seq_cst(&reasons[i].text); i++)
        hw_record_add_count(list, hw_atomic_load_seq_cst(&reasons[i].text),
                            hw_atomic_load_seq_cst(&reasons[i].count));
}

static const char *const ending_names[] = {[HW_RECORD_COMPLETE] = "complete",
                                           [HW_RECORD_CHECKPOINT] = "checkpoint",
                                           [HW_RECORD_ABORTED] = "aborted",
                                           [HW_RECORD_EXITED] = "exited",
                                           [HW_RECORD_SIGNAL] = "signal"};

static void write_body(FILE *file, const struct hw_record_facts *facts, enum hw_record_ending ending,
                       int code)
{
    struct hw_record_process process = {
        .rank = facts->rank,
        .size = facts->size,
        .mpi = facts->mpi,
        .engine = facts->engine,
        .trigger = facts->trigger,
        .trigger_why = facts->trigger_why ? facts->trigger_why : "",
        .priority = facts->priority ? facts->priority : "normal",
        .ghost = facts->ghost,
        .ghost_cpu_s = seconds(facts->ghost_cpu_ns),
        .placement = facts->placement,
        .p2p = facts->p2p ? facts->p2p : "thread",
        .p2p_reason = facts->p2p_reason,
        .eager_limit_bytes = facts->eager_limit_bytes,
        .ending = ending_names[ending],
        .ending_code = ending == HW_RECORD_ABORTED || ending == HW_RECORD_SIGNAL ? code : HW_RECORD_ABSENT,
        .wall_s = seconds(hw_clock_now_ns() - began_ns),
        .process_cpu_s = seconds(hw_clock_read(CLOCK_PROCESS_CPUTIME_ID)),
        .thread_cpu_s = seconds(facts->thread_cpu_ns),
        .mpi_wait_s = seconds(hw_atomic_load_seq_cst(&hw_counters.blocked_ns)),
        .packing = facts->packing,
        .routes = facts->routes,
        .declined = {write_reasons, NULL},
    };
#define COPY_COUNTER(name, meaning) process.name = hw_atomic_load_seq_cst(&hw_counters.name);
    HW_RECORD_PROCESS_COUNTERS(COPY_COUNTER)
#undef COPY_COUNTER
    hw_origin_describe(&process);
    hw_profile_describe(&process, ending == HW_RECORD_COMPLETE);
    process.phases = hw_phase_describe();
    hw_record_write_object(file, HW_RECORD_PROCESS, &process);
    fputc('\n', file);
}

/* With a point in every number, whatever the program's language has there. */
static void write_in_c_locale(FILE *file, const struct hw_record_facts *facts, enum hw_record_ending ending,
                              int code)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t own = c_locale ? uselocale(c_locale) : (locale_t)0;
    write_body(file, facts, ending, code);
    if (c_locale) {
        uselocale(own);
        freelocale(c_locale);
    }
}

/* Others may write to the directory, and may have put what they like there under this name. */
static bool is_own_folder(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

/* The name of the record; what snprintf returns, or -1 with errno set. */
static int name_record(char *path, size_t capacity, const struct hw_record_facts *facts)
{
    long pid = (long)getpid();
    if (facts->rank < 0)
        return snprintf(path, capacity, "%s/headway.pid%ld.json", directory, pid);
    if (!facts->is_spawned)
        return snprintf(path, capacity, "%s/headway.%d.json", directory, facts->rank);
    int length = snprintf(path, capacity, "%s/spawned", directory);
    if (length > 0 && (size_t)length < capacity && mkdir(path, 0777) != 0 && errno == EEXIST &&
        !is_own_folder(path)) {
        errno = EPERM;
        return -1;
    }
    return snprintf(path, capacity, "%s/spawned/headway.%d.%ld.json", directory, facts->rank, pid);
}

/* The whole record, in a file beside it. False with errno set. */
static bool write_file(const struct hw_record_facts *facts, enum hw_record_ending ending, int code,
                       char scratch[PATH_MAX])
{
    int fd = make_scratch(scratch);
    if (fd < 0)
        return false;
    FILE *file = fdopen(fd, "w");
    if (!file) {
        close(fd);
        return false;
    }
    write_in_c_locale(file, facts, ending, code);
    bool is_written = fflush(file) == 0, is_named = scratch[0] != '\0';
    bool is_linked = is_written && (is_named || link_scratch(fd, scratch));
    is_written = fclose(file) == 0 && is_written;
    if (is_written && !is_linked && is_nameless_refused && !is_named)
        return write_file(facts, ending, code, scratch); /* once: in a file with a name */
    return is_written && is_linked;
}

static const char *remedy(int error)
{
    if (error == ENOSPC || error == EDQUOT)
        return "make room there, or set HEADWAY_RECORD to another directory";
    if (error == ENOENT)
        return "HEADWAY_RECORD must name a directory that every node has";
    return "make the directory of HEADWAY_RECORD writable";
}

bool hw_record_is_wanted(void) { return directory[0] != '\0'; }

enum hw_status hw_record_write(const struct hw_record_facts *facts, enum hw_record_ending ending, int code)
{
    if (directory[0] == '\0')
        return HW_OK;
    char path[PATH_MAX], scratch[PATH_MAX] = "";
    int length = name_record(path, sizeof path, facts);
    if (length > 0 && (size_t)length >= sizeof path) {
        hw_log_warn("HEADWAY_RECORD is too long a path; no record is written");
        return HW_NOMEM;
    }
    if (length > 0 && write_file(facts, ending, code, scratch) && rename(scratch, path) == 0)
        return HW_OK;
    int error = errno;
    remove_scratch(scratch);
    if (!is_told && ending != HW_RECORD_CHECKPOINT)
        hw_log_warn("cannot write the record %s: %s; %s", path, strerror(error), remedy(error));
    return HW_NOMEM;
}
