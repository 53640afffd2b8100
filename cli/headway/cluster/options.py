# SPDX-License-Identifier: BSD-3-Clause
"""What a test cluster is made of, checked before anything is started."""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from typing import Any

from headway.errors import HeadwayError

MAX_NODES = 64
#: largest send and receive buffer: the stand-in for networks where the host drives the rendezvous
SMALL_SOCKBUF = (256 * 1024, 512 * 1024)
UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3}


def parse_rate(text: str) -> int:
    """ "1gbit" -> bits a second; "none" -> 0, an unlimited link."""
    if text == "none":
        return 0
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)bit", text.lower())
    rate = int(float(found.group(1)) * UNITS[found.group(2)]) if found else 0
    if rate < 1:
        raise HeadwayError(f"link rate {text!r} is not a rate", "write 1gbit, 200mbit or none")
    return rate


def parse_sockbuf(text: str) -> tuple[int, int] | None:
    """ "small", "default" or BYTES -> (write, read) limits; None leaves the kernel's."""
    if text == "default":
        return None
    if text == "small":
        return SMALL_SOCKBUF
    found = re.fullmatch(r"(\d+)([kKmM]?)", text)
    scale = {"": 1, "k": 1024, "m": 1024**2}
    size = int(found.group(1)) * scale[found.group(2).lower()] if found else 0
    if size < 4096:
        raise HeadwayError(
            f"socket buffer limit {text!r} is not a size",
            "write small, default or at least 4096 bytes",
        )
    return size, size


@dataclass(frozen=True)
class ClusterOptions:
    """Nodes, links and placement of a cluster."""

    nodes: int = 2
    rate: str = "1gbit"
    burst: int = 70000
    gso: int = 65536
    sockbuf: str = "default"
    congestion: str = "reno"
    pin: str = "core"

    def check(self) -> None:
        if not 1 <= self.nodes <= MAX_NODES:
            raise HeadwayError(
                f"{self.nodes} nodes cannot be made", f"ask for 1 to {MAX_NODES} nodes"
            )
        if self.pin not in ("core", "none"):
            raise HeadwayError(f"pin {self.pin!r} is unknown", "write core or none")
        if not 2048 <= self.gso <= 65536:
            raise HeadwayError(f"GSO limit {self.gso} is out of range", "write 2048 to 65536 bytes")
        if parse_rate(self.rate) and self.burst < self.gso:
            raise HeadwayError(
                f"burst {self.burst} is below the GSO limit {self.gso}",
                "a packet larger than the burst never leaves; raise --burst",
            )
        parse_sockbuf(self.sockbuf)

    def to_keeper(self) -> dict[str, Any]:
        return asdict(self) | {
            "rate_bit": parse_rate(self.rate),
            "sockbuf": parse_sockbuf(self.sockbuf),
        }

    def cores(self, cores_per_node: int) -> str:
        """The agent's CLUSTER_CORES: so many cores a node, wrapping around."""
        if self.pin == "none":
            return ""
        usable = sorted(os.sched_getaffinity(0))
        return " ".join(
            ",".join(
                str(c)
                for c in sorted(
                    {
                        usable[(node * cores_per_node + k) % len(usable)]
                        for k in range(cores_per_node)
                    }
                )
            )
            for node in range(self.nodes)
        )
