/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: every order in which producer, consumer and a third process can take their steps in a small
 * queue. A step is one atomic operation. The functions of shm/queue.c run as coroutines that give way before
 * each; all schedules are gone through, but what follows a state that was there before is not gone through
 * again. */
#include "base/atomic.h"
#include "shm/futex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

static void give_way(void);
static uint64_t note(uint64_t seen);
static void model_wait(const _Atomic uint32_t *word, uint32_t expected);
static void model_wake(void);

#undef hw_atomic_load_relaxed
#undef hw_atomic_load_acquire
#undef hw_atomic_load_seq_cst
#undef hw_atomic_store_release
#undef hw_atomic_store_seq_cst
#undef hw_atomic_add_seq_cst
#undef hw_atomic_sub_seq_cst
#undef hw_atomic_compare_exchange_acq_rel
#define LOAD(object) (give_way(), (__typeof__(atomic_load(object)))note(atomic_load(object)))
#define hw_atomic_load_relaxed(object) LOAD(object)
#define hw_atomic_load_acquire(object) LOAD(object)
#define hw_atomic_load_seq_cst(object) LOAD(object)
#define hw_atomic_store_release(object, value) (give_way(), atomic_store((object), (value)))
#define hw_atomic_store_seq_cst(object, value) (give_way(), atomic_store((object), (value)))
#define hw_atomic_add_seq_cst(object, value) (give_way(), (void)note(atomic_fetch_add((object), (value))))
#define hw_atomic_sub_seq_cst(object, value) (give_way(), (void)note(atomic_fetch_sub((object), (value))))
#define hw_atomic_compare_exchange_acq_rel(object, expected, desired)                                        \
    (give_way(), note(atomic_compare_exchange_strong((object), (expected), (desired))))
#define hw_futex_wait_shared(word, expected, timeout_ns) ((void)(timeout_ns), model_wait((word), (expected)))
#define hw_futex_wake_shared(word, count) ((void)(word), (void)(count), model_wake())

/* A second copy beside the library's. */
#define hw_queue_make model_make
#define hw_queue_produce model_produce
#define hw_queue_put model_put
#define hw_queue_release model_release
#define hw_queue_withdraw model_withdraw
#define hw_queue_sleep model_sleep
#define hw_queue_consume model_consume
#define hw_queue_next model_next
#define hw_queue_claim model_claim
#define hw_queue_claim_open model_claim_open
#define hw_queue_open_again model_open_again
#define hw_queue_end model_end
#define hw_queue_tell model_tell
#include "../../src/shm/queue.c" /* NOLINT(bugprone-suspicious-include): other atomics */

/* ---- coroutines and schedules -------------------------------------------------------------------------- */

enum { ACTORS_MAX = 3, STACK_BYTES = 128 * 1024, STEPS_MAX = 512, SEEN_SLOTS = 1 << 22, CELLS_MAX = 4 };

static struct actor {
    ucontext_t context;
    void (*run)(void);
    uint64_t observed; /* hash of what it has read so far: says where it is, and with what */
    bool is_over, is_asleep;
} actors[ACTORS_MAX];
static char stacks[ACTORS_MAX][STACK_BYTES];
static int actor_count, current = -1; /* -1: nobody's turn; steps of its own do not give way */
static ucontext_t scheduler;

static union {
    struct hw_queue queue;
    char bytes[sizeof(struct hw_queue) + CELLS_MAX * sizeof(struct hw_queue_cell)];
} memory;

static struct choice {
    int taken, option_count;
} choices[STEPS_MAX];
static uint64_t seen[SEEN_SLOTS];
static uint64_t state_count, run_count, end_count;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

static uint64_t note(uint64_t value)
{
    if (current >= 0)
        actors[current].observed = mix(actors[current].observed, value + 1);
    return value;
}

static void give_way(void)
{
    if (current < 0)
        return;
    struct actor *actor = &actors[current];
    actor->observed = mix(actor->observed, 1); /* one step on */
    swapcontext(&actor->context, &scheduler);
}

static void model_wait(const _Atomic uint32_t *word, uint32_t expected)
{
    give_way();
    if (atomic_load(word) != expected)
        return;
    actors[current].is_asleep = true;
    give_way();
}

static void model_wake(void)
{
    give_way();
    for (int i = 0; i < actor_count; i++)
        actors[i].is_asleep = false;
}

static void trampoline(int index)
{
    actors[index].run();
    actors[index].is_over = true;
    swapcontext(&actors[index].context, &scheduler);
}

static void (*prepare)(void), (*conclude)(void);
static uint64_t (*extra_state)(void);

/* getcontext may return twice, so it has a function without anything that changes. */
static void start(int actor)
{
    actors[actor] = (struct actor){.run = actors[actor].run, .observed = 1};
    getcontext(&actors[actor].context);
    actors[actor].context.uc_stack.ss_sp = stacks[actor];
    actors[actor].context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&actors[actor].context, (void (*)(void))trampoline, 1, actor);
}

static void start_all(void)
{
    for (int i = 0; i < actor_count; i++)
        start(i);
}

/* True: it was there before. */
static bool was_seen(void)
{
    uint64_t hash = extra_state();
    for (size_t i = 0; i < sizeof memory.bytes; i += 8) {
        uint64_t word;
        memcpy(&word, memory.bytes + i, 8);
        hash = mix(hash, word);
    }
    for (int i = 0; i < actor_count; i++)
        hash = mix(hash, actors[i].observed * 4 + actors[i].is_over * 2 + actors[i].is_asleep);
    for (uint64_t slot = hash;; slot++) {
        uint64_t *place = &seen[slot % SEEN_SLOTS];
        if (*place == hash)
            return true;
        if (*place != 0)
            continue;
        *place = hash;
        assert_true(++state_count < SEEN_SLOTS / 2);
        return false;
    }
}

static int runnable(int *options)
{
    int count = 0;
    for (int i = 0; i < actor_count; i++)
        if (!actors[i].is_over && !actors[i].is_asleep)
            options[count++] = i;
    return count;
}

/* Follows the first `depth` choices, then takes the first of each. Returns how many there were. */
static int run_once(int depth)
{
    int step = 0, options[ACTORS_MAX], count;
    memset(memory.bytes, 0, sizeof memory.bytes);
    prepare();
    start_all();
    run_count++;
    while ((count = runnable(options)) > 0) {
        assert_true(step < STEPS_MAX);
        if (step >= depth) {
            if (was_seen())
                return step;
            choices[step] = (struct choice){.option_count = count};
        }
        current = options[choices[step++].taken];
        int turn = current;
        swapcontext(&scheduler, &actors[turn].context);
        current = -1;
    }
    for (int i = 0; i < actor_count; i++)
        assert_false(actors[i].is_asleep); /* for ever */
    end_count++;
    conclude();
    return step;
}

static void explore(void)
{
    memset(seen, 0, sizeof seen);
    state_count = run_count = end_count = 0;
    int depth = run_once(0);
    for (;;) {
        while (depth > 0 && choices[depth - 1].taken + 1 == choices[depth - 1].option_count)
            depth--;
        if (depth == 0)
            break;
        choices[depth - 1].taken++;
        depth = run_once(depth);
    }
    print_message("%llu states, %llu runs, %llu ends\n", (unsigned long long)state_count,
                  (unsigned long long)run_count, (unsigned long long)end_count);
    assert_true(end_count > 1);
}

/* ---- what they do -------------------------------------------------------------------------------------- */

enum { JOBS_MAX = 8 };

static struct hw_queue_producer producer;
static struct hw_queue_consumer consumer;
static int put_count, refused_count;
static int fates[JOBS_MAX]; /* of each job: how often it was claimed, withdrawn (16) and taken (256) */
static int last_claimed;

static uint64_t hash_fates(void)
{
    uint64_t hash = mix(mix(mix(1, (uint64_t)put_count), (uint64_t)refused_count), (uint64_t)last_claimed);
    for (int i = 0; i < JOBS_MAX; i++)
        hash = mix(hash, (uint64_t)fates[i]);
    return hash;
}

static void prepare_cells(uint32_t cells)
{
    hw_queue_make(&memory.queue, cells);
    assert_true(hw_queue_produce(&producer, &memory.queue, false));
    assert_true(hw_queue_consume(&consumer, &memory.queue));
    put_count = refused_count = 0;
    last_claimed = -1;
    memset(fates, 0, sizeof fates);
}
static void prepare_two(void) { prepare_cells(2); }
static void prepare_one(void) { prepare_cells(1); }

static struct hw_queue_cell *put(enum hw_queue_phase phase)
{
    uint64_t job = 100 + (uint64_t)put_count;
    struct hw_queue_cell *cell = hw_queue_put(&producer, &job, sizeof job, phase);
    if (cell)
        put_count++;
    else
        refused_count++;
    return cell;
}

static bool take(struct hw_queue_cell *cell)
{
    if (!hw_queue_is_done(cell))
        return false;
    int job = (int)cell->job[0] - 100;
    assert_int_equal(cell->moved, cell->job[0] * 3);
    assert_int_equal(cell->error, job);
    assert_int_equal(fates[job], 1);
    fates[job] += 256;
    hw_queue_release(cell);
    return true;
}

static void end_job(struct hw_queue_cell *cell)
{
    hw_queue_end(&memory.queue, cell, (int)cell->job[0] - 100, cell->job[0] * 3);
}

/* In order, each once, none that was withdrawn. */
static bool claim(struct hw_queue_cell *cell)
{
    int job = (int)cell->job[0] - 100; /* before it is claimed */
    assert_in_range(job, 0, JOBS_MAX - 1);
    if (!hw_queue_claim(cell))
        return false;
    assert_true(job > last_claimed);
    assert_int_equal(cell->job[0], 100 + job);
    assert_int_equal(fates[job], 0);
    last_claimed = job;
    fates[job] = 1;
    return true;
}

/* ---- jobs that end in any order, in fewer cells than jobs ------------------------------------------------
 */

/* Puts as often as there is room, takes what is done. */
static void producer_of_three(void)
{
    struct hw_queue_cell *cells[3] = {NULL};
    for (int i = 0; i < 3; i++) {
        cells[i] = put(HW_QUEUE_READY);
        for (int j = 0; j <= i; j++)
            if (cells[j] && take(cells[j]))
                cells[j] = NULL;
    }
}

/* Two at a time, and the later one ends first. */
static void consumer_of_pairs(void)
{
    for (int i = 0; i < 3; i++) {
        struct hw_queue_cell *first = hw_queue_next(&consumer);
        struct hw_queue_cell *second = hw_queue_next(&consumer);
        bool has_first = first && claim(first);
        if (second && claim(second))
            end_job(second);
        if (has_first)
            end_job(first);
    }
}

/* Nothing was lost: what is still there a later look finds. */
static void drain(void)
{
    struct hw_queue_cell *cell;
    while ((cell = hw_queue_next(&consumer)) != NULL)
        if (claim(cell))
            end_job(cell);
    uint32_t used = 0, ended = 0;
    for (int i = 0; i < put_count; i++) {
        assert_true(fates[i] == 1 || fates[i] == 257 || fates[i] == 16);
        ended += fates[i] == 1; /* and nobody has taken that */
    }
    for (uint32_t i = 0; i < memory.queue.cell_count; i++)
        used += (memory.queue.cells[i].state & ((1 << HW_QUEUE_PHASE_BITS) - 1)) != HW_QUEUE_FREE;
    assert_int_equal(used, ended);
}

static void ends_in_any_order(void **state)
{
    (void)state;
    actors[0].run = producer_of_three;
    actors[1].run = consumer_of_pairs;
    actor_count = 2;
    prepare = prepare_two;
    conclude = drain;
    extra_state = hash_fates;
    explore();
}

/* ---- withdrawing -------------------------------------------------------------------------------------- */

static void withdraw(struct hw_queue_cell *cell, int job)
{
    if (hw_queue_withdraw(cell)) {
        assert_int_equal(fates[job], 0);
        fates[job] = 16;
    }
}

static void producer_that_withdraws(void)
{
    for (int i = 0; i < 3; i++) {
        int job = put_count;
        struct hw_queue_cell *cell = put(HW_QUEUE_READY);
        if (cell && i < 2)
            withdraw(cell, job);
        if (cell && fates[job] != 16)
            take(cell);
    }
}

static void consumer_of_singles(void)
{
    for (int i = 0; i < 4; i++) {
        struct hw_queue_cell *cell = hw_queue_next(&consumer);
        if (cell && claim(cell))
            end_job(cell);
    }
}

static void withdrawn_or_done(void **state)
{
    (void)state;
    actors[0].run = producer_that_withdraws;
    actors[1].run = consumer_of_singles;
    actor_count = 2;
    prepare = prepare_two;
    conclude = drain;
    extra_state = hash_fates;
    explore();
}

/* ---- open jobs: one of two gets it; the consumer, never -------------------------------------------------
 */

static void claim_number(uint64_t number)
{
    struct hw_queue_cell *cell = hw_queue_claim_open(&memory.queue, number);
    if (cell == NULL)
        return;
    assert_int_equal(cell->job[0], 100 + number);
    assert_int_equal(fates[number], 0);
    fates[number] = 1;
    end_job(cell);
}

static void producer_of_open_ones(void)
{
    struct hw_queue_cell *cell = put(HW_QUEUE_OPEN);
    if (!take(cell))
        withdraw(cell, 0);
    if (note((uint64_t)fates[0]) == 1)
        take(cell);
    put(HW_QUEUE_READY); /* where there is one cell, and it is free again: in the same */
}

static void third_process(void)
{
    claim_number(0);
    claim_number(0);
}

static void consumer_beside(void)
{
    claim_number(0);
    struct hw_queue_cell *first = hw_queue_next(&consumer), *second = hw_queue_next(&consumer);
    struct hw_queue_cell *cell = first ? first : second;
    assert_true(first == NULL || second == NULL); /* of two jobs one was open */
    if (cell && claim(cell)) {
        assert_int_not_equal(cell->job[0], 100);
        end_job(cell);
    }
}

static void open_ones(void **state)
{
    (void)state;
    actors[0].run = producer_of_open_ones;
    actors[1].run = consumer_beside;
    actors[2].run = third_process;
    actor_count = 3;
    prepare = prepare_one;
    conclude = drain;
    extra_state = hash_fates;
    explore();
}

/* ---- sleeping -------------------------------------------------------------------------------------------
 */

static struct hw_queue_cell *slept_for[2];

static void prepare_sleep(void)
{
    prepare_two();
    slept_for[0] = put(HW_QUEUE_READY);
    slept_for[1] = put(HW_QUEUE_READY);
}

static void producer_that_sleeps(void)
{
    struct hw_queue_cell *cells[2] = {slept_for[0], slept_for[1]};
    while (cells[0] || cells[1]) {
        uint32_t ended = hw_queue_ended(&memory.queue);
        bool has_taken = false;
        for (int i = 0; i < 2; i++) {
            if (cells[i] && take(cells[i])) {
                cells[i] = NULL;
                has_taken = true;
            }
        }
        if (!has_taken)
            hw_queue_sleep(&memory.queue, ended, UINT64_MAX);
    }
}

static void all_taken(void)
{
    assert_int_equal(fates[0], 257);
    assert_int_equal(fates[1], 257);
}

static void who_sleeps_is_woken(void **state)
{
    (void)state;
    actors[0].run = producer_that_sleeps;
    actors[1].run = consumer_of_singles;
    actor_count = 2;
    prepare = prepare_sleep;
    conclude = all_taken;
    extra_state = hash_fates;
    explore();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_in_any_order),
        cmocka_unit_test(withdrawn_or_done),
        cmocka_unit_test(open_ones),
        cmocka_unit_test(who_sleeps_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
