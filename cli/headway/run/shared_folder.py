# SPDX-License-Identifier: BSD-3-Clause
"""Whether other machines have a folder, too: for records of ranks there."""

from __future__ import annotations

from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")

#: file systems of networks; those of FUSE are named fuse.NAME
SHARED = {
    *("afs", "beegfs", "ceph", "cifs", "fhgfs", "gfs2", "glusterfs", "gpfs", "lustre", "nfs"),
    *("nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb3", "wekafs"),
}
FUSE = ("beegfs", "ceph", "glusterfs", "mfs", "s3fs", "sshfs")


def is_shared(folder: Path, mounts: Path = MOUNTS) -> bool:
    """By the type of the file system it is on; False where that is not known."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    found: tuple[int, str] = (0, "")
    for line in lines:  # proc_pid_mountinfo(5); a later mount covers an earlier one
        head, _, tail = line.partition(" - ")
        words = head.split()
        if len(words) < 5 or not tail:
            continue
        point = Path(words[4].encode().decode("unicode_escape"))  # a blank is \\040 there
        if folder.is_relative_to(point) and len(point.parts) >= found[0]:
            found = (len(point.parts), tail.split()[0])
    kind = found[1]
    return kind in SHARED or (kind.startswith("fuse.") and kind.endswith(FUSE))
