/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/ghost/unmatched.h"

#include "base/clock.h"
#include "base/log.h"
#include "engines/p2p/ghost/pairs.h"
#include "engines/p2p/ghost/rings.h"
#include "ghost/give_up.h"
#include "world/world.h"

#include <stdlib.h>

#define EACH_NS (1000 * HW_NS_PER_MS)
enum { READS_MAX = 64, PROBES_MAX = 64 }; /* at a time; of a table that is half full at most */

/* Where a user process has the counts of a communicator. */
static struct place {
    struct place *next;
    const struct hw_p2p_user *user;
    uint64_t comm, address;
} * places;

static uint64_t next_ns;
static int reads;

void hw_p2p_unmatched_seal(struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct place *place = malloc(sizeof *place);
    if (place == NULL)
        hw_ghost_give_up("has no memory for communicators");
    *place = (struct place){.next = places, .user = user, .comm = command->comm, .address = command->address};
    places = place;
}

static struct place **find(const struct hw_p2p_user *user, uint64_t comm)
{
    struct place **link = &places;
    while (*link && ((*link)->user != user || (*link)->comm != comm))
        link = &(*link)->next;
    return link;
}

void hw_p2p_unmatched_unseal(const struct hw_p2p_user *user, const struct hw_p2p_command *command)
{
    struct place **link = find(user, command->comm), *place = *link;
    if (place)
        *link = place->next;
    free(place);
}

void hw_p2p_unmatched_close(void)
{
    for (struct place *place; (place = places) != NULL;) {
        places = place->next;
        free(place);
    }
}

/* False: the user process has none, or moves its table. */
static bool read_counts(const struct hw_p2p_user *user, const struct hw_p2p_key *key,
                        struct hw_p2p_counts *counts, struct hw_p2p_smalls *smalls)
{
    const struct place *place = *find(user, key->comm);
    uint64_t wanted = hw_p2p_smalls_key(key->from, key->tag);
    if (place == NULL || hw_p2p_user_read(user, place->address, counts, sizeof *counts) != 0 ||
        counts->room == 0)
        return false;
    uint64_t at = hw_p2p_smalls_place(wanted, counts->room);
    for (int i = 0; i < PROBES_MAX; i++, at = (at + 1) & (counts->room - 1)) {
        if (hw_p2p_user_read(user, counts->table + at * sizeof *smalls, smalls, sizeof *smalls) != 0 ||
            smalls->key == 0)
            return false;
        if (smalls->key == wanted)
            return true;
    }
    return false;
}

static _Noreturn void end_job(const struct hw_p2p_offered *offered, struct hw_p2p_counts *counts)
{
    const struct hw_p2p_key *key = &offered->link.key;
    counts->comm_name[HW_P2P_NAME_BYTES - 1] = '\0';
    hw_log_error(
        "rank %d receives less than the %llu bytes that rank %d has sent, with tag %d, on communicator "
        "\"%s\", whose info says that lengths are equal; take mpi_assert_exact_length out of "
        "MPI_Comm_set_info or MPI_Comm_dup_with_info. The job ends",
        hw_world.processes[key->to].user_rank, (unsigned long long)offered->bytes,
        hw_world.processes[key->from].user_rank, (int)key->tag, counts->comm_name);
    hw_ghost_end_job();
}

/* Commands that the user process wrote before it counted are obeyed before the next look. So a message that
 * is here twice has no receive that is older than what was counted the first time. */
static bool look(struct hw_p2p_offered *offered)
{
    struct hw_p2p_counts counts;
    struct hw_p2p_smalls smalls;
    const struct hw_p2p_user *user = hw_p2p_user_of(offered->link.key.to);
    bool is_known = user && read_counts(user, &offered->link.key, &counts, &smalls);
    bool is_doubtful = is_known && smalls.received - smalls.withdrawn > offered->before;
    if (is_doubtful && offered->is_doubted)
        end_job(offered, &counts);
    offered->is_doubted = is_doubtful;
    return ++reads < READS_MAX;
}

void hw_p2p_unmatched_look(void)
{
    if (!hw_p2p_rings_have_unclaimed())
        return;
    uint64_t now_ns = hw_clock_now_ns();
    if (now_ns < next_ns)
        return;
    next_ns = now_ns + EACH_NS;
    reads = 0;
    hw_p2p_pairs_look_over(look);
}
