/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/cores.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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
