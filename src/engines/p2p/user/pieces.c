/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/pieces.h"

#include "objects/datatype/contents.h"
#include "objects/datatype/dense.h"
#include "objects/datatype/packed.h"
#include "objects/datatype/plan.h"
#include "real/constants.h"
#include "real/type_size.h"

#include <stdlib.h>
#include <string.h>

/* Shorter pieces in the mean are copied faster than they are listed and read one by one. */
enum { PIECE_BYTES = 512, PIECES_MAX = 65536, LEVELS = 8, COMPARED = 16 * 1024 };

/* The one datatype of which it is made directly, the caller's to release; null: of several, or of none. */
static MPI_Datatype inner_of(MPI_Datatype datatype)
{
    struct hw_datatype_contents contents;
    bool is_alike = hw_datatype_contents_open(datatype, &contents) && contents.count > 0;
    MPI_Datatype inner = is_alike ? contents.inner[0] : HW_DATATYPE_NULL;
    for (MPI_Count i = 1; inner != HW_DATATYPE_NULL && i < contents.count; i++) {
        is_alike = is_alike && contents.inner[i] == inner;
        hw_datatype_release(contents.inner[i]);
    }
    hw_datatype_contents_close(&contents);
    if (inner != HW_DATATYPE_NULL && !is_alike)
        hw_datatype_release(inner);
    return is_alike ? inner : HW_DATATYPE_NULL;
}

MPI_Datatype hw_p2p_pieces_element(MPI_Datatype datatype, uint64_t *size)
{
    MPI_Datatype current = datatype, found = hw_datatype_element_of(datatype, size);
    for (int level = 0; level < LEVELS && found == HW_DATATYPE_NULL && current != HW_DATATYPE_NULL; level++) {
        MPI_Datatype inner = inner_of(current);
        if (current != datatype)
            hw_datatype_release(current);
        current = inner;
        if (current != HW_DATATYPE_NULL)
            found = hw_datatype_element_of(current, size);
    }
    if (current != datatype && current != HW_DATATYPE_NULL)
        hw_datatype_release(current);
    return found;
}

/* Whether the plan says what the MPI packs of one. */
static bool is_alike(struct hw_plan *plan, MPI_Datatype datatype, const void *buf)
{
    int64_t size = plan->shape.size;
    if (size > COMPARED)
        return true;
    char *theirs = malloc(COMPARED), *ours = malloc(COMPARED);
    bool is_same = theirs && ours && (uint64_t)size == hw_real_type_size(datatype) &&
                   hw_datatype_pack(buf, 1, datatype, theirs) == MPI_SUCCESS;
    if (is_same) {
        hw_plan_copy(plan, 1, HW_SHAPE_PACK, (uintptr_t)buf, (struct hw_shape_range){0, size}, ours);
        is_same = memcmp(ours, theirs, (size_t)size) == 0;
    }
    free(theirs);
    free(ours);
    return is_same;
}

/* From the second use of the handle on: the MPI has accepted it once. Held. NULL: there is none. */
static struct hw_plan *plan_of(MPI_Datatype datatype, const void *buf)
{
    const char *reason;
    struct hw_plan *plan = hw_plan_take(datatype);
    if (plan == NULL)
        return NULL;
    if (hw_plan_state(plan) == HW_PLAN_SEEN && hw_plan_make(plan, datatype, &reason))
        hw_plan_decide(plan, is_alike(plan, datatype, buf));
    if (hw_plan_state(plan) == HW_PLAN_USABLE)
        return plan;
    hw_plan_release(plan);
    return NULL;
}

static const char *const has_no_plan = "p2p: of a datatype that is new, or has no plan";
static const char *const is_sparse = "p2p: of a datatype with many small blocks";

static const char *refuse(const struct hw_plan *plan, MPI_Count count)
{
    int64_t blocks = plan->shape.blocks * count;
    return plan->shape.size * count < blocks * PIECE_BYTES || blocks > PIECES_MAX ? is_sparse : NULL;
}

const char *hw_p2p_pieces_refuse(MPI_Count count, MPI_Datatype datatype)
{
    struct hw_plan *plan = hw_plan_take(datatype);
    if (plan == NULL) {
        hw_plan_note(datatype);
        return has_no_plan;
    }
    enum hw_plan_state state = hw_plan_state(plan);
    const char *reason = state == HW_PLAN_NONE ? has_no_plan : NULL;
    if (state == HW_PLAN_USABLE)
        reason = refuse(plan, count);
    hw_plan_release(plan);
    return reason;
}

struct list {
    struct hw_p2p_piece *pieces;
    int64_t count, room;
    uint64_t address;
};

/* Blocks that touch one another are one piece. */
static bool add(void *context, int64_t place, int64_t length)
{
    struct list *list = context;
    uint64_t address = list->address + (uint64_t)place;
    struct hw_p2p_piece *last = list->count > 0 ? &list->pieces[list->count - 1] : NULL;
    if (last && last->address + last->bytes == address) {
        last->bytes += (uint64_t)length;
        return true;
    }
    if (list->pieces == NULL || list->count == list->room)
        return false;
    list->pieces[list->count++] = (struct hw_p2p_piece){address, (uint64_t)length};
    return true;
}

/* NULL: no memory. */
static struct hw_p2p_piece *list_pieces(const struct hw_plan *plan, const void *buf, MPI_Count count,
                                        int32_t *piece_count)
{
    int64_t blocks = plan->shape.blocks * count;
    struct list list = {.pieces = malloc((size_t)blocks * sizeof *list.pieces), .room = blocks};
    bool is_whole = list.pieces != NULL;
    for (int64_t i = 0; is_whole && i < count; i++) {
        list.address = (uint64_t)(uintptr_t)buf + (uint64_t)(i * plan->extent);
        is_whole = hw_shape_visit(&plan->shape, 0, add, &list);
    }
    if (!is_whole) {
        free(list.pieces);
        return NULL;
    }
    *piece_count = (int32_t)list.count;
    return list.pieces;
}

struct hw_p2p_piece *hw_p2p_pieces_make(const void *buf, MPI_Count count, MPI_Datatype datatype,
                                        int32_t *piece_count, const char **reason)
{
    struct hw_plan *plan = plan_of(datatype, buf);
    *reason = has_no_plan;
    if (plan == NULL)
        return NULL;
    struct hw_p2p_piece *pieces = NULL;
    *reason = refuse(plan, count);
    if (*reason == NULL && (pieces = list_pieces(plan, buf, count, piece_count)) == NULL)
        *reason = "p2p: no memory";
    hw_plan_release(plan);
    return pieces;
}
