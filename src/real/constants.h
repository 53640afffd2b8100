/* SPDX-License-Identifier: BSD-3-Clause */
/* HW_X stands for MPI's constant MPI_X in a library that does not link MPI.
 *
 * Open MPI's predefined handles are addresses of its own variables: naming one would leave an undefined
 * data symbol in our library. They are looked up once and kept here. MPICH's are plain numbers. Code
 * outside src/real uses HW_X for every predefined handle and sentinel, never MPI_X. Valid after
 * hw_real_load, that is in any code reached from an entry point. */
#ifndef HW_REAL_CONSTANTS_H
#define HW_REAL_CONSTANTS_H

#include "base/visibility.h"
#include "real/real.h"

#if HW_ABI_OPEN_MPI

struct hw_real_constants {
    MPI_Comm comm_world, comm_self, comm_null;
    MPI_Group group_null;
    MPI_Request request_null;
    MPI_Message message_null, message_no_proc;
    MPI_Win win_null;
    MPI_Info info_null, info_env;
    MPI_Datatype datatype_null, byte, char_, int_, double_, uint64, packed;
    MPI_Op max, min, sum, no_op;
    MPI_Errhandler errors_return, errors_are_fatal;
};
extern HW_HIDDEN struct hw_real_constants hw_real_constants;

#define HW_COMM_WORLD (hw_real_constants.comm_world)
#define HW_COMM_SELF (hw_real_constants.comm_self)
#define HW_COMM_NULL (hw_real_constants.comm_null)
#define HW_GROUP_NULL (hw_real_constants.group_null)
#define HW_REQUEST_NULL (hw_real_constants.request_null)
#define HW_MESSAGE_NULL (hw_real_constants.message_null)
#define HW_MESSAGE_NO_PROC (hw_real_constants.message_no_proc)
#define HW_WIN_NULL (hw_real_constants.win_null)
#define HW_INFO_NULL (hw_real_constants.info_null)
#define HW_INFO_ENV (hw_real_constants.info_env)
#define HW_DATATYPE_NULL (hw_real_constants.datatype_null)
#define HW_BYTE (hw_real_constants.byte)
#define HW_CHAR (hw_real_constants.char_)
#define HW_INT (hw_real_constants.int_)
#define HW_DOUBLE (hw_real_constants.double_)
#define HW_UINT64_T (hw_real_constants.uint64)
#define HW_PACKED (hw_real_constants.packed)
#define HW_MAX (hw_real_constants.max)
#define HW_MIN (hw_real_constants.min)
#define HW_SUM (hw_real_constants.sum)
#define HW_NO_OP (hw_real_constants.no_op)
#define HW_ERRORS_RETURN (hw_real_constants.errors_return)
#define HW_ERRORS_ARE_FATAL (hw_real_constants.errors_are_fatal)

#else

#define HW_COMM_WORLD MPI_COMM_WORLD
#define HW_COMM_SELF MPI_COMM_SELF
#define HW_COMM_NULL MPI_COMM_NULL
#define HW_GROUP_NULL MPI_GROUP_NULL
#define HW_REQUEST_NULL MPI_REQUEST_NULL
#define HW_MESSAGE_NULL MPI_MESSAGE_NULL
#define HW_MESSAGE_NO_PROC MPI_MESSAGE_NO_PROC
#define HW_WIN_NULL MPI_WIN_NULL
#define HW_INFO_NULL MPI_INFO_NULL
#define HW_INFO_ENV MPI_INFO_ENV
#define HW_DATATYPE_NULL MPI_DATATYPE_NULL
#define HW_BYTE MPI_BYTE
#define HW_CHAR MPI_CHAR
#define HW_INT MPI_INT
#define HW_DOUBLE MPI_DOUBLE
#define HW_UINT64_T MPI_UINT64_T
#define HW_PACKED MPI_PACKED
#define HW_MAX MPI_MAX
#define HW_MIN MPI_MIN
#define HW_SUM MPI_SUM
#define HW_NO_OP MPI_NO_OP
#define HW_ERRORS_RETURN MPI_ERRORS_RETURN
#define HW_ERRORS_ARE_FATAL MPI_ERRORS_ARE_FATAL

#endif

/* Numbers and casts in every MPI. */
#define HW_STATUS_IGNORE MPI_STATUS_IGNORE
#define HW_STATUSES_IGNORE MPI_STATUSES_IGNORE
#define HW_ANY_SOURCE MPI_ANY_SOURCE
#define HW_ANY_TAG MPI_ANY_TAG
#define HW_PROC_NULL MPI_PROC_NULL
#define HW_UNDEFINED MPI_UNDEFINED
#define HW_IN_PLACE MPI_IN_PLACE
#define HW_THREAD_SINGLE MPI_THREAD_SINGLE
#define HW_THREAD_FUNNELED MPI_THREAD_FUNNELED
#define HW_THREAD_SERIALIZED MPI_THREAD_SERIALIZED
#define HW_THREAD_MULTIPLE MPI_THREAD_MULTIPLE

/* Fills hw_real_constants from the MPI at `handle` (dlopen). False after one line if one is not there. */
bool hw_real_constants_load(void *handle);

#endif
