#include "profile/record/lock.h"

pthread_mutex_t hw_profile_mutex = PTHREAD_MUTEX_INITIALIZER;
