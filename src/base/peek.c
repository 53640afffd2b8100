/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/peek.h"

#include <errno.h>
#include <sys/uio.h>

int hw_peek(pid_t pid, uintptr_t from, void *to, size_t bytes)
{
    /* An address in another process is a number here. */
    struct iovec local = {to, bytes}, remote = {(void *)from, bytes}; // NOLINT(performance-no-int-to-ptr)
    ssize_t done = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (done < 0)
        return errno;
    return (size_t)done == bytes ? 0 : EFAULT;
}

int hw_poke(pid_t pid, uintptr_t to, const void *from, size_t bytes)
{
    struct iovec local = {(void *)(uintptr_t)from, bytes};
    struct iovec remote = {(void *)to, bytes}; // NOLINT(performance-no-int-to-ptr)
    ssize_t done = process_vm_writev(pid, &local, 1, &remote, 1, 0);
    if (done < 0)
        return errno;
    return (size_t)done == bytes ? 0 : EFAULT;
}
