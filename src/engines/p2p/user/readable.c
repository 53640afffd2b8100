/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/readable.h"

#include "engines/p2p/shared/opened.h"
#include "shm/arena.h"

#include <sys/uio.h>
#include <unistd.h>

/* What was found readable; the oldest gives way. */
enum { RANGES = 16 };
static struct {
    uintptr_t begin, end;
} ranges[RANGES];
static unsigned next;

/* By the call that the ghost makes. */
static bool is_byte_readable(uintptr_t address)
{
    char byte;
    struct iovec here = {.iov_base = &byte, .iov_len = 1};
    struct iovec there = {.iov_base = (void *)address, .iov_len = 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

/* Which the ghost has mapped. */
static bool is_in_arena(uintptr_t begin, uintptr_t end)
{
    struct hw_arena_range range = hw_arena_range();
    uintptr_t base = (uintptr_t)range.base;
    return range.bytes > 0 && begin >= base && end <= base + range.bytes;
}

bool hw_p2p_is_readable(const void *memory, uint64_t bytes)
{
    uintptr_t begin = (uintptr_t)memory, end = begin + bytes;
    if (is_in_arena(begin, end))
        return true;
    if (hw_p2p_opened.is_arena_only)
        return false;
    for (unsigned i = 0; i < RANGES; i++)
        if (ranges[i].begin <= begin && end <= ranges[i].end)
            return true;
    if (!is_byte_readable(begin) || !is_byte_readable(end - 1))
        return false;
    ranges[next].begin = begin;
    ranges[next].end = end;
    next = (next + 1) % RANGES;
    return true;
}
