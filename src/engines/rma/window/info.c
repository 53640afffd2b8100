/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/info.h"
#include "real/info.h"

#include <string.h>

/* Whether others' memory is shown is a hint of the standard's that only some MPIs tell of. */
static const char alloc_shm[] = "alloc_shm";

static bool has_key(MPI_Info info, const char *key)
{
    int length, flag = 0;
    return hw_bottom.Info_get_valuelen(info, key, &length, &flag) == MPI_SUCCESS && flag;
}

bool hw_rma_window_may_be_apart(MPI_Info info)
{
    char value[sizeof "true"];
    return hw_real_info_read(info, "alloc_shared_noncontig", value, sizeof value - 1) &&
           strcmp(value, "true") == 0;
}

static int copy_hints(MPI_Info from, MPI_Info to)
{
    int key_count = 0, flag;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int rc = from == HW_INFO_NULL ? MPI_SUCCESS : hw_bottom.Info_get_nkeys(from, &key_count);
    for (int i = 0; rc == MPI_SUCCESS && i < key_count; i++) {
        rc = hw_bottom.Info_get_nthkey(from, i, key);
        if (rc == MPI_SUCCESS)
            rc = hw_bottom.Info_get(from, key, MPI_MAX_INFO_VAL, value, &flag);
        if (rc == MPI_SUCCESS && flag && (strcmp(key, alloc_shm) != 0 || has_key(to, key)))
            rc = hw_bottom.Info_set(to, key, value);
    }
    return rc;
}

static bool is_known_hint(const char *key)
{
    static const char *const keys[] = {"no_locks",       "accumulate_ordering", "accumulate_ops", "same_size",
                                       "same_disp_unit", "epoch_type",          alloc_shm};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

/* Keeps those of the standard's hints that the window has. */
int hw_rma_window_set_info(struct hw_rma_window *window, MPI_Info info)
{
    int key_count = 0, flag = 0;
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    int rc = info == HW_INFO_NULL ? MPI_SUCCESS : hw_bottom.Info_get_nkeys(info, &key_count);
    if (rc == MPI_SUCCESS && window->hints == HW_INFO_NULL)
        rc = hw_bottom.Info_create(&window->hints);
    for (int i = 0; rc == MPI_SUCCESS && i < key_count; i++) {
        rc = hw_bottom.Info_get_nthkey(info, i, key);
        if (rc == MPI_SUCCESS && is_known_hint(key))
            rc = hw_bottom.Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag);
        if (rc == MPI_SUCCESS && is_known_hint(key) && flag)
            rc = hw_bottom.Info_set(window->hints, key, value);
    }
    return rc == MPI_SUCCESS ? rc : hw_rma_raise(window, rc);
}

/* The handle is one of MPI_Win_create, whose memory is not the MPI's to share. */
static int tell_sharing(const struct hw_rma_window *window, MPI_Info info)
{
    const struct hw_rma_target *own = &window->targets[window->rank];
    bool is_shown = window->flavor == MPI_WIN_FLAVOR_SHARED ||
                    (window->flavor == MPI_WIN_FLAVOR_ALLOCATE && (own->memory || own->size == 0));
    if (!is_shown || !has_key(info, alloc_shm))
        return MPI_SUCCESS;
    return hw_bottom.Info_set(info, alloc_shm, "true");
}

int hw_rma_window_get_info(struct hw_rma_window *window, MPI_Info *info)
{
    int rc = hw_real.Win_get_info(window->handle, info);
    if (rc == MPI_SUCCESS)
        rc = tell_sharing(window, *info);
    return rc == MPI_SUCCESS ? copy_hints(window->hints, *info) : rc;
}
