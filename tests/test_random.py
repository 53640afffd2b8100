# SPDX-License-Identifier: BSD-3-Clause
"""Random MPI programs receive the same bytes and statuses with and without the library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
import support
import two_nodes
from headway.mpi.mpis import Mpi

SOURCES = sorted((support.PROGRAMS / "random").glob("*.c"))
DEFAULT_SEEDS = 4
FULL_SEEDS = 24


def forced(trigger: str) -> dict[str, str]:
    return {**support.FORCED, "HEADWAY_TRIGGER": trigger}


#: name -> (ranks, arguments, shared memory, options). By the default policy the thread may find
#: that it has nothing to win.
SETTINGS: dict[str, tuple[int, list[str], bool, dict[str, str]]] = {
    "shm-tick": (3, ["--level", "funneled"], True, forced("tick")),
    "tcp-events": (2, ["--level", "serialized"], False, forced("events")),
    "tcp-tick-threads": (2, ["--threads", "2"], False, forced("tick")),
    "shm-threads": (2, ["--threads", "3"], True, forced("auto")),
    "shm-helper": (2, ["--threads", "2"], True, {**forced("helper"), "HEADWAY_GHOSTS": "1"}),
    "shm-false-helper": (
        2,
        ["--threads", "2"],
        True,
        {**forced("helper"), "HEADWAY_GHOSTS": "1", "HEADWAY_HELPER_DRAW": "7"},
    ),
    "tcp-postponed": (
        3,
        ["--level", "funneled"],
        False,
        {**forced("events"), "HEADWAY_POSTPONE": "on"},
    ),
    "tcp-default": (3, ["--level", "multiple"], False, {}),
}
COUNTERS = ("tracked_p2p", "tracked_collective", "tracked_persistent")


def assert_exercised(total: Callable[[str], int], is_full: bool) -> None:
    """A few programs of a fresh seed have some kind of large operation; many have each."""
    totals = {counter: total(counter) for counter in COUNTERS}
    assert total("doors") > 0
    assert all(totals.values()) if is_full else any(totals.values()), totals


def differing_seeds(plain: support.Result, other: support.Result) -> list[int]:
    changed = set(plain.lines) ^ set(other.lines)
    return sorted({int(line.split()[2]) for line in changed if line.startswith("digest seed")})


def check_seeds(plain: support.Result, headway: support.Result, seeds: str, without: str) -> None:
    """The same digests of every seed; `seeds` are the program's arguments that name them."""
    bad = differing_seeds(plain, headway)
    assert headway.status == 0, f"seeds not finished: {bad}; {headway.explain()}"
    assert not bad, (
        f"seeds {bad} differ; one alone: replace '{seeds}' by 'SEED 1 --trace' in\n"
        f"{headway.command}\nand run it with and without {without}"
    )


@matrix.only(
    lambda mpi, setting: mpi.name != "mpich5" or setting != "tcp-tick-threads",
    "MPICH 5 over ofi tcp hangs with several threads, plain too",
)
@matrix.only(
    lambda mpi, setting: support.postpones(mpi) or setting != "tcp-postponed",
    "receives are postponed on Open MPI and MPICH 4 alone",
)
@matrix.only(
    lambda mpi: (mpi.name, mpi.version[:3]) != ("mpich4", "4.2"),
    "Debian 13's MPICH 4.2 aborts in half of these, plain too",
)
@matrix.quick(
    lambda mpi, setting, names: matrix.has_turn(
        "vendor", mpi, names, list(SETTINGS).index(setting) + 1
    ),
    "another MPI of the vendor",
)
@matrix.check(lambda setting: setting == "tcp-events")
@pytest.mark.parametrize("setting", SETTINGS)
def test_same_digests(
    mpi: Mpi,
    setting: str,
    is_full: bool,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    first_seed: int,
) -> None:
    ranks, arguments, has_shm, options = SETTINGS[setting]
    seeds = request.config.getoption("--seeds") or (FULL_SEEDS if is_full else DEFAULT_SEEDS)
    program = support.compile_program(mpi, "random_program", SOURCES)
    argv = [program, str(first_seed), str(seeds), *arguments]
    timeout_s = 60 + 6.0 * seeds
    # Digests do not depend on the transport: the plain control may use the fast one.
    plain = support.run_mpi(mpi, argv, ranks=ranks, timeout_s=timeout_s)
    assert plain.status == 0, f"the plain control failed, {plain.explain()}"
    headway = support.run_mpi(
        mpi,
        argv,
        ranks=ranks + int(options.get("HEADWAY_GHOSTS", "0")),
        shared_memory=has_shm,
        records=tmp_path,
        options=options,
        timeout_s=timeout_s,
    )
    check_seeds(plain, headway, f"{first_seed} {seeds}", "LD_PRELOAD")
    assert len(plain.lines) >= seeds * ranks
    assert [record["engine"] for record in headway.records] == ["thread"] * ranks
    assert_exercised(headway.total, is_full)
    assert headway.total("polls") > 0 or not options


@matrix.one_of_a("family")
@pytest.mark.parametrize("setting", ["tcp-default", "shm-helper"])
def test_same_digests_between_nodes(
    mpi: Mpi, setting: str, is_full: bool, tmp_path: Path, first_seed: int
) -> None:
    """On two nodes with a link between them; plain Intel MPI hangs with two processes on each."""
    options = SETTINGS[setting][3]
    seeds = FULL_SEEDS if is_full else DEFAULT_SEEDS // 2
    program = support.compile_program(mpi, "random_program", SOURCES)
    argv = [str(program), str(first_seed), str(seeds), "--level", "funneled"]
    records = two_nodes.same_output(
        mpi,
        argv,
        tmp_path,
        users=2 if is_full and not mpi.is_intel else 1,
        ghosts=int(options.get("HEADWAY_GHOSTS", "0")),
        timeout=60 + 6.0 * seeds,
        environment=options,
    )
    assert {record["engine"] for record in records} == {"thread"}
    assert_exercised(lambda counter: sum(record[counter] for record in records), is_full)
