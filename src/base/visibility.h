/* SPDX-License-Identifier: BSD-3-Clause */
/* HW_HIDDEN marks every variable that other files use: -fvisibility=hidden is about definitions alone, so
 * without this an access goes through the global offset table (one more instruction in each of a thousand
 * entries). */
#ifndef HW_BASE_VISIBILITY_H
#define HW_BASE_VISIBILITY_H

#define HW_HIDDEN __attribute__((visibility("hidden")))

/* For a large table of which most programs touch little or nothing: behind all other variables, which then
 * share fewer pages. Zero at the start. Elsewhere than on x86-64 no section name means this everywhere. */
#ifdef __x86_64__
#define HW_SPARSE __attribute__((section(".lbss.sparse")))
#else
#define HW_SPARSE
#endif

#endif
