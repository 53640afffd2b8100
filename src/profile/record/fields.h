/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of the record. spec/record.toml is the only list; tools/gen_record.py writes record_table.h (a
 * struct for each JSON object) and record_table.c (the table that is walked here) from it. A module fills
 * such a struct and hands it on: names, order and what may be absent are the table's. Knows nothing of what
 * is recorded.
 *
 * The writing process alone calls these, once, with a locale in which numbers have a point. */
#ifndef HW_PROFILE_RECORD_FIELDS_H
#define HW_PROFILE_RECORD_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* An optional integer that is not there. */
#define HW_RECORD_ABSENT INT64_MIN

/* A list, or an object of counts, that is being written. */
struct hw_record_list {
    FILE *file;
    const char *before; /* what stands before the next element */
    const char *between;
    unsigned count; /* written so far */
};

/* What writes the elements of a list. Without `write` an optional list is absent, another is empty. */
struct hw_record_part {
    void (*write)(struct hw_record_list *list, const void *of);
    const void *of; /* handed to it */
};

/* Adds an element: an object or a row. The generated hw_record_add_<object> know its type. */
void hw_record_add(struct hw_record_list *list, int object, const void *values);

/* Adds an integer to a list of such. */
void hw_record_add_integer(struct hw_record_list *list, uint64_t value);

/* Adds to an object of counts. */
void hw_record_add_count(struct hw_record_list *list, const char *name, uint64_t count);

#include "record_table.h" /* generated: the structs, enum hw_record_object, HW_RECORD_<OBJECT>_COUNTERS */

enum hw_record_type {
    HW_RECORD_VERSION,
    HW_RECORD_UNSIGNED, /* uint64_t; optional: absent if it is 0 */
    HW_RECORD_SIGNED,   /* int64_t; optional: absent if it is HW_RECORD_ABSENT */
    HW_RECORD_NUMBER,   /* double; optional: absent if it is below 0 */
    HW_RECORD_TEXT,     /* const char *; optional: absent if it is NULL, else empty */
    HW_RECORD_BOOLEAN,
    HW_RECORD_OBJECT, /* a pointer to its struct; absent if it is NULL */
    HW_RECORD_LIST,   /* struct hw_record_part, as are the two below */
    HW_RECORD_INTEGERS,
    HW_RECORD_COUNTS,
};

enum { HW_RECORD_NAME_BYTES = 24 };

/* The name lies in it: a table of pointers would be each process's own memory. */
struct hw_record_field {
    char name[HW_RECORD_NAME_BYTES];
    uint16_t offset;
    uint8_t type; /* enum hw_record_type */
    uint8_t of;   /* enum hw_record_object, of an object */
    uint8_t digits;
    bool is_optional;
};

struct hw_record_layout {
    uint16_t first, count; /* in hw_record_fields */
    bool is_lined, is_row;
};

extern const struct hw_record_field hw_record_fields[];
extern const struct hw_record_layout hw_record_layouts[HW_RECORD_OBJECT_COUNT];

/* Writes an object or a row. */
void hw_record_write_object(FILE *file, int object, const void *values);

/* Copies a name the program gave, cut to `capacity` at a whole character: the record is UTF-8. */
void hw_record_copy_name(char *to, size_t capacity, const char *name);

/* Writes a JSON string. */
void hw_record_write_string(FILE *file, const char *text);

#endif
