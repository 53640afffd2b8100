/* SPDX-License-Identifier: BSD-3-Clause */
/* The classes of windows of overlap, by the operation that opens them. Sending and receiving lose differently
 * by waiting, so a program that does them in turns has a class for each. What is under way from one window to
 * the next has one, too. The caller serialises what it does with them. */
#ifndef HW_ENGINES_THREAD_CLASSES_H
#define HW_ENGINES_THREAD_CLASSES_H

#include "objects/request.h"
#include "policy/policy.h"

#include <stdint.h>

/* How a window begins. */
enum hw_beginning {
    HW_BEGINNING_SEND,
    HW_BEGINNING_RECEIVE,
    HW_BEGINNING_UNDER_WAY, /* either, while an earlier window's operations are outstanding */
    HW_BEGINNING_COUNT
};

/* One for each power of two of the operation's bytes. */
struct hw_policy_class *hw_classes_find(enum hw_beginning beginning, enum hw_request_kind kind,
                                        uint64_t bytes);

#endif
