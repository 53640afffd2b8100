/* SPDX-License-Identifier: BSD-3-Clause */
/* What a datatype was made of (MPI-4.1 section 5.1.13), by whichever of its constructors, large counts
 * included. Any thread; local. `datatype` must be valid. */
#ifndef HW_OBJECTS_DATATYPE_CONTENTS_H
#define HW_OBJECTS_DATATYPE_CONTENTS_H

#include "real/real.h"

#include <stdbool.h>

struct hw_datatype_contents {
    int combiner;
    MPI_Count number_count;
    MPI_Count *numbers; /* the constructor's counts, lengths and places, in the order of its arguments */
    MPI_Count int_count;
    int *ints;       /* of numbers, those that are int even where counts are large */
    MPI_Count count; /* of inner; 0: basic */
    MPI_Datatype *inner;
};

/* How many arguments of each kind the constructor had; `count` of inner, as above. */
struct hw_datatype_envelope {
    MPI_Count int_count, aint_count, large_count, count;
    int combiner;
};

/* False: MPI does not tell. */
bool hw_datatype_envelope_of(MPI_Datatype datatype, struct hw_datatype_envelope *envelope);

/* What a contiguous datatype, or a duplicate, was made of. False: another one, or MPI does not tell. */
bool hw_datatype_repeated(MPI_Datatype datatype, const struct hw_datatype_envelope *envelope,
                          MPI_Datatype *inner);

/* False if MPI does not tell, or there is no memory. Either way the contents are to be closed. */
bool hw_datatype_contents_open(MPI_Datatype datatype, struct hw_datatype_contents *contents);

/* Does not let go of `inner`: who keeps one releases it later. */
void hw_datatype_contents_close(struct hw_datatype_contents *contents);

/* Lets go of a handle that was in `inner`: derived ones are the caller's. */
void hw_datatype_release(MPI_Datatype datatype);

#endif
