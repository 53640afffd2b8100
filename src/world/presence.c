/* SPDX-License-Identifier: BSD-3-Clause */
#include "world/presence.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "real/constants.h"
#include "real/real.h"
#include "world/sibling.h"

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* On MPI_COMM_WORLD itself, which no program has yet: all is received before MPI_Init* returns. */
enum { TAG = 0x4857, WORD = 0x48656164, NEIGHBOURS_MAX = 32 };

/* From the first look on, one a second. Of a process that cannot be seen there is nothing to wait for after a
 * while: a launcher starts all, and most MPIs let none out of MPI_Init* before all have entered it. */
#define LOOK_NS (1000 * HW_NS_PER_MS)
#define FIRST_LOOK_NS (2 * LOOK_NS)
#define PATIENCE_NS (10 * LOOK_NS)

/* Of several processes that miss somebody the first has ended the job before the next looks. */
#define LATER_NS (600 * HW_NS_PER_MS)
enum { LATEST = 4 };

enum { SHORTEST_US = 20, LONGEST_US = 1000 };

struct neighbour {
    int rank;
    int word;
    MPI_Request request;
    bool is_there;
};

/* The parent first, which is told; the children tell. */
static int find_neighbours(int rank, int size, struct neighbour *neighbours)
{
    int count = 0;
    int lowest = rank & -rank;
    if (rank > 0)
        neighbours[count++].rank = rank - lowest;
    for (long bit = 1; bit < (rank > 0 ? lowest : size) && rank + bit < size; bit *= 2)
        neighbours[count++].rank = (int)(rank + bit);
    return count;
}

/* A synchronous send is over when the receiver has taken part. */
static bool exchange(int rank, struct neighbour *neighbours, int count)
{
    for (int i = 0; i < count; i++) {
        struct neighbour *one = &neighbours[i];
        one->word = one->rank < rank ? WORD : 0;
        int rc = one->rank < rank
                     ? hw_bottom.Issend(&one->word, 1, HW_INT, one->rank, TAG, HW_COMM_WORLD, &one->request)
                     : hw_bottom.Irecv(&one->word, 1, HW_INT, one->rank, TAG, HW_COMM_WORLD, &one->request);
        if (rc != MPI_SUCCESS)
            return false;
    }
    return true;
}

/* Progress. Whether all are there. */
static bool look(struct neighbour *neighbours, int count)
{
    bool are_all_there = true;
    for (int i = 0; i < count; i++) {
        int flag = 1;
        if (!neighbours[i].is_there)
            hw_bottom.Test(&neighbours[i].request, &flag, HW_STATUS_IGNORE);
        neighbours[i].is_there = flag && neighbours[i].word == WORD;
        are_all_there = are_all_there && neighbours[i].is_there;
    }
    return are_all_there;
}

/* The line about a neighbour that does not take part, if that is certain. Alike for all that miss it, so that
 * those of one node say it once. */
static bool refuse(int missing, uint64_t waited_ns)
{
    char value[32];
    hw_option_format(hw_option_of(offsetof(struct hw_options, ghosts)), &hw_options, value, sizeof value);
    switch (hw_world_sibling_find(missing)) {
    case HW_WORLD_SIBLING_NO_LIBRARY:
        hw_log_fatal("HEADWAY_GHOSTS=%s, but process %d runs without the library; start all processes with "
                     "the library and the same HEADWAY_GHOSTS",
                     value, missing);
        return true;
    case HW_WORLD_SIBLING_NO_GHOSTS:
        hw_log_fatal("HEADWAY_GHOSTS=%s, but HEADWAY_GHOSTS=0 at process %d; start all processes with the "
                     "same value",
                     value, missing);
        return true;
    case HW_WORLD_SIBLING_UNKNOWN:
        if (waited_ns < PATIENCE_NS)
            return false;
        hw_log_fatal("HEADWAY_GHOSTS=%s, but process %d takes no part after %d s: there HEADWAY_GHOSTS is 0, "
                     "or the library is not loaded; start all processes with the library and the same "
                     "HEADWAY_GHOSTS",
                     value, missing, (int)(PATIENCE_NS / LOOK_NS));
        return true;
    case HW_WORLD_SIBLING_ASKS:
        break;
    }
    return false;
}

static bool refuse_first(const struct neighbour *neighbours, int count, uint64_t waited_ns)
{
    for (int i = 0; i < count; i++)
        if (!neighbours[i].is_there && refuse(neighbours[i].rank, waited_ns))
            return true;
    return false;
}

enum hw_status hw_world_presence_await(void)
{
    struct neighbour neighbours[NEIGHBOURS_MAX] = {0};
    int rank, size;
    useconds_t pause_us = SHORTEST_US;
    hw_bottom.Comm_rank(HW_COMM_WORLD, &rank);
    hw_bottom.Comm_size(HW_COMM_WORLD, &size);
    int count = find_neighbours(rank, size, neighbours);
    uint64_t begin_ns = hw_clock_now_ns() + LATER_NS * (uint64_t)(rank < LATEST ? rank : LATEST);
    uint64_t next_ns = begin_ns + FIRST_LOOK_NS;
    if (!exchange(rank, neighbours, count))
        return HW_MPI;
    while (!look(neighbours, count)) {
        uint64_t now_ns = hw_clock_now_ns();
        if (now_ns >= next_ns) {
            if (refuse_first(neighbours, count, now_ns - begin_ns))
                return HW_BAD_INPUT;
            next_ns += LOOK_NS;
        }
        usleep(pause_us);
        pause_us = pause_us < LONGEST_US ? pause_us * 2 : LONGEST_US;
    }
    return HW_OK;
}
