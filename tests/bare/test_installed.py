# SPDX-License-Identifier: BSD-3-Clause
"""As a new user installs it: on a Debian with nothing on it, by the lines of the guide, and with
the source gone afterwards."""

from __future__ import annotations

import re
import shutil

import matrix
import pytest
import support
from root import BareRoot, source_tree

MATRIX_RULES = [matrix.quick(lambda: False, "begins with a bare Debian")]
GUIDE = support.ROOT / "doc" / "guide" / "installing.md"
HELLO = support.ROOT / "tests" / "cli" / "hello.c"
MPIS = "mpich libmpich-dev libopenmpi-dev openmpi-bin"
#: with both MPIs, as any user would
USE = """
cd /tmp
for mpi in mpich openmpi; do
    mpicc.$mpi hello.c -o hello-$mpi
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        headway run --engine thread -n 2 ./hello-$mpi 2>&1
done
"""


def lines_of_guide(first: str) -> list[str]:
    """The block of the guide that begins with this line's beginning."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.M)
    (found,) = (block for block in blocks if block.startswith(first))
    return found.splitlines()


def place_source(bare: BareRoot, name: str) -> None:
    shutil.rmtree(bare.upper / name, ignore_errors=True)
    source_tree(bare.make(name))
    shutil.copyfile(HELLO, bare.make("tmp/hello.c"))


def is_used(told: str) -> None:
    """Two ranks of each MPI ran under the thread."""
    assert told.count("2 ranks, engine thread") == 2, told


def files_named_so(bare: BareRoot) -> list[str]:
    told = bare.run("find / -xdev -iname '*headway*' -not -path '/proc/*'").stdout
    return told.split()


@pytest.mark.timeout(1500)
def test_debian_package(bare: BareRoot) -> None:
    """Built and installed by the guide's lines; removed, nothing of it is left."""
    place_source(bare, "srv/source")
    bare.make("etc/apt/apt.conf.d/yes").write_text(
        'APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n'
    )
    bare.install("ca-certificates")
    lines = lines_of_guide("apt-get install build-essential")
    script = "\n".join(["set -e", "cd /srv/source", *lines])
    bare.run(f"({script}) >log 2>&1 || (tail -40 log; exit 1)", timeout_s=1200, has_own_net=False)
    bare.install(MPIS)
    bare.run("rm -rf /srv")
    is_used(bare.run(f"set -e; headway --version; {USE}").stdout)
    told = bare.run("head -1 /usr/bin/headway; dpkg -L headway | grep -c '[.]md'").stdout.split()
    assert told[0] == "#!/usr/bin/python3" and int(told[-1]) > 40, told
    bare.run("apt-get purge -y -qq headway")
    assert files_named_so(bare) == []


@pytest.mark.timeout(900)
def test_pip(bare: BareRoot) -> None:
    """One line where something is missing, never success without a library; nothing left after."""
    place_source(bare, "srv/source")
    bare.install("python3 python3-venv")
    bare.run("python3 -m venv /opt/venv", has_own_net=False)
    pip = "cd /srv/source && /opt/venv/bin/pip install --no-input ."
    for reason, packages in (
        ("no C compiler", "gcc"),
        ("finds no C library", "libc6-dev"),
        ("no mpi.h", MPIS),
    ):
        # the package's dependencies come by the network, and so do CMake and Ninja
        done = bare.run(pip, has_own_net=False, check=False)
        told = [line.strip() for line in done.stdout.splitlines() + done.stderr.splitlines()]
        ours = [line for line in told if line.startswith("headway: ")]
        assert done.status != 0 and len(ours) == 1 and reason in ours[0], done.explain()
        assert "Traceback" not in done.stdout + done.stderr
        assert bare.run("test -e /opt/venv/bin/headway", check=False).status != 0
        bare.install(packages)
    before = bare.run("find /opt/venv | sort").stdout
    done = bare.run(pip, timeout_s=600, has_own_net=False)
    bare.run("rm -rf /srv")
    is_used(bare.run(f"set -e; export PATH=/opt/venv/bin:$PATH; {USE}").stdout)
    bare.run("/opt/venv/bin/pip uninstall -y headway")
    left = set(bare.run("find /opt/venv").stdout.split()) - set(before.split())
    assert [name for name in left if "headway" in name.lower()] == []


@pytest.mark.timeout(900)
def test_cmake(bare: BareRoot) -> None:
    """Installed, the source removed; then with a Python that has not what the command needs."""
    place_source(bare, "srv/source")
    bare.install("python3 cmake ninja-build gcc libc6-dev", MPIS)
    configure = "cmake -G Ninja -S . -B build -DHEADWAY_LIBRARY_DIR=$PWD/build/lib"
    bare.run(
        f"set -e; cd /srv/source; ({configure} && cmake --build build &&"
        " cmake --install build --prefix /opt/headway) >log 2>&1 || (tail -20 log; exit 1)",
        timeout_s=600,
    )
    bare.run("rm -rf /srv")
    path = "export PATH=/opt/headway/bin:$PATH"
    done = bare.run(f"{path}; headway --version", check=False)
    assert done.status == 1 and done.stdout == "" and done.stderr.count("\n") == 1, done.explain()
    assert "python3-jinja2 python3-rich" in done.stderr
    bare.install("python3-jinja2 python3-rich")
    is_used(bare.run(f"set -e; {path}; {USE}").stdout)
