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
};

/* The least time between post and wait that is worth a wake-up, which costs the program 6 to 15 us. */
#define MIN_GAIN_NS UINT64_C(60000)

/* Longer windows are never run without the thread just to learn. */
#define SLOW_WINDOW_NS UINT64_C(100000000)

static uint32_t control_run(const struct hw_policy_class *class)
{
    return class->stands_down ? ON_CONTROL_RUN : OFF_CONTROL_RUN;
}

bool hw_policy_begin(struct hw_policy_class *class)
{
    if (class->idle_run == HW_POLICY_IDLE_RUN)
        return false;
    uint32_t number = class->window_count++;
    if (number == 0) {
        class->next_control = FIRST_CONTROL;
        class->control_interval = FIRST_CONTROL_INTERVAL;
    }
    if (number < class->next_control || (class->is_slow && !class->stands_down))
        return !class->stands_down;
    if (number == class->next_control) /* the other way is judged by what it brings now, not long ago */
        *(class->stands_down ? &class->on : &class->off) = (struct hw_policy_samples){0};
    if (number + 1 >= class->next_control + control_run(class)) {
        class->next_control = number + class->control_interval;
        if (class->control_interval < MAX_CONTROL_INTERVAL)
            class->control_interval *= 2;
    }
    return class->stands_down;
}

static void add_sample(struct hw_policy_samples *samples, uint64_t cost_ns)
{
    samples->cost_ns[samples->count++ % HW_POLICY_SAMPLE_COUNT] = cost_ns;
}

static uint64_t median(const struct hw_policy_samples *samples)
{
    uint64_t sorted[HW_POLICY_SAMPLE_COUNT];
    uint32_t count = samples->count < HW_POLICY_SAMPLE_COUNT ? samples->count : HW_POLICY_SAMPLE_COUNT;
    memcpy(sorted, samples->cost_ns, count * sizeof sorted[0]);
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j > 0 && sorted[j] < sorted[j - 1]; j--) {
            uint64_t swap = sorted[j];
            sorted[j] = sorted[j - 1];
            sorted[j - 1] = swap;
        }
    return sorted[count / 2];
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
    if (window->duration_ns >= window->blocked_ns + MIN_GAIN_NS) {
        class->idle_run = 0;
        return false;
    }
    if (class->idle_run < HW_POLICY_IDLE_RUN) {
        class->idle_run++;
        class->window_count--; /* controls count windows that matter */
    }
    return true;
}

/* With a margin either way: where both ways cost the same the decision must not wander, least of all in one
 * of two partners. Undecided while a control is still under way. */
static bool should_stand_down(const struct hw_policy_class *class)
{
    double on = (double)median(&class->on), off = (double)median(&class->off);
    if (class->stands_down)
        return class->on.count < ON_CONTROL_RUN || on >= 0.95 * off;
    return class->off.count >= OFF_CONTROL_RUN && on > 1.06 * off;
}

bool hw_policy_end(struct hw_policy_class *class, const struct hw_policy_window *window)
{
    if (is_idle(class, window))
        return false;
    class->is_slow = window->duration_ns > SLOW_WINDOW_NS;
    add_sample(window->was_on ? &class->on : &class->off, window->cost_ns);
    if (class->window_count < LEARNING_WINDOWS || class->on.count == 0 || class->off.count == 0)
        return false;
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
