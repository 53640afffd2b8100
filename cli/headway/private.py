# SPDX-License-Identifier: BSD-3-Clause
"""The folder of what one command leaves for another: the user's own, gone after a reboot.

Its name may be one that everybody can guess, in a folder where everybody may write. So nothing is
read there, locked or written unless the folder is known to be the user's.
"""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from headway.errors import HeadwayError


def path() -> Path:
    if os.geteuid() == 0:
        return Path("/run/headway")
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "headway"
    return Path(tempfile.gettempdir()) / f"headway-{os.getuid()}"


def is_own(folder: Path) -> bool:
    """False too where there is none."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not is_shared


def existing() -> Path | None:
    """The folder, if it is there. A stranger's is an error, not an empty one."""
    folder = path()
    if is_own(folder):
        return folder
    if folder.is_symlink() or folder.exists():
        raise HeadwayError(
            f"{folder} belongs to another user, or others may write there",
            "remove it, or set XDG_RUNTIME_DIR",
        )
    return None


def made() -> Path:
    """The folder, made if it is not there."""
    folder = path()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        pass  # no folder
    return existing() or folder
