# SPDX-License-Identifier: BSD-3-Clause
"""Running an MPI program: what the cluster and its one-node stand-in have in common."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway.cluster.process import RunResult
from headway.mpi import launch
from headway.mpi.mpis import Mpi


@dataclass(frozen=True)
class Job:
    """An MPI program to launch: what does not depend on where."""

    mpi: Mpi
    argv: Sequence[str]
    env: Mapping[str, str] | None
    ranks_per_node: int
    netmod: str | None
    launcher_args: Sequence[str]
    cores_per_node: int  #: that the ranks of a node may use, where nodes have cores of their own

    def command(self, nodes: int, **placement: Any) -> launch.Launch:
        """The launcher command on that many nodes; `placement` as launch.build() takes it."""
        return launch.build(
            self.mpi,
            self.argv,
            ranks=nodes * self.ranks_per_node,
            forward=self.env,
            netmod=self.netmod,
            extra=self.launcher_args,
            **placement,
        )


class MpiRunner(ABC):
    """Something MPI programs run on."""

    @abstractmethod
    def build(self, job: Job, shared_memory: bool | None) -> launch.Launch:
        """The launcher command that `run()` executes."""

    @abstractmethod
    def execute(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout: float | None = 60.0,
        on_line: Callable[[str], None] | None = None,
    ) -> RunResult:
        """Run a command to its end where launchers run; nothing of it survives."""

    def run(
        self,
        mpi: Mpi,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        launcher_env: Mapping[str, str] | None = None,
        ranks_per_node: int = 1,
        cores_per_node: int = 0,
        timeout: float | None = 60.0,
        shared_memory: bool | None = None,
        netmod: str | None = None,
        launcher_args: Sequence[str] = (),
        cwd: str | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> RunResult:
        """Run an MPI program, `ranks_per_node` ranks on every node.

        env            environment of the ranks, forwarded by the launcher (LD_PRELOAD, HEADWAY_*)
        launcher_env   environment of the launcher alone (MPIR_CVAR_*, OMPI_MCA_*)
        cores_per_node default: as many as a node has ranks
        shared_memory  default: on when a node has several ranks; the stand-in has it off always
        on_line        called with each line of standard output as it comes, in another thread
        """
        cores = cores_per_node or ranks_per_node
        job = Job(mpi, argv, env, ranks_per_node, netmod, launcher_args, cores)
        command = self.build(job, shared_memory)
        full = {**os.environ, **command.env, **(launcher_env or {})}
        return self.execute(command.argv, env=full, cwd=cwd, timeout=timeout, on_line=on_line)
