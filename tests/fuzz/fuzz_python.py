# SPDX-License-Identifier: BSD-3-Clause
"""What the command reads may hold anything: it is read, or refused with one line.

Usage: fuzz_python.py TARGET, then what libFuzzer takes.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["headway"]):
    from headway import outcome, records
    from headway.errors import HeadwayError
    from headway.mpi import elf, program
    from headway.report import runs, text
    from headway.run import settings_file
from rich.console import Console

SCRATCH = Path(tempfile.mkdtemp(prefix="fuzz-"))
CONSOLE = Console(file=(SCRATCH / "shown").open("w"), width=100)


def read_elf(data: bytes) -> None:
    path = SCRATCH / "program"
    path.write_bytes(data)
    with suppress(elf.NotElf):
        elf.read(path)
    elf.defined(path, {"MPI_Init"})


def read_settings(data: bytes) -> None:
    path = SCRATCH / "settings.toml"
    path.write_bytes(data)
    with suppress(HeadwayError):
        settings_file.read(path)


def read_first_line(data: bytes) -> None:
    program.interpreter_of(data.decode(errors="replace"))


def read_record(data: bytes) -> None:
    """Of a run of two ranks; the other's is sound."""
    folder = SCRATCH / "kept"
    folder.mkdir(exist_ok=True)
    (folder / "headway.0.json").write_bytes(data)
    (folder / "headway.1.json").write_text('{"rank": 1, "size": 2, "schema": 3}')
    if records.load(folder / "headway.0.json") is None:
        return
    outcome.summarise(records.read(folder))
    text.show(runs.load(folder), CONSOLE, 5)


TARGETS = {
    "elf": read_elf,
    "settings": read_settings,
    "first_line": read_first_line,
    "record": read_record,
}


def mutate_record(data: bytes, size: int, seed: int) -> bytes:
    """Other values in a record that stays one, most of the time."""
    source = random.Random(seed)
    with suppress(ValueError, RecursionError):
        if source.random() < 0.8:
            changed = damage(json.loads(data), source, share=0.03, more=(2**63, "Isend", 0.5))
            made = json.dumps(changed).encode()
            if len(made) <= size:
                return made
    return atheris.Mutate(data, size)


def main(name: str, words: list[str]) -> None:
    target: Callable[[bytes], None] = TARGETS[name]
    more = {"custom_mutator": mutate_record} if name == "record" else {}
    atheris.Setup([sys.argv[0], *words], target, **more)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[1] / "cli"))
    from damage import damage

    main(sys.argv[1], sys.argv[2:])
