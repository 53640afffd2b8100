# SPDX-License-Identifier: BSD-3-Clause
"""Running one command to its end with a time limit, collecting what it prints."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO, TypeVar

Found = TypeVar("Found")

#: A limit is spent in steps of so many seconds, and none counts for more than two of them.
STEP_S = 1.0


@dataclass(frozen=True)
class NodeBytes:
    """What crossed one node's link since the cluster was made."""

    node: str
    sent: int
    received: int


@dataclass
class RunResult:
    """How a program ended. `wire` is what crossed each node's link during the run, of other runs in
    the same cluster as well if `is_wire_shared`."""

    argv: list[str]
    returncode: int
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool = False
    leftovers: int = 0
    wire: list[NodeBytes] = field(default_factory=list)
    is_wire_shared: bool = False

    @property
    def is_ok(self) -> bool:
        return self.returncode == 0 and not self.timed_out


def collect(stream: IO[str], into: list[str], on_line: Callable[[str], None] | None) -> None:
    for line in stream:
        into.append(line)
        if on_line:
            try:
                on_line(line.rstrip("\n"))
            except OSError:
                on_line = None  # nobody reads it any more; the program does not wait for that
    stream.close()


def kill_group(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def within(limit_s: float | None, attempt: Callable[[float | None], Found]) -> Found:
    """Whatever `attempt`, given seconds, returns; subprocess.TimeoutExpired once it has raised that
    for `limit_s` in all.

    That is time in which the machine ran: one that others share may stand still as a whole, for a
    minute and more, and what was about to end then is no hang.
    """
    if limit_s is None:
        return attempt(None)
    while True:
        begun = time.monotonic()
        try:
            return attempt(min(STEP_S, limit_s))
        except subprocess.TimeoutExpired:
            limit_s -= min(time.monotonic() - begun, 2 * STEP_S)
            if limit_s <= 0:
                raise


def run_to_end(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | None,
    timeout: float | None,
    on_line: Callable[[str], None] | None,
    sweep: Callable[[], int],
) -> RunResult:
    """Run `argv` in a process group of its own; whatever happens, nothing of it survives.

    `sweep` ends what the group's kill cannot reach and says how many processes that were.
    """
    started = time.monotonic()
    process = subprocess.Popen(
        argv,
        env=dict(env),
        cwd=cwd,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    out: list[str] = []
    err: list[str] = []
    readers = [
        threading.Thread(target=collect, args=(process.stdout, out, on_line), daemon=True),
        threading.Thread(target=collect, args=(process.stderr, err, None), daemon=True),
    ]
    timed_out = False
    leftovers = 0
    try:
        for reader in readers:
            reader.start()
        within(timeout, process.wait)
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        seconds = time.monotonic() - started
        leftovers = sweep()
        kill_group(process)
        process.wait()
    for reader in readers:
        reader.join(5)
    status = 124 if timed_out else process.returncode
    return RunResult(list(argv), status, "".join(out), "".join(err), seconds, timed_out, leftovers)
