/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper, a service of a ghost (papers/003 section 4.1): reads what its user processes note of their
 * sends, passes that on to the receiver's helper, matches it with what the receiver has posted, and tells
 * both processes. Helpers of other nodes are told by messages, which nobody waits for: where there is no room
 * for one, it is lost. */
#include "ghost/service.h"

#include "base/clock.h"
#include "base/dice.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/helper/call.h"
#include "engines/helper/helper.h"
#include "engines/helper/match.h"
#include "ghost/registry.h"
#include "progress/helped.h"
#include "real/constants.h"
#include "real/real.h"
#include "world/world.h"

#include <stdlib.h>

enum { OUTGOING_MAX = 64, AHEAD_MAX = 16, TAG = 1 };

static bool is_open;     /* alike at all processes */
static MPI_Comm helpers; /* the ghosts in the order of hw_world.ghost_ranks; in user processes these */
static struct hw_helped_word **words; /* in the node's first user process: of all its user processes */
static int own_place;                 /* among them */
static int *user_place_of;            /* by rank in hw_world.all: among `users`; -1: another helper's */

static struct user {
    struct hw_helper_match match;
    struct hw_helper_call call;
} * users; /* that this ghost helps */
static int user_count;

static struct outgoing {
    struct hw_registry_notice notice;
    MPI_Request request;
    struct way *confirms; /* of an MPI_Issend; else NULL */
} * outgoing;
static struct way {
    struct outgoing *confirming; /* what its helper has not received yet; NULL: nothing */
    int ahead;                   /* sent from it on */
} * ways;                        /* by helper */
static MPI_Request *incoming;    /* by helper */
static struct hw_registry_notice *received;
static bool *has_ended; /* by helper: its last notice came */

static bool is_sent(struct outgoing *slot)
{
    int is_free = slot->request == HW_REQUEST_NULL;
    if (!is_free && hw_bottom.Test(&slot->request, &is_free, HW_STATUS_IGNORE) != MPI_SUCCESS)
        return false;
    if (is_free && slot->confirms) {
        slot->confirms->confirming = NULL;
        slot->confirms = NULL;
    }
    return is_free;
}

static struct outgoing *find_room(void)
{
    for (int i = 0; i < OUTGOING_MAX; i++)
        if (is_sent(&outgoing[i]))
            return &outgoing[i];
    return NULL;
}

/* Never far ahead of the receiver: libfabric's tcp holds back a connection that has brought 64 messages which
 * nobody has received, and with them what an MPI_Win_free of both helpers waits for. The first send of each
 * AHEAD_MAX is complete when it has been received. */
static void send(const struct hw_registry_notice *notice, int place)
{
    struct way *way = &ways[place];
    bool is_ahead = way->confirming && !is_sent(way->confirming);
    struct outgoing *slot = is_ahead && way->ahead == AHEAD_MAX ? NULL : find_room();
    if (slot == NULL)
        return;
    slot->notice = *notice;
    if ((is_ahead ? hw_bottom.Isend : hw_bottom.Issend)(&slot->notice, sizeof *notice, HW_BYTE, place, TAG,
                                                        helpers, &slot->request) != MPI_SUCCESS) {
        slot->request = HW_REQUEST_NULL;
        return;
    }
    way->ahead = is_ahead ? way->ahead + 1 : 1;
    if (!is_ahead) {
        way->confirming = slot;
        slot->confirms = way;
    }
}

static void deliver(const struct hw_registry_notice *told);

static void pass_on(const struct hw_registry_notice *notice, int process)
{
    int place = hw_world_ghost_place(process);
    if (place == own_place)
        deliver(notice);
    else
        send(notice, place);
}

/* The receiver is told before the sender, whose part begins with the receiver's answer. */
static void matched(const struct hw_registry_notice *notice)
{
    struct hw_registry_notice answer = *notice;
    hw_helper_call_match(&users[user_place_of[notice->to]].call);
    answer.kind = HW_REGISTRY_MATCHED;
    pass_on(&answer, notice->from);
}

/* For tests (HEADWAY_HELPER_DRAW): how often it is delivered, and what. */
static int falsify(struct hw_registry_notice *notice)
{
    enum { LOST, DOUBLED, WRONG, KINDS = 8 };
    static _Atomic uint64_t state;
    if (hw_atomic_load_relaxed(&state) == 0)
        hw_atomic_store_relaxed(&state, (uint64_t)hw_options.helper_draw * (uint64_t)(own_place + 1));
    uint64_t kind = hw_dice_roll(&state) % KINDS;
    if (kind == WRONG)
        notice->tag += 1;
    return kind == LOST ? 0 : kind == DOUBLED ? 2 : 1;
}

/* An origin of this node has asked itself, so that others see it at once. */
static void ring(struct user *user, const struct hw_registry_notice *notice)
{
    bool is_near = hw_world.processes[notice->from].node == hw_world_own_node();
    if (is_near || hw_helped_ask(&user->match.registry->word, notice->is_long))
        hw_helper_call_ask(&user->call);
}

static void deliver(const struct hw_registry_notice *told)
{
    struct hw_registry_notice notice = *told;
    int process = notice.kind == HW_REGISTRY_MATCHED ? notice.from : notice.to;
    int place = process >= 0 && process < hw_world.size ? user_place_of[process] : -1;
    if (place < 0)
        return;
    for (int left = hw_options.helper_draw ? falsify(&notice) : 1; left > 0; left--)
        if (notice.kind == HW_REGISTRY_RING)
            ring(&users[place], &notice);
        else if (notice.kind == HW_REGISTRY_MATCHED)
            hw_helper_call_match(&users[place].call);
        else if (hw_helper_match_send(&users[place].match, &notice))
            matched(&notice);
}

static bool serve_user(struct user *user)
{
    struct hw_registry_notice notice;
    bool has_done = false;
    while (hw_registry_take(user->match.registry, &notice)) {
        pass_on(&notice, notice.to);
        has_done = true;
    }
    while (hw_helper_match_next(&user->match, &notice)) {
        matched(&notice);
        has_done = true;
    }
    return has_done;
}

static void expect(int place)
{
    if (hw_bottom.Irecv(&received[place], sizeof received[place], HW_BYTE, place, TAG, helpers,
                        &incoming[place]) != MPI_SUCCESS)
        incoming[place] = HW_REQUEST_NULL;
}

static bool hear(int place)
{
    int is_there = 0;
    if (incoming[place] == HW_REQUEST_NULL ||
        hw_bottom.Test(&incoming[place], &is_there, HW_STATUS_IGNORE) != MPI_SUCCESS || !is_there)
        return false;
    if (received[place].kind == HW_REGISTRY_END) {
        has_ended[place] = true;
        return true;
    }
    deliver(&received[place]);
    expect(place);
    return true;
}

/* Of all users. Returns how long nothing is to be done; without MPI. */
static uint64_t call_again(void)
{
    uint64_t due_ns = UINT64_MAX, now_ns = 0;
    for (int i = 0; is_open && i < user_count; i++) {
        if (!users[i].call.is_owed)
            continue;
        now_ns = now_ns ? now_ns : hw_clock_now_ns();
        uint64_t next_ns = hw_helper_call_again(&users[i].call, now_ns);
        due_ns = next_ns < due_ns ? next_ns : due_ns;
    }
    return due_ns == UINT64_MAX || due_ns < now_ns ? due_ns : due_ns - now_ns;
}

static bool poll(void)
{
    bool has_done = false;
    call_again();
    for (int i = 0; is_open && i < user_count; i++)
        has_done = serve_user(&users[i]) || has_done;
    for (int i = 0; is_open && i < hw_world.ghost_count; i++)
        has_done = hear(i) || has_done;
    return has_done;
}

/* Known of processes of this node. */
static bool is_over(const struct hw_registry_notice *notice)
{
    const struct hw_registry *registry =
        hw_world.processes[notice->from].node == hw_world_own_node() ? hw_registry_of(notice->from) : NULL;
    return registry && hw_atomic_load_relaxed(&((struct hw_registry *)registry)->sent) > notice->number;
}

/* Whose helper is where. */
static bool find_users(void)
{
    user_place_of = calloc((size_t)hw_world.size, sizeof *user_place_of);
    users = calloc((size_t)hw_world.own_node->process_count, sizeof *users);
    outgoing = calloc(OUTGOING_MAX, sizeof *outgoing);
    ways = calloc((size_t)hw_world.ghost_count, sizeof *ways);
    incoming = calloc((size_t)hw_world.ghost_count, sizeof(MPI_Request));
    received = calloc((size_t)hw_world.ghost_count, sizeof *received);
    has_ended = calloc((size_t)hw_world.ghost_count, sizeof *has_ended);
    if (!user_place_of || !users || !outgoing || !ways || !incoming || !received || !has_ended)
        return false;
    own_place = hw_world_ghost_place(hw_world.rank);
    for (int i = 0; i < hw_world.size; i++) {
        const struct hw_world_process *process = &hw_world.processes[i];
        bool is_mine = process->user_rank >= 0 && process->ghost == hw_world.rank;
        user_place_of[i] = is_mine ? user_count : -1;
        struct hw_registry *registry = is_mine ? hw_registry_of(i) : NULL;
        if (is_mine && registry == NULL)
            return false;
        if (is_mine) {
            hw_helper_match_begin(&users[user_count].match, registry, is_over);
            hw_helper_call_begin(&users[user_count++].call, &registry->word, process->local_index);
        }
    }
    return true;
}

/* Collective over the world. */
static void open_registries(void)
{
    bool is_made = hw_registry_make();
    int color = hw_world_is_ghost();
    bool has_room = is_made && (!hw_world_is_ghost() || find_users());
    is_open = hw_world_have_all(hw_world.all, has_room) &&
              hw_world_have_all(hw_world.all, hw_bottom.Comm_split(hw_world.all, color, own_place,
                                                                   &helpers) == MPI_SUCCESS);
    if (!is_open)
        hw_log_info("no memory that helpers and processes share; the progress thread ticks");
}

static void begin(void)
{
    open_registries();
    for (int i = 0; i < OUTGOING_MAX && is_open; i++)
        outgoing[i].request = HW_REQUEST_NULL;
    for (int i = 0; i < hw_world.ghost_count && is_open; i++) {
        incoming[i] = HW_REQUEST_NULL;
        if (i != own_place)
            expect(i);
    }
}

/* Every user process is in MPI_Finalize. An END is the last that a helper sends to another. */
static void end(void)
{
    const struct hw_registry_notice last = {.kind = HW_REGISTRY_END};
    if (is_open) {
        for (int i = 0; i < hw_world.ghost_count; i++)
            if (i != own_place)
                hw_bottom.Send(&last, sizeof last, HW_BYTE, i, TAG, helpers);
        for (int i = 0; i < hw_world.ghost_count; i++)
            while (i != own_place && !has_ended[i] && incoming[i] != HW_REQUEST_NULL)
                hear(i);
        for (int i = 0; i < OUTGOING_MAX; i++)
            hw_bottom.Wait(&outgoing[i].request, HW_STATUS_IGNORE);
        hw_bottom.Comm_free(&helpers);
    }
    is_open = false;
    hw_registry_free();
}

/* Of the node, for a thread that may not call MPI. */
static void find_words(void)
{
    int user_count = hw_world_own_user_count();
    words = calloc((size_t)user_count + 1, sizeof(void *)); /* NULL ends them */
    for (int i = 0, found = 0; words && i < hw_world.size && found < user_count; i++) {
        const struct hw_world_process *process = &hw_world.processes[i];
        struct hw_registry *registry = NULL;
        if (process->node == hw_world_own_node() && process->user_rank >= 0)
            registry = hw_registry_of(i);
        if (registry)
            words[found++] = &registry->word;
    }
}

static enum hw_status open_user(void)
{
    open_registries();
    if (is_open && hw_world.processes[hw_world.rank].local_index == 0)
        find_words();
    return HW_OK;
}

static void lost(void)
{
    hw_log_warn("the helper of this node has ended; progress threads look by a timer; see what ended it");
    for (int i = 0; words && words[i]; i++)
        hw_helped_lose(words[i]);
}

static bool was_lost(void)
{
    int own = hw_helped_is_lost(), any = own;
    if (is_open)
        hw_bottom.Allreduce(&own, &any, 1, HW_INT, HW_MAX, helpers);
    return any;
}

static void close_user(void)
{
    if (is_open)
        hw_bottom.Comm_free(&helpers);
    is_open = false;
    free(words);
    words = NULL;
    hw_helped_close();
    hw_registry_free();
}

bool hw_helper_is_open(void) { return is_open; }

static const struct hw_ghost_service service = {
    .name = "helper",
    .begin = begin,
    .end = end,
    .poll = poll,
    .asleep = call_again,
    .open = open_user,
    .lost = lost,
    .was_lost = was_lost,
    .close = close_user,
};

void hw_helper_prepare(void)
{
    if (hw_ghost_service_add(&service) != HW_OK)
        hw_log_error("there are too many services of ghosts");
}
