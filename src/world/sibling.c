/* SPDX-License-Identifier: BSD-3-Clause */
#include "world/sibling.h"

#include "base/options.h"
#include "real/launcher.h"

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of /proc/PROCESS; NULL: gone, or not ours to read. A stranger's process may say that it is any rank. */
static FILE *open_of(pid_t process, const char *name)
{
    char path[48];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    FILE *file = fopen(path, "re");
    if (file && (fstat(fileno(file), &status) != 0 || status.st_uid != geteuid())) {
        fclose(file);
        file = NULL;
    }
    return file;
}

/* The value, if VARIABLE is NAME=VALUE; or NULL. */
static const char *value_of(const char *variable, const char *name)
{
    size_t length = strlen(name);
    return strncmp(variable, name, length) == 0 && variable[length] == '=' ? variable + length + 1 : NULL;
}

/* By its own name, and by another where that one is not set. */
struct count {
    bool is_own_set;
    bool has_ghosts;
};

static void read_count(const char *variable, struct count *count)
{
    const struct hw_option_entry *entry = hw_option_of(offsetof(struct hw_options, ghosts));
    const char *own = value_of(variable, entry->name);
    if (own)
        *count = (struct count){.is_own_set = true, .has_ghosts = strtol(own, NULL, 10) > 0};
    for (const char *const *alias = entry->aliases; alias && *alias && !count->is_own_set; alias++) {
        const char *value = value_of(variable, *alias);
        if (value)
            count->has_ghosts = strtol(value, NULL, 10) > 0;
    }
}

/* False: in another rank, or in none. */
static bool read_environment(pid_t process, int wanted, bool *has_ghosts)
{
    char *variable = NULL;
    size_t capacity = 0;
    int rank = -1;
    struct count count = {0};
    FILE *file = open_of(process, "environ");
    while (file && getdelim(&variable, &capacity, '\0', file) > 0) {
        hw_real_launcher_read_rank(variable, &rank);
        read_count(variable, &count);
    }
    free(variable);
    if (file)
        fclose(file);
    *has_ghosts = count.has_ghosts;
    return rank == wanted;
}

static void read_mappings(pid_t process, bool *has_mpi, bool *has_library)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = open_of(process, "maps");
    *has_mpi = *has_library = false;
    while (file && getline(&line, &capacity, file) > 0) {
        const char *name = strrchr(line, '/');
        *has_mpi = *has_mpi || (name && strncmp(name, "/libmpi", strlen("/libmpi")) == 0);
        *has_library = *has_library || (name && strncmp(name, "/libheadway-", strlen("/libheadway-")) == 0);
    }
    free(line);
    if (file)
        fclose(file);
}

static enum hw_world_sibling look_at(pid_t process, pid_t launcher, int rank)
{
    bool has_ghosts, has_mpi, has_library;
    if (!read_environment(process, rank, &has_ghosts) || hw_real_launcher_of(process) != launcher)
        return HW_WORLD_SIBLING_UNKNOWN;
    read_mappings(process, &has_mpi, &has_library);
    if (!has_mpi)
        return HW_WORLD_SIBLING_UNKNOWN;
    if (!has_library)
        return HW_WORLD_SIBLING_NO_LIBRARY;
    return has_ghosts ? HW_WORLD_SIBLING_ASKS : HW_WORLD_SIBLING_NO_GHOSTS;
}

enum hw_world_sibling hw_world_sibling_find(int rank)
{
    enum hw_world_sibling found = HW_WORLD_SIBLING_UNKNOWN;
    pid_t launcher = hw_real_launcher_of(getpid());
    DIR *processes = launcher > 0 ? opendir("/proc") : NULL;
    for (struct dirent *entry; processes && (entry = readdir(processes)) != NULL;) {
        pid_t process = (pid_t)strtol(entry->d_name, NULL, 10); /* 0: no number */
        enum hw_world_sibling one = process > 0 ? look_at(process, launcher, rank) : HW_WORLD_SIBLING_UNKNOWN;
        found = one > found ? one : found;
    }
    if (processes)
        closedir(processes);
    return found;
}
