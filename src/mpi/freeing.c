/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and datatypes that are freed while something uses them (MPI-4.1 sections 5.1.9, 7.4.3). MPICH
 * and Intel MPI delete their attributes only when nothing does any more, Open MPI those of datatypes, often
 * when the last operation completes, and that runs code of the program, which must not happen in the progress
 * thread's turn (hw_request_callbacks). An attribute of ours, the mark, on all that has one of the program's
 * tells how long it lives on. */
#include "mpi/freeing.h"
#include "base/atomic.h"
#include "engines/engine.h"
#include "hooks.h"
#include "mpi/track.h"
#include "mpi/world_callbacks.h"

#include <pthread.h>
#include <string.h>

enum kind { COMM, DATATYPE, KIND_COUNT };

static atomic_bool may_run_code[KIND_COUNT]; /* an attribute of the program's may have a delete function */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards making the next */
static int keyvals[KIND_COUNT];
static bool has_keyval[KIND_COUNT];

static char freed; /* its address is the mark's value on what the program freed; NULL before */

/* What a duplicate has of the program's attributes it has copied; it is not freed. */
static int copy_mark(void *copied, int *flag)
{
    void *none = NULL;
    memcpy(copied, &none, sizeof none);
    *flag = 1;
    return MPI_SUCCESS;
}

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)value;
    return copy_mark(copied, flag);
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *value, void *copied, int *flag)
{
    (void)type, (void)keyval, (void)extra, (void)value;
    return copy_mark(copied, flag);
}

/* The attributes of one object are deleted together, and nobody takes a turn within a call. */
static int release(const void *value)
{
    if (value == &freed)
        hw_atomic_sub_seq_cst(&hw_request_callbacks, 1);
    return MPI_SUCCESS;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    return release(value);
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)extra;
    return release(value);
}

/* With an engine on. */
static bool has_keyval_of(enum kind kind)
{
    pthread_mutex_lock(&lock);
    if (!has_keyval[kind]) {
        int rc = kind == COMM
                     ? hw_bottom.Comm_create_keyval(copy_comm, delete_comm, &keyvals[COMM], NULL)
                     : hw_bottom.Type_create_keyval(copy_type, delete_type, &keyvals[DATATYPE], NULL);
        has_keyval[kind] = rc == MPI_SUCCESS;
    }
    bool is_there = has_keyval[kind];
    pthread_mutex_unlock(&lock);
    return is_there;
}

void hw_freeing_end(void)
{
    pthread_mutex_lock(&lock);
    if (has_keyval[COMM])
        hw_bottom.Comm_free_keyval(&keyvals[COMM]);
    if (has_keyval[DATATYPE])
        hw_bottom.Type_free_keyval(&keyvals[DATATYPE]);
    has_keyval[COMM] = has_keyval[DATATYPE] = false;
    pthread_mutex_unlock(&lock);
}

static bool has_to_know(enum kind kind)
{
    bool frees_late = kind == COMM ? HW_REAL_FREES_COMMS_LATE : HW_REAL_FREES_TYPES_LATE;
    return frees_late && hw_engine_is_on() && hw_atomic_load_relaxed(&may_run_code[kind]) &&
           has_keyval_of(kind);
}

/* Handles of either kind are numbers, or addresses, from here on. */

static void set_mark(enum kind kind, uintptr_t object, void *value)
{
    if (kind == COMM)
        hw_bottom.Comm_set_attr((MPI_Comm)object, keyvals[kind], value);
    else
        hw_bottom.Type_set_attr((MPI_Datatype)object, keyvals[kind], value);
}

static bool has_mark(enum kind kind, uintptr_t object)
{
    int flag = 0;
    void *value;
    int rc = kind == COMM ? hw_bottom.Comm_get_attr((MPI_Comm)object, keyvals[kind], &value, &flag)
                          : hw_bottom.Type_get_attr((MPI_Datatype)object, keyvals[kind], &value, &flag);
    return rc == MPI_SUCCESS && flag;
}

static void mark(enum kind kind, uintptr_t object)
{
    if (has_to_know(kind))
        set_mark(kind, object, NULL);
}

void hw_freeing_mark_comm(MPI_Comm comm) { mark(COMM, (uintptr_t)comm); }

/* From Fortran, whose keyvals Open MPI makes past the entries. */
void hw_freeing_mark_type(MPI_Datatype type)
{
    hw_atomic_store_seq_cst(&may_run_code[DATATYPE], true);
    mark(DATATYPE, (uintptr_t)type);
}

/* Nobody but the program makes progress from here until the object is gone, at once in most cases. Returns
 * whether it has a mark. */
static bool hold(enum kind kind, uintptr_t object)
{
    if (!has_to_know(kind) || !has_mark(kind, object))
        return false;
    hw_atomic_add_seq_cst(&hw_request_callbacks, 1);
    set_mark(kind, object, &freed);
    return true;
}

static _Thread_local MPI_Comm freeing; /* if is_freeing */
static _Thread_local bool is_freeing;

bool hw_freeing_is(MPI_Comm comm) { return is_freeing && comm == freeing; }

typedef int free_comm_function(MPI_Comm *comm);

/* Callbacks that free other communicators nest. */
static int free_known(free_comm_function *real_free, MPI_Comm *comm)
{
    MPI_Comm outer = freeing;
    bool has_outer = is_freeing;
    freeing = *comm;
    is_freeing = true;
    int rc = real_free(comm);
    freeing = outer;
    is_freeing = has_outer;
    return rc;
}

/* Where the MPI refuses, setting the mark again deletes its old value. */
static int free_comm(free_comm_function *real_free, MPI_Comm *comm)
{
    bool is_there = comm && *comm != HW_COMM_NULL;
    if (is_there)
        hw_engines_comm_frees(*comm);
    bool is_held = is_there && hold(COMM, (uintptr_t)*comm);
    int rc = is_there ? free_known(real_free, comm) : real_free(comm);
    if (is_held && *comm != HW_COMM_NULL)
        mark(COMM, (uintptr_t)*comm);
    return rc;
}

bool hw_comm_freed_within(free_comm_function *bottom, MPI_Comm *comm)
{
    return comm && *comm != HW_COMM_NULL && free_known(bottom, comm) == MPI_SUCCESS;
}

int hw_comm_free(MPI_Comm *comm) { return free_comm(hw_real.Comm_free, comm); }

int hw_comm_disconnect(MPI_Comm *comm) { return free_comm(hw_real.Comm_disconnect, comm); }

int hw_type_free(MPI_Datatype *datatype)
{
    bool is_held = datatype && *datatype != HW_DATATYPE_NULL && hold(DATATYPE, (uintptr_t)*datatype);
    int rc = hw_real.Type_free(datatype);
    if (is_held && *datatype != HW_DATATYPE_NULL)
        mark(DATATYPE, (uintptr_t)*datatype);
    return rc;
}

int hw_comm_set_attr(MPI_Comm comm, int comm_keyval, void *attribute_val)
{
    int rc = hw_real.Comm_set_attr(comm, comm_keyval, attribute_val);
    if (rc == MPI_SUCCESS)
        hw_freeing_mark_comm(comm);
    return rc;
}

int hw_attr_put(MPI_Comm comm, int keyval, void *attribute_val)
{
    int rc = hw_real.Attr_put(comm, keyval, attribute_val);
    if (rc == MPI_SUCCESS)
        hw_freeing_mark_comm(comm);
    return rc;
}

int hw_type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{
    int rc = hw_real.Type_set_attr(datatype, type_keyval, attribute_val);
    if (rc == MPI_SUCCESS)
        mark(DATATYPE, (uintptr_t)datatype);
    return rc;
}

int hw_comm_create_keyval(MPI_Comm_copy_attr_function *comm_copy_attr_fn,
                          MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval,
                          void *extra_state)
{
    if (comm_delete_attr_fn != NULL)
        hw_atomic_store_seq_cst(&may_run_code[COMM], true);
    return hw_world_create_keyval(hw_real.Comm_create_keyval, comm_copy_attr_fn, comm_delete_attr_fn,
                                  comm_keyval, extra_state);
}

int hw_keyval_create(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
                     void *extra_state)
{
    if (delete_fn != NULL)
        hw_atomic_store_seq_cst(&may_run_code[COMM], true);
    return hw_world_create_keyval(hw_real.Keyval_create, copy_fn, delete_fn, keyval, extra_state);
}

int hw_comm_free_keyval(int *comm_keyval)
{
    return hw_world_free_keyval(hw_real.Comm_free_keyval, comm_keyval);
}

int hw_keyval_free(int *keyval) { return hw_world_free_keyval(hw_real.Keyval_free, keyval); }

int hw_type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                          MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                          void *extra_state)
{
    if (type_delete_attr_fn != NULL)
        hw_atomic_store_seq_cst(&may_run_code[DATATYPE], true);
    return hw_real.Type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state);
}
