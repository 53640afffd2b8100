/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: what the launcher told about the job, and whether that leaves cores to spare. */
#include "real/launcher.h"

#include "base/cores.h"
#include "real/real.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#if HW_ABI_OPEN_MPI
#define ALL "OMPI_COMM_WORLD_SIZE"
#define NODE "OMPI_COMM_WORLD_LOCAL_SIZE"
#define OTHER_ALL "PMI_SIZE"
#define OTHER_NODE "MPI_LOCALNRANKS"
#else
#define ALL "PMI_SIZE"
#define NODE "MPI_LOCALNRANKS"
#define OTHER_ALL "OMPI_COMM_WORLD_SIZE"
#define OTHER_NODE "OMPI_COMM_WORLD_LOCAL_SIZE"
#endif

static const char *const names[] = {"OMPI_COMM_WORLD_SIZE",
                                    "OMPI_COMM_WORLD_LOCAL_SIZE",
                                    "PMI_SIZE",
                                    "MPI_LOCALNRANKS",
                                    "PMI_LOCAL_SIZE",
                                    "SLURM_STEP_NUM_TASKS",
                                    "SLURM_STEP_NUM_NODES",
                                    "SLURM_NTASKS_PER_NODE",
                                    "SLURM_CPUS_ON_NODE",
                                    "PMI_RANK",
                                    "PMIX_RANK",
                                    "OMPI_COMM_WORLD_RANK",
                                    "MPIR_CVAR_NOLOCAL"};

static int forget(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
    return 0;
}

static void assert_job(int processes, int node_processes, bool is_one_node)
{
    struct hw_real_job job = hw_real_launcher_job();
    assert_int_equal(job.process_count, processes);
    assert_int_equal(job.node_process_count, node_processes);
    assert_int_equal(hw_real_launcher_is_one_node(&job), is_one_node);
}

static void without_a_launcher_nothing_is_known(void **state)
{
    (void)state;
    assert_job(0, 0, false);
    struct hw_real_job job = hw_real_launcher_job();
    assert_false(hw_real_launcher_has_spare_cores(&job, 64));
}

static void a_launcher_tells_both_numbers(void **state)
{
    (void)state;
    setenv(ALL, "8", 1);
    assert_job(0, 0, false); /* one alone is no answer */
    setenv(NODE, "4", 1);
    assert_job(8, 4, false);
    setenv(NODE, "8", 1);
    assert_job(8, 8, true);
}

static void other_launchers_are_not_heard(void **state)
{
    (void)state;
    setenv(OTHER_ALL, "8", 1);
    setenv(OTHER_NODE, "8", 1);
    assert_job(0, 0, false);
    setenv(ALL, "4", 1);
    setenv(NODE, "2", 1);
    assert_job(4, 2, false);
}

static void malformed_numbers_are_none(void **state)
{
    static const char *const malformed[] = {"", "0", "-2", "2x", "two", "99999999999999999999"};
    (void)state;
    setenv(NODE, "2", 1);
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        setenv(ALL, malformed[i], 1);
        assert_job(0, 0, false);
    }
}

static void slurm_tells_of_the_step(void **state)
{
    (void)state;
    setenv("SLURM_STEP_NUM_TASKS", "5", 1);
    assert_job(0, 0, false);
    setenv("SLURM_STEP_NUM_NODES", "2", 1);
    assert_job(5, 3, false);
    setenv("SLURM_NTASKS_PER_NODE", "4", 1);
    assert_job(5, 4, false);
    setenv("SLURM_STEP_NUM_NODES", "1", 1); /* tasks per node are of the allocation */
    assert_job(5, 5, true);
    setenv("SLURM_STEP_NUM_NODES", "5", 1); /* and can be as many as the step has in all */
    setenv("SLURM_NTASKS_PER_NODE", "5", 1);
    assert_job(5, 1, false);
    setenv("SLURM_STEP_NUM_NODES", "2", 1);
    assert_job(5, 4, false);
    setenv(ALL, "6", 1); /* mpiexec within the step */
    setenv(NODE, "2", 1);
    assert_job(6, 2, false);
}

#if !HW_ABI_OPEN_MPI
static void pals_is_heard(void **state)
{
    (void)state;
    setenv("PMI_SIZE", "6", 1);
    setenv("PMI_LOCAL_SIZE", "6", 1);
    assert_job(6, 6, true);
}

static void without_shared_memory_each_process_is_a_node(void **state)
{
    (void)state;
    setenv(ALL, "2", 1);
    setenv(NODE, "2", 1);
    setenv("MPIR_CVAR_NOLOCAL", "1", 1);
    assert_job(2, 2, false);
}
#endif

static void two_cores_a_process_leave_some_to_spare(void **state)
{
    (void)state;
    struct hw_real_job job = {.process_count = 12, .node_process_count = 4};
    assert_true(hw_real_launcher_has_spare_cores(&job, 8));
    assert_true(hw_real_launcher_has_spare_cores(&job, 64));
    assert_false(hw_real_launcher_has_spare_cores(&job, 7));
    job.node_process_count = 1;
    assert_true(hw_real_launcher_has_spare_cores(&job, 2));
    assert_false(hw_real_launcher_has_spare_cores(&job, 1));
}

static void one_processor(cpu_set_t *set)
{
    cpu_set_t allowed;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    CPU_ZERO(set);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(set) == 0; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            CPU_SET(cpu, set);
}

/* The children of this program are ranks, and it is their launcher: what a rank's own child, or that child's,
 * says of the launcher's cores. */
static int cores_seen_below(int depth, const cpu_set_t *bound_to)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        char digit[] = {(char)('0' + depth - 1), '\0'};
        setenv("PMI_RANK", "0", 1);
        sched_setaffinity(0, sizeof *bound_to, bound_to);
        execl("/proc/self/exe", "test_launcher", digit, (char *)NULL);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void the_launchers_cores_count(void **state)
{
    (void)state;
    cpu_set_t allowed, one;
    one_processor(&one);
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int cores = hw_cores_count(&allowed) < 200 ? hw_cores_count(&allowed) : 200;
    for (int depth = 1; depth <= 3; depth++)
        assert_int_equal(cores_seen_below(depth, &one), cores);
    setenv("SLURM_CPUS_ON_NODE", "1", 1);
    assert_int_equal(cores_seen_below(1, &allowed), 1);
}

static void a_bound_process_has_no_second_core(void **state)
{
    (void)state;
    cpu_set_t one;
    one_processor(&one);
    setenv(ALL, "1", 1);
    setenv(NODE, "1", 1);
    assert_false(hw_real_launcher_has_own_core(&one));
    setenv(ALL, "400", 1); /* nor has one bound to a few together with all the others */
    setenv(NODE, "400", 1);
    cpu_set_t allowed;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    if (hw_cores_count(&allowed) < 800)
        assert_false(hw_real_launcher_has_own_core(&allowed));
}

static void lists_of_processors(void **state)
{
    (void)state;
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t cpu = 0; cpu < 8; cpu++)
        CPU_SET(cpu, &set);
    assert_int_equal(hw_cores_listed("0", &set), 1);
    assert_int_equal(hw_cores_listed("0,64\n", &set), 1);
    assert_int_equal(hw_cores_listed("0-1\n", &set), 2);
    assert_int_equal(hw_cores_listed("0-3,8,6-7\n", &set), 6);
    assert_int_equal(hw_cores_listed("8-20000", &set), 0);
    assert_int_equal(hw_cores_listed("", &set), 0);
    assert_int_equal(hw_cores_listed("\n", &set), 0);
    assert_int_equal(hw_cores_listed("1,x,2", &set), 1);
    assert_int_equal(hw_cores_listed("-2", &set), 0);
}

static void cores_of_this_machine(void **state)
{
    (void)state;
    cpu_set_t allowed, some;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int cores = hw_cores_count(&allowed);
    assert_in_range(cores, 1, CPU_COUNT(&allowed));
    CPU_ZERO(&some);
    assert_int_equal(hw_cores_count(&some), 1);
    one_processor(&some);
    assert_int_equal(hw_cores_count(&some), 1);
}

/* With an argument: a rank, so many programs above the one that says how many cores the launcher has. */
int main(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] == '0') {
        int cores = hw_real_launcher_core_count();
        return cores < 200 ? cores : 200;
    }
    if (argc > 1) {
        cpu_set_t own;
        sched_getaffinity(0, sizeof own, &own);
        return cores_seen_below(argv[1][0] - '0', &own);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_launcher_nothing_is_known, forget),
        cmocka_unit_test_setup(a_launcher_tells_both_numbers, forget),
        cmocka_unit_test_setup(other_launchers_are_not_heard, forget),
        cmocka_unit_test_setup(malformed_numbers_are_none, forget),
        cmocka_unit_test_setup(slurm_tells_of_the_step, forget),
#if !HW_ABI_OPEN_MPI
        cmocka_unit_test_setup(pals_is_heard, forget),
        cmocka_unit_test_setup(without_shared_memory_each_process_is_a_node, forget),
#endif
        cmocka_unit_test(two_cores_a_process_leave_some_to_spare),
        cmocka_unit_test_setup(the_launchers_cores_count, forget),
        cmocka_unit_test_setup(a_bound_process_has_no_second_core, forget),
        cmocka_unit_test(lists_of_processors),
        cmocka_unit_test(cores_of_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
