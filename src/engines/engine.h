/* SPDX-License-Identifier: BSD-3-Clause */
/* What an engine is, and how the hooks in src/mpi, and engines, speak to all of them at once. Engines never
 * include one another; src/mpi includes this file alone of src/engines.
 *
 * An engine is a folder here and a line in table.h, whose order is that of all that follows. It fills the
 * members of struct hw_engine that concern it and leaves the others NULL.
 *
 *   asked   before the real call (struct hw_engine_rma, hw_ask_*): the operation is the engine's, or
 * nobody's, or the next one is asked; where all decline, the hook makes the real call. From a `begin` that
 * was HW_OK until hw_engines_end. told    after it (hw_engines_posted, ...): what is pending now, and what no
 * longer is. From a `start` that was HW_OK until `stop`. What an engine leaves pending of an operation that
 * it took it tells the others itself.
 *
 * Where nobody is asked, or told, a hook pays one load and one branch, or is not even called. doc/adr/0021.
 */
#ifndef HW_ENGINES_ENGINE_H
#define HW_ENGINES_ENGINE_H

#include "base/atomic.h"
#include "base/status.h"
#include "base/visibility.h"
#include "objects/request.h"
#include "profile/record.h"
#include "profile/record/counters.h"
#include "real/real.h"
#include "real/type_size.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* The error handlers of communicators, as far as the program has set them (src/mpi/errors.c). */
enum hw_engine_handler { HW_HANDLER_FATAL, HW_HANDLER_RETURN, HW_HANDLER_OWN };
struct hw_engine_handlers {
    enum hw_engine_handler world, self; /* of MPI_COMM_WORLD and MPI_COMM_SELF */
    bool has_return, has_own;           /* any communicator ever had such a one */
    bool is_changing;                   /* a call that sets one is under way */
};

/* What an engine answers that is asked before the real call: HW_DECLINES, and nothing was done. Or what the
 * program gets: the engine has made the call, or refuses it with an error that it has raised at the handler
 * it belongs to. No MPI has such an error code. */
enum { HW_DECLINES = INT_MIN };

/* Memory of a window, as MPI_Win_shared_query shows it. */
struct hw_engine_place {
    char *memory; /* NULL: what the MPI says */
    MPI_Aint size, disp_unit;
    bool is_nowhere; /* shown as NULL, whatever the MPI says */
};

/* A point-to-point message, as the program posted it. */
struct hw_engine_message {
    MPI_Comm comm;
    int peer, tag;  /* MPI_ANY_SOURCE and MPI_ANY_TAG in receives */
    uint64_t bytes; /* of a receive: at most */
    bool is_receive;
};

/* A number for each process, as the program passes them: of int, or of 64 bits in a _c function. */
struct hw_engine_numbers {
    const void *array;
    bool is_wide;
};
#define HW_ENGINE_NUMBERS(array) ((struct hw_engine_numbers){(array), sizeof *(array) > sizeof(int)})

static inline int64_t hw_engine_number(struct hw_engine_numbers numbers, int at)
{
    return numbers.is_wide ? ((const int64_t *)numbers.array)[at] : ((const int *)numbers.array)[at];
}

enum { HW_ENGINES_MAX = 10 };

/* Of less than so many bytes packed in one call nobody is asked; of such messages perhaps. */
enum { HW_ENGINES_PACK_BYTES = 1024 };

/* The body of hw_ask_<function>, in engine_calls.h: the first answer that is none but HW_DECLINES. */
#define HW_ENGINES_ASK(group, function, ...)                                                                 \
    const struct hw_engine_##group *hw_asked;                                                                \
    for (int hw_i = 0; (hw_asked = hw_atomic_load_acquire(&hw_engines_asked_##group[hw_i])) != NULL; hw_i++) \
        if (hw_asked->function)                                                                              \
            HW_ENGINES_ANSWER(hw_asked->function(__VA_ARGS__));                                              \
    return HW_DECLINES

/* Of an engine that is asked, and wants to know what becomes of what it declines: the answer of those behind
 * it, whose functions are in OWN. */
#define HW_ENGINES_ASK_BEHIND(own, group, function, ...)                                                     \
    ({                                                                                                       \
        const struct hw_engine_##group *hw_asked;                                                            \
        int hw_answer = HW_DECLINES;                                                                         \
        bool hw_is_behind = false;                                                                           \
        for (int hw_i = 0; (hw_asked = hw_atomic_load_acquire(&hw_engines_asked_##group[hw_i])) != NULL &&   \
                           hw_answer == HW_DECLINES;                                                         \
             hw_i++) {                                                                                       \
            if (hw_is_behind && hw_asked->function)                                                          \
                hw_answer = hw_asked->function(__VA_ARGS__);                                                 \
            hw_is_behind = hw_is_behind || hw_asked == (own);                                                \
        }                                                                                                    \
        hw_answer;                                                                                           \
    })

/* Likewise, with both lists of arguments in parentheses. `shared` is a member for several functions: an
 * engine is asked it that has none for this one. */
#define HW_ENGINES_ASK_SHARED(group, function, arguments, shared, shared_arguments)                          \
    const struct hw_engine_##group *hw_asked;                                                                \
    for (int hw_i = 0; (hw_asked = hw_atomic_load_acquire(&hw_engines_asked_##group[hw_i])) != NULL; hw_i++) \
        if (hw_asked->function)                                                                              \
            HW_ENGINES_ANSWER(hw_asked->function arguments);                                                 \
        else if (hw_asked->shared)                                                                           \
            HW_ENGINES_ANSWER(hw_asked->shared shared_arguments);                                            \
    return HW_DECLINES

#define HW_ENGINES_ANSWER(call)                                                                              \
    do {                                                                                                     \
        int hw_rc = (call);                                                                                  \
        if (__builtin_expect(hw_rc != HW_DECLINES, 1))                                                       \
            return hw_rc;                                                                                    \
    } while (0)

#include "engine_calls.h"

struct hw_engine {
    const char *name;

    /* Once, before the real MPI_Init* or MPI_Session_init, in every process: ghosts too. Here an engine adds
     * its service of ghosts (ghost/service.h). */
    void (*prepare)(void);

    /* After each real MPI_Init* and MPI_Session_init, first of all, ghosts too: the program's thread level
     * there. */
    void (*joined)(int level, bool is_session);

    /* In user processes, before the program gets control back from MPI_Init*, services of ghosts are open.
     * HW_OK: from here on it is asked. HW_DECLINED: it has nothing to do. Anything else ends the job; one
     * line has said why. */
    enum hw_status (*begin)(void);

    /* Messages, of any size. Any thread, inside a hook or an entry. */
    const struct hw_engine_p2p *p2p;
    bool is_for_derived; /* it declines messages of basic datatypes, and of less than HW_ENGINES_PACK_BYTES:
                            it may be asked in vain, or not */

    /* Packing and unpacking. Likewise. */
    const struct hw_engine_pack *pack;

    /* One-sided operations, synchronisation and windows. Any thread, inside a hook; of windows also where MPI
     * calls itself: callbacks of the program's run there. */
    const struct hw_engine_rma *rma;
    const struct hw_engine_epoch *epoch;
    const struct hw_engine_window *window;

    /* Collective communication. Any thread, inside an entry. */
    const struct hw_engine_collective *collective;

    /* What gives a communicator its info. Likewise. */
    const struct hw_engine_communicator *communicator;

    /* Whether the window is its own. Then *win and *rank become those of the real window that has the memory.
     * Also where MPI calls itself. */
    bool (*window_place)(MPI_Win *win, int *rank, struct hw_engine_place *place);

    /* One more (1) or less (-1) window that all that were asked have declined. */
    void (*left)(int change);

    /* Before the program gets control back from the first of MPI_Init* and MPI_Session_init. `has_world` is
     * false in a program that has only sessions. Anything but HW_OK leaves the engine off; it has said why.
     * *min_bytes: of the smallest point-to-point message of which it wants to be told. */
    enum hw_status (*start)(bool has_world, uint64_t *min_bytes);

    /* Before the real MPI_Finalize, if it was started. After it returns no thread of the engine calls MPI. */
    void (*stop)(void);

    /* At exit(3) without MPI_Finalize, perhaps from inside MPI: waits a moment for the engine's thread, not
     * for ever, and calls no MPI. */
    void (*abandon)(void);

    /* The program is about to post a message of which the engine will be told, inside the entry; told because
     * the engine times calls (HW_INSIDE_TIMES). */
    void (*posts)(void);

    /* Nothing was posted after all, or nothing of which the engine is told. */
    void (*unposted)(void);

    /* The program has sent a message of so many bytes by a call that blocks and began then, inside the entry,
     * before `blocked`; told because the engine times calls. */
    void (*sent)(uint64_t bytes, uint64_t began_ns);

    /* The program is about to receive a message of at most so many bytes by a call that blocks and has begun
     * then; told like `sent`. */
    void (*receives)(uint64_t bytes, uint64_t began_ns);

    /* An operation has been entered in the tracker (posted, or started). is_receive: it only takes what
     * others send. Any thread, inside a hook. An engine without it is told nothing down to `listen`, but of
     * doors, if it has `returned`. */
    void (*posted)(enum hw_request_kind kind, uint64_t bytes, bool is_receive);

    /* What the operation that is told of next is: a message of its own, from or to another process. Not of
     * those that have no one such message (MPI_Isendrecv, matched receives, starts, packed ones). */
    void (*messaged)(const struct hw_engine_message *message);

    /* A blocking door has taken tracked requests and is about to wait for them, inside the real call.
     * `looked`: or it looks at so many at most, which count as pending meanwhile. */
    void (*waits)(unsigned looked);

    /* A door that held tracked requests is about to return to the program. blocked_ns is the time it took if
     * it is a blocking call, else 0; still_pending counts the requests it held that are not complete. */
    void (*returned)(uint64_t blocked_ns, int still_pending);

    /* The program comes to MPI, by a call that blocks or belongs to an epoch; told because the engine asked
     * for it (HW_INSIDE_PASSES). Any thread, inside the entry, before the real call. */
    void (*passed)(void);

    /* The program is about to leave a call that blocks, belongs to an epoch, or is a door; told because the
     * engine, which is asked, wants it (HW_INSIDE_GOES_*). Any thread, inside the entry,
     * after the real call.
     */
    void (*goes)(void);

    /* The program is about to free a communicator. Any thread, inside the hook. */
    void (*comm_frees)(MPI_Comm comm);

    /* The MPI has refused a nonblocking message that all engines have declined. Any thread, inside the hook.
     */
    void (*refused)(MPI_Count count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm,
                    bool is_receive);

    /* A blocking call that is no door is about to return to the program; timed because the engine asked for
     * it (progress/inside.h). Any thread, inside the entry. */
    void (*blocked)(uint64_t began_ns);

    /* The program begins something during which no other thread may make progress on this MPI
     * (real/quirks.h): the engine does nothing any more. Returns after the last poll. */
    void (*retire)(void);

    /* The number of one-sided windows that others may access changed by `change`. */
    void (*exposed)(int change);

    /* One more thing waits for another process (progress/deferred.h). Any thread, inside a hook. */
    void (*deferred)(void);

    /* While paused the engine makes no MPI call; it returns after the last. What is pending, and what is
     * posted meanwhile, is kept track of, and taken up again afterwards. Any thread, not inside a hook. */
    void (*pause)(bool is_paused);

    /* While somebody listens (progress/listeners.h) the engine makes progress for everything, tracked or not,
     * whatever its policy says. Any thread, not inside a hook. */
    void (*listen)(bool is_listened);

    /* The program has set an error handler of communicators, or is about to. Any thread, inside a hook, one
     * at a time; from the start of the world, also while the engine is off. */
    void (*heard)(const struct hw_engine_handlers *handlers);

    /* Fills what it knows of the record's facts, off or on. */
    void (*describe)(struct hw_record_facts *facts);

    /* One line or more, if the user wants to know what is on (HEADWAY_VERBOSE). */
    void (*say)(void);
};

/* Those that are on and have `posted`; NULL ends them. Written in MPI_Init*, MPI_Finalize and at exit. */
extern HW_HIDDEN _Atomic(const struct hw_engine *) hw_engines_told[HW_ENGINES_MAX + 1];

/* Those that are on and have `returned`. Likewise. */
extern HW_HIDDEN _Atomic(const struct hw_engine *) hw_engines_told_of_doors[HW_ENGINES_MAX + 1];

/* The smallest point-to-point message of which one of them wants to be told; UINT64_MAX while there is none.
 */
extern HW_HIDDEN uint64_t hw_engines_min_bytes;

/* The smallest for which an entry calls its hook: that, or any where engines are asked about all messages. So
 * the size test is the only test a small message meets. */
extern HW_HIDDEN uint64_t hw_engines_hook_bytes;

/* The same of messages of derived datatypes, about which more are asked. UINT64_MAX: it calls none. */
extern HW_HIDDEN uint64_t hw_engines_hook_bytes_derived;

static inline bool hw_engine_is_on(void) { return hw_atomic_load_relaxed(&hw_engines_told[0]) != NULL; }

static inline uint64_t hw_engines_bytes(MPI_Count count, MPI_Datatype type)
{
    return count > 0 ? (uint64_t)count * hw_real_type_size(type) : 0;
}

/* Whether they want to be told of so large a message. */
static inline bool hw_engines_want(MPI_Count count, MPI_Datatype type)
{
    return __builtin_expect(hw_engines_min_bytes != UINT64_MAX, 1) &&
           __builtin_expect(hw_engines_bytes(count, type) >= hw_engines_min_bytes, 0);
}

/* `function` of all of a list, which have it. */
#define HW_ENGINES_TELL_THOSE(list, function, ...)                                                           \
    do {                                                                                                     \
        const struct hw_engine *hw_told;                                                                     \
        for (int hw_i = 0; (hw_told = hw_atomic_load_acquire(&(list)[hw_i])) != NULL; hw_i++)                \
            if (hw_told->function)                                                                           \
                hw_told->function(__VA_ARGS__);                                                              \
    } while (0)
#define HW_ENGINES_TELL(...) HW_ENGINES_TELL_THOSE(hw_engines_told, __VA_ARGS__)

static inline void hw_engines_posted(enum hw_request_kind kind, uint64_t bytes, bool is_receive)
{
    HW_ENGINES_TELL(posted, kind, bytes, is_receive);
}

/* Enters a request that was just posted, and tells of it. */
static inline void hw_engines_post(enum hw_request_kind kind, uint64_t bytes, bool is_receive,
                                   MPI_Request request)
{
    HW_COUNT_ADD(tracked_bytes, bytes);
    if (hw_request_post(request, kind, bytes))
        hw_engines_posted(kind, bytes, is_receive);
}

/* The same of a request-based one-sided operation, while anybody is told. */
static inline void hw_engines_post_rma(MPI_Count count, MPI_Datatype type, MPI_Request request)
{
    if (!hw_engine_is_on())
        return;
    HW_COUNT(tracked_rma);
    hw_engines_post(HW_REQUEST_RMA, hw_engines_bytes(count, type), false, request);
}

/* Tell those that are asked. */
void hw_engines_comm_frees(MPI_Comm comm);
void hw_engines_refused(MPI_Count count, MPI_Datatype datatype, int peer, int tag, MPI_Comm comm,
                        bool is_receive);

static inline void hw_engines_waits(unsigned looked)
{
    HW_ENGINES_TELL_THOSE(hw_engines_told_of_doors, waits, looked);
}

static inline void hw_engines_returned(uint64_t blocked_ns, int still_pending)
{
    HW_ENGINES_TELL_THOSE(hw_engines_told_of_doors, returned, blocked_ns, still_pending);
}

/* What follows comes from MPI_Init*, MPI_Session_init and MPI_Finalize, one thread at a time. */

void hw_engines_prepare(void);
void hw_engines_join(int level, bool is_session);
enum hw_status hw_engines_begin(void);
void hw_engines_start(bool has_world);
/* Fills the facts and stops all. */
void hw_engines_stop(struct hw_record_facts *facts);
void hw_engines_say(void);

/* From an engine that has begun, in MPI_Finalize: it is asked no more. */
void hw_engines_end(const struct hw_engine *engine);

/* From any thread. */

bool hw_engines_window_place(MPI_Win *win, int *rank, struct hw_engine_place *place);
void hw_engines_left(int change);

void hw_engines_pass(void);
void hw_engines_go(void);
/* Before a blocking call, if an engine wants anything of it: when it begins, 0 if nobody wants the time. */
uint64_t hw_engines_block(void);
void hw_engines_blocked(uint64_t began_ns);
void hw_engines_retire(const char *reason);
void hw_engines_exposed(int change);
void hw_engines_deferred(void);
void hw_engines_pause(bool is_paused);
void hw_engines_listen(bool is_listened);
void hw_engines_hear(const struct hw_engine_handlers *handlers);
void hw_engines_describe(struct hw_record_facts *facts);

#endif
