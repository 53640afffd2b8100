/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: packed_puts SEED CASES: random MPI_Put calls of derived datatypes between all ranks, under
 * every kind of epoch. Each pair of ranks has its own part of the target's window, so that the result does
 * not depend on who comes first. Origins are overwritten, and put again from, as soon as they are complete,
 * other operations being under way. Prints a digest of the window, gaps included. */
#include "check.h"
#include "layouts.h"

enum { PUTS_MAX = 6, PART = 1 << 18, MEMORY = 1 << 20, RANKS_MAX = 4, FILLER = 0x5a };
enum sync { FENCE, PSCW, LOCK, LOCK_FLUSH, LOCK_FLUSH_LOCAL, LOCK_ALL, LOCK_ALL_LOCAL, SYNCS };

struct put {
    int target;
    MPI_Datatype origin, placed;
    int count;
    MPI_Aint place; /* in the part */
    bool is_freed_early;
    char *memory, *begin; /* of the origin */
};

static char *window_memory;
static MPI_Win win;

/* Both of the same signature. */
static void draw(struct put *put, int target, MPI_Aint place, bool is_freed_early)
{
    unsigned kind = below(6);
    int elements = 4 * (1 + (int)below(60));
    MPI_Datatype from = make_element(kind, false), to = make_element(kind, below(2) == 0);
    put->target = target;
    put->count = 1 + (int)below(3);
    put->place = place;
    put->origin = make_layout(elements, from, kind == 5);
    put->placed = make_layout(elements, to, kind == 5);
    put->is_freed_early = is_freed_early;
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

static MPI_Aint span_of(MPI_Datatype type, int count, MPI_Aint *lowest)
{
    MPI_Aint true_lowest, span, lb, extent, far;
    MPI_Type_get_true_extent(type, &true_lowest, &span);
    MPI_Type_get_extent(type, &lb, &extent);
    far = extent * (count - 1);
    *lowest = true_lowest + (far < 0 ? far : 0);
    return span + (far < 0 ? -far : far);
}

/* Other bytes for each time. */
static void fill(struct put *put, unsigned salt)
{
    MPI_Aint lowest, span = span_of(put->origin, put->count, &lowest);
    CHECK(span < MEMORY);
    for (MPI_Aint i = 0; i < span; i++)
        put->memory[i] = (char)(salt * 31 + (unsigned)i * 7 + ((unsigned)i >> 8));
    put->begin = put->memory - lowest;
}

/* What lies before the first byte's place is in the part, too. */
static void put_one(const struct put *put)
{
    MPI_Aint lowest;
    span_of(put->placed, put->count, &lowest);
    MPI_Aint place = (MPI_Aint)check_rank * PART * PUTS_MAX + put->place - (lowest < 0 ? lowest : 0);
    MPI_Put(put->begin, put->count, put->origin, put->target, place, put->count, put->placed, win);
}

static void open_epoch(enum sync sync, MPI_Group others)
{
    if (sync == FENCE) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    } else if (sync == PSCW) {
        MPI_Win_post(others, 0, win);
        MPI_Win_start(others, 0, win);
    } else if (sync == LOCK_ALL || sync == LOCK_ALL_LOCAL) {
        MPI_Win_lock_all(0, win);
    } else {
        for (int target = 0; target < check_size; target++)
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
    }
}

static void close_epoch(enum sync sync)
{
    if (sync == FENCE) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    } else if (sync == PSCW) {
        MPI_Win_complete(win);
        MPI_Win_wait(win);
    } else if (sync == LOCK_ALL || sync == LOCK_ALL_LOCAL) {
        MPI_Win_unlock_all(win);
    } else {
        for (int target = 0; target < check_size; target++)
            MPI_Win_unlock(target, win);
    }
}

/* Completes at the origin what went to `target`, where the epoch allows it. */
static bool completes(enum sync sync, int target)
{
    if (sync == LOCK_FLUSH)
        MPI_Win_flush(target, win);
    else if (sync == LOCK_FLUSH_LOCAL)
        MPI_Win_flush_local(target, win);
    else if (sync == LOCK_ALL)
        MPI_Win_flush_all(win);
    else if (sync == LOCK_ALL_LOCAL)
        MPI_Win_flush_local_all(win);
    return sync == LOCK_FLUSH || sync == LOCK_FLUSH_LOCAL || sync == LOCK_ALL || sync == LOCK_ALL_LOCAL;
}

static void run_epoch(enum sync sync, MPI_Group others, struct put *puts, int count, int number, bool is_last)
{
    open_epoch(sync, others);
    for (int i = 0; i < count; i++) {
        fill(&puts[i], (unsigned)(number + i * 8 + check_rank * 64));
        put_one(&puts[i]);
    }
    /* Again to the same place: between the two the target's memory is ordered by a flush alone. */
    int again = (int)below((unsigned)count);
    if (completes(sync, puts[again].target)) {
        if (sync == LOCK_FLUSH || sync == LOCK_ALL) {
            fill(&puts[again], (unsigned)(number + 999));
            put_one(&puts[again]);
        } else {
            memset(puts[again].memory, FILLER, MEMORY);
        }
    }
    if (is_last)
        for (int i = 0; i < count; i++)
            if (puts[i].is_freed_early)
                MPI_Type_free(&puts[i].origin);
    close_epoch(sync);
    for (int i = 0; i < count; i++)
        memset(puts[i].memory, FILLER, MEMORY);
}

static void run_case(int number, struct put *puts, MPI_Group others)
{
    enum { REPEATS = 4 };
    enum sync sync = (enum sync)below(SYNCS);
    state ^= (uint32_t)(check_rank + 1) * 40503u; /* from here on each draws its own */
    int count = 1 + (int)below(PUTS_MAX), first = sync == PSCW;
    memset(window_memory, FILLER, (size_t)check_size * PART * PUTS_MAX);
    for (int i = 0; i < count; i++) {
        int target = (check_rank + first + (int)below((unsigned)(check_size - first))) % check_size;
        draw(&puts[i], target, (MPI_Aint)i * PART, below(3) == 0);
        MPI_Aint lowest, span = span_of(puts[i].placed, puts[i].count, &lowest);
        CHECK(span + (lowest > 0 ? lowest : 0) < PART);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int repeat = 0; repeat < REPEATS; repeat++)
        run_epoch(sync, others, puts, count, number * REPEATS + repeat, repeat == REPEATS - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) {
        if (!puts[i].is_freed_early)
            MPI_Type_free(&puts[i].origin);
        MPI_Type_free(&puts[i].placed);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    uint64_t digest = check_digest(window_memory, (size_t)check_size * PART * PUTS_MAX);
    MPI_Win_unlock(check_rank, win);
    char name[32];
    snprintf(name, sizeof name, "case-%d-%d", number, (int)sync);
    check_report(name, digest);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    CHECK(check_size <= RANKS_MAX);
    unsigned seed = (unsigned)strtoul(argc > 1 ? argv[1] : "1", NULL, 10);
    int cases = argc > 2 ? atoi(argv[2]) : 20;
    struct put puts[PUTS_MAX] = {0};
    for (int i = 0; i < PUTS_MAX; i++)
        CHECK((puts[i].memory = malloc(MEMORY)) != NULL);
    MPI_Win_allocate((MPI_Aint)check_size * PART * PUTS_MAX, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory,
                     &win);
    MPI_Group world, others;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &check_rank, &others);
    for (int number = 0; number < cases; number++) {
        state = (seed + (unsigned)number) * 2654435761u | 1;
        run_case(number, puts, others);
    }
    MPI_Group_free(&others);
    MPI_Group_free(&world);
    MPI_Win_free(&win);
    for (int i = 0; i < PUTS_MAX; i++)
        free(puts[i].memory);
    MPI_Finalize();
    return 0;
}
