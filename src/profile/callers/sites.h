/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of call sites: fixed in size, filled as calls come, never emptied. Everything here is under the
 * lock (lock.h) once the table is open. Internal to src/profile. */
#ifndef HW_PROFILE_CALLERS_SITES_H
#define HW_PROFILE_CALLERS_SITES_H

#include "profile/record/fields.h"

#include <stdbool.h>
#include <stdint.h>

/* What every call adds to lies in one cache line. A door is a call that completes requests; sampled doors are
 * those around which the wire was looked at. */
struct hw_profile_site {
    _Alignas(64) const void *address; /* as hw_callers_find gives it; NULL: free */
    const char *function;
    unsigned size_class; /* 0: no bytes; n: from 2^(n-1) bytes */
#define HW_SITE_FIELD(name, meaning) uint64_t name;
    HW_RECORD_SITE_COUNTERS(HW_SITE_FIELD)
#undef HW_SITE_FIELD
};

/* Makes the table. False if there is no memory. */
bool hw_sites_open(void);

/* The entry of this key; when the table is full, one entry for all that came too late. */
struct hw_profile_site *hw_sites_find(const void *address, const char *function, uint64_t bytes);

/* One more call. */
void hw_sites_count(struct hw_profile_site *site, uint64_t bytes, uint64_t took_ns);

/* Adds the entries to the record's list of sites.. */
void hw_sites_write(struct hw_record_list *list, const void *unused);

/* Position of an entry in what hw_sites_write writes is its position in the table; the table says which. */
unsigned hw_sites_index(const struct hw_profile_site *site);

#endif
