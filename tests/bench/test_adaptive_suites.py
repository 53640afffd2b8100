# SPDX-License-Identifier: BSD-3-Clause
"""Description: the program of phases finds a wrong value, gives one answer with ghosts and under
hints, and the rows of the suites that compare ghosts with targets are those of its phases."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matrix
import pytest
import support
from headway.bench import adaptive, analysis, command, modes, nwchem
from headway.bench import build as bench_build
from headway.mpi.mpis import Mpi, find_mpis

ROOT = Path(__file__).resolve().parents[2]
#: shorter than any suite's
SHORT = {
    adaptive.PROGRAM: ("--comp", "8,1,1,3,0", "--comm", "4,1,2,4,2", "--seconds", "0"),
    adaptive.COST_PROGRAM: ("--rounds", "2", "--warmup", "1"),
}


def arguments(case: adaptive.Case) -> list[str]:
    """As launches.Setting makes them."""
    sizes = ["--sizes", ",".join(map(str, case.sizes))] if case.sizes else []
    return [word for name, value in case.options.items() for word in (f"--{name}", value)] + sizes


@matrix.only(
    lambda mpi: mpi.name != "ompi4", "Open MPI 4 keeps its own windows, which lose operations"
)
@matrix.one_of_a("family")
def test_one_answer(mpi: Mpi, tmp_path: Path) -> None:
    """By either way of synchronising, plain and with ghosts, and an update too many is found."""
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, [adaptive.PROGRAM]) == 0
    program = programs / mpi.name / adaptive.PROGRAM
    case = next(suite for suite in adaptive.SUITES if suite.name == "adapt-phases").cases[0]
    argv = [program, *arguments(case), *SHORT[adaptive.PROGRAM], "--guided"]
    plain = support.object_of(support.run_mpi(mpi, [*argv, "--sync", "fence"], ranks=2))
    found = support.run_served(mpi, argv, users=2, records=tmp_path / "records")
    digests = [[phase["digest"] for phase in one["phases"]] for one in (plain, found)]
    assert len(digests[0]) == 8 and digests[0] == digests[1]
    assert "0" * 16 not in digests[0]

    wrong = support.run_mpi(mpi, [*argv, "--add-one"], ranks=2)
    assert wrong.status != 0 and "an update was lost or made twice" in wrong.stderr
    assert {phase["digest"] for phase in json.loads(wrong.stdout)["phases"]} == {"0" * 16}


CASES = {
    f"{suite.name}, {case.name}": case
    for suite in adaptive.SUITES
    for case in suite.cases[-1:]
    if suite.name != "adapt-intervals" and case.program in SHORT
}


@matrix.only(matrix.on("mpich5"), "no different for another MPI")
@pytest.mark.parametrize("name", CASES)
def test_suites_run(mpi: Mpi, name: str) -> None:
    """The last case of each suite, shortened: its program takes the options, and its rows are of
    parts, each with a time."""
    case = CASES[name]
    programs = ROOT / "build" / "bench"
    assert bench_build.build([mpi], programs, [case.program]) == 0
    argv = [programs / mpi.name / case.program, *arguments(case), *SHORT[case.program]]
    result = support.object_of(support.run_mpi(mpi, argv, ranks=2))
    rows = analysis.rows_make([launch("plain", result)])
    assert len(rows) >= 4
    assert all(analysis.main_value(row["values"]) for row in rows)
    assert all(row["case"].startswith("c: ") and not row["failed"] for row in rows)


def launch(mode: str, result: dict | None) -> dict:
    return {
        "mpi": "mpich5",
        "rate": "10gbit",
        "sockbuf": "default",
        "case": "c",
        "program": adaptive.PROGRAM,
        "mode": mode,
        "repetition": 0,
        "sizes": [],
        "wire_s": {},
        "failure": "" if result else "ran out",
        "records": [],
        "prediction": None,
        "result": result,
    }


def result_of(first_s: float, settled_s: float, digest: str = "d") -> dict:
    phase = {
        "phase": "ab:comm:get:accumulate:64:strided",
        "bytes": 64,
        "round_s": (first_s + settled_s) / 2,
        "parts_s": [first_s] * 4 + [settled_s] * 4,
        **dict.fromkeys(("begin_s", "compute_s", "comm_s", "sync_s", "cpu_s"), 0.001),
        "digest": digest,
    }
    return {"program": adaptive.PROGRAM, "phases": [phase, phase], "wall_s": first_s + settled_s}


def test_rows_compare_what_is_learnt_with_the_best_fixed_way() -> None:
    rows = analysis.rows_make(
        [
            launch("plain", result_of(0.004, 0.004)),
            launch("plain", result_of(0.006, 0.006)),
            launch("headway", result_of(0.008, 0.008)),
            launch("headway-ghosts", result_of(0.020, 0.020)),
            launch("headway-guided", result_of(0.006, 0.006)),
            launch("headway-auto", result_of(0.020, 0.005, "wrong")),
            launch("headway-global", None),
        ]
    )
    phase, whole = "c: phase 2, COMM on a and b", "c: the whole run"
    found = {(row["case"], row["mode"]): row for row in rows}
    mine = found[phase, "headway-auto"]
    assert mine["values"]["first_s"]["median"] == 0.020
    assert mine["derived"]["of_best"] == pytest.approx(1.0), "the last half, of plain's"
    assert mine["derived"]["ratio_mean"] == pytest.approx(2.5)
    assert mine["derived"]["of_guided"] == pytest.approx(5 / 6)
    assert not mine["is_same_answer"]
    assert found[whole, "headway-auto"]["derived"]["of_guided"] == pytest.approx(25 / 12)
    failed = [case for case, mode in found if mode == "headway-global"]
    assert failed == ["c: phase 1, COMM on a and b", phase, whole]
    assert all(found[case, "headway-global"]["failed"] == 1 for case in failed)


def test_modes_that_the_library_does_not_have_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    mpi = next(mpi for mpi in find_mpis(with_path=False) if mpi.flavour == "mpich")
    suite = next(suite for suite in adaptive.SUITES if suite.name == "adapt-single")
    monkeypatch.setattr(modes, "refusal", lambda mode: "no" * (mode.name == "headway-auto"))
    names = [mode.name for mode in modes.modes_make(mpi, suite, None, {})]
    assert names[:4] == ["plain", "headway", "headway-ghosts", "headway-guided"]
    assert "headway-auto" not in names and "headway-global" in names
    assert modes.modes_skipped(suite) == {"headway-auto": "no"}


#: what NWChem 7.0.2 prints, shortened
NWCHEM = """
         Total DFT energy =     -152.813593228218
 Task  times  cpu:        2.3s     wall:        4.0s
         Total SCF energy =   -152.015112860186
 Task  times  cpu:        0.8s     wall:        1.9s
         Total SCF energy =   -152.015112860186
 Total CCSD energy:           -152.410762217237874
 Total SCS-CCSD energy:                -152.505599650185275
 Time for integral evaluation pass     1        1.25
 Time for triples evaluation pass      1        6.31
 Total CCSD(T) energy:                -152.4147172{digits}
 Task  times  cpu:        7.6s     wall:       15.7s
"""


def test_phases_of_nwchem_have_their_energies() -> None:
    def told(mode: str, digits: str) -> dict:
        result = nwchem.result_read(NWCHEM.format(digits=digits))
        return {**launch(mode, result), "program": nwchem.PROGRAM}

    each = ("plain", "676235"), ("headway-guided", "676999"), ("headway-auto", "976235")
    rows = analysis.rows_make([told(*one) for one in each])
    found = {(row["case"].removeprefix("c: "), row["mode"]): row for row in rows}
    seconds = {name: row["values"]["total_s"]["median"] for (name, at), row in found.items()}
    assert seconds == {
        "DFT": 4.0,
        "SCF": 1.9,
        "CCSD": pytest.approx(9.39),
        "(T)": 6.31,
        adaptive.WHOLE: pytest.approx(21.6),
    }
    assert found["(T)", "headway-guided"]["is_same_answer"], "to the last digit that is compared"
    assert not found["(T)", "headway-auto"]["is_same_answer"]
    assert found["CCSD", "headway-auto"]["derived"]["of_guided"] == pytest.approx(1.0)
    assert nwchem.result_read(NWCHEM.replace("triples", "no")) is None


def test_without_nwchem_its_suite_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nwchem.install, "debian_version", lambda package: "")
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    assert command.bench(parser.parse_args(["bench", "adapt-nwchem"])) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said == (
        "adapt-nwchem: skipped: NWChem is not installed; Debian: apt-get install nwchem-mpich"
    )
