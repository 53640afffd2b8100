/* Start and end of MPI (MPI-4.1 chapter 11): where the engine is started and stopped.
 *
 * The real MPI is asked for the thread level that the program asks for, whatever it is: an engine takes turns
 * with the program (progress/gate.h). World model and sessions may come in any order and number: the engine
 * lives from the first of them to the last.
 */
#include "base/cores.h"
#include "base/log.h"
#include "base/options.h"
#include "engines/engine.h"
#include "engines/rma/owed.h"
#include "engines/rma/rma.h"
#include "hooks.h"
#include "mpi/errors.h"
#include "mpi/interface.h"
#include "mpi/track.h"
#include "profile/record.h"
#include "progress/gate.h"
#include "progress/inside.h"
#include "real/constants.h"
#include "real/detect.h"
#include "real/eager.h"
#include "real/ending.h"
#include "real/extensions.h"
#include "real/launcher.h"
#include "real/quirks.h"
#include "world/comm.h"
#include "world/world.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Below this the wire time is shorter than what a sleeping thread needs to wake up for it: measured at
 * 1 Gbit/s, and on faster networks still more so. */
#define MIN_AUTO_LIMIT_BYTES (128 * 1024)
/* A thread puts processes out of step now and then. Where that makes them take turns, and stay in it, the
 * gain of smaller messages does not make up for it: the heat solver at 1 Gbit/s loses with rows of 128 KiB
 * and gains with 512 (`headway-keep` in doc/results/halo.json); between them it broke even at some 160 KiB.
 */
#define MIN_ALTERNATING_LIMIT_BYTES (192 * 1024)

enum { EXIT_BAD_INPUT = 78 }; /* EX_CONFIG of sysexits.h */

/* In which a launcher has read what one process said before any of them ends. */
enum { LAUNCHER_US = 500 * 1000 };

uint64_t hw_track_min_bytes = UINT64_MAX;
const struct hw_engine *hw_engine_active;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int user_count;       /* world model and sessions alive */
static uint64_t limit_bytes; /* the eager limit in force */
static const char *off_reason;
static const struct hw_engine *abandoned; /* at exit, perhaps with MPI_Finalize still to come */
static bool is_spawned;                   /* by MPI_Comm_spawn */

/* Said in the record, and by HEADWAY_VERBOSE. */
static void stand_back(const char *reason)
{
    off_reason = reason;
    hw_record_declined(reason);
}

/* The same where the user may have expected the engine: a line says so as well. */
static void turn_off(const char *reason, const char *advice)
{
    if (off_reason)
        return;
    stand_back(reason);
    if (hw_log_rank() <= 0) /* all processes alike */
        hw_log_warn("%s; %s", reason, advice);
}

/* The thread cannot take turns with calls that are no entries of ours; only MPI's own locks keep them apart.
 */
static void heed_extensions(int level)
{
    static char reason[128];
    const char *extension = off_reason || level == HW_THREAD_MULTIPLE ? NULL : hw_real_extension_used();
    if (extension == NULL)
        return;
    snprintf(reason, sizeof reason, "the program may call %s, which is not of the MPI standard", extension);
    turn_off(reason, "the progress thread stays off, but for programs at MPI_THREAD_MULTIPLE");
}

/* Bytes of such a job are moved by the program's own cores alone, so there is no time to win: doc/adr/0012.
 */
static bool is_crowded_node(void)
{
    cpu_set_t allowed;
    struct hw_real_job job = hw_real_launcher_job();
    if (hw_options.ghosts.count || !hw_real_launcher_is_one_node(&job))
        return false;
    /* Bound to a core of its own, as Open MPI does by itself, a process has none for the thread. */
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && hw_cores_count(&allowed) < 2)
        return true;
    return !hw_real_launcher_has_spare_cores(&job, hw_real_launcher_core_count());
}

/* For bad input that one process has told. Hydra drops what it has not read yet when the first process ends
 * like this: one line in seven on a loaded machine. */
static _Noreturn void end_refused(void)
{
    usleep(LAUNCHER_US);
    _exit(EXIT_BAD_INPUT);
}

/* Before anything else of ours, once: bad input ends the process before any communication. */
static void prepare_once(void)
{
    if (hw_options_load() != HW_OK)
        _exit(EXIT_BAD_INPUT);
    hw_record_begin(hw_options.record);
    if (hw_options.ghosts.count) {
        hw_real_make_room_for_accumulates();
        hw_rma_ghost_prepare();
    }
    if (hw_options.engine == HW_OPTION_ENGINE_OFF)
        off_reason = "HEADWAY_ENGINE=off";
    else if (!hw_real_is_complete())
        turn_off("interposition is incomplete", "the progress thread stays off");
    else if (!hw_inside_knows_threads())
        turn_off("the program has taken all keys for data of threads", "the progress thread stays off");
    else if (hw_options.engine == HW_OPTION_ENGINE_AUTO && is_crowded_node())
        stand_back(
            "all processes are on one node and leave no core to spare, so that a progress thread could only "
            "slow them (HEADWAY_ENGINE=thread has one all the same)");
    if (!off_reason)
        hw_gate_prepare();
}

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_once);
}

static void fork_child(void)
{
    hw_request_fork_release();
    hw_request_fork_child();
    hw_engine_active = NULL; /* the thread stayed in the parent */
    hw_track_min_bytes = UINT64_MAX;
}

/* A program may end without MPI_Finalize: the thread must not poll an MPI whose library is being torn down.
 */
static void at_exit(void)
{
    const struct hw_engine *engine = hw_engine_active;
    hw_engine_active = NULL;
    hw_track_min_bytes = UINT64_MAX;
    if (engine)
        engine->abandon();
    abandoned = engine;
}

static void find_limit(void)
{
    limit_bytes = (uint64_t)hw_options.eager_limit;
    if (limit_bytes)
        return;
    limit_bytes = hw_real_eager_limit();
    uint64_t least = hw_real_directions_alternate() ? MIN_ALTERNATING_LIMIT_BYTES : MIN_AUTO_LIMIT_BYTES;
    if (limit_bytes < least)
        limit_bytes = least;
}

static void print_build(void)
{
    hw_log_note("Headway for %s, MPI %s at %s", hw_real_flavour_name(hw_real_flavour_built()),
                hw_real_detect_version(), hw_real_library_used()->path);
    hw_log_note("engine %s%s%s, messages from %llu bytes are tracked",
                hw_engine_active ? hw_engine_active->name : "off: ", hw_engine_active ? "" : off_reason, "",
                (unsigned long long)limit_bytes);
    hw_options_print();
}

static void start_engine(bool has_world)
{
    static bool has_handlers;
    find_limit();
    if (HW_REAL_ASKING_RAISES && !has_world && !off_reason)
        turn_off("a program with sessions only cannot be progressed on this MPI",
                 "the progress thread stays off");
    if (!off_reason && has_world)
        hw_errors_start();
    if (!off_reason && hw_engine_thread.start(has_world) == HW_OK) {
        hw_engine_active = &hw_engine_thread;
        hw_track_min_bytes = limit_bytes;
        hw_interface_engine_started();
        if (!has_handlers) {
            pthread_atfork(hw_request_fork_prepare, hw_request_fork_release, fork_child);
            atexit(at_exit);
            has_handlers = true;
        }
    }
    if (hw_options.verbose)
        print_build();
}

static void stop_engine(void)
{
    struct hw_record_facts facts = {.rank = hw_log_rank(),
                                    .size = -1,
                                    .is_spawned = is_spawned,
                                    .mpi = hw_real_detect_version(),
                                    .engine = "off",
                                    .trigger = "none",
                                    .ghost = -1,
                                    .placement = "none"};
    int is_initialized = 0, is_finalized = 0;
    hw_bottom.Initialized(&is_initialized);
    hw_bottom.Finalized(&is_finalized);
    if (is_initialized && !is_finalized)
        hw_bottom.Comm_size(hw_world_comm(HW_COMM_WORLD), &facts.size);
    hw_rma_count();
    facts.eager_limit_bytes = limit_bytes;
    if (hw_world_has_ghosts()) {
        facts.ghost = hw_world.processes[hw_world.rank].ghost;
        facts.ghost_cpu_ns = hw_rma_ghost_cpu_ns();
        facts.placement = hw_world.placement;
    }
    const struct hw_engine *engine = hw_engine_active ? hw_engine_active : abandoned;
    hw_track_min_bytes = UINT64_MAX;
    hw_engine_active = abandoned = NULL;
    if (engine) {
        engine->describe(&facts);
        engine->stop();
    }
    hw_record_write(&facts);
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
        check_record();
        start_engine(is_world);
        hw_real_detect_release(hw_real_library_used());
    }
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
            stop_engine();
        if (is_world && user_count > 0)
            start_engine(false);
    }
    pthread_mutex_unlock(&lock);
}

/* Later the program may have disconnected from its parent. */
static void learn_parent(void)
{
    MPI_Comm parent;
    is_spawned = hw_bottom.Comm_get_parent(&parent) == MPI_SUCCESS && parent != HW_COMM_NULL;
}

/* Right after the real MPI_Init*: a ghost stays here. `level` is the program's thread level. Processes that
 * were spawned have no ghosts: the program counted them. */
static void split_world(int level)
{
    if (hw_options.ghosts.count == 0 || is_spawned)
        return;
    enum hw_status status = hw_world_split(hw_options.ghosts);
    if (status == HW_OK && hw_world_is_ghost())
        hw_rma_ghost_run();
    if (status == HW_OK && level == HW_THREAD_MULTIPLE)
        hw_rma_expect_threads();
    if (status == HW_OK)
        status = hw_rma_start();
    if (status == HW_OK)
        return;
    hw_real_ending_begin();
    hw_bottom.Finalize();
    hw_real_ending_end();
    end_refused();
}

/* After the real MPI_Init*. */
static void begin_world(void)
{
    int level = HW_THREAD_SINGLE;
    hw_bottom.Query_thread(&level);
    learn_parent();
    heed_extensions(level);
    split_world(level);
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

int hw_finalize(void)
{
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
    hw_rma_owed_stop(); /* it may be another thread's */
    if (level == HW_THREAD_MULTIPLE)
        hw_rma_expect_threads();
    if (hw_engine_active == NULL)
        heed_extensions(level);
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
