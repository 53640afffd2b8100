/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: any table of lines of CPython is read to its end and no further, and gives a line. */
#include "profile/python/python_code.h"

#include <stdlib.h>

enum { HEAD = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    /* Of its own, so that a byte beyond its end is noticed. */
    char *table = malloc(size - HEAD + 1), *version = malloc(size - HEAD + 1);
    if (table && version) {
        table = realloc(table, size > HEAD ? size - HEAD : 1);
        memcpy(table, data + HEAD, size - HEAD);
        memcpy(version, data + HEAD, size - HEAD);
        version[size - HEAD] = '\0';
        ptrdiff_t instruction = (ptrdiff_t)data[1] * 256 + data[2] - 4;
        (void)hw_python_line((enum hw_python_lines)(data[0] % 3), table, size - HEAD, 1 + data[3],
                             instruction);
        (void)hw_python_layout_of(version);
    }
    free(table);
    free(version);
    return 0;
}
