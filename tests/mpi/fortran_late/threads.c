/* SPDX-License-Identifier: BSD-3-Clause */
/* For late_types_f08.f90: in which thread delete functions run. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { COMPUTE_US = 40 * 1000 };

static pthread_t program;
static int deleted, elsewhere;

void note_thread(void) { program = pthread_self(); }

void note_deleted(void)
{
    deleted++;
    elsewhere += !pthread_equal(pthread_self(), program);
}

void compute(void) { usleep(COMPUTE_US); }

void report(void)
{
    printf("deleted %d, elsewhere %d\n", deleted, elsewhere);
    fflush(stdout);
}
