/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/slots.h"

#include "base/atomic.h"
#include "real/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__)
enum { IS_KNOWN = 1, SLOT_OF_CALL = R_X86_64_JUMP_SLOT, SLOT_OF_ADDRESS = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { IS_KNOWN = 1, SLOT_OF_CALL = R_AARCH64_JUMP_SLOT, SLOT_OF_ADDRESS = R_AARCH64_GLOB_DAT };
#else
enum { IS_KNOWN = 0, SLOT_OF_CALL = 0, SLOT_OF_ADDRESS = 0 };
#endif

static void **find(const struct link_map *map, const struct hw_real_symbols *symbols,
                   const ElfW(Rela) * relocations, size_t bytes, const char *name)
{
    for (size_t i = 0; i < bytes / sizeof *relocations; i++) {
        ElfW(Xword) type = ELF64_R_TYPE(relocations[i].r_info);
        const ElfW(Sym) *symbol = &symbols->table[ELF64_R_SYM(relocations[i].r_info)];
        if ((type == SLOT_OF_CALL || type == SLOT_OF_ADDRESS) && symbol->st_shndx == SHN_UNDEF &&
            strcmp(symbols->strings + symbol->st_name, name) == 0)
            return (void **)(map->l_addr + relocations[i].r_offset);
    }
    return NULL;
}

/* As the loader does: what all objects see comes first, then what this one brought along. */
static void *look_up(const struct link_map *map, const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    return function ? function : dlsym((void *)map, name);
}

bool hw_real_slots_find(const struct link_map *map, struct hw_real_slot *slots, size_t count)
{
    struct hw_real_symbols symbols;
    if (!IS_KNOWN || !hw_real_symbols_find(map, &symbols))
        return false;
    const ElfW(Rela) *named = symbols.relocations + symbols.relative_count;
    size_t relative_bytes = symbols.relative_count * sizeof *named;
    size_t named_bytes =
        symbols.relocations_size > relative_bytes ? symbols.relocations_size - relative_bytes : 0;
    for (size_t i = 0; i < count; i++) {
        struct hw_real_slot *slot = &slots[i];
        slot->place = find(map, &symbols, symbols.calls, symbols.calls_size, slot->name);
        if (slot->place == NULL)
            slot->place = find(map, &symbols, named, named_bytes, slot->name);
        /* Looked up here and not read from the slot: before the first call that holds the loader's own code,
           which puts the function there, in our place. */
        slot->theirs = slot->place ? look_up(map, slot->name) : NULL;
        if (slot->theirs == NULL)
            return false;
    }
    return true;
}

struct range {
    const struct link_map *map;
    uintptr_t begin, end; /* what the loader made read-only when it had filled it */
};

static int find_read_only(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct range *range = context;
    if (info->dlpi_addr != range->map->l_addr)
        return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_GNU_RELRO)
            continue;
        range->begin = (info->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        range->end = (info->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(page - 1);
    }
    return 1;
}

static bool is_within(const struct range *range, const struct hw_real_slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((uintptr_t)slots[i].place >= range->begin && (uintptr_t)slots[i].place < range->end)
            return true;
    return false;
}

/* Each is a store of one word: a call of another thread goes to the one or to the other. */
static bool fill(const struct link_map *map, struct hw_real_slot *slots, size_t count, bool is_ours)
{
    struct range range = {.map = map};
    dl_iterate_phdr(find_read_only, &range);
    void *start = (void *)range.begin;
    size_t bytes = is_within(&range, slots, count) ? range.end - range.begin : 0;
    if (bytes && mprotect(start, bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (is_ours)
            slots[i].former = *slots[i].place;
        hw_atomic_foreign_store_release(slots[i].place, is_ours ? slots[i].ours : slots[i].former);
    }
    if (bytes)
        mprotect(start, bytes, PROT_READ);
    return true;
}

bool hw_real_slots_take(const struct link_map *map, struct hw_real_slot *slots, size_t count)
{
    return fill(map, slots, count, true);
}

void hw_real_slots_give(const struct link_map *map, struct hw_real_slot *slots, size_t count)
{
    fill(map, slots, count, false);
}
