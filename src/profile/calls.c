#include "profile/calls.h"

#include "base/clock.h"
#include "base/visibility.h"
#include "profile/callers.h"
#include "profile/comms.h"
#include "profile/record.h"
#include "profile/sites.h"
#include "profile/slices.h"
#include "profile/wire_windows.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { BUCKET_COUNT = 4096, SLAB_COUNT = 128, EVENT_COUNT = 2000 };

/* Tests less apart than this, all but the last in vain, are a wait. An interrupt, or another process on the
 * core, may now and then come between two of them: after some in a row a gap is forgiven. */
#define SPELL_GAP_NS (10 * HW_NS_PER_US)
#define SPELL_BREAK_NS (20 * HW_NS_PER_MS)
enum { SPELL_ROW_COUNT = 16 };

struct hw_profile_request {
    uint64_t handle;
    struct hw_profile_request *next;
    struct hw_profile_site *site;
    struct hw_profile_comm *comm;
    const void *thread;
    uint64_t bytes;
    uint64_t posted_ns;
    uint64_t mpi_ns; /* of the thread that posted it, by then */
    unsigned window; /* of looks at the wire (wire_windows.h) */
    bool is_unsized; /* a collective whose arguments do not tell its bytes */
    bool is_persistent;
    bool is_active;
};

bool hw_profile_is_on;

/* Time this thread has spent in MPI; its address names the thread. */
static _Thread_local uint64_t thread_mpi_ns __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
HW_SPARSE static struct hw_profile_request *buckets[BUCKET_COUNT];
static struct hw_profile_request *free_requests;
static atomic_uint known_count;

/* Tests of this thread one right after the other. */
static _Thread_local struct {
    uint64_t began_ns, ended_ns;
    unsigned row_count; /* since the last long gap */
    bool is_sampled;
} spell __attribute__((tls_model("initial-exec")));

static uint64_t began_ns;

/* The first calls, for a timeline. */
static struct {
    uint64_t start_ns, took_ns, bytes;
    unsigned site;
} * events;
static atomic_uint event_count;

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
    if (began_ns || !is_wanted() || !hw_sites_open() || !hw_comms_open())
        return;
    events = calloc(EVENT_COUNT, sizeof *events);
    began_ns = hw_clock_now_ns();
    hw_wire_prepare(read, began_ns);
    hw_slices_begin(began_ns);
    hw_callers_prepare(is_layer);
    hw_profile_is_on = true;
}

void hw_profile_enter(struct hw_profile_call *call, const char *function, const void *site, uint64_t bytes)
{
    call->function = function;
    call->site = hw_callers_find(site);
    call->bytes = bytes;
    call->comm = NULL;
    call->is_sampled = call->is_unsized = false;
    call->held = call->inline_held;
    call->held_count = 0;
    call->held_capacity = HW_PROFILE_INLINE_HELD_COUNT;
    call->entered_ns = call->began_ns = hw_clock_now_ns();
}

void hw_profile_leave(struct hw_profile_call *call)
{
    call->took_ns = hw_clock_now_ns() - call->began_ns;
    thread_mpi_ns += call->took_ns;
    hw_slices_add(call->began_ns + call->took_ns, call->took_ns);
}

static void count_on(struct hw_profile_comm *comm, uint64_t bytes, uint64_t took_ns)
{
    HW_COMM_ADD(comm, calls, 1);
    if (bytes)
        HW_COMM_ADD(comm, bytes, bytes);
    HW_COMM_ADD(comm, call_ns, took_ns);
}

static struct hw_profile_site *count(struct hw_profile_call *call)
{
    struct hw_profile_site *site = hw_sites_find(call->site, call->function, call->bytes);
    hw_sites_count(site, call->bytes, call->took_ns);
    if (call->comm)
        count_on(call->comm, call->bytes, call->took_ns);
    if (events && atomic_load_explicit(&event_count, memory_order_relaxed) < EVENT_COUNT) {
        unsigned i = atomic_fetch_add_explicit(&event_count, 1, memory_order_relaxed);
        if (i < EVENT_COUNT) {
            events[i].start_ns = call->began_ns;
            events[i].took_ns = call->took_ns;
            events[i].bytes = call->bytes;
            events[i].site = hw_sites_index(site);
        }
    }
    return site;
}

void hw_profile_count(struct hw_profile_call *call) { count(call); }

static struct hw_profile_request **bucket_of(uint64_t handle)
{
    return &buckets[(handle * UINT64_C(0x9E3779B97F4A7C15) >> 32) % BUCKET_COUNT];
}

/* Takes the request out of the table; NULL if it is not in it. Under lock. */
static struct hw_profile_request *take(uint64_t handle)
{
    for (struct hw_profile_request **link = bucket_of(handle); *link; link = &(*link)->next) {
        struct hw_profile_request *request = *link;
        if (request->handle != handle)
            continue;
        *link = request->next;
        atomic_fetch_sub_explicit(&known_count, 1, memory_order_relaxed);
        return request;
    }
    return NULL;
}

static void put(struct hw_profile_request *request)
{
    struct hw_profile_request **bucket = bucket_of(request->handle);
    request->next = *bucket;
    *bucket = request;
    atomic_fetch_add_explicit(&known_count, 1, memory_order_relaxed);
}

static struct hw_profile_request *new_request(void)
{
    if (!free_requests) {
        struct hw_profile_request *slab = calloc(SLAB_COUNT, sizeof *slab);
        for (int i = 0; slab && i < SLAB_COUNT; i++) {
            slab[i].next = free_requests;
            free_requests = &slab[i];
        }
    }
    struct hw_profile_request *request = free_requests;
    if (request)
        free_requests = request->next;
    return request;
}

static void release_request(struct hw_profile_request *request)
{
    request->next = free_requests;
    free_requests = request;
}

static void activate(struct hw_profile_request *request, const struct hw_profile_call *call)
{
    request->thread = &thread_mpi_ns;
    request->posted_ns = call->began_ns + call->took_ns;
    request->mpi_ns = thread_mpi_ns;
    request->is_active = true;
    const struct hw_wire_moment moment = {&thread_mpi_ns, request->posted_ns, thread_mpi_ns};
    request->window = hw_wire_posted(&moment, request->bytes, request->is_unsized);
}

void hw_profile_posted(struct hw_profile_call *call, uint64_t handle, bool is_persistent)
{
    struct hw_profile_site *site = count(call);
    pthread_mutex_lock(&lock);
    struct hw_profile_request *request = take(handle);
    if (!request)
        request = new_request();
    if (request) {
        request->handle = handle;
        request->site = site;
        request->comm = call->comm;
        request->bytes = call->bytes;
        request->is_unsized = call->is_unsized;
        request->is_persistent = is_persistent;
        request->is_active = false;
        request->window = 0;
        if (!is_persistent)
            activate(request, call);
        put(request);
    }
    pthread_mutex_unlock(&lock);
}

void hw_profile_start(struct hw_profile_call *call, uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct hw_profile_request *request = take(handle);
    if (request) {
        request->site = hw_sites_find(call->site, call->function, request->bytes);
        call->bytes += request->bytes;
        if (request->comm)
            count_on(request->comm, request->bytes, 0);
        activate(request, call);
        put(request);
    }
    pthread_mutex_unlock(&lock);
}

bool hw_profile_is_any_pending(void) { return atomic_load_explicit(&known_count, memory_order_relaxed) != 0; }

static bool make_room(struct hw_profile_call *call)
{
    if (call->held_count < call->held_capacity)
        return true;
    int capacity = 4 * call->held_capacity;
    bool is_inline = call->held == call->inline_held;
    struct hw_profile_held *held = realloc(is_inline ? NULL : call->held, (size_t)capacity * sizeof *held);
    if (!held)
        return false;
    if (is_inline)
        memcpy(held, call->inline_held, sizeof call->inline_held);
    call->held = held;
    call->held_capacity = capacity;
    return true;
}

void hw_profile_hold(struct hw_profile_call *call, int index, uint64_t handle)
{
    if (!make_room(call))
        return;
    pthread_mutex_lock(&lock);
    struct hw_profile_request *request = take(handle);
    if (request && !request->is_active) {
        put(request);
        request = NULL;
    }
    if (request)
        call->held[call->held_count++] =
            (struct hw_profile_held){.index = index, .is_complete = false, .request = request};
    pthread_mutex_unlock(&lock);
}

static bool is_in_spell(const struct hw_profile_call *call)
{
    uint64_t gap_ns = call->entered_ns - spell.ended_ns;
    return spell.ended_ns &&
           (gap_ns < SPELL_GAP_NS || (gap_ns < SPELL_BREAK_NS && spell.row_count >= SPELL_ROW_COUNT));
}

void hw_profile_wait(struct hw_profile_call *call, bool is_blocking)
{
    if (call->held_count == 0)
        return;
    if (is_blocking)
        spell.ended_ns = 0;
    else if (!is_in_spell(call) || spell.is_sampled)
        return; /* a first test is no wait, and a spell needs one look only */
    const struct hw_wire_moment moment = {&thread_mpi_ns, call->entered_ns, thread_mpi_ns};
    pthread_mutex_lock(&lock);
    call->is_sampled = hw_wire_enter(&moment);
    pthread_mutex_unlock(&lock);
    spell.is_sampled = call->is_sampled && !is_blocking;
    if (call->is_sampled)
        call->began_ns = hw_clock_now_ns();
}

uint64_t hw_profile_handle(const struct hw_profile_held *held) { return held->request->handle; }

/* Time the program spent outside MPI while the request was pending, before the door. */
static uint64_t computed_ns(const struct hw_profile_request *request, const struct hw_profile_call *call)
{
    if (call->entered_ns <= request->posted_ns)
        return 0;
    uint64_t pending_ns = call->entered_ns - request->posted_ns;
    if (request->thread != &thread_mpi_ns)
        return pending_ns; /* completed by another thread: what the first did meanwhile is not known */
    uint64_t inside_ns = thread_mpi_ns - call->took_ns - request->mpi_ns;
    return pending_ns > inside_ns ? pending_ns - inside_ns : 0;
}

/* What the door completed is accounted to where it was posted. Returns the longest time computed. */
static uint64_t settle(const struct hw_profile_call *call, double blocked_per_byte)
{
    uint64_t longest_ns = 0;
    for (int i = 0; i < call->held_count; i++) {
        struct hw_profile_request *request = call->held[i].request;
        if (!call->held[i].is_complete) {
            put(request);
            continue;
        }
        uint64_t this_ns = computed_ns(request, call);
        longest_ns = this_ns > longest_ns ? this_ns : longest_ns;
        HW_SITE_ADD(request->site, completed, 1);
        HW_SITE_ADD(request->site, computed_ns, this_ns);
        uint64_t blocked_ns = (uint64_t)(blocked_per_byte * (double)(request->bytes + 1));
        HW_SITE_ADD(request->site, blocked_ns, blocked_ns);
        if (request->comm) {
            HW_COMM_ADD(request->comm, completed, 1);
            HW_COMM_ADD(request->comm, computed_ns, this_ns);
            HW_COMM_ADD(request->comm, blocked_ns, blocked_ns);
        }
        hw_wire_completed(request->window);
        if (request->is_persistent) {
            request->is_active = false;
            put(request);
        } else {
            release_request(request);
        }
    }
    return longest_ns;
}

/* How long the program waited in this door, or in the tests that end in it. */
static uint64_t waited_ns(const struct hw_profile_call *call, bool is_blocking, bool is_any_complete)
{
    if (is_blocking)
        return call->took_ns;
    uint64_t end_ns = call->began_ns + call->took_ns;
    bool is_first = !is_in_spell(call);
    if (is_first) {
        spell.began_ns = call->entered_ns;
        spell.is_sampled = false;
    }
    spell.row_count = !is_first && call->entered_ns - spell.ended_ns < SPELL_GAP_NS ? spell.row_count + 1 : 0;
    spell.ended_ns = is_any_complete ? 0 : end_ns;
    return is_any_complete && !is_first ? end_ns - spell.began_ns : 0;
}

static void settle_door(struct hw_profile_call *call, struct hw_profile_site *site, int complete_count,
                        bool is_blocking)
{
    uint64_t took_ns = waited_ns(call, is_blocking, complete_count > 0);
    double shares = (double)call->bytes + (double)complete_count;
    pthread_mutex_lock(&lock);
    uint64_t longest_ns = settle(call, shares > 0 ? (double)took_ns / shares : 0.0);
    if (is_blocking ? call->is_sampled : took_ns && spell.is_sampled) {
        const struct hw_wire_moment moment = {&thread_mpi_ns, call->began_ns + call->took_ns, thread_mpi_ns};
        hw_wire_leave(&moment, site, took_ns, longest_ns, call->bytes);
        spell.is_sampled = false;
    }
    pthread_mutex_unlock(&lock);
    HW_SITE_ADD(site, completed, complete_count);
    HW_SITE_ADD(site, computed_ns, longest_ns);
    if (!is_blocking)
        HW_SITE_ADD(site, spun_ns, took_ns);
}

void hw_profile_release(struct hw_profile_call *call, bool is_blocking)
{
    int complete_count = 0;
    for (int i = 0; i < call->held_count; i++) {
        if (!call->held[i].is_complete)
            continue;
        complete_count++;
        call->bytes += call->held[i].request->bytes;
    }
    struct hw_profile_site *site = count(call);
    if (call->held_count)
        settle_door(call, site, complete_count, is_blocking);
    if (call->held != call->inline_held)
        free(call->held);
}

void hw_profile_forget(uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct hw_profile_request *request = take(handle);
    if (request) {
        if (request->is_active)
            hw_wire_completed(request->window);
        release_request(request);
    }
    pthread_mutex_unlock(&lock);
}

uint64_t hw_profile_mpi_ns(void) { return hw_profile_is_on ? hw_sites_call_ns() : 0; }

void hw_profile_write(FILE *file)
{
    if (!hw_profile_is_on)
        return;
    pthread_mutex_lock(&lock);
    hw_wire_settle();
    pthread_mutex_unlock(&lock);
    char host[65] = "";
    cpu_set_t cores;
    gethostname(host, sizeof host - 1);
    fputs("  \"host\": ", file);
    hw_record_write_string(file, host);
    fprintf(file, ",\n  \"cores\": %d,\n",
            sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 0);
    fprintf(file, "  \"mpi_s\": %.6f,\n", (double)hw_profile_mpi_ns() / (double)HW_NS_PER_S);
    fprintf(file, "  \"profile\": {\n  \"began_monotonic_s\": %.6f,\n  \"wire_bytes_per_s\": %llu,\n",
            (double)began_ns / (double)HW_NS_PER_S, (unsigned long long)hw_wire_fastest());
    fputs("  \"sites\": [\n", file);
    hw_sites_write(file);
    fputs("\n  ],\n  \"communicators\": [\n", file);
    hw_comms_write(file);
    fputs("\n  ],\n  \"slices\": ", file);
    hw_slices_write(file, hw_clock_now_ns());
    fputs(",\n  \"events\": [", file);
    unsigned count = atomic_load(&event_count);
    for (unsigned i = 0; events && i < count && i < EVENT_COUNT; i++)
        fprintf(file, "%s[%.3f, %.3f, %u, %llu]", i ? ",\n  " : "\n  ",
                (double)(events[i].start_ns - began_ns) / (double)HW_NS_PER_US,
                (double)events[i].took_ns / (double)HW_NS_PER_US, events[i].site,
                (unsigned long long)events[i].bytes);
    fputs("]\n  },\n", file);
}
