/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: `deferred CASE [FLAG FILE]`: epochs whose target is late (HEADWAY_DEFER). Process 0 begins an
 * epoch on process 1, and only then tells it to open: where the beginning waits, as it does plain, the
 * program never ends. Operations of all kinds must have happened when the epoch ends, accumulates in their
 * order.
 *
 * `post`, `dynamic`: MPI_Win_start. `lock`: an exclusive lock, which process 1 holds; `flush` waits for it
 * with one. `fence`: MPI_MODE_NOPRECEDE. `thread`: process 0 makes no call of MPI before the data is at
 * process 1, which makes FLAG FILE then. `full`: more operations than are kept. `idle`: none, and no look of
 * the progress thread. `requests`: operations with requests, after the target was told. `errors`. */
#include "check.h"

#include <time.h>
#include <unistd.h>

enum { ORIGIN, TARGET, ROUNDS = 4, PLACES = 64, KEPT_MAX = 4096, GO = 1, OPEN = 2, PATIENCE_S = 60 };

static const char *mode;
static long *base;
static MPI_Win win;
static MPI_Aint start_of_target; /* of a dynamic window */

static bool is_case(const char *name) { return strcmp(mode, name) == 0; }

static MPI_Aint place(int number)
{
    return start_of_target + number * (MPI_Aint)(start_of_target ? sizeof(long) : 1);
}

static void make_window(void)
{
    static long memory[PLACES];
    if (!is_case("dynamic")) {
        MPI_Win_allocate(PLACES * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        return;
    }
    base = memory;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, base, sizeof memory);
    MPI_Get_address(base, &start_of_target);
    MPI_Bcast(&start_of_target, 1, MPI_AINT, TARGET, MPI_COMM_WORLD);
}

static void tell(int rank, int tag) { MPI_Send(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD); }
static void hear(int rank, int tag)
{
    MPI_Recv(NULL, 0, MPI_BYTE, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What the origin sends and gets: in place until the epoch ends. */
static struct {
    long put[4], gaps[4], one, got, fetched, old, swapped, wanted, product;
} data;

enum { PUT = 0, GAPS = 8, SUM = 16, FIXED = 17, COUNTER = 18, SWAP = 19, OLD = 20, ORDER = 21 };

/* The datatypes are freed before anything can have happened. */
static void operate(long round)
{
    static long ten = 10, three = 3;
    MPI_Datatype every_second;
    data.one = 1;
    data.wanted = round;
    data.product = 1000 + round;
    for (int i = 0; i < 4; i++) {
        data.put[i] = 100 * round + i;
        data.gaps[i] = 200 * round + i;
    }
    MPI_Type_vector(2, 1, 2, MPI_LONG, &every_second);
    MPI_Type_commit(&every_second);
    MPI_Put(data.put, 4, MPI_LONG, TARGET, place(PUT), 4, MPI_LONG, win);
    MPI_Put(data.gaps, 1, every_second, TARGET, place(GAPS), 1, every_second, win);
    MPI_Type_free(&every_second);
    MPI_Accumulate(&data.one, 1, MPI_LONG, TARGET, place(SUM), 1, MPI_LONG, MPI_SUM, win);
    MPI_Get(&data.got, 1, MPI_LONG, TARGET, place(FIXED), 1, MPI_LONG, win);
    MPI_Fetch_and_op(&data.one, &data.fetched, MPI_LONG, TARGET, place(COUNTER), MPI_SUM, win);
    MPI_Compare_and_swap(&data.product, &data.wanted, &data.swapped, MPI_LONG, TARGET, place(SWAP), win);
    MPI_Get_accumulate(NULL, 0, MPI_LONG, &data.old, 1, MPI_LONG, TARGET, place(OLD), 1, MPI_LONG, MPI_NO_OP,
                       win);
    /* In this order, or the place ends with another number. */
    MPI_Accumulate(&ten, 1, MPI_LONG, TARGET, place(ORDER), 1, MPI_LONG, MPI_REPLACE, win);
    MPI_Accumulate(&three, 1, MPI_LONG, TARGET, place(ORDER), 1, MPI_LONG, MPI_REPLACE, win);
}

static void prepare(long round)
{
    base[FIXED] = 7 + round;
    base[SWAP] = round;
    base[OLD] = 30 + round;
    base[ORDER] = base[PUT] = -1;
}

static void check_origin(long round)
{
    CHECK(data.got == 7 + round && data.old == 30 + round);
    CHECK(data.fetched == round && data.swapped == round);
}

static void check_target(long round)
{
    for (int i = 0; i < 4; i++)
        CHECK(base[PUT + i] == 100 * round + i);
    CHECK(base[GAPS] == 200 * round && base[GAPS + 2] == 200 * round + 2);
    CHECK(base[SUM] == round + 1 && base[COUNTER] == round + 1);
    CHECK(base[SWAP] == 1000 + round && base[ORDER] == 3);
}

/* Other calls of MPI, after which the operations are under way, if anybody looks. */
static void come_by(void)
{
    int flag;
    hear(TARGET, OPEN);
    for (int i = 0; i < 10; i++) {
        MPI_Iprobe(TARGET, OPEN, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        check_compute(100);
    }
}

static void post_and_wait(MPI_Group group)
{
    MPI_Win_post(group, 0, win);
    tell(ORIGIN, OPEN);
    MPI_Win_wait(win);
}

static void post_round(long round, MPI_Group group)
{
    if (check_rank == ORIGIN) {
        MPI_Win_start(group, 0, win);
        if (!is_case("idle"))
            operate(round);
        tell(TARGET, GO);
        come_by();
        MPI_Win_complete(win);
        if (!is_case("idle"))
            check_origin(round);
    } else if (check_rank == TARGET) {
        prepare(round);
        hear(ORIGIN, GO);
        post_and_wait(group);
        if (!is_case("idle"))
            check_target(round);
    }
}

static void lock_round(long round)
{
    bool is_first = is_case("flush");
    if (check_rank == TARGET) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
        prepare(round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == ORIGIN) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
        operate(round);
        tell(TARGET, GO);
        if (is_first) {
            MPI_Win_flush(TARGET, win);
            check_origin(round);
            hear(TARGET, OPEN);
        } else {
            come_by();
        }
        MPI_Win_unlock(TARGET, win);
        check_origin(round);
    } else if (check_rank == TARGET) {
        hear(ORIGIN, GO);
        MPI_Win_unlock(TARGET, win);
        tell(ORIGIN, OPEN);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == TARGET) {
        MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, win);
        check_target(round);
        MPI_Win_unlock(TARGET, win);
    }
}

/* A fence opens when the last process has come to it, which may take long: so the target says that the data
 * is there, and until then nobody ends the epoch. */
static void come_by_until_arrived(long round)
{
    volatile long *arrived = base;
    time_t until = time(NULL) + PATIENCE_S;
    int is_told = 0, flag;
    if (check_rank == TARGET) {
        while (arrived[PUT] != 100 * round && time(NULL) < until)
            MPI_Iprobe(ORIGIN, GO, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        tell(ORIGIN, OPEN);
    } else if (check_rank == ORIGIN) {
        while (!is_told)
            MPI_Iprobe(TARGET, OPEN, MPI_COMM_WORLD, &is_told, MPI_STATUS_IGNORE);
        hear(TARGET, OPEN);
    }
}

static void fence_round(long round)
{
    if (check_rank == TARGET)
        prepare(round);
    if (check_rank != ORIGIN)
        hear(ORIGIN, GO);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (check_rank == ORIGIN) {
        operate(round);
        for (int rank = 1; rank < check_size; rank++)
            tell(rank, GO);
    }
    come_by_until_arrived(round);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (check_rank == ORIGIN)
        check_origin(round);
    else if (check_rank == TARGET)
        check_target(round);
}

static void thread_round(MPI_Group group, const char *flag_file)
{
    volatile long *arrived = base;
    time_t until = time(NULL) + PATIENCE_S;
    int flag;
    if (check_rank == ORIGIN) {
        data.put[0] = 5;
        MPI_Win_start(group, 0, win);
        MPI_Put(data.put, 1, MPI_LONG, TARGET, place(0), 1, MPI_LONG, win);
        tell(TARGET, GO);
        while (access(flag_file, F_OK) != 0 && time(NULL) < until)
            check_compute(50);
        CHECK(access(flag_file, F_OK) == 0);
        MPI_Win_complete(win);
    } else if (check_rank == TARGET) {
        hear(ORIGIN, GO);
        MPI_Win_post(group, 0, win);
        while (*arrived != 5 && time(NULL) < until)
            MPI_Iprobe(ORIGIN, GO, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        FILE *made = *arrived == 5 ? fopen(flag_file, "w") : NULL;
        if (made)
            fclose(made);
        MPI_Win_wait(win);
    }
}

static void full_round(long round, MPI_Group group)
{
    if (check_rank == ORIGIN) {
        data.one = 1;
        MPI_Win_start(group, 0, win);
        for (int i = 0; i < KEPT_MAX; i++)
            MPI_Accumulate(&data.one, 1, MPI_LONG, TARGET, 0, 1, MPI_LONG, MPI_SUM, win);
        tell(TARGET, GO);
        for (int i = 0; i < 100; i++)
            MPI_Accumulate(&data.one, 1, MPI_LONG, TARGET, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_complete(win);
    } else if (check_rank == TARGET) {
        hear(ORIGIN, GO);
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
        CHECK(base[0] == (round + 1) * (KEPT_MAX + 100));
    }
}

static void request_round(long round, MPI_Group group)
{
    static long values[3], old;
    MPI_Request requests[4];
    if (check_rank == ORIGIN) {
        for (int i = 0; i < 3; i++)
            values[i] = round + i;
        MPI_Win_start(group, 0, win);
        MPI_Put(&values[0], 1, MPI_LONG, TARGET, 0, 1, MPI_LONG, win);
        tell(TARGET, GO);
        MPI_Rput(&values[1], 1, MPI_LONG, TARGET, 1, 1, MPI_LONG, win, &requests[0]);
        MPI_Raccumulate(&values[2], 1, MPI_LONG, TARGET, 2, 1, MPI_LONG, MPI_SUM, win, &requests[1]);
        MPI_Rget(&data.got, 1, MPI_LONG, TARGET, 3, 1, MPI_LONG, win, &requests[2]);
        MPI_Rget_accumulate(&values[0], 1, MPI_LONG, &old, 1, MPI_LONG, TARGET, 4, 1, MPI_LONG, MPI_SUM, win,
                            &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        CHECK(data.got == 40 + round && old == 50 + round);
        MPI_Win_complete(win);
    } else if (check_rank == TARGET) {
        base[2] = 0;
        base[3] = 40 + round;
        base[4] = 50 + round;
        hear(ORIGIN, GO);
        MPI_Win_post(group, 0, win);
        MPI_Win_wait(win);
        CHECK(base[0] == round && base[1] == round + 1 && base[2] == round + 2 && base[4] == 50 + 2 * round);
    }
}

static int class_of(int rc)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    return class;
}

/* At the call what concerns targets and epochs; at the epoch's end what was kept. */
static void error_round(MPI_Group group)
{
    long value = 1;
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (check_rank == ORIGIN) {
        CHECK(class_of(MPI_Win_complete(win)) == MPI_ERR_RMA_SYNC);
        MPI_Win_start(group, 0, win);
        CHECK(class_of(MPI_Win_start(group, 0, win)) == MPI_ERR_RMA_SYNC);
        CHECK(class_of(MPI_Put(&value, 1, MPI_LONG, check_size, 0, 1, MPI_LONG, win)) == MPI_ERR_RANK);
        CHECK(class_of(MPI_Put(&value, 1, MPI_LONG, ORIGIN, 0, 1, MPI_LONG, win)) == MPI_ERR_RMA_SYNC);
        CHECK(MPI_Put(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win) == MPI_SUCCESS);
        CHECK(MPI_Accumulate(&value, 1, MPI_LONG, TARGET, 1, 1, MPI_LONG, MPI_OP_NULL, win) == MPI_SUCCESS);
        CHECK(MPI_Put(&value, 1, MPI_LONG, TARGET, 0, 1, MPI_LONG, win) == MPI_SUCCESS);
        CHECK(MPI_Win_free(&win) != MPI_SUCCESS);
        tell(TARGET, GO);
        CHECK(class_of(MPI_Win_complete(win)) == MPI_ERR_OP);
        CHECK(class_of(MPI_Win_complete(win)) == MPI_ERR_RMA_SYNC);
    } else if (check_rank == TARGET) {
        base[0] = 0;
        hear(ORIGIN, GO);
        MPI_Win_post(group, 0, win);
        CHECK(MPI_Win_wait(win) == MPI_SUCCESS);
        CHECK(base[0] == 1);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == ORIGIN) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win);
        CHECK(class_of(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win)) == MPI_ERR_RMA_SYNC);
        CHECK(class_of(MPI_Win_lock_all(0, win)) == MPI_ERR_RMA_SYNC);
        tell(TARGET, GO);
        CHECK(MPI_Win_unlock(TARGET, win) == MPI_SUCCESS);
        CHECK(class_of(MPI_Win_unlock(TARGET, win)) == MPI_ERR_RMA_SYNC);
    } else if (check_rank == TARGET) {
        hear(ORIGIN, GO);
        MPI_Win_unlock(TARGET, win);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    check_begin();
    mode = argc > 1 ? argv[1] : "post";
    make_window();
    memset(base, 0, PLACES * sizeof *base);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group group = check_group_of(check_rank == ORIGIN ? TARGET : ORIGIN);
    for (long round = 0; round < (is_case("thread") || is_case("errors") ? 1 : ROUNDS); round++) {
        if (is_case("lock") || is_case("flush"))
            lock_round(round);
        else if (is_case("fence"))
            fence_round(round);
        else if (is_case("thread"))
            thread_round(group, argc > 2 ? argv[2] : "");
        else if (is_case("full"))
            full_round(round, group);
        else if (is_case("requests"))
            request_round(round, group);
        else if (is_case("errors"))
            error_round(group);
        else
            post_round(round, group);
    }
    MPI_Group_free(&group);
    check_report("sum", (uint64_t)(check_rank == TARGET ? base[SUM] : 0));
    if (is_case("dynamic"))
        MPI_Win_detach(win, base);
    if (is_case("fence")) /* one that nothing follows */
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    if (is_case("dynamic"))
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
