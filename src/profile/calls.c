#include "profile/calls.h"

#include "base/clock.h"
#include "profile/sites.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BUCKET_COUNT = 4096, SLAB_COUNT = 128, EVENT_COUNT = 2000 };

/* The wire is looked at only around requests that take a while. */
#define SAMPLE_MIN_BYTES (64 * 1024)
/* ... and no more than that one part in so many of the time goes into it. */
enum { SAMPLE_COST_PARTS = 400 };

struct hw_profile_request {
    uint64_t handle;
    struct hw_profile_request *next;
    struct hw_profile_site *site;
    const void *thread;
    uint64_t bytes;
    uint64_t posted_ns;
    uint64_t mpi_ns; /* of the thread that posted it, by then */
    bool is_persistent;
    bool is_active;
};

bool hw_profile_is_on;

/* Time this thread has spent in MPI; its address names the thread. */
static _Thread_local uint64_t thread_mpi_ns __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hw_profile_request *buckets[BUCKET_COUNT];
static struct hw_profile_request *free_requests;
static atomic_uint known_count;

/* One window, from the first post of something large to the door that waits for it. Under lock. */
static struct {
    bool is_open;
    const void *thread;
    uint64_t opened_ns, mpi_ns;
    struct hw_profile_wire opened, waited;
} sample;
static bool (*read_wire)(struct hw_profile_wire *wire, bool is_first);
static uint64_t began_ns, sample_cost_ns;
static uint64_t fastest_bytes_per_s;

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

void hw_profile_prepare(bool (*read)(struct hw_profile_wire *wire, bool is_first))
{
    if (began_ns || !is_wanted() || !hw_sites_open())
        return;
    read_wire = read;
    events = calloc(EVENT_COUNT, sizeof *events);
    began_ns = hw_clock_now_ns();
    hw_profile_is_on = true;
}

void hw_profile_enter(struct hw_profile_call *call, const char *function, const void *site, uint64_t bytes)
{
    call->function = function;
    call->site = site;
    call->bytes = bytes;
    call->is_sampled = false;
    call->held = call->inline_held;
    call->held_count = 0;
    call->held_capacity = HW_PROFILE_INLINE_HELD_COUNT;
    call->entered_ns = call->began_ns = hw_clock_now_ns();
}

void hw_profile_leave(struct hw_profile_call *call)
{
    call->took_ns = hw_clock_now_ns() - call->began_ns;
    thread_mpi_ns += call->took_ns;
}

static struct hw_profile_site *count(struct hw_profile_call *call)
{
    struct hw_profile_site *site = hw_sites_find(call->site, call->function, call->bytes);
    hw_sites_count(site, call->bytes, call->took_ns);
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

/* One look at the wire; its time is nobody's. */
static bool look(struct hw_profile_wire *wire, bool is_first)
{
    uint64_t before_ns = hw_clock_now_ns();
    bool is_known = read_wire(wire, is_first);
    sample_cost_ns += hw_clock_now_ns() - before_ns;
    return is_known;
}

/* Something large was posted. Under lock. */
static void open_sample(const struct hw_profile_request *request)
{
    if (sample.is_open || !read_wire || request->bytes < SAMPLE_MIN_BYTES ||
        sample_cost_ns * SAMPLE_COST_PARTS > request->posted_ns - began_ns || !look(&sample.opened, true))
        return;
    sample.is_open = true;
    sample.thread = request->thread;
    sample.opened_ns = hw_clock_now_ns();
    sample.mpi_ns = thread_mpi_ns;
}

static void activate(struct hw_profile_request *request, const struct hw_profile_call *call)
{
    request->thread = &thread_mpi_ns;
    request->posted_ns = call->began_ns + call->took_ns;
    request->mpi_ns = thread_mpi_ns;
    request->is_active = true;
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
        request->bytes = call->bytes;
        request->is_persistent = is_persistent;
        activate(request, call);
        request->is_active = !is_persistent;
        put(request);
        if (!is_persistent)
            open_sample(request);
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
        activate(request, call);
        put(request);
        open_sample(request);
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

void hw_profile_wait(struct hw_profile_call *call)
{
    if (call->held_count == 0)
        return;
    pthread_mutex_lock(&lock);
    if (sample.is_open && sample.thread == &thread_mpi_ns) {
        call->is_sampled = look(&sample.waited, false);
        sample.is_open = call->is_sampled;
        call->began_ns = hw_clock_now_ns();
    }
    pthread_mutex_unlock(&lock);
}

uint64_t hw_profile_handle(const struct hw_profile_held *held) { return held->request->handle; }

static uint64_t busier(const struct hw_profile_wire *from, const struct hw_profile_wire *to)
{
    int64_t sent = (int64_t)(to->sent_bytes - from->sent_bytes);
    int64_t received = (int64_t)(to->received_bytes - from->received_bytes);
    int64_t more = sent > received ? sent : received;
    return more > 0 ? (uint64_t)more : 0; /* a connection may have been closed */
}

/* The window ended in this door. Under lock. */
static void close_sample(const struct hw_profile_call *call, struct hw_profile_site *site)
{
    struct hw_profile_wire now;
    sample.is_open = false;
    if (!look(&now, false))
        return;
    uint64_t inside_ns = thread_mpi_ns - call->took_ns - sample.mpi_ns;
    uint64_t outside_ns = call->entered_ns - sample.opened_ns;
    uint64_t moved = busier(&sample.waited, &now);
    HW_SITE_ADD(site, sampled, 1);
    HW_SITE_ADD(site, sampled_blocked_ns, call->took_ns);
    HW_SITE_ADD(site, sampled_computed_ns, outside_ns > inside_ns ? outside_ns - inside_ns : 0);
    HW_SITE_ADD(site, moved_computing, busier(&sample.opened, &sample.waited));
    HW_SITE_ADD(site, moved_waiting, moved);
    if (call->took_ns >= HW_NS_PER_MS && moved >= SAMPLE_MIN_BYTES) {
        uint64_t bytes_per_s = (uint64_t)((double)moved / (double)call->took_ns * (double)HW_NS_PER_S);
        fastest_bytes_per_s = bytes_per_s > fastest_bytes_per_s ? bytes_per_s : fastest_bytes_per_s;
    }
}

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
        HW_SITE_ADD(request->site, blocked_ns, blocked_per_byte * (double)(request->bytes + 1));
        if (request->is_persistent) {
            request->is_active = false;
            put(request);
        } else {
            release_request(request);
        }
    }
    return longest_ns;
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
    if (call->held_count) {
        double shares = (double)call->bytes + (double)complete_count;
        pthread_mutex_lock(&lock);
        uint64_t longest_ns = settle(call, is_blocking && shares > 0 ? (double)call->took_ns / shares : 0.0);
        if (call->is_sampled)
            close_sample(call, site);
        else if (!hw_profile_is_any_pending())
            sample.is_open = false; /* completed by tests: nothing was waited for */
        pthread_mutex_unlock(&lock);
        HW_SITE_ADD(site, completed, complete_count);
        HW_SITE_ADD(site, computed_ns, longest_ns);
    }
    if (call->held != call->inline_held)
        free(call->held);
}

void hw_profile_forget(uint64_t handle)
{
    pthread_mutex_lock(&lock);
    struct hw_profile_request *request = take(handle);
    if (request)
        release_request(request);
    pthread_mutex_unlock(&lock);
}

uint64_t hw_profile_mpi_ns(void) { return hw_profile_is_on ? hw_sites_call_ns() : 0; }

void hw_profile_write(FILE *file)
{
    if (!hw_profile_is_on)
        return;
    fprintf(file, "  \"mpi_s\": %.6f,\n", (double)hw_profile_mpi_ns() / (double)HW_NS_PER_S);
    fprintf(file, "  \"profile\": {\n  \"began_monotonic_s\": %.6f,\n  \"wire_bytes_per_s\": %llu,\n",
            (double)began_ns / (double)HW_NS_PER_S, (unsigned long long)fastest_bytes_per_s);
    fputs("  \"sites\": [\n", file);
    hw_sites_write(file);
    fputs("\n  ],\n  \"events\": [", file);
    unsigned count = atomic_load(&event_count);
    for (unsigned i = 0; events && i < count && i < EVENT_COUNT; i++)
        fprintf(file, "%s[%.3f, %.3f, %u, %llu]", i ? ",\n  " : "\n  ",
                (double)(events[i].start_ns - began_ns) / (double)HW_NS_PER_US,
                (double)events[i].took_ns / (double)HW_NS_PER_US, events[i].site,
                (unsigned long long)events[i].bytes);
    fputs("]\n  },\n", file);
}
