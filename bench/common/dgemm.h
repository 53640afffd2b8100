/* SPDX-License-Identifier: BSD-3-Clause */
/* Computation as in papers/002: DGEMMs of the system's BLAS, which should use one thread. Programs that
 * include this are linked with it. Entries are small integers, so that products are exact with any BLAS. */
#ifndef BENCH_COMMON_DGEMM_H
#define BENCH_COMMON_DGEMM_H

#include "bench.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Fortran's, as every BLAS has it; the lengths of the two texts come last. */
void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b, const int *ldb,
            const double *beta, double *c, const int *ldc, size_t transa_length, size_t transb_length);

struct bench_matrices {
    int side;
    double *entries[3]; /* the last is the product of the others */
};

static inline struct bench_matrices bench_matrices_make(int rank, int64_t side)
{
    struct bench_matrices matrices = {.side = (int)side};
    for (int i = 0; i < 3; i++) {
        matrices.entries[i] = (double *)bench_allocate((size_t)(side * side) * sizeof(double));
        for (int64_t at = 0; at < side * side; at++)
            matrices.entries[i][at] = (double)(((rank + i) * 7 + at * 13) % 11 - 5);
    }
    return matrices;
}

static inline void bench_matrices_free(struct bench_matrices *matrices)
{
    for (int i = 0; i < 3; i++)
        free(matrices->entries[i]);
}

static inline void bench_matrices_multiply(const struct bench_matrices *matrices, int64_t times)
{
    const double one = 1.0, zero = 0.0;
    const int *side = &matrices->side;
    for (int64_t i = 0; i < times; i++)
        dgemm_("N", "N", side, side, side, &one, matrices->entries[0], side, matrices->entries[1], side,
               &zero, matrices->entries[2], side, 1, 1);
}

static inline uint64_t bench_matrices_digest(const struct bench_matrices *matrices)
{
    return bench_digest(matrices->entries[2],
                        (size_t)matrices->side * (size_t)matrices->side * sizeof(double));
}

/* Which library computes. */
static inline void bench_blas_write(struct bench_json *json)
{
    Dl_info found = {0};
    void *dgemm = dlsym(RTLD_DEFAULT, "dgemm_");
    char *path = dgemm != NULL && dladdr(dgemm, &found) != 0 ? realpath(found.dli_fname, NULL) : NULL;
    bench_json_text(json, "blas", path != NULL ? path : "not known");
    free(path);
}

#endif
