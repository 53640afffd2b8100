# SPDX-License-Identifier: BSD-3-Clause
"""The test cluster: bytes cross its wire at its rate, and nothing outlives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import matrix
import namespaces
import pytest
import support
from headway import records
from headway.cluster import Cluster, LocalNode, open_cluster, process, procs
from headway.cluster.cluster import ClusterUnavailable
from headway.cluster.runner import Job
from headway.mpi.mpis import Mpi

MATRIX_RULES = [matrix.check(lambda: False)]
pytestmark = pytest.mark.alone  # looks at interfaces, mounts and processes of the whole machine
Headway = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[2]
BYTES, ROUNDS = 100_000, 20


def ranks_of(text: str) -> list[dict]:
    return sorted(
        (json.loads(line) for line in text.splitlines() if line.startswith("{")),
        key=lambda r: r["rank"],
    )


def traces() -> list[str]:
    """Interfaces and mounts of this machine: a cluster leaves none."""
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True).stdout
    mounts = Path("/proc/self/mounts").read_text()
    return [line.split()[1] for text in (links, mounts) for line in text.splitlines()]


def read_bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""


def family(init: int) -> list[tuple[int, int | None]]:
    """Every process of a cluster, and the one outside that waits for it, with their start times."""
    parent = int(Path(f"/proc/{init}/stat").read_text().rpartition(")")[2].split()[1])
    return [(pid, procs.start_time(pid)) for pid in (parent, *procs.members(init))]


def gone(processes: list[tuple[int, int | None]]) -> bool:
    """Have all these processes ended? Waits a little."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if all(procs.start_time(pid) != start for pid, start in processes):
            return True
        time.sleep(0.02)
    return False


def require_cluster() -> None:
    """Raises here the refusal that a test would otherwise meet in another process."""
    with Cluster(2):
        pass


@matrix.quick(lambda mpi, ranks_per_node: ranks_per_node == (1 if mpi.name == "mpich4" else 2))
@pytest.mark.parametrize("ranks_per_node", [1, 2])
def test_every_mpi_crosses_the_wire(
    mpi: Mpi, hello: Path, ranks_per_node: int, is_full: bool
) -> None:
    # Plain MPICH 4.0 over UCX may hang in MPI_Finalize, more often with several ranks a node: one
    # rank waits for a peer that waits in a barrier. By then everything was sent and printed. The
    # library by itself lets it end.
    is_old = mpi.vendor == "MPICH" and mpi.major == 4
    may_hang = is_old and is_full
    alone = {"LD_PRELOAD": str(support.library(mpi)), "HEADWAY_ENGINE": "off"}
    with Cluster(2) as cluster:
        done = cluster.run(
            mpi,
            [str(hello), str(BYTES), str(ROUNDS)],
            ranks_per_node=ranks_per_node,
            env=alone if is_old and not is_full else None,
            timeout=20 if may_hang else 60,
        )
        assert done.returncode == 0 or (may_hang and done.timed_out), done.stderr
        if may_hang:
            support.tally("plain MPICH 4.0 hung in MPI_Finalize on two nodes", done.timed_out)
        assert cluster.sweep() == 0
    ranks = ranks_of(done.stdout)
    size = 2 * ranks_per_node
    assert [r["size"] for r in ranks] == [size] * size
    assert [r["host"] for r in ranks] == ["n0"] * ranks_per_node + ["n1"] * ranks_per_node
    for link in done.wire:
        assert BYTES * ROUNDS <= link.sent < 1.2 * BYTES * ROUNDS
        assert BYTES * ROUNDS <= link.received < 1.2 * BYTES * ROUNDS


@matrix.one_of_a("family")
def test_link_rate_holds(mpi: Mpi, hello: Path) -> None:
    size = 2_000_000
    with Cluster(2, rate="200mbit") as cluster:
        done = cluster.run(mpi, [str(hello), str(size), "4"], timeout=60)
    half_trip_s = ranks_of(done.stdout)[0]["half_trip_us"] / 1e6
    assert half_trip_s > 0.95 * 8 * size / 200e6


def test_nodes_are_machines_of_their_own() -> None:
    show = "hostname; cat /proc/sys/kernel/random/boot_id; ls /dev/shm; ls /sys/class/net"
    with Cluster(3, sockbuf="small") as cluster:
        seen = [
            cluster.execute([cluster.agent, "-x", f"n{i}", show]).stdout.split() for i in range(3)
        ]
        limits = cluster.execute(
            [cluster.agent, "n0", "cat /proc/sys/net/ipv4/tcp_wmem"]
        ).stdout.split()
        nobody = cluster.execute([cluster.agent, "n7", "true"])
    assert [s[0] for s in seen] == ["n0", "n1", "n2"]
    assert len({s[1] for s in seen}) == 3
    assert all({"eth0", "lo"} <= set(s) for s in seen)
    assert limits[2] == "262144"
    assert nobody.returncode == 255 and "no node called n7" in nobody.stderr


def test_processes_are_pinned() -> None:
    with Cluster(2) as cluster:
        env = {**os.environ, "CLUSTER_CORES": cluster.options.cores(1)}
        seen = [
            cluster.execute([cluster.agent, f"n{i}", "taskset -cp $$"], env=env).stdout.split()[-1]
            for i in range(2)
        ]
    assert seen == cluster.options.cores(1).split()


@matrix.one_of_a("family")
def test_timeout_ends_everything(mpi: Mpi) -> None:
    with Cluster(2) as cluster:
        done = cluster.run(mpi, ["/bin/sleep", "1000"], timeout=3)
        assert done.timed_out and done.returncode == 124
        assert cluster.sweep() == 0


def test_nothing_is_left_behind() -> None:
    before = traces()
    with pytest.raises(RuntimeError, match="on purpose"):
        with Cluster(2) as cluster:
            subprocess.Popen(
                cluster.enter_command(["sleep", "1000"], "/"), stdin=subprocess.DEVNULL
            )
            processes = family(cluster.init)
            raise RuntimeError("on purpose")
    assert gone(processes)
    assert traces() == before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_maker_leaves_nothing(number: int, tmp_path: Path) -> None:
    require_cluster()
    before = traces()
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from headway.cluster import Cluster\n"
        "cluster = Cluster(2); cluster.start()\n"
        "print(cluster.init, flush=True)\n"
        "cluster.execute(['sh', '-c', 'setsid sleep 1000 & sleep 1000'], timeout=None)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(ROOT / "cli")],
        text=True,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    ) as maker:
        assert maker.stdout
        init = int(maker.stdout.readline())
        deadline = time.monotonic() + 30
        while len(processes := family(init)) <= 5 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(processes) > 5
        maker.send_signal(number)
        maker.wait(20)
    assert gone(processes)
    assert traces() == before


@matrix.quick(matrix.on("mpich5"), "test_run_that_is_profiled runs on another family's")
def test_up_run_down(headway: Headway, mpi: Mpi, hello: Path) -> None:
    require_cluster()
    before = traces()
    name = f"test-{os.getpid()}"
    try:
        done = headway("cluster", "up", "--name", name, "--rate", "none")
        assert done.returncode == 0, done.stderr
        again = headway("cluster", "up", "--name", name)
        assert again.returncode != 0 and "is up already; " in again.stderr
        words = ("cluster", "run", "--name", name, "--headway", "--timeout", "25", hello)
        done = headway(*words, BYTES, ROUNDS)
        assert done.returncode == 0, done.stderr
        assert [r["host"] for r in ranks_of(done.stdout)] == ["n0", "n1"]
        (mine,) = json.loads(headway("cluster", "status", "--name", name).stdout)["clusters"]
        assert mine["name"] == name
        assert all(link["sent"] > BYTES * ROUNDS for link in mine["links"])
        status = json.loads(headway("cluster", "status").stdout)
        assert name in [c["name"] for c in status["clusters"]]
    finally:
        down = headway("cluster", "down", "--name", name)
    assert down.returncode == 0, down.stderr
    for action in ("down", "status"):
        none = headway("cluster", action, "--name", name)
        assert none.returncode == 2 and f"no cluster called '{name}' is up; " in none.stderr
    assert traces() == before


@contextmanager
def up(headway: Headway, *words: str) -> Iterator[str]:
    """A lasting cluster of this test's own; its name."""
    require_cluster()
    name = f"test-own-{os.getpid()}"
    try:
        done = headway("cluster", "up", "--name", name, *words)
        assert done.returncode == 0, done.stderr
        yield name
    finally:
        headway("cluster", "down", "--name", name)


@matrix.quick(matrix.on("ompi5"), "one MPI stands for all")
def test_run_that_is_profiled(headway: Headway, mpi: Mpi, hello: Path, tmp_path: Path) -> None:
    """With the report of headway profile, or with the closing paragraph of headway run."""
    with up(headway) as name:
        words = ("cluster", "run", "--name", name, "--timeout", "25")
        done = headway(*words, "--profile", hello, BYTES, ROUNDS)
        assert done.returncode == 0, done.stderr
        assert "Recv" in done.stdout and "rank" in done.stdout, done.stdout
        kept = ("--engine", "thread", "--record", tmp_path / "kept")
        done = headway(*words, *kept, hello, BYTES, ROUNDS)
        assert done.returncode == 0, done.stderr
        assert "headway: 2 ranks, engine thread" in done.stderr, done.stderr
        assert "over the links: n0 sent" in done.stderr and "another run" not in done.stderr
        found = records.read(tmp_path / "kept")
        assert [one.rank for one in found] == [0, 1]
        again = headway(*words, hello, 1, 1)
        assert again.returncode == 0 and "engine" not in again.stderr, again.stderr
    assert headway("cluster", "run", "--engine", "none", hello).returncode == 2


def test_argument_that_there_is_not(headway: Headway) -> None:
    done = headway("cluster", "run", "-n", "2", "./app")
    told = "headway: unrecognized arguments: -n; see headway cluster run --help"
    assert done.returncode == 2 and done.stderr.splitlines() == [told]


@matrix.quick(matrix.on("mpich5"), "one MPI stands for all")
def test_two_runs_at_a_time(
    headway: Headway, mpi: Mpi, hello: Path, waits: Path, tmp_path: Path
) -> None:
    """The one that ends first leaves the other alone."""
    with up(headway) as name:
        run = ("cluster", "run", "--name", name, "--headway", "--timeout", "30")
        words = [*run, str(waits), str(tmp_path / "go")]
        with subprocess.Popen(
            [sys.executable, "-m", "headway", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT / "cli")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        ) as first:
            assert first.stdout and first.stdout.readline() == "begun\n"
            second = headway(*run, hello, 1000, 1)
            (tmp_path / "go").touch()
            _, said = first.communicate(timeout=60)
    assert second.returncode == 0, second.stderr
    assert "those of another run at the same time included" in second.stderr
    assert first.returncode == 0, said


def test_each_run_ends_its_own(tmp_path: Path) -> None:
    """Also what left its session; what dropped its environment ends with the last run."""
    go = tmp_path / "go"
    leave = "setsid sleep {0} >&- 2>&- & env -i setsid sleep {0} >&- 2>&- & "
    wait = f"echo begun; while [ ! -e {go} ]; do sleep 0.02; done"

    def count(argument: str, init: int) -> int:
        wanted = f"sleep\0{argument}\0".encode()
        return sum(read_bytes(f"/proc/{p}/cmdline") == wanted for p in procs.members(init))

    with Cluster(1) as cluster:
        begun, results = threading.Event(), []

        def first() -> None:
            command = ["sh", "-c", leave.format(1001) + wait]
            results.append(cluster.execute(command, on_line=lambda _: begun.set()))

        runner = threading.Thread(target=first)
        runner.start()
        assert begun.wait(20)
        second = cluster.execute(["sh", "-c", leave.format(1002) + "sleep 0.1"])
        assert second.is_ok and second.leftovers >= 1 and second.is_wire_shared
        assert count("1001", cluster.init) == 2  # one with its tag, one without
        assert count("1002", cluster.init) == 1  # whose it is cannot be seen
        go.touch()
        runner.join(30)
        assert results and results[0].is_ok and results[0].leftovers >= 1
        assert cluster.sweep() == 0


def test_up_replaces_a_dead_cluster(headway: Headway) -> None:
    require_cluster()
    name = f"test-dead-{os.getpid()}"
    headway("cluster", "up", "--name", name)
    status = json.loads(headway("cluster", "status").stdout)
    init = next(c["init"] for c in status["clusters"] if c["name"] == name)
    processes = family(init)
    os.kill(init, signal.SIGKILL)
    assert gone(processes)
    assert headway("cluster", "up", "--name", name).returncode == 0
    headway("cluster", "down")  # the one called default, if any
    status = json.loads(headway("cluster", "status").stdout)
    assert name in [c["name"] for c in status["clusters"]]
    assert headway("cluster", "down", "--name", name).returncode == 0


def other_user() -> list[str]:
    """The start of a command line that runs Python as an ordinary user."""
    if os.geteuid() != 0:
        return [sys.executable]
    become = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    for python in (sys.executable, "/usr/bin/python3"):
        # Twice: the first start still has root's rights to find the interpreter.
        twice = (
            "import os, sys; open(sys.argv[1]); os.execv(sys.executable, [sys.executable, '-V'])"
        )
        readable = [*become, python, "-c", twice, str(ROOT / "README.md")]
        if subprocess.run(readable, capture_output=True, cwd="/").returncode == 0:
            return [*become, python]
    pytest.skip("an ordinary user can read neither the source tree nor a Python here")


def test_without_root() -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from headway.cluster import Cluster\n"
        "with Cluster(2) as cluster:\n"
        "    done = cluster.execute([cluster.agent, 'n1', 'hostname'], cwd='/')\n"
        "    print(cluster.is_rootless, done.stdout)\n"
    )
    *become, python = other_user()
    done = subprocess.run(
        [*become, python, "-c", script, str(ROOT / "cli")],
        text=True,
        capture_output=True,
        cwd="/",
        timeout=60,
    )
    _, is_unavailable, reason = done.stderr.strip().rpartition("ClusterUnavailable: ")
    if is_unavailable:
        with namespaces.skip_where_refused(*become):
            raise ClusterUnavailable(reason)
    assert done.stdout.split() == ["True", "n1"], done.stderr


@pytest.mark.parametrize("is_allowed", [True, False])
def test_no_cluster_skips_only_where_refused(
    is_allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namespaces, "are_allowed", lambda: is_allowed)
    outcome = ClusterUnavailable if is_allowed else pytest.skip.Exception
    with pytest.raises(outcome, match="refused"), namespaces.skip_where_refused():
        raise ClusterUnavailable("no cluster can be made here: refused", "be root")


def has_forced_engine(node: LocalNode, mpi: Mpi, env: dict[str, str] | None) -> bool:
    """Ranks that stand for nodes are given the engine that a job on one node may not have."""
    job = Job(mpi, ["/bin/true"], env, 1, None, (), 1)
    line = " ".join(node.build(job, None).argv)
    return "HEADWAY_ENGINE thread" in line or "HEADWAY_ENGINE=thread" in line


@matrix.one_of_a("family")
def test_stand_in_says_so(mpi: Mpi, hello: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Cluster) -> None:
        raise ClusterUnavailable("no cluster can be made here: refused", "be root")

    monkeypatch.setattr(Cluster, "start", refuse)
    with open_cluster(2) as node:
        assert isinstance(node, LocalNode)
        assert "shared memory off" in node.describe() and "refused" in node.describe()
        for _ in range(3 if mpi.name == "mpich4" else 1):  # plain, it may hang at its end
            done = node.run(mpi, [str(hello), "1000", "5"], timeout=60)
            if not support.tally("started again, for it hung at its end, plain", done.timed_out):
                break
        assert done.is_ok, done.stderr
        assert len(ranks_of(done.stdout)) == 2
        ended = node.run(mpi, ["/bin/sleep", "1000"], timeout=2)
        assert ended.timed_out
        assert has_forced_engine(node, mpi, {"LD_PRELOAD": "/lib.so"})
        assert not has_forced_engine(node, mpi, {"LD_PRELOAD": "/lib.so", "HEADWAY_ENGINE": "off"})
        assert not has_forced_engine(node, mpi, None)
    with open_cluster(1) as node:
        assert not has_forced_engine(node, mpi, {"LD_PRELOAD": "/lib.so"})
    left = [
        p
        for p in os.listdir("/proc")
        if read_bytes(f"/proc/{p}/cmdline") == b"/bin/sleep\x001000\x00"
    ]
    assert not left


class Clock:
    """A machine on which each step of a wait takes `step_s`, and the third `pause_s` more."""

    def __init__(self, pause_s: float) -> None:
        self.now_s, self.steps, self.pause_s = 0.0, 0, pause_s

    def monotonic(self) -> float:
        return self.now_s

    def step(self, left_s: float | None) -> None:
        assert left_s is not None and left_s > 0
        self.steps += 1
        self.now_s += left_s + (self.pause_s if self.steps == 3 else 0)
        raise subprocess.TimeoutExpired("waiting", left_s)


@pytest.mark.parametrize("pause_s, steps", [(0.0, 10), (300.0, 9)])
def test_limit_is_of_running_time(
    pause_s: float, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that stands still uses up one step of a limit more, however long it does."""
    clock = Clock(pause_s)
    monkeypatch.setattr(process.time, "monotonic", clock.monotonic)
    with pytest.raises(subprocess.TimeoutExpired):
        process.within(10 * process.STEP_S, clock.step)
    assert clock.steps == steps


def test_limit_ends_a_wait() -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    with pytest.raises(subprocess.TimeoutExpired):
        process.within(0.2, sleeper.wait)
    sleeper.kill()
    assert process.within(30.0, sleeper.wait) == -signal.SIGKILL
    assert process.within(None, sleeper.wait) == -signal.SIGKILL
