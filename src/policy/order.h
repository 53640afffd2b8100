/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a program that posts large receives posts large sends after them: then those receives may
 * begin after the sends (progress/postponed.h). Pure. */
#ifndef HW_POLICY_ORDER_H
#define HW_POLICY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed at first. A series are posts without a call between them that completes anything. */
struct hw_policy_order {
    bool has_received, has_followed; /* it began with a receive; a send came then */
    uint32_t sends, last_sends;      /* of this series; of the last one that had any */
    uint32_t run;                    /* series in a row in which sends followed the receives */
};

/* One more post. True if no more sends are expected: the series has as many as the last one had. */
bool hw_policy_order_post(struct hw_policy_order *order, bool is_receive);

/* The series is over. */
void hw_policy_order_end(struct hw_policy_order *order);

bool hw_policy_order_is_sure(const struct hw_policy_order *order);

#endif
