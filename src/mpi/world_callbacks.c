/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/world_callbacks.h"

#include "real/constants.h"
#include "real/extensions.h"
#include "real/keyval.h"
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

/* Attributes live longer than their keyval, so what was given MPI stays. The next keyval of the same
 * functions and state gets it again. */
struct attribute {
    struct hw_real_keyval known; /* what MPI has for the program's extra state */
    struct attribute *next;
    int keyval;
};

static struct attribute *attributes, *left; /* those of which the program has freed the keyval */

/* So many of them are looked at, those that were left last. */
enum { LOOKS_MAX = 32 };

static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *value, void *copied, int *flag)
{
    const struct hw_real_keyval *own = extra;
    return own->copy_function(as_known(comm), keyval, own->extra, value, copied, flag);
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *extra)
{
    const struct hw_real_keyval *own = extra;
    return own->delete_function(as_known(comm), keyval, value, own->extra);
}

/* The MPIs' own have numbers for addresses, or do not look at what they are told. */
static bool is_function(uintptr_t address) { return address > 4096; }

/* What C knows as a keyval other languages may take over at once (src/real/keyval.c). */
static void enter(struct attribute *own, int keyval)
{
    pthread_mutex_lock(&lock);
    own->keyval = keyval;
    own->next = attributes;
    attributes = own;
    pthread_mutex_unlock(&lock);
}

static bool is_like(const struct hw_real_keyval *one, const struct hw_real_keyval *other)
{
    return one->copy_function == other->copy_function && one->delete_function == other->delete_function &&
           one->extra == other->extra;
}

/* NULL: no memory. */
static struct attribute *begin(const struct hw_real_keyval *known)
{
    struct attribute *own = NULL;
    int looks = 0;
    pthread_mutex_lock(&lock);
    for (struct attribute **link = &left; *link && looks++ < LOOKS_MAX; link = &(*link)->next)
        if (is_like(&(*link)->known, known)) {
            own = *link;
            *link = own->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    if (own == NULL && (own = calloc(1, sizeof *own)) != NULL)
        own->known = *known;
    return own;
}

static void leave(struct attribute *own)
{
    pthread_mutex_lock(&lock);
    own->next = left;
    left = own;
    pthread_mutex_unlock(&lock);
}

int hw_world_create_keyval(hw_world_keyval_function *real_create, MPI_Comm_copy_attr_function *copy,
                           MPI_Comm_delete_attr_function *erase, int *keyval, void *extra)
{
    const struct hw_real_keyval known = {.copy_function = copy, .delete_function = erase, .extra = extra};
    struct attribute *own = hw_world_has_ghosts() ? begin(&known) : NULL;
    if (own == NULL)
        return real_create(copy, erase, keyval, extra);
    int rc = real_create(is_function((uintptr_t)copy) ? copy_attribute : copy,
                         is_function((uintptr_t)erase) ? delete_attribute : erase, keyval, &own->known);
    if (rc == MPI_SUCCESS)
        enter(own, *keyval);
    else
        leave(own);
    return rc;
}

/* The last that was made of this number: others were freed past us. NULL: it is none of these. */
static struct attribute *take(int keyval)
{
    pthread_mutex_lock(&lock);
    struct attribute **link = &attributes;
    while (*link && (*link)->keyval != keyval)
        link = &(*link)->next;
    struct attribute *own = *link;
    if (own)
        *link = own->next;
    pthread_mutex_unlock(&lock);
    return own;
}

/* The number may be another's as soon as it is free. */
int hw_world_free_keyval(int (*real_free)(int *keyval), int *keyval)
{
    int number = keyval ? *keyval : MPI_KEYVAL_INVALID;
    struct attribute *own = hw_world_has_ghosts() ? take(number) : NULL;
    int rc = real_free(keyval);
    if (own && rc == MPI_SUCCESS)
        leave(own);
    else if (own)
        enter(own, number);
    return rc;
}

/* The same, which stays. Keyvals of datatypes and windows have others. */
static struct hw_real_keyval *find(int keyval)
{
    pthread_mutex_lock(&lock);
    struct attribute *own = attributes;
    while (own && own->keyval != keyval)
        own = own->next;
    pthread_mutex_unlock(&lock);
    return own ? &own->known : NULL;
}

const struct hw_real_keyval_hooks hw_real_keyval_hooks = {
    .copy = copy_attribute, .erase = delete_attribute, .as_known = as_known, .find = find};

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
    if (!hw_world_has_ghosts() || handler == NULL) /* which the MPI refuses */
        return handler;
    pthread_mutex_lock(&lock);
    for (i = 0; i < HANDLER_COUNT && handlers[i] != handler && handlers[i] != NULL; i++)
        continue;
    if (i < HANDLER_COUNT)
        handlers[i] = handler;
    pthread_mutex_unlock(&lock);
    return i < HANDLER_COUNT ? given[i] : handler;
}

/* One with a state, of the program's. */
struct handler {
    hw_real_handler_function *function;
    hw_real_handler_destructor *destructor; /* NULL: none */
    void *state;
};

static void handle_with_state(MPI_Comm comm, int code, void *of)
{
    const struct handler *own = of;
    own->function(as_known(comm), code, own->state);
}

static void end_state(void *of)
{
    const struct handler own = *(struct handler *)of;
    free(of);
    if (own.destructor)
        own.destructor(own.state);
}

static int create_handler(hw_real_handler_create *real_create, hw_real_handler_function *function,
                          hw_real_handler_destructor *destructor, void *state, MPI_Errhandler *errhandler)
{
    struct handler *own = hw_world_has_ghosts() && function ? malloc(sizeof *own) : NULL;
    if (own == NULL)
        return real_create(function, destructor, state, errhandler);
    *own = (struct handler){function, destructor, state};
    int rc = real_create(handle_with_state, end_state, own, errhandler);
    if (rc != MPI_SUCCESS)
        free(own);
    return rc;
}

const struct hw_real_extension_hooks hw_real_extension_hooks = {.create_handler = create_handler};
