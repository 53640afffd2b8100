# SPDX-License-Identifier: BSD-3-Clause
"""What finds MPI libraries and programs of them, and starts jobs."""
