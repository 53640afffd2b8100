/* Communicators and datatypes that are freed while operations use them (MPI-4.1 sections 5.1.9, 7.4.3). MPICH
 * and Intel MPI delete their attributes only when the last of these operations completes, and that runs code
 * of the program, which must not happen in the progress thread's turn (hw_request_callbacks). An attribute of
 * ours on what is freed tells how long it lives on. */
#include "hooks.h"
#include "mpi/track.h"

#include <pthread.h>

enum kind { COMM, DATATYPE, KIND_COUNT };

static atomic_bool may_run_code[KIND_COUNT]; /* an attribute of the program's has a delete function */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards making the next */
static int keyvals[KIND_COUNT];
static bool has_keyval[KIND_COUNT];

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)value, (void)copied;
    *flag = 0;
    return MPI_SUCCESS;
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)type, (void)keyval, (void)extra, (void)value, (void)copied;
    *flag = 0;
    return MPI_SUCCESS;
}

static void release(void) { atomic_fetch_sub(&hw_request_callbacks, 1); }

/* The attributes of one object are deleted together, and nobody takes a turn within a call. */
static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    release();
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)value, (void)extra;
    release();
    return MPI_SUCCESS;
}

/* Before the first is freed, with an engine on: the world is there, and it ends once. */
static bool find_keyval(enum kind kind, int *keyval)
{
    pthread_mutex_lock(&lock);
    if (!has_keyval[kind]) {
        int rc = kind == COMM
                     ? hw_bottom.Comm_create_keyval(copy_comm, delete_comm, &keyvals[COMM], NULL)
                     : hw_bottom.Type_create_keyval(copy_type, delete_type, &keyvals[DATATYPE], NULL);
        has_keyval[kind] = rc == MPI_SUCCESS;
    }
    *keyval = keyvals[kind];
    bool is_found = has_keyval[kind];
    pthread_mutex_unlock(&lock);
    return is_found;
}

static bool has_to_know(enum kind kind)
{
    return HW_REAL_FREES_LATE && hw_engine_is_on() &&
           atomic_load_explicit(&may_run_code[kind], memory_order_relaxed);
}

/* Nobody but the program makes progress from here until the object is gone, at once in most cases. */
static void hold_comm(MPI_Comm comm)
{
    int keyval;
    if (!has_to_know(COMM) || !find_keyval(COMM, &keyval))
        return;
    atomic_fetch_add(&hw_request_callbacks, 1);
    if (hw_bottom.Comm_set_attr(comm, keyval, NULL) != MPI_SUCCESS)
        release();
}

static void hold_type(MPI_Datatype type)
{
    int keyval;
    if (!has_to_know(DATATYPE) || !find_keyval(DATATYPE, &keyval))
        return;
    atomic_fetch_add(&hw_request_callbacks, 1);
    if (hw_bottom.Type_set_attr(type, keyval, NULL) != MPI_SUCCESS)
        release();
}

int hw_comm_free(MPI_Comm *comm)
{
    hold_comm(*comm);
    return hw_real.Comm_free(comm);
}

int hw_comm_disconnect(MPI_Comm *comm)
{
    hold_comm(*comm);
    return hw_real.Comm_disconnect(comm);
}

int hw_type_free(MPI_Datatype *datatype)
{
    hold_type(*datatype);
    return hw_real.Type_free(datatype);
}

int hw_comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                          MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                          void *extra_state)
{
    if (comm_delete_attr_fn != NULL)
        atomic_store(&may_run_code[COMM], true);
    return hw_real.Comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
}

int hw_keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
                     void *extra_state)
{
    if (delete_fn != NULL)
        atomic_store(&may_run_code[COMM], true);
    return hw_real.Keyval_create(copy_fn, delete_fn, keyval, extra_state);
}

int hw_type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                          MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                          void *extra_state)
{
    if (type_delete_attr_fn != NULL)
        atomic_store(&may_run_code[DATATYPE], true);
    return hw_real.Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state);
}
