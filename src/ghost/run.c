/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/run.h"

#include "ghost/apply_lock.h"
#include "ghost/bell.h"
#include "ghost/exchange.h"
#include "ghost/farewell.h"
#include "ghost/give_up.h"
#include "ghost/herald.h"
#include "ghost/leaver.h"
#include "ghost/locks.h"
#include "ghost/node_memory.h"
#include "ghost/sample.h"
#include "ghost/service.h"
#include "ghost/wait.h"
#include "progress/poll.h"
#include "real/constants.h"
#include "real/ending.h"
#include "real/software_rma.h"
#include "world/world.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { POLLS_PER_PROBE = 8 };

static struct hw_ghost_apply_lock *apply_lock; /* held in every call of MPI that may serve others; or NULL */
static bool is_over;                           /* MPI has ended in this ghost */
static bool is_abandoned;                      /* another ghost was lost: nothing more is done together */
static uint64_t obeyed_count, told_count = UINT64_MAX; /* told: once it is known */

static void obey(const struct hw_ghost_command *command, int origin)
{
    if (command->tag == HW_GHOST_TAG_FINISH) {
        told_count = command->id;
        is_abandoned = command->words[0] != 0;
        return;
    }
    if (!hw_ghost_services_obey(command, origin))
        hw_ghost_give_up("was told something it does not understand");
    obeyed_count++;
}

/* The next command, if one has come. A matched probe and not a receive from any source, which MPICH 5.0 over
 * UCX never completes for some messages from other nodes (doc/guide/troubleshooting.md). */
static bool take(struct hw_ghost_command *command, int *origin)
{
    int is_there = 0;
    MPI_Message message;
    MPI_Status status;
    if (hw_bottom.Improbe(HW_ANY_SOURCE, HW_GHOST_TAG_COMMAND, hw_world.all, &is_there, &message, &status) !=
        MPI_SUCCESS)
        hw_ghost_give_up("cannot receive any more");
    if (!is_there)
        return false;
    *origin = status.MPI_SOURCE;
    if (hw_bottom.Mrecv(command, sizeof *command, HW_BYTE, &message, HW_STATUS_IGNORE) != MPI_SUCCESS)
        hw_ghost_give_up("cannot receive any more");
    return true;
}

/* A round. With the lock: only here are operations of others applied, and the ghost sleeps without it. Within
 * obey it may wait for others' part in a collective call, which they make without the lock. */
static bool look(bool must_look, bool must_probe)
{
    struct hw_ghost_command command;
    int origin;
    if (apply_lock)
        hw_ghost_apply_lock_ghost_take(apply_lock);
    hw_poll(); /* also where a probe alone makes no progress */
    if (must_look)
        hw_poll();
    bool has_command = must_probe && take(&command, &origin);
    if (has_command)
        obey(&command, origin);
    bool has_done = hw_ghost_services_poll();
    hw_ghost_sample_turn();
    if (apply_lock)
        hw_ghost_apply_lock_ghost_give(apply_lock);
    return has_command || has_done;
}

/* Polls come before a probe, and more often: what the ghost is woken for are mostly operations, which a poll
 * serves, and a probe that finds nothing ends in sched_yield(2) on the MPICH family. Next to a process that
 * spins that costs the ghost its core for 0.1 ms and more. */
static void serve(void)
{
    bool must_look = true;
    unsigned polls = 0;
    while (obeyed_count != told_count) {
        bool is_somebody_leaving = hw_ghost_leaver_look();
        bool must_probe = must_look || ++polls % POLLS_PER_PROBE == 0;
        if (look(must_look, must_probe)) {
            hw_ghost_wait_traffic();
            must_look = true;
            continue;
        }
        if (is_somebody_leaving)
            hw_ghost_leaver_pause();
        must_look = is_somebody_leaving || (!hw_ghost_services_have_work() && hw_ghost_wait());
    }
}

static void begin_services(void)
{
    const struct hw_ghost_service *service;
    hw_ghost_wait_enter_mpi();
    for (int i = 0; (service = hw_ghost_service_at(i)) != NULL; i++)
        if (service->begin)
            service->begin();
    hw_ghost_wait_leave_mpi();
}

static void end_services(void)
{
    const struct hw_ghost_service *service;
    hw_ghost_wait_enter_mpi();
    for (int i = 0; (service = hw_ghost_service_at(i)) != NULL; i++)
        if (service->end)
            service->end();
    hw_ghost_wait_leave_mpi();
}

/* What the program began before MPI_Init its processes end: handlers of exit(3), which may use what it has
 * only afterwards, destructors, text that is still to be written. The last handler runs first: those of the
 * MPI have run when this one does. */
static void end_ghost(void)
{
    if (is_over)
        _exit(0);
}

void hw_ghost_prepare(void)
{
    hw_ghost_service_add(&hw_ghost_locks_service);
    atexit(end_ghost);
}

/* Collective with the user processes (farewell.h). */
static void end_together(void)
{
    hw_ghost_sample_end();
    end_services();
    hw_ghost_exchange_end();
    hw_poll_close();
    hw_ghost_bells_free();
    hw_ghost_farewell_quiesce();
    hw_world_end();
}

_Noreturn void hw_ghost_run(void)
{
    prctl(PR_SET_NAME, "headway-ghost", 0, 0, 0);
    hw_ghost_herald_start();
    hw_ghost_bells_make(hw_real_is_accumulate_in_calls());
    hw_ghost_node_memory_open();
    apply_lock = hw_ghost_apply_lock_of(hw_world.processes[hw_world.rank].local_index);
    if (hw_poll_open() != HW_OK)
        hw_ghost_give_up("cannot make a communicator");
    hw_ghost_wait_begin();
    begin_services();
    hw_ghost_exchange_begin();
    hw_ghost_sample_begin();
    serve();
    if (!is_abandoned)
        end_together();
    hw_real_ending_begin();
    hw_bottom.Finalize();
    hw_real_ending_end();
    hw_ghost_herald_stop();
    /* Not _exit: MPICH 5 says goodbye to its launcher in a handler of exit(3). */
    is_over = true;
    exit(0);
}
