/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the bytes of a message of a datatype with gaps lie: a list that its ghost reads and gathers by, so
 * that the program's core packs nothing. Threads of the program, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_PIECES_H
#define HW_ENGINES_P2P_USER_PIECES_H

#include "engines/p2p/shared/block.h"
#include "real/real.h"

/* Why there will be no list of it, for the record, from what is known, without asking the MPI: NULL if there
 * may be. A datatype that is new here is noted. */
const char *hw_p2p_pieces_refuse(MPI_Count count, MPI_Datatype datatype);

/* The list, of malloc(3), and its length. NULL: *reason why there is none, for the record. */
struct hw_p2p_piece *hw_p2p_pieces_make(const void *buf, MPI_Count count, MPI_Datatype datatype,
                                        int32_t *piece_count, const char **reason);

/* The predefined datatype of which all elements of `datatype` are, and its size; HW_DATATYPE_NULL: there are
 * several. `datatype` must be valid. */
MPI_Datatype hw_p2p_pieces_element(MPI_Datatype datatype, uint64_t *size);

#endif
