# SPDX-License-Identifier: BSD-3-Clause
"""What an MPI's transport is told, for all processes of a job, so that both directions go at once.

Some protocols for large messages send the answer to an announcement through the connection that
may already be full of the data of the other direction: processes that are not in step then send
one after the other, computing or not.

Open MPI over TCP does so by its put protocol. Its send protocol has no such answer to wait for. It
copies at the receiver, 0.1 ns a byte, which a slow link hides and a fast one does not.

Intel MPI over TCP (libfabric's rxm over tcp) does so by its read protocol where the partner's
announcement and the partner's request to read arrive together: tcp, below, takes both out of the
socket in one go and answers the request with the data, before rxm, above, has seen the announcement
and asked for its own data. If tcp takes no more than one message out of the socket at a time, rxm
gets its turn between the two. The price is a second system call for a message that is larger than
that, 0.3 us. (The write protocol, FI_OFI_RXM_USE_RNDV_WRITE=1, would do as well, but with it
MPI_Ialltoallv of 2021.18 hangs in half of the launches, without Headway too; and so does everything
with a size of 0 here.)

So Intel MPI's small messages take up to 1.07 of their time between nodes up to 4 KiB, and up to
1.15 was measured. What the transport is told serves programs with large exchanges; one that sends
nothing but small messages says `--transport keep`.

The rate of a link is what decides. It is the network device's own; of a virtual device it is what
limits it (`tc`'s token bucket), so that on `headway cluster`'s links `headway run` decides what
`headway cluster run --headway` and the benchmarks, which made the links, do.

Open MPI's processes must agree: in a mixed job 4.1 and 5.0 crash. So a command that starts the
whole job may say it, and the preloaded library may not. Intel MPI's need not: there the library
says it too, where it was not said (HEADWAY_TRANSPORT).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Duplex:
    """The environment variable by which an MPI's transport sends both directions at once."""

    variable: str
    value: str
    word: str  #: a launcher's line with this in it has the user's own choice
    #: reductions to all, too, send both directions at once by it: each of their steps is an
    #: exchange, not a way to a root or back
    is_for_steps: bool = False
    #: processes need not agree, and the preloaded library says it by the same rule
    #: (HEADWAY_TRANSPORT, src/engines/thread/engine.c)
    is_by_library: bool = False


#: by what the MPI's title begins with
SETTINGS = {
    # btl/tcp's flags without put: send, in-place, need-ack, need-csum, hetero-rdma
    "Open MPI": Duplex("OMPI_MCA_btl_tcp_flags", "313", "btl_tcp_flags"),
    # an announcement is 16 + 64 + 104 bytes: at most half of its last part may be read ahead, or
    # the message behind it comes along. A message of 24 bytes fits.
    "Intel MPI": Duplex(
        "FI_TCP_PREFETCH_RBUF_SIZE",
        "48",
        "FI_TCP_PREFETCH_RBUF_SIZE",
        is_for_steps=True,
        is_by_library=True,
    ),
}

#: up to here an exchange without computation takes the same time with either protocol; on Open MPI
#: at 10 Gbit/s 0.95 to 1.03 of it, at 25 up to 1.23 (doc/results/data/transport.json). Faster
#: links may be no TCP.
MAX_BITS_PER_S = 2.5e9

CHOICES = ("auto", "duplex", "keep")


def vendor_of(title: str) -> str | None:
    """Which of those MPIs has this title, or says this of its version (MPI_Get_library_version);
    None: another."""
    plain = title.replace("(R)", "")
    return next((vendor for vendor in SETTINGS if plain.startswith(vendor)), None)


def is_by_library(title: str) -> bool:
    """Whether the preloaded library tells this MPI's transport by itself."""
    duplex = SETTINGS.get(vendor_of(title) or "")
    return duplex is not None and duplex.is_by_library


def link_bits_per_s(net: Path = Path("/sys/class/net")) -> float | None:
    """Of this machine's fastest interface that is up; None if any of them does not tell. What a
    virtual one says is made up: its limit counts, where it has one."""
    rates = []
    for interface in sorted(net.glob("*")):
        if interface.name == "lo" or read(interface / "operstate") not in ("up", "unknown"):
            continue
        if not (interface / "device").exists():
            if any(interface.glob("lower_*")):
                continue  # a bridge, a VLAN, a bond: what it stands on tells
            limit = limit_bits_per_s(interface.name)
            if limit is None:
                return None
            rates.append(limit)
            continue
        speed = read(interface / "speed")
        if not speed.isdigit():
            return None
        rates.append(int(speed) * 1e6)
    return max(rates, default=None)


def limit_bits_per_s(interface: str) -> float | None:
    """Of the token bucket all that leaves this interface goes through; None: it has none, or there
    is no `tc` to ask."""
    path = os.environ.get("PATH", "") + os.pathsep + "/usr/sbin:/sbin"
    tc = shutil.which("tc", path=path)
    if tc is None:
        return None
    words = [tc, "-json", "qdisc", "show", "dev", interface, "root"]
    try:
        done = subprocess.run(words, capture_output=True, timeout=5, text=True)
        found = json.loads(done.stdout or "[]")
        limits = [one["options"]["rate"] for one in found if one["kind"] == "tbf"]
        return 8.0 * float(limits[0]) if len(limits) == len(found) == 1 else None
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return None


def read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def settings(
    title: str,
    bits_per_s: float | None,
    *,
    choice: str = "auto",
    words: Sequence[str] = (),
    environ: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Environment of the whole job, for the MPI of that title (vendor and version). What the user
    set, there or on the launcher's line, stays."""
    duplex = SETTINGS.get(vendor_of(title) or "")
    if duplex is None or choice == "keep":
        return {}
    if duplex.variable in environ or any(duplex.word in word for word in words):
        return {}
    is_told = is_slow(bits_per_s) or choice == "duplex"
    return {duplex.variable: duplex.value} if is_told else {}


def is_slow(bits_per_s: float | None) -> bool:
    """Whether it pays, whatever else the program does, at this rate."""
    return bits_per_s is not None and bits_per_s <= MAX_BITS_PER_S
