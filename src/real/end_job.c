/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/end_job.h"

#include "base/log.h"
#include "real/constants.h"
#include "real/real.h"

#include <unistd.h>

_Noreturn void hw_real_end_job(int code)
{
    hw_log_await_reader();
    hw_bottom.Abort(HW_COMM_WORLD, code);
    _exit(code);
}
