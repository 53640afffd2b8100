/* SPDX-License-Identifier: BSD-3-Clause */
/* Description: one call of MPI in the forms that it has; see act.h. */
#include "act.h"

#if MPI_VERSION >= 4
#define HAS_LARGE_COUNTS 1
#else
#define HAS_LARGE_COUNTS 0
#endif

struct place place_of(const struct actor *actor, void *memory, int count, int type, bool is_absolute)
{
    char *address = (char *)memory - actor->lowers[type];
    if (!is_absolute)
        return (struct place){.address = address, .count = count, .type = actor->types[type]};
    struct place place = {.address = MPI_BOTTOM, .count = 1, .is_type_own = true};
    MPI_Aint where;
    MPI_Get_address(address, &where);
    MPI_Type_create_hindexed(1, &count, &where, actor->types[type], &place.type);
    MPI_Type_commit(&place.type);
    return place;
}

void place_free(struct place *place)
{
    if (place->is_type_own)
        MPI_Type_free(&place->type);
    place->is_type_own = false;
}

static bool is_large(struct rng *rng) { return HAS_LARGE_COUNTS && rng_chance(rng, 30); }

void call_send(enum send_mode mode, const struct place *place, int dest, int tag, MPI_Comm comm,
               MPI_Request *request, struct rng *rng)
{
    typedef int function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    static function *const functions[SEND_MODE_COUNT] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
#if HAS_LARGE_COUNTS
    typedef int large_function(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    static large_function *const large[SEND_MODE_COUNT] = {MPI_Isend_c, MPI_Issend_c, MPI_Ibsend_c,
                                                           MPI_Irsend_c};
    if (is_large(rng)) {
        large[mode](place->address, place->count, place->type, dest, tag, comm, request);
        return;
    }
#endif
    (void)rng;
    functions[mode](place->address, place->count, place->type, dest, tag, comm, request);
}

void call_send_init(enum send_mode mode, const struct place *place, int dest, int tag, MPI_Comm comm,
                    MPI_Request *request, struct rng *rng)
{
    typedef int function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    static function *const functions[SEND_MODE_COUNT] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init,
                                                         MPI_Rsend_init};
#if HAS_LARGE_COUNTS
    typedef int large_function(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    static large_function *const large[SEND_MODE_COUNT] = {MPI_Send_init_c, MPI_Ssend_init_c,
                                                           MPI_Bsend_init_c, MPI_Rsend_init_c};
    if (is_large(rng)) {
        large[mode](place->address, place->count, place->type, dest, tag, comm, request);
        return;
    }
#endif
    (void)rng;
    functions[mode](place->address, place->count, place->type, dest, tag, comm, request);
}

void call_receive(const struct place *place, int source, int tag, MPI_Comm comm, MPI_Request *request,
                  struct rng *rng)
{
#if HAS_LARGE_COUNTS
    if (is_large(rng)) {
        MPI_Irecv_c(place->address, place->count, place->type, source, tag, comm, request);
        return;
    }
#endif
    (void)rng;
    MPI_Irecv(place->address, place->count, place->type, source, tag, comm, request);
}

void call_receive_init(const struct place *place, int source, int tag, MPI_Comm comm, MPI_Request *request,
                       struct rng *rng)
{
#if HAS_LARGE_COUNTS
    if (is_large(rng)) {
        MPI_Recv_init_c(place->address, place->count, place->type, source, tag, comm, request);
        return;
    }
#endif
    (void)rng;
    MPI_Recv_init(place->address, place->count, place->type, source, tag, comm, request);
}
