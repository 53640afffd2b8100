# SPDX-License-Identifier: BSD-3-Clause
"""Description: the suite of real programs runs pairs, compares answers and writes its page.

A small solver of ours stands in for the programs of the registries.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import matrix
import pytest
from headway.bench import build as bench_build
from headway.bench.programs import install, page, runner, suite
from headway.bench.programs.catalog import PROGRAMS, Answer, RealProgram
from headway.errors import HeadwayError
from headway.mpi.mpis import Mpi
from headway.record.older import record_of

ROOT = Path(__file__).resolve().parents[2]

ANSWER = Answer("checksum", r'"checksum": ?"?([^",}]+)')
MACHINE = {"cpu": "a processor", "cores": 2, "kernel": "6.0"}


def stand_in(binary: Path) -> RealProgram:
    return RealProgram(
        "stand-in",
        "Stand-in",
        "a heat solver",
        "MPI_Isend, MPI_Irecv, MPI_Waitall",
        ("mpich4", "mpich5", "ompi4"),
        (str(binary), "--columns", "65536", "--rows", "40", "--steps", "8"),
        (ANSWER,),
        timeout_s=240.0,
        seconds=r'"wall_s": ?([\d.e-]+)',
    )


def document_of(rows: list[dict]) -> dict:
    described = {
        "title": "Stand-in",
        "does": "a heat solver",
        "communicates": "it does",
        "compared": "checksum",
        "versions": {"stand-in": "1"},
        "rate": "1gbit",
        "sockbuf": "default",
    }
    return {
        "title": suite.TITLE,
        "date": "2026-01-01T00:00:00",
        "machine": MACHINE,
        "commit": "0",
        "options": {"pairs": 1, "rate": "1gbit"},
        "mpis": {"m": "An MPI", "mpich4": "MPICH 4", "mpich5": "MPICH 5", "ompi4": "Open MPI 4"},
        "rows": [{**described, **row} for row in rows],
    }


def run_pairs(program: RealProgram, mpi: Mpi, pairs: int, scratch: Path, told: list[dict]) -> dict:
    row, _ = runner.program_run(
        program,
        mpi,
        rate="none",
        sockbuf="default",
        pairs=pairs,
        libraries=ROOT / "build" / "lib",
        scratch=scratch,
        tell=told.append,
    )
    return row


@matrix.only(  # MPICH 4.0 may hang in MPI_Finalize, plain too
    matrix.on("mpich5", "ompi4"), "one MPI of each family is enough"
)
def test_pairs_profile_and_page(mpi: Mpi, tmp_path: Path) -> None:
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, ["halo"]) == 0
    told: list[dict] = []
    row = run_pairs(stand_in(programs / mpi.name / "halo"), mpi, 2, tmp_path, told)
    assert row["failures"] == []
    assert [launch["mode"] for launch in told] == [
        *("plain", "headway"),
        *("headway", "plain"),
        "profile",
    ]
    assert row["is_same_answer"] and row["pairs"] == 2
    assert len(row["each_s"]) == 2 and all(
        seconds > 0 for pair in row["each_s"] for seconds in pair
    )
    assert row["headway"]["tracked"] > 0, (
        "the engine had nothing to do: the stand-in proves nothing"
    )
    assert row["profile"]["calls"] > 0 and row["profile"]["sites"]
    assert not list(tmp_path.glob("stand-in-*")), "left a working folder behind"
    text = " ".join(page.page_make(document_of([row])).split())
    assert "Every answer is unchanged" in text and "Stand-in" in text


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_a_failing_program_is_a_row(mpi: Mpi, tmp_path: Path) -> None:
    broken = replace(stand_in(Path("/bin/false")), command=("/bin/false",))
    row = run_pairs(broken, mpi, 1, tmp_path, [])
    assert row["pairs"] == 0 and not row["is_same_answer"]
    assert any("exit status" in failure for failure in row["failures"])
    assert "did not run" in page.page_make(document_of([row]))


def launched(mode: str, seconds: float, checksum: str) -> dict:
    return {
        "mode": mode,
        "seconds": seconds,
        "job_s": seconds + 1.0,
        "answers": {"checksum": [checksum]},
        "records": [record_of({"rank": 0, "size": 1, "wall_s": seconds})],
        "wire_bytes": 0,
        "failure": "",
    }


def row_of(pairs: list[tuple[float, float]], checksum: str = "1.5") -> dict:
    program = stand_in(Path("halo"))
    rows = [[launched("plain", a, "1.5"), launched("headway", b, checksum)] for a, b in pairs]
    mpi = type("AnMpi", (), {"name": "m"})()
    return runner.row_make(program, mpi, rows, launched("profile", 1.0, "1.5"))


def test_a_changed_answer_is_found() -> None:
    assert row_of([(1.0, 1.0)])["is_same_answer"]
    changed = row_of([(1.0, 1.0)], "1.6")
    assert not changed["is_same_answer"]
    assert "**CHANGED**" in page.page_make(document_of([changed]))


def test_tolerance_is_for_numbers_only_where_one_is_given() -> None:
    assert not runner.is_same_text(["1.0"], ["1.0000001"], 0.0)
    assert runner.is_same_text(["1.0"], ["1.0000001"], 1e-6)
    assert not runner.is_same_text(["1.0"], ["1.1"], 1e-6)
    assert not runner.is_same_text(["1.0"], ["1.0", "2.0"], 1e-6)


@pytest.mark.parametrize(
    ("pairs", "word"),
    [
        ([(1.0, 0.8)] * 3, "faster"),
        ([(1.0, 1.005)] * 3, "the same"),
        ([(1.0, 1.05)] * 3, "slower"),
        ([(1.0, 0.9), (1.0, 1.05), (1.0, 1.06), (1.0, 0.92)], "the same"),
    ],
)
def test_verdict_is_of_pairs(pairs: list[tuple[float, float]], word: str) -> None:
    row = row_of(pairs)
    assert page.verdict(row) == word
    assert row["ratio"]["median"] == pytest.approx(
        sorted(b / a for a, b in pairs)[1] if len(pairs) == 3 else 0.985, abs=1e-3
    )


def test_rows_of_other_programs_are_kept(tmp_path: Path) -> None:
    earlier = tmp_path / "programs.json"
    key = {"mpi": "m", "rate": "1gbit", "sockbuf": "default"}
    earlier.write_text(
        '{"mpis": {}, "rows": [{"program": "a", "mpi": "m", "rate": "1gbit", "sockbuf": "default"},'
        '{"program": "b", "mpi": "m", "rate": "1gbit", "sockbuf": "default", "old": 1}]}'
    )
    fresh = {"mpis": {"m": "M"}, "rows": [{"program": "b", **key}]}
    rows = suite.merged(earlier, fresh)["rows"]
    assert [row["program"] for row in rows] == ["a", "b"] and "old" not in rows[1]


def test_nothing_is_installed_without_consent(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[object] = []
    monkeypatch.setattr(install, "debian_version", lambda package: "")
    monkeypatch.setattr(install, "run", lambda *words: called.append(words))
    with pytest.raises(HeadwayError, match="not installed"):
        install.ensure(PROGRAMS, consent=False)
    assert not called


def test_the_table_is_sound() -> None:
    names = [program.name for program in PROGRAMS]
    assert len(names) == len(set(names))
    for program in PROGRAMS:
        assert program.answers and program.mpis and (program.debian or program.python)
        assert not program.inputs or list((runner.HERE / "inputs" / program.inputs).iterdir())
        assert set(program.python) <= set(install.pins()), program.name
