/* SPDX-License-Identifier: BSD-3-Clause */
/* What the unit tests of src/profile share. Not inlined: gcc would take what is found in a text for a pointer
 * to the stream's variable. */
#ifndef HW_TESTS_UNIT_WRITTEN_H
#define HW_TESTS_UNIT_WRITTEN_H

#include "profile/record/fields.h"

#include <stdio.h>

/* The elements that WRITE adds to a list of the record, each on a line of its own; the caller frees it. */
static __attribute__((noinline, unused)) char *written_by(void (*write)(struct hw_record_list *list,
                                                                        const void *of))
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    struct hw_record_list list = {file, "", ",\n", 0};
    write(&list, NULL);
    fputs(list.count ? "\n" : "", file);
    fclose(file);
    return text;
}

/* An object of the record as it is written; the caller frees it. */
static __attribute__((noinline, unused)) char *written_object(int object, const void *values)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    hw_record_write_object(file, object, values);
    fclose(file);
    return text;
}

#endif
