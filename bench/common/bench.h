/* SPDX-License-Identifier: BSD-3-Clause */
/* What every benchmark program shares: options, fixed work, samples, one JSON object on rank 0.
 *
 * The programs are plain MPI programs. They know nothing of Headway and are never built against it:
 * what is measured is an unmodified program. All functions here are called by the main thread only,
 * outside MPI calls; those that communicate say so. */
#ifndef HEADWAY_BENCH_H
#define HEADWAY_BENCH_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- options --------------------------------------------------------------------------------- */

enum bench_option_kind {
    BENCH_INTEGER, /* int64_t */
    BENCH_NUMBER,  /* double */
    BENCH_FLAG,    /* bool; takes no value */
    BENCH_TEXT,    /* const char * */
    BENCH_LIST,    /* struct bench_list: comma-separated integers; k and m suffixes are KiB and MiB */
};

#define BENCH_LIST_MAX 64

struct bench_list {
    int count;
    int64_t values[BENCH_LIST_MAX];
};

struct bench_option {
    const char *name; /* without the leading dashes */
    enum bench_option_kind kind;
    void *value; /* holds the default before parsing, the given value after */
    const char *help;
};

/* False for a TEXT that is no list of integers. */
bool bench_list_parse(const char *text, struct bench_list *list);

/* A default for a BENCH_LIST option; TEXT must be well formed. */
struct bench_list bench_list_make(const char *text);

/* The value for the point AT: a list of one value holds for every point. */
int64_t bench_list_at(const struct bench_list *list, int at);

/* Whether LIST has one value, or one for each of POINTS points, and none of them is below LEAST. */
bool bench_list_fits(const struct bench_list *list, int points, int64_t least);

/* Where NAME is in NAMES[COUNT]; COUNT if it is not. */
int bench_name_find(const char *const *names, int count, const char *name);

/* ---- start and end --------------------------------------------------------------------------- */

struct bench {
    const char *program;
    int rank;
    int ranks;
    int nodes; /* how many different host names the ranks see */
};

/* Parses the command line, calls MPI_Init (or MPI_Init_thread with --thread-level), fills BENCH.
 * A bad option prints one line on rank 0 and ends every rank with status 2 before any communication.
 * OPTIONS ends with a zero entry. */
void bench_start(struct bench *bench, const char *program, int argc, char **argv,
                 const struct bench_option *options);

/* Ends every rank with status 2 and one line on rank 0; for option values that do not fit together. */
_Noreturn void bench_refuse(const struct bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The options of a program whose points are sizes: each list but the first has one value, or one a size. */
struct bench_points {
    struct bench_list sizes, work_units, iterations, warmup;
};

/* Their defaults: no work, 20 iterations. */
struct bench_points bench_points_make(const char *sizes, const char *warmup);

/* Ends every rank unless work units, iterations and warm-up have one value or as many as sizes, at least 0, 1
 * and LEAST_WARMUP, and no size is above MOST_BYTES. */
void bench_points_check(const struct bench *bench, const struct bench_points *points, int64_t least_warmup,
                        int64_t most_bytes);

/* The option of programs that can. */
#define BENCH_SEALED_OPTION(flag)                                                                            \
    {                                                                                                        \
        "sealed", BENCH_FLAG, flag, "assert to MPI that there are no wildcards, and that lengths are exact"  \
    }

/* Asserts that of COMM, on which no message has been (MPI-4.1 section 7.4.4). Collective. */
void bench_seal(MPI_Comm comm);

/* Calls MPI_Finalize. Collective. */
void bench_finish(struct bench *bench);

/* Aligned memory, written once so that its pages exist. Never NULL: ends the job when out of memory. */
void *bench_allocate(size_t bytes);

/* Memory that is freed together. Begins as {0}. */
struct bench_pieces {
    void *last;
};

/* As bench_allocate, until bench_pieces_free. */
void *bench_pieces_take(struct bench_pieces *pieces, size_t bytes);
void bench_pieces_free(struct bench_pieces *pieces);

/* Fills a buffer with bytes that depend on SEED, so that a digest tells one message from another. */
void bench_fill(void *buffer, size_t bytes, uint64_t seed);

/* Digest of a buffer, to be compared between modes of the same run. */
uint64_t bench_digest(const void *buffer, size_t bytes);

/* ---- time and CPU ---------------------------------------------------------------------------- */

double bench_now_s(void);         /* monotonic */
double bench_process_cpu_s(void); /* every thread of this process, user and system */
double bench_thread_cpu_s(void);  /* the calling thread only */
int64_t bench_pss_bytes(void);    /* proportional set size of this process, -1 when unknown */

/* ---- fixed work ------------------------------------------------------------------------------ */

/* Real floating-point work: UNITS sweeps of a five-point stencil over a 64 x 64 grid that stays in
 * the cache. The amount is what is fixed, never the time: a mode that slows the computation shows. */
void bench_work(int64_t units);

/* Units in a second, the best of some trials of a millisecond or so. Called before MPI_Init it knows nothing
 * of threads that an MPI, or Headway, starts there: what they take shows in what is measured later. */
double bench_units_per_s(void);

/* A number that depends on all work done so far; printed so that no compiler can drop the work. */
double bench_work_checksum(void);

/* ---- samples --------------------------------------------------------------------------------- */

struct bench_summary {
    double median, minimum, maximum, first_quartile, third_quartile;
};

/* Sorts VALUES in place. COUNT is at least 1. */
struct bench_summary bench_summarize(double *values, int count);

/* Per-iteration samples of named phases on each rank. */
#define BENCH_PHASES_MAX 10

struct bench_phases {
    int count;
    int iterations;
    const char *names[BENCH_PHASES_MAX]; /* the last one is the whole iteration */
    double *samples[BENCH_PHASES_MAX];   /* [iterations] */
    double *alone; /* [iterations], seconds of the computation alone right before each; NULL: not measured */
};

/* At most BENCH_PHASES_MAX - BENCH_PHASES_ALONE phases. With IS_BESIDE the caller fills `alone` as well. */
#define BENCH_PHASES_ALONE 3
void bench_phases_init(struct bench_phases *phases, int count, const char *const *names, int iterations,
                       bool is_beside);
void bench_phases_free(struct bench_phases *phases);

/* SECONDS[phases->count] are the samples of one iteration. */
void bench_phases_record(struct bench_phases *phases, int64_t iteration, const double *seconds);

/* Steps of a solver: phases comm_s, cpu_s (the process's own) and total_s. */
void bench_steps_init(struct bench_phases *phases, int steps);

struct bench_step {
    double began_s, began_cpu_s;
};
struct bench_step bench_step_begin(void);
/* COMM_S: of the step, in MPI. A negative NUMBER is untimed. */
void bench_step_end(struct bench_phases *phases, int64_t number, struct bench_step step, double comm_s);

/* The option of programs that can. */
#define BENCH_BESIDE_OPTION(flag)                                                                            \
    {                                                                                                        \
        "beside", BENCH_FLAG, flag, "the computation alone before each iteration, to compare with"           \
    }

/* Seconds that RUN takes now, with nothing to wait for: a machine that others share changes its speed from
 * one iteration to the next. A barrier follows. Collective. */
double bench_alone_now(void (*run)(void *context), void *context);

/* ---- JSON ------------------------------------------------------------------------------------ */

struct bench_json {
    FILE *stream; /* NULL on ranks other than 0: every function is then a no-op */
    char *text;
    size_t length;
    bool wants_comma;
};

/* Opens the object and writes program, schema, ranks, nodes and the MPI's version string. */
void bench_json_begin(struct bench_json *json, const struct bench *bench);
void bench_json_open(struct bench_json *json, const char *key,
                     char bracket);                           /* '{' or '['; key may be NULL */
void bench_json_close(struct bench_json *json, char bracket); /* '}' or ']' */
void bench_json_integer(struct bench_json *json, const char *key, int64_t value);
void bench_json_number(struct bench_json *json, const char *key, double value);
void bench_json_text(struct bench_json *json, const char *key, const char *value);
void bench_json_hex(struct bench_json *json, const char *key, uint64_t value);
/* The digests of all ranks as one number under "digest". Collective. */
void bench_json_digest(struct bench_json *json, uint64_t digest);
void bench_json_list(struct bench_json *json, const char *key, const struct bench_list *list);
void bench_json_summary(struct bench_json *json, const char *key, struct bench_summary summary);

/* Collective over MPI_COMM_WORLD. Writes, for the last phase, the summary of the slowest rank of each
 * iteration, and under "by_rank" the summary of every phase on every rank; where the computation was measured
 * alone, "alone_s" and by how much the iteration right after it took longer: "of_alone" as a multiple,
 * "over_alone_s" in seconds. */
void bench_json_phases(struct bench_json *json, const struct bench_phases *phases);

/* Collective. A point of rounds beside UNITS of work, which take WORK_S alone: an object of an array. */
void bench_json_rounds(struct bench_json *json, int64_t bytes, int64_t units, double work_s,
                       const struct bench_phases *phases);

/* Collective. Such a point: ROUNDS rounds after WARMUP untimed ones, nothing between them. RUN returns the
 * seconds of a round beside UNITS of work, 0 on a rank that times nothing; they are written as "origin_s". */
void bench_rounds_measure(struct bench_json *json, int64_t bytes, int64_t units, int64_t rounds,
                          int64_t warmup, double (*run)(void *context, int64_t units), void *context);

/* Collective. How long RUN takes by itself, each time after a barrier: ITERATIONS samples after WARMUP
 * untimed ones, written as the object KEY with the one phase NAME. */
void bench_alone_measure(struct bench_json *json, const char *key, const char *name, int warmup,
                         int iterations, void (*run)(void *context), void *context);

/* Closes the object and prints it as one line on standard output. */
void bench_json_end(struct bench_json *json);

/* The rest of a program that has nothing to say after its points: MEASURE writes each, an object of the array
 * "points"; then the checksum of all work, the end of the object and MPI_Finalize. Collective. */
void bench_points_finish(struct bench *bench, struct bench_json *json, int count,
                         void (*measure)(const struct bench *bench, int at, struct bench_json *json));

#endif
