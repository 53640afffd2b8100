/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cores.h"

#include "base/atomic.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum { LIST_MAX = 256 };

int hw_cores_listed(const char *list, const cpu_set_t *processors)
{
    int count = 0;
    for (char *end; *list; list = *end == ',' ? end + 1 : end) {
        long first = strtol(list, &end, 10);
        if (end == list)
            break;
        long last = first;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        for (long cpu = first < 0 ? 0 : first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            count += CPU_ISSET((size_t)cpu, processors) ? 1 : 0;
        if (*end != ',')
            break;
    }
    return count;
}

/* Of `processor`'s core, those in the set. */
static int hardware_threads(int processor, const cpu_set_t *processors)
{
    char path[96], list[LIST_MAX];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", processor);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 1;
    ssize_t length = read(file, list, sizeof list - 1);
    close(file);
    list[length > 0 ? length : 0] = '\0';
    int count = hw_cores_listed(list, processors);
    return count > 0 ? count : 1;
}

int hw_cores_count(const cpu_set_t *processors)
{
    int first = 0;
    while (first < CPU_SETSIZE && !CPU_ISSET((size_t)first, processors))
        first++;
    if (first == CPU_SETSIZE)
        return 1;
    int cores = CPU_COUNT(processors) / hardware_threads(first, processors);
    return cores > 0 ? cores : 1;
}

/* Whether an OpenMP runtime may have bound the thread that asks, as it does before main. */
static bool is_bound_by_openmp(void)
{
    static const char *const names[] = {"OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && *text && strcasecmp(text, "false") != 0)
            return true;
    }
    return false;
}

int hw_cores_allowed(void)
{
    static atomic_int known;
    int count = hw_atomic_load_relaxed(&known);
    if (count > 0)
        return count;
    cpu_set_t processors;
    count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (!is_bound_by_openmp() && sched_getaffinity(0, sizeof processors, &processors) == 0)
        count = CPU_COUNT(&processors);
    count = count > 0 ? count : 1;
    hw_atomic_store_relaxed(&known, count);
    return count;
}
