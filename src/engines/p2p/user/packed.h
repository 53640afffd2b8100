/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing and unpacking of whole buffers by the MPI, of any size. Threads of the program, inside a hook. */
#ifndef HW_ENGINES_P2P_USER_PACKED_H
#define HW_ENGINES_P2P_USER_PACKED_H

#include "engines/p2p/user/sealed.h"

void hw_p2p_pack(const struct hw_p2p_part *part, void *packed);
/* `bytes`: of the packed data, which may be less than the buffer takes. */
void hw_p2p_unpack(const struct hw_p2p_part *part, void *packed, uint64_t bytes);

#endif
