/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/callers/places.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The loader names the program itself as it was called, and libraries as they were asked for, perhaps
 * relative to another directory by now. */
static char *name_module(const struct link_map *object)
{
    char path[PATH_MAX];
    bool is_program = object->l_name[0] == '\0';
    if (!is_program)
        return strdup(object->l_name[0] != '/' && realpath(object->l_name, path) ? path : object->l_name);
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    return strdup(length > 0 ? path : "?");
}

struct search {
    uintptr_t address;
    char *found;
};

/* Of the notes in a segment; NULL: not among them. */
static char *read_build_id(const char *notes, size_t bytes)
{
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
        const ElfW(Nhdr) *note = (const void *)(notes + at);
        const char *name = (const char *)(note + 1);
        const unsigned char *id = (const void *)(name + (note->n_namesz + 3U) / 4 * 4);
        at += sizeof *note + (note->n_namesz + 3U) / 4 * 4 + (note->n_descsz + 3U) / 4 * 4;
        if (at > bytes || note->n_type != NT_GNU_BUILD_ID || note->n_namesz != sizeof "GNU" ||
            memcmp(name, "GNU", sizeof "GNU") != 0)
            continue;
        char *text = malloc(2 * (size_t)note->n_descsz + 1);
        for (unsigned i = 0; text && i < note->n_descsz; i++)
            snprintf(text + 2 * (size_t)i, 3, "%02x", id[i]);
        return text;
    }
    return NULL;
}

static int look_in_object(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    bool is_here = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        is_here |= segment->p_type == PT_LOAD &&
                   search->address - info->dlpi_addr - segment->p_vaddr < segment->p_memsz;
    }
    for (int i = 0; is_here && i < info->dlpi_phnum && !search->found; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE && (segment->p_flags & PF_R))
            search->found =
                read_build_id((const char *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz);
    }
    return is_here;
}

bool hw_place_find(const void *address, struct hw_place *place)
{
    /* A return address may already belong to the next line, or function: one byte less does not. */
    const char *byte = (const char *)address - 1;
    Dl_info info;
    void *object = NULL;
    if (!address || dladdr1(byte, &info, &object, RTLD_DL_LINKMAP) == 0 || !object)
        return false;
    *place = (struct hw_place){
        .module = name_module(object),
        .offset = (uint64_t)(byte - (const char *)info.dli_fbase),
        .symbol = info.dli_sname ? strdup(info.dli_sname) : NULL,
    };
    struct search search = {.address = (uintptr_t)byte};
    dl_iterate_phdr(look_in_object, &search);
    place->build_id = search.found;
    return place->module != NULL;
}

void hw_place_release(struct hw_place *place)
{
    free(place->module);
    free(place->symbol);
    free(place->build_id);
    *place = (struct hw_place){0};
}
