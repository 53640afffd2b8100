/* SPDX-License-Identifier: BSD-3-Clause */
/* The halves of an exchange: what a window sends, and what it receives. One may come after the other, when
 * the program has computed (policy/late.h). The caller serialises. */
#ifndef HW_ENGINES_THREAD_HALVES_H
#define HW_ENGINES_THREAD_HALVES_H

#include "objects/request.h"

#include <stdbool.h>
#include <stdint.h>

/* Of a window. */
struct hw_halves {
    bool has_only_receives, has_only_sends; /* among its posts so far */
    uint64_t sends_bytes;         /* also by calls that block, but for the post that opened the window */
    uint64_t late_receives_bytes; /* likewise, after sends alone */
    bool is_late;                 /* the other half began while the first was under way ... */
    uint64_t early_free_ns;       /* ... after the program had computed for so long */
    bool is_unseen;               /* or nobody knows */
};

/* As a message is sent or received. */
struct hw_halves_moment {
    uint64_t free_ns;  /* that the program has computed since the window's opening */
    bool is_under_way; /* what was posted before */
    bool is_seen;      /* that is known */
};

void hw_halves_open(struct hw_halves *halves);

/* Of what it goes on with it is not known which half is what. */
void hw_halves_mix(struct hw_halves *halves);

/* An operation was posted. */
void hw_halves_post(struct hw_halves *halves, enum hw_request_kind kind, bool is_receive);

/* A message is sent; before hw_halves_post(). Returns true if it is the first, after receives alone. */
bool hw_halves_send(struct hw_halves *halves, uint64_t bytes, const struct hw_halves_moment *moment);

/* And received, after sends alone. */
void hw_halves_receive(struct hw_halves *halves, uint64_t bytes, const struct hw_halves_moment *moment);

/* The other half was late, and as much. So much was posted. */
bool hw_halves_is_late(const struct hw_halves *halves, uint64_t received_bytes, uint64_t sent_bytes);

#endif
