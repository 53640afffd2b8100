/* SPDX-License-Identifier: BSD-3-Clause */
/* What tells a program about its world beyond ranks and sizes (MPI-4.1 sections 9.1.2, 9.3, 11.3.2): with
 * ghosts, the answer for the user processes alone. Communicators come here translated (world/comm.h). */
#include "mpi/world.h"
#include "base/log.h"
#include "hooks.h"
#include "real/constants.h"
#include "real/info.h"
#include "world/comm.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Attributes that MPI itself attaches, some of them to MPI_COMM_WORLD alone. */
static bool is_predefined(int keyval)
{
    return keyval == MPI_TAG_UB || keyval == MPI_HOST || keyval == MPI_IO || keyval == MPI_WTIME_IS_GLOBAL ||
           keyval == MPI_UNIVERSE_SIZE || keyval == MPI_APPNUM || keyval == MPI_LASTUSEDCODE;
}

/* Open MPI lets duplicates of its world inherit all but the last. Where all communicators have them, they
 * are the world's. */
static bool is_of_world(MPI_Comm comm, int keyval)
{
    return keyval == MPI_LASTUSEDCODE ? hw_world_is_user_world(comm) : hw_world_is_duplicate(comm);
}

MPI_Comm hw_attr_place(MPI_Comm comm, int keyval)
{
    comm = hw_world_comm(comm);
    bool is_elsewhere = hw_world_has_ghosts() && is_predefined(keyval) && is_of_world(comm, keyval);
    return is_elsewhere ? HW_COMM_WORLD : comm;
}

int hw_attr_universe(int real)
{
    return real < hw_world.size ? real : real - (hw_world.size - hw_world.user_count);
}

static void correct_universe(void *value)
{
    static int told;
    int *real;
    memcpy(&real, value, sizeof real);
    if (real == NULL)
        return;
    told = hw_attr_universe(*real);
    real = &told;
    memcpy(value, &real, sizeof real);
}

typedef int get_function(MPI_Comm comm, int keyval, void *value, int *flag);

/* No MPI's answer. MPICH 5 returns MPI_SUCCESS and answers nothing where a handler of the program's has heard
 * of an error. */
enum { NO_ANSWER = -1 };

/* The communicator itself first: an error is raised once. */
static int get_attr(get_function *real_get, MPI_Comm comm, int keyval, void *value, int *flag)
{
    int is_there = NO_ANSWER;
    int rc = real_get(comm, keyval, value, flag ? &is_there : NULL);
    if (rc == MPI_SUCCESS && is_there == 0 && hw_attr_place(comm, keyval) != comm)
        rc = real_get(HW_COMM_WORLD, keyval, value, &is_there);
    if (rc != MPI_SUCCESS || is_there == NO_ANSWER)
        return rc;
    *flag = is_there;
    if (is_there && keyval == MPI_UNIVERSE_SIZE && hw_world_has_ghosts())
        correct_universe(value);
    return rc;
}

int hw_comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return get_attr(hw_real.Comm_get_attr, comm, keyval, value, flag);
}

int hw_attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return get_attr(hw_real.Attr_get, comm, keyval, value, flag);
}

/* Where several programs are one job each says another number. */
void hw_env_correct(void)
{
    static const char *const keys[] = HW_REAL_ENV_COUNT_KEYS;
    char value[16], all[16], users[16];
    snprintf(all, sizeof all, "%d", hw_world.size);
    snprintf(users, sizeof users, "%d", hw_world.user_count);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (hw_real_info_read(HW_INFO_ENV, keys[i], value, sizeof value - 1) && strcmp(value, all) == 0)
            hw_bottom.Info_set(HW_INFO_ENV, keys[i], users);
}

#ifdef HW_HAVE_Session_init /* Open MPI 4 knows no sessions, not even their type */

/* The ghosts, as ranks of the group: those that are in it. */
static int find_ghosts(MPI_Group world, MPI_Group group, int *ranks)
{
    int count = hw_world.ghost_count, found = 0;
    if (hw_bottom.Group_translate_ranks(world, count, hw_world.ghost_ranks, group, ranks) != MPI_SUCCESS)
        return 0;
    for (int i = 0; i < count; i++)
        if (ranks[i] != HW_UNDEFINED)
            ranks[found++] = ranks[i];
    return found;
}

/* Process sets that hold ghosts lose them. */
int hw_group_from_session_pset(MPI_Session session, const char *name, MPI_Group *group)
{
    int rc = hw_real.Group_from_session_pset(session, name, group);
    if (rc != MPI_SUCCESS || !hw_world_has_ghosts())
        return rc;
    MPI_Group all = *group, world;
    if (hw_bottom.Group_from_session_pset(session, "mpi://WORLD", &world) != MPI_SUCCESS)
        return rc;
    int *ranks = malloc((size_t)hw_world.size * sizeof *ranks);
    int count = ranks ? find_ghosts(world, all, ranks) : 0;
    if (count > 0) {
        rc = hw_bottom.Group_excl(all, count, ranks, group);
        hw_bottom.Group_free(&all);
    }
    free(ranks);
    hw_bottom.Group_free(&world);
    return rc;
}

int hw_session_get_pset_info(MPI_Session session, const char *name, MPI_Info *info)
{
    int rc = hw_real.Session_get_pset_info(session, name, info);
    MPI_Group group;
    if (rc != MPI_SUCCESS || !hw_world_has_ghosts() ||
        hw_group_from_session_pset(session, name, &group) != MPI_SUCCESS)
        return rc;
    int size = 0;
    char text[16];
    hw_bottom.Group_size(group, &size);
    hw_bottom.Group_free(&group);
    snprintf(text, sizeof text, "%d", size);
    return hw_bottom.Info_set(*info, "mpi_size", text);
}

#endif
