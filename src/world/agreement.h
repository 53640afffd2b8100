/* SPDX-License-Identifier: BSD-3-Clause */
/* What all processes of a job must have alike, or its collective calls would wait for one another: told in
 * the first exchange of the world, and compared by everybody. Other options may differ: where they concern
 * others the word of one process counts. Pure. */
#ifndef HW_WORLD_AGREEMENT_H
#define HW_WORLD_AGREEMENT_H

#include "base/options.h"
#include "base/status.h"

#include <stdint.h>

struct hw_world_terms {
    struct hw_option_share ghosts;
    int32_t redirect; /* enum hw_option_redirect */
    int32_t trigger;  /* enum hw_option_trigger: whether it may be the helper */
    int32_t adapt;    /* enum hw_option_adapt */
    int32_t p2p;      /* enum hw_option_p2p */
    int32_t coll;     /* enum hw_option_coll */
    int64_t staging_bytes;
};

struct hw_world_terms hw_world_terms_own(void);

/* Where `process`, with `other`, differs from process 0, with `first`: HW_BAD_INPUT, after one line if
 * `is_speaker`. `is_auto_on`: on this MPI auto and on redirect the same windows. */
enum hw_status hw_world_terms_compare(const struct hw_world_terms *first, const struct hw_world_terms *other,
                                      int process, bool is_auto_on, bool is_speaker);

#endif
