/* SPDX-License-Identifier: BSD-3-Clause */
#include "team/openmp.h"

#include "base/atomic.h"
#include "profile/record.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct hw_openmp entries; /* written once, under lock */
static _Atomic(const struct hw_openmp *) found;
static atomic_uint skips; /* calls until the next search */
static unsigned pause_calls = 1;

static bool look_up(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool look_up_all(struct hw_openmp *openmp)
{
    return look_up(RTLD_DEFAULT, "omp_get_level", &openmp->get_level) &&
           look_up(RTLD_DEFAULT, "omp_get_num_threads", &openmp->get_num_threads) &&
           look_up(RTLD_DEFAULT, "omp_get_max_threads", &openmp->get_max_threads) &&
           look_up(RTLD_DEFAULT, "GOMP_parallel", &openmp->parallel) &&
           look_up(RTLD_DEFAULT, "GOMP_task", &openmp->task);
}

/* Whether there is a runtime, whatever it is. */
static bool is_any(void)
{
    return dlsym(RTLD_DEFAULT, "omp_get_max_threads") != NULL ||
           dlsym(RTLD_DEFAULT, "__kmpc_fork_call") != NULL;
}

/* Whether a library of that name is loaded, whose functions are others than `openmp` has. */
static bool is_another(const char *name, const struct hw_openmp *openmp)
{
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return false;
    int (*get_level)(void);
    bool is_another = look_up(handle, "omp_get_level", &get_level) && get_level != openmp->get_level;
    dlclose(handle);
    return is_another;
}

static bool is_alone(const struct hw_openmp *openmp)
{
    static const char *const names[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_another(names[i], openmp))
            return false;
    return true;
}

static void search(void)
{
    enum { MAX_PAUSE = 1 << 16 };
    static bool is_told;
    if (hw_atomic_load_relaxed(&found))
        return;
    struct hw_openmp openmp;
    if (!look_up_all(&openmp)) {
        if (is_any() && !is_told) {
            is_told = true;
            hw_record_declined(
                "packing: one thread, as the OpenMP runtime has not the entry points of GCC's");
        }
        pause_calls = pause_calls < MAX_PAUSE ? pause_calls * 2 : MAX_PAUSE;
    } else if (!is_alone(&openmp)) {
        pause_calls = MAX_PAUSE;
        hw_record_declined("packing: more than one OpenMP runtime is loaded");
    } else {
        entries = openmp;
        hw_atomic_store_release(&found, &entries);
    }
    hw_atomic_store_relaxed(&skips, pause_calls);
}

const struct hw_openmp *hw_openmp_find(void)
{
    const struct hw_openmp *openmp = hw_atomic_load_acquire(&found);
    if (openmp)
        return openmp;
    unsigned left = hw_atomic_load_relaxed(&skips);
    if (left > 0) {
        hw_atomic_store_relaxed(&skips, left - 1);
        return NULL;
    }
    if (pthread_mutex_trylock(&lock) != 0)
        return NULL;
    search();
    pthread_mutex_unlock(&lock);
    return hw_atomic_load_acquire(&found);
}

void hw_openmp_replace(const struct hw_openmp *openmp) { hw_atomic_store_release(&found, openmp); }
