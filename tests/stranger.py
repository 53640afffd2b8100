# SPDX-License-Identifier: BSD-3-Clause
"""Run as another user than a job's: tries what it must not be able to do, and prints what worked.

stranger.py PID...: reads, signals and wakes processes of the job. Nothing but the standard library,
and run by the system's Python: another user may not reach the tests' own.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

FLOOD_S = 1.0

LIBC = ctypes.CDLL(None, use_errno=True)


def has_worked(deed: Callable[[], object]) -> bool:
    try:
        deed()
    except OSError:
        return False
    return True


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


def look_into(pid: int) -> None:
    """Memory of the process, by the call for it."""
    room = ctypes.create_string_buffer(1)
    own = Piece(ctypes.cast(room, ctypes.c_void_p).value, 1)
    theirs = Piece(1 << 16, 1)
    if LIBC.process_vm_readv(pid, ctypes.byref(own), 1, ctypes.byref(theirs), 1, 0) < 0:
        if ctypes.get_errno() == 14:  # EFAULT: allowed, but nothing is there
            return
        raise OSError(ctypes.get_errno(), "process_vm_readv")


def try_process(pid: int) -> list[str]:
    folder = Path(f"/proc/{pid}")
    deeds: dict[str, Callable[[], object]] = {
        "environment": lambda: (folder / "environ").read_bytes(),
        "mappings": lambda: (folder / "maps").read_text(),
        "memory": lambda: (folder / "mem").open("rb"),
        "descriptors": lambda: os.listdir(folder / "fd"),
        "call": lambda: look_into(pid),
        "signal": lambda: os.kill(pid, signal.SIGTERM),
    }
    for number in range(64):
        path = folder / "fd" / str(number)
        deeds[f"descriptor {number}"] = lambda path=path: os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    return [f"{what} of {pid}" for what, deed in deeds.items() if has_worked(deed)]


def flood() -> None:
    """Every abstract datagram socket of the machine."""
    lines = Path("/proc/net/unix").read_text(errors="replace").splitlines()[1:]
    rows = [line.split() for line in lines]
    names = [row[7] for row in rows if len(row) > 7 and row[7].startswith("@") and row[4] == "0002"]
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.setblocking(False)
    end = time.monotonic() + FLOOD_S
    while time.monotonic() < end:
        for name in names:
            has_worked(lambda name=name: sender.sendto(b"x" * 64, "\0" + name[1:]))


def main() -> None:
    for pid in map(int, sys.argv[1:]):
        for what in try_process(pid):
            print(what)
    flood()
    print("done")


main()
