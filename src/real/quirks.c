/* SPDX-License-Identifier: BSD-3-Clause */
#include "real/quirks.h"

#include "real/constants.h"
#include "real/detect.h"

#include <stdlib.h>
#include <string.h>

/* What MPICH says of its version, from the number on; NULL for another MPI. */
static const char *mpich_version(void)
{
    static const char mpich[] = "MPICH Version:";
    const char *version = hw_real_detect_version();
    if (strncmp(version, mpich, sizeof mpich - 1) != 0)
        return NULL;
    version += sizeof mpich - 1;
    return version + strspn(version, " \t");
}

static bool is_mpich(const char *beginning)
{
    const char *version = mpich_version();
    return version && strncmp(version, beginning, strlen(beginning)) == 0;
}

static bool is_mpich_4_0(void) { return is_mpich("4.0"); }
static bool is_mpich_5(void) { return is_mpich("5."); }

static bool is_intel(void)
{
    static const char intel[] = "Intel(R) MPI Library";
    return strncmp(hw_real_detect_version(), intel, sizeof intel - 1) == 0;
}

bool hw_real_hides_refusals(void) { return is_mpich_5(); }
bool hw_real_raises_requests_at_world(void) { return is_mpich_4_0(); }
bool hw_real_raises_at_world(void) { return is_mpich_4_0() || is_intel(); }

bool hw_real_confuses_windows(void)
{
    const char *is_native = getenv("MPIR_CVAR_CH4_OFI_ENABLE_RMA");
    return is_intel() && !(is_native && strcmp(is_native, "0") == 0);
}

bool hw_real_loses_errors_of_persistent(void)
{
    static const char open_mpi_4[] = "Open MPI v4.";
    return strncmp(hw_real_detect_version(), open_mpi_4, sizeof open_mpi_4 - 1) == 0;
}

void hw_real_make_room_for_accumulates(void)
{
#if HW_ABI_OPEN_MPI
    setenv("OMPI_MCA_osc_rdma_buffer_size", "16777216", 0);
#endif
}

/* libfabric's tcp: how much it reads ahead (cli/headway/mpi/transport.py). */
static const char read_ahead[] = "FI_TCP_PREFETCH_RBUF_SIZE";

bool hw_real_may_be_told_of_directions(void) { return is_intel() && getenv(read_ahead) == NULL; }
void hw_real_tell_of_directions(void) { setenv(read_ahead, "48", 0); }

bool hw_real_takes_dense(void)
{
#if HW_ABI_OPEN_MPI
    return true;
#else
    return is_mpich_5() || is_intel();
#endif
}

bool hw_real_answers_hold_up(void) { return HW_ABI_OPEN_MPI || !(is_mpich_5() || is_intel()); }

bool hw_real_asking_keeps_status(void) { return !HW_REAL_ASKING_ENDS || is_mpich_4_0() || is_mpich("4.1"); }

bool hw_real_takes_parts(void) { return !is_mpich_5(); }

bool hw_real_takes_dense_matched(void) { return !is_mpich_5(); }

bool hw_real_ends_gets_early(void) { return is_mpich_4_0(); }

bool hw_real_gains_by_sleep(void) { return is_mpich_5(); }

bool hw_real_polls_node_first(void) { return is_mpich_5(); }

bool hw_real_ends_without_dead(void) { return hw_real_flavour_built() == HW_REAL_FLAVOUR_OMPI; }

bool hw_real_is_cancelled(const MPI_Status *status)
{
    int is_cancelled = 0, bytes = 0;
    hw_bottom.Test_cancelled(status, &is_cancelled);
    if (!is_cancelled)
        return false;
    return hw_bottom.Get_count(status, HW_BYTE, &bytes) != MPI_SUCCESS || bytes <= 0; /* or MPI_UNDEFINED */
}
