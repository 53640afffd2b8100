# SPDX-License-Identifier: BSD-3-Clause
"""Description: the solvers of papers/003 solve, and no mode changes a bit of their answers."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
from headway.bench import analysis, solvers
from headway.bench import build as bench_build
from headway.mpi.mpis import Mpi

ROOT = Path(__file__).resolve().parents[2]

ADI = ("--size", "24", "--steps", "4", "--warmup", "0")
LU = ("--size", "96", "--block", "16", "--iterations", "1", "--warmup", "1")
THREAD = {"HEADWAY_ENGINE": "thread", "HEADWAY_EAGER_LIMIT": "1024", "HEADWAY_STAND_DOWN": "never"}
DEFERRED = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on", "HEADWAY_DEFER": "on"}


def built(mpi: Mpi, program: str) -> Path:
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, [program]) == 0
    return programs / mpi.name / program


@matrix.one_of_a("family")
def test_lines_have_one_answer(mpi: Mpi, tmp_path: Path) -> None:
    argv = [built(mpi, "adi"), *ADI]

    def plain(*words: str, ranks: int) -> dict:
        return support.object_of(support.run_mpi(mpi, [*argv, *words], ranks=ranks))

    serial, parted = plain(ranks=1), plain("--chunks", "4", ranks=3)
    assert 0 < serial["error"] < 0.2 * serial["start_error"]
    assert parted["bytes"] == solvers.adi_bytes(24, 3) and serial["bytes"] == 0
    done = support.run_mpi(mpi, argv, ranks=2, options=THREAD, records=tmp_path)
    found = support.object_of(done)
    assert done.total("tracked_p2p") > 0
    assert serial["digest"] == parted["digest"] == found["digest"]
    assert serial["error"] == parted["error"] == found["error"]


@matrix.only(
    lambda mpi: mpi.name != "ompi4", "Open MPI 4 keeps its own windows, which lose operations"
)
@matrix.one_of_a("family")
def test_factors_are_those_of_the_matrix(mpi: Mpi, tmp_path: Path) -> None:
    argv = [built(mpi, "lu"), *LU]
    serial = support.object_of(support.run_mpi(mpi, argv, ranks=1))
    assert 0 < serial["residual"] < 1
    for sync in solvers.SYNCS:
        done = support.run_mpi(
            mpi, [*argv, "--sync", sync], ranks=3, options=DEFERRED, records=tmp_path / sync
        )
        found = support.object_of(done)
        assert done.total("operations_redirected") > 0
        assert found["digest"] == serial["digest"] and 0 < found["residual"] < 1


def test_rows() -> None:
    def summary(value: float) -> dict:
        return dict.fromkeys(("median", "min", "max", "q1", "q3"), value)

    def launch(mode: str, wall_s: float, comm_s: float, digest: str = "a") -> dict:
        case = solvers.adi(64, 10)
        ranks = [{"comm_s": summary(comm_s), "cpu_s": summary(1.0), "total_s": summary(2.0)}]
        result = {
            **{"program": "adi", "bytes": case.sizes[0], "steps": 10, "wall_s": wall_s},
            **{"digest": digest, "total_s": summary(2.0), "by_rank": ranks},
            "compute": {"compute_alone_s": summary(0.004)},
        }
        return {
            **{"mpi": "m", "rate": "1gbit", "sockbuf": "small", "case": case.name},
            **{"program": "adi", "sizes": list(case.sizes), "mode": mode, "failure": ""},
            "wire_s": {str(case.sizes[0]): 0.006},
            "result": result,
        }

    launches = [
        launch("plain", 0.10, 0.004),
        launch("headway", 0.08, 0.002),
        launch("odd", 1, 1, "b"),
    ]
    rows = {row["mode"]: row for row in analysis.rows_make(launches)}
    derived = rows["headway"]["derived"]
    assert derived["ratio"] == pytest.approx(0.8) and derived["ratio_comm"] == pytest.approx(0.5)
    assert derived["recovered"] == pytest.approx(0.5), "of what is over the wire"
    assert rows["headway"]["is_same_answer"] and not rows["odd"]["is_same_answer"]
