/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/parts.h"

#include "real/constants.h"
#include "real/launcher.h"
#include "real/quirks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* What is shorter goes in one; what MPICH copies from process to process, if nobody says otherwise. */
enum { PART_BYTES = 8 * 1024, CMA_BYTES = 16 * 1024 };

static uint64_t near_bytes; /* from so many on messages within the node come whole; UINT64_MAX: none */
static bool is_alone;       /* on its node, for sure */
static bool is_far_whole;   /* what another node sends */

/* A variable of MPICH's own, under one of its names. */
static const char *control(const char *name)
{
    static const char *const prefixes[] = {"MPIR_CVAR_", "MPICH_", "MPIR_PARAM_"};
    char full[64];
    const char *value = NULL;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && value == NULL; i++) {
        snprintf(full, sizeof full, "%s%s", prefixes[i], name);
        value = getenv(full);
    }
    return value;
}

/* Anything but what is known to mean yes may mean no. */
static bool is_off(const char *name)
{
    static const char *const yes[] = {"1", "yes", "true", "on"};
    const char *value = control(name);
    bool is_on = value == NULL;
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        is_on = is_on || strcasecmp(value, yes[i]) == 0;
    return !is_on;
}

/* Where Yama restricts ptrace MPICH does not copy from process to process. */
static bool is_ptrace_free(void)
{
    char scope = '0';
    int file = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT;
    bool is_read = read(file, &scope, 1) == 1;
    close(file);
    return is_read && scope == '0';
}

static void find_out(void)
{
    struct hw_real_job job = hw_real_launcher_job();
    const char *least = control("CH4_IPC_CMA_P2P_THRESHOLD");
    char *end = NULL;
    long long given = least ? strtoll(least, &end, 10) : CMA_BYTES;
    bool is_given = given >= 0 && (least == NULL || (*least != '\0' && *end == '\0'));
    near_bytes = is_given && !is_off("CH4_CMA_ENABLE") && is_ptrace_free() ? (uint64_t)given : UINT64_MAX;
    is_alone = job.node_process_count == 1;
    is_far_whole = !is_off("CH4_OFI_ENABLE_TAGGED");
}

static bool is_self(MPI_Comm comm, int peer)
{
    int rank;
    return hw_bottom.Comm_rank(comm, &rank) != MPI_SUCCESS || rank == peer;
}

bool hw_real_comes_whole(MPI_Comm comm, int peer, uint64_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (bytes <= PART_BYTES || hw_real_takes_parts())
        return true;
    pthread_once(&once, find_out);
    return is_far_whole && (is_alone || bytes >= near_bytes) && comm != HW_COMM_NULL && !is_self(comm, peer);
}
