/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/python/python_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES_SIZE = 16, BYTES_DATA = 32, TEXT_LENGTH = 16, TEXT_STATE = 32, TEXT_HEAD = 40 };
enum { MAX_TABLE_BYTES = 1 << 22 };

/* What versions have in common. Up to 3.10 frames are objects, and one of them lies behind the next; since
 * then they lie on a stack of the interpreter's and point to their instruction. */
#define FRAME_TO_3_10 .thread_frame = 24, .via_frame = -1, .frame_code = 32, .frame_back = 24
#define CODE_TO_3_10                                                                                         \
    .code_first_line = 40, .code_file = 104, .code_name = 112, .code_lines = 120, .code_bytes = 128
#define TEXT_TO_3_11 .text_ascii = 48, .text_other = 72
#define FRAME_SINCE_3_11 .frame_instruction = 56, .frame_bytes = 64
#define CODE_SINCE_3_11                                                                                      \
    .code_file = 112, .code_name = 128, .code_lines = 136, .code_bytes = 144, .lines = HW_PYTHON_LOCATIONS
#define SINCE_3_12 .frame_code = 0, .frame_back = 8, .code_first_line = 68, .text_ascii = 40, .text_other = 56

static const struct hw_python_layout layouts[] = {
    {.minor = 8,
     .frame_instruction = 104,
     .frame_bytes = 108,
     .instruction_unit = 1,
     .lines = HW_PYTHON_LNOTAB,
     FRAME_TO_3_10,
     CODE_TO_3_10,
     TEXT_TO_3_11},
    {.minor = 10,
     .frame_instruction = 96,
     .frame_bytes = 100,
     .instruction_unit = 2,
     .lines = HW_PYTHON_RANGES,
     FRAME_TO_3_10,
     CODE_TO_3_10,
     TEXT_TO_3_11},
    {.minor = 11,
     .thread_frame = 56,
     .via_frame = 8,
     .frame_code = 32,
     .frame_back = 48,
     .code_first_line = 72,
     .code_instructions = 184,
     FRAME_SINCE_3_11,
     CODE_SINCE_3_11,
     TEXT_TO_3_11},
    {.minor = 12,
     .thread_frame = 56,
     .via_frame = 0,
     .code_instructions = 192,
     FRAME_SINCE_3_11,
     CODE_SINCE_3_11,
     SINCE_3_12},
    {.minor = 13,
     .thread_frame = 72,
     .via_frame = -1,
     .code_instructions = 200,
     FRAME_SINCE_3_11,
     CODE_SINCE_3_11,
     SINCE_3_12},
};
enum { LAST_MINOR = 13 };

const struct hw_python_layout *hw_python_layout_of(const char *version)
{
    /* "3.11.7 (main, ...) [GCC 12.2.0]". Before the first release layouts move; forks say more after the
     * number; other implementations name no C compiler; without the lock objects are laid out otherwise. */
    int minor, patch, length = 0;
    if (sizeof(void *) != 8 || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ ||
        sscanf(version, "3.%d.%d%n", &minor, &patch, &length) != 2 || version[length] != ' ' ||
        strstr(version, "free-threading") || !(strstr(version, "[GCC ") || strstr(version, "[Clang ")))
        return NULL;
    const struct hw_python_layout *found = NULL;
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0] && minor <= LAST_MINOR; i++)
        if (layouts[i].minor <= minor)
            found = &layouts[i];
    return found;
}

const char *hw_python_look(const char *at, size_t bytes, char *buffer)
{
    if (!buffer)
        return at;
    struct iovec here = {buffer, bytes}, there = {(void *)at, bytes};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes ? buffer : NULL;
}

/* ---- lines -------------------------------------------------------------------------------------------- */

static int signed_byte(char byte)
{
    int value = (unsigned char)byte;
    return value < 128 ? value : value - 256;
}

/* Pairs of increments: of the instruction, unsigned, and of the line at it, signed. */
static int line_by_increments(const char *table, size_t bytes, int line, ptrdiff_t instruction)
{
    ptrdiff_t reached = 0;
    for (size_t i = 0; i + 1 < bytes; i += 2) {
        reached += (unsigned char)table[i];
        if (reached > instruction)
            break;
        line += signed_byte(table[i + 1]);
    }
    return line;
}

/* Pairs: how many bytes of instructions, and by what their line differs from that of those before; -128:
 * none. */
static int line_by_ranges(const char *table, size_t bytes, int first_line, ptrdiff_t instruction)
{
    enum { NO_LINE = -128 };
    ptrdiff_t end = 0;
    int line = first_line;
    for (size_t i = 0; i + 1 < bytes; i += 2) {
        int change = signed_byte(table[i + 1]);
        line += change == NO_LINE ? 0 : change;
        end += (unsigned char)table[i];
        if (instruction < end)
            return change == NO_LINE ? first_line : line;
    }
    return first_line;
}

/* Six bits a byte, the least first; another follows where bit 6 is set. The lowest bit of the whole is the
 * sign. */
static int signed_number(const char *table, size_t bytes, size_t at)
{
    unsigned value = 0;
    for (unsigned shift = 0; at < bytes && shift < 30; shift += 6) {
        unsigned char byte = (unsigned char)table[at++];
        value |= (byte & 63U) << shift;
        if (!(byte & 64U))
            break;
    }
    return value & 1U ? -(int)(value >> 1) : (int)(value >> 1);
}

/* Entries begin with a byte whose bit 7 is set: three bits for their length in units of two bytes, less one,
 * four for their kind. */
static int line_by_locations(const char *table, size_t bytes, int first_line, ptrdiff_t instruction)
{
    enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_LINE = 15 };
    ptrdiff_t end = 0;
    int line = first_line;
    for (size_t i = 0; i < bytes;) {
        unsigned head = (unsigned char)table[i++];
        unsigned kind = head >> 3 & 15U;
        if (kind == NO_COLUMNS || kind == LONG)
            line = (int)((unsigned)line + (unsigned)signed_number(table, bytes, i)); /* it may be damaged */
        else if (kind >= ONE_LINE && kind < NO_COLUMNS)
            line += (int)kind - ONE_LINE;
        end += ((ptrdiff_t)(head & 7U) + 1) * 2;
        if (instruction < end)
            return kind == NO_LINE ? first_line : line;
        while (i < bytes && !((unsigned char)table[i] & 128U))
            i++;
    }
    return first_line;
}

int hw_python_line(enum hw_python_lines kind, const char *table, size_t bytes, int first_line,
                   ptrdiff_t instruction)
{
    if (instruction < 0)
        return first_line;
    switch (kind) {
    case HW_PYTHON_LNOTAB:
        return line_by_increments(table, bytes, first_line, instruction);
    case HW_PYTHON_RANGES:
        return line_by_ranges(table, bytes, first_line, instruction);
    case HW_PYTHON_LOCATIONS:
        return line_by_locations(table, bytes, first_line, instruction);
    }
    return first_line;
}

const char *hw_python_table(const char *object, bool is_careful, size_t *bytes)
{
    char copy[BYTES_DATA];
    const char *head = hw_python_look(object, sizeof copy, is_careful ? copy : NULL);
    if (!head)
        return NULL;
    *bytes = (size_t)(uintptr_t)hw_python_pointer(head, BYTES_SIZE);
    if (*bytes > MAX_TABLE_BYTES)
        return NULL;
    if (!is_careful)
        return object + BYTES_DATA;
    char *table = malloc(*bytes + 1);
    if (table && !hw_python_look(object + BYTES_DATA, *bytes, table)) {
        free(table);
        return NULL;
    }
    return table;
}

uint64_t hw_python_table_hash(const char *head)
{
    uint64_t bytes = (uint64_t)(uintptr_t)hw_python_pointer(head, BYTES_SIZE), words[2] = {0};
    _Static_assert(BYTES_DATA + sizeof words == HW_PYTHON_TABLE_BYTES, "the first bytes are looked at");
    memcpy(words, head + BYTES_DATA, bytes < sizeof words ? bytes : sizeof words);
    return (bytes ^ words[0] * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xD6E8FEB86659FD93) ^ words[1];
}

/* ---- text --------------------------------------------------------------------------------------------- */

/* One character; how many bytes it took. What UTF-8 has no place for is a question mark. */
static size_t put_character(char *text, uint32_t c)
{
    if (c >= 0xd800 && c < 0xe000)
        c = '?';
    if (c < 0x80) {
        text[0] = (char)c;
        return 1;
    }
    size_t count = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = count; i-- > 1; c >>= 6)
        text[i] = (char)(0x80U | (c & 63U));
    text[0] = (char)(heads[count] | c);
    return count;
}

static uint32_t character(const char *data, unsigned kind, size_t index)
{
    uint32_t wide;
    uint16_t half;
    switch (kind) {
    case 1:
        return (unsigned char)data[index];
    case 2:
        memcpy(&half, data + 2 * index, sizeof half);
        return half;
    default:
        memcpy(&wide, data + 4 * index, sizeof wide);
        return wide;
    }
}

bool hw_python_text(const struct hw_python_layout *layout, const char *object, bool is_careful, char *text,
                    size_t room)
{
    enum { MAX_LENGTH = 1024 };
    char head_copy[TEXT_HEAD], data_copy[4 * MAX_LENGTH];
    const char *head = hw_python_look(object, sizeof head_copy, is_careful ? head_copy : NULL);
    if (!head)
        return false;
    size_t length = (size_t)(uintptr_t)hw_python_pointer(head, TEXT_LENGTH);
    unsigned state = (unsigned)hw_python_int(head, TEXT_STATE);
    unsigned kind = state >> 2 & 7U; /* behind two bits that say whether it is interned */
    bool is_compact = state & 32U, is_ascii = state & 64U;
    if (!is_compact || (kind != 1 && kind != 2 && kind != 4))
        return false;
    if (length > MAX_LENGTH)
        length = MAX_LENGTH;
    const char *data = object + (is_ascii ? layout->text_ascii : layout->text_other);
    data = hw_python_look(data, length * kind, is_careful ? data_copy : NULL);
    if (!data)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < length && used + 5 <= room; i++)
        used += put_character(text + used, character(data, kind, i));
    text[used] = 0;
    return true;
}
