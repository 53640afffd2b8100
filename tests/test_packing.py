# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Pack and MPI_Unpack by plans of datatypes: the same bytes and errors as plain."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
from headway.mpi.mpis import Mpi

ON = {"HEADWAY_PACK": "on"}
TREES = 400
TREES_FULL = 20000
#: Of a thousand random datatypes so many at most may be left to the MPI.
REFUSED_MAX = 0.02
WAYS = ["on", "auto"]
AUTO_CALLS = 20
#: MPICH 4.0's own unpacking reads and writes outside of all buffers for one datatype in 100,000. It
#: dies of that in every third launch.
PLAIN_LAUNCHES = 8


def build(mpi: Mpi, name: str) -> Path:
    return support.compile_program(mpi, name, [support.PROGRAMS / f"{name}.c"])


def is_turn(mpi: Mpi, way: str, names: list[str]) -> bool:
    return matrix.has_turn("vendor", mpi, names, WAYS.index(way))


def check_plain_lives(mpi: Mpi, argv: list[str | Path]) -> None:
    """Leaves the test if plain MPICH 4.0 dies of these datatypes."""
    launches = range(PLAIN_LAUNCHES if mpi.name == "mpich4" else 0)
    if any(support.run_mpi(mpi, argv, ranks=1).status for _ in launches):
        pytest.skip("plain MPICH 4.0 dies of one of these datatypes")


@matrix.quick(is_turn, "another MPI of the vendor")
@matrix.check(lambda mpi: mpi.name == "mpich4")
@pytest.mark.parametrize("way", WAYS)
def test_random_datatypes(
    mpi: Mpi,
    way: str,
    is_full: bool,
    tmp_path: Path,
    first_seed: int,
) -> None:
    """Every constructor, five deep. By auto the first of them are packed by both ways, and ever
    fewer of those that follow, since none comes back often enough to be worth a plan."""
    trees = TREES_FULL if is_full else TREES
    argv = [build(mpi, "packing"), str(trees), str(first_seed)]
    done = support.run_mpi(
        mpi, argv, ranks=1, options={"HEADWAY_PACK": way}, records=tmp_path, timeout_s=600
    )
    plain = support.run_mpi(mpi, argv, ranks=1, timeout_s=600)
    if done.status or plain.status:
        check_plain_lives(mpi, argv)
    assert (done.status, plain.status) == (0, 0), done.explain()
    assert done.lines == plain.lines, done.explain()
    assert done.total("packed_calls") > (trees if way == "on" else AUTO_CALLS)
    assert done.total("packed_bytes") > 1024 * done.total("packed_calls")
    (record,) = done.records
    learnt = record["packing"]
    assert sum(kind["calls"] for kind in learnt if "calls" in kind) == record["packed_calls"]
    assert way == "on" or any(k["mpi_ns"] and k["headway_ns"] for k in learnt if "mpi_ns" in k)
    assert sum(record["declined"].values()) <= REFUSED_MAX * trees, record["declined"]


def test_errors_are_those_of_the_mpi(
    mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    argv = [build(mpi, "packing_errors")]
    plain = plain_run(mpi, argv, ranks=1)
    done = support.run_mpi(mpi, argv, ranks=1, options=ON, records=tmp_path)
    assert done.status == 0, done.explain()
    assert done.lines == plain.lines, done.explain()
    assert done.total("packed_calls") > 80


@matrix.quick(is_turn, "another MPI of the vendor")
@pytest.mark.parametrize("way", WAYS)
def test_threads_have_datatypes_of_their_own(
    mpi: Mpi, way: str, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    argv = [build(mpi, "packing_threads")]
    plain = plain_run(mpi, argv, ranks=1)
    done = support.run_mpi(mpi, argv, ranks=1, options={"HEADWAY_PACK": way}, records=tmp_path)
    assert done.status == 0, done.explain()
    assert done.lines == plain.lines, done.explain()
    assert done.total("packed_calls") > (1000 if way == "on" else 10)


@matrix.one_of_a("family")
@pytest.mark.parametrize("options", [{"HEADWAY_PACK": "off"}, {"HEADWAY_ENGINE": "off"}])
def test_off_packs_nothing(mpi: Mpi, options: dict[str, str], tmp_path: Path) -> None:
    argv = [build(mpi, "packing_errors")]
    done = support.run_mpi(mpi, argv, ranks=1, options=options, records=tmp_path)
    assert done.status == 0, done.explain()
    assert done.total("packed_calls") == 0


@matrix.only(matrix.on("mpich5"), "plain cannot begin again, or gives out other handles")
def test_a_handle_of_an_earlier_life(mpi: Mpi, plain_run: support.PlainRuns) -> None:
    argv = [build(mpi, "packing_again")]
    plain = plain_run(mpi, argv, ranks=1)
    done = support.run_mpi(mpi, argv, ranks=1, options=ON)
    assert (plain.status, done.status) == (0, 0), done.explain()
    assert done.lines == plain.lines, done.explain()
    assert all(line.endswith("wrong 0") for line in done.lines), done.explain()
