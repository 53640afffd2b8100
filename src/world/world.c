/* SPDX-License-Identifier: BSD-3-Clause */
#include "world/world.h"

#include "base/log.h"
#include "real/constants.h"
#include "real/detect.h"
#include "real/quirks.h"
#include "world/agreement.h"
#include "world/comm.h"
#include "world/topology.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hw_world hw_world = {.user_rank = -1};
struct hw_world_translation hw_world_translation;

static void (*end_callback)(void);
static int mark_keyval; /* of what duplicates of the program's world inherit */

/* What each process tells all others. */
struct introduction {
    int node_leader; /* rank in `all` of the first process of its node */
    struct hw_world_terms terms;
    struct hw_topology topology;
};

struct meeting {
    struct hw_option_share wanted;
    struct introduction *all; /* by rank in `all` */
    int *nodes;               /* by rank of a node's leader; -1 of others */
    int *members;             /* ranks in `all`, node by node, in a node by rank */
    int *ends;                /* by node: where its members end */
    int *servers;             /* of one node: indices among its members */
    struct hw_place *places;  /* of one node */
};

static bool needs_topology(struct hw_option_share wanted)
{
    return wanted.count > 1 || wanted.per != HW_OPTION_GHOSTS_PER_NODE;
}

static const char *wanted_text(void)
{
    static char text[32];
    hw_option_format(hw_option_of(offsetof(struct hw_options, ghosts)), &hw_options, text, sizeof text);
    return text;
}

/* No loop here goes over all processes for each node: of a large job that would take seconds. */
static void find_nodes(struct meeting *meeting)
{
    for (int rank = 0; rank < hw_world.size; rank++)
        meeting->nodes[rank] = -1;
    for (int rank = 0; rank < hw_world.size; rank++) {
        int *node = &meeting->nodes[meeting->all[rank].node_leader];
        if (*node < 0)
            *node = hw_world.node_count++;
        hw_world.processes[rank].node = *node;
        hw_world.nodes[*node].process_count++;
    }
}

static void list_members(struct meeting *meeting)
{
    for (int node = 1; node < hw_world.node_count; node++)
        meeting->ends[node] = meeting->ends[node - 1] + hw_world.nodes[node - 1].process_count;
    for (int rank = 0; rank < hw_world.size; rank++)
        meeting->members[meeting->ends[hw_world.processes[rank].node]++] = rank;
}

static const int *members_of(const struct meeting *meeting, int node)
{
    return meeting->members + meeting->ends[node] - hw_world.nodes[node].process_count;
}

static enum hw_status refuse_unknown(int rank)
{
    if (hw_world.rank == 0)
        hw_log_error("HEADWAY_GHOSTS=%s, but on the node of process %d libhwloc.so.15 does not tell how many "
                     "there are; install libhwloc, or give a number of ghosts for each node",
                     wanted_text(), rank);
    return HW_BAD_INPUT;
}

static enum hw_status refuse_small(int rank, int process_count, int ghost_count)
{
    if (hw_world.rank == 0)
        hw_log_error("HEADWAY_GHOSTS=%s, but the node of process %d has %d process%s for %d ghost%s, and at "
                     "least one must be left to the program; start more processes per node, or ask for fewer "
                     "ghosts",
                     wanted_text(), rank, process_count, process_count == 1 ? "" : "es", ghost_count,
                     ghost_count == 1 ? "" : "s");
    return HW_BAD_INPUT;
}

/* Alike at all processes, each of which has heard all. */
static enum hw_status compare_terms(const struct meeting *meeting)
{
    bool is_auto_on = !hw_real_is_node_rma_direct() && hw_real_is_accumulate_one_request();
    enum hw_status status = HW_OK;
    for (int rank = 1; status == HW_OK && rank < hw_world.size; rank++)
        status = hw_world_terms_compare(&meeting->all[0].terms, &meeting->all[rank].terms, rank, is_auto_on,
                                        hw_world.rank == 0);
    return status;
}

/* Who of a node is a ghost and who serves whom. */
static enum hw_status place_node(struct meeting *meeting, int number)
{
    struct hw_world_node *node = &hw_world.nodes[number];
    struct hw_topology most = {.place = {-1, -1}};
    const int *members = members_of(meeting, number);
    int count = node->process_count;
    bool is_near;
    for (int i = 0; i < count; i++) {
        const struct hw_topology *own = &meeting->all[members[i]].topology;
        meeting->places[i] = own->place;
        most.socket_count = own->socket_count > most.socket_count ? own->socket_count : most.socket_count;
        most.numa_count = own->numa_count > most.numa_count ? own->numa_count : most.numa_count;
    }
    node->ghost_count = hw_placement_count(meeting->wanted, most.socket_count, most.numa_count);
    if (node->ghost_count < 0)
        return refuse_unknown(members[0]);
    if (node->ghost_count >= count)
        return refuse_small(members[0], count, node->ghost_count);
    enum hw_status status = hw_placement_assign(meeting->places, count, meeting->wanted, node->ghost_count,
                                                meeting->servers, &is_near);
    for (int i = 0; status == HW_OK && i < count; i++)
        hw_world.processes[members[i]].ghost = members[meeting->servers[i]];
    if (status == HW_OK && number == hw_world_own_node() && needs_topology(meeting->wanted))
        hw_world.placement = is_near ? "near" : most.socket_count == 0 ? "even, no hwloc" : "even, not bound";
    return status;
}

/* Numbers everybody. */
static void number_processes(const struct meeting *meeting)
{
    for (int rank = 0; rank < hw_world.size; rank++) {
        struct hw_world_process *process = &hw_world.processes[rank];
        process->user_rank = -1;
        if (process->ghost != rank) {
            process->user_rank = hw_world.user_count;
            hw_world.user_ranks[hw_world.user_count++] = rank;
        }
    }
    for (int number = 0; number < hw_world.node_count; number++) {
        struct hw_world_node *node = &hw_world.nodes[number];
        const int *members = members_of(meeting, number);
        int users = 0, ghosts = 0;
        node->first_ghost = hw_world.ghost_count;
        for (int i = 0; i < node->process_count; i++) {
            struct hw_world_process *process = &hw_world.processes[members[i]];
            bool is_ghost = process->ghost == members[i];
            process->local_index = is_ghost ? ghosts++ : users++;
            if (is_ghost)
                hw_world.ghost_ranks[hw_world.ghost_count++] = members[i];
        }
    }
    hw_world.user_rank = hw_world.processes[hw_world.rank].user_rank;
    hw_world.own_node = &hw_world.nodes[hw_world_own_node()];
}

static bool allocate(struct meeting *meeting)
{
    size_t size = (size_t)hw_world.size;
    meeting->all = calloc(size, sizeof *meeting->all);
    meeting->nodes = calloc(size, sizeof *meeting->nodes);
    meeting->members = calloc(size, sizeof *meeting->members);
    meeting->ends = calloc(size, sizeof *meeting->ends);
    meeting->servers = calloc(size, sizeof *meeting->servers);
    meeting->places = calloc(size, sizeof *meeting->places);
    hw_world.processes = calloc(size, sizeof *hw_world.processes);
    hw_world.nodes = calloc(size, sizeof *hw_world.nodes);
    hw_world.user_ranks = calloc(size, sizeof *hw_world.user_ranks);
    hw_world.ghost_ranks = calloc(size, sizeof *hw_world.ghost_ranks);
    hw_world.node_pids = calloc(size, sizeof *hw_world.node_pids);
    return meeting->all && meeting->nodes && meeting->members && meeting->ends && meeting->servers &&
           meeting->places && hw_world.processes && hw_world.nodes && hw_world.user_ranks &&
           hw_world.ghost_ranks && hw_world.node_pids;
}

static void end_meeting(struct meeting *meeting)
{
    free(meeting->all);
    free(meeting->nodes);
    free(meeting->members);
    free(meeting->ends);
    free(meeting->servers);
    free(meeting->places);
}

/* As the MPI copies the attributes that it attaches itself. */
static int copy_mark(MPI_Comm comm, int keyval, void *extra, void *value_in, void *value_out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    memcpy(value_out, &value_in, sizeof value_in);
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_nothing(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    return MPI_SUCCESS;
}

static bool mark(MPI_Comm seen)
{
    return hw_bottom.Comm_create_keyval(copy_mark, delete_nothing, &mark_keyval, NULL) == MPI_SUCCESS &&
           hw_bottom.Comm_set_attr(seen, mark_keyval, NULL) == MPI_SUCCESS;
}

bool hw_world_is_duplicate(MPI_Comm comm)
{
    void *value;
    int flag = 0;
    return comm != HW_COMM_NULL && hw_bottom.Comm_get_attr(comm, mark_keyval, &value, &flag) == MPI_SUCCESS &&
           flag;
}

static bool make_user_world(void)
{
    MPI_Comm seen;
    bool is_ghost = hw_world.user_rank < 0;
    if (hw_bottom.Comm_split(HW_COMM_WORLD, is_ghost, hw_world.rank, &seen) != MPI_SUCCESS)
        return false;
    if (is_ghost)
        return hw_bottom.Comm_free(&seen) == MPI_SUCCESS;
    if (hw_bottom.Comm_dup(seen, &hw_world.users) != MPI_SUCCESS ||
        hw_bottom.Comm_set_name(seen, "MPI_COMM_WORLD") != MPI_SUCCESS || !mark(seen))
        return false;
    hw_bottom.Comm_set_errhandler(hw_world.users, HW_ERRORS_RETURN);
    hw_world_translation.to = seen;
    hw_world_translation.from = HW_COMM_WORLD;
    return true;
}

static bool make_ghosts_first(void)
{
    const struct hw_world_process *own = &hw_world.processes[hw_world.rank];
    int key = own->user_rank < 0 ? hw_world.own_node->first_ghost + own->local_index
                                 : hw_world.ghost_count + own->user_rank;
    if (hw_bottom.Comm_split(hw_world.all, 0, key, &hw_world.ghosts_first) != MPI_SUCCESS)
        return false;
    hw_bottom.Comm_set_errhandler(hw_world.ghosts_first, HW_ERRORS_RETURN);
    return true;
}

/* This node, its user processes before its ghosts. */
static bool make_node(void)
{
    MPI_Comm by_rank = hw_world.node;
    const struct hw_world_process *own = &hw_world.processes[hw_world.rank];
    int key = own->user_rank < 0 ? hw_world.own_node->process_count + own->local_index : own->local_index;
    hw_world.node = HW_COMM_NULL;
    bool is_made = hw_bottom.Comm_split(by_rank, 0, key, &hw_world.node) == MPI_SUCCESS;
    hw_bottom.Comm_free(&by_rank);
    if (is_made)
        hw_bottom.Comm_set_errhandler(hw_world.node, HW_ERRORS_RETURN);
    return is_made;
}

/* In another PID namespace they mean nobody here, or somebody else. */
static void forget_unseen_pids(void)
{
    for (int i = 0; i < hw_world.own_node->process_count; i++)
        if (kill(hw_world.node_pids[i], 0) != 0 && errno == ESRCH)
            hw_world.node_pids[i] = 0;
}

static enum hw_status meet(struct meeting *meeting)
{
    struct introduction own = {
        .node_leader = hw_world.rank, .terms = hw_world_terms_own(), .topology = {.place = {-1, -1}}};
    pid_t pid = getpid();
    if (needs_topology(meeting->wanted))
        hw_topology_find(&own.topology);
    if (hw_bottom.Bcast(&own.node_leader, 1, HW_INT, 0, hw_world.node) != MPI_SUCCESS ||
        hw_bottom.Allgather(&own, sizeof own, HW_BYTE, meeting->all, sizeof own, HW_BYTE, hw_world.all) !=
            MPI_SUCCESS)
        return HW_MPI;
    hw_world.placement = "last";
    enum hw_status status = compare_terms(meeting);
    if (status == HW_OK) {
        find_nodes(meeting);
        list_members(meeting);
    }
    for (int node = 0; status == HW_OK && node < hw_world.node_count; node++)
        status = place_node(meeting, node);
    if (status != HW_OK)
        return status;
    number_processes(meeting);
    if (!make_node() || hw_bottom.Allgather(&pid, sizeof pid, HW_BYTE, hw_world.node_pids, sizeof pid,
                                            HW_BYTE, hw_world.node) != MPI_SUCCESS)
        return HW_MPI;
    forget_unseen_pids();
    return make_ghosts_first() && make_user_world() ? HW_OK : HW_MPI;
}

#ifdef HW_HAVE_Psend_init

/* Where partitioned operations need something of all processes, ghosts too, they have it made here: one
 * message of each process to itself completes when it is there. Not when a program asks for it, because
 * nobody knows whether all its processes will, and not after the world is split: Open MPI agrees on two
 * communicators at once, which goes wrong between processes that have unlike numbers of them (real/quirks.h).
 */
static void prepare_partitioned(void)
{
    char sent = 0, received = 0;
    MPI_Request both[2];
    if (!HW_REAL_PARTITIONED_NEEDS_WORLD || !HW_REAL_HAS(Psend_init))
        return;
    if (hw_bottom.Precv_init(&received, 1, 1, HW_BYTE, hw_world.rank, 0, hw_world.all, HW_INFO_NULL,
                             &both[0]) != MPI_SUCCESS)
        return; /* the user has disabled them, by a parameter that all processes have */
    if (hw_bottom.Psend_init(&sent, 1, 1, HW_BYTE, hw_world.rank, 0, hw_world.all, HW_INFO_NULL, &both[1]) !=
        MPI_SUCCESS)
        return;
    hw_bottom.Startall(2, both);
    hw_bottom.Pready(0, both[1]);
    hw_bottom.Waitall(2, both, HW_STATUSES_IGNORE);
    hw_bottom.Request_free(&both[0]);
    hw_bottom.Request_free(&both[1]);
}

#else

static void prepare_partitioned(void) {}

#endif

enum hw_status hw_world_split(struct hw_option_share wanted)
{
    enum hw_status status = HW_MPI;
    struct meeting meeting = {.wanted = wanted};
    if (hw_bottom.Comm_dup(HW_COMM_WORLD, &hw_world.all) != MPI_SUCCESS)
        goto out;
    hw_bottom.Comm_set_errhandler(hw_world.all, HW_ERRORS_RETURN);
    hw_bottom.Comm_rank(hw_world.all, &hw_world.rank);
    hw_bottom.Comm_size(hw_world.all, &hw_world.size);
    prepare_partitioned();
    if (hw_bottom.Comm_split_type(hw_world.all, MPI_COMM_TYPE_SHARED, hw_world.rank, HW_INFO_NULL,
                                  &hw_world.node) != MPI_SUCCESS)
        goto out;
    hw_bottom.Comm_set_errhandler(hw_world.node, HW_ERRORS_RETURN);
    status = allocate(&meeting) ? meet(&meeting) : HW_NOMEM;
out:
    if (status == HW_MPI || status == HW_NOMEM)
        hw_log_error(
            "the world cannot be split into user processes and ghosts: the MPI refuses, or memory is "
            "short; run without HEADWAY_GHOSTS");
    end_meeting(&meeting);
    return status;
}

static int copy_nothing(MPI_Comm comm, int keyval, void *extra, void *value_in, void *value_out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)value_in, (void)value_out;
    *flag = 0;
    return MPI_SUCCESS;
}

/* The program's world, with its attributes, whose functions may use it. Messages on it that nobody received
 * are no error at the end of MPI_COMM_WORLD, for which it stands. MPICH 5 receives them, and then raises one
 * at MPI_COMM_SELF, the communicator itself being gone. */
static void free_seen(void)
{
    MPI_Comm seen = hw_world_translation.to;
    MPI_Errhandler handler;
    bool has_handler = hw_bottom.Comm_get_errhandler(HW_COMM_SELF, &handler) == MPI_SUCCESS &&
                       hw_bottom.Comm_set_errhandler(HW_COMM_SELF, HW_ERRORS_RETURN) == MPI_SUCCESS;
    hw_bottom.Comm_free(&seen);
    if (!has_handler)
        return;
    hw_bottom.Comm_set_errhandler(HW_COMM_SELF, handler);
    hw_bottom.Errhandler_free(&handler);
}

static int self_is_freed(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    end_callback();
    free_seen();
    hw_world_translation = (struct hw_world_translation){0};
    hw_bottom.Comm_free_keyval(&mark_keyval);
    hw_world_end();
    return MPI_SUCCESS;
}

enum hw_status hw_world_at_end(void (*before_end)(void))
{
    int keyval;
    end_callback = before_end;
    if (hw_bottom.Comm_create_keyval(copy_nothing, self_is_freed, &keyval, NULL) != MPI_SUCCESS ||
        hw_bottom.Comm_set_attr(HW_COMM_SELF, keyval, NULL) != MPI_SUCCESS)
        return HW_MPI;
    hw_bottom.Comm_free_keyval(&keyval);
    return HW_OK;
}

bool hw_world_have_all(MPI_Comm comm, bool has_one)
{
    int own = has_one, all = 0;
    return hw_bottom.Allreduce(&own, &all, 1, HW_INT, HW_MIN, comm) == MPI_SUCCESS && all;
}

void hw_world_end(void)
{
    if (hw_world.user_rank >= 0)
        hw_bottom.Comm_free(&hw_world.users);
    hw_bottom.Comm_free(&hw_world.ghosts_first);
    hw_bottom.Comm_free(&hw_world.node);
    hw_bottom.Comm_free(&hw_world.all);
    free(hw_world.processes);
    free(hw_world.nodes);
    free(hw_world.user_ranks);
    free(hw_world.ghost_ranks);
    free(hw_world.node_pids);
    hw_world = (struct hw_world){.user_rank = -1};
}
