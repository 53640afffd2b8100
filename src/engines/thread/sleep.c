/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/thread/sleep.h"
#include "base/atomic.h"
#include "progress/alarm.h"
#include "shm/futex.h"

static _Atomic uint32_t state; /* enum hw_sleep */
static struct hw_alarm wake_up;

void hw_sleep_open(void) { hw_alarm_open(&wake_up); }

void hw_sleep_close(void) { hw_alarm_close(&wake_up); }

void hw_sleep_rest(enum hw_sleep depth, uint64_t timeout_ns, bool (*is_to_go_on)(enum hw_sleep depth))
{
    if (depth == HW_SLEEP_PARKED && hw_alarm_is_there(&wake_up))
        depth = HW_SLEEP_PARKED_ON_ALARM;
    hw_atomic_store_seq_cst(&state, depth);
    bool goes_on = is_to_go_on(depth);
    if (!goes_on && depth == HW_SLEEP_PARKED_ON_ALARM)
        hw_alarm_sleep(&wake_up, timeout_ns);
    else if (!goes_on)
        hw_futex_wait(&state, depth, timeout_ns);
    hw_atomic_store_seq_cst(&state, HW_SLEEP_AWAKE);
}

bool hw_sleep_is_awake(void) { return hw_atomic_load_seq_cst(&state) == HW_SLEEP_AWAKE; }

bool hw_sleep_take(enum hw_sleep depth, enum hw_sleep *found)
{
    uint32_t seen = hw_atomic_load_seq_cst(&state);
    bool is_taken = (seen >= depth || seen == HW_SLEEP_ARMED) &&
                    hw_atomic_compare_exchange_seq_cst(&state, &seen, HW_SLEEP_AWAKE);
    *found = (enum hw_sleep)seen;
    return is_taken;
}

void hw_sleep_end(enum hw_sleep found)
{
    if (found == HW_SLEEP_ARMED || found == HW_SLEEP_PARKED_ON_ALARM)
        hw_alarm_set(&wake_up, 0);
    else
        hw_futex_wake(&state, 1);
}

void hw_sleep_end_all(void)
{
    hw_atomic_store_seq_cst(&state, HW_SLEEP_AWAKE);
    hw_futex_wake(&state, 1);
    hw_alarm_set(&wake_up, 0);
}

enum hw_sleep_arming hw_sleep_arm(uint64_t delay_ns)
{
    uint32_t parked = HW_SLEEP_PARKED_ON_ALARM;
    if (hw_atomic_load_seq_cst(&state) == HW_SLEEP_ARMED)
        return HW_SLEEP_WAS_ARMED;
    if (!hw_atomic_compare_exchange_seq_cst(&state, &parked, HW_SLEEP_ARMED))
        return HW_SLEEP_CANNOT_ARM;
    hw_alarm_set(&wake_up, delay_ns);
    return HW_SLEEP_IS_ARMED;
}

bool hw_sleep_disarm(void)
{
    uint32_t armed = HW_SLEEP_ARMED;
    if (hw_atomic_load_relaxed(&state) != HW_SLEEP_ARMED ||
        !hw_atomic_compare_exchange_seq_cst(&state, &armed, HW_SLEEP_PARKED_ON_ALARM))
        return false;
    hw_alarm_cancel(&wake_up);
    /* Another thread of the program may have armed it or ended the sleep in between, and this has cancelled
     * that. */
    if (hw_atomic_load_seq_cst(&state) != HW_SLEEP_PARKED_ON_ALARM)
        hw_alarm_set(&wake_up, 0);
    return true;
}
