# SPDX-License-Identifier: BSD-3-Clause
"""An MPI that fails, lacks functions or is another one; bad input. We decline or say so."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
import support
from headway.mpi.mpis import Mpi

HERE = Path(__file__).with_name("fakempi")
SONAMES = {"mpich": "libmpi.so.12", "ompi": "libmpi.so.40"}
OTHER = {"mpich": "ompi", "ompi": "mpich"}
# On a machine whose cores others want, the thread may have no turn in a tenth of a second.
TURN_ATTEMPTS = 5


@pytest.fixture(params=["mpich", "ompi"])
def fake(request: pytest.FixtureRequest) -> Mpi:
    """The MPI whose header and name the fake borrows: the oldest of a flavour."""
    return support.oldest(request.param)


def build_fake(mpi: Mpi, variant: str = "", name: str = "program") -> tuple[Path, Path]:
    """The program, and the folder with the fake library it runs with."""
    compiler = Path(shutil.which("gcc") or "gcc")
    include = f"-I{mpi.header.parent}"
    soname = SONAMES[mpi.flavour]
    defines = ["-DWITHOUT_GET_STATUS"] if variant == "without-status" else []
    folder = f"fake{'-' + variant if variant else ''}"
    library = support.compile_program(
        mpi,
        f"{folder}/{soname}",
        [HERE / "fake_mpi.c"],
        [include, *defines, "-shared", "-fPIC", f"-Wl,-soname,{soname}"],
        compiler,
    )
    program = support.compile_program(
        mpi,
        f"{folder}/{name}",
        [HERE / f"{name}.c"],
        [include, f"-L{library.parent}", f"-l:{soname}"],
        compiler,
    )
    return program, library.parent


def run_fake(
    mpi: Mpi,
    failures: str,
    options: dict[str, str] | None,
    variant: str = "",
    flavour: str = "",
    records: Path | None = None,
    arguments: tuple[str, ...] = (),
    name: str = "program",
) -> support.Result:
    program, folder = build_fake(mpi, variant, name)
    env = {k: v for k, v in os.environ.items() if not k.startswith("HEADWAY_")}
    env |= {"LD_LIBRARY_PATH": str(folder), "FAKE_MPI": failures}
    if options is not None:
        preload = support.LIBRARIES / f"libheadway-{flavour or mpi.flavour}.so"
        env |= support.preloaded(mpi, options, preload)
        if records:
            env["HEADWAY_RECORD"] = str(records)
    result = support.run_group([program, *arguments], env, timeout_s=30)
    if records:
        result.records = support.read_records(records)
    return result


@pytest.mark.parametrize(
    "failures",
    [
        "",
        "level-single,slow",
        "split-error",
        "irecv-error",
        "irecv-error,own-handler",
        "isend-error",
        "status-error",
        "wait-error",
    ],
)
def test_declines_never_fails(fake: Mpi, failures: str, tmp_path: Path) -> None:
    plain = run_fake(fake, failures, None)
    assert plain.status == 0, plain.explain()
    # On Open MPI asking raises no error: there the program's handler does not matter.
    needs_receive = failures.endswith("own-handler") and fake.flavour == "mpich"
    needs_turn = needs_receive or not failures or "slow" in failures
    for attempt in range(TURN_ATTEMPTS if needs_turn else 1):
        records = tmp_path / str(attempt)
        records.mkdir()
        headway = run_fake(fake, failures, support.FORCED, records=records)
        assert headway.status == 0, headway.explain()
        assert headway.stdout == plain.stdout, headway.explain()
        record = headway.records[0]
        # Without a receive of its own the thread still asks about the program's requests.
        assert record["engine"] == "thread" and record["tracked_p2p"] > 0, record
        is_idle = needs_turn and record["polls"] == 0
        if not support.tally("started again, for the thread got no processor", is_idle):
            break
    assert record["polls"] > 0 or not needs_turn, record
    if failures == "split-error" or needs_receive:
        assert "[headway" in one_line(headway)


@pytest.mark.parametrize(
    "failures", ["", "win-error", "rput-error", "flush-error", "wait-error", "status-error"]
)
def test_windows_fail_as_plain(fake: Mpi, failures: str, tmp_path: Path) -> None:
    """Codes of one-sided calls are the MPI's, whatever fails; what is exposed is counted."""
    one_sided = ("windows",)
    plain = run_fake(fake, failures, None, arguments=one_sided)
    headway = run_fake(fake, failures, support.FORCED, records=tmp_path, arguments=one_sided)
    assert headway.status == plain.status == 0, headway.explain()
    assert headway.stdout == plain.stdout and "create" in plain.stdout, headway.explain()
    (record,) = headway.records
    assert (record["exposures"] > 0) == (failures != "win-error"), record
    assert (record["tracked_rma"] > 0) == (failures not in ("win-error", "rput-error")), record


def test_missing_function(fake: Mpi, tmp_path: Path) -> None:
    plain = run_fake(fake, "", None, variant="without-status")
    headway = run_fake(fake, "", support.FORCED, variant="without-status", records=tmp_path)
    assert headway.status == plain.status == 0, headway.explain()
    assert headway.stdout == plain.stdout, headway.explain()
    assert headway.records, headway.explain()


def one_line(result: support.Result) -> str:
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, result.explain()
    return lines[0]


def test_process_without_mpi(fake: Mpi) -> None:
    """What a rank starts has the library, too: a question by a weak reference is no mistake."""
    gcc = Path(shutil.which("gcc") or "gcc")
    program = support.compile_program(fake, "fake/absent", [HERE / "absent.c"], [], gcc)
    plain = support.run_group([program], os.environ)
    headway = support.run_group([program], os.environ | support.preloaded(fake, {}))
    assert headway.status == plain.status == 0, headway.explain()
    assert headway.stdout == plain.stdout and not headway.stderr, headway.explain()


def test_first_call_while_a_library_is_loaded(fake: Mpi) -> None:
    """Who loads it holds a lock of the loader, and waits for another."""
    gcc = Path(shutil.which("gcc") or "gcc")
    flags = ["-shared", "-fPIC"]
    library = support.compile_program(fake, "fake/loaded.so", [HERE / "loaded.c"], flags, gcc)
    for options in (None, {}):
        done = run_fake(fake, "", options, arguments=(str(library),), name="loading")
        assert done.status == 0, done.explain()
        assert done.stdout == "loaded 1, MPI 0\n", done.explain()


def test_wrong_flavour(fake: Mpi) -> None:
    result = run_fake(fake, "", {}, flavour=OTHER[fake.flavour])
    assert result.status not in (0, -1), result.explain()
    line = one_line(result)
    assert "[headway" in line and ";" in line, line
    assert "irecv" not in result.stdout, "it communicated before it refused"


BAD_INPUT = {
    "unknown": ({"HEADWAY_TRIGER": "tick"}, ["HEADWAY_TRIGER", "HEADWAY_TRIGGER"]),
    "word": ({"HEADWAY_ENGINE": "warp"}, ["HEADWAY_ENGINE", "warp", "auto", "thread", "off"]),
    "number": ({"HEADWAY_TICK_US": "soon"}, ["HEADWAY_TICK_US", "soon", "20"]),
    "range": ({"HEADWAY_TICK_US": "3"}, ["HEADWAY_TICK_US", "3", "20"]),
    "negative": ({"HEADWAY_EAGER_LIMIT": "-5"}, ["HEADWAY_EAGER_LIMIT", "-5"]),
    "trailing": ({"HEADWAY_EAGER_LIMIT": "64Kx"}, ["HEADWAY_EAGER_LIMIT", "64Kx"]),
    "empty": ({"HEADWAY_TRIGGER": ""}, ["HEADWAY_TRIGGER"]),
    "bool": ({"HEADWAY_VERBOSE": "maybe"}, ["HEADWAY_VERBOSE", "maybe"]),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_line(fake: Mpi, case: str) -> None:
    options, words = BAD_INPUT[case]
    result = run_fake(fake, "", options)
    assert result.status not in (0, -1), result.explain()
    line = one_line(result)
    for word in words:
        assert word in line, line
    assert "irecv" not in result.stdout, "it communicated before it refused"


@pytest.mark.beside  # ends before it communicates
def test_bad_input_ends_a_whole_job(mpi: Mpi) -> None:
    program = support.compile_program(mpi, "doors", [support.PROGRAMS / "doors.c"])
    result = support.run_mpi(mpi, [program], ranks=3, options={"HEADWAY_TRIGER": "tick"})
    assert result.status != 0 and not result.has_timed_out, result.explain()
    said = [line for line in result.stderr.splitlines() if "HEADWAY_TRIGER" in line]
    assert len(said) == 1, result.explain()
    assert not re.search(r"^rank \d", result.stdout, re.MULTILINE)


@pytest.mark.beside  # ends before it communicates
def test_different_bad_input_is_said_by_each(mpi: Mpi) -> None:
    program = support.compile_program(mpi, "doors", [support.PROGRAMS / "doors.c"])
    rank = "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}}"
    script = f'HEADWAY_TICK_US="bad{rank}" exec "$@"'
    result = support.run_mpi(mpi, ["sh", "-c", script, "sh", program], ranks=2, options={})
    assert result.status != 0 and not result.has_timed_out, result.explain()
    for value in ("bad0", "bad1"):
        said = [line for line in result.stderr.splitlines() if f"HEADWAY_TICK_US={value}" in line]
        assert len(said) == 1, result.explain()


def test_only_some_ranks_have_the_library(mpi: Mpi, tmp_path: Path) -> None:
    program = support.compile_program(mpi, "doors", [support.PROGRAMS / "doors.c"])
    rank = "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-$PMIX_RANK}}"
    script = f'[ "{rank}" = 0 ] && export LD_PRELOAD={support.library(mpi)}; exec "$@"'
    records = tmp_path / "records"
    records.mkdir()
    options = {**support.ENGINE, **support.FORCED, "HEADWAY_RECORD": str(records)}
    plain = support.run_mpi(mpi, [program], ranks=2)
    half = support.run_mpi(mpi, ["sh", "-c", script, "sh", program], ranks=2, env=options)
    assert half.status == plain.status == 0, half.explain()
    assert half.lines == plain.lines, half.explain()
    made = support.read_records(records)
    assert len(made) == 1 and made[0]["tracked_p2p"] > 0, made
