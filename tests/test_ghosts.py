# SPDX-License-Identifier: BSD-3-Clause
"""Ghosts: programs give with them what they give plain, and their operations were redirected."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import matrix
import pytest
import support
import two_nodes
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi

EXIT_BAD_INPUT = 78

#: Why the ghosts decline every window of this MPI.
DECLINED = {"ompi4": "Open MPI 4 loses one-sided operations"}

is_served = matrix.only(lambda mpi: mpi.name not in DECLINED, "Open MPI 4 keeps its own windows")


@dataclass(frozen=True)
class Program:
    """One C file of tests/mpi; `plain_arguments` where the control must do less."""

    name: str
    users: int = 3
    ghosts: int = 1
    arguments: tuple[str, ...] = ()
    plain_arguments: tuple[str, ...] | None = None
    counters: tuple[str, ...] = ("windows_redirected", "operations_redirected", "locks_redirected")
    label: str = ""
    options: tuple[tuple[str, str], ...] = ()
    mpis: tuple[str, ...] = ()  # all, if there are none
    is_for_family: bool = False  # what it is about does not depend on the version of the MPI
    declined: str = ""  # what the record says of a window it has besides
    needs: str = ""  # a function that not every MPI has

    @property
    def id(self) -> str:
        return self.label or self.name


PARTITIONED = ("tracked_partitioned", "windows_redirected", "operations_redirected")

PROGRAMS = [
    Program("ghosts"),
    Program("ghosts", users=4, ghosts=2, label="two-ghosts", is_for_family=True),
    # Plain, windows of MPI_Win_create put to wrong places on MPICH 4.0 (unless their memory begins
    # with a page) and end Intel MPI (with reordered processes): those of MPI_Win_allocate must give
    # the same.
    Program("ghosts", arguments=("create",), plain_arguments=(), label="created"),
    Program("ghosts", arguments=("shared",), plain_arguments=(), label="shared"),
    Program("shared", label="shared-parts"),
    Program(
        "created",
        counters=("windows_redirected", "operations_redirected"),
        declined="a window of MPI_Win_create with memory that no ghost can reach",
        mpis=("mpich5", "impi", "ompi5"),
        label="created-over",
        is_for_family=True,
    ),
    Program(
        "dynamic",
        counters=(
            "windows_redirected",
            "operations_redirected",
            "operations_direct",
            "locks_redirected",
        ),
    ),
    # Open MPI 5 gets each block by itself, which takes minutes.
    Program(
        "dynamic_gaps",
        users=2,
        counters=("windows_redirected",),
        mpis=("mpich4", "mpich5", "impi"),
    ),
    # Plain MPICH 4.0 and Intel MPI end with an error when a window is never freed.
    Program(
        "ghosts",
        arguments=("leak",),
        plain_arguments=(),
        label="never-freed",
        is_for_family=True,
    ),
    Program("completion_rma", users=2),
    Program("list", mpis=("mpich4", "mpich5", "impi")),
    # Plain Open MPI 5 now and then does not find (MPI_ERR_RMA_RANGE) what was attached just before.
    Program("list", arguments=("attached",), mpis=("ompi5",), label="list-attached"),
    # Its locks are all said to need no check.
    Program("hints", counters=("windows_redirected", "operations_redirected")),
    Program(
        "hints",
        arguments=("create",),
        plain_arguments=(),
        counters=("windows_redirected", "operations_redirected"),
        label="hints-created",
        is_for_family=True,
    ),
    Program(
        "large_counts", arguments=("create",), plain_arguments=(), needs="MPI_Rget_accumulate_c"
    ),
    # What `readers` adds hangs plain.
    Program("contention", arguments=("readers",), plain_arguments=()),
    # On Open MPI one accumulate takes a ghost that shares its core a dozen turns: minutes.
    Program(
        "segments",
        ghosts=2,
        counters=("windows_redirected", "operations_spread", "operations_cut"),
        options=(("HEADWAY_GHOST_BINDING", "segment"), ("HEADWAY_GHOST_BALANCE", "bytes")),
        mpis=("mpich4", "mpich5"),
    ),
    Program("epoch_types", is_for_family=True),
    Program("partitioned", users=4, needs="MPI_Psend_init", counters=PARTITIONED),
    # Plain Open MPI 5 waits until all processes do.
    Program(
        "partitioned",
        users=4,
        ghosts=2,
        arguments=("first",),
        plain_arguments=(),
        needs="MPI_Psend_init",
        counters=PARTITIONED,
        label="partitioned-first",
    ),
    Program("before_init", counters=()),
    Program("null_comm", counters=(), is_for_family=True),
    Program("extensions", counters=(), mpis=("mpich5", "ompi4", "ompi5")),
    Program(
        "extensions",
        counters=(),
        mpis=("impi",),
        declined="a window of a program that may call operations of no standard",
        label="extensions-windows",
    ),
    Program("starvation", users=6, mpis=("mpich5",)),
    # Plain MPICH 5 now and then crashes in it.
    Program(
        "window_threads",
        ghosts=2,
        plain_arguments=("in turn",),
        counters=("windows_redirected", "operations_redirected"),
        options=(("HEADWAY_GHOST_BALANCE", "operations"),),
        mpis=("mpich5",),
    ),
    # Numbers of windows come again after as many.
    Program(
        "many_windows",
        users=2,
        arguments=("16383",),
        plain_arguments=("1",),
        counters=("windows_redirected", "operations_redirected"),
        mpis=("mpich5",),
    ),
    # Plain Intel MPI and Open MPI 5 crash in it now and then; MPICH gives the session no threads.
    Program(
        "session_threads",
        users=2,
        plain_arguments=("in turn",),
        counters=("windows_redirected", "operations_redirected"),
        mpis=("ompi5",),
    ),
    # Plain Open MPI 5 crashes in it.
    Program(
        "window_errors",
        counters=("windows_redirected", "operations_redirected"),
        mpis=("mpich4", "mpich5", "impi"),
    ),
    Program(
        "world",
        arguments=("{scratch}/world.data",),
        counters=(),
        declined="a window of MPI_Win_create with memory that no ghost can reach",
    ),
    # MPICH 4.0 as Debian has it starts no processes.
    Program("parts", arguments=("spawn",), counters=(), mpis=("mpich5", "impi", "ompi5")),
]

#: The programs that run between two nodes too.
SPREAD = [
    program
    for program in PROGRAMS
    if program.id in ("ghosts", "dynamic", "completion_rma", "world")
]
SPREAD_MPIS = ("mpich4", "mpich5", "ompi5", "impi")

is_spread = matrix.only(
    matrix.on(*SPREAD_MPIS), "Open MPI 4 cannot make windows between nodes, plain too"
)


def program_of(mpi: Mpi, name: str) -> Path:
    return support.compile_program(mpi, name, [support.PROGRAMS / f"{name}.c"])


def words(mpi: Mpi, program: Program, arguments: tuple[str, ...] | None, scratch: Path) -> list:
    chosen = program.arguments if arguments is None else arguments
    return [program_of(mpi, program.name), *(text.format(scratch=scratch) for text in chosen)]


def assert_served(mpi: Mpi, program: Program, records: list[dict]) -> None:
    totals = {name: sum(r[name] for r in records) for name in program.counters}
    if mpi.name in DECLINED:
        assert not any(totals.values()), totals
        told = {text for record in records for text in record["declined"]}
        if program.counters:
            assert any(text.startswith(DECLINED[mpi.name]) for text in told), told
    else:
        assert all(totals.values()), f"not exercised: {totals}"


def is_able(mpi: Mpi, program: Program) -> bool:
    is_named = not program.mpis or mpi.name in program.mpis
    return is_named and (not program.needs or support.declares(mpi, program.needs))


def is_short(mpi: Mpi, program: Program, names: list[str]) -> bool:
    if program.is_for_family:
        return matrix.one_of_a("family").holds(mpi, names)
    able = [m for m in names if m not in DECLINED and is_able(support.known_mpis()[m], program)]
    is_turn = matrix.has_turn("family", mpi, able, PROGRAMS.index(program))
    return is_turn or mpi.name in DECLINED or program.id in ("ghosts", "extensions")


@matrix.only(
    lambda mpi, program: (
        mpi.name not in DECLINED or program.id in ("ghosts", "world", "extensions")
    ),
    "Open MPI 4 keeps its own windows, which fail in this program, plain too",
)
@matrix.only(is_able, "as PROGRAMS says, or the MPI lacks what the program needs")
@matrix.quick(is_short, "another MPI of the family")
@matrix.check(lambda program: program.id in ("ghosts", "created", "dynamic"))
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.id)
def test_same_output(
    mpi: Mpi, program: Program, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    plain_arguments = program.plain_arguments
    plain = plain_run(mpi, words(mpi, program, plain_arguments, tmp_path), ranks=program.users)
    declined = mpi.name in DECLINED
    headway = support.run_mpi(
        mpi,
        words(mpi, program, plain_arguments if declined else None, tmp_path),
        ranks=program.users + program.ghosts,
        options={
            "HEADWAY_GHOSTS": str(program.ghosts),
            "HEADWAY_REDIRECT": "on",
            **dict(program.options),
        },
        records=tmp_path / "records",
    )
    assert headway.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert [record["size"] for record in headway.records] == [program.users] * program.users
    assert_served(mpi, program, headway.records)
    told = [text for record in headway.records for text in record["declined"]]
    if program.declined and not declined:
        assert any(text.startswith(program.declined) for text in told), told


@is_spread
@matrix.quick(
    lambda mpi, program, names: (
        program.name in ("ghosts", "dynamic")
        and matrix.has_turn("family", mpi, names, ("ghosts", "dynamic").index(program.name))
    )
)
@pytest.mark.parametrize("program", SPREAD, ids=lambda program: program.id)
def test_two_nodes(mpi: Mpi, program: Program, tmp_path: Path) -> None:
    """One user process and one ghost a node; both windows' memory and ghosts are far and near."""
    argv = [str(word) for word in words(mpi, program, None, tmp_path)]
    records = two_nodes.same_output(mpi, argv, tmp_path / "records")
    assert_served(mpi, program, records)


@is_spread
@matrix.quick(lambda mpi, ghosts: mpi.name == "ompi5" and ghosts == 1)
@pytest.mark.parametrize("ghosts", [1, 2])
def test_partitioned_on_two_nodes(mpi: Mpi, ghosts: int, tmp_path: Path) -> None:
    """Open MPI makes communicators of the whole world for it, with the ghosts of all nodes."""
    argv = [str(program_of(mpi, "partitioned"))]
    records = two_nodes.same_output(
        mpi, argv, tmp_path / "records", users=2, ghosts=ghosts, rate="none"
    )
    assert all(record["operations_redirected"] > 0 for record in records)


@is_spread
@matrix.quick(matrix.on("mpich5"))
def test_shared_on_each_node(mpi: Mpi, tmp_path: Path) -> None:
    """Windows over the processes of a node, where the job has several."""
    argv = [str(program_of(mpi, "shared"))]
    environment = {"HEADWAY_REDIRECT": "on"}
    records = two_nodes.same_output(
        mpi, argv, tmp_path / "records", users=2, rate="none", environment=environment
    )
    for counter in ("windows_redirected", "operations_redirected", "locks_redirected"):
        assert all(record[counter] > 0 for record in records), f"{counter} is 0"


#: User processes a node, as many as this MPI stands between two nodes (test_random_rma.py).
NEAR_AND_FAR = {"mpich5": 2, "impi": 1}


@matrix.only(lambda mpi: mpi.flavour == "mpich", "on Open MPI ghosts apply all accumulates")
def test_near_and_far(mpi: Mpi, tmp_path: Path) -> None:
    """Accumulates by origins within the node, and through the ghost, on the same places at once."""
    argv = [str(program_of(mpi, "near_far"))]
    # Without the thread, which would make the progress that a process must make itself.
    options = {"HEADWAY_GHOSTS": "1", "HEADWAY_ENGINE": "off"}
    records = tmp_path / "records"
    if mpi.name in NEAR_AND_FAR:
        records.mkdir()
        users = NEAR_AND_FAR[mpi.name]
        settings = {
            "LD_PRELOAD": str(support.library(mpi)),
            "HEADWAY_RECORD": str(records),
            **options,
        }
        common = {"netmod": support.netmod(mpi), "launcher_args": support.launcher_extra(mpi)}
        with Cluster(2, rate="none", pin="none") as cluster:
            result = cluster.run(mpi, argv, ranks_per_node=users + 1, env=settings, **common)
        assert result.is_ok, result.stderr[-2000:]
        found = support.read_records(records)
        assert len(found) == 2 * users
    else:  # on one node, where this MPI leaves windows to the ghosts
        result = support.run_mpi(
            mpi,
            support.rank_one_to_ghosts(argv),
            ranks=4,
            options=options,
            records=records,
        )
        assert result.status == 0, result.explain()
        found = result.records
        assert len(found) == 3
    applied = [record["operations_applied"] for record in found]
    assert sum(count > 0 for count in applied) >= 2, applied
    assert all(record["operations_redirected"] > 0 for record in found)


def check_within_a_node(
    mpi: Mpi, kind: str, declined: str, records: Path, plain: support.Result
) -> None:
    """Without options: served, what is near without a message; or `declined`, with that reason."""
    program = program_of(mpi, "ghosts")
    headway = support.run_mpi(
        mpi, [program, kind], ranks=4, options={"HEADWAY_GHOSTS": "1"}, records=records
    )
    assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
    if declined:
        told = [text for record in headway.records for text in record["declined"]]
        assert any(text.startswith(declined) for text in told), told
        assert headway.total("windows_redirected") == 0
    else:
        for counter in ("windows_redirected", "operations_copied", "operations_applied"):
            assert headway.total(counter) > 0, f"{counter} is 0"


@is_served
@matrix.one_of_a("family")
def test_created_within_a_node(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    """Every MPI waits for the target."""
    is_slower = mpi.flavour == "ompi"
    declined = "a window within one node, where acc" if is_slower else ""
    plain = plain_run(mpi, [program_of(mpi, "ghosts")], ranks=3)
    check_within_a_node(mpi, "create", declined, tmp_path, plain)


@is_served
def test_shared_within_a_node(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    """Only one MPI waits for the target."""
    is_direct = mpi.name != "mpich4"
    declined = "a window within one node, where this MPI loads and stores" if is_direct else ""
    plain = plain_run(mpi, [program_of(mpi, "ghosts")], ranks=3)
    check_within_a_node(mpi, "shared", declined, tmp_path, plain)


@is_served
@matrix.only(
    lambda mpi, kind: mpi.name != "mpich4" and not (kind and mpi.name == "impi"),
    "MPICH 4.0 tells a wrong MPI_WIN_BASE of such windows, Intel MPI crashes, plain too",
)
@matrix.one_of_a("family")
@pytest.mark.parametrize("kind", [[], ["create"]], ids=["allocated", "created"])
def test_without_node_memory(
    mpi: Mpi, kind: list[str], tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    """Where there can be no file as long as the node's: windows have the MPI's shared memory."""
    program = program_of(mpi, "ghosts")
    # A tebibyte: Intel MPI itself has files of gigabytes.
    limited = ["sh", "-c", 'ulimit -f 2147483648; exec "$0" "$@"', str(program), *kind]
    plain = plain_run(mpi, [program], ranks=3)
    options = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}
    headway = support.run_mpi(mpi, limited, ranks=4, options=options, records=tmp_path)
    assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
    assert (headway.total("windows_redirected") > 0) == (not kind)
    told = [text for record in headway.records for text in record["declined"]]
    assert not kind or all("that no ghost can reach" in text for text in told), told


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_others_may_apply(mpi: Mpi, tmp_path: Path) -> None:
    """Where something else than the ghost's calls may apply operations, nothing is applied near."""
    result = support.run_mpi(
        mpi,
        [program_of(mpi, "contention")],
        ranks=4,
        # Not for this transport; what the environment asks for is enough.
        options={"HEADWAY_GHOSTS": "1", "FI_OFI_RXM_DATA_AUTO_PROGRESS": "1"},
        records=tmp_path,
    )
    assert result.status == 0, result.explain()
    assert result.total("operations_applied") == 0
    assert result.total("operations_redirected") > 0


@pytest.mark.parametrize("arguments", [[], ["returned"]], ids=["heard", "returned"])
def test_calls_that_are_refused(
    mpi: Mpi, arguments: list[str], plain_run: support.PlainRuns
) -> None:
    """By the MPI itself, which has no place to put what they give."""
    argv = [program_of(mpi, "no_place"), *arguments]
    plain = plain_run(mpi, argv, ranks=2)
    options = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}
    headway = support.run_mpi(mpi, argv, ranks=3, options=options)
    assert headway.status == 0, headway.explain()
    assert sorted(headway.lines) == sorted(plain.lines), headway.explain()


@matrix.one_of_a("family")
@pytest.mark.parametrize("ghosts, ranks", [(1, 1), (2, 2), (3, 3)])
def test_too_many_ghosts(mpi: Mpi, ghosts: int, ranks: int) -> None:
    result = support.run_mpi(
        mpi,
        [program_of(mpi, "ghosts")],
        ranks=ranks,
        options={"HEADWAY_GHOSTS": str(ghosts)},
    )
    told = [line for line in result.stderr.splitlines() if "[headway" in line]
    assert result.status == EXIT_BAD_INPUT and not result.has_timed_out, result.explain()
    assert len(told) == 1 and f"HEADWAY_GHOSTS={ghosts}" in told[0], result.explain()
    assert "BAD TERMINATION" not in result.stdout + result.stderr, result.explain()
    # Not a launcher's own lines, which say whether it ended the others or they came first.
    assert not any(line.startswith("rank ") for line in result.lines), result.explain()


@matrix.one_of_a("family")
@pytest.mark.parametrize("value", ["-1", "one", "1025", "1/core"])
def test_malformed_count(mpi: Mpi, value: str) -> None:
    result = support.run_mpi(
        mpi, [program_of(mpi, "ghosts")], ranks=1, options={"HEADWAY_GHOSTS": value}
    )
    assert result.status != 0 and "HEADWAY_GHOSTS" in result.stderr, result.explain()


@matrix.one_of_a("family")
def test_declined_by_option(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    """Windows that are not redirected are the MPI's own, in a world without the ghosts."""
    argv = [program_of(mpi, "ghosts")]
    plain = plain_run(mpi, argv, ranks=3)
    headway = support.run_mpi(
        mpi,
        argv,
        ranks=4,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "off"},
        records=tmp_path,
    )
    assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
    assert headway.total("windows_redirected") == 0
    told = {text for record in headway.records for text in record["declined"]}
    assert "windows are not redirected: HEADWAY_REDIRECT=off" in told


def cores_to_bind() -> list[int]:
    return sorted(os.sched_getaffinity(0))[:2]


def binding_words(cores: list[int]) -> list[str]:
    """In front of a program: its first three ranks on one core, the others on the other."""
    rank = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"
    chosen = f"if [ {rank} -lt 3 ]; then core={cores[0]}; else core={cores[1]}; fi"
    return ["sh", "-c", f'{chosen}; exec taskset -c $core "$0" "$@"']


#: HEADWAY_GHOSTS, and each user process's ghost (by rank among all six) on two sockets and plain
PLACED = {
    "1": ([5] * 5, [5] * 5, "last", "last"),
    "2": ([2, 2, 5, 5], [4, 5, 4, 5], "near", "even, not bound"),
    "1/socket": ([2, 2, 5, 5], None, "near", ""),
    "1/numa": ([2, 2, 5, 5], None, "near", ""),
}


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
@pytest.mark.parametrize("wanted", PLACED)
def test_placed_by_topology(mpi: Mpi, wanted: str, tmp_path: Path) -> None:
    """On a machine described as two sockets of one core: bound to them, then not."""
    cores = cores_to_bind()
    if len(cores) < 2:
        pytest.skip("one core cannot be two sockets")
    near, even, placement, placement_unbound = PLACED[wanted]
    program = program_of(mpi, "ghosts")
    options = {"HEADWAY_GHOSTS": wanted, "HEADWAY_REDIRECT": "on"}
    machine = f"pack:2 numa:1 core:1 pu:1(indexes={cores[0]},{cores[1]})"
    for bound in (True, False):
        servers = near if bound else even
        if servers is None:
            continue
        folder = tmp_path / str(bound)
        result = support.run_mpi(
            mpi,
            [*(binding_words(cores) if bound else ()), program],
            ranks=6,
            options=options,
            env={"HWLOC_SYNTHETIC": machine},
            records=folder,
        )
        assert result.status == 0, result.explain()
        assert [record["ghost"] for record in result.records] == servers, result.explain()
        expected = placement if bound else placement_unbound
        assert {record["placement"] for record in result.records} == {expected}
        assert all(record["ghost_cpu_s"] > 0 for record in result.records)
        assert result.total("operations_redirected") > 0


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
@pytest.mark.parametrize("wanted, more", [("1", 1), ("2/node", 2), ("1/socket", 3), ("2/numa", 6)])
def test_run_counts_domains(mpi: Mpi, wanted: str, more: int) -> None:
    """`headway run` starts as many more as the library sets aside, on a described machine."""
    argv = [
        *(str(support.ROOT / "build" / "venv" / "bin" / "python"), "-m", "headway", "run"),
        *("--dry-run", "--ghosts", wanted, "-n", "4", str(program_of(mpi, "ghosts"))),
    ]
    environment = {
        **os.environ,
        **mpi.environment(),
        "PYTHONPATH": str(support.ROOT / "cli"),
        "HWLOC_SYNTHETIC": "pack:3 numa:1 core:2 pu:1",
    }
    done = subprocess.run(
        argv, env=environment, capture_output=True, text=True, timeout=80, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr[-2000:]
    words = done.stdout.splitlines()[-1].split()
    assert words[words.index("-n") + 1] == str(4 + more), done.stdout
    assert f"export HEADWAY_GHOSTS={wanted}" in done.stdout


@is_served
@matrix.one_of_a("family")
def test_epoch_type_violated(mpi: Mpi, tmp_path: Path) -> None:
    """Epochs that a window's hint leaves out are errors at its handler, and one line says why."""
    result = support.run_mpi(
        mpi,
        [program_of(mpi, "epoch_types"), "wrong"],
        ranks=4,
        options={"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"},
        records=tmp_path,
    )
    assert result.status == 0 and len(result.lines) == 2 * 4 * 3, result.explain()
    told = [line for line in result.stderr.splitlines() if "epoch_type" in line]
    assert len(told) == 3, result.explain()  # each process once
    assert all("leaves it out" in line for line in told)
    assert result.total("windows_redirected") == 2 * 4 * 3


@matrix.one_of_a("launcher")
def test_run_adds_ghosts(mpi: Mpi, tmp_path: Path) -> None:
    """`headway run --ghosts N -n P` starts P + N processes, and the program sees P."""
    argv = [
        str(support.ROOT / "build" / "venv" / "bin" / "python"),
        "-m",
        "headway",
        "run",
        "--ghosts",
        "1",
        "-n",
        "2",
        "--record",
        str(tmp_path),
        str(program_of(mpi, "ghosts")),
    ]
    environment = {**os.environ, **mpi.environment(), "PYTHONPATH": str(support.ROOT / "cli")}
    done = subprocess.run(
        argv, env=environment, capture_output=True, text=True, timeout=80, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    records = support.read_records(tmp_path)
    assert [record["size"] for record in records] == [2, 2]
