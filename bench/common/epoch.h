/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided exchanges of two ranks by name: what each epoch of a window looks like in a program that computes
 * between its calls. */
#ifndef HEADWAY_BENCH_EPOCH_H
#define HEADWAY_BENCH_EPOCH_H

#include "transfer.h"

/* Each rank moves `bytes` of a transfer to or from its partner. Its kind has no blocking form and no
 * requests. NULL for a name that is none of bench_epoch_names. */
const struct bench_transfer_kind *bench_epoch_find(const char *name);
extern const char *const bench_epoch_names;

#endif
