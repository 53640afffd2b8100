/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/parts.h"

#include "real/constants.h"
#include "real/control.h"
#include "real/launcher.h"
#include "real/quirks.h"

enum { PART_BYTES = 8 * 1024 }; /* what is shorter goes in one */

static bool may_come_in_parts;
static uint64_t near_bytes; /* from so many on messages within the node come whole; UINT64_MAX: none */
static bool is_alone;       /* on its node, for sure */
static bool is_far_whole;   /* what another node sends */

void hw_real_parts_find(void)
{
    struct hw_real_job job = hw_real_launcher_job();
    long long is_on = 0, least = -1, is_tagged = 1;
    may_come_in_parts = !hw_real_takes_parts();
    if (!may_come_in_parts)
        return;
    /* Where Yama restricts ptrace MPICH has turned it off itself. */
    bool copies = hw_real_control_read("MPIR_CVAR_CH4_CMA_ENABLE", &is_on) && is_on != 0 &&
                  hw_real_control_read("MPIR_CVAR_CH4_IPC_CMA_P2P_THRESHOLD", &least) && least >= 0;
    near_bytes = copies ? (uint64_t)least : UINT64_MAX;
    is_alone = job.node_process_count == 1;
    is_far_whole = !hw_real_control_read("MPIR_CVAR_CH4_OFI_ENABLE_TAGGED", &is_tagged) || is_tagged != 0;
}

bool hw_real_lists_posted_blocks(void) { return may_come_in_parts && !is_alone && near_bytes != UINT64_MAX; }

static bool is_self(MPI_Comm comm, int peer)
{
    int rank;
    return hw_bottom.Comm_rank(comm, &rank) != MPI_SUCCESS || rank == peer;
}

bool hw_real_comes_whole(MPI_Comm comm, int peer, uint64_t bytes)
{
    if (bytes <= PART_BYTES || !may_come_in_parts)
        return true;
    return is_far_whole && (is_alone || bytes >= near_bytes) && comm != HW_COMM_NULL && !is_self(comm, peer);
}
