/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/readable.h"

#include "base/peek.h"
#include "engines/p2p/shared/opened.h"
#include "shm/arena.h"

#include <unistd.h>

/* What was found readable; the oldest gives way. */
enum { RANGES = 16 };
static struct {
    uintptr_t begin, end;
} ranges[RANGES];
static unsigned next;

/* As the ghost will read it. */
static bool is_byte_readable(uintptr_t address)
{
    char byte;
    return hw_peek(getpid(), address, &byte, 1) == 0;
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
