# SPDX-License-Identifier: BSD-3-Clause
"""What the machine is, and keeping a timed launch undisturbed: the lock and the CPU share."""

from __future__ import annotations

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway import private

CGROUP = Path("/sys/fs/cgroup")


def describe() -> dict[str, object]:
    """CPU, cores, memory and kernel of this machine."""
    model = ""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "memory_gib": round(memory_bytes / 2**30, 1),
        "kernel": platform.release(),
        "is_virtual": is_virtual(),
    }


def is_virtual() -> bool:
    return " hypervisor" in Path("/proc/cpuinfo").read_text(encoding="utf-8")


@contextmanager
def timed_section() -> Iterator[None]:
    """Holds the user's lock, so that no other measurement of his runs meanwhile."""
    path = private.made() / "timing"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def cpu_share() -> Iterator[str]:
    """Runs this process and what it starts with a large CPU weight; yields how, or why not.

    Other load then takes a small part of the cores instead of half of them.
    """
    for base, knob, value in (
        (CGROUP, "cpu.weight", "10000"),
        (CGROUP / "cpu", "cpu.shares", "262144"),
    ):
        home = own_group(base)
        group = home / f"headway-bench-{os.getpid()}"
        if not (home / "cgroup.procs").exists():
            continue
        try:
            sweep_groups(home)
            group.mkdir()
            group_enter(group, knob, value)
        except OSError:
            sweep_groups(home)
            continue
        try:
            yield f"{knob}={value}"
        finally:
            (home / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")
            sweep_groups(home)
        return
    yield "not protected from other load: no CPU control group"


def group_enter(group: Path, knob: str, value: str) -> None:
    """Moves this process into GROUP; OSError where the kernel does not offer the knob there."""
    for name, text in ((knob, value), ("cgroup.procs", str(os.getpid()))):
        with open(group / name, "r+", encoding="ascii") as file:  # never creates
            file.write(text)


def own_group(base: Path) -> Path:
    """The control group below BASE this process is in now: version 2, or 1 for the CPU."""
    controllers = {"cpu"} if base != CGROUP else {""}
    for line in Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
        _, names, path = line.split(":", 2)
        if controllers & set(names.split(",")):
            return base / path.lstrip("/")
    return base


def sweep_groups(base: Path) -> None:
    """Removes groups of ours that no process is in any more."""
    for group in base.glob("headway-bench-*"):
        try:
            group.rmdir()
        except OSError:
            continue
