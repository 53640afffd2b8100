# SPDX-License-Identifier: BSD-3-Clause
"""Finding and ending the processes of a cluster, from outside its process namespace.

Every process of one run carries the same value of `TAG` in its environment, so that runs which
share a cluster or a machine end their own.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

#: marks every process of a run, so that those which left the process group are found too
TAG = "CLUSTER_RUN_TAG"


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


def programs(init: int, keep: set[int]) -> list[int]:
    """Every living process in the cluster but its first one and the inner pids in `keep`."""
    return [
        p
        for p in members(init)
        if p != init and inner_pid(p) not in keep and start_time(p) is not None
    ]


def kill_members(init: int, keep: set[int], *, patience_s: float = 5.0) -> int:
    """Kill everything in the cluster but its first process and the inner pids in `keep`."""
    return kill_found(lambda: programs(init, keep), patience_s)


def kill_run(init: int, keep: set[int], tag: str, *, patience_s: float = 5.0) -> tuple[int, bool]:
    """Kill what a run left in the cluster: what carries its tag, and unless another run is there
    also what carries none. How many that were, and whether another run was there.

    A process that is just being executed shows no environment for a moment: what carries no tag
    has to be seen twice.
    """
    seen: set[int] = set()
    has_others = False

    def find() -> list[int]:
        nonlocal seen, has_others
        tags = {pid: variable(pid, TAG) for pid in programs(init, keep)}
        is_shared = bool(set(tags.values()) - {tag, ""})
        has_others = has_others or is_shared
        untagged = {pid for pid, found in tags.items() if not found}
        again, seen = untagged & seen, untagged
        return [
            pid for pid, found in tags.items() if found == tag or (not is_shared and pid in again)
        ]

    find()
    if seen and not has_others:
        time.sleep(0.01)
    return kill_found(find, patience_s), has_others


def variable(pid: int, name: str) -> str:
    """Of a process's environment as it was started; nothing where it has none."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    start = os.fsencode(f"{name}=")
    return next((os.fsdecode(word[len(start) :]) for word in words if word.startswith(start)), "")


def kill_tagged(name: str, value: str, *, patience_s: float = 5.0) -> int:
    """Kill every process started with `name=value` in its environment; returns how many."""

    def find() -> list[int]:
        pids = [int(p) for p in os.listdir("/proc") if p.isdigit()]
        return [pid for pid in pids if variable(pid, name) == value]

    return kill_found(find, patience_s)
