# SPDX-License-Identifier: BSD-3-Clause
"""Whether this machine lets anybody make a test cluster, asked without any code of the cluster."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from headway.cluster import ClusterUnavailable

#: What a cluster is made of: namespaces, mounts in them, links with a rate.
BARE = """
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" = 0 ] || map=--map-root-user
exec unshare $map --mount --mount-proc --uts --ipc --net --pid --fork /bin/sh -ec '
    mount -t tmpfs tmpfs /dev/shm
    mount -t sysfs sysfs /sys
    ip link add bridge0 type bridge
    ip link add link0 type veth peer name node0
    tc qdisc add dev link0 root tbf rate 1gbit burst 70000 latency 50ms
'
"""


@cache
def are_allowed(*become: str) -> bool:
    """Do the system's own tools succeed, as this user or as the one that `become` makes of it?"""
    argv = [*become, "/bin/sh", "-c", BARE]
    return subprocess.run(argv, capture_output=True, cwd="/", timeout=60).returncode == 0


@contextmanager
def skip_where_refused(*become: str) -> Iterator[None]:
    """Without a cluster a test skips where the machine refuses it; elsewhere that is a defect."""
    try:
        yield
    except ClusterUnavailable as reason:
        if are_allowed(*become):
            raise
        pytest.skip(str(reason))
