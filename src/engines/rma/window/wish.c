/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/wish.h"

#include "base/log.h"
#include "real/info.h"

#include <stdbool.h>
#include <strings.h>

enum { VALUE_MAX = 32 };

static const char *const words[] = {[HW_RMA_WISH_NONE] = "none",
                                    [HW_RMA_WISH_ON] = "on",
                                    [HW_RMA_WISH_OFF] = "off",
                                    [HW_RMA_WISH_AUTO] = "auto"};

enum hw_rma_wish hw_rma_wish_read(MPI_Info info)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char value[VALUE_MAX + 1];
    if (!hw_real_info_read(info, "async_config", value, VALUE_MAX))
        return HW_RMA_WISH_NONE;
    for (int wish = HW_RMA_WISH_ON; wish <= HW_RMA_WISH_AUTO; wish++)
        if (strcasecmp(value, words[wish]) == 0)
            return (enum hw_rma_wish)wish;
    hw_log_once(&said, HW_LOG_WARN,
                "the info key async_config=%s is not taken; its values are on, off and auto", value);
    return HW_RMA_WISH_NONE;
}

void hw_rma_wish_tell_differing(enum hw_rma_wish first)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    hw_log_once(&said, HW_LOG_WARN,
                "the info key async_config differs between the processes of a window; that of its first "
                "process is taken: "
                "%s",
                words[first]);
}

bool hw_rma_wish_is_symmetric(MPI_Info info)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char value[VALUE_MAX + 1];
    if (!hw_real_info_read(info, "symmetric", value, VALUE_MAX) || strcasecmp(value, "false") == 0)
        return false;
    if (strcasecmp(value, "true") == 0)
        return true;
    hw_log_once(&said, HW_LOG_WARN, "the info key symmetric=%s is not taken; its values are true and false",
                value);
    return false;
}
