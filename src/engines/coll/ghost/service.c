/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/ghost/service.h"

#include "base/log.h"
#include "engines/coll/ghost/collectives.h"
#include "engines/coll/ghost/places.h"
#include "engines/coll/shared/opened.h"
#include "ghost/offload.h"
#include "ghost/reach.h"
#include "ghost/service.h"
#include "real/constants.h"
#include "real/device_memory.h"
#include "world/world.h"

#include <stddef.h>

struct hw_coll_opened hw_coll_opened;

static bool has_threads;

void hw_coll_service_decline_threads(void) { has_threads = true; }

/* ---- opening: collective over hw_world.all ---------------------------------------------------------------
 */

/* Maxima over all processes: what all judge alike by. */
enum word { WORD_THREADS, WORD_DEVICES, WORD_UNREACHED, WORD_UNMADE, WORD_BYTES, WORD_SHORT_TAGS, WORDS };
enum { TAG_BITS_MAX = 30 };

static int tag_bits(void)
{
    int *most = NULL, is_there = 0, bits = 0;
    if (hw_bottom.Comm_get_attr(HW_COMM_WORLD, MPI_TAG_UB, &most, &is_there) != MPI_SUCCESS || !is_there)
        return 0;
    while (bits < TAG_BITS_MAX && *most >> bits > 1)
        bits++;
    return bits; /* all below 2^bits are tags */
}

static const char *judge(const uint64_t *words)
{
    int bits = TAG_BITS_MAX - (int)words[WORD_SHORT_TAGS];
    if (hw_world.node_count < 2)
        return "coll: all processes are on one node";
    if (words[WORD_THREADS])
        return "coll: a process has MPI_THREAD_MULTIPLE";
    if (words[WORD_DEVICES])
        return "coll: a process may have memory of a device";
    if (words[WORD_UNREACHED])
        return "coll: ghosts may not reach the memory of the processes that they serve";
    if (bits <= HW_COLL_SEQUENCE_BITS + HW_COLL_PHASE_BITS)
        return "coll: the MPI does not say how many tags it has";
    int comm_bits = bits - HW_COLL_SEQUENCE_BITS - HW_COLL_PHASE_BITS;
    hw_coll_opened.comm_count = 1u << (comm_bits < HW_COLL_COMM_BITS_MAX ? comm_bits : HW_COLL_COMM_BITS_MAX);
    hw_coll_opened.tag_count = 1 << bits;
    hw_coll_opened.min_bytes = words[WORD_BYTES];
    return words[WORD_UNMADE] ? "coll: a process has no memory for it" : NULL;
}

static void free_all(void)
{
    hw_coll_places_close();
    if (hw_coll_opened.comm != HW_COMM_NULL)
        hw_bottom.Comm_free(&hw_coll_opened.comm);
    hw_coll_opened.comm = HW_COMM_NULL;
    hw_coll_opened.is_open = false;
}

static void open_all(void)
{
    bool is_ghost = hw_world_is_ghost(), is_reached = hw_ghost_reach_users();
    hw_coll_opened.comm = HW_COMM_NULL;
    bool is_made = (!is_ghost || hw_coll_places_open()) &&
                   hw_bottom.Comm_dup(hw_world.all, &hw_coll_opened.comm) == MPI_SUCCESS;
    uint64_t words[WORDS], own[WORDS] = {[WORD_THREADS] = has_threads,
                                         [WORD_DEVICES] = hw_real_has_device_memory(),
                                         [WORD_UNREACHED] = !is_reached,
                                         [WORD_UNMADE] = !is_made,
                                         [WORD_BYTES] = hw_ghost_offload_min_bytes(),
                                         [WORD_SHORT_TAGS] = (uint64_t)(TAG_BITS_MAX - tag_bits())};
    bool is_told = hw_bottom.Allreduce(own, words, WORDS, HW_UINT64_T, HW_MAX, hw_world.all) == MPI_SUCCESS;
    hw_coll_opened.reason = is_told ? judge(words) : "coll: the MPI fails";
    hw_coll_opened.is_open = hw_coll_opened.reason == NULL;
    if (!hw_coll_opened.is_open)
        free_all();
}

/* ---- a ghost ---------------------------------------------------------------------------------------------
 */

static void begin(void) { open_all(); }

static void obey(const struct hw_ghost_command *command, int origin)
{
    const struct hw_coll_posted posted = hw_coll_posted_of(command);
    hw_coll_collectives_post(origin, &posted, command->grant_tag);
}

static bool poll(void) { return hw_coll_collectives_advance(); }

/* Every user process is in MPI_Finalize, so all that it has posted is complete there. */
static void end(void)
{
    if (!hw_coll_opened.is_open)
        return;
    while (hw_coll_collectives_are_any())
        hw_coll_collectives_advance();
    free_all();
}

/* ---- a user process --------------------------------------------------------------------------------------
 */

static enum hw_status open_user(void)
{
    open_all();
    return HW_OK;
}

static void close_user(void)
{
    if (hw_coll_opened.is_open)
        free_all();
}

static const struct hw_ghost_service service = {
    .name = "coll",
    .tags = {HW_COLL_TAG_FIRST, HW_COLL_KIND_COUNT},
    .begin = begin,
    .end = end,
    .obey = obey,
    .poll = poll,
    .needs_net = hw_coll_collectives_are_any,
    .open = open_user,
    .close = close_user,
};

void hw_coll_service_add(void)
{
    if (hw_ghost_service_add(&service) != HW_OK)
        hw_log_error("there are too many services of ghosts");
}
