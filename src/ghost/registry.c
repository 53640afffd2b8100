/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/registry.h"

#include "base/atomic.h"
#include "ghost/service.h"
#include "real/constants.h"
#include "shm/again.h"
#include "world/world.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static MPI_Win memory;
static bool is_there;
static struct hw_registry *again;   /* of the node's first user process, where the window is gone; or NULL */
static struct hw_registry **places; /* by index on the node; NULL: no room for them */

static size_t all_bytes(void) { return (size_t)hw_world_own_user_count() * sizeof(struct hw_registry); }

/* User processes come first in hw_world.node; local_index is their place. */
static struct hw_registry *ask(int local_index)
{
    struct hw_registry *registry = NULL;
    MPI_Aint bytes;
    int unit;
    if (hw_bottom.Win_shared_query(memory, local_index, &bytes, &unit, &registry) != MPI_SUCCESS)
        return NULL;
    return registry;
}

static void ask_all(void)
{
    places = calloc((size_t)hw_world_own_user_count(), sizeof(void *));
    for (int i = 0; places && i < hw_world_own_user_count(); i++)
        places[i] = ask(i);
}

static struct hw_registry *find(int local_index)
{
    if (again)
        return again + local_index;
    return places ? places[local_index] : NULL;
}

/* Where the job can go on without a ghost that dies there must be no window of both: MPI_Finalize frees what
 * is left of windows, and waits for all. */
static void keep_without_window(void)
{
    struct hw_registry *first = find(0), *last = find(hw_world_own_user_count() - 1), *found = NULL;
    if (first && last == first + hw_world_own_user_count() - 1)
        found = hw_shm_map_again(first, all_bytes());
    if (hw_world_have_all(hw_world.node, found) && hw_bottom.Win_free(&memory) == MPI_SUCCESS)
        again = found;
    else if (found)
        hw_shm_unmap_again(found, all_bytes());
}

bool hw_registry_make(void)
{
    void *base = NULL;
    MPI_Aint bytes = hw_world_is_ghost() ? 0 : (MPI_Aint)sizeof(struct hw_registry);
    bool is_made =
        hw_bottom.Win_allocate_shared(bytes, 1, HW_INFO_NULL, hw_world.node, &base, &memory) == MPI_SUCCESS;
    if (!hw_world_have_all(hw_world.node, is_made))
        return false;
    if (bytes > 0)
        memset(base, 0, (size_t)bytes);
    is_there = true;
    ask_all();
    bool is_ready = hw_bottom.Barrier(hw_world.node) == MPI_SUCCESS;
    if (hw_ghost_services_are_dispensable())
        keep_without_window();
    return is_ready;
}

void hw_registry_free(void)
{
    if (again)
        hw_shm_unmap_again(again, all_bytes());
    else if (is_there)
        hw_bottom.Win_free(&memory);
    free(places);
    places = NULL;
    again = NULL;
    is_there = false;
}

struct hw_registry *hw_registry_own(void) { return find(hw_world.processes[hw_world.rank].local_index); }

struct hw_registry *hw_registry_of(int process) { return find(hw_world.processes[process].local_index); }

bool hw_registry_post(struct hw_registry *registry, uint64_t comm, int source, int tag, uint64_t bytes)
{
    uint64_t number = hw_atomic_load_relaxed(&registry->posted);
    struct hw_registry_receive *receive = &registry->receives[number % HW_REGISTRY_RECEIVES];
    hw_atomic_store_relaxed(&receive->number, 0);
    hw_atomic_store_relaxed(&receive->comm, comm);
    hw_atomic_store_relaxed(&receive->source, source);
    hw_atomic_store_relaxed(&receive->tag, tag);
    hw_atomic_store_relaxed(&receive->bytes, bytes);
    hw_atomic_store_release(&receive->number, number + 1);
    hw_atomic_store_seq_cst(&registry->posted, number + 1);
    return hw_atomic_load_seq_cst(&registry->is_awaiting) != 0;
}

void hw_registry_end_messages(struct hw_registry *registry)
{
    hw_atomic_store_relaxed(&registry->ended, hw_atomic_load_relaxed(&registry->posted));
    hw_atomic_store_relaxed(&registry->sent, hw_atomic_load_relaxed(&registry->noticed));
}

bool hw_registry_notice(struct hw_registry *registry, const struct hw_registry_notice *notice)
{
    uint64_t number = hw_atomic_load_relaxed(&registry->noticed);
    if (number - hw_atomic_load_acquire(&registry->taken) >= HW_REGISTRY_NOTICES)
        return false;
    registry->notices[number % HW_REGISTRY_NOTICES] = *notice;
    registry->notices[number % HW_REGISTRY_NOTICES].number = number;
    registry->notices[number % HW_REGISTRY_NOTICES].over = hw_atomic_load_relaxed(&registry->sent);
    hw_atomic_store_seq_cst(&registry->noticed, number + 1);
    return true;
}

bool hw_registry_take(struct hw_registry *registry, struct hw_registry_notice *notice)
{
    uint64_t number = hw_atomic_load_relaxed(&registry->taken);
    if (number == hw_atomic_load_seq_cst(&registry->noticed))
        return false;
    *notice = registry->notices[number % HW_REGISTRY_NOTICES];
    hw_atomic_store_release(&registry->taken, number + 1);
    return true;
}

static bool is_wanted(int32_t wanted, int32_t value) { return wanted == HW_REGISTRY_ANY || wanted == value; }

static bool may_match(const struct hw_registry_receive *receive, const struct hw_registry_notice *notice)
{
    return hw_atomic_load_relaxed(&receive->comm) == notice->comm &&
           is_wanted(hw_atomic_load_relaxed(&receive->source), notice->source) &&
           is_wanted(hw_atomic_load_relaxed(&receive->tag), notice->tag);
}

/* Receives leave the front as they are over, claimed, or overwritten by later ones. */
static uint64_t advance(struct hw_registry *registry, uint64_t first, uint64_t posted)
{
    uint64_t ended = hw_atomic_load_relaxed(&registry->ended);
    uint64_t oldest = posted > HW_REGISTRY_RECEIVES ? posted - HW_REGISTRY_RECEIVES : 0;
    ended = ended > oldest ? ended : oldest;
    first = first > ended ? first : ended;
    while (first < posted &&
           hw_atomic_load_relaxed(&registry->receives[first % HW_REGISTRY_RECEIVES].number) ==
               (HW_REGISTRY_CLAIMED | (first + 1)))
        first++;
    return first;
}

bool hw_registry_claim(struct hw_registry *registry, uint64_t *first, const struct hw_registry_notice *notice,
                       uint64_t *which)
{
    uint64_t posted = hw_atomic_load_seq_cst(&registry->posted);
    *first = advance(registry, *first, posted);
    for (uint64_t number = *first; number < posted; number++) {
        struct hw_registry_receive *receive = &registry->receives[number % HW_REGISTRY_RECEIVES];
        uint64_t open = number + 1;
        if (hw_atomic_load_acquire(&receive->number) == open && may_match(receive, notice) &&
            hw_atomic_compare_exchange_seq_cst(&receive->number, &open, HW_REGISTRY_CLAIMED | open)) {
            *which = number;
            return true;
        }
    }
    return false;
}

bool hw_registry_is_claimed(const struct hw_registry *registry, uint64_t which,
                            const struct hw_registry_notice *notice)
{
    struct hw_registry *table = (struct hw_registry *)registry; /* C11 loads no const atomic */
    struct hw_registry_receive *receive = &table->receives[which % HW_REGISTRY_RECEIVES];
    return which >= hw_atomic_load_relaxed(&table->ended) &&
           hw_atomic_load_acquire(&receive->number) == (HW_REGISTRY_CLAIMED | (which + 1)) &&
           may_match(receive, notice);
}
