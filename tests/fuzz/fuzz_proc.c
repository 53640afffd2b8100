/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what /proc, /sys and the launcher's environment say may be anything. Each file that is opened
 * is the next part of the input; parts end with a byte 0xff. The first part is what the launcher told, the
 * second a list of processors. */
#include "base/cores.h"
#include "real/launcher.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PART_END = 0xff };

static const uint8_t *rest;
static size_t rest_bytes;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
FILE *fuzz_fopen(const char *path, const char *mode);
int fuzz_open(const char *path, int flags, ...);

static size_t take_part(const uint8_t **part)
{
    const uint8_t *end = rest_bytes ? memchr(rest, PART_END, rest_bytes) : NULL;
    size_t bytes = end ? (size_t)(end - rest) : rest_bytes;
    *part = rest;
    rest += bytes + (end != NULL);
    rest_bytes -= bytes + (end != NULL);
    return bytes;
}

/* Ends with a null byte; the caller frees it. */
static char *take_text(void)
{
    const uint8_t *part;
    size_t bytes = take_part(&part);
    char *text = malloc(bytes + 1);
    if (!text)
        abort();
    memcpy(text, part, bytes);
    text[bytes] = '\0';
    return text;
}

FILE *fuzz_fopen(const char *path, const char *mode)
{
    const uint8_t *part;
    size_t bytes = take_part(&part);
    (void)path;
    (void)mode;
    return bytes ? fmemopen((void *)(uintptr_t)part, bytes, "r") : NULL;
}

int fuzz_open(const char *path, int flags, ...)
{
    const uint8_t *part;
    size_t bytes = take_part(&part);
    (void)path;
    (void)flags;
    int file = bytes ? memfd_create("part", MFD_CLOEXEC) : -1;
    if (file >= 0 && (write(file, part, bytes) != (ssize_t)bytes || lseek(file, 0, SEEK_SET) != 0))
        abort();
    return file;
}

static void tell(char *told)
{
    static const char *const names[] = {"PMI_SIZE",
                                        "MPI_LOCALNRANKS",
                                        "SLURM_STEP_NUM_TASKS",
                                        "SLURM_STEP_NUM_NODES",
                                        "SLURM_NTASKS_PER_NODE",
                                        "SLURM_CPUS_ON_NODE"};
    char *next = told;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *value = strsep(&next, " ");
        if (value && *value)
            setenv(names[i], value, 1);
        else
            unsetenv(names[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rest = size ? data : (const uint8_t *)"";
    rest_bytes = size;
    char *told = take_text(), *list = take_text();
    cpu_set_t processors;
    CPU_ZERO(&processors);
    for (size_t cpu = 0; cpu < 8; cpu++)
        CPU_SET(cpu, &processors);
    tell(told);
    struct hw_real_job job = hw_real_launcher_job();
    if (job.process_count < 0 || job.node_process_count < 0 || hw_cores_listed(list, &processors) < 0)
        abort();
    (void)hw_real_launcher_is_one_node(&job);
    if (hw_cores_count(&processors) < 1 || hw_real_launcher_core_count() < 1)
        abort();
    free(told);
    free(list);
    return 0;
}
