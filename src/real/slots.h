/* SPDX-License-Identifier: BSD-3-Clause */
/* A slot is where the loader bound a call of one loaded object; another value there stands in front of that
 * object's calls, and of nobody else's. For functions that are no MPI's to interpose, such as read(2) in the
 * MPI itself.
 *
 * One caller at a time for each object, while no thread is loading or unloading any. */
#ifndef HW_REAL_SLOTS_H
#define HW_REAL_SLOTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

struct hw_real_slot {
    const char *name;
    void *ours;   /* what is called instead */
    void *theirs; /* filled: what the object would call */
    /* The rest is the module's. */
    void **place;
    void *former;
};

/* Finds all of them, and changes nothing. False if the object does not call every one of them through a slot,
 * or if this processor's relocations are not known here. */
bool hw_real_slots_find(const struct link_map *map, struct hw_real_slot *slots, size_t count);

/* From here on the object calls `ours`. False, with nothing changed, if its slots cannot be written. After
 * hw_real_slots_find. */
bool hw_real_slots_take(const struct link_map *map, struct hw_real_slot *slots, size_t count);

/* As it was before hw_real_slots_take. */
void hw_real_slots_give(const struct link_map *map, struct hw_real_slot *slots, size_t count);

#endif
