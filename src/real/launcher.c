/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/launcher.h"

#include "base/cores.h"
#include "real/real.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANCESTORS_MAX = 16 };

/* A launcher's names for the two numbers. A job may be started from within another MPI's: each flavour
 * listens to its own launchers alone. */
struct names {
    const char *all;
    const char *node;
};

static const struct names launchers[] = {
#if HW_ABI_OPEN_MPI
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
#else
    {"PMI_SIZE", "MPI_LOCALNRANKS"}, /* Hydra */
    {"PMI_SIZE", "PMI_LOCAL_SIZE"},  /* PALS */
#endif
};

/* A whole number from 1 on; 0 for anything else. */
static int number(const char *name)
{
    const char *value = getenv(name);
    char *end;
    if (!value)
        return 0;
    long result = strtol(value, &end, 10);
    return *value && !*end && result > 0 && result <= INT_MAX ? (int)result : 0;
}

/* srun. What it says of the step: an allocation may be larger. Of several nodes it does not say in one number
 * how many tasks are on this one: unless the user asked for it, about the same on each. What the user asked
 * for may be the allocation's; each node of a step has a task at least. */
static struct hw_real_job ask_slurm(void)
{
    struct hw_real_job job = {.process_count = number("SLURM_STEP_NUM_TASKS")};
    int node_count = number("SLURM_STEP_NUM_NODES");
    if (!job.process_count || !node_count)
        return (struct hw_real_job){0};
    if (node_count > 1)
        job.node_process_count = number("SLURM_NTASKS_PER_NODE");
    if (!job.node_process_count)
        job.node_process_count = (job.process_count - 1) / node_count + 1;
    int most = job.process_count - (node_count - 1);
    if (job.node_process_count > most)
        job.node_process_count = most > 0 ? most : 1;
    return job;
}

struct hw_real_job hw_real_launcher_job(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        struct hw_real_job job = {number(launchers[i].all), number(launchers[i].node)};
        if (job.process_count && job.node_process_count)
            return job;
    }
    return ask_slurm();
}

bool hw_real_launcher_is_one_node(const struct hw_real_job *job)
{
#if !HW_ABI_OPEN_MPI
    if (getenv("MPIR_CVAR_NOLOCAL"))
        return false;
#endif
    return job->process_count > 0 && job->process_count == job->node_process_count;
}

/* Real user of a process. */
static bool is_of_our_user(pid_t process)
{
    char path[32], line[128];
    unsigned long user = 0;
    bool is_found = false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "re");
    while (file && !is_found && fgets(line, sizeof line, file))
        is_found = sscanf(line, "Uid: %lu", &user) == 1;
    if (file)
        fclose(file);
    return is_found && user == getuid();
}

bool hw_real_launcher_read_rank(const char *variable, int *rank)
{
    static const char *const names[] = {"PMI_RANK=", "PMIX_RANK=", "OMPI_COMM_WORLD_RANK="};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0) {
            *rank = atoi(variable + strlen(names[i]));
            return true;
        }
    return false;
}

/* A shell script or the like between the launcher and the program has the rank in its environment. One that
 * we may not read, though it is ours, is such a wrapper; another user's is Slurm's, which is no rank. */
static bool is_in_rank(pid_t process)
{
    char path[32], *entry = NULL;
    size_t capacity = 0;
    bool is_found = false;
    int rank;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)process);
    FILE *file = fopen(path, "re");
    if (!file)
        return is_of_our_user(process);
    while (!is_found && getdelim(&entry, &capacity, '\0', file) > 0)
        is_found = hw_real_launcher_read_rank(entry, &rank);
    free(entry);
    fclose(file);
    return is_found;
}

/* 0 if it cannot be told. */
static pid_t parent_of(pid_t process)
{
    char path[32], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    /* pid (name) state parent ...; a name may have parentheses */
    const char *rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    return rest && sscanf(rest, ") %*c %d", &parent) == 1 ? parent : 0;
}

pid_t hw_real_launcher_of(pid_t process)
{
    for (int i = 0; i < ANCESTORS_MAX && process > 0; i++) {
        process = parent_of(process);
        if (process > 0 && !is_in_rank(process))
            return process;
    }
    return 0;
}

/* Of the launcher's process on this node; false if it is not known. */
static bool find_processors(cpu_set_t *processors)
{
    pid_t process = hw_real_launcher_of(getpid());
    return process > 0 && sched_getaffinity(process, sizeof *processors, processors) == 0;
}

int hw_real_launcher_core_count(void)
{
    cpu_set_t processors;
    int allotted = number("SLURM_CPUS_ON_NODE");
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    int count = find_processors(&processors) ? hw_cores_count(&processors) : online > 0 ? (int)online : 1;
    return allotted && allotted < count ? allotted : count;
}

bool hw_real_launcher_has_spare_cores(const struct hw_real_job *job, int core_count)
{
    return job->node_process_count > 0 && core_count / 2 >= job->node_process_count;
}

bool hw_real_launcher_has_own_core(const cpu_set_t *allowed)
{
    struct hw_real_job job = hw_real_launcher_job();
    return hw_real_launcher_has_spare_cores(&job, hw_cores_count(allowed));
}
