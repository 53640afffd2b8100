# SPDX-License-Identifier: BSD-3-Clause
"""Idle OpenMP threads of a program take part in packing, and in copies within a node.

Whether they come in time is the machine's matter, and not asserted here. It is in the team's
unit program, which runs here with LLVM's runtime, and in ctest with GCC's. Between parallel regions
they are not asked while other programs have the processors; within one they always are, where the
job is long enough to be shared.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import matrix
import pytest
import support
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi

pytestmark = pytest.mark.alone

#: of a program in which an idle thread has to come in time
LAUNCHES = 4
PROGRAM = support.ROOT / "build/cmake/unit/test_team_openmp"


def llvm_runtime() -> Path | None:
    found = sorted(Path("/usr/lib").glob("llvm-*/lib/libomp.so.5"))
    return found[-1] if found else None


@pytest.mark.parametrize("policy", ["active", "passive"])
def test_llvm_runtime(tmp_path: Path, policy: str) -> None:
    runtime = llvm_runtime()
    if runtime is None:
        pytest.skip("no libomp: Debian has it in libomp5")
    (tmp_path / "libgomp.so.1").symlink_to(runtime)  # it has the names of GCC's, too
    done = subprocess.run(
        [PROGRAM],
        env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "OMP_WAIT_POLICY": policy},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[       OK ] test_single" in done.stdout + done.stderr


def sums_of(records: list[dict[str, Any]]) -> dict[str, int]:
    """Of the counters of a launch's records; idle threads were asked to share a job."""
    counters = ("packed_calls", "packed_messages", "operations_copied", "team_jobs", "team_pieces")
    sums = {counter: sum(record[counter] for record in records) for counter in counters}
    assert sums["team_jobs"] > 0, sums
    return sums


@matrix.one_of_a("family")
def test_threads_of_the_program(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    sources = [support.PROGRAMS / "team.c"]
    argv = [support.compile_program(mpi, "team", sources, ["-fopenmp"])]
    plain = plain_run(mpi, argv, ranks=2)
    options = {"HEADWAY_PACK": "on"}
    done = support.run_mpi(mpi, argv, ranks=2, options=options, records=tmp_path)
    assert done.status == 0, done.explain()
    assert done.lines == plain.lines
    assert sums_of(done.records)["packed_calls"] > 0


@matrix.quick(lambda mpi, runtime: runtime == "GCC" or mpi.flavour == "mpich", "one runtime")
@matrix.one_of_a("family")
@pytest.mark.parametrize("runtime", ["GCC", "LLVM"])
def test_messages(mpi: Mpi, runtime: str, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    """Nothing but messages is packed, so every piece is one of a message. Whether another thread
    comes in time for one is the machine's matter: a launch in which none did is counted."""
    flags = ["-fopenmp"]
    if runtime == "LLVM":
        found = llvm_runtime()
        if found is None:
            pytest.skip("no libomp: Debian has it in libomp5")
        (tmp_path / "lib").mkdir()
        (tmp_path / "lib/libgomp.so.1").symlink_to(found)
        flags.append(f"-Wl,--disable-new-dtags,-rpath,{tmp_path / 'lib'}")
    sources = [support.PROGRAMS / "team_messages.c"]
    name = f"team_messages_{runtime.lower()}"
    if runtime == "LLVM":
        (support.BUILD / mpi.name / name).unlink(missing_ok=True)  # another folder each time
    # Intel MPI makes a system call for each row within a node: a message takes seconds, plain.
    calls = ["2"] if mpi.name == "impi" else []
    argv = [support.compile_program(mpi, name, sources, flags), *calls]
    plain = plain_run(mpi, argv, ranks=2)
    options = {"HEADWAY_PACK": "on", "HEADWAY_PACK_MESSAGES": "yes"}
    for number in range(LAUNCHES):
        records = tmp_path / f"records-{number}"
        done = support.run_mpi(mpi, argv, ranks=2, options=options, records=records)
        assert done.status == 0, done.explain()
        assert done.lines == plain.lines
        sums = sums_of(done.records)
        assert sums["packed_messages"] > 0 and sums["packed_calls"] == 0
        if not support.tally("no idle thread came for a message", sums["team_pieces"] == 0):
            break
    assert sums["team_pieces"] > 0


@matrix.only(matrix.on("mpich4"), "the team knows no MPI")
def test_copies_within_a_node(mpi: Mpi, tmp_path: Path) -> None:
    """Put and Get of windows that ghosts serve: on two nodes, as within one the MPI does them."""
    argv = [support.compile_program(mpi, "team", [support.PROGRAMS / "team.c"], ["-fopenmp"])]
    options = {"HEADWAY_PACK": "off", "HEADWAY_GHOSTS": "1", "HEADWAY_ENGINE": "off"}
    common = {"netmod": support.netmod(mpi), "launcher_args": support.launcher_extra(mpi)}
    preloaded = {"LD_PRELOAD": str(support.library(mpi)), "HEADWAY_RECORD": str(tmp_path)}
    with Cluster(2, rate="none", pin="none") as cluster:
        done = cluster.run(mpi, argv, ranks_per_node=3, env={**preloaded, **options}, **common)
    assert done.is_ok, done.stderr[-2000:]
    assert sums_of(support.read_records(tmp_path))["operations_copied"] > 0


@matrix.one_of_a("family")
def test_more_threads_than_processors(mpi: Mpi) -> None:
    argv = [support.compile_program(mpi, "doors", [support.PROGRAMS / "doors.c"])]
    done = support.run_mpi(mpi, argv, ranks=2, options={"HEADWAY_PACK_THREADS": "1023"})
    assert done.status == 78, done.explain()
    assert "HEADWAY_PACK_THREADS is 1023" in done.stderr


@matrix.one_of_a("family")
def test_more_threads_than_the_process_may_use(mpi: Mpi) -> None:
    """The machine may have more processors."""
    argv = [support.compile_program(mpi, "doors", [support.PROGRAMS / "doors.c"])]
    one = str(min(os.sched_getaffinity(0)))
    done = support.run_mpi(
        mpi, ["taskset", "-c", one, *argv], ranks=2, options={"HEADWAY_PACK_THREADS": "2"}
    )
    assert done.status == 78, done.explain()
    assert "HEADWAY_PACK_THREADS is 2, but this process may use 1 of the" in done.stderr


@matrix.one_of_a("family")
def test_runtime_without_the_entry_points(mpi: Mpi, tmp_path: Path) -> None:
    sources = [support.PROGRAMS / "partial_openmp.c"]
    argv = [support.compile_program(mpi, "partial_openmp", sources, ["-rdynamic"])]
    options = {"HEADWAY_PACK": "on"}
    done = support.run_mpi(mpi, argv, ranks=1, options=options, records=tmp_path)
    assert done.status == 0, done.explain()
    assert done.total("packed_calls") > 0 and done.total("team_jobs") == 0
    (record,) = done.records
    assert any("OpenMP runtime has not" in reason for reason in record["declined"]), record
