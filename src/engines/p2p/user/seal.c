/* SPDX-License-Identifier: BSD-3-Clause */
#include "engines/p2p/user/seal.h"

#include "base/log.h"
#include "engines/engine.h"
#include "engines/p2p/user/sealed.h"
#include "engines/p2p/user/turns.h"
#include "objects/comm_state.h"
#include "profile/record.h"
#include "profile/record/counters.h"
#include "real/constants.h"
#include "real/end_job.h"
#include "real/info.h"
#include "world/members.h"
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_SOURCE = 1, NO_TAG = 2, EXACT = 4, ASSERTED = NO_SOURCE | NO_TAG | EXACT };
enum { RECENT = 16, FIRST_ROOM = 16, EXIT_BROKEN = 1, VALUE_MAX = 64 };

bool hw_p2p_seals_are_open;
static bool is_able;
static uint64_t default_min_bytes;
static uint64_t next_id = 1;

/* Found without the MPI. */
static struct {
    MPI_Comm comm;
    struct hw_p2p_seal *seal; /* NULL: empty */
} recent[RECENT];

void hw_p2p_seal_hold(struct hw_p2p_seal *seal)
{
    bool has_turn = hw_p2p_turn_begin();
    seal->holders++;
    hw_p2p_turn_end(has_turn);
}

void hw_p2p_seal_release(struct hw_p2p_seal *seal)
{
    bool has_turn = hw_p2p_turn_begin();
    bool is_last = --seal->holders == 0;
    hw_p2p_turn_end(has_turn);
    if (!is_last)
        return;
    free(seal->processes);
    free(seal->smalls);
    free(seal);
}

static void end_seal(void *of)
{
    struct hw_p2p_seal *seal = of;
    memset(recent, 0, sizeof recent);
    seal->has_ended = true;
    if (seal->id && hw_p2p_seals_are_open)
        hw_p2p_sealed_show(seal, false);
    hw_p2p_seal_release(seal);
}

static struct hw_comm_state state = {.mutex = PTHREAD_MUTEX_INITIALIZER, .ended = end_seal};

void hw_p2p_seals_open(bool can, uint64_t min_bytes)
{
    is_able = can;
    default_min_bytes = min_bytes;
    hw_p2p_seals_are_open = can;
}

void hw_p2p_seals_close(void)
{
    hw_p2p_seals_are_open = false;
    memset(recent, 0, sizeof recent);
    hw_comm_state_close(&state);
}

/* ---- finding --------------------------------------------------------------------------------------------
 */

static void *make(MPI_Comm comm)
{
    struct hw_p2p_seal *seal = calloc(1, sizeof *seal);
    (void)comm;
    if (seal)
        seal->holders = 1;
    return seal;
}

static unsigned place_of(MPI_Comm comm)
{
    uint64_t bits = (uint64_t)(uintptr_t)comm; // NOLINT(bugprone-sizeof-expression): a number or a pointer
    return (unsigned)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 60) % RECENT;
}

static struct hw_p2p_seal *seal_of(MPI_Comm comm)
{
    if (__builtin_expect(hw_p2p_takes_turns(), 0))
        return hw_comm_state_of(&state, comm, make);
    unsigned place = place_of(comm);
    if (__builtin_expect(recent[place].seal != NULL && recent[place].comm == comm, 1))
        return recent[place].seal;
    struct hw_p2p_seal *seal = hw_comm_state_of(&state, comm, make);
    recent[place].comm = comm;
    recent[place].seal = seal;
    return seal;
}

struct hw_p2p_seal *hw_p2p_seal_for(MPI_Comm comm)
{
    struct hw_p2p_seal *seal = comm == HW_COMM_NULL ? NULL : seal_of(comm);
    if (seal == NULL)
        return NULL;
    seal->is_used = true;
    return seal->id ? seal : NULL;
}

static struct hw_p2p_smalls *smalls_of(struct hw_p2p_seal *seal, uint64_t key)
{
    for (uint64_t place = hw_p2p_smalls_place(key, seal->counts.room);; place++) {
        struct hw_p2p_smalls *smalls = &seal->smalls[place & (seal->counts.room - 1)];
        if (smalls->key == key)
            return smalls;
        if (smalls->key)
            continue;
        smalls->key = key;
        seal->smalls_count++;
        return smalls;
    }
}

/* It has its name by then, mostly: that is given before the first message. */
static void tell_name(struct hw_p2p_seal *seal)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    if (!seal->has_ended && hw_bottom.Comm_get_name(seal->comm, name, &length) == MPI_SUCCESS)
        snprintf(seal->counts.comm_name, sizeof seal->counts.comm_name, "%.*s",
                 (int)sizeof seal->counts.comm_name - 1, name);
}

static bool grow(struct hw_p2p_seal *seal)
{
    uint64_t old_room = seal->counts.room, room = old_room ? 2 * old_room : FIRST_ROOM;
    struct hw_p2p_smalls *old = seal->smalls, *grown = calloc(room, sizeof *grown);
    if (grown == NULL)
        return false;
    tell_name(seal);
    seal->smalls = grown;
    seal->smalls_count = 0;
    seal->counts.table = (uint64_t)(uintptr_t)grown;
    seal->counts.room = room;
    for (uint64_t i = 0; i < old_room; i++)
        if (old[i].key)
            *smalls_of(seal, old[i].key) = old[i];
    free(old);
    return true;
}

struct hw_p2p_smalls *hw_p2p_seal_smalls(struct hw_p2p_seal *seal, int peer, int tag)
{
    if (2 * ((uint64_t)seal->smalls_count + 1) > seal->counts.room && !grow(seal))
        return NULL;
    return smalls_of(seal, hw_p2p_smalls_key(seal->processes[peer], tag));
}

/* ---- assertions -----------------------------------------------------------------------------------------
 */

/* What of `asserted` an info that says nothing of it leaves, and what it adds. */
static unsigned heed(MPI_Info info, unsigned asserted)
{
    static const struct {
        const char *key, *yes;
        unsigned bits;
    } known[] = {{"mpi_assert_no_any_source", "true", NO_SOURCE},
                 {"mpi_assert_no_any_tag", "true", NO_TAG},
                 {"mpi_assert_exact_length", "true", EXACT},
                 {"wildcard_used", "none", NO_SOURCE | NO_TAG}};
    char value[VALUE_MAX + 1];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (hw_real_info_read(info, known[i].key, value, VALUE_MAX))
            asserted =
                strcmp(value, known[i].yes) == 0 ? asserted | known[i].bits : asserted & ~known[i].bits;
    return asserted;
}

/* Of the info key offload_min_msgsz, or the job's. A message without bytes is never moved. */
static uint64_t wanted_min_bytes(MPI_Info info)
{
    char value[VALUE_MAX + 1], *end;
    if (!hw_real_info_read(info, "offload_min_msgsz", value, VALUE_MAX))
        return default_min_bytes;
    unsigned long long bytes = strtoull(value, &end, 10);
    if (end == value || *end != '\0' || *value == '-') {
        hw_log_warn("the info key offload_min_msgsz has the value %s, which is no number of bytes; messages "
                    "of %llu bytes and more are moved by ghosts",
                    value, (unsigned long long)default_min_bytes);
        return default_min_bytes;
    }
    return bytes > 0 ? bytes : 1;
}

/* ---- agreeing --------------------------------------------------------------------------------------------
 */

/* Maxima over the members. */
enum word { WORD_UNABLE, WORD_USED, WORD_UNASSERTED, WORD_ID, WORD_BYTES, WORDS };

static bool is_within_node(const struct hw_world_members *members)
{
    for (int i = 1; i < members->size; i++)
        if (hw_world.processes[members->processes[i]].node != hw_world.processes[members->processes[0]].node)
            return false;
    return true;
}

/* Nothing of ours travels on a communicator of the program's; and a duplicate would copy its attributes. */
static bool exchange(MPI_Comm comm, int rank, const uint64_t *own, uint64_t *words)
{
    MPI_Comm private;
    if (hw_bottom.Comm_split(comm, 0, rank, &private) != MPI_SUCCESS)
        return false;
    bool is_told = hw_bottom.Allreduce(own, words, WORDS, HW_UINT64_T, HW_MAX, private) == MPI_SUCCESS;
    hw_bottom.Comm_free(&private);
    return is_told;
}

static const char *judge(const uint64_t *words)
{
    if (words[WORD_UNASSERTED])
        return ""; /* the usual case */
    if (words[WORD_UNABLE])
        return "p2p: no seal at MPI_THREAD_MULTIPLE, by HEADWAY_P2P=auto, or where a ghost cannot write";
    return words[WORD_USED] ? "p2p: no seal on a communicator that has been used" : NULL;
}

static bool take_members(struct hw_p2p_seal *seal, const struct hw_world_members *members)
{
    size_t bytes = (size_t)members->size * sizeof members->processes[0];
    free(seal->processes);
    seal->size = members->size;
    seal->processes = malloc(bytes);
    if (seal->processes)
        memcpy(seal->processes, members->processes, bytes);
    return seal->processes != NULL;
}

/* Collective over the communicator. Whether it takes part is the same for all its members. */
static void agree(MPI_Comm comm, MPI_Info info)
{
    const struct hw_world_members *members = hw_world_members_of(comm);
    if (members == NULL || members->size < 2 || is_within_node(members))
        return;
    struct hw_p2p_seal *seal = is_able && !hw_p2p_takes_turns() ? seal_of(comm) : NULL;
    if (seal && seal->id)
        return; /* so all have */
    if (seal && !take_members(seal, members))
        seal = NULL;
    uint64_t words[WORDS], own[WORDS] = {[WORD_UNABLE] = seal == NULL, [WORD_ID] = next_id};
    own[WORD_BYTES] = wanted_min_bytes(info);
    if (seal) {
        seal->asserted = heed(info, seal->asserted);
        own[WORD_USED] = seal->is_used;
        own[WORD_UNASSERTED] = seal->asserted != ASSERTED;
    } else {
        own[WORD_UNASSERTED] = heed(info, 0) != ASSERTED;
    }
    if (!exchange(comm, members->rank, own, words))
        return;
    const char *reason = judge(words);
    if (reason == NULL && seal) {
        seal->id = words[WORD_ID];
        seal->min_bytes = words[WORD_BYTES];
        seal->comm = comm;
        hw_p2p_sealed_show(seal, true);
        next_id = words[WORD_ID] + 1;
        HW_COUNT(p2p_seals);
    } else if (reason && *reason) {
        hw_record_declined(reason);
    }
}

/* What is asserted on a sealed communicator stays: the info without what would take it back, which is freed;
 * MPI_INFO_NULL: there is nothing to leave out. The MPI may ignore hints (MPI-4.1 section 7.4.4). */
static MPI_Info without_retractions(MPI_Info info)
{
    static const char *const keys[] = {"mpi_assert_no_any_source", "mpi_assert_no_any_tag",
                                       "mpi_assert_exact_length", "wildcard_used", "offload_min_msgsz"};
    MPI_Info kept = HW_INFO_NULL;
    char value[VALUE_MAX + 1];
    if (heed(info, ASSERTED) == ASSERTED || hw_bottom.Info_dup(info, &kept) != MPI_SUCCESS)
        return HW_INFO_NULL;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (hw_real_info_read(kept, keys[i], value, VALUE_MAX))
            hw_bottom.Info_delete(kept, keys[i]);
    return kept;
}

int hw_p2p_seal_set_info(MPI_Comm comm, MPI_Info info)
{
    if (comm == HW_COMM_NULL)
        return HW_DECLINES;
    struct hw_p2p_seal *seal = is_able ? seal_of(comm) : NULL;
    MPI_Info kept = seal && seal->id ? without_retractions(info) : HW_INFO_NULL;
    int rc = hw_real.Comm_set_info(comm, kept == HW_INFO_NULL ? info : kept);
    if (kept != HW_INFO_NULL)
        hw_bottom.Info_free(&kept);
    if (rc == MPI_SUCCESS)
        agree(comm, info);
    return rc;
}

/* MPICH 5 returns MPI_SUCCESS after an error handler of the program, too: then there is none. */
static int made(int rc, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    if (rc != MPI_SUCCESS)
        return rc;
    *newcomm = comm;
    if (comm != HW_COMM_NULL)
        agree(comm, info);
    return rc;
}

int hw_p2p_seal_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    MPI_Comm one = HW_COMM_NULL;
    if (newcomm == NULL)
        return HW_DECLINES;
    int rc = hw_real.Comm_dup_with_info(comm, info, &one);
    return made(rc, one, info, newcomm);
}

int hw_p2p_seal_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    MPI_Comm one = HW_COMM_NULL;
    if (newcomm == NULL)
        return HW_DECLINES;
    int rc = hw_real.Comm_split_type(comm, split_type, key, info, &one);
    return made(rc, one, info, newcomm);
}

/* ---- lies ------------------------------------------------------------------------------------------------
 */

_Noreturn void hw_p2p_seal_broken(MPI_Comm comm, const char *what)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    hw_bottom.Comm_get_name(comm, name, &length);
    hw_log_error(
        "rank %d %s on communicator \"%s\", whose info says that nobody does; take the assertion out "
        "of MPI_Comm_set_info or MPI_Comm_dup_with_info. The job ends",
        hw_world.user_rank, what, name);
    hw_real_end_job(EXIT_BROKEN);
}
