/* SPDX-License-Identifier: BSD-3-Clause */
/* One call of the program, as it is kept until it is summed up. Internal to src/profile. */
#ifndef HW_PROFILE_CALLERS_NOTE_H
#define HW_PROFILE_CALLERS_NOTE_H

#include <stdint.h>

struct hw_profile_comm;

struct hw_profile_note {
    const void *site;
    const char *function;
    struct hw_profile_comm *comm; /* NULL: the call names none */
    uint64_t bytes, began_ns, took_ns;
};

#endif
