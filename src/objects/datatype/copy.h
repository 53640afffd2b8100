/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of many small blocks, which packing is made of. Each works in both directions: either side may be
 * the packed one. The sides must not overlap; no address has to be aligned. Any thread; knows no MPI. */
#ifndef HW_OBJECTS_DATATYPE_COPY_H
#define HW_OBJECTS_DATATYPE_COPY_H

#include <stdint.h>

/* One side of a copy: where the first block lies, and by how many bytes the next is further on. */
struct hw_copy_to {
    char *at;
    int64_t stride;
};
struct hw_copy_from {
    const char *at;
    int64_t stride;
};

/* `count` blocks of `length` bytes each. */
void hw_copy_strided(struct hw_copy_to to, struct hw_copy_from from, int64_t length, int64_t count);

/* `count` blocks of `length` bytes each, which lie at base + (places[i] << shift), to one behind the other.
 */
void hw_copy_gather(char *to, const char *base, const int32_t *places, unsigned shift, int64_t length,
                    int64_t count);
/* The reverse. */
void hw_copy_scatter(char *base, const int32_t *places, unsigned shift, const char *from, int64_t length,
                     int64_t count);

/* The same of blocks that have lengths[i] bytes. Return where the packed side ends. */
char *hw_copy_gather_each(char *to, const char *base, const int32_t *places, const uint32_t *lengths,
                          unsigned shift, int64_t count);
const char *hw_copy_scatter_each(char *base, const int32_t *places, const uint32_t *lengths, unsigned shift,
                                 const char *from, int64_t count);

#endif
