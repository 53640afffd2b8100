/* SPDX-License-Identifier: BSD-3-Clause */
/* These functions of the progress thread are for engine.c beside it; each does what the member of struct
 * hw_engine says that has its name (engines/engine.h). */
#ifndef HW_ENGINES_THREAD_THREAD_H
#define HW_ENGINES_THREAD_THREAD_H

#include "base/status.h"
#include "objects/request.h"
#include "profile/record.h"

#include <stdbool.h>
#include <stdint.h>

enum hw_status hw_thread_start(bool has_world);
void hw_thread_stop(void);
void hw_thread_abandon(void);
void hw_thread_posts(void);
void hw_thread_unposted(void);
void hw_thread_posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive);
void hw_thread_waits(unsigned looked);
/* Something was posted that is nothing for the thread. */
void hw_thread_passed_over(enum hw_request_kind kind, bool is_receive);
/* The program has sent so much by a call that blocks. */
void hw_thread_sent(uint64_t bytes, uint64_t began_ns);
void hw_thread_returned(uint64_t blocked_ns, int still_pending);
void hw_thread_retire(void);
void hw_thread_exposed(int change);
void hw_thread_passed(void);
void hw_thread_deferred(void);
void hw_thread_pause(bool is_paused);
void hw_thread_listen(bool is_listened);

bool hw_thread_is_started(void);

/* Its trigger and CPU time, once it is started. */
void hw_thread_describe(struct hw_record_facts *facts);

#endif
