/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: ends by exit(5) without MPI_Finalize; what handlers say, and what is still to be written, is
 * not lost. */
#include "check.h"

#include <unistd.h>

enum { HANDLER_US = 20000 };

static void say(void)
{
    usleep(HANDLER_US);
    printf("rank %d handled", check_rank); /* written at the very end */
}

int main(int argc, char **argv)
{
    if (atexit(say) != 0)
        return 8;
    MPI_Init(&argc, &argv);
    check_begin();
    exit(5);
}
