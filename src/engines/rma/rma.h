/* Ghosts for one-sided communication (Casper: papers/002 section 3, papers/004 section III).
 *
 * The memory of a redirected window is shared by its user processes and the ghosts of their node. Its shadow
 * window is a real one over user processes and ghosts, common to most windows (common.h) or its own, on which
 * every user process keeps a passive epoch open from beginning to end; an operation on a target is the same
 * operation on the target's ghost, at the target's place in the node's memory. The program's epochs (fence,
 * PSCW, locks) are kept by us: fences are barriers, PSCW are messages, locks are kept by the target's ghost.
 * doc/adr/0007.
 *
 * For what engines are asked (calls.h). Any thread of a user process, inside a hook; every function returns
 * an MPI error code, already raised at the handler it belongs to. */
#ifndef HW_ENGINES_RMA_RMA_H
#define HW_ENGINES_RMA_RMA_H

#include "base/status.h"
#include "engines/rma/window/facts.h"
#include "engines/rma/window/table.h"
#include "engines/rma/window/window.h"
#include "real/real.h"

/* In every process, where there are to be ghosts, before the real MPI_Init*: registers the service of ghosts
 * (ghost/service.h). */
void hw_rma_prepare(void);

/* Windows (MPI-4.1 section 12.2). HW_DECLINED: the real call must be made, by all processes; nothing was
 * raised. Otherwise *rc is what the program gets. `flavor`: MPI_WIN_FLAVOR_ALLOCATE or MPI_WIN_FLAVOR_SHARED.
 */
enum hw_status hw_rma_window_allocate(int flavor, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                      MPI_Comm comm, void *baseptr, MPI_Win *win, int *rc);
/* Likewise; declined too where some process's memory is none of ours (hw_arena_find). */
enum hw_status hw_rma_window_create(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
                                    MPI_Comm comm, MPI_Win *win, int *rc);
enum hw_status hw_rma_window_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win, int *rc);
int hw_rma_window_free(struct hw_rma_window *window, MPI_Win *win);
/* One more (1) or less (-1) window that is the MPI's own. */
void hw_rma_count_declined(int change);
/* The user processes; the program frees the group. */
int hw_rma_window_group(const struct hw_rma_window *window, MPI_Group *group);
/* Turns a user process's rank into the real window, and the rank in it, where MPI_Win_shared_query shows its
 * memory as the program gave it. MPI_PROC_NULL means the first with memory; wrong ranks stay wrong. Returns
 * where in this process the memory is, with its size and unit, if it is reached from here and no MPI knows.
 */
char *hw_rma_window_memory(const struct hw_rma_window *window, MPI_Win *win, int *rank, MPI_Aint *size,
                           MPI_Aint *disp_unit);
/* Local: the program reads back the hints that the real window or it itself gave. */
int hw_rma_window_set_info(struct hw_rma_window *window, MPI_Info info);
int hw_rma_window_get_info(struct hw_rma_window *window, MPI_Info *info);

/* Epochs (MPI-4.1 section 12.5). */
int hw_rma_fence(struct hw_rma_window *window, int assertion);
int hw_rma_post(struct hw_rma_window *window, MPI_Group group, int assertion);
int hw_rma_start_access(struct hw_rma_window *window, MPI_Group group, int assertion);
int hw_rma_complete(struct hw_rma_window *window);
int hw_rma_wait(struct hw_rma_window *window);
int hw_rma_test(struct hw_rma_window *window, int *flag);
int hw_rma_lock(struct hw_rma_window *window, int lock_type, int rank, int assertion);
int hw_rma_unlock(struct hw_rma_window *window, int rank);
int hw_rma_lock_all(struct hw_rma_window *window, int assertion);
int hw_rma_unlock_all(struct hw_rma_window *window);
int hw_rma_flush(struct hw_rma_window *window, int rank);
int hw_rma_flush_local(struct hw_rma_window *window, int rank);
int hw_rma_flush_all(struct hw_rma_window *window);
int hw_rma_flush_local_all(struct hw_rma_window *window);
int hw_rma_sync(struct hw_rma_window *window);

#endif
