#include "mpi/blocking.h"

#include "engines/engine.h"

__attribute__((cold)) void hw_blocked(uint64_t began_ns)
{
    if (hw_engine_is_on())
        hw_engine_active->blocked(began_ns);
}
