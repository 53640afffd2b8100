# SPDX-License-Identifier: BSD-3-Clause
"""`Cluster`: makes the namespaces through keeper.py, runs programs in them, reads byte counters."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from headway.cluster import procs, state
from headway.cluster.options import ClusterOptions, parse_rate
from headway.cluster.process import NodeBytes, RunResult, run_to_end
from headway.cluster.runner import Job, MpiRunner
from headway.errors import HeadwayError
from headway.mpi import launch

KEEPER = Path(__file__).with_name("keeper.py")
SETUP_TIMEOUT_S = 30.0
TOOLS = {"ip": "iproute2", "tc": "iproute2", "nsenter": "util-linux", "taskset": "util-linux"}


def remedy(error: str) -> str:
    """What to do about what the keeper says."""
    if error.startswith("cannot set") and error.endswith(("No such file or directory", "argument")):
        return "this kernel does not take that value: choose another"
    return "run as root or allow user namespaces (sysctl user.max_user_namespaces)"


class ClusterUnavailable(HeadwayError):
    """Namespaces cannot be made here."""


def require_tools() -> None:
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/sbin:/sbin"
    for tool, package in TOOLS.items():
        if shutil.which(tool, path=path) is None:
            raise ClusterUnavailable(
                f"the cluster needs the command {tool!r}", f"install the package {package}"
            )


class Cluster(MpiRunner):
    """A cluster of `nodes` nodes. Use as a context manager, or `start()` and `stop()`.

    Not for use from several threads, except `counters()`, which any thread may call.
    """

    def __init__(
        self,
        nodes: int = 2,
        *,
        rate: str = "1gbit",
        burst: int = 70000,
        gso: int = 65536,
        sockbuf: str = "default",
        congestion: str = "reno",
        pin: str = "core",
    ) -> None:
        self.options = ClusterOptions(nodes, rate, burst, gso, sockbuf, congestion, pin)
        self.options.check()
        self.agent = ""
        self.interface = ""
        self.init = 0
        self.is_wire = True
        self.note = ""
        self._node_pids: list[int] = []
        self._keeper: subprocess.Popen[str] | None = None
        self._netdev: int | None = None

    @property
    def hosts(self) -> list[str]:
        return [f"n{i}" for i in range(self.options.nodes)]

    @property
    def is_rootless(self) -> bool:
        return os.geteuid() != 0

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Make the cluster; ClusterUnavailable says why it cannot be made."""
        require_tools()
        env = dict(os.environ)
        env["PATH"] = env.get("PATH", "/usr/bin:/bin") + os.pathsep + "/usr/sbin:/sbin"
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", str(KEEPER), json.dumps(self.options.to_keeper())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            text=True,
            start_new_session=True,
            cwd="/",
        )
        try:
            self._await_ready()
            self._open_counters()
        except BaseException:
            self.stop()
            raise

    def _await_ready(self) -> None:
        assert self._keeper and self._keeper.stdout
        answer: dict[str, Any] = {}
        while not ("init" in answer and "ready" in answer):
            line = self._keeper.stdout.readline()
            if not line:
                raise ClusterUnavailable(
                    "the cluster's first process died while making it", "is memory short? try again"
                )
            answer |= json.loads(line)
            if answer.get("ready") is False:
                raise ClusterUnavailable(
                    f"no cluster can be made here: {answer['error']}", remedy(answer["error"])
                )
        self.init = answer["init"]
        self.agent = answer["agent"]
        self.interface = answer["interface"]
        self._node_pids = answer["nodes"]

    def _open_counters(self) -> None:
        self._netdev = os.open(f"/proc/{self.init}/net/dev", os.O_RDONLY | os.O_CLOEXEC)

    def detach(self, name: str) -> None:
        """Let the cluster outlive this process, to be found again by `attach(name)`."""
        assert self._keeper and self._keeper.stdin
        state.save(
            state.State(
                name,
                self.init,
                procs.start_time(self.init) or 0,
                self._node_pids,
                self.agent,
                self.interface,
                asdict(self.options),
            )
        )
        self._keeper.stdin.write("detach\n")
        self._keeper.stdin.close()
        self._keeper = None
        self._close_counters()

    @staticmethod
    def known(name: str) -> state.State:
        """Of the lasting cluster of that name; HeadwayError if none is up."""
        found = state.load(name)
        if found is None:
            others = ", ".join(one.name for one in state.load_all())
            raise HeadwayError(
                f"no cluster called {name!r} is up",
                f"those that are: {others}" if others else "make it: headway cluster up",
            )
        return found

    @classmethod
    def attach(cls, name: str) -> Cluster:
        """The lasting cluster of that name; leaving a `with` of it takes it down all the same."""
        found = cls.known(name)
        cluster = cls(**found.options)
        cluster.init, cluster.agent = found.init, found.agent
        cluster.interface, cluster._node_pids = found.interface, found.nodes
        cluster._open_counters()
        return cluster

    def _close_counters(self) -> None:
        if self._netdev is not None:
            os.close(self._netdev)
            self._netdev = None

    def stop(self) -> None:
        """Take everything down; safe to call twice, and after a failed start."""
        self._close_counters()
        if self._keeper is None:
            if self.init:
                try:
                    os.kill(self.init, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                self._await_gone()
            return
        keeper, self._keeper = self._keeper, None
        for stream in (keeper.stdin, keeper.stdout):
            if stream:
                stream.close()
        try:
            keeper.wait(5)
        except subprocess.TimeoutExpired:
            keeper.kill()
            keeper.wait()
        self._await_gone()

    def _await_gone(self) -> None:
        """The kernel frees interfaces a moment after the last process: wait for that process."""
        deadline = time.monotonic() + 5
        while self.init and procs.members(self.init) and time.monotonic() < deadline:
            time.sleep(0.005)
        self.init = 0

    def counters(self) -> list[NodeBytes]:
        """Bytes over each node's link since it was made, as the switch counts; about 20 us."""
        assert self._netdev is not None, "the cluster is not up"
        text = os.pread(self._netdev, 1 << 16, 0).decode()
        ports = {}
        for line in text.splitlines()[2:]:
            name, numbers = line.split(":", 1)
            words = numbers.split()
            ports[name.strip()] = (int(words[0]), int(words[8]))
        return [NodeBytes(f"n{i}", *ports[f"link{i}"]) for i in range(self.options.nodes)]

    def enter_command(self, argv: Sequence[str], cwd: str | None = None) -> list[str]:
        """`argv` as it must be started from outside to run in the head namespace."""
        enter = ["nsenter", "-t", str(self.init), "-m", "-u", "-i", "-n", "-p"]
        if self.is_rootless:
            enter[1:1] = ["--user", "--preserve-credentials"]
        return [*enter, "/bin/sh", "-c", 'cd "$0" && exec "$@"', cwd or os.getcwd(), *argv]

    def sweep(self) -> int:
        """End every process in the cluster except the cluster's own."""
        return procs.kill_members(self.init, {1, *self._node_pids}) if self.init else 0

    def sweep_run(self, tag: str) -> tuple[int, bool]:
        """End what is left of one run: how many that were, and whether others run here."""
        return procs.kill_run(self.init, {1, *self._node_pids}, tag)

    def is_in_use(self) -> bool:
        """Does something run in it?"""
        return bool(procs.programs(self.init, {1, *self._node_pids}))

    def execute(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout: float | None = 60.0,
        on_line: Callable[[str], None] | None = None,
    ) -> RunResult:
        """Run a command in the head namespace to its end; nothing of it survives. Others may run
        commands in the same cluster meanwhile, and the bytes over the links are then of all."""
        full = dict(os.environ) if env is None else dict(env)
        tag = uuid.uuid4().hex
        full |= {"TMPDIR": "/dev/shm/tmp", procs.TAG: tag}
        is_shared = self.is_in_use()

        def sweep() -> int:
            nonlocal is_shared
            count, has_others = self.sweep_run(tag)
            is_shared = is_shared or has_others
            return count

        before = self.counters()
        result = run_to_end(
            self.enter_command(argv, cwd),
            env=full,
            cwd=None,
            timeout=timeout,
            on_line=on_line,
            sweep=sweep,
        )
        result.argv = list(argv)
        result.is_wire_shared = is_shared
        result.wire = [
            NodeBytes(b.node, a.sent - b.sent, a.received - b.received)
            for b, a in zip(before, self.counters(), strict=True)
        ]
        return result

    def build(self, job: Job, shared_memory: bool | None) -> launch.Launch:
        if shared_memory is None:
            shared_memory = job.ranks_per_node > 1
        command = job.command(
            self.options.nodes,
            hosts=self.hosts,
            ranks_per_node=job.ranks_per_node,
            agent=self.agent,
            interface=self.interface,
            shared_memory=shared_memory,
        )
        command.env["CLUSTER_CORES"] = self.options.cores(job.cores_per_node)
        return command

    @property
    def bits_per_s(self) -> float | None:
        """Of each link, each way; None if it has no limit."""
        return parse_rate(self.options.rate) or None

    def describe(self) -> str:
        o = self.options
        return f"{o.nodes} nodes, {o.rate} links, socket buffers {o.sockbuf}, pin {o.pin}"
