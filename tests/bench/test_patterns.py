"""Description: the program of communication patterns gives one answer, plain and with ghosts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import support
from headway.bench import build as bench_build
from headway.mpis import Mpi

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = "rma_patterns"
SHORT = ("--sizes", "64", "--tile", "8", "--steps", "2", "--iterations", "2")

#: every operation, either kind of flush
SETTINGS = {
    "each": ("--flush", "each", "--operations", "2", "--strided"),
    "end": ("--flush", "end", "--operations", "3", "--before", "put", "--pattern", "to-one-node"),
}


def object_of(result: support.Result) -> dict:
    assert result.status == 0, result.explain()
    return json.loads(result.stdout)


@pytest.mark.parametrize("setting", SETTINGS)
def test_one_answer(mpi: Mpi, is_full: bool, setting: str, tmp_path: Path) -> None:
    if mpi.name == "ompi4":
        pytest.skip(f"{mpi.title} keeps its own windows, which lose operations, plain too")
    if not is_full and mpi.name not in ("mpich5", "ompi5"):
        pytest.skip("one MPI of each family; the others with --full")
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, [PROGRAM]) == 0
    argv = [programs / mpi.name / PROGRAM, *SHORT, *SETTINGS[setting]]
    plain = object_of(support.run_mpi(mpi, argv, ranks=3))
    ghosts = support.run_mpi(
        mpi,
        argv,
        ranks=4,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"},
        records=tmp_path / "records",
    )
    found = object_of(ghosts)
    assert ghosts.total("operations_redirected") > 0
    assert (plain["ranks"], found["ranks"]) == (3, 3)
    digests = [point["digest"] for document in (plain, found) for point in document["points"]]
    assert len(digests) == 2 and digests[0] == digests[1] != "0" * 16
    phases = {"compute_s", "comm_s", "sync_s", "cpu_s", "total_s"}
    assert phases <= set(found["points"][0]["by_rank"][0])


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
