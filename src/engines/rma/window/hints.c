/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/rma/window/hints.h"

#include "real/constants.h"

#include <stdbool.h>
#include <string.h>

static bool is_untrue_for_shadow(const char *key)
{
    static const char *const keys[] = {"no_locks",   "same_size",    "same_disp_unit",
                                       "alloc_shm",  "async_config", "alloc_shared_noncontig",
                                       "epoch_type", "symmetric"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

int hw_rma_hints_pack(MPI_Info info, char *text, int capacity)
{
    int key_count = 0, bytes = 0;
    char key[MPI_MAX_INFO_KEY + 1], value[256];
    if (info == HW_INFO_NULL || hw_bottom.Info_get_nkeys(info, &key_count) != MPI_SUCCESS)
        return 0;
    for (int i = 0; i < key_count; i++) {
        int flag = 0;
        if (hw_bottom.Info_get_nthkey(info, i, key) != MPI_SUCCESS || is_untrue_for_shadow(key) ||
            hw_bottom.Info_get(info, key, sizeof value - 1, value, &flag) != MPI_SUCCESS || !flag)
            continue;
        size_t key_bytes = strlen(key) + 1, value_bytes = strlen(value) + 1;
        if ((size_t)bytes + key_bytes + value_bytes > (size_t)capacity)
            break; /* hints: those that do not fit are not taken */
        memcpy(text + bytes, key, key_bytes);
        memcpy(text + bytes + key_bytes, value, value_bytes);
        bytes += (int)(key_bytes + value_bytes);
    }
    return bytes;
}

MPI_Info hw_rma_hints_unpack(const char *text, int bytes)
{
    MPI_Info info = HW_INFO_NULL;
    if (bytes == 0 || hw_bottom.Info_create(&info) != MPI_SUCCESS)
        return HW_INFO_NULL;
    for (const char *key = text; key < text + bytes;) {
        const char *value = key + strlen(key) + 1;
        hw_bottom.Info_set(info, key, value);
        key = value + strlen(value) + 1;
    }
    return info;
}
