# SPDX-License-Identifier: BSD-3-Clause
"""Calls that make a request: what stands before and after the real call."""

from __future__ import annotations

from mpi_header import Function, Prototype

AROUND = """\
/* Around a call that makes a request. MPICH 5 returns MPI_SUCCESS after an error handler of the
 * program, too: what is in the program's variable then is no request to follow. What the MPI
 * refuses with an error leaves there what was in it. */
static inline MPI_Request hw_real_no_request(MPI_Request *request)
{
    MPI_Request before = (MPI_Request)0;
#if HW_ABI_OPEN_MPI
    (void)request;
#else
    if (request) {
        before = *request;
        *request = MPI_REQUEST_NULL;
    }
#endif
    return before;
}

static inline int hw_real_requested(int rc, MPI_Request *request, MPI_Request before)
{
#if HW_ABI_OPEN_MPI
    (void)request, (void)before;
#else
    if (__builtin_expect(rc != MPI_SUCCESS, 0) && request && *request == MPI_REQUEST_NULL)
        *request = before;
#endif
    return rc;
}

/* After both: whether there is a request. */
static inline bool hw_real_is_made(int rc, const MPI_Request *request)
{
    bool is_made = rc == MPI_SUCCESS && request != NULL;
#if !HW_ABI_OPEN_MPI
    is_made = is_made && *request != MPI_REQUEST_NULL;
#endif
    return __builtin_expect(is_made, 1);
}
"""


def made(p: Prototype, function: Function) -> str:
    """The parameter for the request that a call makes which is followed; empty: none."""
    last = p.parameters[-1] if p.parameters else None
    if last is None or last.type != "MPI_Request *" or function.only_known:
        return ""
    return last.name if function.kind in ("hook", "posted") else ""


def before(p: Prototype, function: Function) -> str:
    """Before a call that makes a request which is followed."""
    name = made(p, function)
    return f"    MPI_Request before = hw_real_no_request({name});\n" if name else ""
