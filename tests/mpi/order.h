/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens in which order, between ranks and outside MPI, however long anything takes: a rank says by a
 * file that it has come somewhere, and another waits for that file. */
#ifndef TESTS_MPI_ORDER_H
#define TESTS_MPI_ORDER_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ORDER_PATIENCE_MS = 60000 };

static const char *order_directory = "."; /* empty at first */

static inline void order_path(char *path, size_t size, const char *what, int number)
{
    snprintf(path, size, "%s/%s.%d", order_directory, what, number);
}

static inline void order_say(const char *what, int number)
{
    char path[4096];
    order_path(path, sizeof path, what, number);
    FILE *file = fopen(path, "w");
    if (file)
        fclose(file);
}

static inline void order_sleep(int ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

/* What never comes ends the process, and with it the job. */
static inline void order_await(const char *what, int number)
{
    char path[4096];
    order_path(path, sizeof path, what, number);
    for (int ms = 0; access(path, F_OK) != 0; ms++) {
        if (ms == ORDER_PATIENCE_MS) {
            fprintf(stderr, "nobody has said: %s %d\n", what, number);
            exit(9);
        }
        order_sleep(1);
    }
}

#endif
