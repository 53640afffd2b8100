# SPDX-License-Identifier: BSD-3-Clause
"""Description: the multigrid solver solves, and packed halos change no bit of its answer."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
from headway.bench import analysis
from headway.bench import build as bench_build
from headway.mpi.mpis import Mpi

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "mg"
SHORT = ("--size", "32", "--warmup", "0", "--thread-level", "serialized")
PACKED = {"HEADWAY_PACK": "on", "HEADWAY_PACK_MESSAGES": "yes"}


def answer(found: dict) -> tuple[str, str]:
    return found["norm_bits"], found["digest"]


@matrix.one_of_a("family")
def test_one_answer(mpi: Mpi, tmp_path: Path) -> None:
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, [PROGRAM]) == 0
    argv = [programs / mpi.name / PROGRAM, *SHORT]

    def plain(*words: str, ranks: int = 2) -> dict:
        return support.object_of(support.run_mpi(mpi, [*argv, *words], ranks=ranks))

    short, arrays = plain("--cycles", "1"), plain("--cycles", "3", "--layout", "arrays")
    assert 0 < arrays["norm"] < 0.1 * short["norm"]
    one_rank = plain("--cycles", "3", "--self", ranks=1)
    assert one_rank["norm"] == pytest.approx(arrays["norm"], rel=1e-6)
    packed = support.run_mpi(
        mpi,
        [*argv, "--cycles", "3", "--place", "single"],
        ranks=2,
        options=PACKED,
        records=tmp_path,
    )
    assert packed.total("packed_messages") > 0
    assert answer(support.object_of(packed)) == answer(arrays)


def launch(mode: str, comm_s: float, digest: str) -> dict:
    def summary(value: float) -> dict:
        return dict.fromkeys(("median", "min", "max", "q1", "q3"), value)

    return {
        "mpi": "mpich5",
        "rate": "10gbit",
        "sockbuf": "default",
        "case": "one rank",
        "program": PROGRAM,
        "mode": mode,
        "repetition": 0,
        "sizes": [],
        "wire_s": {},
        "failure": "",
        "records": [],
        "prediction": None,
        "result": {
            "program": PROGRAM,
            "bytes": 64,
            "norm_bits": "1",
            "digest": digest,
            "wall_s": 4.0,
            "packing_s": 0.06,
            "total_s": summary(0.2),
            "by_rank": [{"comm_s": summary(comm_s), "total_s": summary(0.2)}],
        },
    }


def test_rows() -> None:
    launches = [launch("plain", 0.1, "a"), launch("headway", 0.04, "a"), launch("odd", 0.1, "b")]
    rows = {row["mode"]: row for row in analysis.rows_make(launches)}
    derived = rows["headway"]["derived"]
    assert derived["ratio_comm"] == pytest.approx(0.4)
    assert derived["packing_share"] == pytest.approx(0.6)
    assert derived["ratio"] == derived["ratio_wall"] == pytest.approx(1.0)
    assert rows["headway"]["is_same_answer"] and not rows["odd"]["is_same_answer"]
