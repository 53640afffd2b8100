/* SPDX-License-Identifier: BSD-3-Clause */
#include "objects/comm_state.h"

#include <stdlib.h>

static int copy_nothing(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return MPI_SUCCESS;
}

static int delete_state(MPI_Comm comm, int key, void *value, void *extra)
{
    const struct hw_comm_state *state = extra;
    (void)comm, (void)key;
    if (state->ended)
        state->ended(value);
    else
        free(value);
    return MPI_SUCCESS;
}

static bool make_keyval(struct hw_comm_state *state)
{
    if (__builtin_expect(hw_atomic_load_acquire(&state->has_keyval), 1))
        return true;
    pthread_mutex_lock(&state->mutex);
    bool has_keyval =
        hw_atomic_load_relaxed(&state->has_keyval) ||
        hw_bottom.Comm_create_keyval(copy_nothing, delete_state, &state->keyval, state) == MPI_SUCCESS;
    hw_atomic_store_release(&state->has_keyval, has_keyval);
    pthread_mutex_unlock(&state->mutex);
    return has_keyval;
}

/* Threads that use one communicator for the first time at once get the same. */
static void *make_once(struct hw_comm_state *state, MPI_Comm comm, void *(*make)(MPI_Comm comm))
{
    void *found = NULL;
    int flag = 0;
    pthread_mutex_lock(&state->mutex);
    bool is_asked = hw_bottom.Comm_get_attr(comm, state->keyval, &found, &flag) == MPI_SUCCESS;
    if (!is_asked)
        found = NULL;
    else if (!flag)
        found = make(comm);
    if (is_asked && !flag && found && hw_bottom.Comm_set_attr(comm, state->keyval, found) != MPI_SUCCESS) {
        free(found);
        found = NULL;
    }
    pthread_mutex_unlock(&state->mutex);
    return found;
}

void *hw_comm_state_of(struct hw_comm_state *state, MPI_Comm comm, void *(*make)(MPI_Comm comm))
{
    void *found = NULL;
    int flag = 0;
    if (!make_keyval(state) || hw_bottom.Comm_get_attr(comm, state->keyval, &found, &flag) != MPI_SUCCESS)
        return NULL;
    if (flag)
        return found;
    return make_once(state, comm, make);
}

void hw_comm_state_close(struct hw_comm_state *state)
{
    pthread_mutex_lock(&state->mutex);
    if (hw_atomic_exchange_acquire(&state->has_keyval, false))
        hw_bottom.Comm_free_keyval(&state->keyval);
    pthread_mutex_unlock(&state->mutex);
}
