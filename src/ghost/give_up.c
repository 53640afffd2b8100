/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/give_up.h"

#include "base/log.h"
#include "ghost/herald.h"
#include "real/constants.h"
#include "real/real.h"

#include <unistd.h>

_Noreturn void hw_ghost_end_job(void)
{
    hw_ghost_herald_stop();
    hw_bottom.Abort(HW_COMM_WORLD, 1);
    _exit(1);
}

_Noreturn void hw_ghost_give_up(const char *what)
{
    hw_log_error("a ghost %s; the job ends", what);
    hw_ghost_end_job();
}
