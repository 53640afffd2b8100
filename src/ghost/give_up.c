/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/give_up.h"

#include "base/log.h"
#include "ghost/herald.h"
#include "real/end_job.h"

#include <stdlib.h>

_Noreturn void hw_ghost_end_job(void)
{
    hw_ghost_herald_stop();
    hw_real_end_job(EXIT_FAILURE);
}

_Noreturn void hw_ghost_give_up(const char *what)
{
    hw_log_error("a ghost %s; the job ends", what);
    hw_ghost_end_job();
}
