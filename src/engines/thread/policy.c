#include "engines/thread/policy.h"

#include <string.h>

enum {
    /* Windows 3 and 4 are the first control: few, because a control of one process spoils the window of its
     * partner too, and late, because the first use of a connection is unlike the rest. */
    FIRST_CONTROL = 3,
    LEARNING_WINDOWS = 8,
    FIRST_CONTROL_INTERVAL = 32,
    MAX_CONTROL_INTERVAL = 1024,
    OFF_CONTROL_RUN = 2,
    ON_CONTROL_RUN = 4,
    LEAST_PERIODS = 2, /* with the thread and without, before they say anything */
    LEAST_ON_RUN = 2,  /* an "on" control ends after as many if each was worse than doing without */
};

/* What the thread must cost, in percent of doing without it, to be stopped, and then to be started again.
 * Where both ways cost the same the decision must not wander, least of all in one of two partners. */
enum { STOP_PERCENT = 106, START_PERCENT = 95 };

/* In how many percent of the time windows that may be for others must follow one another to be worth more
 * cost here. */
enum { PERIOD_PERCENT = 90 };

/* The least time between post and wait that is worth a wake-up, which costs the program 6 to 15 us. */
#define MIN_GAIN_NS UINT64_C(60000)

/* Longer windows are never run without the thread just to learn. */
#define SLOW_WINDOW_NS UINT64_C(100000000)

static uint32_t control_run(const struct hw_policy_class *class)
{
    return class->stands_down ? ON_CONTROL_RUN : OFF_CONTROL_RUN;
}

static void schedule_control(struct hw_policy_class *class, uint32_t number)
{
    class->next_control = number + class->control_interval;
    if (class->control_interval < MAX_CONTROL_INTERVAL)
        class->control_interval *= 2;
}

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

bool hw_policy_begin(struct hw_policy_class *class, uint64_t now_ns)
{
    if (class->opened_ns)
        add_sample(class->was_on ? &class->on_period : &class->off_period, now_ns - class->opened_ns);
    class->opened_ns = 0;
    if (class->idle_run == HW_POLICY_IDLE_RUN)
        return false;
    uint32_t number = class->window_count++;
    if (number == 0) {
        class->next_control = FIRST_CONTROL;
        class->control_interval = FIRST_CONTROL_INTERVAL;
    }
    if (number < class->next_control || (class->is_slow && !class->stands_down))
        return !class->stands_down;
    /* The other way is judged by what it brings now, not long ago. */
    if (number == class->next_control && class->stands_down)
        forget(&class->on, &class->on_period);
    else if (number == class->next_control)
        forget(&class->off, &class->off_period);
    if (number + 1 >= class->next_control + control_run(class))
        schedule_control(class, number);
    return class->stands_down;
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
    return sorted.cost_ns[(sorted.count - 1) / 2];
}

/* The cheapest of some windows with the thread; there is one. */
static uint64_t least(const struct hw_policy_samples *samples) { return sort(samples).cost_ns[0]; }

static uint64_t most(const struct hw_policy_samples *samples)
{
    struct sorted sorted = sort(samples);
    return sorted.cost_ns[sorted.count - 1];
}

uint64_t hw_policy_transfer_ns(const struct hw_policy_class *class)
{
    return class->off.count ? median(&class->off) : 0;
}

uint64_t hw_policy_off_cost_ns(const struct hw_policy_class *class)
{
    return class->off.count >= OFF_CONTROL_RUN ? median(&class->off) : 0;
}

/* True if the window had nothing to gain, and so says nothing about the thread. */
static bool is_idle(struct hw_policy_class *class, const struct hw_policy_window *window)
{
    if (window->duration_ns >= window->blocked_ns + window->elsewhere_ns + MIN_GAIN_NS) {
        class->idle_run = 0;
        return false;
    }
    if (class->idle_run < HW_POLICY_IDLE_RUN) {
        class->idle_run++;
        class->window_count--; /* controls count windows that matter */
    }
    return true;
}

/* Of an even number the upper one. */
static uint64_t upper_median(const struct hw_policy_samples *samples)
{
    struct sorted sorted = sort(samples);
    return sorted.cost_ns[sorted.count / 2];
}

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
    return helps_others(class) || (class->opened_ns && !has_periods(class));
}

/* Undecided while a control is under way. */
static bool should_stand_down(const struct hw_policy_class *class)
{
    uint64_t on = median(&class->on), off = median(&class->off);
    if (class->stands_down)
        return class->next_control < class->window_count ||
               (!is_less(on, START_PERCENT, off) && !helps_others(class));
    return class->off.count >= OFF_CONTROL_RUN && is_more(on, STOP_PERCENT, off) &&
           !may_help_receivers(class);
}

/* After the first control: even the best window with the thread was worse than the worst without it. A short
 * run should not pay for more windows to learn what is plain. */
static bool is_plainly_useless(const struct hw_policy_class *class)
{
    return class->off.count >= OFF_CONTROL_RUN && !may_help_receivers(class) &&
           is_more(least(&class->on), STOP_PERCENT, most(&class->off));
}

/* Likewise an "on" control that gets worse windows than those without the thread is not run to its end. */
static void cut_control(struct hw_policy_class *class)
{
    bool is_under_way = class->stands_down && class->next_control < class->window_count;
    if (is_under_way && class->on.count >= LEAST_ON_RUN && least(&class->on) > median(&class->off) &&
        !may_help_receivers(class))
        schedule_control(class, class->window_count - 1);
}

bool hw_policy_end(struct hw_policy_class *class, const struct hw_policy_window *window)
{
    if (is_idle(class, window))
        return false;
    class->is_slow = window->duration_ns > SLOW_WINDOW_NS;
    add_sample(window->was_on ? &class->on : &class->off, hw_policy_cost_ns(window));
    class->opened_ns = window->is_for_others ? window->opened_ns : 0;
    class->was_on = window->was_on;
    if (class->on.count == 0 || class->off.count == 0)
        return false;
    if (class->window_count < LEARNING_WINDOWS && !is_plainly_useless(class))
        return false;
    cut_control(class);
    bool stood_down = class->stands_down;
    class->stands_down = should_stand_down(class);
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
