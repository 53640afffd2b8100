/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HW_REAL_END_JOB_H
#define HW_REAL_END_JOB_H

/* Ends the job after an error of ours, of which the log has told. Any thread; the MPI is initialized. */
_Noreturn void hw_real_end_job(int code);

#endif
