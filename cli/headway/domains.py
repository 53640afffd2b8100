# SPDX-License-Identifier: BSD-3-Clause
"""How many sockets or NUMA domains this node has.

Counts them as src/world/topology.c does, with the same library, so that a launch starts as many
more processes as the library will set aside.
"""

from __future__ import annotations

import ctypes
import xml.etree.ElementTree as ElementTree

from headway.errors import HeadwayError

LIBRARY = "libhwloc.so.15"
#: the word of the option -> hwloc's name for it
KINDS = {"socket": "Package", "numa": "NUMANode"}


def describe() -> str:
    """This machine in hwloc's XML."""
    try:
        hwloc = ctypes.CDLL(LIBRARY)
    except OSError as error:
        raise HeadwayError(
            f"{LIBRARY} is needed to count sockets or NUMA domains, and cannot be loaded",
            "install libhwloc15, or give a number of ghosts",
        ) from error
    hwloc.hwloc_topology_destroy.argtypes = [ctypes.c_void_p]
    topology, text, length = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    if hwloc.hwloc_topology_init(ctypes.byref(topology)) != 0:
        raise HeadwayError("hwloc cannot describe this machine", "give a number of ghosts")
    try:
        is_described = (
            hwloc.hwloc_topology_load(topology) == 0
            and hwloc.hwloc_topology_export_xmlbuffer(
                topology, ctypes.byref(text), ctypes.byref(length), ctypes.c_ulong(0)
            )
            == 0
        )
        if not is_described:
            raise HeadwayError("hwloc cannot describe this machine", "give a number of ghosts")
        described = ctypes.string_at(text.value or 0, length.value)
        hwloc.hwloc_free_xmlbuffer.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        hwloc.hwloc_free_xmlbuffer(topology, text)
    finally:
        hwloc.hwloc_topology_destroy(topology)
    return described.rstrip(b"\0").decode(errors="replace")


def count(described: str, per: str) -> int:
    """Those that have processors of their own: memory beside or far from others is no domain."""
    objects = ElementTree.fromstring(described).iter("object")
    sets = [item.get("cpuset", "") for item in objects if item.get("type") == KINDS[per]]
    return max(1, len({text for text in sets if text.strip("0x,")}))
