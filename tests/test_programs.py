# SPDX-License-Identifier: BSD-3-Clause
"""Directed MPI programs: the same output with and without the library, the engine at work."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import fortran
import matrix
import pytest
import support
from headway.mpi.mpis import Mpi

#: Kinds of MPI a program needs; the value says so where it is left out.
FEATURES = {
    "partitioned": "partitioned communication",
    "sessions": "MPI 4 sessions",
    "one-sided-over-tcp": "windows over TCP",
    "failed-in-waitall": "MPI_Waitall that ends if a request failed before (it hangs, plain too)",
    "errors-at-communicator": "errors of requests at their communicator (MPI_COMM_WORLD gets them)",
    "insignificant-arguments": "MPI_Reduce whose arguments may be anything where they mean nothing",
}

EXERCISE_ATTEMPTS = 4


@dataclass(frozen=True)
class Program:
    """One C file of tests/mpi and what running it must show."""

    name: str
    ranks: int = 2
    arguments: Sequence[str] = ()
    needs: str = ""
    #: counters of the record that must not be 0 (summed over the ranks)
    counters: Sequence[str] = ("tracked_p2p", "doors", "polls")
    label: str = ""
    #: flavour -> start of the reason for which the library declines the program there
    declined: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.label or self.name


DIRECTED = [
    Program("doors", counters=("tracked_p2p", "doors", "polls", "completed_early")),
    Program("receives", ranks=4),
    Program("drained", counters=("tracked_p2p", "tracked_persistent", "doors", "polls")),
    Program("conversions", counters=()),
    Program("null_arguments"),
    Program("nobody", counters=("tracked_p2p", "doors", "looks")),
    Program("postponed"),
    Program("postponed_errors", counters=("tracked_p2p", "doors")),
    Program("postponed_starts"),
    Program("postponed_threads"),
    Program("truncation"),
    Program("late_handler"),
    Program(
        "truncation", needs="failed-in-waitall", label="truncation-waitall", arguments=["waitall"]
    ),
    Program(
        "truncation", needs="errors-at-communicator", label="truncation-dup", arguments=["dup"]
    ),
    Program("persistent", counters=("tracked_persistent", "started", "polls")),
    Program("collectives", counters=("tracked_collective", "doors", "polls")),
    Program(
        "collectives",
        ranks=3,
        label="collectives-3",
        counters=("tracked_collective", "doors", "polls"),
    ),
    Program("duplicates", ranks=5, counters=("tracked_collective", "doors")),
    Program("callbacks"),
    Program("own_op", counters=("tracked_p2p", "tracked_collective", "doors", "polls")),
    Program("late_attributes"),
    Program("freed_waiting", counters=()),
    Program("own_errors", counters=("tracked_p2p", "doors")),
    Program("no_place", counters=()),
    Program("cancel_beside", counters=("tracked_p2p", "doors", "looks")),
    Program("thread_local"),
    Program("rounding", counters=("tracked_collective", "doors", "polls")),
    Program("rooted", ranks=4, needs="insignificant-arguments", counters=("tracked_collective",)),
    Program("mixtures", counters=("tracked_p2p", "tracked_persistent", "doors", "looks")),
    Program("handover", counters=("tracked_p2p", "doors", "looks")),
    Program("forks"),
    Program("awaited_signals"),
    Program("rma", needs="one-sided-over-tcp", counters=("tracked_rma", "exposures", "polls")),
    Program(
        "io",
        arguments=["{scratch}/io.data"],
        counters=("tracked_io", "tracked_p2p", "polls"),
        declined={"ompi": "nonblocking file access"},
    ),
    Program(
        "io",
        label="io-split",
        arguments=["{scratch}/io.data", "split"],
        counters=("tracked_p2p", "polls"),
        declined={"ompi": "nonblocking file access"},
    ),
    Program(
        "sessions",
        needs="sessions",
        arguments=["1"],
        counters=("tracked_p2p", "doors", "looks"),
        declined={"mpich": "a program with sessions only"},
    ),
    Program("plugin_host", arguments=["{plugin}"], counters=("tracked_p2p", "doors", "looks")),
    Program("threads", label="threads-single", arguments=["single", "1"]),
    Program("threads", label="threads-funneled", arguments=["funneled", "1"]),
    Program(
        "threads",
        label="threads-serialized",
        arguments=["serialized", "3"],
        counters=("tracked_p2p", "doors", "looks"),
    ),
    Program(
        "threads",
        label="threads-multiple",
        arguments=["multiple", "4"],
        counters=("tracked_p2p", "doors", "looks"),
    ),
    Program(
        "endings", label="leftover", arguments=["leak"], counters=("tracked_p2p", "doors", "looks")
    ),
    Program(
        "endings", label="early", arguments=["early"], counters=("tracked_p2p", "doors", "looks")
    ),
    Program(
        "endings", label="late", arguments=["late"], counters=("tracked_p2p", "doors", "looks")
    ),
]

#: Status of memory_keys.c where it can show nothing.
NO_KEYS = 77

#: Without --full one of these, by turns, runs a program with the other trigger too, and profiled.
QUICK_MPIS = ("mpich4", "ompi4")

#: What --check runs.
SHORT = ("doors", "receives", "persistent", "collectives", "own_op", "threads-multiple", "rma")

#: name -> (shared memory, options)
SETTINGS: dict[str, tuple[bool, dict[str, str]]] = {
    "shm-tick": (True, {"HEADWAY_TRIGGER": "tick"}),
    "tcp-events": (False, {"HEADWAY_TRIGGER": "events"}),
    "tcp-tick": (False, {"HEADWAY_TRIGGER": "tick"}),
    "tcp-postponed": (False, {"HEADWAY_TRIGGER": "events", "HEADWAY_POSTPONE": "on"}),
}

#: With large receives, in every way to complete, cancel, free or ask for them.
POSTPONED = (
    "cancel_beside",
    "doors",
    "handover",
    "late_handler",
    "mixtures",
    "nobody",
    "null_arguments",
    "own_errors",
    "persistent",
    "postponed",
    "postponed_errors",
    "postponed_starts",
    "postponed_threads",
    "receives",
    "threads",
    "truncation",
)


def has_feature(mpi: Mpi, feature: str) -> bool:
    is_ompi = mpi.flavour == "ompi"
    if feature == "failed-in-waitall":
        return not is_ompi or mpi.major >= 5
    if feature == "errors-at-communicator":
        return is_ompi or (not mpi.is_intel and mpi.major >= 5)
    if feature == "one-sided-over-tcp":  # Open MPI 4.1 refuses windows, plain too
        return not is_ompi or mpi.major >= 5
    if feature == "insignificant-arguments":
        return not is_ompi
    if feature in ("partitioned", "sessions"):
        return not is_ompi or mpi.major >= 5
    return True


def flags_for(mpi: Mpi) -> list[str]:
    """What this MPI has beyond MPI 3.1 that a program may use."""
    flags = []
    if has_feature(mpi, "partitioned"):
        flags += ["-DHAVE_PARTITIONED", "-DHAVE_PERSISTENT_COLLECTIVES"]
    if support.declares(mpi, "MPI_Request_get_status_all"):
        flags.append("-DHAVE_GET_STATUS_ARRAYS")
    return flags


def build(mpi: Mpi, program: Program) -> Path:
    source = support.PROGRAMS / f"{program.name}.c"
    return support.compile_program(mpi, program.name, [source], flags_for(mpi))


def build_plugin(mpi: Mpi) -> Path:
    return support.compile_program(
        mpi, "plugin.so", [support.PROGRAMS / "plugin.c"], ["-shared", "-fPIC"]
    )


def arguments_of(mpi: Mpi, program: Program, scratch: Path) -> list[str]:
    values = {"scratch": str(scratch)}
    if "{plugin}" in program.arguments:
        values["plugin"] = str(build_plugin(mpi))
    return [text.format(**values) for text in program.arguments]


def idle_counters(result: support.Result, program: Program) -> list[str]:
    return [counter for counter in program.counters if result.total(counter) == 0]


def run_until_exercised(program: Program, run: Callable[[int], support.Result]) -> support.Result:
    """A launch whose thread got no processor while the program computed shows nothing: another."""
    for attempt in range(EXERCISE_ATTEMPTS):
        result = run(attempt)
        is_idle = result.status == 0 and bool(idle_counters(result, program))
        if not support.tally("started again, for the thread got no processor", is_idle):
            break
    return result


def assert_exercised(result: support.Result, program: Program) -> None:
    assert [record["engine"] for record in result.records] == ["thread"] * program.ranks, (
        result.stderr
    )
    assert not idle_counters(result, program), "the engine was not exercised"


def needs_not(feature: str, mpi: Mpi, program: Program) -> bool:
    return program.needs != feature or has_feature(mpi, feature)


def is_possible(test: Callable[..., None]) -> Callable[..., None]:
    for feature, what in FEATURES.items():
        test = matrix.only(partial(needs_not, feature), f"the MPI has no {what}")(test)
    return test


def has_turn(mpi: Mpi, program: Program) -> bool:
    return mpi.name == QUICK_MPIS[DIRECTED.index(program) % 2]


def is_short(mpi: Mpi, program: Program, setting: str, names: list[str]) -> bool:
    if setting == "tcp-events":
        known = support.known_mpis()
        able = [name for name in names if needs_not(program.needs, known[name], program)]
        return matrix.has_turn("family", mpi, able, DIRECTED.index(program))
    if setting == "tcp-postponed":
        return matrix.has_turn("family", mpi, names, DIRECTED.index(program))
    return setting == "shm-tick" and has_turn(mpi, program) and DIRECTED.index(program) % 4 < 2


def levels_told(result: support.Result) -> list[str]:
    """By threads.c, which asks for a level of threads."""
    return sorted(re.findall(r"^provided \d+", result.stderr, re.MULTILINE))


@is_possible
@matrix.only(
    lambda mpi, program, setting: (
        setting != "tcp-postponed" or (support.postpones(mpi) and program.name in POSTPONED)
    ),
    "no receives are postponed",
)
@matrix.quick(is_short, "another trigger, transport or MPI of the family")
@matrix.check(lambda program, setting: program.id in SHORT and setting == "tcp-events")
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("program", DIRECTED, ids=lambda program: program.id)
def test_same_output(
    mpi: Mpi,
    program: Program,
    setting: str,
    tmp_path: Path,
    plain_run: support.PlainRuns,
) -> None:
    has_shm, options = SETTINGS[setting]
    argv = [build(mpi, program), *arguments_of(mpi, program, tmp_path)]
    plain = plain_run(mpi, argv, ranks=program.ranks)
    reason = program.declined.get(mpi.flavour)

    def run(attempt: int) -> support.Result:
        return support.run_mpi(
            mpi,
            argv,
            ranks=program.ranks,
            shared_memory=has_shm,
            options={**support.FORCED, **options},
            records=tmp_path / f"records{attempt}",
        )

    headway = run_until_exercised(program, run) if reason is None else run(0)
    assert headway.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert levels_told(headway) == levels_told(plain), headway.explain()
    assert len(levels_told(plain)) == (program.ranks if program.name == "threads" else 0)
    if reason is None:
        assert_exercised(headway, program)
    else:
        told = [text for record in headway.records for text in record["declined"]]
        assert len(told) == program.ranks and all(text.startswith(reason) for text in told), told


@matrix.only(matrix.on("mpich5"), "of MPICH it is no different, and others have a thread there")
@pytest.mark.parametrize("level", ["warn", "info"])
def test_sessions_alone(mpi: Mpi, level: str) -> None:
    """That they have no thread is nothing to warn of."""
    argv = [build(mpi, Program("sessions")), "1"]
    options = {**support.FORCED, "HEADWAY_LOG": level}
    result = support.run_mpi(mpi, argv, ranks=2, options=options)
    assert result.status == 0, result.explain()
    assert ("a program with sessions only" in result.stderr) == (level == "info"), result.explain()


def test_null_arguments_while_profiled(mpi: Mpi, plain_run: support.PlainRuns) -> None:
    """The profile reads what programs pass before the MPI has looked at it."""
    argv = [build(mpi, Program("null_arguments"))]
    plain = plain_run(mpi, argv, ranks=2)
    profiled = support.run_mpi(
        mpi, argv, ranks=2, options={**support.FORCED, "HEADWAY_PROFILE": "yes"}
    )
    assert profiled.status == 0, profiled.explain()
    assert profiled.lines == plain.lines, profiled.explain()


def test_operations_with_nobody_are_not_followed(mpi: Mpi, tmp_path: Path) -> None:
    """Of twelve large operations of each rank ten are with MPI_PROC_NULL."""
    done = support.run_mpi(
        mpi,
        [build(mpi, Program("nobody"))],
        ranks=2,
        options=support.FORCED,
        records=tmp_path / "records",
    )
    assert done.status == 0, done.explain()
    assert done.total("tracked_p2p") == 2 * 2, "the real exchange alone"


def test_blocks_of_collectives(mpi: Mpi, tmp_path: Path) -> None:
    """The policy, and a profile, tell collectives of different sizes apart, whatever tells it."""
    has_large = support.declares(mpi, "MPI_Igatherv_c")
    flags = ["-DHAVE_LARGE_COUNTS"] if has_large else []
    done = support.run_mpi(
        mpi,
        [support.compile_program(mpi, "blocks", [support.PROGRAMS / "blocks.c"], flags)],
        ranks=4,
        options={**support.FORCED, "HEADWAY_PROFILE": "yes"},
        records=tmp_path,
    )
    assert done.status == 0, done.explain()
    block_bytes = 1024 * 4
    for record in done.records:
        assert record["tracked_collective"] >= 16
        assert record["tracked_bytes"] == record["tracked_collective"] * block_bytes
        for name in ("Alltoallv", "Gatherv", "Ialltoallw", "Igather", "Iscatterv", "Scatter"):
            sites = [s for s in record["profile"]["sites"] if s["function"] == name]
            assert sites, name
            for site in sites:
                assert site["bytes"] == site["calls"] * block_bytes, site


def test_attribute_of_self(mpi: Mpi, tmp_path: Path) -> None:
    """Callbacks of attributes run when they do plain, at the end as well."""
    argv = [build(mpi, Program("self_attribute"))]
    plain = support.run_mpi(mpi, argv, ranks=2)
    headway = support.run_mpi(
        mpi,
        argv,
        ranks=2,
        shared_memory=False,
        options=support.FORCED,
        records=tmp_path,
    )
    assert headway.status == plain.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert [record["engine"] for record in headway.records] == ["thread"] * 2


def assert_same_in_turns(mpi: Mpi, program: Program, plain: support.Result, scratch: Path) -> None:
    """With the thread at work, what was found plain."""
    argv = [build(mpi, program)]

    def run(attempt: int) -> support.Result:
        records = scratch / f"records{attempt}"
        return support.run_mpi(mpi, argv, ranks=2, options=support.FORCED, records=records)

    assert plain.status == 0, f"the plain control failed, {plain.explain()}"
    headway = run_until_exercised(program, run)
    assert headway.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert_exercised(headway, program)


@matrix.only(
    lambda mpi: mpi.flavour != "mpich" or mpi.is_intel,
    "MPICH has the kernel write to the buffer, which refuses, plain too",
)
def test_handler_of_faults(mpi: Mpi, tmp_path: Path) -> None:
    """A page fault within the thread's turn reaches the program's handler."""
    program = Program("faults")
    plain = support.run_mpi(mpi, [build(mpi, program)], ranks=2)
    assert_same_in_turns(mpi, program, plain, tmp_path)


@matrix.only(
    lambda mpi: mpi.name != "mpich4", "MPICH 4.0's UCX leaves signs of rounding itself, plain too"
)
def test_no_rounding_of_ours(mpi: Mpi, tmp_path: Path) -> None:
    """What the policy calculates in the program's thread leaves no sign of an inexact result."""
    argv = [build(mpi, Program("exact"))]
    options = {name: support.FORCED[name] for name in ("HEADWAY_EAGER_LIMIT", "HEADWAY_TICK_US")}
    plain = support.run_mpi(mpi, argv, ranks=2)
    headway = support.run_mpi(mpi, argv, ranks=2, options=options, records=tmp_path)
    assert headway.status == plain.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert headway.total("overlap_windows") > 2, "the policy had nothing to calculate with"


def test_memory_under_a_protection_key(mpi: Mpi, tmp_path: Path) -> None:
    """The thread's turn reaches memory that only the program's thread was allowed to use."""
    program = Program("memory_keys")
    plain = support.run_mpi(mpi, [build(mpi, program)], ranks=2)
    if plain.status == NO_KEYS:
        pytest.skip("the processor has no protection keys")
    assert_same_in_turns(mpi, program, plain, tmp_path)


#: what a profile follows by other ways than a plain wait: every door, threads, callbacks, fork;
#: and what it must not ask about
PROFILED = (
    "doors",
    "persistent",
    "threads",
    "callbacks",
    "forks",
    "mixtures",
    "own_errors",
    "freed_waiting",
    "rooted",
)


@is_possible
@matrix.only(matrix.on(*QUICK_MPIS), "one MPI of each ABI is enough")
@matrix.quick(has_turn, "profiled on the MPI of the other ABI")
@pytest.mark.parametrize(
    "program", [p for p in DIRECTED if p.name in PROFILED], ids=lambda program: program.id
)
def test_same_output_profiled(
    mpi: Mpi, program: Program, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    """Watching changes nothing either, and sees the requests the engine sees."""
    argv = [build(mpi, program), *arguments_of(mpi, program, tmp_path)]
    plain = plain_run(mpi, argv, ranks=program.ranks)
    is_declined = mpi.flavour in program.declined

    def run(attempt: int) -> support.Result:
        return support.run_mpi(
            mpi,
            argv,
            ranks=program.ranks,
            options={**support.FORCED, "HEADWAY_PROFILE": "yes"},
            records=tmp_path / f"records{attempt}",
        )

    profiled = run(0) if is_declined else run_until_exercised(program, run)
    assert profiled.status == 0, profiled.explain()
    assert profiled.lines == plain.lines, profiled.explain()
    sites = [site for record in profiled.records for site in record["profile"]["sites"]]
    assert sum(site.get("completed", 0) for site in sites) > 0
    if not is_declined:
        assert_exercised(profiled, program)


def extension_of(mpi: Mpi) -> str:
    """A function of this MPI that is of no standard."""
    return "MPIX_Barrier_init" if mpi.flavour == "ompi" and mpi.major < 5 else "MPIX_Comm_agree"


@pytest.mark.parametrize("level, is_on", [("funneled", False), ("multiple", True)])
def test_functions_of_no_standard(mpi: Mpi, level: str, is_on: bool, tmp_path: Path) -> None:
    """No turns can be taken with them: no thread where the MPI has no locks of its own."""
    name = extension_of(mpi)
    flags = [*flags_for(mpi), f'-DEXTENSION="{name}"']
    source = support.PROGRAMS / "threads.c"
    argv = [support.compile_program(mpi, "threads-extension", [source], flags), level, "1"]
    plain = support.run_mpi(mpi, argv, ranks=2)
    headway = support.run_mpi(mpi, argv, ranks=2, options=support.FORCED, records=tmp_path)
    assert headway.status == plain.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert [record["engine"] for record in headway.records] == ["thread" if is_on else "off"] * 2
    said = [line for line in headway.stderr.splitlines() if name in line]
    assert len(said) == (0 if is_on else 1), headway.explain()
    for record in headway.records:
        assert [name in reason for reason in record["declined"]] == [True] * (not is_on)


@matrix.only(lambda mpi: mpi.flavour == "mpich", "only Hydra says a process's rank before MPI_Init")
def test_engine_in_some_processes(mpi: Mpi, tmp_path: Path) -> None:
    """What the others wait for at the end does not depend on an engine."""
    flags = [*flags_for(mpi), f'-DEXTENSION="{extension_of(mpi)}"']
    source = support.PROGRAMS / "threads.c"
    program = support.compile_program(mpi, "threads-extension", [source], flags)
    done = support.run_mpi(
        mpi,
        [program, "multiple", "1", "differ"],
        ranks=2,
        shared_memory=False,
        options=support.FORCED,
        records=tmp_path,
    )
    assert done.status == 0, done.explain()
    assert sorted(record["engine"] for record in done.records) == ["off", "thread"]


def test_engine_off_only_forwards(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    doors = Program("doors")
    argv = [build(mpi, doors)]
    plain = plain_run(mpi, argv, ranks=2)
    off = support.run_mpi(mpi, argv, ranks=2, options={"HEADWAY_ENGINE": "off"}, records=tmp_path)
    assert off.status == 0 and off.lines == plain.lines, off.explain()
    assert [record["engine"] for record in off.records] == ["off"] * 2
    assert off.total("polls") == 0 and off.total("tracked_p2p") == 0


@matrix.check(lambda: True)
def test_default_options(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    """As a user preloads it: no option at all."""
    for name in ("doors", "collectives"):
        argv = [build(mpi, Program(name))]
        plain = plain_run(mpi, argv, ranks=2)
        headway = support.run_mpi(mpi, argv, ranks=2, options={}, records=tmp_path / name)
        assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
        assert headway.total("tracked_p2p") + headway.total("tracked_collective") > 0


@matrix.only(
    lambda mpi: mpi.flavour == "ompi" or mpi.is_intel, "the tests set nothing for this MPI"
)
def test_without_settings_of_tests(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    """What tests/README.md lists is for speed, or for cores that are shared, alone."""
    argv = [build(mpi, Program("doors"))]
    options = {**support.FORCED, "HEADWAY_RECORD": str(tmp_path)}
    done = support.run_bare(mpi, argv, ranks=2, **support.preloaded(mpi, options))
    assert done.status == 0, done.explain()
    assert done.lines == plain_run(mpi, argv, ranks=2).lines, done.explain()
    assert [record["engine"] for record in support.read_records(tmp_path)] == ["thread"] * 2


@matrix.only(lambda mpi: mpi.flavour == "ompi", "only Open MPI has such a protocol")
def test_limit_where_directions_alternate(mpi: Mpi, tmp_path: Path) -> None:
    """Open MPI over TCP by its put protocol, and by the other."""
    argv = [build(mpi, Program("doors"))]
    for flags, limit in {"315": 192 * 1024, "313": 128 * 1024}.items():
        options = {"OMPI_MCA_btl_tcp_flags": flags}
        done = support.run_mpi(mpi, argv, ranks=2, options=options, records=tmp_path / flags)
        assert done.status == 0, done.explain()
        assert [record["eager_limit_bytes"] for record in done.records] == [limit] * 2


FORTRAN = sorted((support.PROGRAMS / "fortran").glob("*.f90"))


@pytest.mark.parametrize("source", FORTRAN, ids=lambda path: path.stem)
def test_fortran(mpi: Mpi, source: Path, tmp_path: Path) -> None:
    """Every binding reaches the hooks, each call once."""
    program = fortran.compile_or_skip(mpi, source, name=source.stem + "_f")
    plain = support.run_mpi(mpi, [program], ranks=2)
    assert plain.status == 0, f"the plain control failed, {plain.explain()}"
    options = {**support.FORCED, "HEADWAY_POSTPONE": "on"}
    headway = support.run_mpi(mpi, [program], ranks=2, options=options, records=tmp_path)
    assert headway.status == 0 and headway.lines == plain.lines, headway.explain()
    assert (headway.total("receives_postponed") > 0) == support.postpones(mpi)
    assert headway.total("tracked_p2p") > 0 and headway.total("tracked_collective") > 0


def test_fortran_late_types(mpi: Mpi, tmp_path: Path) -> None:
    """Fortran sets attributes of datatypes past the entries of C on Open MPI."""
    source = support.PROGRAMS / "fortran_late" / "late_types_f08.f90"
    program = fortran.compile_or_skip(mpi, source, source.with_name("threads.c"))
    done = support.run_mpi(
        mpi, [program], ranks=2, shared_memory=False, options=support.FORCED, records=tmp_path
    )
    assert done.status == 0, done.explain()
    assert done.lines == ["deleted 6, elsewhere 0"] * 2
    assert done.total("tracked_collective") > 0
