/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a message is to be packed by us. Any thread, inside MPI. */
#ifndef HW_ENGINES_PACK_WORTH_H
#define HW_ENGINES_PACK_WORTH_H

#include "engines/pack/message.h"

#include <stdbool.h>

/* The MPI has accepted a call: from here on its datatype may have a plan. `is_through`: the buffer is the
 * program's again. */
void hw_pack_message_accepted(const struct hw_pack_given *given, bool is_through);

/* The plan by which it is packed; NULL: the MPI's way. *bytes: what is packed. */
struct hw_plan *hw_pack_message_plan(const struct hw_pack_given *given, struct hw_plan *plan, int64_t *bytes);

#endif
