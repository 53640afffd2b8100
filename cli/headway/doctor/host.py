# SPDX-License-Identifier: BSD-3-Clause
"""What the machine offers: cores, memory, what one process may do to another, namespaces."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from headway.cluster import Cluster
from headway.doctor.finding import NOTE, OK, PROBLEM, Finding
from headway.errors import HeadwayError

CGROUP = Path("/sys/fs/cgroup")
CLONE_NEWNET = 0x40000000
CLONE_NEWUSER = 0x10000000
MIN_SHARED_MEMORY_BYTES = 64 << 20


def examine() -> list[Finding]:
    return [
        kernel(),
        cores(),
        cpu_limit(),
        numa(),
        shared_memory(),
        locked_memory(),
        hugepages(),
        cross_memory_attach(),
        namespaces(),
    ]


def text_of(path: str | Path) -> str:
    """A file of /proc or /sys, or nothing."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def kernel() -> Finding:
    subject = "system"
    name = f"{platform.system()} {platform.release()}, {platform.machine()}"
    if platform.machine() not in ("x86_64", "amd64"):
        return Finding(NOTE, subject, name, "Headway is tested on x86-64 only")
    clock = text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if clock and clock not in ("tsc", "kvm-clock", "arch_sys_counter"):
        return Finding(NOTE, subject, f"{name}, clock {clock}", "reading the clock is slow with it")
    return Finding(OK, subject, name)


def cores() -> Finding:
    allowed, present = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    text = f"{allowed} of {present} may be used"
    if allowed == 1 < present:
        return Finding(
            NOTE,
            "cores",
            text,
            "this shell (or its cgroup) is bound to one core; the ranks inherit that",
        )
    if allowed == 1:
        return Finding(
            NOTE, "cores", text, "the progress thread shares the core: it gains less than it could"
        )
    return Finding(OK, "cores", text)


def core_count() -> int:
    """Cores this process may use: hardware threads of one are one (src/base/cores.h)."""
    allowed = os.sched_getaffinity(0)
    path = f"/sys/devices/system/cpu/cpu{min(allowed)}/topology/thread_siblings_list"
    siblings: set[int] = set()
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text_of(path)):
        siblings.update(range(int(first), int(last or first) + 1))
    return max(1, len(allowed) // max(1, len(siblings & allowed)))


def cpu_limit() -> Finding:
    """A container's quota: threads beyond it are stopped for the rest of the period."""
    quotas = [found for folder in control_groups() if (found := quota(folder))]
    if not quotas:
        return Finding(OK, "CPU quota", "none")
    share, place = min(quotas)
    return Finding(
        NOTE,
        "CPU quota",
        f"{share:.1f} cores ({place})",
        "with more busy ranks than that, everything stalls now and then",
    )


def control_groups() -> Iterator[Path]:
    """Folders of the groups this process is in that may limit processors, with all above: of
    version 2, and of version 1, where a container sees its own group as the root."""
    for line in text_of("/proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        if names and "cpu" not in names.split(","):
            continue
        for base in (CGROUP / names, CGROUP / "cpu") if names else (CGROUP,):
            folder = base / path.lstrip("/")
            yield from (folder, *(p for p in folder.parents if p.is_relative_to(base)))


def quota(folder: Path) -> tuple[float, Path] | None:
    """Cores that a group may use, and the file that says so."""
    file = folder / "cpu.max"
    words = text_of(file).split()
    if not words:
        file = folder / "cpu.cfs_quota_us"
        words = [text_of(file), text_of(folder / "cpu.cfs_period_us")]
    is_limit = len(words) == 2 and all(word.isdigit() and int(word) for word in words)
    return (int(words[0]) / int(words[1]), file) if is_limit else None


def numa() -> Finding:
    nodes = list(Path("/sys/devices/system/node").glob("node[0-9]*"))
    return Finding(OK, "NUMA nodes", str(len(nodes) or 1))


def shared_memory() -> Finding:
    subject = "/dev/shm"
    try:
        status = os.statvfs("/dev/shm")
    except OSError as error:
        return Finding(PROBLEM, subject, f"not there: {error.strerror}", "MPI needs it on a node")
    free = status.f_bavail * status.f_frsize
    text = f"{free >> 20} MiB free"
    if free < MIN_SHARED_MEMORY_BYTES:
        return Finding(
            NOTE, subject, text, "small: in a container, give it more (--shm-size, --ipc=host)"
        )
    return Finding(OK, subject, text)


def locked_memory() -> Finding:
    match = re.search(r"Max locked memory\s+(\S+)", text_of("/proc/self/limits"))
    limit = match[1] if match else "unknown"
    subject = "locked memory"
    has_fabric = any(Path("/sys/class/infiniband").glob("*"))
    if has_fabric and limit.isdigit() and int(limit) < 64 << 20:
        text = f"at most {int(limit) >> 10} KiB"
        return Finding(NOTE, subject, text, "InfiniBand needs more: ulimit -l unlimited")
    return Finding(OK, subject, f"{int(limit) >> 10} KiB" if limit.isdigit() else limit)


def hugepages() -> Finding:
    reserved = re.search(r"HugePages_Total:\s+(\d+)", text_of("/proc/meminfo"))
    mode = re.search(r"\[(\w+)\]", text_of("/sys/kernel/mm/transparent_hugepage/enabled"))
    return Finding(
        OK,
        "huge pages",
        f"{reserved[1] if reserved else 0} reserved, transparent: {mode[1] if mode else 'no'}",
    )


def cross_memory_attach() -> Finding:
    """Tried, not inferred: may a process read the memory of one that is not its child?"""
    scope = text_of("/proc/sys/kernel/yama/ptrace_scope")
    said = f"ptrace_scope {scope}" if scope else "no ptrace_scope"
    error = read_parent()
    subject = "cross-memory attach"
    if error == 0:
        return Finding(OK, subject, f"works ({said})")
    return Finding(
        NOTE,
        subject,
        f"refused: {os.strerror(error)} ({said})",
        "on-node messages of MPI are copied twice; sysctl kernel.yama.ptrace_scope=0, or the "
        "container's CAP_SYS_PTRACE",
    )


def read_parent() -> int:
    """In a child: process_vm_readv from this process. The error number; 0 if it worked."""

    class Piece(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    libc = ctypes.CDLL(None, use_errno=True)
    source, target = ctypes.create_string_buffer(b"attach", 8), ctypes.create_string_buffer(8)
    here, there = Piece(ctypes.addressof(target), 8), Piece(ctypes.addressof(source), 8)
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        got = libc.process_vm_readv(parent, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        os._exit(0 if got == 8 and target.raw == source.raw else min(ctypes.get_errno() or 1, 255))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def namespaces() -> Finding:
    """For the test cluster only: network namespaces, as root or in a user namespace."""
    subject = "namespaces"
    flags = CLONE_NEWNET if os.geteuid() == 0 else CLONE_NEWUSER | CLONE_NEWNET
    child = os.fork()
    if child == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        os._exit(0 if libc.unshare(ctypes.c_int(flags)) == 0 else 1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        return Finding(
            NOTE,
            subject,
            "cannot be made",
            "no test cluster here (headway cluster): root, or sysctl user.max_user_namespaces",
        )
    missing = [tool for tool in ("ip", "tc", "nsenter", "taskset") if not has_command(tool)]
    if missing:
        return Finding(
            NOTE, subject, "can be made", f"headway cluster also needs: {' '.join(missing)}"
        )
    try:  # links, mounts and limits may be refused where namespaces are not
        with Cluster(2):
            return Finding(OK, subject, "can be made: headway cluster works")
    except HeadwayError as error:
        return Finding(NOTE, subject, f"can be made, but no test cluster: {error}")


def has_command(name: str) -> bool:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is not None
