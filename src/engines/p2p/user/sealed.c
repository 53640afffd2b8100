/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/sealed.h"

#include "engines/engine.h"
#include "engines/p2p/shared/opened.h"
#include "engines/p2p/user/doubt.h"
#include "engines/p2p/user/own.h"
#include "engines/p2p/user/packed.h"
#include "engines/p2p/user/readable.h"
#include "engines/p2p/user/turns.h"
#include "ghost/bell.h"
#include "objects/datatype/dense.h"
#include "objects/datatype/hold.h"
#include "objects/datatype/packed.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/eager.h"
#include "real/quirks.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

static struct hw_p2p_sealed *shared;
static uint64_t commanded, heard, eager_bytes;
static bool asks_first;    /* whether the MPI takes a message: it may not tell later that it did not */
static unsigned under_way; /* operations of the program that ghosts have, but copies */

void hw_p2p_sealed_open(void)
{
    shared = hw_p2p_sealed_of(hw_p2p_opened.block);
    commanded = heard = 0;
    eager_bytes = hw_real_eager_limit();
    asks_first = hw_real_hides_refusals();
}

/* ---- what is asked, and what is answered -----------------------------------------------------------------
 */

static bool is_obeyed(const void *of)
{
    (void)of;
    return commanded - hw_atomic_load_acquire(&shared->obeyed) < HW_P2P_COMMANDS;
}

/* Its ghost takes commands as they come, so a full ring is soon none. In a turn. */
static void tell(const struct hw_p2p_command *command)
{
    if (__builtin_expect(!is_obeyed(NULL), 0)) {
        hw_ghost_bell_ring(hw_ghost_bell_own());
        hw_p2p_own_wait(is_obeyed, NULL);
    }
    shared->commands[commanded % HW_P2P_COMMANDS] = *command;
    hw_atomic_store_seq_cst(&shared->commanded, ++commanded);
    hw_ghost_bell_ring_later(hw_ghost_bell_own());
}

void hw_p2p_sealed_show(const struct hw_p2p_seal *seal, bool is_shown)
{
    const struct hw_p2p_command command = {.comm = seal->id,
                                           .address = (uint64_t)(uintptr_t)&seal->counts,
                                           .peer = hw_world.rank,
                                           .kind = is_shown ? HW_P2P_SEALED : HW_P2P_UNSEALED};
    bool has_turn = hw_p2p_turn_begin();
    tell(&command);
    hw_p2p_turn_end(has_turn);
}

struct question {
    bool is_answered;
    struct hw_p2p_end end;
};
static struct question *asked; /* one at a time */

static void free_operation(struct hw_p2p_operation *operation)
{
    if (operation->is_type_ours)
        hw_bottom.Type_free(&operation->part.type);
    hw_p2p_seal_release(operation->seal);
    free(operation->copy);
    free(operation);
}

static int error_of(const struct hw_p2p_operation *operation, const struct hw_p2p_end *end)
{
    if (end->error)
        return MPI_ERR_BUFFER;
    bool is_cut = operation->mode == HW_P2P_TAKEN && end->bytes > operation->command.bytes;
    return is_cut ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
}

static void end_one(struct hw_p2p_operation *operation, const struct hw_p2p_end *end)
{
    operation->is_under_way = false;
    operation->is_cancelled = (end->flags & HW_P2P_END_CANCELLED) != 0;
    if (operation->is_cancelled)
        hw_p2p_doubt_confirm(operation);
    operation->error = error_of(operation, end);
    operation->moved = end->bytes;
    if (!operation->is_released)
        under_way--;
    if (operation->is_orphan)
        free_operation(operation);
}

/* Takes what has ended. In a turn. */
static void hear(void)
{
    uint64_t ended = hw_atomic_load_acquire(&shared->ended);
    if (heard == ended)
        return;
    while (heard != ended) {
        struct hw_p2p_end end = shared->ends[heard++ % HW_P2P_ENDS];
        if (asked && end.operation == (uint64_t)(uintptr_t)asked) {
            asked->end = end;
            asked->is_answered = true;
        } else {
            end_one((struct hw_p2p_operation *)(uintptr_t)end.operation,
                    &end); // NOLINT(performance-no-int-to-ptr)
        }
    }
    hw_atomic_store_release(&shared->heard, heard);
}

static bool is_answered(const void *of) /* in a turn */
{
    hear();
    return ((const struct question *)of)->is_answered;
}

struct hw_p2p_end hw_p2p_sealed_ask(const struct hw_p2p_seal *seal, enum hw_p2p_command_kind kind, int source,
                                    int tag, uint64_t bound)
{
    struct question question = {0};
    const struct hw_p2p_command command = {.operation = (uint64_t)(uintptr_t)&question,
                                           .comm = seal->id,
                                           .bytes = bound,
                                           .peer = seal->processes[source],
                                           .tag = tag,
                                           .kind = (int32_t)kind};
    bool has_turn = hw_p2p_turn_begin();
    asked = &question;
    tell(&command);
    hw_p2p_own_wait(is_answered, &question);
    asked = NULL;
    hw_p2p_turn_end(has_turn);
    return question.end;
}

/* ---- which ----------------------------------------------------------------------------------------------
 */

bool hw_p2p_sealed_is_far(const struct hw_p2p_seal *seal, int peer)
{
    return peer >= 0 && peer < seal->size &&
           hw_world.processes[seal->processes[peer]].node != hw_world_own_node();
}

static bool is_accepted(const struct hw_p2p_part *part)
{
    return hw_p2p_own_accepts(part->memory, part->count, part->type, part->tag);
}

static bool is_concerned(const struct hw_p2p_seal *seal, const struct hw_p2p_part *part)
{
    return hw_p2p_sealed_is_far(seal, part->peer) && part->tag >= 0 && part->count >= 0 &&
           part->type != HW_DATATYPE_NULL;
}

bool hw_p2p_sealed_is_large(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                            bool is_receive)
{
    if (is_receive && part->peer == HW_ANY_SOURCE)
        hw_p2p_seal_broken(comm, "receives from MPI_ANY_SOURCE");
    if (is_receive && part->tag == HW_ANY_TAG && part->peer != HW_PROC_NULL)
        hw_p2p_seal_broken(comm, "receives with MPI_ANY_TAG");
    return is_concerned(seal, part) && hw_engines_bytes(part->count, part->type) >= seal->min_bytes &&
           is_accepted(part);
}

static void count_small(struct hw_p2p_seal *seal, const struct hw_p2p_part *part, bool is_receive,
                        uint64_t change)
{
    if (!is_concerned(seal, part) || (asks_first && !is_accepted(part)))
        return;
    struct hw_p2p_smalls *smalls = hw_p2p_seal_smalls(seal, part->peer, part->tag);
    if (smalls)
        *(is_receive ? &smalls->received : &smalls->sent) += change;
}

bool hw_p2p_sealed_concerns(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                            bool is_receive)
{
    if (hw_p2p_sealed_is_large(seal, comm, part, is_receive))
        return true;
    count_small(seal, part, is_receive, 1);
    return false;
}

void hw_p2p_sealed_refused(struct hw_p2p_seal *seal, const struct hw_p2p_part *part, bool is_receive)
{
    count_small(seal, part, is_receive, UINT64_MAX);
}

/* ---- an operation ---------------------------------------------------------------------------------------
 */

int hw_p2p_sealed_raise(MPI_Comm comm, int error)
{
    if (error != MPI_SUCCESS)
        hw_bottom.Comm_call_errhandler(comm, error);
    return error;
}

/* Whether ghosts can have the program's memory itself. */
static bool is_plain(const struct hw_p2p_part *part, uint64_t bytes)
{
    uint64_t size;
    return hw_datatype_element_of(part->type, &size) != HW_DATATYPE_NULL &&
           hw_p2p_is_readable(part->memory, bytes);
}

int hw_p2p_operation_make(struct hw_p2p_seal *seal, MPI_Comm comm, const struct hw_p2p_part *part,
                          enum hw_p2p_mode mode, struct hw_p2p_operation **made)
{
    uint64_t bytes = hw_engines_bytes(part->count, part->type);
    struct hw_p2p_operation *operation = calloc(1, sizeof *operation);
    bool is_copied = mode == HW_P2P_BUFFERED || (mode == HW_P2P_STANDARD && bytes <= eager_bytes);
    if (operation == NULL)
        return hw_p2p_sealed_raise(comm, MPI_ERR_NO_MEM);
    *operation = (struct hw_p2p_operation){.part = *part, .comm = comm, .seal = seal, .mode = mode};
    hw_p2p_seal_hold(seal);
    operation->command = (struct hw_p2p_command){.operation = (uint64_t)(uintptr_t)operation,
                                                 .comm = seal->id,
                                                 .address = (uint64_t)(uintptr_t)part->memory,
                                                 .bytes = bytes,
                                                 .peer = seal->processes[part->peer],
                                                 .tag = part->tag,
                                                 .kind = mode == HW_P2P_TAKEN ? HW_P2P_RECEIVE : HW_P2P_SEND};
    if (is_copied || !is_plain(part, bytes)) {
        uint64_t size;
        operation->copy = malloc(bytes + 1); /* a matched receive may have room for nothing */
        operation->command.address = (uint64_t)(uintptr_t)operation->copy;
        operation->is_released = mode != HW_P2P_TAKEN && is_copied;
        if (operation->copy && !hw_real_type_is_basic(part->type, &size)) {
            operation->part.type = hw_datatype_hold(part->type);
            operation->is_type_ours = operation->part.type != HW_DATATYPE_NULL;
        }
        if (operation->copy == NULL || operation->part.type == HW_DATATYPE_NULL) {
            free_operation(operation);
            return hw_p2p_sealed_raise(comm, MPI_ERR_NO_MEM);
        }
    }
    *made = operation;
    return MPI_SUCCESS;
}

void hw_p2p_operation_post(struct hw_p2p_operation *operation)
{
    bool is_receive = operation->mode == HW_P2P_TAKEN;
    operation->is_cancelled = operation->is_delivered = false;
    operation->doubt = (struct hw_p2p_doubt){0};
    if (!is_receive) {
        const struct hw_p2p_part *part = &operation->part;
        struct hw_p2p_smalls *smalls = hw_p2p_seal_smalls(operation->seal, part->peer, part->tag);
        operation->command.before = smalls ? smalls->sent : 0;
        if (operation->copy)
            hw_datatype_pack(part->memory, part->count, operation->part.type, operation->copy);
        HW_COUNT(p2p_sealed_sends);
    }
    bool has_turn = hw_p2p_turn_begin();
    operation->is_under_way = true;
    under_way += !operation->is_released;
    tell(&operation->command);
    hw_p2p_turn_end(has_turn);
}

bool hw_p2p_operation_is_over(struct hw_p2p_operation *operation)
{
    bool has_turn = hw_p2p_turn_begin();
    hear();
    bool is_over = !operation->is_under_way || operation->is_released;
    if (!is_over)
        hw_p2p_doubt_look(operation);
    hw_p2p_turn_end(has_turn);
    return is_over;
}

static bool is_over_now(const void *of)
{
    return hw_p2p_operation_is_over((struct hw_p2p_operation *)(uintptr_t)of);
}

void hw_p2p_operation_wait(struct hw_p2p_operation *operation) { hw_p2p_own_wait(is_over_now, operation); }

void hw_p2p_operation_fill(const struct hw_p2p_operation *operation, MPI_Status *status)
{
    bool is_receive = operation->mode == HW_P2P_TAKEN && !operation->is_cancelled;
    uint64_t room = operation->command.bytes, bytes = operation->moved < room ? operation->moved : room;
    if (status == HW_STATUS_IGNORE)
        return;
    status->MPI_SOURCE = is_receive ? operation->part.peer : HW_UNDEFINED;
    status->MPI_TAG = is_receive ? operation->part.tag : HW_UNDEFINED;
    hw_bottom.Status_set_elements_x(status, HW_BYTE, is_receive ? (MPI_Count)bytes : 0);
    hw_bottom.Status_set_cancelled(status, operation->is_cancelled);
}

int hw_p2p_operation_finish(struct hw_p2p_operation *operation, MPI_Status *status)
{
    if (operation->mode == HW_P2P_TAKEN && operation->copy && !operation->is_delivered &&
        !operation->is_cancelled && operation->error != MPI_ERR_BUFFER) {
        uint64_t room = operation->command.bytes;
        hw_p2p_unpack(operation->copy, operation->moved < room ? operation->moved : room,
                      (void *)(uintptr_t)operation->part.memory, operation->part.type);
    }
    operation->is_delivered = true;
    hw_p2p_operation_fill(operation, status);
    return operation->is_released ? MPI_SUCCESS : operation->error;
}

void hw_p2p_operation_cancel(struct hw_p2p_operation *operation)
{
    operation->doubt = (struct hw_p2p_doubt){.next_ns = UINT64_MAX}; /* the program's word is enough */
    hw_p2p_operation_withdraw(operation);
}

void hw_p2p_operation_withdraw(const struct hw_p2p_operation *operation)
{
    struct hw_p2p_command command = operation->command;
    command.kind = operation->mode == HW_P2P_TAKEN ? HW_P2P_CANCEL_RECEIVE : HW_P2P_CANCEL_SEND;
    bool has_turn = hw_p2p_turn_begin();
    if (operation->is_under_way && !operation->is_released)
        tell(&command);
    hw_p2p_turn_end(has_turn);
}

void hw_p2p_operation_drop(struct hw_p2p_operation *operation)
{
    bool has_turn = hw_p2p_turn_begin();
    hear();
    operation->is_orphan = true;
    if (!operation->is_under_way)
        free_operation(operation);
    hw_p2p_turn_end(has_turn);
}

static bool is_all_over(const void *of)
{
    (void)of;
    hear();
    return under_way == 0;
}

/* A copy that nobody received yet stays: its receiver may still want it until it is in MPI_Finalize itself.
 */
void hw_p2p_sealed_close(void) { hw_p2p_own_wait(is_all_over, NULL); }
