/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/alignment.h"

#include "real/constants.h"

#include <stdlib.h>

size_t hw_real_alignment_asked(MPI_Info info)
{
    char value[32] = "";
    int flag = 0;
    if (info == HW_INFO_NULL)
        return 1;
    if (hw_bottom.Info_get(info, "mpi_minimum_memory_alignment", sizeof value - 1, value, &flag) !=
        MPI_SUCCESS)
        return 0;
    if (!flag)
        return 1;
    char *end;
    unsigned long alignment = strtoul(value, &end, 10);
    return *end == '\0' && alignment > 0 && (alignment & (alignment - 1)) == 0 ? alignment : 0;
}
