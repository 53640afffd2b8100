# SPDX-License-Identifier: BSD-3-Clause
"""Processes of one job with unlike options, or some without the library: one line names the
process, the variable and both values, and the job ends. doc/adr/0030."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

import matrix
import pytest
import support
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi

pytestmark = pytest.mark.beside  # short jobs: most of the time is that of their start
EXIT_BAD_INPUT = 78

RANK = "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}"

#: The first command of ranks 2 and 3 of four, or of the ranks that `ranks` has.
WITHOUT_LIBRARY = "unset LD_PRELOAD HEADWAY_GHOSTS"


@dataclass(frozen=True)
class Case:
    name: str
    change: str  # in the environment of some ranks
    said: tuple[str, ...]
    ranks: str = "2|3"
    options: tuple[tuple[str, str], ...] = (("HEADWAY_GHOSTS", "1"),)


CASES = [
    Case(
        "some-without-ghosts",
        "unset HEADWAY_GHOSTS",
        ("HEADWAY_GHOSTS=1,", "HEADWAY_GHOSTS=0 at process 2"),
    ),
    Case(
        "unlike-numbers",
        "export HEADWAY_GHOSTS=2",
        ("HEADWAY_GHOSTS=1 at process 0", "HEADWAY_GHOSTS=2 at process 2"),
    ),
    Case(
        "unlike-redirection",
        "export HEADWAY_REDIRECT=off",
        ("HEADWAY_REDIRECT=on at process 0", "HEADWAY_REDIRECT=off at process 2"),
        options=(("HEADWAY_GHOSTS", "1"), ("HEADWAY_REDIRECT", "on")),
    ),
    Case(
        "some-without-helper",
        "export HEADWAY_TRIGGER=tick",
        ("HEADWAY_TRIGGER=helper at process 0", "HEADWAY_TRIGGER=tick at process 2"),
        options=(("HEADWAY_GHOSTS", "1"), ("HEADWAY_TRIGGER", "helper")),
    ),
    Case(
        "unlike-adaptation",
        "export HEADWAY_ADAPT=global",
        ("HEADWAY_ADAPT=guided at process 0", "HEADWAY_ADAPT=global at process 2"),
    ),
    Case(
        "some-without-library",
        WITHOUT_LIBRARY,
        ("HEADWAY_GHOSTS=1,", "process 2 runs without the library"),
    ),
    Case(
        "first-without-library",
        WITHOUT_LIBRARY,
        ("HEADWAY_GHOSTS=1,", "process 0 runs without the library"),
        ranks="0",
    ),
]


def changed(case: Case, argv: list[Path | str]) -> list[str]:
    words = f'case {RANK} in {case.ranks}) {case.change};; esac; exec "$0" "$@"'
    return ["/bin/sh", "-c", words, *map(str, argv)]


def assert_refused(result: support.Result, said: tuple[str, ...]) -> None:
    told = [line for line in result.stderr.splitlines() if "[headway" in line]
    assert not result.has_timed_out, result.explain()
    assert len(told) == 1, result.explain()
    assert all(text in told[0] for text in said), told
    assert result.status == EXIT_BAD_INPUT, result.explain()


@pytest.mark.beside  # ends before it communicates
@matrix.one_of_a("family")
@matrix.quick(lambda mpi, case: mpi.flavour == "mpich" or case.ranks == "0", "compared alike")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_refused(mpi: Mpi, case: Case) -> None:
    program = support.compile_program(mpi, "ghosts", [support.PROGRAMS / "ghosts.c"])
    result = support.run_mpi(
        mpi, changed(case, [program]), ranks=4, options=dict(case.options), timeout_s=60
    )
    assert_refused(result, case.said)


@matrix.one_of_a("family")
def test_same_by_another_name(mpi: Mpi) -> None:
    """What some name as the papers do is the same option; other options may differ."""
    program = support.compile_program(mpi, "ghosts", [support.PROGRAMS / "ghosts.c"])
    case = Case("", "unset HEADWAY_GHOSTS; export CSP_NG=1 HEADWAY_LOG=error", ())
    result = support.run_mpi(
        mpi, changed(case, [program]), ranks=4, options={"HEADWAY_GHOSTS": "1"}
    )
    assert result.status == 0 and "[headway" not in result.stderr, result.explain()


@matrix.only(matrix.on("mpich5", "ompi5"), "no different for another MPI of the family")
@matrix.quick(lambda: False, "takes ten seconds")
def test_other_node_without_library(mpi: Mpi) -> None:
    """Nobody sees what its processes have; after a while they count as missing."""
    program = support.compile_program(mpi, "ghosts", [support.PROGRAMS / "ghosts.c"])
    without = f'test "$(hostname)" = n1 && {WITHOUT_LIBRARY}; exec "$0"'
    settings = {"LD_PRELOAD": str(support.library(mpi)), "HEADWAY_GHOSTS": "1"}
    with Cluster(2, rate="none", pin="none") as cluster:
        result = cluster.run(
            mpi,
            ["/bin/sh", "-c", without, str(program)],
            ranks_per_node=2,
            env=settings,
            netmod=support.netmod(mpi),
            launcher_args=support.launcher_extra(mpi),
            timeout=60,
        )
    told = [line for line in result.stderr.splitlines() if "[headway" in line]
    explained = shlex.join(result.argv) + result.stdout[-2000:] + result.stderr[-2000:]
    assert not result.timed_out and result.returncode == EXIT_BAD_INPUT, explained
    assert len(told) == 1 and "process 2 takes no part after 10 s" in told[0], explained
