/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/software_rma.h"

#include "real/real.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static bool is_known_mpi(void)
{
#if HW_ABI_OPEN_MPI
    return false;
#else
    static const char device[] = "MPICH Device:";
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (hw_bottom.Get_library_version(text, &length) != MPI_SUCCESS)
        return false;
    if (strncmp(text, "Intel(R) MPI Library 20", strlen("Intel(R) MPI Library 20")) == 0)
        return true;
    const char *found = strstr(text, device);
    if (strncmp(text, "MPICH Version:", strlen("MPICH Version:")) != 0 || found == NULL)
        return false;
    found += sizeof device - 1;
    found += strspn(found, " \t");
    return strncmp(found, "ch4:", strlen("ch4:")) == 0;
#endif
}

static bool is_set(const char *name)
{
    static const char *const off[] = {"", "0", "no", "off", "false", "disable"};
    const char *value = getenv(name);
    for (size_t i = 0; value && i < sizeof off / sizeof off[0]; i++)
        if (strcasecmp(value, off[i]) == 0)
            return false;
    return value != NULL;
}

static bool has_progress_thread(void)
{
    static const char *const names[] = {"MPIR_CVAR_ASYNC_PROGRESS",
                                        "MPIR_PARAM_ASYNC_PROGRESS",
                                        "MPICH_ASYNC_PROGRESS",
                                        "I_MPI_ASYNC_PROGRESS",
                                        "MPIR_CVAR_CH4_OFI_ENABLE_DATA_AUTO_PROGRESS",
                                        "MPIR_PARAM_CH4_OFI_ENABLE_DATA_AUTO_PROGRESS",
                                        "MPICH_CH4_OFI_ENABLE_DATA_AUTO_PROGRESS",
                                        "FI_OFI_RXM_DATA_AUTO_PROGRESS"};
    static const char *const providers[] = {"FI_PROVIDER", "MPIR_CVAR_OFI_USE_PROVIDER",
                                            "I_MPI_OFI_PROVIDER"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_set(names[i]))
            return true;
    /* libfabric's "sockets" always has a thread. */
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++)
        if (is_set(providers[i]) && strstr(getenv(providers[i]), "sockets"))
            return true;
    return false;
}

/* Memory devices (null, zero, random, ...) and terminals. Numbers of Linux's devices.txt. */
static bool is_harmless(dev_t device)
{
    enum { MEMORY = 1, TTY = 4, CONSOLE = 5, PTY_FIRST = 136, PTY_LAST = 143 };
    unsigned number = major(device);
    return number == MEMORY || number == TTY || number == CONSOLE ||
           (number >= PTY_FIRST && number <= PTY_LAST);
}

bool hw_real_has_device(void)
{
    DIR *open_files = opendir("/proc/self/fd");
    bool is_found = open_files == NULL;
    for (struct dirent *entry; !is_found && (entry = readdir(open_files)) != NULL;) {
        struct stat status;
        is_found = entry->d_name[0] != '.' && fstatat(dirfd(open_files), entry->d_name, &status, 0) == 0 &&
                   S_ISCHR(status.st_mode) && !is_harmless(status.st_rdev);
    }
    if (open_files)
        closedir(open_files);
    return is_found;
}

bool hw_real_is_accumulate_in_calls(void)
{
    return is_known_mpi() && !has_progress_thread() && !hw_real_has_device();
}
