/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of ghosts (hw_world_ghost_place) and the user processes that each serves, in the order of the
 * program's world: the same in all ghosts. Ghost's only thread. */
#ifndef HW_ENGINES_COLL_GHOST_PLACES_H
#define HW_ENGINES_COLL_GHOST_PLACES_H

#include <stdbool.h>

struct hw_coll_place {
    int count;  /* 0: it takes part in nothing */
    int *ranks; /* in the program's world, rising */
};

/* False: no memory. */
bool hw_coll_places_open(void);
void hw_coll_places_close(void);

int hw_coll_own_place(void);
const struct hw_coll_place *hw_coll_place_at(int place);

/* Of the ghost that serves a rank of the program's world. */
int hw_coll_place_of(int rank);
/* Where it is among those of its ghost. */
int hw_coll_member_of(int rank);

/* The places that have members, rising. */
int hw_coll_place_count(void);
const int *hw_coll_places(void);

#endif
