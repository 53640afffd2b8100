/* What the unit tests of src/profile share. */
#ifndef HW_TESTS_UNIT_WRITTEN_H
#define HW_TESTS_UNIT_WRITTEN_H

#include <stdio.h>

/* What WRITE writes to a stream; the caller frees it. */
static inline char *written_by(void (*write)(FILE *file))
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    write(file);
    fclose(file);
    return text;
}

#endif
