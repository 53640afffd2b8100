/* What this process's TCP connections have carried, as the kernel counts it: whether data moved while the
 * program computed or only while it waited is seen there, whatever the MPI does. */
#ifndef HW_PROGRESS_WIRE_H
#define HW_PROGRESS_WIRE_H

#include "profile/calls.h"

/* Sums over the connections to other processes; about 1 us each. False where there are none, or too many.
 * Connections made after the last look with is_first are not among them. The caller serialises. */
bool hw_wire_read(struct hw_profile_wire *wire, bool is_first);

#endif
