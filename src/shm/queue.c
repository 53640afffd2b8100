/* SPDX-License-Identifier: BSD-3-Clause */
#include "shm/queue.h"

#include "shm/futex.h"

#include <limits.h>
#include <string.h>

/* Cells with long jobs that a put goes past before it says that the queue is full. */
enum { PASSED_MAX = 16, PHASES = (1 << HW_QUEUE_PHASE_BITS) - 1 };

static uint64_t state_of(uint64_t number, enum hw_queue_phase phase)
{
    return number << HW_QUEUE_PHASE_BITS | (uint64_t)phase;
}

static enum hw_queue_phase phase_of(uint64_t state) { return (enum hw_queue_phase)(state & PHASES); }

static struct hw_queue_cell *cell_of(struct hw_queue *queue, uint64_t number)
{
    return &queue->cells[number & (queue->cell_count - 1)];
}

/* True: the state was `from` and is `to` now, of the same job. */
static bool change(struct hw_queue_cell *cell, uint64_t number, enum hw_queue_phase from,
                   enum hw_queue_phase to)
{
    uint64_t expected = state_of(number, from);
    return hw_atomic_compare_exchange_acq_rel(&cell->state, &expected, state_of(number, to));
}

void hw_queue_make(struct hw_queue *queue, uint32_t cell_count)
{
    queue->cell_count = cell_count;
    queue->version = HW_QUEUE_VERSION;
}

static bool is_sound(const struct hw_queue *queue)
{
    return queue->version == HW_QUEUE_VERSION && queue->cell_count > 0 &&
           (queue->cell_count & (queue->cell_count - 1)) == 0;
}

bool hw_queue_produce(struct hw_queue_producer *producer, struct hw_queue *queue, bool wants_lock)
{
    if (!is_sound(queue))
        return false;
    *producer = (struct hw_queue_producer){.queue = queue, .wants_lock = wants_lock};
    return pthread_mutex_init(&producer->lock, NULL) == 0;
}

/* The number of a job whose cell is free. False: those that are next are not. */
static bool find_free(struct hw_queue_producer *producer, uint64_t *number)
{
    uint32_t limit = producer->queue->cell_count < PASSED_MAX ? producer->queue->cell_count : PASSED_MAX;
    for (uint32_t i = 0; i < limit; i++) {
        struct hw_queue_cell *cell = cell_of(producer->queue, producer->next + i);
        if (phase_of(hw_atomic_load_acquire(&cell->state)) != HW_QUEUE_FREE)
            continue;
        *number = producer->next + i;
        return true;
    }
    return false;
}

struct hw_queue_cell *hw_queue_put(struct hw_queue_producer *producer, const void *job, size_t bytes,
                                   enum hw_queue_phase phase)
{
    struct hw_queue_cell *cell = NULL;
    uint64_t number;
    if (producer->wants_lock)
        pthread_mutex_lock(&producer->lock);
    if (find_free(producer, &number)) {
        cell = cell_of(producer->queue, number);
        memcpy(cell->job, job, bytes);
        hw_atomic_store_release(&cell->state, state_of(number, phase));
        producer->next = number + 1;
        hw_atomic_store_seq_cst(&producer->queue->posted, number + 1);
    }
    if (producer->wants_lock)
        pthread_mutex_unlock(&producer->lock);
    return cell;
}

void hw_queue_release(struct hw_queue_cell *cell)
{
    hw_atomic_store_release(&cell->state, state_of(hw_queue_number(cell), HW_QUEUE_FREE));
}

/* The consumer may be reading a READY one; of an OPEN one nobody reads before it claims it. */
bool hw_queue_withdraw(struct hw_queue_cell *cell)
{
    uint64_t number = hw_queue_number(cell);
    return change(cell, number, HW_QUEUE_READY, HW_QUEUE_WITHDRAWN) ||
           change(cell, number, HW_QUEUE_OPEN, HW_QUEUE_FREE);
}

void hw_queue_sleep(struct hw_queue *queue, uint32_t seen, uint64_t timeout_ns)
{
    hw_atomic_add_seq_cst(&queue->sleepers, 1);
    if (hw_atomic_load_seq_cst(&queue->ended) == seen)
        hw_futex_wait_shared(&queue->ended, seen, timeout_ns);
    hw_atomic_sub_seq_cst(&queue->sleepers, 1);
}

bool hw_queue_consume(struct hw_queue_consumer *consumer, struct hw_queue *queue)
{
    *consumer = (struct hw_queue_consumer){.queue = queue};
    return is_sound(queue);
}

struct hw_queue_cell *hw_queue_next(struct hw_queue_consumer *consumer)
{
    uint64_t posted = hw_atomic_load_seq_cst(&consumer->queue->posted);
    while (consumer->next < posted) {
        uint64_t number = consumer->next++;
        struct hw_queue_cell *cell = cell_of(consumer->queue, number);
        uint64_t state = hw_atomic_load_acquire(&cell->state);
        if (state == state_of(number, HW_QUEUE_READY))
            return cell;
        if (state == state_of(number, HW_QUEUE_WITHDRAWN))
            hw_queue_release(cell);
    }
    return NULL;
}

bool hw_queue_claim(struct hw_queue_cell *cell)
{
    if (change(cell, hw_queue_number(cell), HW_QUEUE_READY, HW_QUEUE_BUSY))
        return true;
    hw_queue_release(cell);
    return false;
}

struct hw_queue_cell *hw_queue_claim_open(struct hw_queue *queue, uint64_t number)
{
    struct hw_queue_cell *cell = cell_of(queue, number);
    return change(cell, number, HW_QUEUE_OPEN, HW_QUEUE_BUSY) ? cell : NULL;
}

void hw_queue_open_again(struct hw_queue_cell *cell)
{
    hw_atomic_store_release(&cell->state, state_of(hw_queue_number(cell), HW_QUEUE_OPEN));
}

void hw_queue_tell(struct hw_queue *queue)
{
    hw_atomic_add_seq_cst(&queue->ended, 1);
    if (hw_atomic_load_seq_cst(&queue->sleepers) > 0)
        hw_futex_wake_shared(&queue->ended, INT_MAX);
}

void hw_queue_end(struct hw_queue *queue, struct hw_queue_cell *cell, int error, uint64_t moved)
{
    cell->error = error;
    cell->moved = moved;
    hw_atomic_store_release(&cell->state, state_of(hw_queue_number(cell), HW_QUEUE_DONE));
    hw_queue_tell(queue);
}
