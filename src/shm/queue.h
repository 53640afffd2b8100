/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue: how threads of one process hand jobs to one other process of the node, through memory that both
 * have mapped. A ring of cells, each with a flag of its own that says when its job is done.
 *
 *   FREE      the producer's; to be filled
 *   READY     handed over; the consumer sees it, in the order of puts, and claims it
 *   OPEN      handed over, but not to the consumer: whoever is told of its number claims it
 *   BUSY      whoever claimed it is at work, and may open it again
 *   DONE      with `error` and `moved`; the producer takes them and releases the cell
 *   WITHDRAWN the producer wants nothing any more; the consumer frees the cell when it comes by
 *
 * Jobs end in any order. A cell is used again only when its end was taken, and one that stays long holds up
 * nobody: the producer goes past it.
 *
 * A cell's state carries the number of its job, so what is said of one job never meets another in the same
 * cell. Nothing here waits but hw_queue_sleep. */
#ifndef HW_SHM_QUEUE_H
#define HW_SHM_QUEUE_H

#include "base/atomic.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HW_QUEUE_VERSION = 1, HW_QUEUE_JOB_BYTES = 104, HW_QUEUE_LINE = 64 };

enum hw_queue_phase {
    HW_QUEUE_FREE,
    HW_QUEUE_READY,
    HW_QUEUE_OPEN,
    HW_QUEUE_BUSY,
    HW_QUEUE_DONE,
    HW_QUEUE_WITHDRAWN,
};
enum { HW_QUEUE_PHASE_BITS = 3 };

struct hw_queue_cell {
    _Atomic uint64_t state; /* number << HW_QUEUE_PHASE_BITS | phase; release by who changes it */
    int32_t error;          /* whoever claimed it writes both, before DONE; 0: none, or an errno */
    uint32_t unused;
    uint64_t moved;                       /* bytes */
    uint64_t job[HW_QUEUE_JOB_BYTES / 8]; /* the producer writes it while the cell is FREE */
};
static_assert(sizeof(struct hw_queue_cell) == 128, "both sides map it");
static_assert(offsetof(struct hw_queue_cell, job) == 24, "both sides map it");

/* In memory that both sides map. A line of the cache for each writer. */
struct hw_queue {
    uint32_t version, cell_count; /* written once, before anybody uses it */
    char unused_made[HW_QUEUE_LINE - 8];
    _Atomic uint64_t posted; /* numbers so far; the producer writes, seq_cst: it reads next whether the
                                consumer sleeps */
    char unused_producer[HW_QUEUE_LINE - 8];
    _Atomic uint32_t ended; /* counts ends of jobs; whoever ends one adds, seq_cst; the futex */
    char unused_ended[HW_QUEUE_LINE - 4];
    _Atomic uint32_t sleepers; /* threads of the producer that sleep on it; seq_cst */
    char unused_sleepers[HW_QUEUE_LINE - 4];
    struct hw_queue_cell cells[];
};
static_assert(offsetof(struct hw_queue, posted) == 64 && offsetof(struct hw_queue, ended) == 128 &&
                  offsetof(struct hw_queue, sleepers) == 192 && offsetof(struct hw_queue, cells) == 256,
              "both sides map it");

/* For so many cells, a power of two. */
static inline size_t hw_queue_bytes(uint32_t cell_count)
{
    return sizeof(struct hw_queue) + cell_count * sizeof(struct hw_queue_cell);
}

/* In zeroed memory, before anybody else uses it. */
void hw_queue_make(struct hw_queue *queue, uint32_t cell_count);

static inline uint64_t hw_queue_number(const struct hw_queue_cell *cell)
{
    return hw_atomic_load_relaxed(&((struct hw_queue_cell *)cell)->state) >> HW_QUEUE_PHASE_BITS;
}

/* ---- the producer: threads of one process ------------------------------------------------------------- */

struct hw_queue_producer {
    struct hw_queue *queue;
    uint64_t next;   /* number of the next job */
    bool wants_lock; /* several threads put at once */
    pthread_mutex_t lock;
};

/* False: the memory has another layout. */
bool hw_queue_produce(struct hw_queue_producer *producer, struct hw_queue *queue, bool wants_lock);

/* Hands a job of HW_QUEUE_JOB_BYTES at most over. `phase` is READY or OPEN. Returns its cell, which is the
 * caller's until it releases it. NULL: full, and nothing was done. After that the caller asks whether the
 * consumer is to be woken. */
struct hw_queue_cell *hw_queue_put(struct hw_queue_producer *producer, const void *job, size_t bytes,
                                   enum hw_queue_phase phase);

/* Then `error` and `moved` are there, and what was done is seen. */
static inline bool hw_queue_is_done(const struct hw_queue_cell *cell)
{
    uint64_t state = hw_atomic_load_acquire(&((struct hw_queue_cell *)cell)->state);
    return (state & ((1u << HW_QUEUE_PHASE_BITS) - 1)) == HW_QUEUE_DONE;
}

/* After DONE: the cell is the producer's again. */
void hw_queue_release(struct hw_queue_cell *cell);

/* Takes back what nobody claimed. True: nobody ever will, and the caller has no cell any more. False:
 * somebody did; it ends by itself. */
bool hw_queue_withdraw(struct hw_queue_cell *cell);

/* Sleeps until something ends (a job, or hw_queue_tell) that was not counted in `seen`, or for at most so
 * long. The caller reads hw_queue_ended, then looks at its cells, then sleeps. Spurious returns are normal.
 */
static inline uint32_t hw_queue_ended(struct hw_queue *queue)
{
    return hw_atomic_load_seq_cst(&queue->ended);
}
void hw_queue_sleep(struct hw_queue *queue, uint32_t seen, uint64_t timeout_ns);

/* ---- the consumer: one thread -------------------------------------------------------------------------- */

struct hw_queue_consumer {
    struct hw_queue *queue;
    uint64_t next;
};

bool hw_queue_consume(struct hw_queue_consumer *consumer, struct hw_queue *queue);

/* The next READY cell. Its job may be read from now on, until hw_queue_claim has returned false or the cell
 * was ended. NULL: there is none. */
struct hw_queue_cell *hw_queue_next(struct hw_queue_consumer *consumer);

/* Of a cell that hw_queue_next returned. False: it was withdrawn, and is no longer the caller's. */
bool hw_queue_claim(struct hw_queue_cell *cell);

/* ---- whoever works ---------------------------------------------------------------------------------------
 */

/* The cell of job `number` if that is OPEN: the job may be read from now on. NULL: it is not, any more. */
struct hw_queue_cell *hw_queue_claim_open(struct hw_queue *queue, uint64_t number);

/* Of a cell from hw_queue_claim_open: nobody has claimed it any more. What was written to its job before is
 * seen by who claims it next. */
void hw_queue_open_again(struct hw_queue_cell *cell);

/* Of a cell that was claimed: what was done before is seen by who finds it DONE; wakes who sleeps. */
void hw_queue_end(struct hw_queue *queue, struct hw_queue_cell *cell, int error, uint64_t moved);

/* Something else ended for which the producer may sleep: counts it, and wakes who sleeps. */
void hw_queue_tell(struct hw_queue *queue);

#endif
