/* SPDX-License-Identifier: BSD-3-Clause */
/* These functions find the dynamic symbols of a loaded object where the loader has them. */
#ifndef HW_REAL_SYMBOLS_H
#define HW_REAL_SYMBOLS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the dynamic section of a loaded object tells about its symbols. */
struct hw_real_symbols {
    const ElfW(Sym) * table;
    const char *strings;
    size_t strings_size;
    size_t count;
    const uint32_t *hash;
    size_t hash_size;
    const ElfW(Rela) * relocations;
    size_t relocations_size; /* bytes, as all sizes here */
    size_t relative_count;   /* of relocations, at their beginning, that name no symbol */
    const ElfW(Rela) * calls;
    size_t calls_size;
};

/* False for an object without symbols. Without DT_GNU_HASH it has no count of them. Valid as long as the
 * object is loaded. */
bool hw_real_symbols_find(const struct link_map *map, struct hw_real_symbols *symbols);

#endif
