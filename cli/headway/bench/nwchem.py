# SPDX-License-Identifier: BSD-3-Clause
"""NWChem as a program of a suite: phase by phase, as papers/002 section 8 has it (figures 9 to 15).

The suite `programs` measures it beside plain; here one input does density-functional theory, which
is one phase, Hartree-Fock, and CCSD(T), whose phases communicate in different ways. Energies are
the digests of the phases.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headway.bench.cases import Case
from headway.bench.programs import catalog, install
from headway.bench.programs.runner import HERE

PROGRAM = "nwchem"
TOLD = next(program for program in catalog.PROGRAMS if program.name == PROGRAM)

#: of a task, in the order of the input
TASK = re.compile(r"^ Task +times +cpu: +\S+s +wall: +([\d.]+)s", re.MULTILINE)
TRIPLES = re.compile(r"^ Time for triples evaluation pass +\d+ +([\d.]+)", re.MULTILINE)
ENERGIES = {
    name: re.compile(rf"^ *Total {re.escape(name)} energy *[:=] +(\S+)", re.MULTILINE)
    for name in ("DFT", "SCF", "CCSD", "CCSD(T)")
}
#: of an energy in hartree that are compared: tasks go to whoever asks first, so the order of sums,
#: and what comes behind these, varies plainly; in DFT, which sums over a grid, somewhat more
DECIMALS = {"DFT": 7, "SCF": 9, "CCSD": 9, "CCSD(T)": 9}


def missing() -> str:
    """Why it cannot be run here; empty where it can."""
    packages = [name for name in TOLD.debian if not install.debian_version(name)]
    return (
        f"NWChem is not installed; Debian: apt-get install {' '.join(packages)}" if packages else ""
    )


def command(case: Case) -> list[str]:
    return [TOLD.command[0], case.options["input"]]


@contextmanager
def work_folder(scratch: Path) -> Iterator[str]:
    """A fresh folder with the inputs, in which it leaves what it computes."""
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="nwchem-", dir=scratch.absolute()) as name:
        shutil.copytree(HERE / "inputs" / TOLD.inputs, name, dirs_exist_ok=True)
        yield name


def result_read(output: str) -> dict[str, Any] | None:
    """What is measured of a launch; None: it did not come to its end."""
    tasks, triples = TASK.findall(output), TRIPLES.findall(output)
    energies = {name: pattern.findall(output) for name, pattern in ENERGIES.items()}
    if len(tasks) != 3 or not triples or not all(energies.values()):
        return None
    dft, scf, coupled = map(float, tasks)
    whole = sum(map(float, triples))
    seconds = {"DFT": dft, "SCF": scf, "CCSD": max(coupled - whole, 0.0), "CCSD(T)": whole}
    return {
        "program": PROGRAM,
        "phases": [
            {"name": name, "seconds": seconds[name], "energy": energies[name][-1]}
            for name in seconds
        ],
        "wall_s": dft + scf + coupled,
    }


def parts(result: dict[str, Any], whole: str) -> Iterable[tuple[str, int, dict[str, float], str]]:
    """Its phases, and all of them."""
    for phase in result["phases"]:
        name = "(T)" if phase["name"] == "CCSD(T)" else phase["name"]
        energy = f"{float(phase['energy']):.{DECIMALS[phase['name']]}f}"
        yield name, 0, {"total_s": phase["seconds"]}, energy
    yield whole, 0, {"total_s": result["wall_s"]}, ""
