/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows of all user processes that no threads use share their communicator and are told apart by a number,
 * for the tags of their messages. All processes make and free them in the same order, so each finds the same
 * one. One thread at a time. */
#ifndef HW_ENGINES_RMA_WINDOW_NUMBERS_H
#define HW_ENGINES_RMA_WINDOW_NUMBERS_H

/* Below HW_RMA_NUMBER_COUNT; -1: there is none left. */
int hw_rma_number_take(void);
void hw_rma_number_give(int number);

#endif
