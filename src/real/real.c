/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/real.h"

#include "base/atomic.h"
#include "base/log.h"
#include "real/constants.h"
#include "real/detect.h"
#include "real/table.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a process ends with when it cannot run under this library (sysexits.h: EX_CONFIG). */
enum { EXIT_BAD_CONFIGURATION = 78 };

/* STATE_LOADED is stored with release after both tables are filled; readers load with acquire. */
enum { STATE_EMPTY, STATE_LOADED };
static atomic_int state = STATE_EMPTY;
static pthread_mutex_t load_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Below: written once under load_mutex, before STATE_LOADED. */
static struct hw_real_library library;
static bool is_complete = true;

_Thread_local bool hw_real_next_has_call;

int (*hw_real_request_is_complete)(MPI_Request request);

const struct hw_real_library *hw_real_library_used(void) { return &library; }

_Static_assert(sizeof(struct hw_real_table) == HW_REAL_FUNCTION_COUNT * sizeof(void *),
               "a table is an array of pointers, in the order of hw_real_entries");

/* A leaf entry of another thread may read the member at this moment: never a torn pointer. */
static void set_member(struct hw_real_table *table, size_t index, void *function)
{
    hw_atomic_foreign_store_relaxed((void **)table + index, function);
}

/* The next definition after ours. With libmpi opened RTLD_LOCAL (Python extensions) it is not in the chain.
 */
static void *next_in_chain(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    return function != NULL ? function : dlsym(library.handle, name);
}

void *hw_real_next(const char *name)
{
    return hw_atomic_load_acquire(&state) == STATE_LOADED ? next_in_chain(name) : NULL;
}

/* What hw_real gets for a function of the next library. */
static void *marking(size_t index, void *next, const void *bottom)
{
    void *marked = next != bottom ? hw_real_marked_function(index) : NULL;
    if (marked == NULL)
        return next;
    set_member(&hw_real_next_table, index, next);
    return marked;
}

static void fill_tables(void)
{
    for (size_t i = 0; i < HW_REAL_FUNCTION_COUNT; i++) {
        const char *pmpi_name = hw_real_pmpi_name(i);
        void *bottom = dlsym(library.handle, pmpi_name);
        void *real = bottom != NULL ? next_in_chain(pmpi_name + 1) : NULL;
        if (bottom == NULL)
            bottom = hw_real_missing_function(i);
        set_member(&hw_bottom, i, bottom);
        set_member(&hw_real, i, real != NULL ? marking(i, real, bottom) : bottom);
    }
}

static const struct hw_real_entry *find_entry(const char *name)
{
    size_t low = 0, high = HW_REAL_FUNCTION_COUNT;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(name, hw_real_pmpi_name(middle) + 1);
        if (order == 0)
            return &hw_real_entries[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* Functions that can complete, free or restart a request. An unknown one would do it behind our back; an
 * unknown function that only posts leaves its request untracked, which is safe. */
static bool is_door_name(const char *name)
{
    static const char *const prefixes[] = {"MPI_Wait", "MPI_Test", "MPI_Start", "MPI_Cancel", "MPI_Request_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static void check_export(const char *name, void *context)
{
    (void)context;
    if (!is_door_name(name))
        return;
    const struct hw_real_entry *entry = find_entry(name);
    if (entry != NULL && entry->is_interposed)
        return;
    is_complete = false;
    hw_log_error("this MPI completes requests through %s, which this build does not know: no engine runs; "
                 "build Headway against its mpi.h",
                 name);
}

/* A library linked or preloaded before us that keeps calls to itself hides them from us. */
static void check_reachable(void)
{
    static const char *const names[] = {"PMPI_Isend", "PMPI_Irecv", "PMPI_Wait", "PMPI_Waitall", "PMPI_Test"};
    Dl_info ours, theirs;
    if (dladdr((void *)&hw_real_entries, &ours) == 0)
        return;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *reached = dlsym(RTLD_DEFAULT, names[i]);
        if (reached == NULL || dladdr(reached, &theirs) == 0 || theirs.dli_fbase == ours.dli_fbase)
            continue;
        is_complete = false;
        hw_log_error("%s of %s comes before ours, so requests could be completed unseen: no engine runs; put "
                     "%s first in LD_PRELOAD, or before the MPI when linking",
                     names[i], theirs.dli_fname, hw_real_flavour_library(hw_real_flavour_built()));
        return;
    }
}

static void report_other_flavour(void)
{
    enum hw_real_flavour built = hw_real_flavour_built();
    if (library.flavour == HW_REAL_FLAVOUR_ABI)
        hw_log_fatal(
            "the program uses %s (%s), for which there is no Headway yet; build it with mpicc of MPICH or "
            "Open MPI",
            hw_real_flavour_name(library.flavour), library.path);
    else
        hw_log_fatal("%s is for %s, but the program uses %s (%s); preload %s, or let headway run choose",
                     hw_real_flavour_library(built), hw_real_flavour_name(built),
                     hw_real_flavour_name(library.flavour), library.path,
                     hw_real_flavour_library(library.flavour));
}

static enum hw_status find_library(void)
{
    enum hw_real_flavour built = hw_real_flavour_built();
    bool is_there = hw_real_detect(&library) == HW_OK;
    if (is_there && library.flavour == built)
        return HW_OK;
    if (is_there)
        report_other_flavour();
    else
        hw_log_fatal(
            "this process calls MPI, yet no MPI library is loaded in it; link the program with a shared %s",
            hw_real_flavour_name(built));
    return HW_BAD_INPUT;
}

static enum hw_status load_locked(void)
{
    enum hw_status status = find_library();
    if (status != HW_OK)
        return status;
    if (!hw_real_constants_load(library.handle))
        return HW_BAD_INPUT;
    fill_tables();
    *(void **)&hw_real_request_is_complete = dlsym(library.handle, "PMPIX_Request_is_complete");
    hw_real_detect_exports(&library, check_export, NULL);
    check_reachable();
    hw_atomic_store_release(&state, STATE_LOADED);
    return HW_OK;
}

enum hw_status hw_real_load(void)
{
    if (hw_atomic_load_acquire(&state) == STATE_LOADED)
        return HW_OK;
    pthread_mutex_lock(&load_mutex);
    enum hw_status status = HW_OK;
    if (hw_atomic_load_relaxed(&state) != STATE_LOADED)
        status = load_locked();
    pthread_mutex_unlock(&load_mutex);
    return status;
}

bool hw_real_is_there(void)
{
    struct hw_real_library found;
    if (hw_atomic_load_acquire(&state) == STATE_LOADED)
        return true;
    if (hw_real_detect(&found) != HW_OK)
        return false;
    dlclose(found.handle);
    return true;
}

void hw_real_load_or_exit(void)
{
    if (hw_real_load() != HW_OK)
        _exit(EXIT_BAD_CONFIGURATION);
}

void hw_real_pretend_loaded(void) { hw_atomic_store_release(&state, STATE_LOADED); }

bool hw_real_has(size_t offset)
{
    hw_real_load_or_exit();
    size_t index = offset / sizeof(void *);
    return ((void **)&hw_bottom)[index] != hw_real_missing_function(index);
}

bool hw_real_is_complete(void) { return hw_real_load() == HW_OK && is_complete; }

int hw_real_missing(const char *name)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    hw_log_once(&said, HW_LOG_ERROR, "%s was called, but %s has no such function; use a newer MPI", name,
                library.path);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}
