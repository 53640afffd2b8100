/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/record/fields.h"

#include <inttypes.h>
#include <string.h>

void hw_record_copy_name(char *to, size_t capacity, const char *name)
{
    size_t length = strnlen(name, capacity);
    if (length == capacity)
        for (length--; length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80;)
            length--;
    memcpy(to, name, length);
    to[length] = '\0';
}

void hw_record_write_string(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < 0x20)
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

static void begin_element(struct hw_record_list *list)
{
    fputs(list->count++ ? list->between : list->before, list->file);
}

void hw_record_add(struct hw_record_list *list, int object, const void *values)
{
    begin_element(list);
    hw_record_write_object(list->file, object, values);
}

void hw_record_add_integer(struct hw_record_list *list, uint64_t value)
{
    begin_element(list);
    fprintf(list->file, "%" PRIu64, value);
}

void hw_record_add_count(struct hw_record_list *list, const char *name, uint64_t count)
{
    begin_element(list);
    hw_record_write_string(list->file, name);
    fprintf(list->file, ": %" PRIu64, count);
}

/* The elements of a list, each on a line of its own where they are lined, and its brackets. */
static void write_elements(FILE *file, const struct hw_record_part *part, const char *brackets,
                           bool are_lined)
{
    struct hw_record_list list = {file, are_lined ? "\n    " : "", are_lined ? ",\n    " : ", ", 0};
    fputc(brackets[0], file);
    if (part->write)
        part->write(&list, part->of);
    fputs(are_lined && list.count ? "\n  " : "", file);
    fputc(brackets[1], file);
}

/* Whether there is something to write; VALUE is where the struct has it. */
static bool is_present(const struct hw_record_field *field, const void *value)
{
    if (!field->is_optional)
        return true;
    switch ((enum hw_record_type)field->type) {
    case HW_RECORD_UNSIGNED:
        return *(const uint64_t *)value != 0;
    case HW_RECORD_SIGNED:
        return *(const int64_t *)value != HW_RECORD_ABSENT;
    case HW_RECORD_NUMBER:
        return *(const double *)value >= 0;
    case HW_RECORD_TEXT:
        return *(const char *const *)value;
    case HW_RECORD_OBJECT:
        return *(const void *const *)value;
    case HW_RECORD_LIST:
    case HW_RECORD_INTEGERS:
        return ((const struct hw_record_part *)value)->write;
    default:
        return true;
    }
}

static void write_value(FILE *file, const struct hw_record_field *field, const void *value, bool is_lined)
{
    const char *text = NULL;
    switch ((enum hw_record_type)field->type) {
    case HW_RECORD_VERSION:
        fprintf(file, "%d", HW_RECORD_SCHEMA_VERSION);
        break;
    case HW_RECORD_UNSIGNED:
        fprintf(file, "%" PRIu64, *(const uint64_t *)value);
        break;
    case HW_RECORD_SIGNED:
        fprintf(file, "%" PRId64, *(const int64_t *)value);
        break;
    case HW_RECORD_NUMBER:
        fprintf(file, "%.*f", field->digits, *(const double *)value);
        break;
    case HW_RECORD_TEXT:
        text = *(const char *const *)value;
        hw_record_write_string(file, text ? text : "");
        break;
    case HW_RECORD_BOOLEAN:
        fputs(*(const bool *)value ? "true" : "false", file);
        break;
    case HW_RECORD_OBJECT:
        hw_record_write_object(file, field->of, *(const void *const *)value);
        break;
    case HW_RECORD_LIST:
        write_elements(file, value, "[]", is_lined);
        break;
    case HW_RECORD_INTEGERS:
        write_elements(file, value, "[]", false);
        break;
    case HW_RECORD_COUNTS:
        write_elements(file, value, "{}", false);
        break;
    }
}

void hw_record_write_object(FILE *file, int object, const void *values)
{
    const struct hw_record_layout *layout = &hw_record_layouts[object];
    const struct hw_record_field *field = &hw_record_fields[layout->first];
    const char *before = layout->is_lined ? "\n  " : "";
    fputc(layout->is_row ? '[' : '{', file);
    for (unsigned i = 0; i < layout->count; i++, field++) {
        const void *value = (const char *)values + field->offset;
        if (!is_present(field, value))
            continue;
        fputs(before, file);
        if (!layout->is_row)
            fprintf(file, "\"%s\": ", field->name);
        write_value(file, field, value, layout->is_lined);
        before = layout->is_lined ? ",\n  " : ", ";
    }
    fputs(layout->is_lined ? "\n" : "", file);
    fputc(layout->is_row ? ']' : '}', file);
}
