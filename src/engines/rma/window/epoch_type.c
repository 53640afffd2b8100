/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/epoch_type.h"

#include "base/log.h"
#include "real/info.h"

#include <string.h>

enum { VALUE_MAX = 128 };

static int type_of(const char *word)
{
    static const struct {
        const char *word;
        enum hw_rma_epoch_type type;
    } known[] = {{"fence", HW_RMA_EPOCH_FENCE},
                 {"pscw", HW_RMA_EPOCH_PSCW},
                 {"lock", HW_RMA_EPOCH_LOCK},
                 {"lockall", HW_RMA_EPOCH_LOCK_ALL},
                 {"lock_all", HW_RMA_EPOCH_LOCK_ALL}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(word, known[i].word) == 0)
            return known[i].type;
    return 0;
}

int hw_rma_epoch_types_read(MPI_Info info)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    char value[VALUE_MAX + 1], copy[VALUE_MAX + 1], *rest = NULL;
    int types = 0;
    if (!hw_real_info_read(info, "epoch_type", value, VALUE_MAX))
        return HW_RMA_EPOCH_ANY;
    memcpy(copy, value, sizeof copy);
    for (char *word = strtok_r(copy, ",|; ", &rest); word; word = strtok_r(NULL, ",|; ", &rest)) {
        if (type_of(word) == 0) {
            hw_log_once(&said, HW_LOG_WARN,
                        "the info key epoch_type=%s is not taken: %s is none of fence, pscw, lock, lockall",
                        value, word);
            return HW_RMA_EPOCH_ANY;
        }
        types |= type_of(word);
    }
    return types ? types : HW_RMA_EPOCH_ANY;
}

int hw_rma_epoch_refuse(const struct hw_rma_window *window, const char *call)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    hw_log_once(&said, HW_LOG_ERROR,
                "%s on a window whose info key epoch_type leaves it out; name it there, or leave the key out",
                call);
    return hw_rma_raise(window, MPI_ERR_RMA_SYNC);
}
