# SPDX-License-Identifier: BSD-3-Clause
"""What an unprivileged user of the machine can do to the jobs of another: nothing. SECURITY.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matrix
import pytest
import support
from headway import private
from headway.cluster import state
from headway.errors import HeadwayError
from headway.mpi import launch
from headway.mpi.mpis import Mpi

NOBODY = 65534
AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
GHOSTS = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}

is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@contextmanager
def running(mpi: Mpi, options: dict[str, str] | None) -> Iterator[list[int]]:
    """A job of two user processes at work; yields its processes."""
    program = support.compile_program(mpi, "endless_rma", [support.PROGRAMS / "endless_rma.c"])
    forward = {} if options is None else support.preloaded(mpi, options)
    made = launch.build(
        mpi,
        [str(program)],
        ranks=2 if options is None else 3,
        forward=forward,
        netmod=support.netmod(mpi),
        extra=support.launcher_extra(mpi),
    )
    tag = uuid.uuid4().hex
    with subprocess.Popen(
        made.argv,
        env={**support.job_environment(mpi, made.env), support.TAG: tag},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            missing = 2
            while missing and (line := process.stdout.readline()):
                missing -= "at-work" in line
            assert missing == 0, "the job did not start"
            yield support.tagged_processes(tag)
            assert process.poll() is None, "the job has ended"
        finally:
            support.kill_group(process, tag)


def names_of(pids: list[int]) -> dict[int, str]:
    return {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in pids}


def named_sockets(names: dict[int, str]) -> int:
    """Sockets with an address in the abstract namespace, of the job's ranks."""
    rows = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    named = {row[6] for row in rows if len(row) > 7 and row[7].startswith("@")}
    found = set()
    for pid, name in names.items():
        if name not in ("endless_rma", "headway-ghost", "headway-herald"):
            continue
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            match = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(entry))
            found |= {match[1]} if match else set()
    return len(found & named)


@is_root
@matrix.one_of_a("vendor")
def test_processes_of_a_job(mpi: Mpi) -> None:
    """Neither read, nor signalled, nor woken: what stands in for a ghost's address has no name."""
    with running(mpi, None) as pids:
        plain = named_sockets(names_of(pids))
    with running(mpi, GHOSTS) as pids:
        names = names_of(pids)
        assert sum(name.startswith("headway-") for name in names.values()) == 2, names
        assert named_sockets(names) * 2 <= plain * 3  # of three ranks, and of two
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            script = Path(folder) / "stranger.py"
            script.write_text((support.ROOT / "tests" / "stranger.py").read_text())
            argv = [*AS_NOBODY, "/usr/bin/python3", script, *map(str, pids)]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        assert done.stdout.splitlines() == ["done"], done.stdout + done.stderr
        assert names_of(pids) == names


@pytest.fixture
def guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The name of the command's folder, in a folder where everybody may write."""
    tmp_path.chmod(0o1777)
    monkeypatch.setattr(private, "path", lambda: tmp_path / "headway-0")
    return tmp_path / "headway-0"


@is_root
@pytest.mark.parametrize("how", ["owned", "shared", "linked", "file"])
def test_planted_folder(guessed: Path, how: str) -> None:
    """What somebody has put there under the name is neither read nor written."""
    if how == "linked":
        elsewhere = guessed.with_name("elsewhere")
        elsewhere.mkdir()
        guessed.symlink_to(elsewhere)
    elif how == "file":
        guessed.touch()
    else:
        guessed.mkdir()
        guessed.chmod(0o777)
    if how == "owned":
        os.chown(guessed, NOBODY, NOBODY)
        guessed.chmod(0o755)
    if how in ("owned", "shared"):
        planted = {"name": "c", "init": 1, "init_start": 1, "nodes": [], "options": {}}
        planted |= {"agent": "/tmp/agent-of-a-stranger", "interface": ""}
        (guessed / "c.json").write_text(json.dumps(planted))
    for use in (lambda: state.load("c"), state.load_all, private.made):
        with pytest.raises(HeadwayError, match="another user"):
            use()


def test_folder_of_ones_own(guessed: Path) -> None:
    assert private.existing() is None and state.load_all() == []
    assert private.made() == guessed and private.existing() == guessed
    assert guessed.stat().st_mode & 0o777 == 0o700
