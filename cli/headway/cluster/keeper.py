# SPDX-License-Identifier: BSD-3-Clause
"""Makes a test cluster and stays as its first process; when it ends, the kernel removes everything.

Started by `headway.cluster`, never by hand: `python keeper.py CONFIG_JSON`. It enters new
namespaces (a user namespace too when not root), forks the cluster's first process in a process
namespace of its own, and that one makes the network and one keeper process per node. It then prints
one JSON line and waits: the end of its standard input means that whoever asked for the cluster is
gone, so it exits, and with it every process, interface and file of the cluster. The word `detach`
on standard input lets the cluster outlive its maker.

Standard library only, and no import of this package: it runs in a bare interpreter.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
PR_SET_PDEATHSIG = 1

SHARE = Path("/dev/shm/headway")
INTERFACE = "eth0"
HEAD_ADDRESS = "10.99.255.254"

libc = ctypes.CDLL(None, use_errno=True)


class SetupError(Exception):
    """Why the cluster cannot be made; its text reaches the user."""


def check(result: int, what: str) -> None:
    if result != 0:
        raise SetupError(f"{what}: {os.strerror(ctypes.get_errno())}")


def unshare(flags: int, what: str) -> None:
    check(libc.unshare(ctypes.c_int(flags)), f"cannot make {what}")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    encode = os.fsencode
    result = libc.mount(
        encode(source),
        encode(target),
        encode(kind) if kind else None,
        ctypes.c_ulong(flags),
        encode(data) if data else None,
    )
    check(result, f"cannot mount {kind or source} on {target}")


def command(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        reason = (done.stderr or done.stdout).strip().splitlines() or ["no reason given"]
        raise SetupError(f"`{' '.join(words)}` failed: {reason[-1]}")


def sethostname(name: str) -> None:
    check(libc.sethostname(os.fsencode(name), len(name)), "cannot set the host name")


def node_address(index: int) -> str:
    return f"10.99.{(index + 1) // 250}.{(index + 1) % 250 + 1}"


def enter_user_namespace() -> None:
    """Become root in a namespace of our own, where an ordinary user may do the rest."""
    uid, gid = os.getuid(), os.getgid()
    unshare(CLONE_NEWUSER, "a user namespace")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")


def private_mounts() -> None:
    """A /dev/shm of one's own, and the /sys of one's own network namespace."""
    mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")
    mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    os.mkdir("/dev/shm/tmp", 0o1777)
    SHARE.mkdir()


def write_sysctl(name: str, value: str, *, is_required: bool = True) -> None:
    path = Path("/proc/sys") / name.replace(".", "/")
    try:
        path.write_text(value)
    except OSError as error:
        if is_required:
            raise SetupError(f"cannot set {name} to {value}: {error.strerror}") from error


def tune_network(config: dict[str, Any]) -> None:
    write_sysctl("net.ipv6.conf.all.disable_ipv6", "1", is_required=False)
    write_sysctl("net.ipv6.conf.default.disable_ipv6", "1", is_required=False)
    write_sysctl("net.ipv4.tcp_congestion_control", config["congestion"])
    write_sysctl("net.ipv4.tcp_slow_start_after_idle", "0")
    write_sysctl("net.ipv4.tcp_no_metrics_save", "1")
    if config["sockbuf"]:
        write_bytes, read_bytes = config["sockbuf"]
        write_sysctl("net.ipv4.tcp_wmem", f"4096 16384 {write_bytes}")
        write_sysctl("net.ipv4.tcp_rmem", f"4096 131072 {read_bytes}")


def shape(interface: str, config: dict[str, Any]) -> None:
    if not config["rate_bit"]:
        return
    command("ip", "link", "set", interface, "gso_max_size", str(config["gso"]))
    command(
        "tc",
        "qdisc",
        "add",
        "dev",
        interface,
        "root",
        "tbf",
        "rate",
        f"{config['rate_bit']}bit",
        "burst",
        str(config["burst"]),
        "latency",
        "50ms",
    )


def hosts_table(nodes: int) -> str:
    lines = ["127.0.0.1 localhost", f"{HEAD_ADDRESS} head"]
    lines += [f"{node_address(i)} n{i}" for i in range(nodes)]
    return "\n".join(lines) + "\n"


def write_agent(pids: list[int]) -> None:
    """The script that launchers take for ssh: AGENT [options] HOST COMMAND..."""
    table = "\n".join(f"    n{i}) pid={pid} index={i + 1} ;;" for i, pid in enumerate(pids))
    script = f"""#!/bin/sh
# Plays ssh for the MPI launchers: enters a node's namespaces and runs the command there.
# CLUSTER_CORES: per node, the cores its processes are pinned to ("0 1", "0,1 2,3"); empty: none.
while :; do
    case "$1" in
        -o|-p|-l|-i|-F|-E) shift 2 ;;
        -*) shift ;;
        *) break ;;
    esac
done
host=${{1##*@}}
shift
case "$host" in
{table}
    *) echo "headway: no node called $host in this cluster" >&2; exit 255 ;;
esac
pin=
if [ -n "$CLUSTER_CORES" ]; then
    pin="taskset -c $(echo "$CLUSTER_CORES" | cut -d' ' -f$index)"
fi
TMPDIR=/dev/shm/tmp
export TMPDIR
exec $pin nsenter -t $pid -n -u -i -m /bin/sh -c 'cd "$0" 2>/dev/null; eval "$1"' "$PWD" "$*"
"""
    agent = SHARE / "agent"
    agent.write_text(script)
    agent.chmod(0o755)


def node_main(index: int, ready: int, go: int, config: dict[str, Any]) -> None:
    """One node: its namespaces, then its network once the interface has been handed over."""
    unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET, f"the namespaces of n{index}")
    sethostname(f"n{index}")
    mount(str(SHARE / f"boot_id.{index}"), "/proc/sys/kernel/random/boot_id", None, MS_BIND)
    share = os.open(SHARE, os.O_PATH)
    private_mounts()
    mount(f"/proc/self/fd/{share}", str(SHARE), None, MS_BIND)  # ORTE looks for its agent here too
    os.close(share)
    os.write(ready, b"u")
    if os.read(go, 1) != b"g":
        os._exit(1)
    tune_network(config)
    command("ip", "link", "set", "lo", "up")
    command("ip", "link", "set", f"node{index}", "name", INTERFACE)
    command("ip", "address", "add", f"{node_address(index)}/16", "dev", INTERFACE)
    command("ip", "link", "set", INTERFACE, "up")
    shape(INTERFACE, config)
    os.write(ready, b"r")


def fork_node(index: int, config: dict[str, Any]) -> tuple[int, int, int]:
    """Fork a node's keeper; returns its pid and our ends of the two pipes."""
    ready_read, ready_write = os.pipe()
    go_read, go_write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(ready_write)
        os.close(go_read)
        return pid, ready_read, go_write
    status = 0
    try:
        for descriptor in (ready_read, go_write, 0):
            os.close(descriptor)
        node_main(index, ready_write, go_read, config)
    except (SetupError, OSError) as error:
        os.write(ready_write, f"!{error}".encode())
        status = 1
    if status:
        os._exit(status)
    os.close(ready_write)
    devnull = os.open("/dev/null", os.O_RDWR)
    os.dup2(devnull, 1)
    os.dup2(devnull, 2)
    while True:
        signal.pause()


def await_node(descriptor: int, expected: bytes, index: int) -> None:
    answer = os.read(descriptor, 4096)
    if answer != expected:
        reason = answer.lstrip(b"ur!").decode(errors="replace") or "its keeper died"
        raise SetupError(reason if answer else f"n{index}: {reason}")


def make_nodes(config: dict[str, Any]) -> list[int]:
    command("ip", "link", "set", "lo", "up")
    command(
        "ip", "link", "add", INTERFACE, "type", "bridge", "stp_state", "0", "forward_delay", "0"
    )
    command("ip", "address", "add", f"{HEAD_ADDRESS}/16", "dev", INTERFACE)
    command("ip", "link", "set", INTERFACE, "up")
    nodes = []
    for index in range(config["nodes"]):
        boot = SHARE / f"boot_id.{index}"
        boot.write_text(Path("/proc/sys/kernel/random/uuid").read_text())
        nodes.append(fork_node(index, config))
    for index, (pid, ready, go) in enumerate(nodes):
        await_node(ready, b"u", index)
        command(
            "ip",
            "link",
            "add",
            f"link{index}",
            "type",
            "veth",
            "peer",
            "name",
            f"node{index}",
            "netns",
            str(pid),
        )
        command("ip", "link", "set", f"link{index}", "master", INTERFACE, "up")
        shape(f"link{index}", config)
        os.write(go, b"g")
    for index, (_, ready, _) in enumerate(nodes):
        await_node(ready, b"r", index)
    return [pid for pid, _, _ in nodes]


def init_main(config: dict[str, Any]) -> None:
    """The cluster's first process: everything of it lives in this process's namespaces."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    mount("none", "/", None, MS_REC | MS_PRIVATE)
    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    private_mounts()
    sethostname("head")
    (SHARE / "hosts").write_text(hosts_table(config["nodes"]))
    mount(str(SHARE / "hosts"), "/etc/hosts", None, MS_BIND)
    tune_network(config)
    pids = make_nodes(config)
    write_agent(pids)
    print(
        json.dumps(
            {"ready": True, "nodes": pids, "agent": str(SHARE / "agent"), "interface": INTERFACE}
        ),
        flush=True,
    )


def reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def stand_by() -> None:
    """Collect orphans until the maker is gone, or for ever once it said `detach`."""
    wake_read, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake_write)
    is_attached = True
    while True:
        reap()
        watched = [wake_read, 0] if is_attached else [wake_read]
        readable, _, _ = select.select(watched, [], [])
        if wake_read in readable:
            os.read(wake_read, 4096)
        if 0 in readable:
            if os.read(0, 4096).strip() != b"detach":
                os._exit(0)
            is_attached = False
            devnull = os.open("/dev/null", os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(devnull, descriptor)


def main() -> int:
    config = json.loads(sys.argv[1])
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_IGN)
    try:
        if os.geteuid() != 0:
            enter_user_namespace()
        unshare(
            CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET | CLONE_NEWPID, "namespaces"
        )
        pid = os.fork()
        if pid == 0:
            try:
                init_main(config)
            except (SetupError, OSError) as error:
                print(json.dumps({"ready": False, "error": str(error)}), flush=True)
                os._exit(1)
            stand_by()
    except (SetupError, OSError) as error:
        print(json.dumps({"ready": False, "error": str(error)}), flush=True)
        return 1
    print(json.dumps({"init": pid}), flush=True)
    devnull = os.open("/dev/null", os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(devnull, descriptor)
    os.waitpid(pid, 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
