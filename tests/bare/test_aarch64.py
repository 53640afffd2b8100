# SPDX-License-Identifier: BSD-3-Clause
"""Built for aarch64 with Debian's cross compiler; its unit programs run by QEMU's user mode.

The emulator runs threads, futexes and atomics of aarch64 on this machine's memory model, which is
stronger: what the weaker one may reorder is not tried.
"""

from __future__ import annotations

import re
import struct

import matrix
import pytest
import support
from root import BareRoot, source_tree

MATRIX_RULES = [matrix.quick(lambda: False, "begins with a bare Debian")]
#: of Debian's arm64, unpacked and not installed: dependencies would come along
FOREIGN = "libcmocka0 libcmocka-dev libmpich-dev libopenmpi-dev"
HEADERS = {
    "MPICH": "/opt/arm64/usr/include/aarch64-linux-gnu/mpich/mpi.h",
    "OMPI": "/opt/arm64/usr/lib/aarch64-linux-gnu/openmpi/include/mpi.h",
}
#: what QEMU's user mode cannot do, and the unit tests that therefore fail in it
NOT_EMULATED = {
    "madvise(MADV_REMOVE) says that it did, and does nothing": {
        "test_leaves_the_file",
        "test_zeroed",
        "test_come_and_go",
    },
    "seccomp filters": {"nor_without_membarrier"},
    "/proc/self/exe is the emulator": {"the_launchers_cores_count"},
    "process_vm_readv": {"texts_become_utf_8", "memory_that_is_not_there"},
    "netlink of sock_diag": {
        "counted_when_connected_later",
        "counted_in_the_place_of_another",
        "own_connection_is_no_wire",
    },
}
#: of an ELF header: what machine it is for
AARCH64 = 183


@pytest.mark.timeout(2400)
def test_unit_programs(bare: BareRoot) -> None:
    bare.install("gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static")
    bare.install("cmake ninja-build python3")
    packages = " ".join(f"{name}:arm64" for name in FOREIGN.split())
    bare.run(
        "set -e; dpkg --add-architecture arm64; apt-get update -qq; mkdir /opt/arm64;"
        " cd /opt/arm64;"
        f"apt-get download -qq {packages}; for name in *.deb; do dpkg -x $name .; done",
        has_own_net=False,
    )
    source_tree(bare.make("srv/source"))
    headers = " ".join(f"-DHEADWAY_{name}_HEADERS={path}" for name, path in HEADERS.items())
    bare.run(
        "set -e; cd /srv/source; (cmake -G Ninja -S . -B build --toolchain"
        f" tools/aarch64-linux-gnu.cmake -DHEADWAY_SYSROOT=/opt/arm64 {headers}"
        " -DHEADWAY_LIBRARY_DIR=/srv/lib && cmake --build build) >log 2>&1"
        " || (tail -40 log; exit 1)",
        timeout_s=1200,
    )
    for name in ("mpich", "ompi"):
        library = bare.upper / "srv/lib" / f"libheadway-{name}.so"
        assert struct.unpack_from("<H", library.read_bytes(), 18) == (AARCH64,)
    told = bare.run(
        "cd /srv/source; ctest --test-dir build -R '^unit[.]' --no-tests=error -j 2"
        " --timeout 300 -V",
        timeout_s=900,
        check=False,
    ).stdout
    programs = len(list((support.ROOT / "tests" / "unit").glob("test_*.c"))) + 1
    assert re.search(rf"\b\d tests failed out of {programs}\b", told), told[-3000:]
    passed = re.findall(r"\[       OK \] (\w+)", told)
    failed = set(re.findall(r"\[  FAILED  \] ([a-z]\w+)$", told, re.M))
    assert len(passed) > 200 and failed <= set().union(*NOT_EMULATED.values()), (
        failed,
        len(passed),
    )
    ended = set(re.findall(r"Test +#\d+: unit\.(\w+) \.+ *(?:Passed|\*\*\*Failed)", told))
    assert len(ended) == programs, told[-3000:]
