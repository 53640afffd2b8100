/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/atomic.h"
#include "engines/engine.h"

#include "base/clock.h"
#include "base/log.h"
#include "engines/table.h"
#include "progress/inside.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DECLARED(name) extern const struct hw_engine hw_engine_##name;
HW_ENGINE_TABLE(DECLARED)

#define ADDRESS(name) &hw_engine_##name,
static const struct hw_engine *const table[] = {HW_ENGINE_TABLE(ADDRESS)};

enum { COUNT = sizeof table / sizeof table[0] };
_Static_assert(COUNT <= (int)HW_ENGINES_MAX, "hw_engines_told has a place for each");

/* NULL ends each of the lists. */
_Atomic(const struct hw_engine_p2p *) hw_engines_asked_p2p[HW_ENGINES_MAX + 1];
_Atomic(const struct hw_engine_pack *) hw_engines_asked_pack[HW_ENGINES_MAX + 1];
_Atomic(const struct hw_engine_rma *) hw_engines_asked_rma[HW_ENGINES_MAX + 1];
_Atomic(const struct hw_engine_epoch *) hw_engines_asked_epoch[HW_ENGINES_MAX + 1];
_Atomic(const struct hw_engine_window *) hw_engines_asked_window[HW_ENGINES_MAX + 1];
_Atomic(const struct hw_engine_collective *) hw_engines_asked_collective[HW_ENGINES_MAX + 1];
_Atomic(const struct hw_engine_communicator *) hw_engines_asked_communicator[HW_ENGINES_MAX + 1];
static _Atomic(const struct hw_engine *) asked[HW_ENGINES_MAX + 1];

_Atomic(const struct hw_engine *) hw_engines_told[HW_ENGINES_MAX + 1];
_Atomic(const struct hw_engine *) hw_engines_told_of_doors[HW_ENGINES_MAX + 1];
uint64_t hw_engines_min_bytes = UINT64_MAX;
uint64_t hw_engines_hook_bytes = UINT64_MAX;
uint64_t hw_engines_hook_bytes_derived = UINT64_MAX;

/* By place in the table: started, and not stopped, though perhaps told nothing any more. */
static bool is_started[COUNT];

/* `function` of all in the table, which have it. */
#define EACH(function, ...)                                                                                  \
    do {                                                                                                     \
        for (size_t i = 0; i < COUNT; i++)                                                                   \
            if (table[i]->function)                                                                          \
                table[i]->function(__VA_ARGS__);                                                             \
    } while (0)

/* Whether any is asked about messages of all datatypes. */
static bool is_asked_of_all(void)
{
    const struct hw_engine *engine;
    for (int i = 0; (engine = hw_atomic_load_acquire(&asked[i])) != NULL; i++)
        if (engine->p2p && !engine->is_for_derived)
            return true;
    return false;
}

static void set_min_bytes(uint64_t min_bytes)
{
    hw_engines_min_bytes = min_bytes;
    hw_engines_hook_bytes = is_asked_of_all() ? 0 : min_bytes;
    bool is_derived_first = hw_engines_is_asked_p2p() && hw_engines_hook_bytes > HW_ENGINES_PACK_BYTES;
    hw_engines_hook_bytes_derived = is_derived_first ? HW_ENGINES_PACK_BYTES : hw_engines_hook_bytes;
}

/* After the list of those that are asked about messages has changed. */
static void heed_p2p(void)
{
    set_min_bytes(hw_engines_min_bytes);
    hw_inside_want(HW_INSIDE_ASKED, is_asked_of_all());
    hw_inside_want(HW_INSIDE_ASKED_DERIVED, hw_engines_is_asked_p2p());
}

static void tell_nobody(void)
{
    set_min_bytes(UINT64_MAX);
    for (int i = 0; i <= HW_ENGINES_MAX; i++) {
        hw_atomic_store_release(&hw_engines_told[i], NULL);
        hw_atomic_store_release(&hw_engines_told_of_doors[i], NULL);
    }
}

static void fork_child(void)
{
    hw_request_fork_release();
    hw_request_fork_child();
    tell_nobody(); /* their threads stayed in the parent */
    memset(is_started, 0, sizeof is_started);
}

/* A program may end without MPI_Finalize: no thread may poll an MPI whose library is being torn down. */
static void at_exit(void)
{
    bool is_any = hw_engine_is_on();
    tell_nobody();
    for (size_t i = 0; is_any && i < COUNT; i++)
        if (is_started[i] && table[i]->abandon)
            table[i]->abandon();
}

void hw_engines_comm_frees(MPI_Comm comm)
{
    const struct hw_engine *engine;
    for (int i = 0; (engine = hw_atomic_load_acquire(&asked[i])) != NULL; i++)
        if (engine->comm_frees)
            engine->comm_frees(comm);
}

void hw_engines_refused(MPI_Count count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm,
                        bool is_receive)
{
    const struct hw_engine *engine;
    for (int i = 0; (engine = hw_atomic_load_acquire(&asked[i])) != NULL; i++)
        if (engine->refused)
            engine->refused(count, datatype, peer, tag, comm, is_receive);
}

void hw_engines_prepare(void) { EACH(prepare); }

void hw_engines_join(int level, bool is_session) { EACH(joined, level, is_session); }

/* Puts `item`, unless it is NULL, behind the others. */
#define ADD(list, item)                                                                                      \
    do {                                                                                                     \
        int end = 0;                                                                                         \
        while (hw_atomic_load_relaxed(&(list)[end]) != NULL)                                                 \
            end++;                                                                                           \
        hw_atomic_store_release(&(list)[end], (item));                                                       \
    } while (0)

enum hw_status hw_engines_begin(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        enum hw_status status = table[i]->begin ? table[i]->begin() : HW_DECLINED;
        if (status == HW_DECLINED)
            continue;
        if (status != HW_OK)
            return status;
        ADD(asked, table[i]);
        ADD(hw_engines_asked_p2p, table[i]->p2p);
        ADD(hw_engines_asked_pack, table[i]->pack);
        ADD(hw_engines_asked_rma, table[i]->rma);
        ADD(hw_engines_asked_epoch, table[i]->epoch);
        ADD(hw_engines_asked_window, table[i]->window);
        ADD(hw_engines_asked_collective, table[i]->collective);
        ADD(hw_engines_asked_communicator, table[i]->communicator);
    }
    heed_p2p();
    return HW_OK;
}

/* Takes `item` out, whether it is in the list or not. Who reads the list meanwhile may find the one behind
 * it twice or not at all; there is nobody in MPI_Finalize. */
#define TAKE_OUT(list, item)                                                                                 \
    do {                                                                                                     \
        int kept = 0;                                                                                        \
        for (int i = 0; i < HW_ENGINES_MAX; i++)                                                             \
            if (hw_atomic_load_relaxed(&(list)[i]) != (item))                                                \
                hw_atomic_store_release(&(list)[kept++], hw_atomic_load_relaxed(&(list)[i]));                \
        while (kept < HW_ENGINES_MAX)                                                                        \
            hw_atomic_store_release(&(list)[kept++], NULL);                                                  \
    } while (0)

void hw_engines_end(const struct hw_engine *engine)
{
    TAKE_OUT(asked, engine);
    TAKE_OUT(hw_engines_asked_p2p, engine->p2p);
    TAKE_OUT(hw_engines_asked_pack, engine->pack);
    TAKE_OUT(hw_engines_asked_rma, engine->rma);
    TAKE_OUT(hw_engines_asked_epoch, engine->epoch);
    TAKE_OUT(hw_engines_asked_window, engine->window);
    TAKE_OUT(hw_engines_asked_collective, engine->collective);
    TAKE_OUT(hw_engines_asked_communicator, engine->communicator);
    heed_p2p();
}

void hw_engines_start(bool has_world)
{
    static bool has_handlers;
    uint64_t min_bytes = UINT64_MAX;
    bool is_any = false;
    for (size_t i = 0; i < COUNT; i++) {
        uint64_t own_bytes = UINT64_MAX;
        if (table[i]->start == NULL || table[i]->start(has_world, &own_bytes) != HW_OK)
            continue;
        is_started[i] = true;
        min_bytes = own_bytes < min_bytes ? own_bytes : min_bytes;
        is_any = is_any || table[i]->posted || table[i]->returned;
        ADD(hw_engines_told, table[i]->posted ? table[i] : NULL);
        ADD(hw_engines_told_of_doors, table[i]->returned ? table[i] : NULL);
    }
    set_min_bytes(min_bytes);
    if (is_any && !has_handlers) {
        pthread_atfork(hw_request_fork_prepare, hw_request_fork_release, fork_child);
        atexit(at_exit);
        has_handlers = true;
    }
}

void hw_engines_stop(struct hw_record_facts *facts)
{
    tell_nobody();
    hw_engines_describe(facts);
    for (size_t i = 0; i < COUNT; i++) {
        if (is_started[i] && table[i]->stop)
            table[i]->stop();
        is_started[i] = false;
    }
}

bool hw_engines_window_place(MPI_Win *win, int *rank, struct hw_engine_place *place)
{
    const struct hw_engine *engine;
    for (int i = 0; (engine = hw_atomic_load_acquire(&asked[i])) != NULL; i++)
        if (engine->window_place && engine->window_place(win, rank, place))
            return true;
    return false;
}

void hw_engines_left(int change)
{
    const struct hw_engine *engine;
    for (int i = 0; (engine = hw_atomic_load_acquire(&asked[i])) != NULL; i++)
        if (engine->left)
            engine->left(change);
}

void hw_engines_say(void) { EACH(say); }

void hw_engines_hear(const struct hw_engine_handlers *handlers) { EACH(heard, handlers); }

void hw_engines_describe(struct hw_record_facts *facts) { EACH(describe, facts); }

__attribute__((cold)) void hw_engines_pass(void)
{
    if (hw_inside_wants(HW_INSIDE_PASSES))
        HW_ENGINES_TELL(passed);
}

__attribute__((cold)) void hw_engines_go(void)
{
    const struct hw_engine *engine;
    for (int i = 0; (engine = hw_atomic_load_acquire(&asked[i])) != NULL; i++)
        if (engine->goes)
            engine->goes();
}

uint64_t hw_engines_block(void)
{
    hw_engines_pass();
    return hw_inside_wants(HW_INSIDE_TIMES | HW_INSIDE_GOES) ? hw_clock_now_ns() : 0;
}

void hw_engines_blocked(uint64_t began_ns)
{
    if (hw_inside_wants(HW_INSIDE_GOES))
        hw_engines_go();
    if (hw_inside_wants(HW_INSIDE_TIMES))
        HW_ENGINES_TELL(blocked, began_ns);
}

void hw_engines_retire(const char *reason)
{
    if (hw_engines_min_bytes != UINT64_MAX) {
        hw_record_declined(reason);
        hw_log_info("%s; the progress thread is off from here on", reason);
    }
    set_min_bytes(UINT64_MAX);
    HW_ENGINES_TELL(retire);
}

void hw_engines_deferred(void) { HW_ENGINES_TELL(deferred); }

void hw_engines_exposed(int change) { HW_ENGINES_TELL(exposed, change); }

void hw_engines_pause(bool is_paused) { HW_ENGINES_TELL(pause, is_paused); }

void hw_engines_listen(bool is_listened) { HW_ENGINES_TELL(listen, is_listened); }
