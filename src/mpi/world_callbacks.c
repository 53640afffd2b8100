/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/world_callbacks.h"

#include "real/constants.h"
#include "real/fortran.h"
#include "world/comm.h"
#include "world/world.h"

#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards changes of what follows */

static MPI_Comm as_known(MPI_Comm comm) { return hw_world_is_user_world(comm) ? HW_COMM_WORLD : comm; }

/* ---- attributes ---- */

/* What MPI has for the program's extra state. Never freed: attributes live longer than their keyval. */
struct attribute {
    struct attribute *next;
    int keyval;
    MPI_Comm_copy_attr_function *copy_function;
    MPI_Comm_delete_attr_function *delete_function;
    void *extra;
    void *copy_proxy, *delete_proxy; /* of another language; NULL: C */
};

static struct attribute *attributes;

static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    const struct attribute *own = extra;
    return own->copy_function(as_known(comm), keyval, own->extra, value, copied, flag);
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *extra)
{
    const struct attribute *own = extra;
    return own->delete_function(as_known(comm), keyval, value, own->extra);
}

/* The MPIs' own have numbers for addresses, or do not look at what they are told. */
static bool is_function(uintptr_t address) { return address > 4096; }

/* What C knows as a keyval other languages may take over at once (MPII_Keyval_set_proxy). */
static void enter(struct attribute *own, int keyval)
{
    pthread_mutex_lock(&lock);
    own->keyval = keyval;
    own->next = attributes;
    attributes = own;
    pthread_mutex_unlock(&lock);
}

int hw_world_create_keyval(hw_world_keyval_function *real_create, MPI_Comm_copy_attr_function *copy,
                           MPI_Comm_delete_attr_function *erase, int *keyval, void *extra)
{
    struct attribute *own = hw_world_has_ghosts() ? calloc(1, sizeof *own) : NULL;
    if (own == NULL)
        return real_create(copy, erase, keyval, extra);
    own->copy_function = copy;
    own->delete_function = erase;
    own->extra = extra;
    int rc = real_create(is_function((uintptr_t)copy) ? copy_attribute : copy,
                         is_function((uintptr_t)erase) ? delete_attribute : erase, keyval, own);
    if (rc == MPI_SUCCESS)
        enter(own, *keyval);
    else
        free(own);
    return rc;
}

#ifndef OPEN_MPI

/* How MPICH and Intel MPI call the functions of other languages. A handle is a number here. */
typedef int copy_proxy_function(MPI_Comm_copy_attr_function *function, int handle, int keyval, void *extra,
                                int type, void *value, void **copied, int *flag);
typedef int delete_proxy_function(MPI_Comm_delete_attr_function *function, int handle, int keyval, int type,
                                  void *value, void *extra);

static int copy_by_proxy(MPI_Comm_copy_attr_function *function, int handle, int keyval, void *extra, int type,
                         void *value, void **copied, int *flag)
{
    const struct attribute *own = extra;
    copy_proxy_function *proxy = (copy_proxy_function *)own->copy_proxy;
    return proxy(function == copy_attribute ? own->copy_function : function, as_known(handle), keyval,
                 own->extra, type, value, copied, flag);
}

static int delete_by_proxy(MPI_Comm_delete_attr_function *function, int handle, int keyval, int type,
                           void *value, void *extra)
{
    const struct attribute *own = extra;
    delete_proxy_function *proxy = (delete_proxy_function *)own->delete_proxy;
    return proxy(function == delete_attribute ? own->delete_function : function, as_known(handle), keyval,
                 type, value, own->extra);
}

/* The last that was made of this number: others were freed. Keyvals of datatypes and windows have others. */
static struct attribute *find(int keyval)
{
    pthread_mutex_lock(&lock);
    struct attribute *own = attributes;
    while (own && own->keyval != keyval)
        own = own->next;
    pthread_mutex_unlock(&lock);
    return own;
}

typedef void set_proxy_function(int keyval, void *copy_proxy, void *delete_proxy);

/* By this the Fortran and C++ libraries make a keyval theirs right after MPI_Comm_create_keyval. */
__attribute__((visibility("default"))) void MPII_Keyval_set_proxy(int keyval, void *copy_proxy,
                                                                  void *delete_proxy)
{
    static struct hw_real_fortran real = {"MPII_Keyval_set_proxy", NULL};
    set_proxy_function *set_proxy = hw_real_fortran_find(&real);
    struct attribute *own = find(keyval);
    if (own) {
        own->copy_proxy = copy_proxy;
        own->delete_proxy = delete_proxy;
    }
    if (set_proxy)
        set_proxy(keyval, own ? (void *)copy_by_proxy : copy_proxy,
                  own ? (void *)delete_by_proxy : delete_proxy);
}

#endif

/* ---- error handlers ---- */

/* Each needs a function of its own: MPI tells none which it was meant for. Handlers of one function share. */
enum { HANDLER_COUNT = 32 };

static MPI_Comm_errhandler_function *handlers[HANDLER_COUNT];

static void handle(int index, const MPI_Comm *comm, int *code)
{
    MPI_Comm known = as_known(*comm);
    handlers[index](&known, code);
}

/* `number`: two octal digits, or the first of them. */
#define HANDLER(number)                                                                                      \
    static void handle_##number(MPI_Comm *comm, int *code, ...) { handle(0##number, comm, code); }
#define HANDLERS(number)                                                                                     \
    HANDLER(number##0)                                                                                       \
    HANDLER(number##1)                                                                                       \
    HANDLER(number##2)                                                                                       \
    HANDLER(number##3)                                                                                       \
    HANDLER(number##4)                                                                                       \
    HANDLER(number##5)                                                                                       \
    HANDLER(number##6)                                                                                       \
    HANDLER(number##7)                                                                                       \
    static_assert(HANDLER_COUNT == 040, "four times eight")
#define NAMES(number)                                                                                        \
    handle_##number##0, handle_##number##1, handle_##number##2, handle_##number##3, handle_##number##4,      \
        handle_##number##5, handle_##number##6, handle_##number##7

HANDLERS(0);
HANDLERS(1);
HANDLERS(2);
HANDLERS(3);

static MPI_Comm_errhandler_function *const given[HANDLER_COUNT] = {NAMES(0), NAMES(1), NAMES(2), NAMES(3)};

MPI_Comm_errhandler_function *hw_world_errhandler(MPI_Comm_errhandler_function *handler)
{
    int i = HANDLER_COUNT;
    if (!hw_world_has_ghosts())
        return handler;
    pthread_mutex_lock(&lock);
    for (i = 0; i < HANDLER_COUNT && handlers[i] != handler && handlers[i] != NULL; i++)
        continue;
    if (i < HANDLER_COUNT)
        handlers[i] = handler;
    pthread_mutex_unlock(&lock);
    return i < HANDLER_COUNT ? given[i] : handler;
}
