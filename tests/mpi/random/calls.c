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

typedef int send_function(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int large_send_function(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int receive_function(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
typedef int large_receive_function(void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

struct send_forms {
    send_function *usual;
    large_send_function *large;
};

struct receive_forms {
    receive_function *usual;
    large_receive_function *large;
};

#if HAS_LARGE_COUNTS
#define FORMS(name)                                                                                          \
    {                                                                                                        \
        name, name##_c                                                                                       \
    }
#else
#define FORMS(name)                                                                                          \
    {                                                                                                        \
        name, NULL                                                                                           \
    }
#endif

static bool is_large(struct rng *rng) { return HAS_LARGE_COUNTS && rng_chance(rng, 30); }

static void post_send(const struct send_forms *forms, const struct place *place, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request, struct rng *rng)
{
    if (is_large(rng))
        forms->large(place->address, place->count, place->type, dest, tag, comm, request);
    else
        forms->usual(place->address, place->count, place->type, dest, tag, comm, request);
}

static void post_receive(const struct receive_forms *forms, const struct place *place, int source, int tag,
                         MPI_Comm comm, MPI_Request *request, struct rng *rng)
{
    if (is_large(rng))
        forms->large(place->address, place->count, place->type, source, tag, comm, request);
    else
        forms->usual(place->address, place->count, place->type, source, tag, comm, request);
}

void call_send(enum send_mode mode, const struct place *place, int dest, int tag, MPI_Comm comm,
               MPI_Request *request, struct rng *rng)
{
    static const struct send_forms modes[SEND_MODE_COUNT] = {FORMS(MPI_Isend), FORMS(MPI_Issend),
                                                             FORMS(MPI_Ibsend), FORMS(MPI_Irsend)};
    post_send(&modes[mode], place, dest, tag, comm, request, rng);
}

void call_send_init(enum send_mode mode, const struct place *place, int dest, int tag, MPI_Comm comm,
                    MPI_Request *request, struct rng *rng)
{
    static const struct send_forms modes[SEND_MODE_COUNT] = {FORMS(MPI_Send_init), FORMS(MPI_Ssend_init),
                                                             FORMS(MPI_Bsend_init), FORMS(MPI_Rsend_init)};
    post_send(&modes[mode], place, dest, tag, comm, request, rng);
}

void call_receive(const struct place *place, int source, int tag, MPI_Comm comm, MPI_Request *request,
                  struct rng *rng)
{
    static const struct receive_forms forms = FORMS(MPI_Irecv);
    post_receive(&forms, place, source, tag, comm, request, rng);
}

void call_receive_init(const struct place *place, int source, int tag, MPI_Comm comm, MPI_Request *request,
                       struct rng *rng)
{
    static const struct receive_forms forms = FORMS(MPI_Recv_init);
    post_receive(&forms, place, source, tag, comm, request, rng);
}
