/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: an attribute of MPI_COMM_SELF, which copies take along: nobody copies it, and MPI_Finalize
 * deletes it, once. */
#include "check.h"

static int copy_count, delete_count;

static int copy(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    memcpy(copied, &value, sizeof value);
    copy_count++;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    delete_count++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keyval, peer, token = 0;
    MPI_Init(&argc, &argv);
    check_begin();
    peer = check_rank ^ 1;
    MPI_Comm_create_keyval(copy, delete, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &keyval);
    MPI_Sendrecv_replace(&token, 1, MPI_INT, peer, 0, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    printf("rank %d copied %d deleted %d\n", check_rank, copy_count, delete_count);
    return copy_count == 0 && delete_count == 1 ? 0 : 1;
}
