/* SPDX-License-Identifier: BSD-3-Clause */
/* Who made a call that came through a layer between the program and the MPI, such as the MPI's Fortran
 * library: the return address then is the layer's, and of no use to whoever reads the profile.
 *
 * The stack is unwound (by libgcc_s, opened when it is first needed) the first time a call comes from an
 * address in such a layer. How far up the stack the program's own return address lay is remembered for that
 * address: the layer's functions have frames of one size, so it lies there the next time. Now and then it is
 * unwound again to see that this holds; where it does not, every call is unwound (some microseconds).
 *
 * Calls from an extension module of Python are those of the program's line (python.h). Any thread may call.
 */
#ifndef HW_PROFILE_CALLERS_CALLERS_H
#define HW_PROFILE_CALLERS_CALLERS_H

#include "base/visibility.h"
#include "profile/callers/places.h"

#include <stdbool.h>
#include <stdint.h>

/* Sets how a layer is known, by the path of its shared object. */
void hw_callers_prepare(bool (*is_layer)(const char *path));

/* The address in the program that a call returning to `site` came from, or its line as hw_python_find gives
 * it; `site` itself where there is no layer, or the stack cannot be unwound. What is remembered of the stack
 * holds for one way from MPI's function to here: each function of MPI asks at one place, once a call. */
const void *hw_callers_look_up(const void *site);

/* Whether a call that returns to `site` is made from an extension module of Python. */
bool hw_callers_is_python(const void *site);

/* Whether the code there belongs to a layer. */
bool hw_callers_is_layer(const void *address);

/* Finds out, and keeps, where the program's code there lies: its module may be unloaded later. */
void hw_callers_keep(const void *address);

/* Where code that was looked up lay then: it may be unloaded since, and other code be there. NULL: it was
 * not, as the program's own. */
const struct hw_place *hw_callers_place_of(const void *site);

/* The program's own code: most calls come from there, and it is no layer. */
struct hw_callers_program {
    uintptr_t begin, bytes;
};
extern HW_HIDDEN struct hw_callers_program hw_callers_program;

static inline const void *hw_callers_find(const void *site)
{
    if (__builtin_expect((uintptr_t)site - hw_callers_program.begin < hw_callers_program.bytes, 1))
        return site;
    return hw_callers_look_up(site);
}

#endif
