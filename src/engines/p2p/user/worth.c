/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/worth.h"

bool hw_p2p_worth_ask(struct hw_p2p_worth *worth)
{
    if (worth->left_alone == 0)
        return true;
    worth->left_alone--;
    return false;
}

/* A quarter of the time is to be the program's. After a term one message tells whether that has changed. */
void hw_p2p_worth_learn(struct hw_p2p_worth *worth, uint64_t moved_ns, uint64_t waited_ns)
{
    if (waited_ns <= moved_ns - moved_ns / 4) {
        *worth = (struct hw_p2p_worth){.left_alone = worth->left_alone};
        return;
    }
    if (++worth->losses < HW_P2P_WORTH_LOSSES)
        return;
    worth->losses = HW_P2P_WORTH_LOSSES - 1;
    uint32_t term = HW_P2P_WORTH_TERM;
    for (uint32_t i = 0; i < worth->terms && term < HW_P2P_WORTH_TERM_MAX; i++)
        term *= 2;
    worth->left_alone = term;
    worth->terms++;
}
