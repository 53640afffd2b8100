/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/record/lock.h"

pthread_mutex_t hw_profile_mutex = PTHREAD_MUTEX_INITIALIZER;
