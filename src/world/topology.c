/* SPDX-License-Identifier: BSD-3-Clause */
#include "world/topology.h"

#ifdef HW_HAVE_HWLOC
#include <dlfcn.h>
#include <hwloc.h>
#include <sched.h>

#define LIBRARY_NAME "libhwloc.so.15"

/* X(name): what is called of the library. */
#define HWLOC_CALLS(X)                                                                                       \
    X(topology_init)                                                                                         \
    X(topology_load)                                                                                         \
    X(topology_destroy)                                                                                      \
    X(topology_abi_check)                                                                                    \
    X(get_type_depth)                                                                                        \
    X(get_nbobjs_by_depth)                                                                                   \
    X(get_obj_by_depth)                                                                                      \
    X(bitmap_alloc)                                                                                          \
    X(bitmap_free)                                                                                           \
    X(bitmap_set)                                                                                            \
    X(bitmap_and)                                                                                            \
    X(bitmap_iszero)                                                                                         \
    X(bitmap_isequal)                                                                                        \
    X(bitmap_isincluded)                                                                                     \
    X(topology_get_topology_cpuset)

struct calls {
#define MEMBER(name) __typeof__(&hwloc_##name) name; /* NOLINT(bugprone-macro-parentheses): a member */
    HWLOC_CALLS(MEMBER)
#undef MEMBER
};

static bool look_up(void *library, struct calls *calls)
{
#define LOOK_UP(name) calls->name = (__typeof__(&hwloc_##name))dlsym(library, "hwloc_" #name);
    HWLOC_CALLS(LOOK_UP)
#undef LOOK_UP
#define IS_THERE(name) &&calls->name != NULL
    return true HWLOC_CALLS(IS_THERE);
#undef IS_THERE
}

/* Memory of another kind beside a domain's own (HBM), or far from all processors (CXL), is no domain. */
static bool is_domain(const struct calls *calls, hwloc_topology_t topology, int depth, unsigned index)
{
    hwloc_obj_t object = calls->get_obj_by_depth(topology, depth, index);
    if (object->cpuset == NULL || calls->bitmap_iszero(object->cpuset))
        return false;
    for (unsigned i = 0; i < index; i++) {
        hwloc_obj_t other = calls->get_obj_by_depth(topology, depth, i);
        if (other->cpuset && calls->bitmap_isequal(other->cpuset, object->cpuset))
            return false;
    }
    return true;
}

/* How many domains of a kind there are, and the one that holds all of `bound`, else -1. */
static int count_domains(const struct calls *calls, hwloc_topology_t topology, hwloc_obj_type_t type,
                         hwloc_const_cpuset_t bound, int *own)
{
    int depth = calls->get_type_depth(topology, type), count = 0;
    *own = -1;
    if (depth == HWLOC_TYPE_DEPTH_UNKNOWN)
        return 1;
    unsigned object_count = calls->get_nbobjs_by_depth(topology, depth);
    for (unsigned i = 0; i < object_count; i++) {
        if (!is_domain(calls, topology, depth, i))
            continue;
        if (calls->bitmap_isincluded(bound, calls->get_obj_by_depth(topology, depth, i)->cpuset))
            *own = count;
        count++;
    }
    return count > 0 ? count : 1;
}

/* Not hwloc_get_cpubind: it says nothing where the topology is described in a file. */
static void find_binding(const struct calls *calls, hwloc_topology_t topology, hwloc_bitmap_t bound)
{
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0)
        for (unsigned i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &cores))
                calls->bitmap_set(bound, i);
    calls->bitmap_and(bound, bound, calls->topology_get_topology_cpuset(topology));
}

static void ask(const struct calls *calls, struct hw_topology *found)
{
    hwloc_topology_t topology;
    hwloc_bitmap_t bound = calls->bitmap_alloc();
    if (bound == NULL)
        return;
    if (calls->topology_init(&topology) == 0) {
        if (calls->topology_load(topology) == 0 && calls->topology_abi_check(topology) == 0) {
            find_binding(calls, topology, bound);
            bool is_bound = !calls->bitmap_iszero(bound);
            struct hw_place *place = &found->place;
            found->socket_count = count_domains(calls, topology, HWLOC_OBJ_PACKAGE, bound, &place->socket);
            found->numa_count = count_domains(calls, topology, HWLOC_OBJ_NUMANODE, bound, &place->numa);
            if (!is_bound)
                *place = (struct hw_place){-1, -1};
        }
        calls->topology_destroy(topology);
    }
    calls->bitmap_free(bound);
}

void hw_topology_find(struct hw_topology *found)
{
    struct calls calls;
    *found = (struct hw_topology){.place = {-1, -1}};
    void *library = dlopen(LIBRARY_NAME, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    if (look_up(library, &calls))
        ask(&calls, found);
    dlclose(library);
}

#else

void hw_topology_find(struct hw_topology *found) { *found = (struct hw_topology){.place = {-1, -1}}; }

#endif
