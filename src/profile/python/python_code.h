/* SPDX-License-Identifier: BSD-3-Clause */
/* What CPython's memory says of a line that is being executed: which code, and where its text came from.
 *
 * Nothing of the interpreter is called or changed: no lock of its is taken, no reference, no object made.
 * Contents are read where the headers of that minor version put them; 64 bits, little endian. Its layouts do
 * not change within a minor version, and versions not listed here are left alone. Internal to src/profile. */
#ifndef HW_PROFILE_PYTHON_PYTHON_CODE_H
#define HW_PROFILE_PYTHON_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How a code object keeps the lines of its instructions (CPython: Objects/lnotab_notes.txt of 3.8 to 3.10,
 * Objects/locations.md of 3.11). */
enum hw_python_lines { HW_PYTHON_LNOTAB, HW_PYTHON_RANGES, HW_PYTHON_LOCATIONS };

/* Offsets in bytes. */
struct hw_python_layout {
    int minor;        /* of version 3: the first that is so */
    int thread_frame; /* in a thread's state: the innermost frame, or what points to it */
    int via_frame;    /* in that; -1: it is the frame */
    int frame_code, frame_back, frame_instruction, frame_bytes;
    int instruction_unit; /* bytes; 0: the frame has a pointer into the code instead of a number */
    int code_first_line, code_file, code_name, code_lines, code_instructions, code_bytes;
    int text_ascii, text_other; /* where characters begin */
    enum hw_python_lines lines;
};

/* By the text of Py_GetVersion; NULL: not known. */
const struct hw_python_layout *hw_python_layout_of(const char *version);

/* `bytes` bytes there. Where `buffer` is NULL they are known to live, and are read in place. Else they are
 * copied into it by a system call, which fails where a plain load would end the process: NULL. */
const char *hw_python_look(const char *at, size_t bytes, char *buffer);

static inline const char *hw_python_pointer(const char *object, int offset)
{
    const char *value;
    memcpy((void *)&value, object + offset, sizeof value);
    return value;
}

static inline int hw_python_int(const char *object, int offset)
{
    int value;
    memcpy(&value, object + offset, sizeof value);
    return value;
}

/* The line of an instruction, in bytes from the first; of one before the first (nothing is executed yet) and
 * of one that has none, `first_line`. `table` is what code_lines points to. */
int hw_python_line(enum hw_python_lines kind, const char *table, size_t bytes, int first_line,
                   ptrdiff_t instruction);

/* The contents of a bytes object that is such a table, to be freed if is_careful; NULL: not to be had. */
const char *hw_python_table(const char *object, bool is_careful, size_t *bytes);

/* So much of a bytes object may be looked at, whatever its length: CPython allocates by 16 bytes. */
enum { HW_PYTHON_TABLE_BYTES = 48 };

/* Of its length and its first bytes. */
uint64_t hw_python_table_hash(const char *head);

/* A string object as UTF-8, cut where there is no room. False: not to be had. */
bool hw_python_text(const struct hw_python_layout *layout, const char *object, bool is_careful, char *text,
                    size_t room);

#endif
