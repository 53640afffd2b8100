/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/near.h"

#include "base/clock.h"
#include "base/options.h"
#include "base/peek.h"
#include "engines/p2p/user/receiving.h"
#include "engines/p2p/user/turns.h"
#include "ghost/channel.h"
#include "profile/record/counters.h"
#include "world/world.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* How long a sender waits for its receiver before it moves the data away; waits that follow one another so
 * soon are one. */
#define PATIENCE_NS HW_NS_PER_MS
#define SAME_WAIT_NS (100 * HW_NS_PER_US)
#define NAP_NS (50 * HW_NS_PER_US)

enum {
    ASKED_MAX = 16,         /* of a program that asks now and then */
    PART_BYTES = 256 << 20, /* the kernel reads less than 2 GiB in one call */
};

/* What was moved away, until its receiver has read it. */
struct left {
    struct left *next;
    struct hw_queue_cell *cell;
    uint64_t bytes;
    char data[];
};

static struct left *lefts;            /* in turns */
static _Atomic uint64_t taken, limit; /* bytes */
static _Atomic uint64_t wait_began_ns, wait_seen_ns;
static bool is_crowded;

void hw_p2p_near_open(void)
{
    int users = hw_world_own_user_count();
    hw_atomic_store_relaxed(&limit, (uint64_t)hw_options.staging_bytes / (uint64_t)users);
    is_crowded = hw_world_is_crowded(hw_world.own_node->process_count, true);
}

/* ---- the sender ---------------------------------------------------------------------------------------- */

const char *hw_p2p_near_refuse(int process)
{
    if (process == hw_world.rank)
        return "p2p: to the sender itself";
    return hw_p2p_opened.neighbours ? NULL : hw_p2p_opened.near_reason;
}

/* In a turn. */
static void free_left(void)
{
    for (struct left **link = &lefts, *one; (one = *link) != NULL;) {
        if (!hw_queue_is_done(one->cell)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        hw_queue_release(one->cell);
        hw_p2p_near_give_room(one->bytes);
        free(one);
    }
}

void hw_p2p_near_close(void) { free_left(); }

bool hw_p2p_near_take_room(uint64_t bytes)
{
    free_left();
    if (hw_atomic_load_relaxed(&taken) + bytes > hw_atomic_load_relaxed(&limit))
        return false;
    hw_atomic_add_relaxed(&taken, bytes);
    return true;
}

void hw_p2p_near_give_room(uint64_t bytes) { hw_atomic_sub_relaxed(&taken, bytes); }

bool hw_p2p_near_is_late(uint32_t *asked)
{
    uint64_t now_ns = hw_clock_now_ns();
    if (now_ns - hw_atomic_load_relaxed(&wait_seen_ns) > SAME_WAIT_NS) {
        hw_atomic_store_relaxed(&wait_began_ns, now_ns);
        ++*asked;
    }
    hw_atomic_store_relaxed(&wait_seen_ns, now_ns);
    return now_ns - hw_atomic_load_relaxed(&wait_began_ns) > PATIENCE_NS || *asked > ASKED_MAX;
}

static struct left *make_left(struct hw_queue_cell *cell, struct hw_p2p_job *job)
{
    struct left *left = malloc(sizeof *left + (size_t)job->bytes);
    if (left == NULL)
        return NULL;
    left->cell = cell;
    left->bytes = job->bytes;
    memcpy(left->data, (const void *)(uintptr_t)job->address, (size_t)job->bytes);
    job->address = (uint64_t)(uintptr_t)left->data;
    return left;
}

bool hw_p2p_near_leave(struct hw_queue_cell *cell)
{
    struct hw_p2p_job job;
    if (hw_queue_claim_open(hw_p2p_queue_of(hw_p2p_opened.block), hw_queue_number(cell)) == NULL)
        return false;
    memcpy(&job, cell->job, sizeof job);
    struct left *left = make_left(cell, &job);
    memcpy(cell->job, &job, sizeof job);
    hw_queue_open_again(cell);
    if (left == NULL)
        return false;
    bool has_turn = hw_p2p_turn_begin();
    left->next = lefts;
    lefts = left;
    hw_p2p_turn_end(has_turn);
    HW_COUNT(p2p_near_left);
    return true;
}

/* Two processes that send to each other each wait here for the other. */
void hw_p2p_near_pause(const struct hw_queue_cell *cell)
{
    struct hw_queue *queue = hw_p2p_queue_of(hw_p2p_opened.block);
    uint32_t seen = hw_queue_ended(queue);
    hw_p2p_receiving_serve();
    hw_ghost_channel_progress();
    if (is_crowded && !hw_queue_is_done(cell))
        hw_queue_sleep(queue, seen, NAP_NS);
}

/* ---- the receiver -------------------------------------------------------------------------------------- */

/* A sender that moves the data away just now opens the cell again. */
static struct hw_queue_cell *claim(struct hw_queue *queue, uint64_t number)
{
    struct hw_queue_cell *cell;
    while ((cell = hw_queue_claim_open(queue, number)) == NULL)
        sched_yield();
    return cell;
}

static int read_all(pid_t pid, uint64_t address, char *to, uint64_t bytes)
{
    int failed = 0;
    for (uint64_t done = 0; done < bytes && !failed;) {
        uint64_t part = bytes - done < PART_BYTES ? bytes - done : PART_BYTES;
        failed = hw_peek(pid, (uintptr_t)(address + done), to + done, (size_t)part);
        done += part;
    }
    return failed;
}

int hw_p2p_near_read(const struct hw_p2p_ticket *ticket, void *to, uint64_t bytes)
{
    int local_index = hw_world.processes[hw_world.user_ranks[ticket->from]].local_index;
    struct hw_queue *queue = hw_p2p_queue_of(hw_p2p_opened.neighbours[local_index]);
    struct hw_p2p_job job;
    struct hw_queue_cell *cell = claim(queue, ticket->number);
    memcpy(&job, cell->job, sizeof job);
    int failed = to ? read_all(hw_world.node_pids[local_index], job.address, to, bytes) : ENOMEM;
    hw_queue_end(queue, cell, failed, bytes);
    return failed;
}
