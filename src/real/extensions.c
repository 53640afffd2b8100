#include "real/extensions.h"

#include "real/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>

static bool is_counted(const char *name)
{
    return strncmp(name, "MPIX_", 5) == 0 && strstr(name, "uery_") == NULL;
}

static bool is_named_as_mpi(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "libmpi", 6) == 0;
}

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

static const char *find(const struct hw_real_symbols *symbols, const ElfW(Rela) * relocations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ElfW(Sym) *symbol = &symbols->table[ELF64_R_SYM(relocations[i].r_info)];
        const char *name = symbols->strings + symbol->st_name;
        if (symbol->st_shndx == SHN_UNDEF && is_counted(name))
            return name;
    }
    return NULL;
}

const char *hw_real_extension_used(void)
{
    const char *name = NULL;
    for (const struct link_map *map = dlopen(NULL, RTLD_LAZY); map != NULL && name == NULL;
         map = map->l_next) {
        struct hw_real_symbols symbols;
        if (!hw_real_symbols_find(map, &symbols) || !may_refer(map, &symbols))
            continue;
        size_t count = symbols.relocations_size / sizeof *symbols.relocations;
        if (count > symbols.relative_count)
            name =
                find(&symbols, symbols.relocations + symbols.relative_count, count - symbols.relative_count);
        if (name == NULL)
            name = find(&symbols, symbols.calls, symbols.calls_size / sizeof *symbols.calls);
    }
    return name;
}
