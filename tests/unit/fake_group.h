/* SPDX-License-Identifier: BSD-3-Clause */
/* One group, and the communicator that it is of, as the unit tests of windows have them. */
#ifndef HW_TESTS_UNIT_FAKE_GROUP_H
#define HW_TESTS_UNIT_FAKE_GROUP_H

#include "real/constants.h"
#include "real/table.h"

#include <stdio.h>

static struct {
    int rank, size;           /* of this process; of the group */
    const int *elsewhere;     /* the members' ranks in any other group */
    int comparison;           /* with any other group: MPI_IDENT, ... */
    int is_inter;             /* the communicator has two groups */
    void (*told_group)(void); /* called when the communicator's group is asked for; may be NULL */
} fake_group;

static int fake_group_version(char *text, int *length)
{
    *length = snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "an MPI");
    return MPI_SUCCESS;
}

static int fake_group_test_inter(MPI_Comm comm, int *flag)
{
    (void)comm;
    *flag = fake_group.is_inter;
    return MPI_SUCCESS;
}

static int fake_group_of_comm(MPI_Comm comm, MPI_Group *group)
{
    (void)comm, (void)group;
    if (fake_group.told_group)
        fake_group.told_group();
    return MPI_SUCCESS;
}

static int fake_group_rank(MPI_Group group, int *rank)
{
    (void)group;
    *rank = fake_group.rank;
    return MPI_SUCCESS;
}

static int fake_group_size(MPI_Group group, int *size)
{
    (void)group;
    *size = fake_group.size;
    return MPI_SUCCESS;
}

static int fake_group_translate(MPI_Group group, int count, const int *ranks, MPI_Group other, int *found)
{
    (void)group, (void)other;
    for (int i = 0; i < count; i++)
        found[i] = fake_group.elsewhere[ranks[i]];
    return MPI_SUCCESS;
}

static int fake_group_compare(MPI_Group group, MPI_Group other, int *result)
{
    (void)group, (void)other;
    *result = fake_group.comparison;
    return MPI_SUCCESS;
}

static int fake_group_free(MPI_Group *group)
{
    *group = HW_GROUP_NULL;
    return MPI_SUCCESS;
}

static void fake_group_install(int rank, int size, const int *elsewhere)
{
    fake_group.rank = rank;
    fake_group.size = size;
    fake_group.elsewhere = elsewhere;
    fake_group.comparison = MPI_IDENT;
    fake_group.is_inter = 0;
    hw_real.Get_library_version = hw_bottom.Get_library_version = fake_group_version;
    hw_bottom.Comm_test_inter = fake_group_test_inter;
    hw_bottom.Comm_group = fake_group_of_comm;
    hw_bottom.Group_rank = fake_group_rank;
    hw_bottom.Group_size = fake_group_size;
    hw_bottom.Group_translate_ranks = fake_group_translate;
    hw_bottom.Group_compare = fake_group_compare;
    hw_bottom.Group_free = fake_group_free;
}

#endif
