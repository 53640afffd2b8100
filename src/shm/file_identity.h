/* SPDX-License-Identifier: BSD-3-Clause */
/* A file identity tells which file a descriptor is of: a program may close descriptors that it does not know,
 * and have another file in their place. Any thread. */
#ifndef HW_SHM_FILE_IDENTITY_H
#define HW_SHM_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct hw_file_identity {
    uint64_t device, inode; /* 0: of no file */
};

static inline struct hw_file_identity hw_file_identify(int fd)
{
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0)
        return (struct hw_file_identity){0};
    return (struct hw_file_identity){.device = status.st_dev, .inode = status.st_ino};
}

static inline bool hw_file_is(int fd, struct hw_file_identity identity)
{
    struct hw_file_identity found = hw_file_identify(fd);
    return found.inode != 0 && found.device == identity.device && found.inode == identity.inode;
}

#endif
