/* SPDX-License-Identifier: BSD-3-Clause */
/* Each atomic operation has its order in its name, so that every order is greppable; tools/lint_rules.py
 * allows no other in src/. The object is a C11 `_Atomic` variable; there are no stand-alone fences between
 * threads (the thread sanitizer cannot see them). Any thread. */
#ifndef HW_BASE_ATOMIC_H
#define HW_BASE_ATOMIC_H

#include <stdatomic.h>

#define hw_atomic_load_relaxed(object) atomic_load_explicit((object), memory_order_relaxed)
#define hw_atomic_load_acquire(object) atomic_load_explicit((object), memory_order_acquire)
#define hw_atomic_load_seq_cst(object) atomic_load_explicit((object), memory_order_seq_cst)

#define hw_atomic_store_relaxed(object, value) atomic_store_explicit((object), (value), memory_order_relaxed)
#define hw_atomic_store_release(object, value) atomic_store_explicit((object), (value), memory_order_release)
#define hw_atomic_store_seq_cst(object, value) atomic_store_explicit((object), (value), memory_order_seq_cst)

/* Of an object that is not ours to declare: others know it as a plain one. */
#define hw_atomic_foreign_store_relaxed(object, value) __atomic_store_n((object), (value), __ATOMIC_RELAXED)
#define hw_atomic_foreign_store_release(object, value) __atomic_store_n((object), (value), __ATOMIC_RELEASE)

/* Keeps the compiler from moving accesses across; between a thread and its own signal handlers, or where
 * membarrier(2) gives the other half. */
#define hw_atomic_compiler_fence() atomic_signal_fence(memory_order_seq_cst)

/* All of these return the value before the change. */
#define hw_atomic_add_relaxed(object, value)                                                                 \
    atomic_fetch_add_explicit((object), (value), memory_order_relaxed)
#define hw_atomic_add_release(object, value)                                                                 \
    atomic_fetch_add_explicit((object), (value), memory_order_release)
#define hw_atomic_add_acq_rel(object, value)                                                                 \
    atomic_fetch_add_explicit((object), (value), memory_order_acq_rel)
#define hw_atomic_add_seq_cst(object, value)                                                                 \
    atomic_fetch_add_explicit((object), (value), memory_order_seq_cst)
#define hw_atomic_sub_relaxed(object, value)                                                                 \
    atomic_fetch_sub_explicit((object), (value), memory_order_relaxed)
#define hw_atomic_sub_acq_rel(object, value)                                                                 \
    atomic_fetch_sub_explicit((object), (value), memory_order_acq_rel)
#define hw_atomic_sub_seq_cst(object, value)                                                                 \
    atomic_fetch_sub_explicit((object), (value), memory_order_seq_cst)
#define hw_atomic_or_relaxed(object, value) atomic_fetch_or_explicit((object), (value), memory_order_relaxed)
#define hw_atomic_or_seq_cst(object, value) atomic_fetch_or_explicit((object), (value), memory_order_seq_cst)
#define hw_atomic_and_relaxed(object, value)                                                                 \
    atomic_fetch_and_explicit((object), (value), memory_order_relaxed)
#define hw_atomic_and_seq_cst(object, value)                                                                 \
    atomic_fetch_and_explicit((object), (value), memory_order_seq_cst)
#define hw_atomic_exchange_relaxed(object, value)                                                            \
    atomic_exchange_explicit((object), (value), memory_order_relaxed)
#define hw_atomic_exchange_acquire(object, value)                                                            \
    atomic_exchange_explicit((object), (value), memory_order_acquire)
#define hw_atomic_exchange_release(object, value)                                                            \
    atomic_exchange_explicit((object), (value), memory_order_release)
#define hw_atomic_exchange_acq_rel(object, value)                                                            \
    atomic_exchange_explicit((object), (value), memory_order_acq_rel)
#define hw_atomic_exchange_seq_cst(object, value)                                                            \
    atomic_exchange_explicit((object), (value), memory_order_seq_cst)

/* Of an atomic_flag. */
#define hw_atomic_flag_set_relaxed(flag) atomic_flag_test_and_set_explicit((flag), memory_order_relaxed)

/* True on success; on failure *expected receives what was found (read with acquire; of the one with release,
 * relaxed). */
#define hw_atomic_compare_exchange_acq_rel(object, expected, desired)                                        \
    atomic_compare_exchange_strong_explicit((object), (expected), (desired), memory_order_acq_rel,           \
                                            memory_order_acquire)
#define hw_atomic_compare_exchange_release(object, expected, desired)                                        \
    atomic_compare_exchange_strong_explicit((object), (expected), (desired), memory_order_release,           \
                                            memory_order_relaxed)
#define hw_atomic_compare_exchange_seq_cst(object, expected, desired)                                        \
    atomic_compare_exchange_strong_explicit((object), (expected), (desired), memory_order_seq_cst,           \
                                            memory_order_seq_cst)

#endif
