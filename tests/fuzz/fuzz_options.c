/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: an environment of any bytes is read, or refused; what was read can be written and read again.
 */
#include "base/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A value as it is shown means the same. */
static void read_again(const struct hw_options *options)
{
    for (size_t i = 0; i < hw_option_count; i++) {
        char text[HW_OPTION_TEXT_MAX], once_more[HW_OPTION_TEXT_MAX], entry[HW_OPTION_TEXT_MAX + 128];
        char *environment[] = {entry, NULL};
        struct hw_options again = hw_options_default;
        hw_option_format(&hw_option_table[i], options, text, sizeof text);
        if (text[0] == '\0')
            continue; /* a path that was not given */
        snprintf(entry, sizeof entry, "%s=%s", hw_option_table[i].name, text);
        if (hw_options_read(environment, &again) != HW_OK)
            abort();
        hw_option_format(&hw_option_table[i], &again, once_more, sizeof once_more);
        if (strcmp(text, once_more) != 0)
            abort();
    }
}

/* Entries end with a null byte, or a newline, which is easier to write. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *environment[ENTRIES_MAX + 1];
    int count = 0;
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (size_t i = 0; i < size; i++)
        if (text[i] == '\n')
            text[i] = '\0';
    for (char *entry = text; entry <= text + size && count < ENTRIES_MAX; entry += strlen(entry) + 1)
        environment[count++] = entry;
    environment[count] = NULL;
    struct hw_options options = hw_options_default;
    if (hw_options_read(environment, &options) == HW_OK)
        read_again(&options);
    free(text);
    return 0;
}
