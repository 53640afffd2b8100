/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/confirm.h"

enum {
    LOOKS = 6, /* at each way, after one that finds cold caches and does not count */
    PART = 50, /* of the MPI's time: less is noise */
};

enum hw_choice_way hw_confirm_next(const struct hw_confirm *confirm)
{
    return confirm->looks % 2 == 1 ? HW_CHOICE_OURS : HW_CHOICE_MPI;
}

static bool is_longer(const struct hw_confirm *confirm)
{
    uint64_t mpi = confirm->least_ns[HW_CHOICE_MPI];
    return confirm->least_ns[HW_CHOICE_OURS] > mpi + mpi / PART;
}

enum hw_confirm_state hw_confirm_learn(struct hw_confirm *confirm, enum hw_choice_way way, uint64_t took_ns)
{
    uint64_t *least = &confirm->least_ns[way];
    took_ns = took_ns ? took_ns : 1;
    if (confirm->looks >= HW_CHOICE_WAYS && (*least == 0 || took_ns < *least))
        *least = took_ns;
    if (++confirm->looks < HW_CHOICE_WAYS * (LOOKS + 1))
        return HW_CONFIRM_ON;
    return is_longer(confirm) ? HW_CONFIRM_LEAVE : HW_CONFIRM_KEEP;
}
