/* SPDX-License-Identifier: BSD-3-Clause */
#include "ghost/wait.h"

#include "base/agent.h"
#include "base/clock.h"
#include "base/log.h"
#include "ghost/bell.h"
#include "ghost/core.h"
#include "ghost/sample.h"
#include "ghost/service.h"
#include "progress/trigger.h"
#include "real/software_rma.h"
#include "world/world.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The next message of an exchange comes within a few round trips: if one is as good as sure to come, the
 * ghost goes on polling for it, as long as a sleep and a wake-up would take. If not, that time is the user's.
 */
#define LINGER_NS (60 * HW_NS_PER_US)
#define CLOSE_NS (100 * HW_NS_PER_US)

/* The net under events that were missed. Messages show on sockets, and user processes of the node ring the
 * bell; a nap that ends for nothing takes some 20 to 50 us from whoever has the core, its caches cold: naps
 * of 4 ms took 0.7 % of the core for nothing. Where not all sockets are watched, or a command came that
 * neither told of, the naps are all there is. */
#define FIRST_NAP_NS HW_NS_PER_MS
#define FIRST_IDLE_NAP_NS (16 * HW_NS_PER_MS) /* of a helper alone */
#define FIRST_BLIND_NAP_NS (50 * HW_NS_PER_US)
#define MAX_BLIND_NAP_NS (4 * HW_NS_PER_MS)
#define MAX_NAP_NS (32 * HW_NS_PER_MS)

/* While a user process of the node spins in a flush for the ghost, nobody gains from the core but the ghost:
 * it polls this often at least. Yet it sleeps as long as it ran before, times the processes it shares with:
 * one that had more than its share is not scheduled when it wakes, but at the next tick of the kernel, up to
 * 4 ms later. */
#define AWAITED_NAP_NS (20 * HW_NS_PER_US)
#define MAX_AWAITED_NAP_NS HW_NS_PER_MS

/* Inside a waiting call of MPI: polls this long, then sleeps at most that long. Making a window between two
 * nodes with one core for each user process and its ghost took 84, 2.3 and 56 ms (MPICH 4, MPICH 5, Intel
 * MPI) without, 4.1, 1.9 and 2.2 ms with these values; a turn of 10 or 20 us costs up to three times as much.
 */
#define TURN_NS (50 * HW_NS_PER_US)
#define TURN_NAP_NS (50 * HW_NS_PER_US)

/* So long it leaves the core to a user process that posts messages and rang for later. A post takes 3 to 10
 * us; a ghost that works has the core until the kernel's next tick, up to 4 ms later. */
#define PATIENCE_NS (50 * HW_NS_PER_US)
enum { PATIENT_NAPS = 4 }; /* for one that is in the midst of a post, which may wait for MPI's own reasons */

/* One that spins and has seen no sign of traffic for this long sleeps until there is one, so that a ghost of
 * a program without windows takes no core, and the next operation takes a wake-up more. */
#define QUIET_NS (50 * HW_NS_PER_MS)
enum { POLLS_PER_CLOCK = 16 };

static bool is_resting;    /* the core is its own, but there is no traffic: sleep */
static bool has_device;    /* which tells no socket of what it moves */
static bool is_surprised;  /* by a command that no event told of */
static bool was_overslept; /* the last nap ended by time alone */
static bool has_timer;
static timer_t timer;
static volatile sig_atomic_t is_in_mpi;
static bool is_announced; /* the node's user processes know that it sleeps */
static struct hw_triggers triggers;
static uint64_t nap_ns = FIRST_BLIND_NAP_NS;
static uint64_t active_ns; /* when there last was traffic, or while it spins a sign of it */

/* Of the last messages, the share of those that another one followed closely. Those that had followed closely
 * themselves apart: of the messages of an exchange the last one is not followed. */
enum { WHOLE = 256, LIKELY = WHOLE / 2, MEMORY = 8 };
static unsigned followed_share[2] = {WHOLE, WHOLE};
static bool has_followed; /* the last message */
static bool was_command;  /* who sent it waits, perhaps for this very core */
static uint64_t began_cpu_ns;

/* Threads of the MPI included, but not what starting took. */
static void tell_cpu(void) { hw_ghost_bell_tell_cpu(hw_clock_read(CLOCK_PROCESS_CPUTIME_ID) - began_cpu_ns); }

/* One shot: what came due during a nap must not end the next turn before it began. 0: never. */
static void set_timer(uint64_t time_ns)
{
    struct itimerspec due = {.it_value = {.tv_sec = 0, .tv_nsec = (long)time_ns}};
    timer_settime(timer, 0, &due, NULL);
}

/* In a signal handler, on top of a call of MPI: system calls alone. */
static void end_turn(int number)
{
    (void)number;
    if (!is_in_mpi)
        return; /* the signal was already pending at the end */
    int saved_errno = errno;
    if (!hw_triggers_is_data_waiting(&triggers))
        hw_triggers_wait(&triggers, TURN_NAP_NS);
    set_timer(TURN_NS);
    errno = saved_errno;
}

static void make_timer(void)
{
    struct sigaction action = {.sa_handler = end_turn, .sa_flags = SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    has_timer = sigaction(SIGURG, &action, NULL) == 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
}

void hw_ghost_wait_enter_mpi(void)
{
    if (!hw_ghost_core_is_shared || !has_timer)
        return;
    hw_triggers_refresh(&triggers);
    is_in_mpi = 1;
    set_timer(TURN_NS);
}

void hw_ghost_wait_leave_mpi(void)
{
    if (!is_in_mpi)
        return;
    is_in_mpi = 0;
    set_timer(0);
}

/* Whatever there is to do is told by an event. */
static bool sees_all(void)
{
    return hw_triggers_hear_all(&triggers) && !has_device && !is_surprised && hw_ghost_bell_descriptor() >= 0;
}

/* It only says when to look, so far: a command that comes late costs one window, and tells of no others. */
static bool is_helper_alone(void)
{
    return hw_options.trigger == HW_OPTION_TRIGGER_HELPER && !hw_ghost_services_need_net();
}

static uint64_t first_nap_ns(void)
{
    if (!hw_triggers_hear_all(&triggers))
        return FIRST_BLIND_NAP_NS;
    return is_helper_alone() && sees_all() ? FIRST_IDLE_NAP_NS : FIRST_NAP_NS;
}

static uint64_t max_nap_ns(void) { return sees_all() ? MAX_NAP_NS : MAX_BLIND_NAP_NS; }

static void note_traffic(uint64_t now_ns)
{
    active_ns = now_ns;
    nap_ns = first_nap_ns();
    if (is_announced)
        hw_ghost_bell_tell(false);
    is_announced = false;
    if (is_resting) {
        hw_log_debug("this ghost has something to do: it spins");
        hw_ghost_core_judge_from(now_ns);
    }
    is_resting = false;
}

static void begin_to_share(uint64_t now_ns)
{
    if (!has_timer) {
        hw_agent_prompt();
        make_timer();
    }
    active_ns = now_ns;
}

void hw_ghost_wait_begin(void)
{
    began_cpu_ns = hw_clock_read(CLOCK_PROCESS_CPUTIME_ID);
    active_ns = hw_clock_now_ns();
    has_device = hw_real_has_device();
    hw_triggers_open(&triggers, false);
    hw_triggers_refresh(&triggers);
    if (hw_ghost_bell_descriptor() >= 0)
        hw_triggers_add(&triggers, hw_ghost_bell_descriptor());
    hw_ghost_core_begin(active_ns);
    if (hw_ghost_core_is_shared)
        begin_to_share(active_ns);
}

static uint64_t awaited_nap_ns(void)
{
    static uint64_t counted_ns;
    uint64_t now_ns = hw_clock_thread_cpu_ns();
    uint64_t time_ns = (now_ns - counted_ns) * (uint64_t)(hw_world.own_node->process_count - 1);
    counted_ns = now_ns;
    if (time_ns < AWAITED_NAP_NS)
        return AWAITED_NAP_NS;
    return time_ns < MAX_AWAITED_NAP_NS ? time_ns : MAX_AWAITED_NAP_NS;
}

/* While it spins: the sockets' edges since the last time, or a user process that waits. */
static bool is_traffic_seen(void)
{
    hw_triggers_refresh(&triggers);
    bool has_event = hw_triggers_wait(&triggers, 0) != HW_EVENT_NONE;
    return has_event || hw_triggers_is_data_waiting(&triggers) || hw_ghost_bell_is_awaited();
}

static void rest_if_quiet(uint64_t now_ns)
{
    if (!sees_all() || is_traffic_seen())
        active_ns = now_ns;
    is_resting = now_ns - active_ns > QUIET_NS;
    if (is_resting)
        hw_log_debug("this ghost has nothing to do: it sleeps until there is something");
}

/* Spinning; now and then: is the core ours, and is there anything to do? */
static void spin(void)
{
    static unsigned polls;
    if (++polls % POLLS_PER_CLOCK)
        return;
    uint64_t now_ns = hw_clock_now_ns();
    if (!hw_ghost_core_judge(now_ns))
        return;
    tell_cpu();
    if (hw_ghost_core_is_shared)
        begin_to_share(now_ns);
    else
        rest_if_quiet(now_ns);
}

void hw_ghost_wait_traffic(void)
{
    is_surprised = is_surprised || (was_overslept && !is_helper_alone());
    was_overslept = false;
    was_command = true;
    note_traffic(hw_clock_now_ns());
}

static void note_message(void)
{
    uint64_t now_ns = hw_clock_now_ns();
    bool follows = now_ns - active_ns < CLOSE_NS;
    unsigned *share = &followed_share[has_followed];
    *share += (follows ? WHOLE / MEMORY : 0) - *share / MEMORY;
    has_followed = follows;
    was_command = false;
    note_traffic(now_ns);
}

static uint64_t slice_ns(void)
{
    uint64_t sample_ns = hw_ghost_sample_nap_ns(), services_ns = hw_ghost_services_asleep();
    return sample_ns < services_ns ? sample_ns : services_ns;
}

/* Sleeps for so long, or until an event, which is what it returns; in between it looks at user processes, and
 * services have their moments. */
static bool nap(uint64_t time_ns)
{
    for (uint64_t slice; (slice = slice_ns()) < time_ns; time_ns -= slice) {
        if (hw_triggers_wait(&triggers, slice) != HW_EVENT_NONE)
            return true;
        hw_ghost_sample_asleep();
    }
    return hw_triggers_wait(&triggers, time_ns) != HW_EVENT_NONE;
}

/* After it was woken, and before it takes the core from whoever has it. */
static void let_post(void)
{
    if (!hw_ghost_core_is_shared)
        return;
    if (hw_ghost_bell_has_time() && !hw_triggers_is_data_waiting(&triggers))
        hw_triggers_wait(&triggers, PATIENCE_NS); /* any other event ends it */
    for (int i = 0; i < PATIENT_NAPS && hw_ghost_bell_is_posted_to() && !hw_ghost_bell_is_awaited(); i++)
        hw_triggers_nap(&triggers, PATIENCE_NS / 2);
}

bool hw_ghost_wait(void)
{
    if (!hw_ghost_core_is_shared && !is_resting) {
        spin();
        return false;
    }
    was_overslept = false;
    if (hw_triggers_is_data_waiting(&triggers)) {
        if (is_resting)
            note_traffic(hw_clock_now_ns());
        return false;
    }
    if (hw_triggers_wait(&triggers, 0) != HW_EVENT_NONE) { /* a poll has taken it meanwhile */
        note_message();
        return true;
    }
    uint64_t now_ns = hw_clock_now_ns();
    bool is_likely = !was_command && !is_helper_alone() && followed_share[has_followed] >= LIKELY;
    if (is_likely && now_ns - active_ns < LINGER_NS)
        return false;
    if (hw_ghost_core_try(now_ns)) {
        note_traffic(now_ns); /* takes back that it sleeps */
        return false;
    }
    if (!is_announced) { /* one more poll, for what came before anybody could know */
        hw_ghost_bell_tell(true);
        is_announced = true;
        return true;
    }
    tell_cpu();
    bool is_awaited = hw_ghost_bell_is_awaited();
    uint64_t time_ns = is_awaited ? awaited_nap_ns() : nap_ns;
    hw_triggers_refresh(&triggers);
    bool is_woken = nap(time_ns);
    if (is_woken)
        let_post();
    hw_ghost_sample_asleep();
    if (is_woken)
        note_message();
    else if (is_awaited)
        nap_ns = first_nap_ns();
    else if (nap_ns < max_nap_ns())
        nap_ns += nap_ns / 4;
    was_overslept = !is_woken && !is_awaited;
    return true;
}
