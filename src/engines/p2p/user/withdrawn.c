/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/withdrawn.h"

#include "engines/p2p/shared/opened.h"
#include "engines/p2p/user/own.h"
#include "ghost/bell.h"
#include "progress/inside.h"

#include <stdlib.h>

static struct withdrawn {
    struct withdrawn *next;
    struct hw_p2p_job job;
    struct hw_queue_cell *cell; /* NULL: it was not handed over so far */
} * all;

static bool is_done(const void *cell) { return hw_queue_is_done(cell); }

/* True: its ghost has it, or had. */
static bool hand_over(struct hw_queue_producer *producer, struct withdrawn *one)
{
    if (one->cell == NULL) {
        one->cell = hw_queue_put(producer, &one->job, sizeof one->job, HW_QUEUE_READY);
        hw_ghost_bell_ring_later(hw_ghost_bell_own());
    }
    return one->cell != NULL;
}

void hw_p2p_withdrawn_add(struct hw_queue_producer *producer, int to, uint64_t number)
{
    struct withdrawn *one = calloc(1, sizeof *one);
    if (one == NULL)
        return; /* its room stays taken */
    one->job = (struct hw_p2p_job){.number = number, .to = to, .pieces = HW_P2P_JOB_WITHDRAWN};
    one->next = all;
    all = one;
    hand_over(producer, one);
    hw_inside_want(HW_INSIDE_GOES_MOVED, true);
}

void hw_p2p_withdrawn_look_after(struct hw_queue_producer *producer)
{
    for (struct withdrawn **link = &all, *one; (one = *link) != NULL;) {
        if (hand_over(producer, one) && hw_queue_is_done(one->cell)) {
            *link = one->next;
            hw_queue_release(one->cell);
            free(one);
        } else {
            link = &one->next;
        }
    }
}

void hw_p2p_withdrawn_close(void)
{
    for (struct withdrawn *one; (one = all) != NULL;) {
        all = one->next;
        if (one->cell)
            hw_p2p_own_wait(is_done, one->cell);
        free(one);
    }
}
