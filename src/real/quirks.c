#include "real/quirks.h"

#include "real/detect.h"

#include <stdlib.h>
#include <string.h>

static bool is_on_one_node(void)
{
    const char *ranks = getenv("PMI_SIZE");
    const char *local_ranks = getenv("MPI_LOCALNRANKS");
    return !getenv("MPIR_CVAR_NOLOCAL") && ranks && local_ranks && strcmp(ranks, local_ranks) == 0;
}

bool hw_real_needs_quiescence(void)
{
    static const char mpich[] = "MPICH Version:";
    const char *version = hw_real_detect_version();
    if (strncmp(version, mpich, sizeof mpich - 1) != 0)
        return false;
    version += sizeof mpich - 1;
    return strncmp(version + strspn(version, " \t"), "4.0", 3) == 0 && !is_on_one_node();
}
