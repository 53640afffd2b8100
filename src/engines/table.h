/* SPDX-License-Identifier: BSD-3-Clause */
/* Every engine, in the order in which engines are asked and told. A new one is a folder here and a line
 * below: X(name) is struct hw_engine hw_engine_<name>, which a file of src/engines/<name> defines; packing
 * has three, one-sided communication two. */
#ifndef HW_ENGINES_TABLE_H
#define HW_ENGINES_TABLE_H

/* clang-format off */
#define HW_ENGINE_TABLE(X) \
    X(rma_deferred) \
    X(rma) \
    X(pack) \
    X(p2p) \
    X(coll) \
    X(pack_messages) \
    X(pack_puts) \
    X(helper) \
    X(thread)
/* clang-format on */

#endif
