/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher tells about the job in the environment, before MPI_Init*. Only this file knows the names, but
 * for those of the rank (base/log.h). It reads what is told by Hydra (MPICH, Intel MPI), Open MPI's mpirun
 * (ORTE and PRRTE), Slurm's srun and PALS. Any thread, any time; looked up each time.
 *
 * Every answer but hw_real_launcher_has_own_core is the same in all processes of a job on one node, also
 * where they are bound to different cores. */
#ifndef HW_REAL_LAUNCHER_H
#define HW_REAL_LAUNCHER_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

/* Processes of MPI_COMM_WORLD as the MPI has it (with ghosts), and those of them on this node. 0: not told.
 */
struct hw_real_job {
    int process_count;
    int node_process_count;
};

struct hw_real_job hw_real_launcher_job(void);

/* True if all processes of the job are known to be on this node. Where the MPI was told to treat each process
 * as a node of its own (MPICH's MPIR_CVAR_NOLOCAL) they are not. */
bool hw_real_launcher_is_one_node(const struct hw_real_job *job);

/* The launcher's process on this node that started `process`: its nearest ancestor that is in no rank; 0 if
 * it cannot be told. A rank in a PID namespace of its own sees none. */
pid_t hw_real_launcher_of(pid_t process);

/* Whether `variable`, NAME=VALUE of an environment, says that its process is in a rank; then `rank` is which.
 */
bool hw_real_launcher_read_rank(const char *variable, int *rank);

/* Cores that the launcher may give to the processes of this node: those of its own process here, the nearest
 * ancestor that is in no rank; where there is none to be found, all. */
int hw_real_launcher_core_count(void);

/* True if `core_count` cores of the node are known to be two for each process of it. */
bool hw_real_launcher_has_spare_cores(const struct hw_real_job *job, int core_count);

/* True if a second thread of this process, which may run on `allowed`, is known to have a core for itself,
 * even if all processes of the node are bound to the same. */
bool hw_real_launcher_has_own_core(const cpu_set_t *allowed);

#endif
