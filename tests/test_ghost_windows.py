# SPDX-License-Identifier: BSD-3-Clause
"""Windows that ghosts serve: what they share, and what else lives beside them."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
import two_nodes
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi
from test_ghosts import is_served, is_spread, program_of

is_intel = matrix.only(lambda mpi: mpi.is_intel, "only Intel MPI takes windows for one another")

#: With two ghosts a node that share the operations there is no common shadow window.
APART = {"HEADWAY_GHOST_BALANCE": "operations"}
BY_MESSAGES = {"MPIR_CVAR_CH4_OFI_ENABLE_RMA": "0"}

#: In which a job that fills its memory does not fill the machine's.
LOCKED_S = 10.0

#: Ghosts a node, options of the environment, and whether the second window is served.
BESIDE = [(1, {}, True), (2, APART, False), (2, {**APART, **BY_MESSAGES}, True)]


@is_intel
@pytest.mark.parametrize(
    "ghosts, environment, serves", BESIDE, ids=["common", "apart", "apart-by-messages"]
)
def test_beside_a_declined_window(
    mpi: Mpi, ghosts: int, environment: dict[str, str], serves: bool, tmp_path: Path
) -> None:
    """Intel MPI ends jobs whose windows do not all have the same processes, plain too."""
    argv = [str(program_of(mpi, "beside"))]
    records = two_nodes.same_output(mpi, argv, tmp_path, ghosts=ghosts, environment=environment)
    told = {text for record in records for text in record["declined"]}
    assert any("could take for one of others" in text for text in told) != serves, told
    assert all((record["windows_redirected"] > 0) == serves for record in records)


@is_intel
def test_beside_a_window_of_one(mpi: Mpi, tmp_path: Path) -> None:
    """The same without ghosts ends Intel MPI: what is served needs no window of the program's."""
    settings = {
        "LD_PRELOAD": str(support.library(mpi)),
        "HEADWAY_GHOSTS": "1",
        "HEADWAY_RECORD": str(tmp_path),
    }
    argv = [str(program_of(mpi, "beside"))]
    with Cluster(2, pin="none") as cluster:
        plain = cluster.run(mpi, argv, ranks_per_node=1, timeout=60)
        headway = cluster.run(mpi, [*argv, "alone"], ranks_per_node=2, env=settings, timeout=60)
    assert plain.is_ok, plain.stderr[-2000:]
    assert headway.is_ok, headway.stderr[-2000:]
    served = [line for line in plain.stdout.splitlines() if "served" in line]
    assert sorted(headway.stdout.splitlines()) == sorted(served)
    assert all(record["windows_redirected"] > 0 for record in support.read_records(tmp_path))


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
@pytest.mark.parametrize("is_common", [True, False], ids=["common", "own"])
def test_first_process_leaves(mpi: Mpi, is_common: bool, tmp_path: Path) -> None:
    """Ghosts of a node whose processes are in MPI_Finalize are still there for the others: the
    first ghost has the gate, without which no shadow window is made."""
    program = str(program_of(mpi, "leaves"))
    apart = ["sh", "-c", 'ulimit -f 4000000; exec "$0"', program]
    argv = [program] if is_common else apart
    settings = {
        "LD_PRELOAD": str(support.library(mpi)),
        "HEADWAY_GHOSTS": "1",
        "HEADWAY_RECORD": str(tmp_path),
    }
    common = {"netmod": support.netmod(mpi), "timeout": 60}
    with Cluster(3, rate="none", pin="none") as cluster:
        plain = cluster.run(mpi, [program], ranks_per_node=1, **common)
        headway = cluster.run(mpi, argv, ranks_per_node=2, env=settings, **common)
    assert plain.is_ok, plain.stderr[-2000:]
    assert headway.is_ok, headway.stderr[-2000:]
    assert sorted(headway.stdout.splitlines()) == sorted(plain.stdout.splitlines())
    served = [record["windows_redirected"] for record in support.read_records(tmp_path)]
    assert sorted(served) == [0, 5, 5]


#: Arguments (windows freed in MPI_Finalize alone, which ends some MPIs plain), ghosts, options.
CALLED_BACK = [((), 1, {}), (("leak",), 1, {}), (("leak",), 2, APART)]


@is_served
@matrix.quick(lambda mpi, ghosts: ghosts == 1 or mpi.name in ("mpich5", "ompi5"))
@pytest.mark.parametrize(
    "arguments, ghosts, options", CALLED_BACK, ids=["freed", "at-end", "at-end-apart"]
)
def test_callbacks(
    mpi: Mpi,
    arguments: tuple[str, ...],
    ghosts: int,
    options: dict[str, str],
    tmp_path: Path,
    plain_run: support.PlainRuns,
) -> None:
    """What callbacks that run within MPI are told of a window."""
    program = program_of(mpi, "window_callbacks")
    plain = plain_run(mpi, [program], ranks=3)
    headway = support.run_mpi(
        mpi,
        [program, *arguments],
        ranks=3 + ghosts,
        options={"HEADWAY_GHOSTS": str(ghosts), "HEADWAY_REDIRECT": "on", **options},
        records=tmp_path,
    )
    assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
    assert [record["windows_redirected"] for record in headway.records] == [3] * 3


def libraries(mpi: Mpi, has_shim: bool) -> str:
    """What is preloaded."""
    if not has_shim:
        return str(support.library(mpi))
    source = support.PROGRAMS / "window_within.c"
    flags = ["-DSHIM", "-shared", "-fPIC"]
    shim = support.compile_program(mpi, "window_within.so", [source], flags)
    return f"{support.library(mpi)}:{shim}"


#: Ghosts, options, and whether another library stands between Headway and the MPI.
WITHIN: list[tuple[int, dict[str, str], bool]] = [
    (1, {"HEADWAY_ADAPT": "auto"}, False),
    (2, APART, False),
    (2, APART, True),
    (1, {"HEADWAY_ADAPT": "auto"}, True),
]


@is_served
@matrix.quick(lambda mpi, has_shim: not has_shim or mpi.name in ("mpich5", "ompi5"))
@pytest.mark.parametrize(
    "ghosts, options, has_shim", WITHIN, ids=["common", "apart", "apart-shim", "common-shim"]
)
def test_operations_within(
    mpi: Mpi,
    ghosts: int,
    options: dict[str, str],
    has_shim: bool,
    tmp_path: Path,
    plain_run: support.PlainRuns,
) -> None:
    """Callbacks that run within MPI operate on windows, and meet others in barriers. A library that
    passes our calls on to the MPI calls from within, too, with what is redirected already."""
    program = program_of(mpi, "window_within")
    plain = plain_run(mpi, [program], ranks=3)
    headway = support.run_mpi(
        mpi,
        [program, "refused"],
        ranks=3 + ghosts,
        options={"HEADWAY_GHOSTS": str(ghosts), "HEADWAY_REDIRECT": "on", **options},
        records=tmp_path,
        preload=Path(libraries(mpi, has_shim)),
    )
    assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
    for record in headway.records:
        assert record["windows_redirected"] == 3 and record["operations_redirected"] > 0, record


@matrix.only(lambda mpi: mpi.flavour == "mpich", "Open MPI has freed the window by then")
def test_deleted(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    """Delete functions of a window's own attributes use it, and one that fails keeps it."""
    program = program_of(mpi, "window_deleted")
    plain = plain_run(mpi, [program], ranks=3)
    options = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}
    headway = support.run_mpi(mpi, [program], ranks=4, options=options, records=tmp_path)
    assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
    for record in headway.records:
        assert record["windows_redirected"] == 1 and record["operations_redirected"] > 0, record


@is_served
@matrix.only(
    lambda mpi: mpi.name != "mpich4",
    "MPICH 4.0 loses accumulates within a node on several nodes, plain too",
)
@matrix.one_of_a("family")
@pytest.mark.parametrize("has_shim", [False, True], ids=["alone", "shim"])
def test_memory_shown(mpi: Mpi, has_shim: bool, tmp_path: Path) -> None:
    """The hint of ARMCI-MPI's that asks for loads and stores in a node is no reason to decline. A
    library that passes the question for them on to the MPI gets the answer that we get without."""
    argv = [str(program_of(mpi, "queried"))]
    preload = libraries(mpi, has_shim)
    records = two_nodes.same_output(mpi, argv, tmp_path, users=2, preload=preload)
    assert [record["windows_redirected"] for record in records] == [4] * 4


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
def test_idle_flushes(mpi: Mpi, tmp_path: Path) -> None:
    """Flushes that have nothing to flush make progress all the same."""
    records = two_nodes.same_output(mpi, [str(program_of(mpi, "idle_flushes"))], tmp_path)
    assert all(record["windows_redirected"] == 1 for record in records)


@matrix.only(matrix.on("mpich5"), "only MPICH 5 gains by flushes that sleep")
def test_refused_alike(mpi: Mpi, tmp_path: Path) -> None:
    """Operations made with requests, where a flush sleeps, are refused as those without are."""
    argv = [str(program_of(mpi, "mismatches"))]
    records = two_nodes.same_output(mpi, argv, tmp_path, users=2, cores=1)
    assert all(record["operations_slept_for"] > 0 for record in records)


@is_spread
@matrix.quick(matrix.on("mpich4", "ompi5"), "one MPI of a family stands for it")
def test_hints_of_others(mpi: Mpi, tmp_path: Path) -> None:
    """Info keys that mean nothing here are no reason not to serve a window, of either kind."""
    records = two_nodes.same_output(mpi, [str(program_of(mpi, "memory_hints"))], tmp_path)
    assert [record["windows_redirected"] for record in records] == [8, 8]
    assert not any(record["declined"] for record in records), records


#: Large ones of origins.c at each process.
LARGE_OPERATIONS = 64


@is_spread
@matrix.one_of_a("family")
def test_origins(mpi: Mpi, tmp_path: Path) -> None:
    """What is under way at its origin is pending until what completes it, and the thread polls."""
    include = ["-I", str(support.ROOT / "include")]
    source = support.PROGRAMS / "origins.c"
    argv = [str(support.compile_program(mpi, "origins", [source], include))]
    always = {"HEADWAY_STAND_DOWN": "never"}
    records = two_nodes.same_output(mpi, argv, tmp_path, environment=always)
    for record in records:
        assert record["operations_redirected"] == record["tracked_rma"] == LARGE_OPERATIONS
        assert record["polls"] > 0 and record["overlapped_ns"] > 0


@matrix.only(matrix.on("ompi5"), "the others end the job, plain too, or keep their own windows")
def test_memory_refused(mpi: Mpi, tmp_path: Path) -> None:
    """The program hears of it, and the ghosts go on."""
    records = two_nodes.same_output(mpi, [str(program_of(mpi, "refused"))], tmp_path)
    for record in records:
        assert record["windows_redirected"] == 1
        assert "a window as large as no memory is left for" in record["declined"]


@matrix.one_of_a("family")
def test_memory_that_is_locked(mpi: Mpi, tmp_path: Path) -> None:
    """The kernel fills all that is mapped, so there is no range of addresses for a whole
    process."""
    argv = [program_of(mpi, "locked")]
    options = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}
    plain = support.run_mpi(mpi, argv, ranks=2)
    headway = support.run_mpi(
        mpi, argv, ranks=3, options=options, records=tmp_path, timeout_s=LOCKED_S
    )
    assert headway.status == plain.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert headway.total("windows_redirected") > 0, headway.explain()
