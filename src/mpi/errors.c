/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/errors.h"

#include "engines/engine.h"
#include "hooks.h"
#include "mpi/world_callbacks.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "world/comm.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hw_engine_handlers handlers;
static int setter_count; /* calls under way; not under the lock: they may end in a handler of the program */

static enum hw_engine_handler kind_of(MPI_Errhandler handler)
{
    return handler == HW_ERRORS_ARE_FATAL ? HW_HANDLER_FATAL
           : handler == HW_ERRORS_RETURN  ? HW_HANDLER_RETURN
                                          : HW_HANDLER_OWN;
}

static void add(enum hw_engine_handler kind)
{
    handlers.has_return = handlers.has_return || kind == HW_HANDLER_RETURN;
    handlers.has_own = handlers.has_own || kind == HW_HANDLER_OWN;
}

static void tell(void)
{
    handlers.is_changing = setter_count > 0;
    hw_engines_hear(&handlers);
}

static enum hw_engine_handler kind_at(MPI_Comm comm)
{
    MPI_Errhandler handler;
    if (hw_bottom.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return HW_HANDLER_OWN;
    enum hw_engine_handler kind = kind_of(handler);
    if (kind == HW_HANDLER_OWN)
        hw_bottom.Errhandler_free(&handler);
    return kind;
}

void hw_errors_start(void)
{
    if (!HW_REAL_ASKING_RAISES)
        return;
    pthread_mutex_lock(&lock);
    handlers.world = kind_at(HW_COMM_WORLD);
    handlers.self = kind_at(HW_COMM_SELF);
    add(handlers.world);
    add(handlers.self);
    tell();
    pthread_mutex_unlock(&lock);
}

/* MPICH 4.0 raises those of persistent requests at the communicator, where a handler of the program's is told
 * which that is. */
bool hw_errors_are_alike(MPI_Comm comm)
{
    if (!hw_real_raises_requests_at_world())
        return true;
    pthread_mutex_lock(&lock);
    struct hw_engine_handlers now = handlers;
    pthread_mutex_unlock(&lock);
    return !now.has_own && (!now.has_return || kind_at(comm) == now.world);
}

/* A communicator is about to get a handler: nobody asks until it has it. */
static void begin_setting(MPI_Errhandler handler)
{
    if (!HW_REAL_ASKING_RAISES)
        return;
    pthread_mutex_lock(&lock);
    setter_count++;
    add(kind_of(handler));
    tell();
    pthread_mutex_unlock(&lock);
}

/* `comm`: HW_COMM_NULL for one that is new, or where setting failed. */
static void end_setting(MPI_Comm comm, MPI_Errhandler handler)
{
    if (!HW_REAL_ASKING_RAISES)
        return;
    pthread_mutex_lock(&lock);
    setter_count--;
    if (comm == HW_COMM_WORLD || hw_world_is_user_world(comm))
        handlers.world = kind_of(handler);
    else if (comm == HW_COMM_SELF)
        handlers.self = kind_of(handler);
    tell();
    pthread_mutex_unlock(&lock);
}

typedef int set_function(MPI_Comm comm, MPI_Errhandler handler);

/* Errors that belong to no communicator are raised at MPI_COMM_WORLD's. */
static int set(set_function *real_set, MPI_Comm comm, MPI_Errhandler handler)
{
    begin_setting(handler);
    int rc = real_set(comm, handler);
    if (rc == MPI_SUCCESS && hw_world_is_user_world(comm))
        rc = hw_real.Comm_set_errhandler(HW_COMM_WORLD, handler);
    end_setting(rc == MPI_SUCCESS ? comm : HW_COMM_NULL, handler);
    return rc;
}

int hw_comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
    return hw_real.Comm_create_errhandler(hw_world_errhandler(comm_errhandler_fn), errhandler);
}

int hw_errhandler_create(MPI_Comm_errhandler_function *comm_errhandler_fn, MPI_Errhandler *errhandler)
{
    return hw_real.Errhandler_create(hw_world_errhandler(comm_errhandler_fn), errhandler);
}

int hw_comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return set(hw_real.Comm_set_errhandler, comm, errhandler);
}

int hw_errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return set(hw_real.Errhandler_set, comm, errhandler);
}

#ifdef HW_HAVE_Comm_create_from_group

int hw_comm_create_from_group(MPI_Group group, const char *stringtag, MPI_Info info,
                              MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    begin_setting(errhandler);
    int rc = hw_real.Comm_create_from_group(group, stringtag, info, errhandler, newcomm);
    end_setting(HW_COMM_NULL, errhandler);
    return rc;
}

int hw_intercomm_create_from_groups(MPI_Group local_group, int local_leader, MPI_Group remote_group,
                                    int remote_leader, const char *stringtag, MPI_Info info,
                                    MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    begin_setting(errhandler);
    int rc = hw_real.Intercomm_create_from_groups(local_group, local_leader, remote_group, remote_leader,
                                                  stringtag, info, errhandler, newintercomm);
    end_setting(HW_COMM_NULL, errhandler);
    return rc;
}

#endif
