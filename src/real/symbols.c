/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/symbols.h"

#include <elf.h>

/* The number of dynamic symbols, which ELF tells only through the hash table. */
static size_t symbol_count(const uint32_t *hash)
{
    uint32_t bucket_count = hash[0], first = hash[1], bloom_count = hash[2], last = 0;
    const uint32_t *buckets = hash + 4 + bloom_count * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chains = buckets + bucket_count;
    for (uint32_t i = 0; i < bucket_count; i++)
        if (buckets[i] > last)
            last = buckets[i];
    if (last < first)
        return first;
    while ((chains[last - first] & 1) == 0)
        last++;
    return last + 1;
}

static size_t hash_size(const uint32_t *hash, size_t count)
{
    uint32_t bucket_count = hash[0], first = hash[1], bloom_count = hash[2];
    size_t hashed = count > first ? count - first : 0;
    return (4 + bucket_count + hashed) * sizeof *hash + bloom_count * sizeof(ElfW(Addr));
}

static void note(const ElfW(Dyn) * entry, struct hw_real_symbols *symbols)
{
    /* glibc has already added the load address to these pointers. */
    ElfW(Addr) address = entry->d_un.d_ptr;
    ElfW(Xword) value = entry->d_un.d_val;
    switch (entry->d_tag) {
    case DT_SYMTAB:
        symbols->table = (const ElfW(Sym) *)address;
        break;
    case DT_STRTAB:
        symbols->strings = (const char *)address;
        break;
    case DT_STRSZ:
        symbols->strings_size = value;
        break;
    case DT_RELA:
        symbols->relocations = (const ElfW(Rela) *)address;
        break;
    case DT_RELASZ:
        symbols->relocations_size = value;
        break;
    case DT_RELACOUNT:
        symbols->relative_count = value;
        break;
    case DT_JMPREL:
        symbols->calls = (const ElfW(Rela) *)address;
        break;
    case DT_PLTRELSZ:
        symbols->calls_size = value;
        break;
    case DT_GNU_HASH:
        symbols->hash = (const uint32_t *)address;
        break;
    default:
        break;
    }
}

bool hw_real_symbols_find(const struct link_map *map, struct hw_real_symbols *symbols)
{
    *symbols = (struct hw_real_symbols){0};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
        note(entry, symbols);
    if (symbols->table == NULL || symbols->strings == NULL)
        return false;
    if ((uintptr_t)symbols->strings <
        map->l_addr) /* the kernel's own object, whose pointers nobody changes */
        return false;
    if (symbols->hash != NULL) {
        symbols->count = symbol_count(symbols->hash);
        symbols->hash_size = hash_size(symbols->hash, symbols->count);
    }
    return true;
}
