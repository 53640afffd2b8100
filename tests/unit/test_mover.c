/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: a ghost moves messages of two user processes that it serves itself, through an MPI that the
 * test makes up, which matches by tag and completes what it is told to, when it is told to. */
#include "base/options.h"
#include "engines/p2p/ghost/credits.h"
#include "engines/p2p/ghost/incoming.h"
#include "engines/p2p/ghost/outgoing.h"
#include "engines/p2p/ghost/users.h"
#include "engines/p2p/ghost/wire.h"
#include "engines/p2p/shared/opened.h"
#include "engines/p2p/shared/room.h"
#include "engines/p2p/user/staged.h"
#include "real/constants.h"
#include "real/table.h"
#include "world/world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    USERS = 2,
    GHOST = 2,
    CHUNK = 256 * 1024,
    STAGING_BYTES = 128 * CHUNK,
    TRANSFERS = 32768,
    HANDLE_BASE = 1000,
    HANDLE_STEP = 8
};

/* ---- an MPI -------------------------------------------------------------------------------------------- */

static struct transfer {
    bool is_used, is_receive, is_complete;
    int tag, bytes, came;
    const char *from;
    char *to;
    int partner; /* -1: not matched */
} transfers[TRANSFERS];
static int transfer_count, first_open, data_sends, empty_sends, open_data_sends, most_open;
static bool is_stopped; /* nothing of data completes */

static MPI_Request handle_of(int number)
{
    return (MPI_Request)(uintptr_t)(HANDLE_BASE + number * HANDLE_STEP);
}
static struct transfer *transfer_of(MPI_Request request)
{
    return &transfers[((int)(uintptr_t)request - HANDLE_BASE) / HANDLE_STEP];
}

/* In order of posting, of one tag. */
static void match(int number)
{
    struct transfer *own = &transfers[number];
    while (first_open < number && transfers[first_open].partner >= 0)
        first_open++;
    for (int i = first_open; i < transfer_count; i++) {
        struct transfer *other = &transfers[i];
        if (i == number || other->partner >= 0 || other->tag != own->tag ||
            other->is_receive == own->is_receive)
            continue;
        other->partner = number;
        own->partner = i;
        return;
    }
}

static int post(bool is_receive, const void *from, void *to, int bytes, int tag, MPI_Request *request)
{
    assert_true(transfer_count < TRANSFERS);
    int number = transfer_count++;
    transfers[number] = (struct transfer){.is_used = true,
                                          .is_receive = is_receive,
                                          .from = from,
                                          .to = to,
                                          .bytes = bytes,
                                          .tag = tag,
                                          .partner = -1};
    match(number);
    *request = handle_of(number);
    return MPI_SUCCESS;
}

static int fake_isend(const void *data, int bytes, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    (void)type, (void)to, (void)comm;
    data_sends += tag != 1;
    empty_sends += bytes == 0;
    open_data_sends += tag != 1;
    if (open_data_sends > most_open)
        most_open = open_data_sends;
    return post(false, data, NULL, bytes, tag, request);
}

static int fake_irecv(void *data, int bytes, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Request *request)
{
    (void)type, (void)from, (void)comm;
    return post(true, NULL, data, bytes, tag, request);
}

static bool complete(struct transfer *own)
{
    if (own->is_complete || own->partner < 0 || (is_stopped && own->tag != 1))
        return own->is_complete;
    struct transfer *other = &transfers[own->partner];
    struct transfer *send = own->is_receive ? other : own, *receive = own->is_receive ? own : other;
    assert_true(send->bytes <= receive->bytes);
    memcpy(receive->to, send->from, (size_t)send->bytes);
    receive->came = send->bytes;
    send->is_complete = receive->is_complete = true;
    open_data_sends -= send->tag != 1;
    return true;
}

/* Keeps the count of what came where MPI keeps a message's error. */
static int fake_test(MPI_Request *request, int *flag, MPI_Status *status)
{
    *flag = *request == HW_REQUEST_NULL || complete(transfer_of(*request));
    if (*flag && *request != HW_REQUEST_NULL) {
        if (status != HW_STATUS_IGNORE)
            status->MPI_ERROR = transfer_of(*request)->came;
        *request = HW_REQUEST_NULL;
    }
    return MPI_SUCCESS;
}

static int fake_get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    (void)type;
    *count = status->MPI_ERROR;
    return MPI_SUCCESS;
}

static int fake_testsome(int count, MPI_Request *requests, int *out, int *indices, MPI_Status *statuses)
{
    (void)statuses;
    bool has_one = false;
    *out = 0;
    for (int i = 0; i < count; i++) {
        int flag;
        if (requests[i] == HW_REQUEST_NULL)
            continue;
        has_one = true;
        fake_test(&requests[i], &flag, HW_STATUS_IGNORE);
        if (flag)
            indices[(*out)++] = i;
    }
    if (!has_one)
        *out = HW_UNDEFINED;
    return MPI_SUCCESS;
}

static int fake_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    (void)color, (void)key;
    *made = comm;
    return MPI_SUCCESS;
}

static int fake_free(MPI_Comm *comm)
{
    *comm = HW_COMM_NULL;
    return MPI_SUCCESS;
}

/* ---- a ghost and two user processes of another node, all of them this process ---------------------------
 */

static struct hw_world_process processes[] = {
    {.node = 1, .user_rank = 0, .local_index = 0, .ghost = GHOST},
    {.node = 1, .user_rank = 1, .local_index = 1, .ghost = GHOST},
    {.user_rank = -1, .local_index = 0, .ghost = GHOST},
};
static struct hw_world_node nodes[] = {{.process_count = 1, .ghost_count = 1}, {.process_count = USERS}};
static const struct hw_world_node whole = {.process_count = USERS + 1, .ghost_count = 1};
static int ghost_ranks[] = {GHOST}, user_ranks[] = {0, 1};

static struct hw_p2p_block *blocks[USERS];
static struct hw_queue_producer producers[USERS];
static struct {
    uint64_t count, bytes;
} sent[USERS];

static void *map(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static int set_up(void **state)
{
    (void)state;
    memset(transfers, 0, sizeof transfers);
    transfer_count = first_open = data_sends = empty_sends = open_data_sends = most_open = 0;
    is_stopped = false;
    memset(sent, 0, sizeof sent);
    bool is_made = hw_p2p_wire_open() && hw_p2p_users_make() && hw_p2p_outgoing_open() &&
                   hw_p2p_incoming_open() && hw_p2p_credits_open() &&
                   (hw_p2p_opened.room = map(hw_p2p_room_bytes(0))) != MAP_FAILED;
    for (int i = 0; is_made && i < USERS; i++) {
        void *memory = map(hw_p2p_block_bytes());
        is_made = memory != MAP_FAILED;
        if (!is_made)
            break;
        blocks[i] = memory;
        hw_queue_make(hw_p2p_queue_of(blocks[i]), HW_P2P_CELLS);
        is_made = hw_queue_produce(&producers[i], hw_p2p_queue_of(blocks[i]), false) &&
                  hw_p2p_users_add(i, getpid(), blocks[i]) != NULL;
    }
    hw_p2p_wire_listen();
    return is_made ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    hw_p2p_incoming_close();
    hw_p2p_outgoing_close();
    hw_p2p_credits_close();
    hw_p2p_users_drop();
    munmap(hw_p2p_opened.room, hw_p2p_room_bytes(0));
    hw_p2p_wire_free();
    return 0;
}

/* What service.c does in a turn. */
static bool turn(void)
{
    struct hw_p2p_note note;
    int place;
    bool has_done = hw_p2p_outgoing_advance();
    while (hw_p2p_wire_hear(&place, &note)) {
        assert_int_equal(place, 0);
        has_done = true;
        if (note.kind == HW_P2P_NOTE_OFFER)
            hw_p2p_incoming_offered(place, &note);
        else if (note.kind == HW_P2P_NOTE_FREED)
            hw_p2p_incoming_freed(&note);
        else if (note.kind != HW_P2P_NOTE_END)
            hw_p2p_credits_heard(&note);
    }
    has_done = hw_p2p_incoming_advance() || has_done;
    has_done = hw_p2p_incoming_give_back() || has_done;
    return hw_p2p_credits_advance() || has_done;
}

static void turn_until_idle(void)
{
    for (int idle = 0; idle < 3;)
        idle = turn() ? 0 : idle + 1;
}

/* NULL: there is no room, or the queue has none. */
static struct hw_queue_cell *send_from(int from, const char *data, uint64_t bytes)
{
    struct hw_p2p_out *out = hw_p2p_out_of(blocks[from], !from);
    struct hw_p2p_credit *credit = hw_p2p_credit_of(blocks[from], 0);
    uint32_t units = (uint32_t)hw_p2p_units_of(bytes);
    if (sent[from].count - out->freed_count >= HW_P2P_ENTRIES)
        return NULL;
    if (!hw_p2p_credit_take(credit, units)) {
        blocks[from]->misses += credit->wanted == 0;
        credit->wanted = credit->wanted == 0 ? units : credit->wanted;
        return NULL;
    }
    struct hw_p2p_job job = {
        .number = sent[from].count, .address = (uint64_t)(uintptr_t)data, .bytes = bytes, .to = !from};
    struct hw_queue_cell *cell = hw_queue_put(&producers[from], &job, sizeof job, HW_QUEUE_READY);
    if (cell == NULL)
        hw_p2p_credit_give(credit, units);
    sent[from].count += cell != NULL;
    sent[from].bytes += cell ? bytes : 0;
    return cell;
}

static bool has_arrived(int from, uint64_t number)
{
    struct hw_p2p_entry *entry = hw_p2p_entry_of(blocks[!from], from, number);
    return entry->state == HW_P2P_ENTRY_ARRIVED && entry->number == number;
}

static void consume(int from, uint64_t number)
{
    struct hw_p2p_entry *entry = hw_p2p_entry_of(blocks[!from], from, number);
    assert_true(has_arrived(from, number));
    hw_atomic_store_release(&entry->state, HW_P2P_ENTRY_CONSUMED);
    hw_atomic_add_seq_cst(&blocks[!from]->consumed, 1);
}

static char *data_of(uint64_t bytes, unsigned seed)
{
    char *data = malloc(bytes);
    assert_non_null(data);
    for (uint64_t i = 0; i < bytes; i++)
        data[i] = (char)(seed + i * 31 + i / 4096);
    return data;
}

static void check_staged(int from, uint64_t number, const char *data, uint64_t bytes)
{
    char *copy = malloc(bytes);
    assert_non_null(copy);
    hw_p2p_staged_copy(hw_p2p_entry_of(blocks[!from], from, number), bytes, copy);
    assert_memory_equal(copy, data, bytes);
    free(copy);
}

/* Every unit is free, or a credit that its owner has, and knows of. */
static void check_all_back(void)
{
    const struct hw_p2p_pool *pool = hw_p2p_credits_pool();
    uint32_t given = 0;
    for (int i = 0; i < USERS; i++) {
        given += pool->accounts[i].given;
        assert_int_equal(pool->accounts[i].given, hw_p2p_credit_of(blocks[i], 0)->units);
    }
    assert_int_equal(pool->used_count, 0);
    assert_int_equal(pool->free_count + given, pool->unit_count);
}

/* ---- tests --------------------------------------------------------------------------------------------- */

static void moves_it_to_staging(void **state)
{
    (void)state;
    uint64_t bytes = CHUNK * 3 + 1000;
    char *data = data_of(bytes, 1);
    struct hw_queue_cell *cell = send_from(0, data, bytes);
    turn_until_idle();
    assert_true(hw_queue_is_done(cell));
    assert_int_equal(cell->error, 0);
    assert_int_equal(data_sends, 4);
    assert_true(has_arrived(0, 0));
    struct hw_p2p_entry *entry = hw_p2p_entry_of(blocks[1], 0, 0);
    assert_int_equal(entry->bytes, bytes);
    assert_int_equal(entry->error, 0);
    assert_true(hw_queue_ended(hw_p2p_queue_of(blocks[1])) > 0); /* who sleeps for it is woken */
    check_staged(0, 0, data, bytes);
    assert_int_equal(blocks[0]->moved_messages, 1);
    assert_int_equal(blocks[0]->moved_bytes, bytes);
    assert_int_equal(hw_p2p_out_of(blocks[0], 1)->freed_count, 0);
    consume(0, 0);
    turn_until_idle();
    assert_int_equal(hw_p2p_out_of(blocks[0], 1)->freed_count, 1);
    check_all_back();
    assert_int_equal(entry->state, HW_P2P_ENTRY_FREE);
    free(data);
}

/* The sender's memory has been read while nobody receives. */
static void done_before_it_arrives(void **state)
{
    (void)state;
    uint64_t bytes = CHUNK * 4;
    char *data = data_of(bytes, 2), *copy = data_of(bytes, 2);
    is_stopped = true;
    struct hw_queue_cell *cell = send_from(0, data, bytes);
    turn_until_idle();
    assert_true(hw_queue_is_done(cell));
    assert_false(has_arrived(0, 0));
    memset(data, 0, bytes);
    is_stopped = false;
    turn_until_idle();
    assert_true(has_arrived(0, 0));
    check_staged(0, 0, copy, bytes);
    free(data);
    free(copy);
}

/* More than there are copies of chunks, both ways: none of the messages waits for the end of another. */
static void both_directions_in_turns(void **state)
{
    (void)state;
    enum { COUNT = 3 };
    uint64_t bytes = CHUNK * 5;
    char *data[2][COUNT];
    struct hw_queue_cell *cells[2][COUNT];
    is_stopped = true;
    for (int i = 0; i < COUNT; i++) {
        for (int from = 0; from < 2; from++) {
            data[from][i] = data_of(bytes, (unsigned)(from * 7 + i));
            cells[from][i] = send_from(from, data[from][i], bytes);
            assert_non_null(cells[from][i]);
        }
    }
    turn_until_idle();
    int read_bytes = 0;
    for (int i = 0; i < transfer_count; i++)
        read_bytes += transfers[i].is_receive || transfers[i].tag == 1 ? 0 : transfers[i].bytes;
    assert_int_equal(read_bytes, 16 * CHUNK); /* bounded */
    for (int from = 0; from < 2; from++)
        for (int i = 0; i < COUNT; i++)
            assert_false(hw_queue_is_done(cells[from][i])); /* each had its turns */
    is_stopped = false;
    turn_until_idle();
    for (int from = 0; from < 2; from++) {
        for (int i = 0; i < COUNT; i++) {
            assert_true(hw_queue_is_done(cells[from][i]));
            assert_true(has_arrived(from, (uint64_t)i));
            check_staged(from, (uint64_t)i, data[from][i], bytes);
            free(data[from][i]);
        }
    }
    assert_int_equal(most_open, 16);
}

static void memory_that_is_not_there(void **state)
{
    (void)state;
    uint64_t bytes = CHUNK * 2, page = (uint64_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED && munmap(memory + CHUNK, bytes + page - CHUNK) == 0);
    char *good = data_of(1000, 3);
    struct hw_queue_cell *bad = send_from(0, memory, bytes), *next = send_from(0, good, 1000);
    turn_until_idle();
    assert_true(hw_queue_is_done(bad));
    assert_int_equal(bad->error, EFAULT);
    assert_true(has_arrived(0, 0));
    assert_int_equal(hw_p2p_entry_of(blocks[1], 0, 0)->error, EFAULT);
    assert_int_equal(empty_sends, 1);
    assert_true(hw_queue_is_done(next));
    assert_int_equal(next->error, 0);
    assert_true(has_arrived(0, 1));
    assert_int_equal(hw_p2p_entry_of(blocks[1], 0, 1)->error, 0);
    munmap(memory, CHUNK);
    free(good);
}

/* Room is given back in any order, numbers in theirs. */
static void what_is_given_back_early(void **state)
{
    (void)state;
    char *data = data_of(1000, 4);
    const struct hw_p2p_credit *credit = hw_p2p_credit_of(blocks[0], 0);
    uint32_t before = credit->units;
    for (int i = 0; i < 3; i++)
        assert_non_null(send_from(0, data, 1000));
    turn_until_idle();
    const struct hw_p2p_out *out = hw_p2p_out_of(blocks[0], 1);
    assert_int_equal(credit->units, before - 3);
    consume(0, 2);
    consume(0, 1);
    turn_until_idle();
    assert_int_equal(out->freed_count, 0);
    assert_int_equal(credit->units, before - 1);
    consume(0, 0);
    turn_until_idle();
    assert_int_equal(out->freed_count, 3);
    assert_int_equal(credit->units, before);
    check_all_back();
    free(data);
}

/* One sends more than it has from the start, and gets what the other does not use, in the end all but what
 * that one uses itself. */
static void credit_follows_the_traffic(void **state)
{
    (void)state;
    enum { LARGE = 3 }; /* quarters of the room */
    uint64_t bytes = (uint64_t)STAGING_BYTES / 4 * LARGE;
    char *data = data_of(bytes, 9);
    assert_null(send_from(0, data, bytes));
    turn_until_idle();
    struct hw_queue_cell *cell = send_from(0, data, bytes);
    assert_non_null(cell);
    turn_until_idle();
    assert_true(has_arrived(0, 0));
    check_staged(0, 0, data, bytes);
    assert_null(send_from(1, data, bytes)); /* there is no room: it waits for what is given back */
    turn_until_idle();
    assert_null(send_from(1, data, bytes));
    consume(0, 0);
    turn_until_idle();
    assert_non_null(send_from(1, data, bytes));
    turn_until_idle();
    assert_true(has_arrived(1, 0));
    consume(1, 0);
    turn_until_idle();
    check_all_back();
    free(data);
}

struct pending {
    struct hw_queue_cell *cell;
    uint64_t bytes, at;
};
enum { BYTES_MAX = 900 * 1024, ROUNDS = 3000, PENDING_MAX = 64, LATE_EACH = 800 };

static void take_one(int from, uint64_t number, const struct pending *pending, const char *data)
{
    assert_true(hw_queue_is_done(pending->cell));
    hw_queue_release(pending->cell);
    check_staged(from, number, data + pending->at, pending->bytes);
    consume(from, number);
}

/* Random lengths through room, entries and queue, all of them used up and round their ends many times. Now
 * and then nobody takes what has come. */
static void random_traffic(void **state)
{
    (void)state;
    char *data = data_of(BYTES_MAX + 256, 5);
    static struct pending pending[2][PENDING_MAX];
    uint64_t taken[2] = {0, 0};
    int refused = 0;
    srand(17);
    for (int round = 0; round < ROUNDS || taken[0] < sent[0].count || taken[1] < sent[1].count; round++) {
        int from = rand() % 2, taker = rand() % 2, most = rand() % 4 ? 5000 : BYTES_MAX;
        uint64_t bytes = (uint64_t)(rand() % most) + 1;
        uint64_t at = (uint64_t)(rand() % 256), number = sent[from].count;
        bool is_late = round % LATE_EACH < LATE_EACH / 4;
        struct hw_queue_cell *cell = round < ROUNDS ? send_from(from, data + at, bytes) : NULL;
        refused += cell == NULL && round < ROUNDS;
        if (cell)
            pending[from][number % PENDING_MAX] = (struct pending){cell, bytes, at};
        is_stopped = round < ROUNDS && rand() % 3 == 0;
        for (int i = rand() % 4; i > 0; i--)
            turn();
        while (!is_late && rand() % 3 && taken[taker] < sent[taker].count &&
               has_arrived(taker, taken[taker])) {
            take_one(taker, taken[taker], &pending[taker][taken[taker] % PENDING_MAX], data);
            taken[taker]++;
        }
    }
    turn_until_idle();
    check_all_back();
    assert_true(refused > 0);
    assert_true(sent[0].bytes > 4 * STAGING_BYTES && sent[0].count > 2 * HW_P2P_ENTRIES);
    free(data);
}

static void end_is_said_and_heard(void **state)
{
    (void)state;
    char *data = data_of(1000, 6);
    send_from(0, data, 1000);
    turn_until_idle();
    assert_true(hw_p2p_outgoing_is_idle());
    assert_true(hw_p2p_incoming_is_idle());
    assert_false(hw_p2p_wire_has_ended());
    hw_p2p_wire_say_end();
    turn_until_idle();
    assert_true(hw_p2p_wire_has_ended());
    free(data);
}

int main(void)
{
    hw_real_pretend_loaded();
    hw_bottom.Isend = fake_isend;
    hw_bottom.Irecv = fake_irecv;
    hw_bottom.Test = fake_test;
    hw_bottom.Testsome = fake_testsome;
    hw_bottom.Get_count = fake_get_count;
    hw_bottom.Comm_split = fake_split;
    hw_bottom.Comm_free = fake_free;
    hw_world = (struct hw_world){.rank = GHOST,
                                 .size = USERS + 1,
                                 .user_rank = -1,
                                 .user_count = USERS,
                                 .node_count = 1,
                                 .ghost_count = 1,
                                 .processes = processes,
                                 .nodes = nodes,
                                 .own_node = &whole,
                                 .user_ranks = user_ranks,
                                 .ghost_ranks = ghost_ranks};
    hw_options.staging_bytes = STAGING_BYTES;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(moves_it_to_staging, set_up, tear_down),
        cmocka_unit_test_setup_teardown(done_before_it_arrives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(both_directions_in_turns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_that_is_not_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_given_back_early, set_up, tear_down),
        cmocka_unit_test_setup_teardown(credit_follows_the_traffic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(random_traffic, set_up, tear_down),
        cmocka_unit_test_setup_teardown(end_is_said_and_heard, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
