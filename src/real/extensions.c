/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/extensions.h"

#include "real/symbols.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Of C or Fortran. */
static bool is_counted(const char *name)
{
    name += *name == 'P' || *name == 'p';
    return strncasecmp(name, "MPIX_", 5) == 0 && strcasestr(name, "query") == NULL;
}

/* Intel MPI's Put and Get that tell the target. */
static bool is_operation(const char *name) { return is_counted(name) && strcasestr(name, "_notify") != NULL; }

static bool is_named_as_mpi(const char *path) { return strncmp(basename(path), "libmpi", 6) == 0; }

/* Linked with an MPI, and not a part of it: those refer to what they offer. */
static bool may_refer(const struct link_map *map, const struct hw_real_symbols *symbols)
{
    if (is_named_as_mpi(map->l_name))
        return false;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && is_named_as_mpi(symbols->strings + entry->d_un.d_val))
            return true;
    return false;
}

struct search {
    bool (*is_wanted)(const char *name);
    const char *name; /* the first */
};

static const char *find(const struct hw_real_symbols *symbols, const ElfW(Rela) * relocations, size_t count,
                        bool (*is_wanted)(const char *name))
{
    for (size_t i = 0; i < count; i++) {
        const ElfW(Sym) *symbol = &symbols->table[ELF64_R_SYM(relocations[i].r_info)];
        const char *name = symbols->strings + symbol->st_name;
        /* By weak references programs ask what there is, mpi4py of every MPI. */
        bool is_weak = ELF64_ST_BIND(symbol->st_info) == STB_WEAK;
        if (symbol->st_shndx == SHN_UNDEF && !is_weak && is_wanted(name))
            return name;
    }
    return NULL;
}

static const char *find_in(const struct link_map *map, bool (*is_wanted)(const char *name))
{
    struct hw_real_symbols symbols;
    if (!hw_real_symbols_find(map, &symbols) || !may_refer(map, &symbols))
        return NULL;
    size_t count = symbols.relocations_size / sizeof *symbols.relocations;
    size_t skipped = symbols.relative_count < count ? symbols.relative_count : count;
    const char *name = find(&symbols, symbols.relocations + skipped, count - skipped, is_wanted);
    count = symbols.calls_size / sizeof *symbols.calls;
    return name ? name : find(&symbols, symbols.calls, count, is_wanted);
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    for (int i = 0; i < info->dlpi_phnum && search->name == NULL; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_DYNAMIC)
            continue;
        struct link_map map = {.l_addr = info->dlpi_addr,
                               .l_name = (char *)info->dlpi_name,
                               .l_ld = (ElfW(Dyn) *)(info->dlpi_addr + segment->p_vaddr)};
        search->name = find_in(&map, search->is_wanted);
    }
    return search->name != NULL;
}

static const char *find_wanted(bool (*is_wanted)(const char *name))
{
    struct search search = {.is_wanted = is_wanted};
    dl_iterate_phdr(look_at_object, &search);
    return search.name;
}

const char *hw_real_extension_used(void) { return find_wanted(is_counted); }

bool hw_real_has_own_operations(void) { return find_wanted(is_operation) != NULL; }

static int is_openshmem(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    return strncmp(basename(info->dlpi_name), "liboshmem.so", strlen("liboshmem.so")) == 0;
}

bool hw_real_has_openshmem(void) { return dl_iterate_phdr(is_openshmem, NULL) != 0; }
