/* SPDX-License-Identifier: BSD-3-Clause */
/* Which routes were in force and why: each change with its time and figures, for the record, and one line at
 * the end of the job. One thread at a time; the record's may read meanwhile. */
#ifndef HW_ENGINES_RMA_ADAPT_TOLD_H
#define HW_ENGINES_RMA_ADAPT_TOLD_H

#include "engines/rma/window/window.h"
#include "policy/route.h"
#include "profile/record.h"

enum hw_rma_cause {
    HW_RMA_CAUSE_MEASURED, /* it cost less */
    HW_RMA_CAUSE_SHARE,    /* share of time in MPI of the target, or of all members */
    HW_RMA_CAUSE_AGREED,   /* the sum of what members found */
    HW_RMA_CAUSE_CONTROL,  /* to see what it costs */
};

struct hw_rma_change {
    uint64_t now_ns, window, ghost_ns, owner_ns;
    bool is_accumulate;
    int size_class;    /* -1: all */
    int share_percent; /* -1: not known */
    enum hw_rma_route route;
    enum hw_rma_cause cause;
};

/* In MPI_Init*. */
void hw_rma_told_open(void);

void hw_rma_told_add(const struct hw_rma_change *change);

/* That of Put and Get of one class, by what was measured. */
void hw_rma_told_change(const struct hw_rma_window *window, unsigned class, const struct hw_route *route,
                        int share_percent);

void hw_rma_told_describe(struct hw_record_facts *facts);

#endif
