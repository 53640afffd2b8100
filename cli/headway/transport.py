"""What an MPI's transport is told, for all processes of a job, to overlap both directions.

Open MPI over TCP by its put protocol answers the announcement of a message in the connection that
may already be full of the data of the other direction: processes that are not in step then send
one after the other, computing or not. Its send protocol has no such answer to wait for. It copies
at the receiver, 0.1 ns a byte, which a slow link hides and a fast one does not.

All processes must agree: one that offers no put and is asked for one crashes (Open MPI 4.1 and
5.0). So a command that starts the whole job may say it, and the preloaded library may not.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

#: btl/tcp's flags without put: send, in-place, need-ack, need-csum, hetero-rdma
VARIABLE, WITHOUT_PUT = "OMPI_MCA_btl_tcp_flags", "313"

#: up to here an exchange without computation takes the same time with either protocol, at 10 Gbit/s
#: 0.95 to 1.03 of it, at 25 up to 1.23 (doc/results/transport.json)
MAX_BITS_PER_S = 2.5e9

CHOICES = ("auto", "send", "keep")


def link_bits_per_s(net: Path = Path("/sys/class/net")) -> float | None:
    """Of this machine's fastest interface that is up; None if any of them does not tell, or tells
    what a virtual one makes up."""
    rates = []
    for interface in sorted(net.glob("*")):
        if interface.name == "lo" or read(interface / "operstate") not in ("up", "unknown"):
            continue
        if not (interface / "device").exists():
            if any(interface.glob("lower_*")):
                continue  # a bridge, a VLAN, a bond: what it stands on tells
            return None
        speed = read(interface / "speed")
        if not speed.isdigit():
            return None
        rates.append(int(speed) * 1e6)
    return max(rates, default=None)


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def settings(
    flavour: str,
    bits_per_s: float | None,
    *,
    choice: str = "auto",
    words: Sequence[str] = (),
    environ: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Environment of the whole job. What the user set, there or on the launcher's line, stays."""
    is_set = VARIABLE in environ or any("btl_tcp_flags" in word for word in words)
    if flavour != "ompi" or choice == "keep" or is_set:
        return {}
    is_slow = bits_per_s is not None and bits_per_s <= MAX_BITS_PER_S
    return {VARIABLE: WITHOUT_PUT} if is_slow or choice == "send" else {}
