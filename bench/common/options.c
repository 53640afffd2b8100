/* SPDX-License-Identifier: BSD-3-Clause */
/* Command line, start and end of a benchmark program. */
#include "bench.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool integer_parse(const char *text, char **end, int64_t *value)
{
    errno = 0;
    long long number = strtoll(text, end, 10);
    if (errno != 0 || *end == text)
        return false;
    int shift = 0;
    if (**end == 'k' || **end == 'K')
        shift = 10;
    else if (**end == 'm' || **end == 'M')
        shift = 20;
    if (shift != 0)
        (*end)++;
    *value = (int64_t)number << shift;
    return number >= 0;
}

bool bench_list_parse(const char *text, struct bench_list *list)
{
    list->count = 0;
    for (;;) {
        char *end;
        if (list->count == BENCH_LIST_MAX || !integer_parse(text, &end, &list->values[list->count]))
            return false;
        list->count++;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
}

struct bench_list bench_list_make(const char *text)
{
    struct bench_list list;
    if (!bench_list_parse(text, &list))
        abort();
    return list;
}

int64_t bench_list_at(const struct bench_list *list, int at)
{
    return list->values[list->count == 1 ? 0 : at];
}

bool bench_list_fits(const struct bench_list *list, int points, int64_t least)
{
    for (int i = 0; i < list->count; i++)
        if (list->values[i] < least)
            return false;
    return list->count == 1 || list->count == points;
}

int bench_name_find(const char *const *names, int count, const char *name)
{
    int at = 0;
    while (at < count && strcmp(name, names[at]) != 0)
        at++;
    return at;
}

static bool value_parse(const struct bench_option *option, const char *text)
{
    char *end;
    switch (option->kind) {
    case BENCH_INTEGER:
        return integer_parse(text, &end, option->value) && *end == '\0';
    case BENCH_NUMBER:
        *(double *)option->value = strtod(text, &end);
        return end != text && *end == '\0' && *(double *)option->value >= 0.0;
    case BENCH_LIST:
        return bench_list_parse(text, option->value);
    case BENCH_TEXT:
        *(const char **)option->value = text;
        return true;
    case BENCH_FLAG:
        break;
    }
    return false;
}

static const struct bench_option *option_find(const struct bench_option *options, const char *argument)
{
    if (strncmp(argument, "--", 2) != 0)
        return NULL;
    for (const struct bench_option *option = options; option->name != NULL; option++)
        if (strcmp(option->name, argument + 2) == 0)
            return option;
    return NULL;
}

/* The first argument that cannot be used, or NULL. */
static const char *arguments_parse(int argc, char **argv, const struct bench_option *options)
{
    for (int i = 1; i < argc; i++) {
        const struct bench_option *option = option_find(options, argv[i]);
        if (option == NULL)
            return argv[i];
        if (option->kind == BENCH_FLAG) {
            *(bool *)option->value = true;
            continue;
        }
        if (i + 1 == argc || !value_parse(option, argv[i + 1]))
            return argv[i];
        i++;
    }
    return NULL;
}

static void usage_print(const char *program, const struct bench_option *options)
{
    printf("usage: %s [options], started by mpiexec; prints one JSON object\n", program);
    for (; options->name != NULL; options++)
        printf("  --%-18s %s\n", options->name, options->help);
    printf("  --%-18s %s\n", "thread-level",
           "single, funneled, serialized or multiple; default: plain MPI_Init");
}

/* Takes --thread-level out of the arguments; -1 when it is not there, -2 when it is malformed. */
static int thread_level_take(int *argc, char **argv)
{
    static const char *const names[] = {"single", "funneled", "serialized", "multiple"};
    const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    for (int i = 1; i + 1 < *argc; i++) {
        if (strcmp(argv[i], "--thread-level") != 0)
            continue;
        int level = -2;
        for (int j = 0; j < 4; j++)
            if (strcmp(argv[i + 1], names[j]) == 0)
                level = levels[j];
        if (level == -2)
            return -2;
        memmove(&argv[i], &argv[i + 2], (size_t)(*argc - i - 1) * sizeof *argv);
        *argc -= 2;
        return level;
    }
    return -1;
}

/* Different host names among the ranks. Collective. */
static int nodes_count(int ranks)
{
    char name[MPI_MAX_PROCESSOR_NAME] = {0};
    int length;
    MPI_Get_processor_name(name, &length);
    char *names = bench_allocate((size_t)ranks * sizeof name);
    MPI_Allgather(name, (int)sizeof name, MPI_CHAR, names, (int)sizeof name, MPI_CHAR, MPI_COMM_WORLD);
    int nodes = 0;
    for (int i = 0; i < ranks; i++) {
        int j = 0;
        while (strcmp(names + (size_t)j * sizeof name, names + (size_t)i * sizeof name) != 0)
            j++;
        nodes += j == i;
    }
    free(names);
    return nodes;
}

void bench_start(struct bench *bench, const char *program, int argc, char **argv,
                 const struct bench_option *options)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            usage_print(program, options);
            exit(0);
        }
    }
    int level = thread_level_take(&argc, argv);
    if (level >= 0) {
        int provided;
        MPI_Init_thread(&argc, &argv, level, &provided);
    } else {
        MPI_Init(&argc, &argv);
    }
    bench->program = program;
    MPI_Comm_rank(MPI_COMM_WORLD, &bench->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &bench->ranks);
    if (level == -2)
        bench_refuse(bench, "--thread-level takes single, funneled, serialized or multiple");
    const char *bad = arguments_parse(argc, argv, options);
    if (bad != NULL)
        bench_refuse(bench, "%s is unknown or has no valid value; --help lists the options", bad);
    bench->nodes = nodes_count(bench->ranks);
}

_Noreturn void bench_refuse(const struct bench *bench, const char *format, ...)
{
    if (bench->rank == 0) {
        va_list arguments;
        va_start(arguments, format);
        fprintf(stderr, "%s: ", bench->program);
        vfprintf(stderr, format, arguments);
        fputc('\n', stderr);
        va_end(arguments);
    }
    MPI_Finalize();
    exit(2);
}

void bench_seal(MPI_Comm comm)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_exact_length", "true");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

void bench_finish(struct bench *bench)
{
    (void)bench;
    /* MPICH 4 over UCX now and then never ends for a process that comes much earlier than its peer. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

struct bench_points bench_points_make(const char *sizes, const char *warmup)
{
    return (struct bench_points){.sizes = bench_list_make(sizes),
                                 .work_units = bench_list_make("0"),
                                 .iterations = bench_list_make("20"),
                                 .warmup = bench_list_make(warmup)};
}

void bench_points_check(const struct bench *bench, const struct bench_points *points, int64_t least_warmup,
                        int64_t most_bytes)
{
    const struct bench_list *sizes = &points->sizes;
    if (!bench_list_fits(&points->work_units, sizes->count, 0))
        bench_refuse(bench, "--work-units takes one value, or as many as --sizes");
    if (!bench_list_fits(&points->iterations, sizes->count, 1) ||
        !bench_list_fits(&points->warmup, sizes->count, least_warmup))
        bench_refuse(bench,
                     least_warmup
                         ? "--iterations and --warmup (1 or more) take one value, or as many as --sizes"
                         : "--iterations (1 or more) and --warmup take one value, or as many as --sizes");
    for (int i = 0; i < sizes->count; i++)
        if (sizes->values[i] > most_bytes)
            bench_refuse(bench, "--sizes go up to 1024m");
}
