# SPDX-License-Identifier: BSD-3-Clause
"""A cluster on one machine: nodes in namespaces, links with a real rate, any MPI's own launcher.

    with Cluster(nodes=2, rate="1gbit") as cluster:
        result = cluster.run(mpi, ["./app", "arg"], timeout=60)

Each node has its own network, host name, IPC, mounts, /dev/shm, /sys and boot id, so that every MPI
takes it for a machine; the launcher enters it through an agent that plays ssh. The cluster lives in
a process namespace: when it goes, by leaving the `with`, by an exception, or because this process
was killed, the kernel ends every process and removes every interface of it.
"""

from headway.cluster.cluster import Cluster, ClusterUnavailable
from headway.cluster.local import LocalNode, open_cluster
from headway.cluster.options import ClusterOptions
from headway.cluster.process import NodeBytes, RunResult

__all__ = [
    "Cluster",
    "ClusterOptions",
    "ClusterUnavailable",
    "LocalNode",
    "NodeBytes",
    "RunResult",
    "open_cluster",
]
