# SPDX-License-Identifier: BSD-3-Clause
"""A Debian with nothing installed, of this machine's release: where a new user begins.

debootstrap makes it once, in build/tests/bare/; each `BareRoot` is an overlay of its own above it.
A command in it has its own mounts, processes, host name and, if it wants, network: whatever it
starts ends with it. Only root can make one, so tests skip elsewhere.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import support

BARE = support.BUILD / "bare"
MIRROR = "http://deb.debian.org/debian"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
HOST, ADDRESS = "n0", "10.77.0.1"

#: run by bash in new namespaces: $1 is the folder of the overlay, $2 what runs inside
ENTER = """
set -e
root=$1/root
mount -t overlay overlay -o "lowerdir=$BARE_LOWER,upperdir=$1/upper,workdir=$1/work" "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t tmpfs tmpfs "$root/run"
mount --bind "$BARE_ARCHIVES" "$root/var/cache/apt/archives"
hostname "$BARE_HOST"
if [ "$BARE_NET" = own ]; then # an address beside that of lo: some look names up for no others
    ip link set lo up
    ip link add eth0 type veth peer name eth1
    ip address add $BARE_ADDRESS/24 dev eth0
    ip link set eth0 up
    ip link set eth1 up
fi
exec setsid -w chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 \
    /bin/bash -c "cd /root; $2"
"""


def codename() -> str:
    return platform.freedesktop_os_release().get("VERSION_CODENAME", "")


def base() -> Path:
    """The root below all others, made if there is none yet."""
    place = BARE / codename()
    if place.exists():
        return place
    scratch = BARE / f".{codename()}.{os.getpid()}"
    scratch.mkdir(parents=True)
    try:
        words = ["debootstrap", "--variant=minbase", codename(), scratch, MIRROR]
        done = support.run_group(words, timeout_s=600)
        if done.status != 0:
            pytest.skip(f"debootstrap fails here: {(done.stdout + done.stderr)[-200:]}")
        sources = [f"deb {MIRROR} {codename()}{pocket} main" for pocket in ("", "-updates")]
        (scratch / "etc/apt/sources.list").write_text("\n".join(sources) + "\n")
        (scratch / "etc/hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} {HOST}\n")
        (scratch / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")  # starts no service
        (scratch / "usr/sbin/policy-rc.d").chmod(0o755)
        if CERTIFICATES.exists():
            (scratch / "etc/ssl/certs").mkdir(parents=True, exist_ok=True)
            shutil.copyfile(CERTIFICATES, scratch / CERTIFICATES.relative_to("/"))
        scratch.rename(place)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return place


class BareRoot:
    """One overlay. Files of it are below `root` only for commands inside; from outside, what was
    put or made is below `upper`."""

    def __init__(self, folder: Path) -> None:
        if os.geteuid() != 0:
            pytest.skip("only root can enter a bare root")
        if not shutil.which("debootstrap", path=f"{os.environ['PATH']}:/usr/sbin:/sbin"):
            pytest.skip("no debootstrap here")
        self.folder, self.upper = folder, folder / "upper"
        for name in ("upper", "work", "root"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        self.lower = base()

    def run(
        self, script: str, *, timeout_s: float = 300, has_own_net: bool = True, check: bool = True
    ) -> support.Result:
        """Runs a script of bash as root inside, in the home folder."""
        archives = BARE / "archives"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        words = ["unshare", "--mount", "--pid", "--ipc", "--uts", "--fork", "--kill-child"]
        words += ["--propagation", "private", *(["--net"] if has_own_net else [])]
        env: Mapping[str, str] = {
            **os.environ,
            "BARE_LOWER": str(self.lower),
            "BARE_ARCHIVES": str(archives),
            "BARE_HOST": HOST,
            "BARE_ADDRESS": ADDRESS,
            "BARE_NET": "own" if has_own_net else "host",
            "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin",
        }
        argv = [*words, "bash", "-c", ENTER, "bash", self.folder, script]
        done = support.run_group(argv, env, timeout_s)
        assert not check or done.status == 0, done.explain()
        return done

    def install(self, *packages: str) -> None:
        """Debian packages, from the machine's network."""
        shutil.copyfile("/etc/resolv.conf", self.make("etc/resolv.conf"))
        words = "apt-get install -y -qq --no-install-recommends"
        self.run(
            f"(apt-get update -qq && {words} {' '.join(packages)}) >apt.log 2>&1"
            " || { tail -5 apt.log; exit 1; }",
            timeout_s=600,
            has_own_net=False,
        )

    def make(self, name: str) -> Path:
        """Where to write what is to be at NAME inside. No command may run meanwhile."""
        place = self.upper / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def remove(self) -> None:
        subprocess.run(["rm", "-rf", "--one-file-system", self.folder], check=False)


def source_tree(folder: Path) -> None:
    """What a clone holds, but for the data of results, into FOLDER."""
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(words, cwd=support.ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        if name.startswith("doc/results/data/") or not (support.ROOT / name).is_file():
            continue
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(support.ROOT / name, target)
