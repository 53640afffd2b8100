# SPDX-License-Identifier: BSD-3-Clause
"""Description: the program of communication patterns gives one answer, plain and with ghosts."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
from headway.bench import build as bench_build
from headway.bench import cases
from headway.mpi.mpis import Mpi

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = "rma_patterns"
SHORT = ("--sizes", "64", "--tile", "8", "--steps", "2", "--iterations", "2")

#: every operation, either kind of flush
SETTINGS = {
    "each": ("--flush", "each", "--operations", "2", "--strided"),
    "end": ("--flush", "end", "--operations", "3", "--before", "put", "--pattern", "to-one-node"),
}


@matrix.only(
    lambda mpi: mpi.name != "ompi4", "Open MPI 4 keeps its own windows, which lose operations"
)
@matrix.one_of_a("family")
@pytest.mark.parametrize("setting", SETTINGS)
def test_one_answer(mpi: Mpi, setting: str, tmp_path: Path) -> None:
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, [PROGRAM]) == 0
    argv = [programs / mpi.name / PROGRAM, *SHORT, *SETTINGS[setting]]
    plain = support.object_of(support.run_mpi(mpi, argv, ranks=3))
    found = support.run_served(mpi, argv, users=3, records=tmp_path / "records")
    assert (plain["ranks"], found["ranks"]) == (3, 3)
    digests = [point["digest"] for document in (plain, found) for point in document["points"]]
    assert len(digests) == 2 and digests[0] == digests[1] != "0" * 16
    phases = {"compute_s", "comm_s", "sync_s", "cpu_s", "total_s"}
    assert phases <= set(found["points"][0]["by_rank"][0])


WINDOWS = {
    "overlap_p2p": ("--sizes", "64k", "--work-units", "9", "--iterations", "4"),
    "overlap_coll": ("--sizes", "64k", "--work-units", "9", "--iterations", "4"),
    "halo": ("--columns", "2048", "--rows", "8", "--steps", "4"),
}


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
@pytest.mark.parametrize("program", WINDOWS)
def test_the_computation_alone_changes_nothing(mpi: Mpi, program: str) -> None:
    """What `--beside` measures is there, in its place, and the answer is the same."""
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, [program]) == 0
    argv = [programs / mpi.name / program, *WINDOWS[program]]
    free, beside = (
        support.object_of(support.run_mpi(mpi, [*argv, *more], ranks=2))
        for more in ((), ("--beside",))
    )
    points = [one["points"][0] if "points" in one else one for one in (free, beside)]
    answers = [one.get("digest") or one["checksum"] for one in points]
    assert answers[0] == answers[1] != "0" * 16
    assert not any("alone_s" in rank for rank in points[0]["by_rank"])
    for rank in points[1]["by_rank"]:
        total, alone, over = (rank[name] for name in ("total_s", "alone_s", "over_alone_s"))
        assert alone["min"] > 0
        rounding = 1e-9 * (total["max"] + alone["max"])
        assert over["max"] <= total["max"] - alone["min"] + rounding
        assert over["min"] >= total["min"] - alone["max"] - rounding
        assert rank["of_alone"]["max"] <= total["max"] / alone["min"] * (1 + 1e-9)


def test_a_missing_library_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(
        bench_build, "LIBRARIES", {PROGRAM: ("-lthere_is_none", "BLAS", "libblas-dev")}
    )
    assert bench_build.build([], tmp_path, [PROGRAM]) == 1
    assert capsys.readouterr().err == (
        "bench: rma_patterns is not built: no BLAS (-lthere_is_none); Debian: libblas-dev\n"
    )
    assert bench_build.build([], tmp_path) == 0, "the other programs build without it"


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_patterns_move_the_bytes_of_an_exchange(mpi: Mpi) -> None:
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, ["phases"]) == 0
    kinds = ("exchange", *cases.PATTERNS)
    phases = ",".join(f"{kind}:64k:9:2" for kind in kinds)
    argv = [programs / mpi.name / "phases", "--beside", "--phases", phases]
    found = support.object_of(support.run_mpi(mpi, argv, ranks=2))
    assert tuple(phase["kind"] for phase in found["phases"]) == kinds
    digests = {phase["kind"]: phase["digest"] for phase in found["phases"]}
    others = {
        digests.pop(kind) for kind in ("columns", "double_buffered", "prefetched", "neighbors")
    }
    (same,) = set(digests.values())
    assert len(others) == 3 and same not in others
