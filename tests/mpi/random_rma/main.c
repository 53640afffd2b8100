/* SPDX-License-Identifier: BSD-3-Clause */
/* random_rma FIRST COUNT [--trace] [--dynamic | --shared]: prints `digest seed S rank R D` for each of COUNT
 * random programs; with --trace also the digest after each round; with --dynamic its windows are such, over
 * memory of MPI_Alloc_mem at some members and of malloc at others; with --shared those of MPI_Win_allocate
 * are of MPI_Win_allocate_shared. */
#include "act.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096 };

static int world_rank, world_size;
static bool is_traced, is_dynamic, is_shared;

static bool is_of_malloc(const struct window *window) { return is_dynamic && window->rank % 2 == 1; }

static void memory_attach(struct window *window, MPI_Aint bytes)
{
    MPI_Aint own;
    if (is_of_malloc(window))
        window->allocated = malloc((size_t)bytes);
    else
        MPI_Alloc_mem(bytes, MPI_INFO_NULL, &window->allocated);
    window->base = window->allocated;
    memset(window->base, 0, (size_t)bytes);
    MPI_Win_attach(window->win, window->base, bytes);
    MPI_Get_address(window->base, &own);
    window->addresses = calloc((size_t)window->size, sizeof *window->addresses);
    MPI_Allgather(&own, 1, MPI_AINT, window->addresses, 1, MPI_AINT, window->comm);
}

static void window_make(struct window *window, const struct window_plan *plan)
{
    MPI_Info info = MPI_INFO_NULL;
    bool is_in = plan->members != 2 || world_rank < world_size - 1;
    int key = plan->members == 1 ? world_size - world_rank : world_rank;
    MPI_Comm_split(MPI_COMM_WORLD, is_in ? 0 : MPI_UNDEFINED, key, &window->comm);
    if (!is_in)
        return;
    MPI_Comm_rank(window->comm, &window->rank);
    MPI_Comm_size(window->comm, &window->size);
    MPI_Comm_group(window->comm, &window->group);
    if (plan->has_hints) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "same_disp_unit", "true");
        MPI_Info_set(info, "accumulate_ordering", "rar,raw,war,waw");
    }
    window->disp_unit = plan->disp_unit;
    window->is_created = plan->is_created;
    MPI_Aint bytes = (MPI_Aint)SLOTS * SLOT_BYTES + (MPI_Aint)window->rank * SLOT_BYTES;
    if (is_dynamic) {
        MPI_Win_create_dynamic(info, window->comm, &window->win);
        memory_attach(window, bytes);
    } else if (plan->is_created) {
        /* From a page on: MPICH 4.0 over UCX puts to wrong places otherwise. */
        MPI_Alloc_mem(bytes + 2 * PAGE_BYTES, MPI_INFO_NULL, &window->allocated);
        window->base = window->allocated + PAGE_BYTES - (uintptr_t)window->allocated % PAGE_BYTES;
        memset(window->base, 0, (size_t)bytes);
        MPI_Win_create(window->base, bytes, plan->disp_unit, info, window->comm, &window->win);
    } else if (is_shared) {
        MPI_Win_allocate_shared(bytes, plan->disp_unit, info, window->comm, &window->base, &window->win);
    } else {
        MPI_Win_allocate(bytes, plan->disp_unit, info, window->comm, &window->base, &window->win);
    }
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

static bool is_member(const struct window *window) { return window->comm != MPI_COMM_NULL; }

static void window_free(struct window *window)
{
    if (!is_member(window))
        return;
    if (is_dynamic)
        MPI_Win_detach(window->win, window->base);
    MPI_Win_free(&window->win);
    free(window->addresses);
    if (is_of_malloc(window))
        free(window->allocated);
    else if (window->is_created || is_dynamic)
        MPI_Free_mem(window->allocated);
    MPI_Group_free(&window->group);
    MPI_Comm_free(&window->comm);
}

/* All are here, with nothing outstanding. */
static void window_set_info(const struct window *window)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "symmetric", "true");
    MPI_Win_set_info(window->win, info);
    MPI_Info_free(&info);
}

static uint64_t seed_run(uint64_t seed)
{
    static struct plan plan;
    struct window windows[WINDOWS] = {0};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    plan_draw(&plan, seed, world_size);
    for (int i = 0; i < WINDOWS; i++)
        window_make(&windows[i], &plan.windows[i]);
    for (int i = 0; i < ROUNDS; i++) {
        struct window *window = &windows[plan.rounds[i].window];
        if (!is_member(window))
            continue;
        act_reset(window, &plan.rounds[i]);
        act_round(window, &plan.rounds[i], seed * 1000003 + (uint64_t)i * 4096, &hash);
        MPI_Barrier(window->comm);
        MPI_Win_lock(MPI_LOCK_SHARED, window->rank, 0, window->win);
        hash = act_hash(hash, window->base, (size_t)SLOTS * SLOT_BYTES);
        MPI_Win_unlock(window->rank, window->win);
        MPI_Barrier(window->comm);
        if (plan.rounds[i].sets_info)
            window_set_info(window);
        if (is_traced)
            printf("trace seed %lu rank %d round %d sync %d %016lx\n", (unsigned long)seed, world_rank, i,
                   (int)plan.rounds[i].sync, (unsigned long)hash);
    }
    for (int i = WINDOWS - 1; i >= 0; i--)
        window_free(&windows[i]);
    return hash;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (argc < 3 || world_size < 2 || world_size > MEMBERS_MAX) {
        fprintf(stderr, "usage: random_rma FIRST COUNT [--trace] [--dynamic | --shared], on 2 to %d ranks\n",
                MEMBERS_MAX);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    for (int i = 3; i < argc; i++) {
        is_traced = is_traced || strcmp(argv[i], "--trace") == 0;
        is_dynamic = is_dynamic || strcmp(argv[i], "--dynamic") == 0;
        is_shared = is_shared || strcmp(argv[i], "--shared") == 0;
    }
    act_make_types();
    for (uint64_t seed = first; seed < first + count; seed++) {
        uint64_t hash = seed_run(seed);
        printf("digest seed %lu rank %d %016lx\n", (unsigned long)seed, world_rank, (unsigned long)hash);
        fflush(stdout);
    }
    act_free_types();
    MPI_Finalize();
    return 0;
}
