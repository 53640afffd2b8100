/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

extern char **environ;

static const char family[] = "HEADWAY_";

/* ---- values ---------------------------------------------------------------------------------------- */

struct suffix {
    const char *text;
    int64_t factor;
};

static const struct suffix suffixes_bytes[] = {{"", 1},
                                               {"B", 1},
                                               {"K", INT64_C(1) << 10},
                                               {"KiB", INT64_C(1) << 10},
                                               {"M", INT64_C(1) << 20},
                                               {"MiB", INT64_C(1) << 20},
                                               {"G", INT64_C(1) << 30},
                                               {"GiB", INT64_C(1) << 30},
                                               {NULL, 0}};
static const struct suffix suffixes_us[] = {{"", 1}, {"us", 1}, {"ms", 1000}, {"s", 1000000}, {NULL, 0}};
static const struct suffix suffixes_none[] = {{"", 1}, {NULL, 0}};

static const struct suffix *suffixes_of(enum hw_option_unit unit)
{
    if (unit == HW_OPTION_UNIT_BYTES)
        return suffixes_bytes;
    return unit == HW_OPTION_UNIT_US ? suffixes_us : suffixes_none;
}

/* Thousandths: 0.895, .5, 1. */
static bool fraction_parse(const struct hw_option_entry *entry, const char *text, int64_t *value)
{
    int64_t number = 0;
    int digits = 0, places = 0;
    for (const char *at = text; *at; at++) {
        if (*at == '.' && places == 0) {
            places = 1;
            continue;
        }
        if (*at < '0' || *at > '9' || places > 3 || digits == 9)
            return false;
        number = number * 10 + (*at - '0');
        places += places > 0;
        digits++;
    }
    for (int place = places > 0 ? places : 1; place <= 3; place++)
        number *= 10;
    *value = number;
    return digits > 0 && number >= entry->min && number <= entry->max;
}

static bool integer_parse(const struct hw_option_entry *entry, const char *text, int64_t *value)
{
    if (entry->has_auto && strcasecmp(text, "auto") == 0) {
        *value = entry->auto_value;
        return true;
    }
    if (entry->unit == HW_OPTION_UNIT_FRACTION)
        return fraction_parse(entry, text, value);
    int64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(number, INT64_C(10), &number) ||
            __builtin_add_overflow(number, (int64_t)(*at - '0'), &number))
            return false;
    if (at == text)
        return false;
    for (const struct suffix *suffix = suffixes_of(entry->unit); suffix->text != NULL; suffix++) {
        if (strcasecmp(at, suffix->text) != 0)
            continue;
        if (__builtin_mul_overflow(number, suffix->factor, &number))
            return false;
        *value = number;
        return (number >= entry->min && number <= entry->max) ||
               (entry->has_auto && number == entry->auto_value);
    }
    return false;
}

static bool bool_parse(const char *text, bool *value)
{
    static const char *const words[] = {"0", "1", "no", "yes", "off", "on", "false", "true"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *value = i % 2 != 0;
            return true;
        }
    }
    return false;
}

static bool enum_parse(const struct hw_option_entry *entry, const char *text, int *value)
{
    for (int i = 0; entry->values[i] != NULL; i++) {
        if (strcasecmp(text, entry->values[i]) == 0) {
            *value = i;
            return true;
        }
    }
    return false;
}

/* NUMBER or NUMBER/WORD. */
static bool share_parse(const struct hw_option_entry *entry, const char *text, struct hw_option_share *share)
{
    char number[16];
    int64_t count;
    int per = 0;
    size_t length = strcspn(text, "/");
    if (length >= sizeof number)
        return false;
    memcpy(number, text, length);
    number[length] = '\0';
    if (!integer_parse(entry, number, &count) ||
        (text[length] && !enum_parse(entry, text + length + 1, &per)))
        return false;
    *share = (struct hw_option_share){.count = (int32_t)count, .per = per};
    return true;
}

static bool value_parse(const struct hw_option_entry *entry, const char *text, struct hw_options *options)
{
    void *field = (char *)options + entry->offset;
    int choice;
    size_t length;
    struct hw_option_share share;
    switch (entry->type) {
    case HW_OPTION_SHARE:
        if (!share_parse(entry, text, &share))
            return false;
        memcpy(field, &share, sizeof share);
        return true;
    case HW_OPTION_ENUM:
        if (!enum_parse(entry, text, &choice))
            return false;
        memcpy(field, &choice, sizeof choice); /* the generator asserts that every enum has int's size */
        return true;
    case HW_OPTION_INTEGER:
        return integer_parse(entry, text, field);
    case HW_OPTION_BOOL:
        return bool_parse(text, field);
    case HW_OPTION_PATH:
        length = strlen(text);
        if (length >= HW_OPTION_PATH_MAX)
            return false;
        memcpy(field, text, length + 1);
        return true;
    }
    return false;
}

/* ---- what is accepted, in words ---------------------------------------------------------------------- */

static void append(char *text, size_t capacity, const char *part)
{
    size_t length = strlen(text);
    snprintf(text + length, capacity - length, "%s", part);
}

static void accepted_describe(const struct hw_option_entry *entry, char *text, size_t capacity)
{
    static const char *const units[] = {"", " bytes (suffixes K, M, G)", " us (suffixes us, ms, s)", ""};
    text[0] = '\0';
    switch (entry->type) {
    case HW_OPTION_ENUM:
        for (int i = 0; entry->values[i] != NULL; i++) {
            if (i > 0)
                append(text, capacity, entry->values[i + 1] == NULL ? " or " : ", ");
            append(text, capacity, entry->values[i]);
        }
        break;
    case HW_OPTION_INTEGER:
        if (entry->unit == HW_OPTION_UNIT_FRACTION) {
            append(text, capacity, "a number from 0 to 1 with at most three digits after the point");
            break;
        }
        snprintf(text, capacity, "%sa whole number from %" PRId64 " to %" PRId64 "%s",
                 entry->has_auto ? "auto, or " : "", entry->min, entry->max, units[entry->unit]);
        break;
    case HW_OPTION_SHARE:
        snprintf(text, capacity, "a whole number from %" PRId64 " to %" PRId64 ", alone or with", entry->min,
                 entry->max);
        for (int i = 0; entry->values[i] != NULL; i++) {
            append(text, capacity, i == 0 ? " /" : entry->values[i + 1] == NULL ? " or /" : ", /");
            append(text, capacity, entry->values[i]);
        }
        break;
    case HW_OPTION_BOOL:
        append(text, capacity, "yes or no");
        break;
    case HW_OPTION_PATH:
        snprintf(text, capacity, "a path shorter than %d bytes", HW_OPTION_PATH_MAX);
        break;
    }
}

/* ---- names -------------------------------------------------------------------------------------------- */

static bool name_matches(const char *name, const char *text, size_t length)
{
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

static const struct hw_option_entry *entry_find(const char *name, size_t length)
{
    for (size_t i = 0; i < hw_option_count; i++) {
        const struct hw_option_entry *entry = &hw_option_table[i];
        if (name_matches(entry->name, name, length))
            return entry;
        for (const char *const *alias = entry->aliases; alias != NULL && *alias != NULL; alias++)
            if (name_matches(*alias, name, length))
                return entry;
    }
    return NULL;
}

/* Levenshtein distance of two names of at most 63 characters; longer ones are far from everything. */
static unsigned name_distance(const char *left, size_t left_length, const char *right)
{
    unsigned row[64];
    size_t right_length = strlen(right);
    if (left_length >= 64 || right_length >= 64)
        return 64;
    for (unsigned j = 0; j <= right_length; j++)
        row[j] = j;
    for (unsigned i = 1; i <= left_length; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= right_length; j++) {
            unsigned above = row[j];
            unsigned best = diagonal + (left[i - 1] != right[j - 1]);
            best = above + 1 < best ? above + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = above;
            row[j] = best;
        }
    }
    return row[right_length];
}

static const char *name_nearest(const char *name, size_t length)
{
    const char *nearest = hw_option_table[0].name;
    unsigned best = name_distance(name, length, nearest);
    for (size_t i = 1; i < hw_option_count; i++) {
        unsigned distance = name_distance(name, length, hw_option_table[i].name);
        if (distance < best) {
            best = distance;
            nearest = hw_option_table[i].name;
        }
    }
    return best <= 4 ? nearest : NULL;
}

static void unknown_report(const char *variable, size_t name_length)
{
    const char *nearest = name_nearest(variable, name_length);
    if (nearest != NULL) {
        hw_log_fatal("%.200s: Headway has no such option; did you mean %s?", variable, nearest);
        return;
    }
    char names[HW_LOG_LINE_MAX / 2] = "";
    for (size_t i = 0; i < hw_option_count; i++) {
        append(names, sizeof names, i == 0 ? "" : " ");
        append(names, sizeof names, hw_option_table[i].name);
    }
    hw_log_fatal("%.200s: Headway has no such option; accepted are %s", variable, names);
}

/* ---- the environment ------------------------------------------------------------------------------------
 */

/* Set for every package by module systems (Spack, Lmod) at many sites. cli/headway/options.py has the same.
 */
static const char *const of_modules[] = {"HEADWAY_BASE",   "HEADWAY_BIN",  "HEADWAY_DIR",
                                         "HEADWAY_HOME",   "HEADWAY_INC",  "HEADWAY_LIB",
                                         "HEADWAY_PREFIX", "HEADWAY_ROOT", "HEADWAY_VERSION"};

static bool is_of_modules(const char *variable, size_t name_length)
{
    for (size_t i = 0; i < sizeof of_modules / sizeof *of_modules; i++)
        if (strlen(of_modules[i]) == name_length && strncmp(variable, of_modules[i], name_length) == 0)
            return true;
    return false;
}

static enum hw_status variable_read(const char *variable, struct hw_options *options, bool wants_aliases)
{
    const char *equals = strchr(variable, '=');
    if (equals == NULL)
        return HW_OK;
    size_t name_length = (size_t)(equals - variable);
    bool is_ours = strncmp(variable, family, sizeof family - 1) == 0;
    const struct hw_option_entry *entry = entry_find(variable, name_length);
    if (entry == NULL && is_ours && !is_of_modules(variable, name_length)) {
        unknown_report(variable, name_length);
        return HW_BAD_INPUT;
    }
    if (entry == NULL || is_ours == wants_aliases)
        return HW_OK;
    if (value_parse(entry, equals + 1, options))
        return HW_OK;
    char accepted[HW_LOG_LINE_MAX / 2];
    accepted_describe(entry, accepted, sizeof accepted);
    hw_log_fatal("%.200s: not a value of this option; accepted: %s", variable, accepted);
    return HW_BAD_INPUT;
}

/* What is right by itself, and not together. */
static enum hw_status together_check(const struct hw_options *options)
{
    if (options->low_cr <= options->high_cr)
        return HW_OK;
    hw_log_fatal("HEADWAY_HIGH_CR=%" PRId64 ".%03" PRId64 ": not a value of this option; accepted: "
                 "HEADWAY_LOW_CR, which is %" PRId64 ".%03" PRId64 ", or more",
                 options->high_cr / 1000, options->high_cr % 1000, options->low_cr / 1000,
                 options->low_cr % 1000);
    return HW_BAD_INPUT;
}

enum hw_status hw_options_read(char *const *environment, struct hw_options *options)
{
    *options = hw_options_default;
    if (environment == NULL)
        return HW_OK;
    /* Aliases first: where both names are set, ours wins. */
    for (int wants_aliases = 1; wants_aliases >= 0; wants_aliases--) {
        for (char *const *at = environment; *at != NULL; at++) {
            enum hw_status status = variable_read(*at, options, wants_aliases != 0);
            if (status != HW_OK)
                return status;
        }
    }
    return together_check(options);
}

enum hw_status hw_options_load(void)
{
    enum hw_status status = hw_options_read(environ, &hw_options);
    if (status != HW_OK)
        hw_options = hw_options_default;
    hw_log_set_level(hw_options.log_level);
    return status;
}

/* ---- showing --------------------------------------------------------------------------------------------
 */

/* Without zeros at its end. */
static void fraction_format(int64_t number, char *text, size_t capacity)
{
    snprintf(text, capacity, "%" PRId64 ".%03" PRId64, number / 1000, number % 1000);
    for (size_t end = strlen(text); end > 1 && (text[end - 1] == '0' || text[end - 1] == '.'); end--) {
        bool was_point = text[end - 1] == '.';
        text[end - 1] = '\0';
        if (was_point)
            break;
    }
}

void hw_option_format(const struct hw_option_entry *entry, const struct hw_options *options, char *text,
                      size_t capacity)
{
    const void *field = (const char *)options + entry->offset;
    int choice;
    int64_t number;
    struct hw_option_share share;
    switch (entry->type) {
    case HW_OPTION_SHARE:
        memcpy(&share, field, sizeof share);
        if (share.per == 0)
            snprintf(text, capacity, "%" PRId32, share.count);
        else
            snprintf(text, capacity, "%" PRId32 "/%s", share.count, entry->values[share.per]);
        break;
    case HW_OPTION_ENUM:
        memcpy(&choice, field, sizeof choice);
        snprintf(text, capacity, "%s", entry->values[choice]);
        break;
    case HW_OPTION_INTEGER:
        memcpy(&number, field, sizeof number);
        if (entry->has_auto && number == entry->auto_value)
            snprintf(text, capacity, "auto");
        else if (entry->unit == HW_OPTION_UNIT_FRACTION)
            fraction_format(number, text, capacity);
        else
            snprintf(text, capacity, "%" PRId64, number);
        break;
    case HW_OPTION_BOOL:
        snprintf(text, capacity, "%s", *(const bool *)field ? "yes" : "no");
        break;
    case HW_OPTION_PATH:
        snprintf(text, capacity, "%s", (const char *)field);
        break;
    }
}

const struct hw_option_entry *hw_option_of(size_t offset)
{
    size_t i = 0;
    while (hw_option_table[i].offset != offset)
        i++;
    return &hw_option_table[i];
}

void hw_options_print(void)
{
    for (size_t i = 0; i < hw_option_count; i++) {
        const struct hw_option_entry *entry = &hw_option_table[i];
        char text[HW_OPTION_TEXT_MAX];
        char usual[HW_OPTION_TEXT_MAX];
        hw_option_format(entry, &hw_options, text, sizeof text);
        hw_option_format(entry, &hw_options_default, usual, sizeof usual);
        if (strcmp(text, usual) == 0)
            hw_log_note("%s=%s (the default); %s", entry->name, text, entry->brief);
        else
            hw_log_note("%s=%s (default %s); %s", entry->name, text, usual, entry->brief);
    }
}
