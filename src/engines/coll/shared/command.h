/* SPDX-License-Identifier: BSD-3-Clause */
/* What a user process tells its ghost of a nonblocking collective: one command (ghost/protocol.h), which a
 * grant answers when the collective is complete for this process. `id` is the same at all members: the
 * number of the communicator, and of the collective among those on it that ghosts make. */
#ifndef HW_ENGINES_COLL_SHARED_COMMAND_H
#define HW_ENGINES_COLL_SHARED_COMMAND_H

#include "ghost/protocol.h"
#include "real/reduction.h"

#include <stdint.h>

enum hw_coll_kind {
    HW_COLL_BCAST,
    HW_COLL_ALLGATHER,
    HW_COLL_ALLTOALL,
    HW_COLL_ALLGATHERV,
    HW_COLL_ALLTOALLV,
    HW_COLL_ALLREDUCE,
    HW_COLL_KIND_COUNT
};

/* Of a collective with counts for each process: what goes to, or comes from, one of them. A user process has
 * an array of all, by rank in the program's world, until the grant. */
struct hw_coll_piece {
    uint64_t address, bytes;
};

/* A command's tag is this plus its kind. */
enum { HW_COLL_TAG_FIRST = 512 };

/* Of the messages of one collective between two ghosts: a tag for each of its two phases, so many for the
 * collectives on one communicator, of which two with one tag are never under way at once, and so many
 * communicators. */
enum { HW_COLL_PHASE_BITS = 1, HW_COLL_SEQUENCE_BITS = 6, HW_COLL_COMM_BITS_MAX = 16 };

/* How a reduction is told, above the number of bytes. */
enum { HW_COLL_BYTES_BITS = 48, HW_COLL_CLASS_BITS = 2, HW_COLL_SIZE_BITS = 4 };

struct hw_coll_posted {
    enum hw_coll_kind kind;
    uint64_t id;
    uint64_t bytes;      /* from one process to one other; with counts for each on average, and not alike */
    uint64_t send, recv; /* addresses in the process. Bcast: recv alone, at the root, too. Of pieces: recv
                            with counts for each process, and Alltoallv's send */
    int root;            /* of Bcast: rank in the program's world */
    struct hw_real_reduction reduction; /* of Allreduce */
};

static inline uint64_t hw_coll_id(uint32_t comm, uint32_t sequence)
{
    return (uint64_t)comm << 32 | sequence;
}

/* Which tag its messages between ghosts have in its first phase; in the second the next one. */
static inline int hw_coll_wire_tag(uint64_t id)
{
    uint64_t number = id >> 32 << HW_COLL_SEQUENCE_BITS | (id & ((1u << HW_COLL_SEQUENCE_BITS) - 1));
    return (int)(number << HW_COLL_PHASE_BITS);
}

static inline uint64_t hw_coll_reduction_bits(const struct hw_real_reduction *reduction)
{
    return (uint64_t)reduction->op << (HW_COLL_CLASS_BITS + HW_COLL_SIZE_BITS) |
           (uint64_t)reduction->class << HW_COLL_SIZE_BITS | (uint64_t)reduction->size;
}

static inline struct hw_real_reduction hw_coll_reduction_of(uint64_t bits)
{
    uint64_t class = bits >> HW_COLL_SIZE_BITS & ((1u << HW_COLL_CLASS_BITS) - 1);
    return (struct hw_real_reduction){.op =
                                          (enum hw_real_op)(bits >> (HW_COLL_CLASS_BITS + HW_COLL_SIZE_BITS)),
                                      .class = (enum hw_real_class) class,
                                      .size = (int)(bits & ((1u << HW_COLL_SIZE_BITS) - 1))};
}

static inline void hw_coll_put_word(int32_t words[2], uint64_t value)
{
    words[0] = (int32_t)(uint32_t)value;
    words[1] = (int32_t)(uint32_t)(value >> 32);
}

static inline uint64_t hw_coll_word(const int32_t words[2])
{
    return (uint32_t)words[0] | (uint64_t)(uint32_t)words[1] << 32;
}

static inline struct hw_ghost_command hw_coll_command(const struct hw_coll_posted *posted, int grant_tag)
{
    struct hw_ghost_command command = {
        .tag = HW_COLL_TAG_FIRST + (int)posted->kind, .grant_tag = grant_tag, .id = posted->id};
    hw_coll_put_word(&command.words[0],
                     posted->kind == HW_COLL_BCAST ? (uint64_t)posted->root : posted->send);
    hw_coll_put_word(&command.words[2], posted->recv);
    hw_coll_put_word(&command.words[4], posted->bytes | hw_coll_reduction_bits(&posted->reduction)
                                                            << HW_COLL_BYTES_BITS);
    return command;
}

static inline struct hw_coll_posted hw_coll_posted_of(const struct hw_ghost_command *command)
{
    uint64_t bytes = hw_coll_word(&command->words[4]);
    struct hw_coll_posted posted = {.kind = (enum hw_coll_kind)(command->tag - HW_COLL_TAG_FIRST),
                                    .id = command->id,
                                    .recv = hw_coll_word(&command->words[2]),
                                    .bytes = bytes & ((UINT64_C(1) << HW_COLL_BYTES_BITS) - 1),
                                    .reduction = hw_coll_reduction_of(bytes >> HW_COLL_BYTES_BITS)};
    uint64_t first = hw_coll_word(&command->words[0]);
    if (posted.kind == HW_COLL_BCAST)
        posted.root = (int)first;
    else
        posted.send = first;
    return posted;
}

#endif
