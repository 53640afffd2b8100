# SPDX-License-Identifier: BSD-3-Clause
"""Messages that Headway packs: the same bytes, statuses and errors as plain."""

from __future__ import annotations

from pathlib import Path

import matrix
import pytest
import support
import two_nodes
from headway.mpi.mpis import Mpi

MESSAGES = {"HEADWAY_PACK_MESSAGES": "yes"}
ON = {"HEADWAY_PACK": "on", **MESSAGES}
AUTO = {"HEADWAY_PACK": "auto", **MESSAGES}
FIXED_SEED = 1
CASES = 25
CASES_FULL = 400
CASES_OFTEN = 6
ANEW = 300
FREED = {"freed_sends": 16000, "freed_receives": 8000}
RECEIVED_FROM_SELF = 10
#: Rank 1 leaves its messages to the MPI: what it sends and receives is as without the library.
ALONE = 'test "${PMI_RANK-${OMPI_COMM_WORLD_RANK}}" != 1 || export HEADWAY_PACK=off; exec "$@"'

#: name -> shared memory, options, words before the program's
SETTINGS: dict[str, tuple[bool, dict[str, str], list[str]]] = {
    "shm": (True, ON, []),
    "tcp-thread": (False, {**ON, **support.FORCED}, []),
    "auto": (True, AUTO, []),
    "one-side": (True, ON, ["sh", "-c", ALONE, "sh"]),
}


def build(mpi: Mpi, name: str) -> Path:
    return support.compile_program(mpi, name, [support.PROGRAMS / f"{name}.c"])


def run(
    mpi: Mpi, argv: list[Path | str], has_shm: bool, options: dict[str, str], folder: Path
) -> support.Result:
    done = support.run_mpi(
        mpi,
        argv,
        ranks=2,
        shared_memory=has_shm,
        options=options,
        records=folder,
        timeout_s=600,
    )
    assert done.status == 0, done.explain()
    return done


@matrix.quick(
    lambda mpi, setting: setting == "shm" or mpi.name in ("mpich5", "ompi4"),
    "another MPI of the vendor",
)
@matrix.check(lambda mpi, setting: mpi.name == "mpich5" and setting == "shm")
@pytest.mark.parametrize("setting", SETTINGS)
def test_random_messages(
    mpi: Mpi,
    setting: str,
    is_full: bool,
    tmp_path: Path,
    first_seed: int,
    plain_run: support.PlainRuns,
) -> None:
    """Every way of sending by every way of receiving."""
    has_shm, options, before = SETTINGS[setting]
    seed, cases = (first_seed, CASES_FULL) if is_full else (FIXED_SEED, CASES)
    argv = [build(mpi, "packed_messages"), str(seed), str(cases)]
    plain = plain_run(mpi, argv, ranks=2)
    done = run(mpi, [*before, *argv], has_shm, options, tmp_path)
    assert done.lines == plain.lines, done.explain()
    if setting != "auto":
        assert done.total("packed_messages") > CASES
        assert done.total("packed_message_bytes") > 1024 * done.total("packed_messages") / 4


@matrix.quick(
    lambda mpi, has_shm, asked_for: (
        mpi.name in (("mpich4", "ompi5") if has_shm else ("mpich5",))
        and asked_for == (mpi.name == "mpich4")
    ),
    "another MPI",
)
@pytest.mark.parametrize("asked_for", [False, True], ids=["default", "yes"])
@pytest.mark.parametrize("has_shm", [True, False])
def test_messages_that_come_often(
    mpi: Mpi,
    has_shm: bool,
    asked_for: bool,
    is_full: bool,
    tmp_path: Path,
    first_seed: int,
    plain_run: support.PlainRuns,
) -> None:
    """By nobody's wish: found worth a plan, tried by each process, and taken by either way. Only
    where the first trial finds ours the shorter are both ways timed."""
    seed, cases = (first_seed, CASES_FULL // 10) if is_full else (FIXED_SEED, CASES_OFTEN)
    argv = [build(mpi, "packed_messages"), str(seed), str(cases), "often"]
    plain = plain_run(mpi, argv, ranks=2)
    done = run(mpi, argv, has_shm, AUTO if asked_for else {}, tmp_path)
    assert done.lines == plain.lines, done.explain()
    trials = [record["packed_message_trials"] for record in done.records]
    assert len(trials) == 2 and all(trials), done.explain()


@matrix.quick(lambda mpi, way: way == "on" or mpi.name == "ompi4", "another MPI")
@pytest.mark.parametrize("way", ["on", "auto"])
def test_corners(mpi: Mpi, way: str, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    argv = [build(mpi, "packed_corners")]
    plain = plain_run(mpi, argv, ranks=2)
    done = support.run_mpi(
        mpi, argv, ranks=2, options={"HEADWAY_PACK": way, **MESSAGES}, records=tmp_path
    )
    assert done.status == 0, done.explain()
    assert done.lines == plain.lines, done.explain()
    if way == "on":
        assert done.total("packed_messages") > 20


@matrix.quick(lambda mpi, options: mpi.name == "mpich4" or options == "default", "another MPI")
@pytest.mark.parametrize("options", ["default", "yes", "on"])
def test_receives_that_know_nothing(
    mpi: Mpi, options: str, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    """The MPI receives with gaps what Headway has packed, whatever it is made of."""
    argv = [build(mpi, "packed_mixtures")]
    plain = plain_run(mpi, argv, ranks=2)
    done = run(mpi, argv, True, {"default": {}, "yes": AUTO, "on": ON}[options], tmp_path)
    assert done.lines == plain.lines, done.explain()
    assert done.total("packed_message_trials") > 0 or options == "on"


@matrix.quick(lambda mpi, options, case: mpi.name == "mpich5", "takes all that others send")
@pytest.mark.parametrize("case", ["self", "large"])
@pytest.mark.parametrize("options", ["default", "on"])
def test_parts_that_know_nothing(
    mpi: Mpi, options: str, case: str, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    """The same of messages that MPICH 5 hands over in parts: what a process sends to itself, and
    all within a node whose kernel does not let processes read one another."""
    argv = [build(mpi, "packed_mixtures"), case]
    plain = plain_run(mpi, argv, ranks=2)
    own = {"MPIR_CVAR_CH4_CMA_ENABLE": "0"} if case == "large" else {}
    done = run(mpi, argv, True, {**(ON if options == "on" else {}), **own}, tmp_path)
    assert sorted(done.lines) == sorted(plain.lines), done.explain()
    counter = "packed_messages" if options == "on" else "packed_message_trials"
    assert done.total(counter) > 0, done.explain()


@matrix.quick(lambda mpi: mpi.name in ("mpich4", "mpich5"), "takes all that others send")
def test_matched_receives_that_know_nothing(mpi: Mpi, tmp_path: Path) -> None:
    """The same of large messages from another node in MPI_Mrecv and MPI_Imrecv."""
    argv = [str(build(mpi, "packed_mixtures")), "matched"]
    netmod = "ucx" if mpi.name == "mpich5" else None  # which truncates, as its ofi does not
    records = two_nodes.same_output(mpi, argv, tmp_path, ghosts=0, rate="10gbit", netmod=netmod)
    assert sum(record["packed_message_trials"] for record in records) > 0
    if mpi.name == "mpich5":
        assert sum(record["packed_messages"] for record in records) > 0


@matrix.only(
    lambda mpi, options, case: case != "vast" or mpi.name == "mpich5",
    "refuses such a count, or takes it without a list",
)
@pytest.mark.parametrize("case", ["beyond", "vast", "one"])
@pytest.mark.parametrize("options", ["default", "on"])
def test_receives_with_room(
    mpi: Mpi, options: str, case: str, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    """Receives for more than comes: beyond their memory, which plain MPIs leave alone, for as many
    as an int counts, which MPICH 5 lists one by one if they were sent packed, and for one
    datatype of 72 MiB."""
    argv = [build(mpi, "packed_room"), case]
    plain = plain_run(mpi, argv, ranks=2)
    done = run(mpi, argv, True, ON if options == "on" else {}, tmp_path)
    assert sorted(done.lines) == sorted(plain.lines), done.explain()
    if case != "one" and (options == "on" or mpi.name == "mpich5"):
        assert done.total("packed_messages") > 0, done.explain()


@matrix.one_of_a("family")
@pytest.mark.parametrize("name, ranks", [("freed_sends", 1), ("freed_receives", 2)])
def test_messages_that_are_freed(
    mpi: Mpi, name: str, ranks: int, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    """Many sends at once cost no more each than a few. Of receives each is where the program may
    learn of it, which each call looks for: so few of them are packed."""
    argv = [build(mpi, name)]
    plain = plain_run(mpi, argv, ranks=ranks)
    done = support.run_mpi(mpi, argv, ranks=ranks, options=ON, records=tmp_path)
    assert done.status == 0, done.explain()
    assert done.lines == plain.lines, done.explain()
    sender, *receivers = (record["packed_messages"] for record in done.records)
    assert sender > FREED[name] // 2, done.explain()
    assert all(0 < count < FREED[name] // 8 for count in receivers), done.explain()


@matrix.quick(matrix.on("mpich5", "ompi4"), "another MPI")
def test_messages_that_are_refused(mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns) -> None:
    """There is nothing to follow."""
    argv = [build(mpi, "packed_refused")]
    plain = plain_run(mpi, argv, ranks=2)
    done = run(mpi, argv, True, {**ON, **support.FORCED}, tmp_path)
    assert done.lines == plain.lines, done.explain()
    assert done.total("packed_messages") > 0, done.explain()
    assert done.total("tracked_persistent") == 0, done.explain()
    assert done.total("tracked_p2p") == 2 * RECEIVED_FROM_SELF, done.explain()


@matrix.one_of_a("family")
def test_datatypes_that_are_made_anew(
    mpi: Mpi, tmp_path: Path, plain_run: support.PlainRuns
) -> None:
    """Each of another shape, and none of use for long: what each would cost is paid a few times."""
    argv = [build(mpi, "anew")]
    plain = plain_run(mpi, argv, ranks=1)
    done = support.run_mpi(mpi, argv, ranks=1, options={}, records=tmp_path)
    assert done.status == 0, done.explain()
    assert done.lines == plain.lines, done.explain()
    assert 0 < done.total("packed_message_trials") < ANEW * 5 / 3, done.explain()
    assert 0 < done.total("packed_calls") < 4 * ANEW, done.explain()


@matrix.only(lambda mpi: mpi.name != "ompi4", "Open MPI 4's own windows lose operations")
@matrix.quick(lambda mpi, has_shm: mpi.name == "mpich5" and has_shm, "another MPI, or TCP")
@pytest.mark.parametrize("has_shm", [True, False])
def test_random_puts(
    mpi: Mpi,
    has_shm: bool,
    is_full: bool,
    tmp_path: Path,
    first_seed: int,
    plain_run: support.PlainRuns,
) -> None:
    """One-sided origins under every kind of epoch, overwritten once they are complete."""
    seed, cases = (first_seed, CASES_FULL // 4) if is_full else (FIXED_SEED, CASES)
    argv = [build(mpi, "packed_puts"), str(seed), str(cases)]
    plain = plain_run(mpi, argv, ranks=2)
    done = run(mpi, argv, has_shm, ON, tmp_path)
    assert done.lines == plain.lines, done.explain()
    assert done.total("packed_puts") > CASES, done.explain()
    unpacked = run(mpi, argv, has_shm, AUTO, tmp_path / "auto")
    assert unpacked.lines == plain.lines, unpacked.explain()
    assert unpacked.total("packed_puts") == 0, unpacked.explain()
