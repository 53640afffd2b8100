# SPDX-License-Identifier: BSD-3-Clause
"""HEADWAY_ENGINE=auto: a job on one node without cores to spare is left as it is."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
from headway.mpi.mpis import Mpi
from test_failures import fake, run_fake  # noqa: F401  (a fixture)
from test_programs import Program, build, has_feature

AUTO = {"HEADWAY_ENGINE": "auto"}
REASON = "all ranks share one node with no idle core"
FUNNELED = 1  # MPI_THREAD_FUNNELED, the same in every MPI here

#: What launchers say of the job: all processes, and those of the node.
NAMES = {
    "mpich": ("PMI_SIZE", "MPI_LOCALNRANKS"),
    "ompi": ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"),
}
#: more processes than half the cores of any machine
MANY = 100_000

#: environment of the job, by what it is -> is there an engine
JOBS = {
    "unknown": ((), True),
    "one-node": ((MANY, MANY), False),
    "two-nodes": ((2 * MANY, MANY), True),
}


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("engine", ["auto", "thread"])
def test_thread_where_a_node_has_cores_to_spare(
    fake: Mpi,  # noqa: F811
    job: str,
    engine: str,
    tmp_path: Path,
) -> None:
    sizes, is_on = JOBS[job]
    is_on = is_on or engine == "thread"
    told = {name: str(size) for name, size in zip(NAMES[fake.flavour], sizes, strict=False)}
    options = {**support.FORCED, **told, "HEADWAY_ENGINE": engine}
    done = run_fake(fake, "say-level", options, records=tmp_path)
    assert done.status == 0 and not done.stderr, done.explain()
    assert f"fake: asked for level {FUNNELED}" in done.lines
    (record,) = done.records
    assert record["engine"] == ("thread" if is_on else "off")
    assert (record["tracked_p2p"] > 0) == is_on
    assert [reason.startswith(REASON) for reason in record["declined"]] == [True] * (not is_on)


def test_verbose_says_why(fake: Mpi) -> None:  # noqa: F811
    told = dict.fromkeys(NAMES[fake.flavour], str(MANY))
    done = run_fake(fake, "", {**AUTO, **told, "HEADWAY_VERBOSE": "yes"})
    (line,) = [line for line in done.stderr.splitlines() if "engine off" in line]
    assert REASON in line and "HEADWAY_ENGINE=thread" in line


@matrix.only(
    lambda mpi, name: name != "sessions" or has_feature(mpi, name), "the MPI has no sessions"
)
@pytest.mark.usefixtures("few_cores")
@pytest.mark.parametrize("name", ["doors", "sessions"])
def test_one_node(mpi: Mpi, name: str, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    program = Program(name, needs="sessions" if name == "sessions" else "")
    argv = [build(mpi, program), *(["1"] if program.needs else [])]
    plain = plain_run(mpi, argv, ranks=2)
    headway = support.run_mpi(mpi, argv, ranks=2, options=AUTO, records=tmp_path)
    assert headway.status == plain.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert "[headway" not in headway.stderr, headway.explain()
    assert [record["engine"] for record in headway.records] == ["off"] * 2
    assert all(
        [reason.startswith(REASON) for reason in record["declined"]] == [True]
        for record in headway.records
    )
    assert headway.total("polls") == headway.total("tracked_p2p") == 0


@pytest.mark.usefixtures("few_cores")
def test_several_nodes(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    """To the library each process is on a node of its own."""
    alone = "export MPI_LOCALNRANKS=1 OMPI_COMM_WORLD_LOCAL_SIZE=1"
    program = build(mpi, Program("doors"))
    argv = ["sh", "-c", f'{alone}; exec "$0"', program]
    plain = plain_run(mpi, [program], ranks=2)
    headway = support.run_mpi(mpi, argv, ranks=2, options=AUTO, records=tmp_path)
    assert headway.status == plain.status == 0, headway.explain()
    assert headway.lines == plain.lines, headway.explain()
    assert [record["engine"] for record in headway.records] == ["thread"] * 2
    assert headway.total("tracked_p2p") > 0
