/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/facts.h"

#include "base/atomic.h"
#include "real/detect.h"
#include "real/extensions.h"
#include "real/quirks.h"

bool hw_rma_needs_confirmation, hw_rma_accumulates_wait, hw_rma_has_foreign_operations, hw_rma_gets_end_early;

static atomic_bool may_have_threads;

void hw_rma_facts_find(void)
{
    hw_rma_needs_confirmation = !hw_real_is_flush_remote();
    hw_rma_accumulates_wait = !hw_real_is_accumulate_one_request();
    hw_rma_has_foreign_operations = hw_real_has_own_operations();
    hw_rma_gets_end_early = hw_real_ends_gets_early();
}

void hw_rma_expect_threads(void) { hw_atomic_store_seq_cst(&may_have_threads, true); }

bool hw_rma_may_have_threads(void) { return hw_atomic_load_seq_cst(&may_have_threads); }
