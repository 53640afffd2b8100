/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: stands for the driver's library of CUDA: a program that is linked with it has a current
 * context if FAKE_CONTEXT is set. */
#include <stdlib.h>

int cuCtxGetCurrent(void **context);

int cuCtxGetCurrent(void **context)
{
    static int one;
    *context = getenv("FAKE_CONTEXT") ? &one : NULL;
    return 0;
}
