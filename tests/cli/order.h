/* What happens in which order, between ranks and outside MPI, however long anything takes: a rank says by a
 * file that it has come somewhere, and another waits for that file. */
#ifndef ORDER_H
#define ORDER_H

#include <stdio.h>
#include <time.h>
#include <unistd.h>

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

static inline void order_await(const char *what, int number)
{
    char path[4096];
    order_path(path, sizeof path, what, number);
    while (access(path, F_OK) != 0)
        order_sleep(1);
}

#endif
