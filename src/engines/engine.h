/* What every engine fills, and what the hooks in src/mpi call. Engines never include one another. */
#ifndef HW_ENGINES_ENGINE_H
#define HW_ENGINES_ENGINE_H

#include "base/status.h"
#include "base/visibility.h"
#include "objects/request.h"
#include "profile/record.h"

#include <stdbool.h>
#include <stdint.h>

struct hw_engine {
    const char *name;

    /* After the real MPI_Init*, before the program gets control back. `has_world` is false in a program
     * that has only sessions. Anything but HW_OK leaves the engine off; it has logged why. */
    enum hw_status (*start)(bool has_world);

    /* Before the real MPI_Finalize (or at exit). After it returns no thread of the engine calls MPI. */
    void (*stop)(void);

    /* At exit(3) without MPI_Finalize, perhaps from inside MPI: waits a moment for the engine's thread, not
     * for ever, and calls no MPI. */
    void (*abandon)(void);

    /* An operation has been entered in the tracker (posted, or started). is_receive: it only takes what
     * others send. Any thread, inside a hook. */
    void (*posted)(enum hw_request_kind kind, uint64_t bytes, bool is_receive);

    /* A door that held tracked requests is about to return to the program. blocked_ns is the time it took if
     * it is a blocking call, else 0; still_pending counts the requests it held that are not complete. */
    void (*returned)(uint64_t blocked_ns, int still_pending);

    /* A blocking call that is no door is about to return to the program; timed because the engine asked for
     * it (progress/inside.h). Any thread, inside the entry. */
    void (*blocked)(uint64_t began_ns);

    /* The program begins something during which no other thread may make progress on this MPI
     * (real/quirks.h): the engine does nothing any more. Returns after the last poll. */
    void (*retire)(void);

    /* The number of one-sided windows that others may access changed by `change`. */
    void (*exposed)(int change);

    /* While paused the engine makes no MPI call; it returns after the last. What is pending, and what is
     * posted meanwhile, is kept track of, and taken up again afterwards. Any thread, not inside a hook. */
    void (*pause)(bool is_paused);

    /* While somebody listens (progress/listeners.h) the engine makes progress for everything, tracked or not,
     * whatever its policy says. Any thread, not inside a hook. */
    void (*listen)(bool is_listened);

    /* Fills engine, trigger and thread_cpu_ns. */
    void (*describe)(struct hw_record_facts *facts);
};

extern const struct hw_engine hw_engine_thread;

/* The engine in use; NULL while off. Written in MPI_Init* and MPI_Finalize only. */
extern HW_HIDDEN const struct hw_engine *hw_engine_active;

static inline bool hw_engine_is_on(void)
{
    return __atomic_load_n(&hw_engine_active, __ATOMIC_RELAXED) != NULL;
}

#endif
