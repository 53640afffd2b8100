/* Windows that ghosts serve, where entry points must know them before they call a hook or the MPI. Also asked
 * when MPI calls itself: the program's own callbacks run there. Any thread. */
#ifndef HW_MPI_WINDOW_H
#define HW_MPI_WINDOW_H

#include "base/visibility.h"
#include "real/real.h"

#include <stdbool.h>

/* Turns a window and a rank of the program's into the real ones whose memory it is (MPI_Win_shared_query). */
HW_HIDDEN void hw_win_memory(MPI_Win *win, int *rank);

/* Whether it was such a window, and is free now. */
HW_HIDDEN bool hw_win_free_nested(MPI_Win *win);

/* Whether it is such a window, and the question is answered as if the program had asked outside of MPI. */
HW_HIDDEN bool hw_win_get_attr_nested(MPI_Win win, int keyval, void *value, int *flag);
HW_HIDDEN bool hw_win_get_group_nested(MPI_Win win, MPI_Group *group);

#endif
