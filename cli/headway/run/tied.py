# SPDX-License-Identifier: BSD-3-Clause
"""What the command starts is killed if the command is, by SIGKILL: nobody who kills the one knows
of the other, and its job would go on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

PR_SET_PDEATHSIG = 1  # prctl(2)


def to_this() -> Callable[[], None] | None:
    """For the new process, before it becomes another program; None where that cannot be had."""
    try:
        import ctypes  # where something is started

        prctl = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    command = os.getpid()

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != command:  # it was killed before
            os.kill(os.getpid(), signal.SIGKILL)

    return tie
