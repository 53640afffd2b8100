#include "mpi/errors.h"

#include "hooks.h"
#include "objects/request.h"
#include "real/constants.h"
#include "real/quirks.h"
#include "world/comm.h"

#include <pthread.h>
#include <stdbool.h>

enum kind { FATAL, RETURN, OTHER };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum kind world, self;
static bool has_other;   /* any communicator ever had a handler that is not fatal */
static int setter_count; /* calls under way; not under the lock: they may end in a handler of the program */

static enum kind kind_of(MPI_Errhandler handler)
{
    return handler == HW_ERRORS_ARE_FATAL ? FATAL : handler == HW_ERRORS_RETURN ? RETURN : OTHER;
}

static bool may_ask(void)
{
    if (!HW_REAL_ASKING_RAISES || (world == RETURN && self == RETURN))
        return true;
    return hw_real_raises_at_world() ? world != OTHER : !has_other;
}

static enum kind kind_at(MPI_Comm comm)
{
    MPI_Errhandler handler;
    if (hw_bottom.Comm_get_errhandler(comm, &handler) != MPI_SUCCESS)
        return OTHER;
    enum kind kind = kind_of(handler);
    if (kind == OTHER)
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
    has_other = has_other || world != FATAL || self != FATAL;
    hw_request_allow_asking(may_ask());
    pthread_mutex_unlock(&lock);
}

void hw_errors_add_session(void)
{
    pthread_mutex_lock(&lock);
    has_other = true;
    hw_request_allow_asking(may_ask());
    pthread_mutex_unlock(&lock);
}

static void begin_setting(void)
{
    pthread_mutex_lock(&lock);
    setter_count++;
    if (HW_REAL_ASKING_RAISES)
        hw_request_allow_asking(false);
    pthread_mutex_unlock(&lock);
}

static void end_setting(bool is_set, MPI_Comm comm, MPI_Errhandler handler)
{
    enum kind kind = kind_of(handler);
    pthread_mutex_lock(&lock);
    if (is_set && (comm == HW_COMM_WORLD || hw_world_is_user_world(comm)))
        world = kind;
    else if (is_set && comm == HW_COMM_SELF)
        self = kind;
    has_other = has_other || kind != FATAL;
    if (--setter_count == 0)
        hw_request_allow_asking(may_ask());
    pthread_mutex_unlock(&lock);
}

typedef int set_function(MPI_Comm comm, MPI_Errhandler handler);

/* Errors that belong to no communicator are raised at MPI_COMM_WORLD's. */
static int set(set_function *real_set, MPI_Comm comm, MPI_Errhandler handler)
{
    begin_setting();
    int rc = real_set(comm, handler);
    if (rc == MPI_SUCCESS && hw_world_is_user_world(comm))
        rc = hw_real.Comm_set_errhandler(HW_COMM_WORLD, handler);
    end_setting(rc == MPI_SUCCESS, comm, handler);
    return rc;
}

int hw_comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return set(hw_real.Comm_set_errhandler, comm, errhandler);
}

int hw_errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return set(hw_real.Errhandler_set, comm, errhandler);
}
