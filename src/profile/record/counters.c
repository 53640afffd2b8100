#include "profile/record/counters.h"

struct hw_counters hw_counters;
