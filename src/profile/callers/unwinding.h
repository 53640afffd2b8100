/* SPDX-License-Identifier: BSD-3-Clause */
/* The stack as libgcc_s unwinds it. That is not linked: a library of its own for every process, for the few
 * that are profiled; it is opened when it is first needed. Any thread may call. */
#ifndef HW_PROFILE_CALLERS_UNWINDING_H
#define HW_PROFILE_CALLERS_UNWINDING_H

#include <stdbool.h>
#include <unwind.h>

enum { HW_UNWOUND_MOST = 24 };

struct hw_unwinder {
    _Unwind_Reason_Code (*backtrace)(_Unwind_Trace_Fn, void *);
    _Unwind_Ptr (*ip)(struct _Unwind_Context *);
    _Unwind_Word (*cfa)(struct _Unwind_Context *);
};

/* NULL: there is none. */
const struct hw_unwinder *hw_unwinder_open(void);

/* A return address, and where on the stack it lies (NULL: not there). */
struct hw_unwound {
    const void *address;
    const char *slot;
    bool is_layer; /* of the MPI's own (hw_callers_is_layer) */
};

/* Whether a word there lies on the calling thread's stack. Where a frame has another size than it had, what
 * is remembered of it may lead beyond the stack's end. Errno may change. */
bool hw_stack_has(const void *word);

/* The frames from the one to which MPI returns at `site` upwards: WANTED without layers, or all up to where
 * the C library started the program or thread. Returns how many; 0: they cannot be unwound. */
int hw_unwind(const void *site, int wanted, struct hw_unwound frames[HW_UNWOUND_MOST]);

#endif
