/* SPDX-License-Identifier: BSD-3-Clause */
/* Where code lies, as whoever reads the record can look it up. Asks the loader, so it must be called while
 * the code is loaded, and without a lock of ours: constructors that the loader runs may call MPI.
 *
 * Internal to src/profile. */
#ifndef HW_PROFILE_CALLERS_PLACES_H
#define HW_PROFILE_CALLERS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

struct hw_place {
    char *module;    /* absolute, as far as that can be found out */
    uint64_t offset; /* from its first byte */
    char *symbol;    /* nearest exported one; NULL: none */
    char *build_id;  /* of the module, in hexadecimal; NULL: it has none */
};

/* The place of the call that returns to this address, to be released. False: there is none, or no memory. */
bool hw_place_find(const void *address, struct hw_place *place);
void hw_place_release(struct hw_place *place);

#endif
