# SPDX-License-Identifier: BSD-3-Clause
"""The stand-in where no namespace can be made: one node, shared memory off, no limited wire."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from headway.cluster import procs
from headway.cluster.cluster import Cluster, ClusterUnavailable
from headway.cluster.process import NodeBytes, RunResult, run_to_end
from headway.cluster.runner import Job, MpiRunner
from headway.mpi import launch


class LocalNode(MpiRunner):
    """Runs what `Cluster` runs, on this machine alone; there is no wire to measure."""

    def __init__(self, nodes: int, why: str) -> None:
        self.nodes = nodes
        self.is_wire = False
        self.bits_per_s = None
        self.note = f"one node with shared memory off, no limited wire ({why})"

    def __enter__(self) -> LocalNode:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def counters(self) -> list[NodeBytes]:
        return []

    def build(self, job: Job, shared_memory: bool | None) -> launch.Launch:
        del shared_memory  # always off: the ranks of one node stand for several nodes
        env = dict(job.env or {})
        if self.nodes > 1 and "LD_PRELOAD" in env and "HEADWAY_ENGINE" not in os.environ:
            # To the library it is one node, on which it may leave its engine off.
            env = {"HEADWAY_ENGINE": "thread", **env}
        return replace(job, env=env).command(self.nodes, shared_memory=False)

    def execute(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout: float | None = 60.0,
        on_line: Callable[[str], None] | None = None,
    ) -> RunResult:
        tag = uuid.uuid4().hex
        return run_to_end(
            argv,
            env={**(os.environ if env is None else env), procs.TAG: tag},
            cwd=cwd,
            timeout=timeout,
            on_line=on_line,
            sweep=lambda: procs.kill_tagged(procs.TAG, tag),
        )

    def describe(self) -> str:
        return self.note


def open_cluster(nodes: int = 2, **options: object) -> Cluster | LocalNode:
    """A started cluster, or the one-node stand-in whose `note` says why."""
    cluster = Cluster(nodes, **options)  # type: ignore[arg-type]
    try:
        cluster.start()
    except ClusterUnavailable as reason:
        return LocalNode(nodes, str(reason))
    return cluster
