/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the library are read once from the environment.
 *
 * spec/options.toml is the only list; tools/gen_options.py writes options_table.h (the enums and struct
 * hw_options) and options_table.c (the defaults and hw_option_table) from it.
 *
 * hw_options_load is called by one thread before anything else of ours starts; afterwards hw_options is
 * read-only and any thread may read it. No MPI, no memory allocated, works before MPI_Init. */
#ifndef HW_BASE_OPTIONS_H
#define HW_BASE_OPTIONS_H

#include "base/log.h"
#include "base/status.h"
#include "base/visibility.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HW_OPTION_PATH_MAX = 4096, HW_OPTION_TEXT_MAX = 4096 };

/* So many for each of something: `per` is one of an option's own constants. */
struct hw_option_share {
    int32_t count;
    int32_t per;
};

#include "options_table.h" /* generated: struct hw_options */

enum hw_option_type { HW_OPTION_ENUM, HW_OPTION_INTEGER, HW_OPTION_SHARE, HW_OPTION_BOOL, HW_OPTION_PATH };
/* FRACTION: from 0 to 1, held in thousandths. */
enum hw_option_unit { HW_OPTION_UNIT_NONE, HW_OPTION_UNIT_BYTES, HW_OPTION_UNIT_US, HW_OPTION_UNIT_FRACTION };

/* One line of the generated table. */
struct hw_option_entry {
    const char *name;           /* environment variable, "HEADWAY_..." */
    const char *const *aliases; /* NULL-terminated, or NULL */
    const char *brief;
    size_t offset; /* of the field in struct hw_options */
    enum hw_option_type type;
    const char *const *values; /* enum, share: NULL-terminated words, in the order of the constants */
    enum hw_option_unit unit;  /* integer */
    bool has_auto;
    int64_t min, max, auto_value; /* integer; share: of its count */
};

extern const struct hw_option_entry hw_option_table[];
extern const size_t hw_option_count;
extern const struct hw_options hw_options_default;

/* The values in force: the defaults until hw_options_load. */
extern HW_HIDDEN struct hw_options hw_options;

/* Reads the process's environment into hw_options and sets the log level. On an unknown HEADWAY_* variable or
 * a malformed value prints one line that names the variable, the value and what is accepted, leaves
 * hw_options at the defaults and returns HW_BAD_INPUT: the caller ends the process with a non-zero status. */
enum hw_status hw_options_load(void);

/* The same from any list of NAME=VALUE ended by NULL (or NULL itself), into any struct. */
enum hw_status hw_options_read(char *const *environment, struct hw_options *options);

/* Writes one value as text ("NAME=VALUE" reads it back) into text[capacity]. */
void hw_option_format(const struct hw_option_entry *entry, const struct hw_options *options, char *text,
                      size_t capacity);

/* The entry of a field of struct hw_options, by its offset; a field has one. */
const struct hw_option_entry *hw_option_of(size_t offset);

/* Prints every option of hw_options with where it came from, one hw_log_note line each. */
void hw_options_print(void);

#endif
