/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/coll/ghost/places.h"

#include "world/world.h"

#include <stdlib.h>

static struct hw_coll_place *all; /* their ranks lie in `ranks` */
static int *ranks, *taking_part, *members;
static int own_place, taking_count;

int hw_coll_place_of(int rank) { return hw_world_ghost_place(hw_world.user_ranks[rank]); }

bool hw_coll_places_open(void)
{
    size_t users = (size_t)hw_world.user_count, places = (size_t)hw_world.ghost_count;
    all = calloc(places, sizeof *all);
    ranks = calloc(users, sizeof *ranks);
    members = calloc(users, sizeof *members);
    taking_part = calloc(places, sizeof *taking_part);
    if (!all || !ranks || !members || !taking_part)
        return false;
    own_place = hw_world_ghost_place(hw_world.rank);
    for (int rank = 0; rank < hw_world.user_count; rank++)
        members[rank] = all[hw_coll_place_of(rank)].count++;
    int *next = ranks;
    taking_count = 0;
    for (int place = 0; place < hw_world.ghost_count; place++) {
        all[place].ranks = next;
        next += all[place].count;
        if (all[place].count > 0)
            taking_part[taking_count++] = place;
    }
    for (int rank = 0; rank < hw_world.user_count; rank++)
        all[hw_coll_place_of(rank)].ranks[members[rank]] = rank;
    return true;
}

void hw_coll_places_close(void)
{
    free(all);
    free(ranks);
    free(members);
    free(taking_part);
    all = NULL;
    ranks = members = taking_part = NULL;
}

int hw_coll_own_place(void) { return own_place; }

const struct hw_coll_place *hw_coll_place_at(int place) { return &all[place]; }

int hw_coll_member_of(int rank) { return members[rank]; }

int hw_coll_place_count(void) { return taking_count; }

const int *hw_coll_places(void) { return taking_part; }
