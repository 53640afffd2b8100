#include "mpi/errors.h"

#include "hooks.h"
#include "mpi/world_callbacks.h"
#include "objects/request.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "world/comm.h"

#include <pthread.h>
#include <stdbool.h>

enum kind { FATAL, RETURN, OWN };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum kind world, self;
static bool has_return, has_own; /* any communicator ever had such a handler */
static int setter_count; /* calls under way; not under the lock: they may end in a handler of the program */

static enum kind kind_of(MPI_Errhandler handler)
{
    return handler == HW_ERRORS_ARE_FATAL ? FATAL : handler == HW_ERRORS_RETURN ? RETURN : OWN;
}

static void add(enum kind kind)
{
    has_return = has_return || kind == RETURN;
    has_own = has_own || kind == OWN;
}

static void decide(void)
{
    bool is_silent = world == RETURN && (self == RETURN || hw_real_raises_at_world());
    enum hw_request_asking asking = HW_REQUEST_ASK_NOT;
    if (setter_count == 0 && !has_own && is_silent)
        asking = HW_REQUEST_ASK;
    else if (setter_count == 0 && !has_own && !has_return)
        asking = HW_REQUEST_ASK_MUTED;
    hw_request_allow_asking(asking);
}

static enum kind kind_at(MPI_Comm comm)
{
    MPI_Errhandler handler;
    if (hw_bottom.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return OWN;
    enum kind kind = kind_of(handler);
    if (kind == OWN)
        hw_bottom.Errhandler_free(&handler);
    return kind;
}

void hw_errors_start(void)
{
    if (!HW_REAL_ASKING_RAISES)
        return;
    pthread_mutex_lock(&lock);
    world = kind_at(HW_COMM_WORLD);
    self = kind_at(HW_COMM_SELF);
    add(world);
    add(self);
    decide();
    pthread_mutex_unlock(&lock);
}

/* A communicator is about to get a handler: nobody asks until it has it. */
static void begin_setting(MPI_Errhandler handler)
{
    if (!HW_REAL_ASKING_RAISES)
        return;
    pthread_mutex_lock(&lock);
    setter_count++;
    add(kind_of(handler));
    decide();
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
        world = kind_of(handler);
    else if (comm == HW_COMM_SELF)
        self = kind_of(handler);
    decide();
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
