/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/node_memory.h"

#include "base/options.h"
#include "ghost/pass.h"
#include "real/constants.h"
#include "real/detect.h"
#include "real/software_rma.h"
#include "shm/file_identity.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Of one process in the file: 2^50 bytes. A file may be long enough for a thousand processes of a node. */
#define PART_BYTES (INT64_C(1) << 50)
enum { PROCESSES_MAX = 1024 };

/* Of the addresses of a process, at most: a hundred times what one takes in its life, or all ranges of a node
 * in a quarter of what a process has on x86-64. A program that takes and gives back large memory uses it up,
 * since no place is used twice. */
#define RANGE_BYTES_MAX (INT64_C(1) << 43)
#define RANGES_BYTES_MAX (INT64_C(1) << 45)

/* Locked memory that a program may have besides, for its own purposes or the network's: too little for all of
 * a process with an MPI. */
#define LOCKED_BYTES_MIN (UINT64_C(256) << 20)

/* What a process of the node tells the others of itself. */
struct peer {
    struct hw_ghost_peer address;
    int64_t is_willing;
};

static int file = -1;
static struct {
    struct hw_file_identity identity;
    int64_t descriptor; /* of the node's first process */
} made;
static char no_range[64]; /* a window's memory must not be empty */
static struct hw_ghost_ranges ranges = {.memory = no_range, .bytes = sizeof no_range};
static bool has_ranges;

/* Where the kernel promises memory only if it has it, it kills for pages of a shared file that it has not. */
static bool is_overcommitted(void)
{
    int mode = 2;
    FILE *stream = fopen("/proc/sys/vm/overcommit_memory", "re");
    if (stream && fscanf(stream, "%d", &mode) != 1)
        mode = 2;
    if (stream)
        fclose(stream);
    return mode != 2;
}

/* Of the address space too: a ghost maps the windows of its node, and processes map their neighbours'. */
static bool is_limited(void)
{
    struct rlimit file, space;
    return getrlimit(RLIMIT_FSIZE, &file) != 0 || file.rlim_cur != RLIM_INFINITY ||
           getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY;
}

bool hw_ghost_node_memory_is_safe(void) { return !is_limited() && is_overcommitted(); }

/* Where a device is open the memory that the MPI gives may be registered with it, and better. */
static bool is_willing(void)
{
    return hw_options.redirect != HW_OPTION_REDIRECT_OFF && hw_real_is_window_sound() &&
           hw_ghost_node_memory_is_safe() && !hw_real_has_device();
}

/* By the first process of the node: the file, and all others have it in their sockets' queues. */
static bool make_file(int fd, struct peer *peers, int count)
{
    file = memfd_create("headway", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)(PART_BYTES * count)) != 0)
        return false;
    for (int i = 1; i < count; i++)
        hw_ghost_pass_send(fd, &peers[i].address, file);
    return true;
}

static bool share_file(int fd, struct peer *peers, int rank, int count)
{
    for (int i = 0; i < count; i++)
        if (!peers[i].is_willing)
            return false;
    if (rank == 0 && make_file(fd, peers, count)) {
        made.identity = hw_file_identify(file);
        made.descriptor = file;
    }
    if (hw_bottom.Bcast(&made, sizeof made, HW_BYTE, 0, hw_world.node) != MPI_SUCCESS ||
        made.identity.inode == 0)
        return false;
    if (rank > 0)
        hw_ghost_pass_receive(fd, &made.identity, 1, &file);
    if (file < 0)
        file = hw_ghost_pass_open_of(hw_world.node_pids[0], (int)made.descriptor, made.identity);
    return hw_world_have_all(hw_world.node, file >= 0);
}

struct hw_ghost_ranges hw_ghost_node_memory_ranges(void) { return ranges; }

bool hw_ghost_node_memory_has_ranges(void) { return has_ranges; }

/* By a ghost. A core file would have all of a shared mapping, holes too. */
static bool map_ranges(int users, int64_t range_bytes)
{
    int64_t bytes = hw_ghost_range_offset(users, range_bytes);
    char *memory =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool is_mapped = memory != MAP_FAILED;
    for (int i = 0; i < users && is_mapped; i++)
        is_mapped = mmap(memory + hw_ghost_range_offset(i, range_bytes), (size_t)range_bytes,
                         PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, PART_BYTES * i) != MAP_FAILED;
    if (is_mapped) {
        madvise(memory, (size_t)bytes, MADV_DONTDUMP);
        ranges = (struct hw_ghost_ranges){.memory = memory, .bytes = bytes};
    } else if (memory != MAP_FAILED) {
        munmap(memory, (size_t)bytes);
    }
    return is_mapped;
}

/* A program that locks all of its memory, under a limit that allows for that, would be refused with so many
 * more addresses. */
static bool may_reserve(void)
{
    struct rlimit locked;
    return getrlimit(RLIMIT_MEMLOCK, &locked) == 0 &&
           (locked.rlim_cur == RLIM_INFINITY || locked.rlim_cur < LOCKED_BYTES_MIN);
}

/* A program may have locked all that is mapped from here on (mlockall), which the kernel then fills at once:
 * of a range nobody has the memory. */
static bool are_mappings_filled(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char is_there = 0;
    void *probe = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED)
        return true;
    bool is_filled = mincore(probe, page, &is_there) != 0 || (is_there & 1) != 0;
    munmap(probe, page);
    return is_filled;
}

static bool take_range(int users, int64_t bytes)
{
    if (are_mappings_filled())
        return false;
    return hw_world_is_ghost() ? map_ranges(users, bytes) : may_reserve() && hw_arena_reserve((size_t)bytes);
}

/* All of the node or nobody: what a ghost has not mapped no process may count on. */
static void open_ranges(void)
{
    int users = hw_world_own_user_count();
    int64_t bytes = RANGE_BYTES_MAX;
    while (bytes > RANGES_BYTES_MAX / users)
        bytes /= 2;
    has_ranges = hw_world_have_all(hw_world.node, take_range(users, bytes));
    if (!has_ranges && !hw_world_is_ghost())
        hw_arena_unreserve();
}

void hw_ghost_node_memory_open(void)
{
    int rank, count;
    struct peer own = {0};
    hw_bottom.Comm_rank(hw_world.node, &rank);
    hw_bottom.Comm_size(hw_world.node, &count);
    if (count > PROCESSES_MAX)
        return;
    struct peer *peers = calloc((size_t)count, sizeof *peers);
    int fd = hw_ghost_pass_open(&own.address);
    own.is_willing = is_willing();
    bool is_shared = hw_world_have_all(hw_world.node, peers != NULL) && peers != NULL &&
                     hw_bottom.Allgather(&own, sizeof own, HW_BYTE, peers, sizeof own, HW_BYTE,
                                         hw_world.node) == MPI_SUCCESS &&
                     share_file(fd, peers, rank, count);
    free(peers);
    if (fd >= 0)
        close(fd);
    if (is_shared && !hw_world_is_ghost())
        hw_arena_open(file, PART_BYTES * rank, PART_BYTES);
    if (is_shared)
        open_ranges();
    if (!is_shared && file >= 0) {
        close(file);
        file = -1;
    }
}

static size_t length_of(const struct hw_ghost_piece *pieces, int count, size_t spare)
{
    for (int i = 0; i < count; i++)
        spare += (size_t)pieces[i].bytes;
    return spare;
}

char *hw_ghost_node_memory_map(const struct hw_ghost_piece *pieces, int count, size_t spare)
{
    size_t bytes = length_of(pieces, count, spare);
    if (bytes == 0 || !hw_file_is(file, made.identity))
        return NULL;
    char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    size_t done = 0;
    for (int i = 0; i < count; i++) {
        if (pieces[i].bytes > 0 && mmap(memory + done, (size_t)pieces[i].bytes, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_FIXED, file, pieces[i].place) == MAP_FAILED) {
            munmap(memory, bytes);
            return NULL;
        }
        done += (size_t)pieces[i].bytes;
    }
    return memory;
}

void hw_ghost_node_memory_unmap(char *memory, const struct hw_ghost_piece *pieces, int count, size_t spare)
{
    if (memory)
        munmap(memory, length_of(pieces, count, spare));
}
