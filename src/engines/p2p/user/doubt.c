/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/doubt.h"

#include "base/clock.h"
#include "real/constants.h"

#include <stdio.h>

#define EACH_NS (1000 * HW_NS_PER_MS)
enum { WORDS_MAX = 128, LOOKS_A_CLOCK = 64 }; /* a program may call MPI_Test without rest */

static bool is_doubtful(const struct hw_p2p_operation *operation)
{
    bool is_receive = operation->mode == HW_P2P_TAKEN && operation->command.kind == HW_P2P_RECEIVE;
    return is_receive && !operation->doubt.is_asked && !operation->seal->has_ended;
}

/* The MPI has none that a receive was posted for, so what it has is the next in order for the receive here.
 */
static bool mpi_has_one(struct hw_p2p_operation *operation)
{
    MPI_Status status;
    int flag = 0, bytes = 0;
    const struct hw_p2p_part *part = &operation->part;
    if (hw_real.Iprobe(part->peer, part->tag, operation->comm, &flag, &status) != MPI_SUCCESS || !flag)
        return false;
    hw_bottom.Get_count(&status, HW_BYTE, &bytes);
    operation->doubt.bytes = bytes;
    return true;
}

void hw_p2p_doubt_look(struct hw_p2p_operation *operation)
{
    if (++operation->doubt.looks % LOOKS_A_CLOCK != 0 || !is_doubtful(operation))
        return;
    uint64_t now_ns = hw_clock_now_ns();
    if (operation->doubt.next_ns == 0)
        operation->doubt.next_ns = now_ns + EACH_NS;
    if (now_ns < operation->doubt.next_ns)
        return;
    operation->doubt.next_ns = now_ns + EACH_NS;
    if (!mpi_has_one(operation))
        return;
    /* A large message that was sent before the one of the MPI is matched after this, and stays. */
    hw_p2p_sealed_ask(operation->seal, HW_P2P_LOOK, operation->part.peer, operation->part.tag, true);
    operation->doubt.is_asked = true;
    if (operation->is_under_way)
        hw_p2p_operation_withdraw(operation);
}

void hw_p2p_doubt_confirm(const struct hw_p2p_operation *operation)
{
    char words[WORDS_MAX];
    if (!operation->doubt.is_asked || operation->seal->has_ended)
        return;
    snprintf(words, sizeof words, "receives %llu bytes, for a message of %lld bytes,",
             (unsigned long long)operation->command.bytes, (long long)operation->doubt.bytes);
    hw_p2p_seal_broken(operation->comm, words);
}
