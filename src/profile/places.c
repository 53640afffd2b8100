#include "profile/places.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
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
    return place->module != NULL;
}

void hw_place_release(struct hw_place *place)
{
    free(place->module);
    free(place->symbol);
    *place = (struct hw_place){0};
}
