/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/detect.h"

#include "real/real.h"
#include "real/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum hw_real_flavour hw_real_flavour_built(void)
{
#if HW_ABI_OPEN_MPI
    return HW_REAL_FLAVOUR_OMPI;
#else
    return HW_REAL_FLAVOUR_MPICH;
#endif
}

const char *hw_real_flavour_name(enum hw_real_flavour flavour)
{
    switch (flavour) {
    case HW_REAL_FLAVOUR_MPICH:
        return "MPICH";
    case HW_REAL_FLAVOUR_OMPI:
        return "Open MPI";
    case HW_REAL_FLAVOUR_ABI:
        return "the MPI standard ABI";
    case HW_REAL_FLAVOUR_NONE:
        break;
    }
    return "no MPI";
}

const char *hw_real_flavour_library(enum hw_real_flavour flavour)
{
    return flavour == HW_REAL_FLAVOUR_OMPI ? "libheadway-ompi.so" : "libheadway-mpich.so";
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* True if the object itself, and not a library it needs, defines `symbol`. */
static bool defines(const struct hw_real_library *library, const char *symbol)
{
    Dl_info info;
    void *address = dlsym(library->handle, symbol);
    return address != NULL && dladdr(address, &info) != 0 && (uintptr_t)info.dli_fbase == library->base;
}

/* Names alone do not tell: libmpi.so.12 and libmpi.so.40 share a stem, and Fortran libraries carry it too. */
static enum hw_real_flavour flavour_of(const struct hw_real_library *library)
{
    if (!defines(library, "PMPI_Init"))
        return HW_REAL_FLAVOUR_NONE;
    if (defines(library, "ompi_mpi_comm_world_addr") || defines(library, "ompi_request_null"))
        return HW_REAL_FLAVOUR_OMPI;
    if (strncmp(base_name(library->path), "libmpi_abi", strlen("libmpi_abi")) == 0)
        return HW_REAL_FLAVOUR_ABI;
    return HW_REAL_FLAVOUR_MPICH;
}

struct search {
    bool (*is_wanted)(const char *path);
    size_t index;
    char *path;
    size_t size;
};

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    if (!search->is_wanted(info->dlpi_name) || strlen(info->dlpi_name) >= search->size || search->index-- > 0)
        return 0;
    snprintf(search->path, search->size, "%s", info->dlpi_name);
    return 1;
}

/* Names alone are taken out of the list: a thread that loads a library holds the loader's lock, which dlopen
 * and dlsym take, and waits for the list's, which a look at it holds. */
bool hw_real_object_find(bool (*is_wanted)(const char *path), size_t index, char *path, size_t size)
{
    struct search search = {.is_wanted = is_wanted, .index = index, .path = path, .size = size};
    return dl_iterate_phdr(look_at_object, &search) != 0;
}

static bool may_be_mpi(const char *path) { return strncmp(base_name(path), "libmpi", strlen("libmpi")) == 0; }

/* Whose path is known already. False: there is none of that path any more, or it is no MPI. */
static bool open_library(struct hw_real_library *library)
{
    library->handle = dlopen(library->path, RTLD_LAZY | RTLD_NOLOAD);
    if (library->handle == NULL)
        return false;
    library->base = ((const struct link_map *)library->handle)->l_addr;
    library->flavour = flavour_of(library);
    if (library->flavour == HW_REAL_FLAVOUR_NONE)
        dlclose(library->handle);
    return library->flavour != HW_REAL_FLAVOUR_NONE;
}

enum hw_status hw_real_detect(struct hw_real_library *library)
{
    struct hw_real_library one;
    *library = (struct hw_real_library){.flavour = HW_REAL_FLAVOUR_NONE};
    for (size_t i = 0; library->flavour != hw_real_flavour_built() &&
                       hw_real_object_find(may_be_mpi, i, one.path, sizeof one.path);
         i++) {
        if (!open_library(&one))
            continue;
        bool is_better = library->flavour == HW_REAL_FLAVOUR_NONE || one.flavour == hw_real_flavour_built();
        if (!is_better)
            dlclose(one.handle);
        else
            *library = one;
    }
    return library->flavour == HW_REAL_FLAVOUR_NONE ? HW_AGAIN : HW_OK;
}

static char version_text[MPI_MAX_LIBRARY_VERSION_STRING];

const char *hw_real_detect_version(void)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    if (version_text[0] == '\0' && hw_bottom.Get_library_version(text, &length) == MPI_SUCCESS) {
        text[strcspn(text, "\n")] = '\0';
        snprintf(version_text, sizeof version_text, "%s", text);
    }
    return version_text;
}

bool hw_real_is_node_rma_direct(void)
{
    /* MPICH 4.0: operations within a node wait for the target all the same (tests/mpi/ghosts.c). */
    int major = 0;
    return sscanf(hw_real_detect_version(), "MPICH Version: %d", &major) != 1 || major > 4;
}

struct transport {
    const char *object; /* how the name of the loaded object starts */
    const char *name;
};

static const struct transport transports[] = {
    {"libucp.so", "ucx"},
    {"libfabric.so", "ofi"},
    {"mca_btl_tcp", "tcp"},
    {"mca_btl_vader", "vader"},
    {"mca_btl_sm", "sm"},
    {"mca_btl_ofi", "btl-ofi"},
    {"libtcp-fi.so", "ofi-tcp"},
    {"libsockets-fi.so", "ofi-sockets"},
    {"libverbs-fi.so", "ofi-verbs"},
    {"libpsm3-fi.so", "ofi-psm3"},
    {"libpsmx2-fi.so", "ofi-psm2"},
    {"libcxi-fi.so", "ofi-cxi"},
};
enum { TRANSPORT_COUNT = sizeof transports / sizeof transports[0] };

static int note_transport(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    bool *is_seen = context;
    for (size_t i = 0; i < TRANSPORT_COUNT; i++)
        if (strncmp(base_name(info->dlpi_name), transports[i].object, strlen(transports[i].object)) == 0)
            is_seen[i] = true;
    return 0;
}

void hw_real_detect_transports(char *names, size_t size)
{
    bool is_seen[TRANSPORT_COUNT] = {false};
    size_t used = 0;
    dl_iterate_phdr(note_transport, is_seen);
    if (size > 0)
        names[0] = '\0';
    for (size_t i = 0; i < TRANSPORT_COUNT; i++) {
        if (!is_seen[i] || used >= size)
            continue;
        int added = snprintf(names + used, size - used, "%s%s", used ? "," : "", transports[i].name);
        used += added > 0 ? (size_t)added : 0;
    }
}

void hw_real_detect_exports(const struct hw_real_library *library,
                            void (*visit)(const char *name, void *context), void *context)
{
    struct hw_real_symbols symbols;
    if (!hw_real_symbols_find(library->handle, &symbols))
        return;
    for (size_t i = 0; i < symbols.count; i++) {
        const ElfW(Sym) *symbol = &symbols.table[i];
        const char *name = symbols.strings + symbol->st_name;
        bool is_function = ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF;
        if (is_function && strncmp(name, "MPI_", 4) == 0)
            visit(name, context);
    }
}

/* The pages that lie wholly within. Once an object is loaded nobody writes there, so nothing is lost with
 * them. */
static void release_pages(const void *start, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = ((uintptr_t)start + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)start + size) & ~(page - 1);
    if (first < end)
        madvise((void *)first, end - first, MADV_DONTNEED);
}

static void release_tables(const struct link_map *map)
{
    struct hw_real_symbols symbols;
    if (!hw_real_symbols_find(map, &symbols) || (uintptr_t)symbols.relocations < map->l_addr)
        return;
    release_pages(symbols.hash, symbols.hash_size);
    release_pages(symbols.table, symbols.count * sizeof *symbols.table);
    release_pages(symbols.strings, symbols.strings_size);
    release_pages(symbols.relocations, symbols.relocations_size);
}

/* Our own segments that nobody can write: symbols, constants, unwind tables. No code, in which a debugger may
 * have set its breakpoints. */
static int release_own(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    const struct link_map *own = context;
    if (info->dlpi_addr != own->l_addr)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & (PF_W | PF_X)) == 0)
            release_pages((const char *)own->l_addr + segment->p_vaddr, segment->p_memsz);
    }
    return 1;
}

void hw_real_detect_release(const struct hw_real_library *library)
{
    Dl_info ours;
    void *map = NULL;
    release_tables(library->handle);
    if (dladdr1((void *)&hw_real_detect_release, &ours, &map, RTLD_DL_LINKMAP) != 0 && map != NULL)
        dl_iterate_phdr(release_own, map);
}

bool hw_real_is_flush_remote(void)
{
    char names[256];
    hw_real_detect_transports(names, sizeof names);
    return hw_real_flavour_built() == HW_REAL_FLAVOUR_OMPI || strstr(names, "ofi") == NULL;
}

bool hw_real_is_accumulate_one_request(void) { return hw_real_flavour_built() != HW_REAL_FLAVOUR_OMPI; }

bool hw_real_is_window_sound(void)
{
    int major = 0;
    return sscanf(hw_real_detect_version(), "Open MPI v%d", &major) != 1 || major > 4;
}

/* Whether the file's name begins with one of COUNT names. */
static bool is_named(const char *path, const char *const *names, size_t count)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

bool hw_real_is_language_layer(const char *path)
{
    /* MPICH and Intel MPI; MPICH as Debian calls it; Open MPI's mpif.h, and its modules mpi and mpi_f08. */
    static const char *const names[] = {"libmpifort.", "libmpichfort.", "libmpi_mpifh.", "libmpi_usempi"};
    return is_named(path, names, sizeof names / sizeof names[0]);
}

bool hw_real_is_mpis_own(const char *path)
{
    /* Open MPI's parts; UCX's. */
    static const char *const names[] = {"libmpi",  "libmpich", "libopen-", "libpmix", "libprrte",
                                        "libucs.", "libucp.",  "libuct.",  "libucm."};
    return is_named(path, names, sizeof names / sizeof names[0]);
}
