# SPDX-License-Identifier: BSD-3-Clause
"""The command where a cluster has put it: full file systems, removed folders, damaged records,
programs with rights of their own."""

from __future__ import annotations

import argparse
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from headway import main, outcome, records
from headway.errors import HeadwayError
from headway.mpi import elf, program
from headway.record import endings
from headway.record.table import Record
from headway.report import runs
from headway.run import command
from headway.tune.command import Runner

Headway = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[2]
RECORD = json.dumps({"schema": 3, "rank": 0, "size": 2})


@pytest.mark.parametrize("word", ["-n", "-np", "--ranks"])
def test_ranks_as_launchers_ask_for_them(word: str) -> None:
    parser = argparse.ArgumentParser()
    command.add_program_arguments(parser)
    assert parser.parse_args([word, "3"]).ranks == 3


def test_ranks_that_are_no_number(headway: Headway) -> None:
    said = headway("run", "-n", "two", "app").stderr
    assert said == (
        "headway: argument -n/-np/--ranks: 'two' is not a number; see headway run --help\n"
    )


def stand_in(room: int, files: int) -> object:
    return type("Room", (), {"f_bavail": room, "f_files": 100, "f_favail": files})


@pytest.mark.parametrize("room, files", [(0, 5), (5, 0)])
def test_why_a_run_has_no_records(
    room: int, files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither room nor a file can be left; nothing is said where both are."""
    monkeypatch.setattr(os, "statvfs", lambda _: stand_in(5, 5))
    assert records.why_none(tmp_path) == ""
    monkeypatch.setattr(os, "statvfs", lambda _: stand_in(room, files))
    assert f"the file system of {tmp_path} is full" in records.why_none(tmp_path)


def test_records_that_are_gone_or_cut_off(tmp_path: Path) -> None:
    assert "are lost: " in records.why_none(tmp_path / "gone")
    (tmp_path / "headway.0.json").write_text(RECORD[:9])
    (tmp_path / "headway.1.json").write_text("")
    assert records.why_none(tmp_path) == ""  # they may be of an earlier run
    with pytest.raises(HeadwayError, match="no record can be read, of 2 files in .*cut off"):
        runs.load(tmp_path)


def test_folder_without_records(tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match="there are no records in"):
        runs.load(tmp_path)


@pytest.mark.parametrize("size, whose", [(1, "all ranks"), (2, "both ranks"), (9, "all 9 ranks")])
def test_ranks_are_those_of_the_run(size: int, whose: str) -> None:
    """One of them has left a record."""
    reason = {"all ranks share one node; HEADWAY_ENGINE=thread forces it": 1}
    one = Record.of({"engine": "off", "wall_s": 2.0, "size": size, "declined": reason})
    assert outcome.headline([one]).startswith(f"Not accelerated: {whose} share one node.")


@pytest.mark.parametrize(
    "status, ending, expected",
    [(0, "signal", 143), (0, "complete", 0), (9, "signal", 9), (0, "aborted", 0)],
)
def test_status_of_a_job_that_a_signal_ended(status: int, ending: str, expected: int) -> None:
    """Hydra ends with 0. A program may take the signal, and reach MPI_Finalize."""
    one = Record.of({"ending": ending, "ending_code": 15})
    assert command.Ended(status, passed=[15]).by_signal([one]) == expected
    assert command.Ended(status).by_signal([one]) == status


@pytest.mark.parametrize(
    "more, is_told",
    [({}, True), ({"ending": "signal", "ending_code": 11}, False), ({"size": 2}, False)],
)
def test_demo_is_for_who_has_reached_the_end(more: dict[str, object], is_told: bool) -> None:
    """A crash, or a rank without a record, is no occasion."""
    raw = {"engine": "off", "wall_s": 2.0, "size": 1, "host": "n0", "declined": {"no core": 1}}
    assert outcome.is_without_gain_here([Record.of({**raw, **more})]) == is_told


def test_negative_codes_of_abort() -> None:
    """MPI_Abort(MPI_COMM_WORLD, -1) is what many programs call."""
    one = Record.of({"rank": 0, "wall_s": 0.5, "ending": "aborted", "ending_code": -1})
    assert endings.lines([one]) == ["rank 0 called MPI_Abort with code -1 after 0.50 s"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_full_output(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise OSError(number, os.strerror(number))

    parser = argparse.ArgumentParser()
    parser.set_defaults(call=fail, command="report")
    monkeypatch.setattr(main, "build_parser", lambda _: parser)
    monkeypatch.setattr(sys, "stdout", open(os.devnull, "w"))
    assert main.main([]) == 1
    said = capsys.readouterr().err
    assert said == f"headway: cannot write: {os.strerror(number)}; make room\n"


def test_folder_that_is_gone(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    line = 'rmdir ../here && exec "$0" -m headway report records'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(ROOT / "cli"), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith("headway: "), done.stderr


@pytest.mark.parametrize("mode, is_refused", [(0o755, False), (0o4755, True), (0o2755, True)])
def test_program_with_the_rights_of_another(
    mode: int, is_refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loader ignores LD_PRELOAD for it; it does not for the owner."""
    path = tmp_path / "app"
    path.touch()
    path.chmod(mode)
    monkeypatch.setattr(os, "statvfs", lambda _: type("Mount", (), {"f_flag": 0}))
    monkeypatch.setattr(elf, "read", lambda _: elf.Elf(is_dynamic=True, is_program=True))
    monkeypatch.setattr(elf, "libraries", lambda _: {"libmpi.so.40": None})
    assert program.inspect_elf("app", path).flavour == "ompi"
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    monkeypatch.setattr(os, "getgid", lambda: path.stat().st_gid + 1)
    if not is_refused:
        assert program.inspect_elf("app", path).flavour == "ompi"
        return
    with pytest.raises(HeadwayError, match="setuid.*copy"):
        program.inspect_elf("app", path)


@pytest.mark.parametrize(
    "script, told",
    [("exit 3", "status 3 and wrote no error; try"), ("echo boom >&2; exit 3", "3: boom; try")],
)
def test_tune_of_a_program_that_fails(script: str, told: str) -> None:
    runner = object.__new__(Runner)
    runner.count, runner.limit_s, runner.pattern = 0, 60.0, None
    with pytest.raises(HeadwayError, match=f"run 1 ended with .*{told} it alone: "):
        runner.execute(["sh", "-c", script], {})
