/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/policy.h"

#include <string.h>

enum {
    FIRST_CONTROL = 2,
    SECOND_CONTROL = 4,
    CONTINUED_CONTROL = 4, /* the first one of rounds; each later one at so many times the number */
    FIRST_TRIAL_INTERVAL = 8,
    MAX_INTERVAL = 1024,
    CONTROL_RUN = 1,
    DOUBT_RUN = 2,
    TRIAL_RUN = 2,
    PERIODS_RUN = 3,    /* of either, where only the time between windows tells */
    NATURAL_RUN = 2,    /* windows in a row that needed no thread */
    VAIN_RUN = 2,       /* probes in a row that ended with much left to move */
    WAIT_PARTS = 8,     /* of a window: less of it is no wait */
    REST_PARTS = 4,     /* of it: less may be the kernel's late bytes; a second step of a transfer is more */
    PROBED_AGAIN = 16,  /* windows */
    MOST_DOUBLINGS = 6, /* of that */
    FEW = 3,            /* windows, of which the median says something */
    LATELY = 64,        /* windows */
    LEAST_PERIODS = 2,  /* with the thread and without, before they say anything */
    JUDGED_RUN = 2,     /* windows in a row that stop the thread */
    REVISED_RUN = 3,    /* and that start it again without a trial */
    MOST_LOST = 2,      /* lost trials: so often the next one is four times as far away */
};

/* What the thread must cost, in percent of doing without it, to be stopped, and then to be started again.
 * Where both ways cost the same the decision must not wander, least of all in one of two partners. */
enum { STOP_PERCENT = 106, START_PERCENT = 95 };

/* Below this share of what doing without it is thought to cost, the thread is surely worth it: the estimate
 * cannot be wrong by so much, but for what probes tell. */
enum { SURE_PERCENT = 50 };

/* So much of the bytes is all: the last of them may have moved since the last look. */
enum { NATURAL_PERCENT = 88 };

/* What learning may cost, as a part of what was saved. */
enum { BUDGET_PARTS = 50 };

/* The part of a window's bytes that must have been seen on the wire before its class is probed again.
 * Messages to partners of the same node move nothing there. */
enum { LEAST_WIRE_PARTS = 4 };

/* A probe comes late by this part of the transfer, or as long as the kernel's bursts are apart: 64 KiB at
 * 1 Gbit/s. */
enum { PROBE_PARTS = 10, MAX_PROBE_PARTS = 3 };
#define BURST_NS UINT64_C(600000)
#define MIN_PROBE_NS UINT64_C(150000)
#define MAX_PROBE_NS UINT64_C(2000000)

/* In how many percent of the time windows that may be for others must follow one another to be worth more
 * cost here. */
enum { PERIOD_PERCENT = 90 };

/* Where windows wait at once the thread is told of the next one nevertheless, if that is less than a
 * hundredth of it: the program may begin to compute at any time. */
#define LEAST_READY_NS UINT64_C(500000)

/* Longer windows are never run without the thread just to learn. */
#define SLOW_WINDOW_NS UINT64_C(100000000)

static void add_sample(struct hw_policy_samples *samples, uint64_t cost_ns)
{
    samples->cost_ns[samples->count++ % HW_POLICY_SAMPLE_COUNT] = cost_ns;
}

static void forget(struct hw_policy_samples *cost, struct hw_policy_samples *period)
{
    *cost = *period = (struct hw_policy_samples){0};
}

/* Than so many percent of the other. In whole numbers: in the program's thread floating-point arithmetic of
 * ours would leave the sign of an inexact result, or trap there. */
static bool is_less(uint64_t ns, uint64_t percent, uint64_t other_ns)
{
    return 100 * ns < percent * other_ns;
}
static bool is_more(uint64_t ns, uint64_t percent, uint64_t other_ns)
{
    return 100 * ns > percent * other_ns;
}

struct sorted {
    uint64_t cost_ns[HW_POLICY_SAMPLE_COUNT];
    uint32_t count;
};

static struct sorted sort(const struct hw_policy_samples *samples)
{
    struct sorted sorted = {.count = samples->count < HW_POLICY_SAMPLE_COUNT ? samples->count
                                                                             : HW_POLICY_SAMPLE_COUNT};
    uint64_t *cost_ns = sorted.cost_ns;
    memcpy(cost_ns, samples->cost_ns, sorted.count * sizeof cost_ns[0]);
    for (uint32_t i = 1; i < sorted.count; i++)
        for (uint32_t j = i; j > 0 && cost_ns[j] < cost_ns[j - 1]; j--) {
            uint64_t swap = cost_ns[j];
            cost_ns[j] = cost_ns[j - 1];
            cost_ns[j - 1] = swap;
        }
    return sorted;
}

/* Of an even number the lower one: what disturbs a window makes it longer, so of two controls that differ
 * the longer one was disturbed. */
static uint64_t median(const struct hw_policy_samples *samples)
{
    struct sorted sorted = sort(samples);
    return sorted.count ? sorted.cost_ns[(sorted.count - 1) / 2] : 0;
}

/* Of an even number the upper one. */
static uint64_t upper_median(const struct hw_policy_samples *samples)
{
    struct sorted sorted = sort(samples);
    return sorted.count ? sorted.cost_ns[sorted.count / 2] : 0;
}

/* The cheapest of the last `run`; 0 if there are not so many. */
static uint64_t least_of_last(const struct hw_policy_samples *samples, uint32_t run)
{
    uint64_t least = UINT64_MAX;
    if (samples->count < run)
        return 0;
    for (uint32_t i = 1; i <= run; i++) {
        uint64_t cost_ns = samples->cost_ns[(samples->count - i) % HW_POLICY_SAMPLE_COUNT];
        least = cost_ns < least ? cost_ns : least;
    }
    return least;
}

/* Of transfers with nothing to overlap them, as near to that as was seen. */
static const struct hw_policy_samples *transfers(const struct hw_policy_class *class)
{
    return class->alone.count ? &class->alone : class->moving.count ? &class->moving : &class->off;
}

uint64_t hw_policy_transfer_ns(const struct hw_policy_class *class) { return median(transfers(class)); }

/* Only a window without the thread tells anything. */
static bool has_to_be_tried(const struct hw_policy_class *class)
{
    return class->is_continued && class->off.count == 0;
}

uint64_t hw_policy_off_cost_ns(const struct hw_policy_class *class)
{
    if (class->off.count || class->is_continued)
        return median(&class->off);
    uint64_t transfer_ns = hw_policy_transfer_ns(class);
    return transfer_ns - transfer_ns * class->natural_percent / 100;
}

static uint64_t at_most(uint64_t ns, uint64_t most_ns) { return ns < most_ns ? ns : most_ns; }

static struct hw_policy_estimate spread(const struct hw_policy_samples *samples)
{
    struct sorted sorted = sort(samples);
    if (sorted.count == 0)
        return (struct hw_policy_estimate){0};
    return (struct hw_policy_estimate){sorted.cost_ns[sorted.count / 4], median(samples),
                                       sorted.cost_ns[sorted.count - 1 - sorted.count / 4]};
}

/* What moved while the thread took part would have moved in the wait. What was waited nevertheless may have
 * been for a partner whom its own thread held up. */
static struct hw_policy_estimate without_by_movement(const struct hw_policy_class *class)
{
    const struct hw_policy_judged *judged = &class->judged;
    uint64_t waited_ns = judged->waited_ns / judged->windows;
    struct hw_policy_estimate moved = spread(&class->helped);
    if (class->alone.count) { /* it took no longer by itself */
        struct hw_policy_estimate alone = spread(&class->alone);
        moved.low_ns = at_most(moved.low_ns, alone.low_ns);
        moved.cost_ns = at_most(moved.cost_ns, alone.cost_ns);
        moved.high_ns = at_most(moved.high_ns, alone.high_ns);
    }
    return (struct hw_policy_estimate){moved.low_ns, moved.cost_ns + waited_ns,
                                       moved.high_ns + waited_ns + judged->gap_ns};
}

/* Of one window. A control may have spoilt the partner's window, and movement may be in vain: where both are
 * known the truth is between them, and no more is said than the lower one. */
static struct hw_policy_estimate without_by_all(const struct hw_policy_class *class)
{
    struct hw_policy_estimate off = spread(&class->off);
    if (class->helped.count == 0 && class->off.count == 0) {
        struct hw_policy_estimate took = spread(transfers(class));
        uint64_t kept = 100 - class->natural_percent;
        return (struct hw_policy_estimate){took.low_ns * kept / 100, took.cost_ns * kept / 100, took.high_ns};
    }
    if (class->helped.count == 0)
        return off;
    struct hw_policy_estimate moved = without_by_movement(class);
    if (class->off.count == 0)
        return moved;
    return (struct hw_policy_estimate){at_most(off.low_ns, moved.low_ns), at_most(off.cost_ns, moved.cost_ns),
                                       at_most(off.cost_ns, moved.cost_ns) == off.cost_ns ? moved.high_ns
                                                                                          : off.high_ns};
}

struct hw_policy_estimate hw_policy_without(const struct hw_policy_class *class)
{
    const struct hw_policy_judged *judged = &class->judged;
    if (judged->windows == 0 || has_to_be_tried(class))
        return (struct hw_policy_estimate){0};
    struct hw_policy_estimate one = without_by_all(class);
    /* What the program did meanwhile is all that a wait can be shortened by. */
    uint64_t most_ns = (judged->waited_ns + judged->free_ns) / judged->windows;
    return (struct hw_policy_estimate){judged->windows * at_most(one.low_ns, most_ns),
                                       judged->windows * at_most(one.cost_ns, most_ns),
                                       judged->windows * at_most(one.high_ns, most_ns)};
}

uint64_t hw_policy_probe_ns(const struct hw_policy_class *class)
{
    /* Waits without the thread say nothing here: where the kernel moves the data they are short. */
    uint64_t transfer_ns = transfers(class) == &class->off ? 0 : hw_policy_transfer_ns(class);
    transfer_ns = transfer_ns ? transfer_ns : class->duration_ns;
    uint64_t probe_ns = transfer_ns / PROBE_PARTS;
    if (probe_ns > BURST_NS)
        return probe_ns < MAX_PROBE_NS ? probe_ns : MAX_PROBE_NS;
    probe_ns = transfer_ns / MAX_PROBE_PARTS < BURST_NS ? transfer_ns / MAX_PROBE_PARTS : BURST_NS;
    return probe_ns < MIN_PROBE_NS ? MIN_PROBE_NS : probe_ns;
}

/* ---- what is known ---- */

static bool has_periods(const struct hw_policy_class *class)
{
    return class->on_period.count >= LEAST_PERIODS && class->off_period.count >= LEAST_PERIODS;
}

/* The thread makes the program's rounds shorter, whatever it costs in them here. Where rounds
 * differ by themselves some few are always short: so not the lower median of both. */
static bool helps_others(const struct hw_policy_class *class)
{
    return has_periods(class) &&
           is_less(upper_median(&class->on_period), PERIOD_PERCENT, median(&class->off_period));
}

/* Or it is not known yet. */
static bool may_help_receivers(const struct hw_policy_class *class)
{
    return helps_others(class) || (class->is_for_others && !has_periods(class));
}

/* Of rounds with the thread the median, of two the shorter one, is longer. What it sends early may keep the
 * answer to the partner's own message waiting, which travels behind it. */
static bool hurts_others(const struct hw_policy_class *class, uint32_t rounds)
{
    return class->is_for_others && class->on_period.count >= rounds && has_periods(class) &&
           is_more(median(&class->on_period), STOP_PERCENT, upper_median(&class->off_period));
}

/* The thread took more processor time, in each of the last windows, than doing without it costs at all. */
static bool is_dear(const struct hw_policy_class *class)
{
    uint64_t off = hw_policy_off_cost_ns(class);
    return off && is_more(least_of_last(&class->overhead, JUDGED_RUN), STOP_PERCENT, off);
}

/* Or windows with it cost more one with another. A few of them say little: partners that come late, and
 * directions that wait for one another, cost more than the thread ever does. */
static bool seems_harmful(const struct hw_policy_class *class)
{
    uint64_t off = hw_policy_off_cost_ns(class);
    bool is_many = class->on.count >= HW_POLICY_SAMPLE_COUNT;
    return is_dear(class) || (off && is_many && is_more(median(&class->on), STOP_PERCENT, off));
}

/* What a partner that comes late costs is in both ways, and not in windows that wait at once; and what was
 * measured long ago may have been another phase of the program. */
static bool is_measured_lately(const struct hw_policy_class *class)
{
    uint32_t least = is_dear(class) ? CONTROL_RUN : DOUBT_RUN;
    return class->off.count >= least && class->window_count - class->off_window <= LATELY;
}

static bool is_suspect(const struct hw_policy_class *class)
{
    return seems_harmful(class) || hurts_others(class, FEW);
}

static bool is_in_doubt(const struct hw_policy_class *class)
{
    uint64_t off = hw_policy_off_cost_ns(class);
    return off == 0 || is_more(median(&class->on), SURE_PERCENT, off);
}

/* ---- probes, controls and trials ---- */

/* Rounds are long, and directions that came to take turns in a control keep to it for a while. */
static void schedule_control(struct hw_policy_class *class, uint64_t number)
{
    uint64_t next = number < SECOND_CONTROL ? SECOND_CONTROL : 2 * number;
    if (class->is_continued && number >= CONTINUED_CONTROL)
        next = CONTINUED_CONTROL * number;
    class->next_control = next > number + MAX_INTERVAL ? number + MAX_INTERVAL : next;
}

/* At numbers that are alike in processes that stood down at different windows. */
static void schedule_trial(struct hw_policy_class *class, uint64_t number)
{
    uint32_t interval = FIRST_TRIAL_INTERVAL;
    while (interval < MAX_INTERVAL && interval <= number / 2)
        interval *= 2;
    for (uint32_t lost = class->lost_run; lost > 0; lost--)
        interval = 4 * interval < MAX_INTERVAL ? 4 * interval : MAX_INTERVAL;
    class->next_control = (number / interval + 1) * interval;
}

/* Windows of a control or trial. */
static uint32_t run_length(const struct hw_policy_class *class, uint32_t usual)
{
    return class->is_for_others ? PERIODS_RUN : usual;
}

static enum hw_policy_way begin_control(struct hw_policy_class *class, const struct hw_policy_ledger *ledger)
{
    bool may_harm = is_suspect(class);
    uint64_t off = hw_policy_off_cost_ns(class), on = median(&class->on);
    bool is_told = class->was_probed && class->is_on_wire && off != 0;
    bool may_tell = is_told || !class->was_probed;
    bool is_probe = class->has_wire && !may_harm && class->off.count == 0 && may_tell && !class->is_continued;
    uint64_t price_ns = is_probe ? hw_policy_probe_ns(class) : off > on ? off - on : 0;
    bool is_due = may_harm || off == 0 || (is_in_doubt(class) && !is_told);
    if (!is_due && ledger->spent_ns + price_ns > ledger->saved_ns / BUDGET_PARTS)
        return HW_POLICY_WAY_ON;
    if (is_probe)
        return HW_POLICY_WAY_PROBE;
    forget(&class->off, &class->off_period);
    class->control_run = run_length(class, may_harm && !is_dear(class) ? DOUBT_RUN : CONTROL_RUN) - 1;
    return HW_POLICY_WAY_OFF;
}

static enum hw_policy_way begin_trial(struct hw_policy_class *class)
{
    /* The other way is judged by what it brings now, not long ago. */
    forget(&class->on, &class->on_period);
    class->control_run = run_length(class, TRIAL_RUN) - 1;
    return HW_POLICY_WAY_ON;
}

/* The numbered window of a class in which there is something to gain. */
static enum hw_policy_way choose(struct hw_policy_class *class, const struct hw_policy_ledger *ledger,
                                 uint64_t number)
{
    bool is_usual_on = !class->stands_down;
    if (!is_usual_on && class->control_run > 0 && hurts_others(class, LEAST_PERIODS)) {
        class->control_run = 0;
        class->lost_run += class->lost_run < MOST_LOST;
        schedule_trial(class, number);
    }
    if (class->control_run > 0) {
        class->control_run--;
        return is_usual_on ? HW_POLICY_WAY_OFF : HW_POLICY_WAY_ON;
    }
    if (is_usual_on && class->natural_run > 0) /* once may be chance */
        return HW_POLICY_WAY_PROBE;
    if (number < class->next_control ||
        (class->is_slow && is_usual_on && !is_suspect(class) && !has_to_be_tried(class)))
        return is_usual_on ? HW_POLICY_WAY_ON : HW_POLICY_WAY_OFF;
    if (is_usual_on) {
        schedule_control(class, number);
        return begin_control(class, ledger);
    }
    schedule_trial(class, number);
    return begin_trial(class);
}

enum hw_policy_way hw_policy_begin(struct hw_policy_class *class, const struct hw_policy_ledger *ledger,
                                   uint64_t now_ns)
{
    if (class->opened_ns)
        add_sample(class->was_on ? &class->on_period : &class->off_period, now_ns - class->opened_ns);
    class->opened_ns = 0;
    if (class->idle_run == HW_POLICY_IDLE_RUN)
        return !class->stands_down && hw_policy_transfer_ns(class) >= LEAST_READY_NS ? HW_POLICY_WAY_ON
                                                                                     : HW_POLICY_WAY_OFF;
    uint64_t number = class->window_count++;
    if (class->next_control == 0)
        class->next_control = class->is_continued ? CONTINUED_CONTROL : FIRST_CONTROL;
    return choose(class, ledger, number);
}

/* ---- the end of a window ---- */

/* True if the window had nothing to gain, and so says nothing about the thread. */
static bool is_idle(struct hw_policy_class *class, const struct hw_policy_window *window)
{
    if (hw_policy_free_ns(window) >= hw_policy_least_free_ns(window)) {
        class->idle_run = 0;
        return false;
    }
    add_sample(&class->alone, window->blocked_ns + window->elsewhere_ns);
    if (class->idle_run < HW_POLICY_IDLE_RUN) {
        class->idle_run++;
        class->window_count--; /* controls count windows that matter */
    }
    return true;
}

static void settle_accounts(const struct hw_policy_class *class, struct hw_policy_ledger *ledger,
                            const struct hw_policy_window *window)
{
    uint64_t cost_ns = hw_policy_cost_ns(window), off = hw_policy_off_cost_ns(class), on = median(&class->on);
    if (window->was_on && off > cost_ns)
        ledger->saved_ns += off - cost_ns;
    if (window->was_probe)
        ledger->spent_ns += hw_policy_probe_ns(class);
    if (!window->was_on && !class->stands_down && class->on.count && cost_ns > on)
        ledger->spent_ns += cost_ns - on;
}

/* Of what moved before the thread came in a probe. Of what a process receives in a collective the tracker
 * knows nothing, so what moved in all counts, too. */
static uint32_t natural_percent(const struct hw_policy_window *window)
{
    uint64_t most = window->bytes > window->wire_bytes ? window->bytes : window->wire_bytes;
    uint64_t percent = most ? 100 * window->natural_bytes / most : 0;
    return percent < 100 ? (uint32_t)percent : 100;
}

static void learn_of_probe(struct hw_policy_class *class, const struct hw_policy_window *window)
{
    class->was_probed = true;
    class->natural_percent = natural_percent(window);
    bool is_vain = window->has_unsent || class->natural_percent < NATURAL_PERCENT;
    class->vain_run = is_vain ? class->vain_run + 1 : 0;
    /* The program computes for longer than the transfer takes, so all had moved when the thread came. It may
     * have seen only a part of what moved later: the wait tells. */
    uint64_t waited_ns = window->blocked_ns + window->elsewhere_ns;
    bool was_over = !is_vain && waited_ns < window->duration_ns / WAIT_PARTS;
    class->natural_run = was_over ? class->natural_run + 1 : 0;
}

/* What is left of the transfer as the program stops computing must be waited for in any case, and so must a
 * partner that comes late, which windows with the thread show. */
static bool is_wait_explained(const struct hw_policy_class *class, const struct hw_policy_window *window)
{
    uint64_t waited_ns = window->blocked_ns + window->elsewhere_ns, free_ns = hw_policy_free_ns(window);
    uint64_t transfer_ns = hw_policy_transfer_ns(class);
    uint64_t rest_ns = transfer_ns > free_ns ? transfer_ns - free_ns : 0;
    if (waited_ns <= rest_ns + (free_ns + rest_ns) / REST_PARTS)
        return true;
    return class->on.count >= FEW && waited_ns <= median(&class->on) + free_ns / WAIT_PARTS;
}

/* The thread watched to the end. Bytes may have moved by themselves for as long as the program computed, and
 * the rest may have needed somebody: then it went as without the thread, at a price that is paid seldom. */
static void learn_of_watching(struct hw_policy_class *class, const struct hw_policy_window *window)
{
    if (is_wait_explained(class, window)) {
        class->natural_run++;
        return;
    }
    uint32_t doublings = class->blind_run < MOST_DOUBLINGS ? class->blind_run : MOST_DOUBLINGS;
    class->blind_run++;
    class->blind_until = class->window_count + (PROBED_AGAIN << doublings);
    class->natural_run = 0;
}

uint64_t hw_policy_watch_ns(const struct hw_policy_class *class)
{
    if (class->window_count < class->blind_until || class->is_continued)
        return 0;
    if (class->vain_run >= VAIN_RUN && class->natural_run == 0 && class->window_count % PROBED_AGAIN != 0)
        return 0;
    uint64_t probe_ns = hw_policy_probe_ns(class);
    return probe_ns > BURST_NS ? probe_ns : BURST_NS;
}

/* Whether to stop. What is not measured is measured first, in the next window, which is then one without the
 * thread already. */
static void decide_to_stop(struct hw_policy_class *class)
{
    if (class->natural_run >= NATURAL_RUN) {
        class->stands_down = true;
        schedule_trial(class, class->window_count);
        return;
    }
    if (class->control_run > 0 || !is_suspect(class))
        return;
    if (!is_measured_lately(class) || (class->is_for_others && !has_periods(class)))
        class->next_control = class->window_count;
    else
        class->stands_down = !helps_others(class);
    if (class->stands_down)
        schedule_trial(class, class->window_count);
}

/* Whether to go on again: after a trial, or because windows without the thread have come to cost more than
 * those with it did. Where sends come late the partner bears what an early answer costs, so rounds tell. A
 * trial that costs more is not run to its end. */
static void decide_to_start(struct hw_policy_class *class)
{
    uint64_t on = median(&class->on);
    bool is_cheaper = !class->late.is_so && is_less(on, START_PERCENT, median(&class->off)) &&
                      is_less(on, START_PERCENT, least_of_last(&class->off, REVISED_RUN));
    if (class->on.count == 0)
        return;
    if (class->control_run > 0) {
        if (!is_cheaper && !may_help_receivers(class))
            class->control_run = 0;
        return;
    }
    if (class->was_on) /* the trial was not lost */
        class->lost_run = 0;
    class->stands_down = hurts_others(class, FEW) || (!is_cheaper && !helps_others(class));
    if (!class->stands_down)
        schedule_control(class, class->window_count);
}

static void take_sample(struct hw_policy_class *class, const struct hw_policy_window *window)
{
    if (window->moving_ns)
        add_sample(&class->moving, window->moving_ns);
    if (window->has_helped)
        add_sample(&class->helped, window->helped_ns);
    if (window->was_probe) {
        learn_of_probe(class, window);
        if (!class->stands_down || class->natural_run > 0)
            return; /* else it is a trial, and the thread was needed */
    } else if (window->went_by_itself) {
        learn_of_watching(class, window);
    } else {
        class->natural_run = 0;
    }
    add_sample(window->was_on ? &class->on : &class->off, hw_policy_cost_ns(window));
    if (window->was_on)
        add_sample(&class->overhead, window->overhead_ns);
    if (!window->was_on)
        class->off_window = class->window_count;
}

/* True if the structure of windows decides (late.h). */
static bool decide_by_structure(struct hw_policy_class *class, enum hw_policy_lateness lateness)
{
    if (lateness == HW_POLICY_LATE_SAME)
        return false;
    bool stops = lateness == HW_POLICY_LATE_STOPS;
    if (stops)
        class->late.stood_down = class->stands_down;
    class->stands_down = stops || class->late.stood_down;
    class->lost_run = stops ? 1 : 0;
    class->control_run = 0;
    if (class->stands_down)
        schedule_trial(class, class->window_count);
    else
        schedule_control(class, class->window_count);
    return true;
}

bool hw_policy_end(struct hw_policy_class *class, struct hw_policy_ledger *ledger,
                   const struct hw_policy_window *window)
{
    class->has_wire = window->has_wire;
    if (window->wire_bytes && window->wire_bytes >= window->bytes / LEAST_WIRE_PARTS)
        class->is_on_wire = true;
    class->duration_ns = window->duration_ns;
    if (is_idle(class, window))
        return false;
    class->is_slow = window->duration_ns > SLOW_WINDOW_NS;
    settle_accounts(class, ledger, window);
    take_sample(class, window);
    enum hw_policy_lateness lateness = hw_policy_late_heed(&class->late, window);
    class->is_for_others = window->is_for_others || class->late.is_so;
    class->opened_ns = class->is_for_others ? window->opened_ns : 0;
    class->was_on = window->was_on;
    bool stood_down = class->stands_down;
    if (decide_by_structure(class, lateness))
        return class->stands_down != stood_down;
    if (stood_down)
        decide_to_start(class);
    else
        decide_to_stop(class);
    return class->stands_down != stood_down;
}

enum hw_policy_post hw_policy_series_post(const struct hw_policy_class *class, uint32_t count)
{
    if (class->series_run < HW_POLICY_SURE_RUN || count > class->series_length)
        return HW_POLICY_POST_TELL;
    return count < class->series_length ? HW_POLICY_POST_MORE : HW_POLICY_POST_COMPLETE;
}

void hw_policy_series_end(struct hw_policy_class *class, uint32_t count)
{
    class->series_run = count == class->series_length ? class->series_run + 1 : 0;
    class->series_length = count;
}
