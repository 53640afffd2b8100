/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/calls/calls.h"

#include "base/atomic.h"
#include "base/clock.h"
#include "base/visibility.h"
#include "profile/callers/callers.h"
#include "profile/callers/comms.h"
#include "profile/callers/packings.h"
#include "profile/callers/sites.h"
#include "profile/calls/held.h"
#include "profile/calls/one_sided.h"
#include "profile/calls/requests.h"
#include "profile/calls/slices.h"
#include "profile/calls/spells.h"
#include "profile/python/python.h"
#include "profile/record/lock.h"
#include "profile/waits/moments.h"
#include "profile/waits/wire_windows.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { EVENT_COUNT = 2000 };

static bool is_on;

static uint64_t began_ns;
static bool is_clock_settled; /* under the lock */

/* The first calls, for a timeline. */
static struct {
    uint64_t start_ns, took_ns, bytes;
    unsigned site;
    int to, from; /* ranks of the world; negative: none, several, or not known */
} * events;
static unsigned event_count; /* under the lock, as all of these */
static bool is_event_new;    /* the call counted last is one of them */

static bool is_wanted(void)
{
    static const char *const no[] = {"", "0", "no", "off", "false"};
    const char *text = getenv("HEADWAY_PROFILE"); /* checked like every option, in MPI_Init */
    for (size_t i = 0; text && i < sizeof no / sizeof no[0]; i++)
        if (strcasecmp(text, no[i]) == 0)
            return false;
    return text != NULL;
}

void hw_profile_prepare(bool (*read)(struct hw_profile_wire *wire, bool is_first),
                        bool (*is_layer)(const char *path))
{
    if (began_ns || !is_wanted() || !hw_sites_open() || !hw_comms_open() || !hw_delays_open())
        return;
    events = calloc(EVENT_COUNT, sizeof *events);
    hw_clock_fast_begin();
    began_ns = hw_clock_fast_ns();
    hw_wire_prepare(read, began_ns);
    hw_slices_begin(began_ns);
    hw_moments_begin();
    hw_callers_prepare(is_layer);
    is_on = true;
}

bool hw_profile_is_on(void) { return is_on; }

bool hw_profile_thread_begin(void) { return is_on && hw_threads_begin(); }

void hw_profile_fork_prepare(void) { hw_profile_lock(); }
void hw_profile_fork_release(void) { hw_profile_unlock(); }

/* Under lock, as all that follows which adds to sites and communicators. */
static void count_on(struct hw_profile_comm *comm, uint64_t bytes, uint64_t took_ns)
{
    comm->calls++;
    comm->bytes += bytes;
    comm->call_ns += took_ns;
}

static struct hw_profile_site *count(const struct hw_profile_note *note)
{
    struct hw_profile_site *site = hw_sites_find(note->site, note->function, note->bytes);
    hw_sites_count(site, note->bytes, note->took_ns);
    if (note->comm)
        count_on(note->comm, note->bytes, note->took_ns);
    is_event_new = events && event_count < EVENT_COUNT;
    if (is_event_new) {
        events[event_count].start_ns = note->began_ns;
        events[event_count].took_ns = note->took_ns;
        events[event_count].bytes = note->bytes;
        events[event_count].to = events[event_count].from = HW_DELAY_NOBODY;
        events[event_count++].site = hw_sites_index(site);
    }
    return site;
}

/* Whom the call counted last was about, in ranks of the world. Under lock. */
static void tell_partners(int to, int from)
{
    if (!is_event_new)
        return;
    events[event_count - 1].to = to;
    events[event_count - 1].from = from;
}

/* Under lock. */
static void sum_up(struct hw_profile_thread *thread)
{
    unsigned noted = hw_atomic_load_acquire(&thread->note_count);
    while (thread->summed_count < noted)
        count(&thread->notes[thread->summed_count++]);
}

/* The calling thread's own. Calls are noted in the order they are made while a timeline wants them so. */
void hw_thread_sum_up(struct hw_profile_thread *mine, struct hw_delay_who who)
{
    hw_profile_lock();
    is_event_new = false;
    sum_up(mine);
    if (is_event_new) {
        who = hw_delays_in_world(&who);
        tell_partners(who.gives, who.takes);
    }
    mine->summed_count = 0;
    hw_atomic_store_relaxed(&mine->note_count, 0);
    mine->note_limit = events && event_count < EVENT_COUNT ? 1 : HW_NOTE_ENOUGH;
    if (!is_clock_settled)
        is_clock_settled = hw_clock_fast_settle();
    hw_profile_unlock();
}

void hw_profile_thread_end(void)
{
    if (!hw_profile_mine)
        return;
    hw_thread_sum_up(hw_profile_mine, HW_DELAY_NO_WHO);
    hw_slices_flush(&hw_profile_mine->slices);
    hw_profile_lock();
    hw_threads_end();
    hw_profile_unlock();
}

const void *hw_profile_note(uint64_t from_ns, const char *function, const void *site, uint64_t bytes)
{
    uint64_t ended_ns = hw_clock_fast_ns();
    const void *caller = hw_callers_find(site);
    hw_thread_note(hw_profile_mine, from_ns, ended_ns, function, caller, bytes, NULL, HW_DELAY_NO_WHO);
    return caller;
}

void hw_thread_delayed(struct hw_profile_thread *mine, struct hw_profile_note note, struct hw_delay_who who)
{
    hw_profile_lock();
    hw_delays_add(&mine->delays, &note, &who);
    hw_profile_unlock();
}

void hw_profile_enter(struct hw_profile_call *call, const char *function, const void *site, uint64_t bytes)
{
    call->function = function;
    call->site = site;
    call->bytes = bytes;
    call->comm = NULL;
    call->who = HW_DELAY_NO_WHO;
    call->is_sampled = call->is_unsized = call->wants_sources = false;
    call->held = call->inline_held;
    call->held_count = 0;
    call->held_capacity = HW_PROFILE_INLINE_HELD_COUNT;
    call->entered_ns = call->began_ns = hw_clock_fast_ns();
}

void hw_profile_leave(struct hw_profile_call *call)
{
    uint64_t ended_ns = hw_clock_fast_ns();
    call->took_ns = hw_thread_between_ns(call->began_ns, ended_ns);
    call->site = hw_callers_find(call->site);
    hw_thread_add_time(hw_profile_mine, ended_ns, call->took_ns);
}

static inline struct hw_profile_note note_of(const struct hw_profile_call *call)
{
    return (struct hw_profile_note){call->site,  call->function, call->comm,
                                    call->bytes, call->began_ns, call->took_ns};
}

/* A post or door. Under lock. */
static struct hw_profile_site *count_call(const struct hw_profile_call *call)
{
    struct hw_profile_note one = note_of(call);
    return count(&one);
}

static __attribute__((noinline)) void add_post(const struct hw_profile_call *call,
                                               const struct hw_delay_who *who, struct hw_profile_comm *comm,
                                               uint64_t took_ns)
{
    struct hw_profile_note one = note_of(call);
    one.took_ns = took_ns;
    one.comm = comm;
    hw_delays_post(&hw_profile_mine->delays, &one, who);
}

/* A post, or (took_ns is 0) part of one. Under lock. */
static void delay_post(const struct hw_profile_call *call, const struct hw_delay_who *who,
                       struct hw_profile_comm *comm, uint64_t took_ns)
{
    struct hw_delays *mine = &hw_profile_mine->delays;
    if (hw_delays_is_news(mine, call->began_ns, took_ns, who->gives != HW_DELAY_NOBODY))
        add_post(call, who, comm, took_ns);
    else
        hw_delays_pass(mine, call->site, call->function, call->bytes, call->began_ns + took_ns);
}

/* A probe that ended a spell: the wait for the message, as a blocking one would have it. */
static __attribute__((noinline)) void end_probes(const struct hw_profile_note *note,
                                                 const struct hw_delay_who *who, uint64_t waited_ns)
{
    struct hw_profile_note whole = *note;
    whole.began_ns = note->began_ns + note->took_ns - waited_ns;
    whole.took_ns = waited_ns;
    hw_profile_lock();
    hw_sites_find(note->site, note->function, note->bytes)->spun_ns += waited_ns;
    hw_delays_add(&hw_profile_mine->delays, &whole, who);
    hw_profile_unlock();
}

/* One in vain: whatever it took, the whole loop is what is waited. */
static void pass_in_vain(struct hw_profile_thread *mine, const struct hw_profile_note *note)
{
    const struct hw_delay_door nobody = {0};
    if (!hw_delays_is_news(&mine->delays, note->began_ns, 0, false)) {
        hw_delays_pass(&mine->delays, note->site, note->function, note->bytes,
                       note->began_ns + note->took_ns);
        return;
    }
    hw_profile_lock();
    hw_delays_door(&mine->delays, note, 0, &nobody);
    hw_profile_unlock();
}

void hw_profile_probed(const struct hw_profile_note *note, bool is_found, struct hw_delay_who who)
{
    struct hw_profile_thread *mine = hw_profile_mine;
    uint64_t ended_ns = note->began_ns + note->took_ns;
    hw_thread_add_time(mine, ended_ns, note->took_ns);
    uint64_t waited_ns = hw_spell_pass(HW_SPELL_PROBES, note->began_ns, ended_ns, note->took_ns, is_found);
    if (waited_ns)
        end_probes(note, &who, waited_ns);
    else if (is_found)
        hw_thread_delay(mine, note, &who);
    else
        pass_in_vain(mine, note);
    hw_thread_list(mine, note, who);
}

void hw_profile_count(struct hw_profile_call *call)
{
    hw_thread_keep(hw_profile_mine, note_of(call), call->who);
}

static void activate(struct hw_profile_request *request, const struct hw_profile_call *call)
{
    request->thread = hw_profile_mine;
    request->posted_ns = call->began_ns + call->took_ns;
    request->mpi_ns = hw_thread_mpi_ns(hw_profile_mine);
    request->is_active = true;
    const struct hw_wire_moment moment = {hw_profile_mine, request->posted_ns, request->mpi_ns};
    request->window = hw_wire_posted(&moment, request->function, request->bytes, request->is_unsized);
}

/* A collective whose ranks come in any order gives to others as well. */
static uint64_t taken_on(const struct hw_delay_who *who)
{
    return who->gives >= HW_DELAY_NOBODY && who->takes == HW_DELAY_ANYBODY ? who->handle : 0;
}

void hw_profile_posted(struct hw_profile_call *call, uint64_t handle, bool is_persistent)
{
    hw_profile_lock();
    struct hw_profile_site *site = count_call(call);
    const struct hw_delay_who who = hw_delays_in_world(&call->who);
    tell_partners(who.gives, who.takes);
    delay_post(call, is_persistent ? &HW_DELAY_NO_WHO : &who, call->comm, call->took_ns);
    struct hw_profile_request *request = hw_requests_new();
    if (request) {
        request->handle = handle;
        request->site = site;
        request->comm = call->comm;
        request->who = who;
        request->taken_on = taken_on(&call->who);
        request->bytes = call->bytes;
        request->function = call->function;
        request->is_unsized = call->is_unsized;
        request->is_persistent = is_persistent;
        request->is_active = false;
        request->window = 0;
        if (!is_persistent)
            activate(request, call);
        hw_requests_put(request);
    }
    hw_profile_unlock();
}

void hw_profile_start(struct hw_profile_call *call, uint64_t handle)
{
    hw_profile_lock();
    struct hw_profile_request *request = hw_requests_take(handle);
    if (request) {
        request->site = hw_sites_find(call->site, call->function, request->bytes);
        call->bytes += request->bytes;
        if (request->comm)
            count_on(request->comm, request->bytes, 0);
        delay_post(call, &request->who, request->comm, 0);
        activate(request, call);
        hw_requests_put(request);
    }
    hw_profile_unlock();
}

bool hw_profile_is_any_pending(void) { return hw_requests_is_any_known(); }

/* Whether the wire is to be looked at: a first test is no wait, and a spell needs one look only. */
static bool is_worth_a_look(const struct hw_profile_call *call, bool is_blocking)
{
    if (call->held_count == 0)
        return false;
    if (is_blocking)
        hw_spell_break();
    return is_blocking || (hw_spell_goes_on(HW_SPELL_TESTS, call->entered_ns) && !hw_spell_is_sampled());
}

void hw_profile_wait(struct hw_profile_call *call, bool is_blocking)
{
    if (call->held_count == 0)
        return;
    hw_profile_lock();
    hw_held_take(call);
    if (is_worth_a_look(call, is_blocking)) {
        const struct hw_wire_moment moment = {hw_profile_mine, call->entered_ns,
                                              hw_thread_mpi_ns(hw_profile_mine)};
        call->is_sampled = hw_wire_enter(&moment);
        hw_spell_set_sampled(call->is_sampled && !is_blocking);
    }
    hw_profile_unlock();
    if (call->is_sampled)
        call->began_ns = hw_clock_fast_ns();
}

/* Time the program spent outside MPI while the request was pending, before the door. */
static uint64_t computed_ns(const struct hw_profile_request *request, const struct hw_profile_call *call)
{
    if (call->entered_ns <= request->posted_ns)
        return 0;
    uint64_t pending_ns = call->entered_ns - request->posted_ns;
    if (request->thread != hw_profile_mine)
        return pending_ns; /* completed by another thread: what the first did meanwhile is not known */
    uint64_t inside_ns = hw_thread_mpi_ns(hw_profile_mine) - call->took_ns - request->mpi_ns;
    return pending_ns > inside_ns ? pending_ns - inside_ns : 0;
}

/* What the door completed is accounted to where it was posted. Returns the longest time computed. */
static uint64_t settle(const struct hw_profile_call *call, double blocked_per_byte)
{
    uint64_t longest_ns = 0;
    for (int i = 0; i < call->held_count; i++) {
        struct hw_profile_request *request = call->held[i].request;
        if (!call->held[i].is_complete) {
            hw_requests_put(request);
            continue;
        }
        uint64_t this_ns = computed_ns(request, call);
        longest_ns = this_ns > longest_ns ? this_ns : longest_ns;
        request->site->completed++;
        request->site->computed_ns += this_ns;
        uint64_t blocked_ns = (uint64_t)(blocked_per_byte * (double)(request->bytes + 1));
        request->site->blocked_ns += blocked_ns;
        if (request->comm) {
            request->comm->completed++;
            request->comm->computed_ns += this_ns;
            request->comm->blocked_ns += blocked_ns;
        }
        hw_wire_completed(request->window);
        if (request->is_persistent) {
            request->is_active = false;
            hw_requests_put(request);
        } else {
            hw_requests_release(request);
        }
    }
    return longest_ns;
}

/* How long the program waited in this door, or in the tests that end in it. */
static uint64_t waited_ns(const struct hw_profile_call *call, bool is_blocking, bool is_any_complete)
{
    if (is_blocking)
        return call->took_ns;
    return hw_spell_pass(HW_SPELL_TESTS, call->entered_ns, call->began_ns + call->took_ns, call->took_ns,
                         is_any_complete);
}

static __attribute__((noinline)) void add_door(const struct hw_profile_call *call, uint64_t waited_ns)
{
    struct hw_delay_door door = {0};
    const struct hw_profile_note one = note_of(call);
    for (int i = 0; i < call->held_count; i++) {
        const struct hw_delay_who who = hw_held_who(&call->held[i]);
        if (call->held[i].is_complete)
            hw_delays_door_add(&door, &who, call->held[i].request->comm);
    }
    hw_delays_door(&hw_profile_mine->delays, &one, waited_ns, &door);
}

/* For whom the program waited in this door. Under lock. */
static void delay_door(const struct hw_profile_call *call, uint64_t waited_ns)
{
    struct hw_delays *mine = &hw_profile_mine->delays;
    if (waited_ns > HW_DELAY_LEAST_NS || hw_delays_is_news(mine, call->began_ns, call->took_ns, true))
        add_door(call, waited_ns);
    else
        hw_delays_pass(mine, call->site, call->function, call->bytes, call->began_ns + call->took_ns);
}

static int one_of(int known, int other)
{
    if (other < 0 || other == known)
        return known;
    return known == HW_DELAY_NOBODY ? other : HW_DELAY_ANYBODY;
}

/* Under lock. */
static void tell_partners_of_door(const struct hw_profile_call *call)
{
    int to = HW_DELAY_NOBODY, from = HW_DELAY_NOBODY;
    for (int i = 0; is_event_new && i < call->held_count; i++) {
        if (!call->held[i].is_complete)
            continue;
        const struct hw_delay_who who = hw_held_who(&call->held[i]);
        to = one_of(to, who.gives);
        from = one_of(from, who.takes);
    }
    tell_partners(to, from);
}

/* Under lock. */
static void settle_door(struct hw_profile_call *call, struct hw_profile_site *site, int complete_count,
                        bool is_blocking, uint64_t took_ns)
{
    tell_partners_of_door(call);
    delay_door(call, took_ns);
    double shares = (double)call->bytes + (double)complete_count;
    uint64_t longest_ns = settle(call, shares > 0 ? (double)took_ns / shares : 0.0);
    if (is_blocking ? call->is_sampled : took_ns && hw_spell_is_sampled()) {
        const struct hw_wire_moment moment = {hw_profile_mine, call->began_ns + call->took_ns,
                                              hw_thread_mpi_ns(hw_profile_mine)};
        hw_wire_leave(&moment, site, took_ns, longest_ns, call->bytes);
        hw_spell_set_sampled(false);
    }
    site->completed += (uint64_t)complete_count;
    site->computed_ns += longest_ns;
    if (!is_blocking)
        site->spun_ns += took_ns;
}

void hw_profile_release(struct hw_profile_call *call, bool is_blocking)
{
    if (call->held_count == 0) {
        hw_profile_count(call);
        hw_held_free(call);
        return;
    }
    int complete_count = 0;
    for (int i = 0; i < call->held_count; i++) {
        if (!call->held[i].is_complete)
            continue;
        complete_count++;
        call->bytes += call->held[i].request->bytes;
    }
    uint64_t took_ns = waited_ns(call, is_blocking, complete_count > 0); /* takes the lock itself */
    hw_profile_lock();
    settle_door(call, count_call(call), complete_count, is_blocking, took_ns);
    hw_profile_unlock();
    hw_held_free(call);
}

void hw_profile_forget(uint64_t handle)
{
    hw_profile_lock();
    struct hw_profile_request *request = hw_requests_take(handle);
    if (request) {
        if (request->is_active)
            hw_wire_completed(request->window);
        hw_requests_release(request);
    }
    hw_profile_unlock();
}

uint64_t hw_profile_mpi_ns(void) { return is_on ? hw_threads_mpi_ns() : 0; }

static void write_events(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    unsigned count = 0;
    hw_profile_copy(&count, &event_count, sizeof count); /* those there are do not change any more */
    for (unsigned i = 0; events && i < count; i++)
        hw_record_add_event(list,
                            &(struct hw_record_event){
                                .start_us = (double)(events[i].start_ns - began_ns) / (double)HW_NS_PER_US,
                                .took_us = (double)events[i].took_ns / (double)HW_NS_PER_US,
                                .site = events[i].site,
                                .bytes = events[i].bytes,
                            });
}

static void write_partners(struct hw_record_list *list, const void *unused)
{
    (void)unused;
    for (unsigned i = 0; events && i < event_count; i++) {
        const int ranks[] = {events[i].to, events[i].from};
        for (unsigned way = 0; way < 2; way++)
            if (ranks[way] >= 0)
                hw_record_add_partner(
                    list, &(struct hw_record_partner){.event = i, .way = way, .rank = (uint64_t)ranks[way]});
    }
}

static int count_threads(void)
{
    int count = 0;
    bool is_locked = hw_profile_lock_to_read();
    for (const struct hw_profile_thread *thread = hw_threads_first(); thread; thread = thread->next)
        count++;
    hw_profile_unlock_read(is_locked);
    return count;
}

static void sum_up_all(void)
{
    if (hw_profile_mine)
        hw_slices_flush(&hw_profile_mine->slices);
    bool is_locked = hw_profile_lock_to_read();
    for (struct hw_profile_thread *thread = hw_threads_first(); thread; thread = thread->next)
        sum_up(thread);
    hw_wire_settle();
    hw_profile_unlock_read(is_locked);
}

void hw_profile_describe(struct hw_record_process *process, bool is_last)
{
    static struct hw_record_profile told;
    cpu_set_t cores;
    process->cores = HW_RECORD_ABSENT;
    process->mpi_s = -1;
    if (!is_on)
        return;
    sum_up_all();
    process->cores = sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0;
    process->mpi_s = (double)hw_profile_mpi_ns() / (double)HW_NS_PER_S;
    told = (struct hw_record_profile){.began_monotonic_s = (double)began_ns / (double)HW_NS_PER_S,
                                      .paused_s = hw_profile_paused_s(),
                                      .wire_bytes_per_s = hw_wire_fastest(),
                                      .python_refusal = hw_python_refusal(),
                                      .sites = {hw_sites_write, NULL},
                                      .gaps = {hw_delays_write_gaps, NULL},
                                      .exchanges = {hw_delays_write_exchanges, NULL},
                                      .moments = hw_moments_describe(count_threads()),
                                      .one_sided = hw_one_sided_describe(is_last),
                                      .communicators = {hw_comms_write, NULL},
                                      .slices = hw_slices_describe(hw_clock_fast_ns()),
                                      .events = {write_events, NULL},
                                      .partners = {write_partners, NULL},
                                      .derived = hw_packings_describe()};
    process->profile = &told;
}
