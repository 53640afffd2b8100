/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes on the network, by which waits are told apart. */
#ifndef HW_PROFILE_WAITS_BYTES_H
#define HW_PROFILE_WAITS_BYTES_H

#include <stdint.h>

/* What this process has sent and received over the network so far, as far as its transport tells. */
struct hw_profile_wire {
    uint64_t sent_bytes;
    uint64_t received_bytes;
};

#endif
