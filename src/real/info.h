/* SPDX-License-Identifier: BSD-3-Clause */
/* What an info object says of one key (MPI-4.1 chapter 10). */
#ifndef HW_REAL_INFO_H
#define HW_REAL_INFO_H

#include "real/constants.h"

#include <stdbool.h>

/* Keys of MPI_INFO_ENV that tell how many processes were started. Open MPI has all of them. */
#define HW_REAL_ENV_COUNT_KEYS                                                                               \
    {                                                                                                        \
        "maxprocs", "soft", "ompi_np"                                                                        \
    }

/* The value of KEY: at most MOST characters and the null, for which VALUE has room. False, and VALUE is the
 * empty string: there is none, or no info. Any thread, inside an entry. */
static inline bool hw_real_info_read(MPI_Info info, const char *key, char *value, int most)
{
    int flag = 0;
    value[0] = '\0';
    return info != HW_INFO_NULL && hw_bottom.Info_get(info, key, most, value, &flag) == MPI_SUCCESS && flag;
}

#endif
