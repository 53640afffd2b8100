/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/gather.h"

#include "base/peek.h"
#include "engines/p2p/shared/block.h"

#include <errno.h>
#include <sys/uio.h>

/* Pieces that one call reads. */
enum { AT_ONCE = 128 };

/* Pieces from the next byte on, for `left` bytes at most. Returns how many. */
static int plan(struct hw_p2p_gather *gather, const struct hw_p2p_piece *pieces, int count, uint64_t left,
                struct iovec *vectors, uint64_t *bytes)
{
    int used = 0;
    *bytes = 0;
    while (used < count && *bytes < left) {
        uint64_t length = pieces[used].bytes - gather->within;
        if (pieces[used].bytes <= gather->within)
            return -1;
        bool is_part = length > left - *bytes;
        length = is_part ? left - *bytes : length;
        /* An address in another process is a number here. */
        void *address = (void *)(uintptr_t)(pieces[used].address + // NOLINT(performance-no-int-to-ptr)
                                            gather->within);
        vectors[used++] = (struct iovec){address, (size_t)length};
        *bytes += length;
        gather->within = is_part ? gather->within + length : 0;
        gather->piece += !is_part;
    }
    return used;
}

int hw_p2p_gather_read(struct hw_p2p_gather *gather, pid_t pid, uint64_t address, int32_t pieces, void *to,
                       uint64_t bytes)
{
    struct hw_p2p_piece some[AT_ONCE];
    struct iovec vectors[AT_ONCE];
    char *at = to;
    while (bytes > 0) {
        int32_t left = pieces - gather->piece;
        int count = left < AT_ONCE ? left : AT_ONCE;
        uintptr_t list = (uintptr_t)address + (size_t)gather->piece * sizeof *some;
        int error = count > 0 ? hw_peek(pid, list, some, (size_t)count * sizeof *some) : EFAULT;
        if (error)
            return error;
        uint64_t planned;
        int used = plan(gather, some, count, bytes, vectors, &planned);
        struct iovec local = {at, (size_t)planned};
        if (used < 0)
            return EFAULT;
        ssize_t done = process_vm_readv(pid, &local, 1, vectors, (unsigned long)used, 0);
        if (done < 0 || (uint64_t)done != planned)
            return done < 0 ? errno : EFAULT;
        at += planned;
        bytes -= planned;
    }
    return 0;
}
