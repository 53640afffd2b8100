/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of Headway report by this enum, never by an MPI error code or errno. */
#ifndef HW_BASE_STATUS_H
#define HW_BASE_STATUS_H

enum hw_status {
    HW_OK = 0,
    HW_DECLINED,  /* an engine says "not me"; the caller runs the real call */
    HW_AGAIN,     /* nothing to do now, or not yet known */
    HW_NOMEM,     /* a resource could not be had; the feature stays off */
    HW_PEER_LOST, /* another process of ours is gone */
    HW_MPI,       /* the real MPI returned an error */
    HW_BAD_INPUT, /* an option or its environment is wrong; one line was printed */
};

#endif
