/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: lists that all processes append to at once, as in the examples of the standard (MPI-4.1
 * section 12.8). Over a dynamic window, elements in memory that ghosts can reach and in memory that they
 * cannot: the last element is found by compare-and-swap from wherever a process believes it. Over an
 * allocated window: the list's end is exchanged. Every element must be there, those of a process in the order
 * in which it appended them; everything else is up to the race. With the argument "attached" all elements are
 * attached before any is looked for. */
#include "check.h"

#include <stddef.h>

enum { ELEMENTS = 24, NOBODY = -1 };

struct place {
    MPI_Aint disp;
    int rank;
};

struct element {
    struct place next;
    int value;
};

static MPI_Win win;
static struct element *own[ELEMENTS];

static MPI_Aint next_rank_of(struct place at)
{
    return MPI_Aint_add(at.disp, offsetof(struct element, next.rank));
}

static MPI_Aint next_disp_of(struct place at)
{
    return MPI_Aint_add(at.disp, offsetof(struct element, next.disp));
}

/* Each process's values in turn, and none besides. */
static void check_value(int value, int next_values[])
{
    int rank = value / ELEMENTS;
    CHECK(value >= 0 && rank < check_size);
    CHECK(value % ELEMENTS == next_values[rank]);
    next_values[rank]++;
}

static void report(const char *name, const int next_values[])
{
    for (int i = 0; i < check_size; i++)
        CHECK(next_values[i] == ELEMENTS);
    check_report(name, check_digest(next_values, (size_t)check_size * sizeof *next_values));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- compare-and-swap ---- */

static struct place make_element(int index)
{
    struct element *made = NULL;
    if (index % 2)
        made = malloc(sizeof *made);
    else
        MPI_Alloc_mem(sizeof *made, MPI_INFO_NULL, &made);
    CHECK(made != NULL);
    *made = (struct element){.next = {.rank = NOBODY}, .value = check_rank * ELEMENTS + index};
    CHECK(MPI_Win_attach(win, made, sizeof *made) == MPI_SUCCESS);
    MPI_Win_sync(win);
    own[index] = made;
    struct place place = {.rank = check_rank};
    MPI_Get_address(made, &place.disp);
    return place;
}

/* Whoever wins sets the rank, and then where on that rank: 0 until then. */
static struct place wait_for_next(struct place at, int rank)
{
    struct place next = {.rank = rank};
    while (next.disp == 0) {
        MPI_Get_accumulate(NULL, 0, MPI_AINT, &next.disp, 1, MPI_AINT, at.rank, next_disp_of(at), 1, MPI_AINT,
                           MPI_NO_OP, win);
        MPI_Win_flush(at.rank, win);
    }
    return next;
}

/* From `last`, which may have successors by now; returns the new last. */
static struct place append(struct place last, struct place added)
{
    int nobody = NOBODY, found;
    for (;;) {
        MPI_Compare_and_swap(&added.rank, &nobody, &found, MPI_INT, last.rank, next_rank_of(last), win);
        MPI_Win_flush(last.rank, win);
        if (found == NOBODY)
            break;
        last = wait_for_next(last, found);
    }
    MPI_Accumulate(&added.disp, 1, MPI_AINT, last.rank, next_disp_of(last), 1, MPI_AINT, MPI_REPLACE, win);
    MPI_Win_flush(last.rank, win);
    return added;
}

static void walk(struct place at)
{
    int next_values[64] = {0};
    for (bool is_head = true; at.rank != NOBODY; is_head = false) {
        struct element here;
        MPI_Get(&here, sizeof here, MPI_BYTE, at.rank, at.disp, sizeof here, MPI_BYTE, win);
        MPI_Win_flush(at.rank, win);
        if (!is_head)
            check_value(here.value, next_values);
        at = here.next;
    }
    report("compare-and-swap", next_values);
}

static void try_dynamic(bool is_attached_first)
{
    struct element head = {.next = {.rank = NOBODY}};
    struct place first = {.rank = 0}, last, places[ELEMENTS];
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    CHECK(MPI_Win_attach(win, &head, sizeof head) == MPI_SUCCESS);
    MPI_Get_address(&head, &first.disp);
    MPI_Bcast(&first.disp, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    last = first;
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int i = 0; i < ELEMENTS && is_attached_first; i++)
        places[i] = make_element(i);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ELEMENTS; i++)
        last = append(last, is_attached_first ? places[i] : make_element(i));
    MPI_Barrier(MPI_COMM_WORLD);
    walk(first);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ELEMENTS; i++) {
        MPI_Win_detach(win, own[i]);
        if (i % 2)
            free(own[i]);
        else
            MPI_Free_mem(own[i]);
    }
    MPI_Win_detach(win, &head);
    MPI_Win_free(&win);
}

/* ---- exchange ---- */

/* Of a window: on rank 0 the list's end and its beginning, then everywhere the elements' successors. */
enum { LAST, FIRST, SUCCESSORS, WORDS = SUCCESSORS + ELEMENTS };

static int64_t fetch(int64_t value, MPI_Op op, int target, int place)
{
    int64_t found;
    MPI_Fetch_and_op(&value, &found, MPI_INT64_T, target, place, op, win);
    MPI_Win_flush(target, win);
    return found;
}

/* Elements have numbers from 1, by process. */
static int64_t next_of(int64_t element)
{
    if (element == 0)
        return fetch(0, MPI_NO_OP, 0, FIRST);
    int value = (int)element - 1;
    return fetch(0, MPI_NO_OP, value / ELEMENTS, SUCCESSORS + value % ELEMENTS);
}

static void link_after(int64_t element, int64_t added)
{
    int value = (int)element - 1;
    if (element == 0)
        fetch(added, MPI_REPLACE, 0, FIRST);
    else
        fetch(added, MPI_REPLACE, value / ELEMENTS, SUCCESSORS + value % ELEMENTS);
}

static void try_allocated(void)
{
    int64_t *base;
    int next_values[64] = {0};
    MPI_Win_allocate(WORDS * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, check_rank, 0, win);
    memset(base, 0, WORDS * sizeof *base);
    MPI_Win_unlock(check_rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ELEMENTS; i++) {
        int64_t added = check_rank * ELEMENTS + i + 1;
        link_after(fetch(added, MPI_REPLACE, 0, LAST), added);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t at = next_of(0); at != 0; at = next_of(at))
        check_value((int)at - 1, next_values);
    report("exchange", next_values);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    CHECK(check_size <= 64);
    try_dynamic(argc > 1 && strcmp(argv[1], "attached") == 0);
    try_allocated();
    MPI_Finalize();
    return 0;
}
