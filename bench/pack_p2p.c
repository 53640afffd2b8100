/* SPDX-License-Identifier: BSD-3-Clause */
/* Claim: messages of derived datatypes take no longer with Headway, and those of structs far less time
 * (papers/004 II.B.1).
 *
 * Two ranks play ping-pong with one datatype, or exchange both faces of a three-dimensional block of structs
 * with one another, as a periodic halo does. A sample is half a round trip, or an exchange, over a batch.
 * Each rank knows which bytes a message brings, and looks at all of its memory before and after it is timed.
 */
#include "common/bench.h"

#include <stdlib.h>
#include <string.h>

enum { DOUBLE = sizeof(double), BATCH_BYTES = 256 * 1024, BATCH_MAX = 50, FACES = 2 };
enum { CELL = 32, THICKNESS = 8 }; /* bytes of a struct in memory; planes of the block, ghosts included */

static struct {
    struct bench_list sizes;
    const char *type;
    const char *face;
    int64_t batches, warmup;
} options = {.type = "struct", .face = "", .batches = 15, .warmup = 60};

/* What is sent and received, in the same places of either buffer but for a halo. */
struct layout {
    MPI_Datatype types[FACES], ghosts[FACES]; /* `ghosts` of a halo only */
    int count;
    bool is_halo;
    size_t bytes; /* of a buffer */
    int64_t packed;
    /* Where the bytes of message i go, and which byte of the sender's buffer comes there: -1 none. */
    int64_t *from;
};

static unsigned char byte_of(int rank, int64_t place)
{
    return (unsigned char)((uint64_t)place * 7U + ((uint64_t)place >> 8U) + (uint64_t)rank * 101U + 3U);
}

enum { FILLER = 0x5a };

static void allocate(struct layout *made, size_t bytes)
{
    made->bytes = bytes;
    made->from = bench_allocate(bytes * sizeof *made->from);
    for (size_t i = 0; i < bytes; i++)
        made->from[i] = -1;
}

static void put(struct layout *made, int64_t place, int64_t from, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        made->from[place + i] = from + i;
}

/* {double, int, 2 double}: 28 bytes in 32. */
static MPI_Datatype struct_type(void)
{
    static const int lengths[] = {1, 1, 2};
    static const MPI_Aint places[] = {0, 8, 16};
    MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE}, type;
    MPI_Type_create_struct(3, lengths, places, types, &type);
    return type;
}

static void put_cell(struct layout *made, int64_t place, int64_t from)
{
    put(made, place, from, 12);
    put(made, place + 16, from + 16, 16);
}

static void make_struct(struct layout *made, int64_t bytes)
{
    made->count = (int)((bytes + 27) / 28);
    made->types[0] = struct_type();
    allocate(made, (size_t)made->count * CELL);
    for (int64_t i = 0; i < made->count; i++)
        put_cell(made, i * CELL, i * CELL);
}

/* {int, double, char, float, 2 double}: 33 bytes in 40. */
static void make_fields(struct layout *made, int64_t bytes)
{
    static const int lengths[] = {1, 1, 1, 1, 2};
    static const MPI_Aint places[] = {0, 8, 16, 20, 24};
    static const int sizes[] = {4, 8, 1, 4, 16};
    MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_FLOAT, MPI_DOUBLE};
    MPI_Type_create_struct(5, lengths, places, types, &made->types[0]);
    made->count = (int)((bytes + 32) / 33);
    allocate(made, (size_t)made->count * 40);
    for (int64_t i = 0; i < made->count; i++)
        for (int field = 0; field < 5; field++)
            put(made, 40 * i + places[field], 40 * i + places[field], sizes[field]);
}

/* Single doubles, one somewhere in each four. */
static void make_indexed_block(struct layout *made, int64_t bytes)
{
    int count = (int)(bytes / DOUBLE);
    unsigned drawn = 1;
    int *places = bench_allocate((size_t)count * sizeof *places);
    allocate(made, (size_t)count * 4 * DOUBLE);
    for (int i = 0; i < count; i++) {
        drawn = drawn * 1103515245U + 12345U;
        places[i] = 4 * i + (int)(drawn >> 8U) % 4;
        put(made, (int64_t)places[i] * DOUBLE, (int64_t)places[i] * DOUBLE, DOUBLE);
    }
    MPI_Type_create_indexed_block(count, 1, places, MPI_DOUBLE, &made->types[0]);
    free(places);
}

static void make_vector(struct layout *made, int64_t rows, int row, int stride)
{
    MPI_Type_vector((int)rows, row, stride, MPI_DOUBLE, &made->types[0]);
    allocate(made, (size_t)rows * (size_t)stride * DOUBLE);
    for (int64_t i = 0; i < rows; i++)
        put(made, i * stride * DOUBLE, i * stride * DOUBLE, (int64_t)row * DOUBLE);
}

/* A face across the fastest dimension: 8 bytes each 512. */
static void make_x_face(struct layout *made, int64_t bytes) { make_vector(made, bytes / DOUBLE, 1, 64); }

/* Rows of 2 KiB, the inner half of twice as long ones. */
static void make_rows(struct layout *made, int64_t bytes)
{
    int row = bytes < 2048 ? (int)bytes : 2048;
    make_vector(made, bytes / row, row / DOUBLE, 2 * row / DOUBLE);
}

/* Without gaps: nobody can win anything. */
static void make_contiguous(struct layout *made, int64_t bytes)
{
    MPI_Type_contiguous((int)(bytes / DOUBLE), MPI_DOUBLE, &made->types[0]);
    allocate(made, (size_t)(bytes / DOUBLE * DOUBLE));
    put(made, 0, 0, (int64_t)made->bytes);
}

static const struct {
    const char *name;
    void (*make)(struct layout *made, int64_t bytes);
} kinds[] = {
    {"struct", make_struct}, {"fields", make_fields}, {"indexed_block", make_indexed_block},
    {"x_face", make_x_face}, {"rows", make_rows},     {"contiguous", make_contiguous},
};

/* The face at one place across dimension `across` (2 is the fastest) of a block that is thin there. */
static MPI_Datatype make_face(int across, int side, int at, MPI_Datatype cell)
{
    int sizes[] = {side, side, side}, parts[] = {side, side, side}, starts[] = {0, 0, 0};
    MPI_Datatype type;
    sizes[across] = THICKNESS;
    parts[across] = 1;
    starts[across] = at;
    MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, cell, &type);
    return type;
}

static int64_t cell_at(int across, int side, const int at[3])
{
    int sizes[] = {side, side, side};
    sizes[across] = THICKNESS;
    return (((int64_t)at[0] * sizes[1] + at[1]) * sizes[2] + at[2]) * CELL;
}

/* What a rank sends from its low face comes into the other's high ghosts, and the other way round. */
static void make_halo(struct layout *made, int64_t bytes, int across)
{
    static const int inner[FACES] = {1, THICKNESS - 2}, outer[FACES] = {THICKNESS - 1, 0};
    int side = 1;
    while ((int64_t)(side + 1) * (side + 1) * 28 <= bytes)
        side++;
    MPI_Datatype cell = struct_type();
    made->count = 1;
    made->is_halo = true;
    allocate(made, (size_t)THICKNESS * (size_t)side * (size_t)side * CELL);
    for (int face = 0; face < FACES; face++) {
        made->types[face] = make_face(across, side, inner[face], cell);
        made->ghosts[face] = make_face(across, side, outer[face], cell);
        for (int i = 0; i < side * side; i++) {
            int from[3] = {i / side, i / side, i / side}, to[3];
            from[across == 2 ? 1 : 2] = i % side;
            memcpy(to, from, sizeof to);
            from[across] = inner[face];
            to[across] = outer[face];
            put_cell(made, cell_at(across, side, to), cell_at(across, side, from));
        }
    }
    MPI_Type_free(&cell);
}

static struct layout make(const struct bench *bench, int64_t bytes)
{
    static const char *const faces[] = {"z", "y", "x"};
    struct layout made = {.count = 1};
    int across = bench_name_find(faces, 3, options.face), size;
    if (across < 3)
        make_halo(&made, bytes, across);
    for (size_t i = 0; across == 3 && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, options.type) == 0)
            kinds[i].make(&made, bytes);
    if (made.from == NULL)
        bench_refuse(bench, "--type is one of struct, fields, indexed_block, x_face, rows and contiguous");
    for (int face = 0; face < (made.is_halo ? FACES : 1); face++) {
        MPI_Type_commit(&made.types[face]);
        if (made.is_halo)
            MPI_Type_commit(&made.ghosts[face]);
    }
    MPI_Type_size(made.types[0], &size);
    made.packed = (int64_t)size * made.count;
    return made;
}

static void let_go(struct layout *made)
{
    for (int face = 0; face < (made->is_halo ? FACES : 1); face++) {
        MPI_Type_free(&made->types[face]);
        if (made->is_halo)
            MPI_Type_free(&made->ghosts[face]);
    }
    free(made->from);
}

struct game {
    const struct bench *bench;
    struct layout layout;
    unsigned char *out, *in; /* the same memory in a halo */
};

static void fill(const struct game *game)
{
    const struct layout *layout = &game->layout;
    memset(game->in, FILLER, layout->bytes);
    for (size_t i = 0; i < layout->bytes; i++)
        if (!layout->is_halo || layout->from[i] < 0)
            game->out[i] = byte_of(game->bench->rank, (int64_t)i);
}

/* Every byte: what should have come, and what should not have. */
static void look(const struct game *game)
{
    const struct layout *layout = &game->layout;
    int rank = game->bench->rank;
    for (size_t i = 0; i < layout->bytes; i++) {
        unsigned char untouched = layout->is_halo ? byte_of(rank, (int64_t)i) : FILLER;
        unsigned char wanted = layout->from[i] >= 0 ? byte_of(1 - rank, layout->from[i]) : untouched;
        if (game->in[i] != wanted) {
            fprintf(stderr, "rank %d: byte %zu of %zu is wrong\n", rank, i, layout->bytes);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
}

static void play(const struct game *game)
{
    const struct layout *layout = &game->layout;
    int partner = 1 - game->bench->rank, rank = game->bench->rank;
    if (layout->is_halo) {
        MPI_Request requests[2 * FACES];
        for (int face = 0; face < FACES; face++)
            MPI_Irecv(game->in, 1, layout->ghosts[face], partner, face, MPI_COMM_WORLD, &requests[face]);
        for (int face = 0; face < FACES; face++)
            MPI_Isend(game->out, 1, layout->types[face], partner, face, MPI_COMM_WORLD,
                      &requests[FACES + face]);
        MPI_Waitall(2 * FACES, requests, MPI_STATUSES_IGNORE);
        return;
    }
    if (rank == 0)
        MPI_Send(game->out, layout->count, layout->types[0], partner, 0, MPI_COMM_WORLD);
    MPI_Recv(game->in, layout->count, layout->types[0], partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Send(game->out, layout->count, layout->types[0], partner, 0, MPI_COMM_WORLD);
}

static double timed(const struct game *game, int64_t batch)
{
    double began_s = bench_now_s();
    for (int64_t i = 0; i < batch; i++)
        play(game);
    return (bench_now_s() - began_s) / (double)(game->layout.is_halo ? batch : 2 * batch);
}

static void measure(const struct bench *bench, struct bench_json *json, int64_t size)
{
    struct game game = {bench, make(bench, size), NULL, NULL};
    struct bench_phases phases;
    int64_t batch = BATCH_BYTES / size;
    batch = batch > BATCH_MAX ? BATCH_MAX : batch < 1 ? 1 : batch;
    game.in = bench_allocate(game.layout.bytes);
    game.out = game.layout.is_halo ? game.in : bench_allocate(game.layout.bytes);
    bench_phases_init(&phases, 1, (const char *const[]){"latency_s"}, (int)options.batches, false);
    fill(&game);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t i = 0; i < options.warmup; i++)
        play(&game);
    look(&game);
    fill(&game);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t i = 0; i < options.batches; i++)
        phases.samples[0][i] = timed(&game, batch);
    look(&game);
    bench_json_open(json, NULL, '{');
    bench_json_integer(json, "bytes", size);
    bench_json_integer(json, "packed", game.layout.packed);
    bench_json_integer(json, "batch", batch);
    bench_json_phases(json, &phases);
    bench_json_close(json, '}');
    bench_phases_free(&phases);
    if (game.out != game.in)
        free(game.out);
    free(game.in);
    let_go(&game.layout);
}

int main(int argc, char **argv)
{
    options.sizes = bench_list_make("1k,4k,16k,64k,256k,1m,4m");
    const struct bench_option table[] = {
        {"sizes", BENCH_LIST, &options.sizes, "bytes of a message, about"},
        {"type", BENCH_TEXT, &options.type, "struct, fields, indexed_block, x_face, rows or contiguous"},
        {"face", BENCH_TEXT, &options.face, "x, y or z: a halo of structs in place of a ping-pong"},
        {"batches", BENCH_INTEGER, &options.batches, "timed batches a size"},
        {"warmup", BENCH_INTEGER, &options.warmup, "untimed round trips a size"},
        {0},
    };
    struct bench bench;
    bench_start(&bench, "pack_p2p", argc, argv, table);
    if (bench.ranks != 2)
        bench_refuse(&bench, "needs two ranks");
    if (options.batches < 1 || options.warmup < 1)
        bench_refuse(&bench, "--batches and --warmup are at least 1");
    if (options.face[0] != '\0' &&
        (options.face[1] != '\0' || options.face[0] < 'x' || options.face[0] > 'z'))
        bench_refuse(&bench, "--face is one of x, y and z");
    for (int i = 0; i < options.sizes.count; i++)
        if (options.sizes.values[i] < 64 || options.sizes.values[i] > 16 << 20)
            bench_refuse(&bench, "--sizes are from 64 bytes to 16 MiB");
    struct bench_json json;
    bench_json_begin(&json, &bench);
    bench_json_text(&json, "type", options.face[0] ? "struct" : options.type);
    bench_json_text(&json, "face", options.face);
    bench_json_open(&json, "points", '[');
    for (int i = 0; i < options.sizes.count; i++)
        measure(&bench, &json, options.sizes.values[i]);
    bench_json_close(&json, ']');
    bench_json_end(&json);
    bench_finish(&bench);
    return 0;
}
