/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of MPI (MPI-4.1 chapter 11): where engines are started and stopped.
 *
 * The real MPI is asked for the thread level that the program asks for, whatever it is: an engine takes turns
 * with the program (progress/gate.h). World model and sessions may come in any order and number: engines live
 * from the first of them to the last.
 */
#include "base/agent.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/engine.h"
#include "ghost/farewell.h"
#include "ghost/run.h"
#include "ghost/user.h"
#include "hooks.h"
#include "mpi/errors.h"
#include "mpi/freeing.h"
#include "mpi/interface.h"
#include "mpi/track.h"
#include "mpi/world.h"
#include "profile/callers/paths.h"
#include "profile/record.h"
#include "profile/record/origin.h"
#include "profile/recorder.h"
#include "progress/inside.h"
#include "real/constants.h"
#include "real/detect.h"
#include "real/end_job.h"
#include "real/ending.h"
#include "real/launcher.h"
#include "real/quirks.h"
#include "world/comm.h"
#include "world/presence.h"
#include "world/world.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_BAD_INPUT = 78 }; /* EX_CONFIG of sysexits.h */

/* In which a launcher has read what one process said before any of them ends. */
enum { LAUNCHER_US = 500 * 1000 };

static bool is_refused; /* after the real MPI_Init*, which is finalized again */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int user_count;  /* world model and sessions alive */
static bool is_spawned; /* by MPI_Comm_spawn */
static int world_size = -1;

/* For bad input that one process has told. Hydra drops what it has not read yet when the first process ends
 * like this: one line in seven on a loaded machine. */
static _Noreturn void end_refused(void)
{
    usleep(LAUNCHER_US);
    _exit(EXIT_BAD_INPUT);
}

/* Of what is refused nothing of the program's runs, but handlers of exit(3) of the MPI have run when this one
 * does: in one MPICH 5 says goodbye to its launcher, which otherwise kills the other processes, and then
 * tells of that (9). */
static void end_without_program(void)
{
    if (is_refused)
        _exit(EXIT_BAD_INPUT);
}

/* What ghosts are to do needs ghosts, and memory that the machine has. */
static bool are_options_possible(void)
{
    bool has_ghosts = hw_options.ghosts.count > 0;
    if (hw_options.trigger == HW_OPTION_TRIGGER_HELPER && !has_ghosts) {
        hw_log_fatal(
            "HEADWAY_TRIGGER=helper: a helper is a ghost, and there are none; set HEADWAY_GHOSTS=1 too");
        return false;
    }
    if (hw_options.priority == HW_OPTION_PRIORITY_RT && !hw_agent_may_hurry()) {
        hw_log_fatal("HEADWAY_PRIORITY=rt: the kernel forbids real-time priority; raise RLIMIT_RTPRIO to 1 "
                     "(ulimit -r), or set HEADWAY_PRIORITY=auto");
        return false;
    }
    if (hw_options.coll == HW_OPTION_COLL_GHOST && !has_ghosts) {
        hw_log_fatal("HEADWAY_COLL=ghost: there are no ghosts to make collectives; set HEADWAY_GHOSTS=1 too");
        return false;
    }
    if (hw_options.p2p == HW_OPTION_P2P_THREAD || (hw_options.p2p == HW_OPTION_P2P_AUTO && !has_ghosts))
        return true;
    int64_t machine_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    if (!has_ghosts)
        hw_log_fatal("HEADWAY_P2P=ghost: there are no ghosts to move messages; set HEADWAY_GHOSTS=1 too");
    else if (hw_options.staging_bytes > machine_bytes)
        hw_log_fatal("HEADWAY_STAGING is %lld bytes, and this machine has %lld; give less",
                     (long long)hw_options.staging_bytes, (long long)machine_bytes);
    return has_ghosts && hw_options.staging_bytes <= machine_bytes;
}

/* Before anything else of ours, once: bad input ends the process before any communication. */
static void prepare_once(void)
{
    if (hw_options_load() != HW_OK || !are_options_possible())
        _exit(EXIT_BAD_INPUT);
    hw_record_begin(hw_options.record);
    hw_paths_set_depth((int)hw_options.paths);
    if (hw_options.record_needed && !hw_record_is_possible())
        end_refused();
    if (hw_options.ghosts.count) {
        atexit(end_without_program);
        hw_ghost_prepare();
    }
    hw_engines_prepare();
}

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_once);
}

static void print_build(void)
{
    hw_log_note("Headway for %s, MPI %s at %s", hw_real_flavour_name(hw_real_flavour_built()),
                hw_real_detect_version(), hw_real_library_used()->path);
    hw_engines_say();
    hw_options_print();
}

static void start_engines(bool has_world)
{
    if (has_world)
        hw_errors_start();
    hw_engines_start(has_world);
    hw_interface_engine_started();
    if (hw_options.verbose)
        print_build();
}

/* Makes no MPI call: the recorder asks, too. What engines know is theirs to add. */
static struct hw_record_facts own_facts(void)
{
    struct hw_record_facts facts = {.rank = hw_log_rank(),
                                    .size = world_size,
                                    .is_spawned = is_spawned,
                                    .mpi = hw_real_detect_version(),
                                    .engine = "off",
                                    .trigger = "none",
                                    .ghost = -1,
                                    .placement = "none"};
    if (hw_world_has_ghosts()) {
        facts.ghost = hw_world.processes[hw_world.rank].ghost;
        facts.placement = hw_world.placement;
    }
    return facts;
}

static void describe(struct hw_record_facts *facts)
{
    *facts = own_facts();
    hw_engines_describe(facts);
}

static void stop_engines(void)
{
    hw_recorder_stop();
    struct hw_record_facts facts = own_facts();
    hw_engines_stop(&facts);
    hw_record_write(&facts, HW_RECORD_COMPLETE, 0);
}

/* While there is a world; a program that has only sessions has no size. */
static void learn_size(void)
{
    int is_initialized = 0, is_finalized = 0;
    hw_bottom.Initialized(&is_initialized);
    hw_bottom.Finalized(&is_finalized);
    if (!is_initialized || is_finalized ||
        hw_bottom.Comm_size(hw_world_comm(HW_COMM_WORLD), &world_size) != MPI_SUCCESS)
        world_size = -1;
}

/* The same directory is everybody's within a node; elsewhere it may be there on some nodes only. */
static void check_record(void)
{
    struct hw_real_job job = hw_real_launcher_job();
    hw_record_check(hw_log_rank() <= 0, hw_real_launcher_is_one_node(&job));
}

static void add_user(bool is_world)
{
    pthread_mutex_lock(&lock);
    if (is_world) {
        int rank;
        if (hw_bottom.Comm_rank(hw_world_comm(HW_COMM_WORLD), &rank) == MPI_SUCCESS)
            hw_log_set_rank(rank);
    }
    if (user_count++ == 0) {
        hw_origin_entered();
        check_record();
        start_engines(is_world);
        hw_real_detect_release(hw_real_library_used());
    }
    learn_size();
    hw_recorder_start(describe, hw_real_is_mpis_own); /* unless it has been */
    pthread_mutex_unlock(&lock);
}

/* The engine holds a communicator of the world, so it ends with the world at the latest; sessions that are
 * left get a new start. */
static void remove_user(bool is_world)
{
    pthread_mutex_lock(&lock);
    if (user_count > 0) {
        user_count--;
        if (is_world || user_count == 0)
            stop_engines();
        if (user_count == 0) {
            hw_freeing_end();
            hw_plan_forget_all();
        }
        if (is_world && user_count > 0) {
            start_engines(false);
            world_size = -1;
            hw_recorder_start(describe, hw_real_is_mpis_own);
        }
    }
    pthread_mutex_unlock(&lock);
}

/* Later the program may have disconnected from its parent. */
static void learn_parent(void)
{
    MPI_Comm parent;
    is_spawned = hw_bottom.Comm_get_parent(&parent) == MPI_SUCCESS && parent != HW_COMM_NULL;
}

static _Noreturn void end_world_refused(void)
{
    hw_real_ending_begin();
    hw_bottom.Finalize();
    hw_real_ending_end();
    usleep(LAUNCHER_US);
    is_refused = true;
    exit(EXIT_BAD_INPUT);
}

/* Where some process is not there to call MPI_Finalize. */
static _Noreturn void abort_world_refused(void) { hw_real_end_job(EXIT_BAD_INPUT); }

/* Within MPI_Finalize, after all functions of the program's. */
static void end_with_ghosts(void)
{
    hw_inside_enter(&hw_inside);
    hw_inside_pay();
    remove_user(true);
    hw_ghost_farewell();
}

/* Right after the real MPI_Init*: a ghost stays here. Processes that were spawned have no ghosts: the program
 * counted them. */
static void split_world(void)
{
    if (hw_options.ghosts.count == 0 || is_spawned)
        return;
    if (hw_world_presence_await() != HW_OK)
        abort_world_refused();
    if (hw_world_split(hw_options.ghosts) != HW_OK)
        end_world_refused();
    if (hw_world_is_ghost())
        hw_ghost_run();
    if (hw_ghost_user_start(end_with_ghosts) != HW_OK)
        end_world_refused();
    hw_env_correct();
}

/* After the real MPI_Init*. */
static void begin_world(void)
{
    int level = HW_THREAD_SINGLE;
    hw_bottom.Query_thread(&level);
    learn_parent();
    hw_engines_join(level, false);
    split_world();
    if (hw_engines_begin() != HW_OK)
        end_world_refused();
    add_user(true);
}

int hw_init(int *argc, char ***argv)
{
    prepare();
    int rc = hw_real.Init(argc, argv);
    if (rc == MPI_SUCCESS)
        begin_world();
    return rc;
}

int hw_init_thread(int *argc, char ***argv, int required, int *provided)
{
    prepare();
    int rc = hw_real.Init_thread(argc, argv, required, provided);
    if (rc == MPI_SUCCESS)
        begin_world();
    return rc;
}

/* First of all the real MPI_Finalize calls functions of the program's, those of attributes of MPI_COMM_SELF,
 * in which the program may use MPI and what ghosts serve (MPI-4.1 section 11.2.4). */
int hw_finalize(void)
{
    if (hw_world_has_ghosts())
        hw_inside_leave(&hw_inside); /* their calls are the program's, not the MPI's */
    else
        remove_user(true);
    hw_real_ending_begin();
    int rc = hw_real.Finalize();
    hw_real_ending_end();
    return rc;
}

#ifdef HW_HAVE_Session_init /* Open MPI 4 knows no sessions, not even their type */

/* Who is a ghost is decided in MPI_Init*; a session before it would show the program all processes. */
static void refuse_early_session(void)
{
    int is_initialized = 0;
    hw_bottom.Initialized(&is_initialized);
    if (hw_options.ghosts.count == 0 || is_initialized)
        return;
    if (hw_log_rank() <= 0)
        hw_log_error(
            "HEADWAY_GHOSTS=%d, but this program begins with MPI_Session_init, and ghosts need MPI_Init "
            "before it; run without HEADWAY_GHOSTS",
            hw_options.ghosts.count);
    end_refused();
}

/* Only the session's info tells. */
static int level_of(MPI_Session session)
{
    char value[64] = "";
    int flag = 0;
    MPI_Info info;
    if (hw_bottom.Session_get_info(session, &info) != MPI_SUCCESS)
        return HW_THREAD_SINGLE;
    hw_bottom.Info_get(info, "thread_level", sizeof value - 1, value, &flag);
    hw_bottom.Info_free(&info);
    return flag && strcmp(value, "MPI_THREAD_MULTIPLE") == 0 ? HW_THREAD_MULTIPLE : HW_THREAD_SINGLE;
}

int hw_session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    prepare();
    refuse_early_session();
    int rc = hw_real.Session_init(info, errhandler, session);
    if (rc != MPI_SUCCESS)
        return rc;
    int level = level_of(*session);
    hw_engines_join(level, true);
    add_user(false);
    return rc;
}

int hw_session_finalize(MPI_Session *session)
{
    remove_user(false);
    hw_real_ending_begin();
    int rc = hw_real.Session_finalize(session);
    hw_real_ending_end();
    return rc;
}

#endif
