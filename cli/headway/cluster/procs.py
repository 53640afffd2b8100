# SPDX-License-Identifier: BSD-3-Clause
"""Finding and ending the processes of a cluster, from outside its process namespace."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path


def start_time(pid: int) -> int | None:
    """Clock ticks since boot at which `pid` started: tells a process from a later namesake."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat[stat.rindex(")") + 2 :].split()
    return None if fields[0] == "Z" else int(fields[19])


def namespace(pid: int, kind: str) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return None


def inner_pid(pid: int) -> int | None:
    """The id `pid` has in its own process namespace."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])
    return None


def members(init: int) -> list[int]:
    """Every process in the process namespace whose first process is `init`, `init` included."""
    home = namespace(init, "pid")
    if home is None or home == namespace(os.getpid(), "pid"):
        return []
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and namespace(int(p), "pid") == home]


def kill_found(find: Callable[[], list[int]], patience_s: float) -> int:
    """Kill what `find` finds until it finds nothing: a killed launcher may just have forked.

    Returns how many processes there were at the first look.
    """
    deadline = time.monotonic() + patience_s
    victims = find()
    found = len(victims)
    while victims and time.monotonic() <= deadline:
        for pid in victims:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)
        victims = find()
    return found


def kill_members(init: int, keep: set[int], *, patience_s: float = 5.0) -> int:
    """Kill everything in the cluster but its first process and the inner pids in `keep`."""

    def find() -> list[int]:
        return [
            p
            for p in members(init)
            if p != init and inner_pid(p) not in keep and start_time(p) is not None
        ]

    return kill_found(find, patience_s)


def has_variable(pid: str, variable: bytes) -> bool:
    try:
        return variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def kill_tagged(name: str, value: str, *, patience_s: float = 5.0) -> int:
    """Kill every process started with `name=value` in its environment; returns how many."""
    wanted = os.fsencode(f"{name}={value}")

    def find() -> list[int]:
        return [int(p) for p in os.listdir("/proc") if p.isdigit() and has_variable(p, wanted)]

    return kill_found(find, patience_s)
