# SPDX-License-Identifier: BSD-3-Clause
"""`headway profile` of Python programs: the file, function and line that made a call."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import matrix
import pytest
import support
from headway.mpi.mpis import Mpi
from headway.report.runs import Run, load
from test_run import follow

Headway = Callable[..., subprocess.CompletedProcess[str]]
HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

#: what an interpreter says of itself: 3.x, and where its headers are
ASK = "import sys, sysconfig; print(sys.version_info[1], sysconfig.get_path('include'))"
#: those whose frames are known (src/profile/python/python_code.c)
KNOWN = range(8, 14)


@cache
def interpreters() -> dict[int, tuple[Path, Path]]:
    """Minor version -> interpreter and headers: the one that runs the tests, and others found."""
    found = [Path(sys.executable), Path("/usr/bin/python3")]
    found += sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3"))
    known: dict[int, tuple[Path, Path]] = {}
    for python in filter(Path.exists, found):
        done = subprocess.run([python, "-c", ASK], capture_output=True, text=True)
        minor, _, include = done.stdout.strip().partition(" ")
        if (
            done.returncode == 0
            and (Path(include) / "Python.h").exists()
            and int(minor) >= KNOWN[0]
        ):
            known.setdefault(int(minor), (python, Path(include)))
    return known


def is_quick(mpi: Mpi, interpreter: tuple[int, tuple[Path, Path]]) -> bool:
    """Every interpreter with one MPI, and our own with one of the other family."""
    _, (python, _) = interpreter
    return mpi.name == "mpich4" or (python == Path(sys.executable) and mpi.name == "ompi5")


@pytest.fixture(params=interpreters().items(), ids=lambda item: f"3.{item[0]}")
@matrix.quick(is_quick, "another interpreter")
def interpreter(request: pytest.FixtureRequest) -> tuple[int, Path, Path]:
    minor, (python, include) = request.param
    return minor, python, include


def extension(mpi: Mpi, minor: int, include: Path, *flags: str, package: str = ".") -> Path:
    """The folder of the module python_calls, for this MPI and interpreter."""
    name = f"python{minor}{''.join(flags)}/{package}/python_calls.so"
    words = ["-shared", "-fPIC", "-I", str(include), "-g0", *flags]
    return support.compile_program(mpi, name, [HERE / "python_calls.c"], words).parent


def profiled(mpi: Mpi, python: Path, program: Path, path: Path, records: Path, **more: str) -> Run:
    done = support.run_mpi(
        mpi,
        [python, program],
        ranks=1,
        options={"HEADWAY_PROFILE": "yes", "HEADWAY_ENGINE": "off"},
        env={"PYTHONPATH": str(path), "PYTHONDONTWRITEBYTECODE": "1", **more},
        records=records,
    )
    assert done.status == 0 and done.stdout == "done\n", done.explain()
    schema = json.loads((ROOT / "doc/schema/record.json").read_text())
    for record in done.records:
        follow(record, schema, "record")
    return load(records)


def test_call_paths(mpi: Mpi, interpreter: tuple[int, Path, Path], tmp_path: Path) -> None:
    """A line of Python is told apart by the lines that called its function."""
    minor, python, include = interpreter
    if minor not in KNOWN:
        pytest.skip("its frames are not known")
    program, path = tmp_path / "program.py", extension(mpi, minor, include)
    program.write_text((HERE / "python_paths.py").read_text(encoding="utf-8"), "utf-8")
    run = profiled(mpi, python, program, path, tmp_path / "records", HEADWAY_PATHS="3")
    found = Counter[str]()
    for site in run.sites:
        places = (site.place, *site.place.callers)
        found[" < ".join(place.function for place in places)] += site.calls
    of_exchange = {name: count for name, count in found.items() if name.startswith("exchange")}
    assert of_exchange == {
        "exchange < first < <module>": 10,
        "exchange < second < <module>": 20,
    }


def with_statements(program: Path) -> Path:
    """The program with a function whose instructions and lines are many."""
    lines = [f"    values.append({i})" + "\n" * (200 if i % 100 == 99 else 1) for i in range(300)]
    text = (HERE / "python_calls.py").read_text(encoding="utf-8")
    program.write_text(text.replace("    # here the test puts many\n", "".join(lines)), "utf-8")
    return program


def marked(program: Path) -> Counter[tuple[str, int]]:
    """(mark, line) -> calls, of the lines that say so."""
    found: Counter[tuple[str, int]] = Counter()
    for number, text in enumerate(program.read_text(encoding="utf-8").splitlines(), 1):
        if match := re.search(r"# site: (.*) (\d+)$", text):
            found[match[1], number] = int(match[2])
    return found


def test_every_way_to_call(mpi: Mpi, interpreter: tuple[int, Path, Path], tmp_path: Path) -> None:
    """Recursion, generators, coroutines, callbacks, threads, names of any script, the end."""
    minor, python, include = interpreter
    if minor not in KNOWN:
        pytest.skip("its frames are not known")
    program = with_statements(tmp_path / "program.py")
    run = profiled(mpi, python, program, extension(mpi, minor, include), tmp_path / "records")
    assert run.records[0].profile and not run.records[0].profile.python_refusal
    calls: Counter[int] = Counter()
    functions: dict[int, str] = {}
    others: Counter[tuple[str, int]] = Counter()
    for site in run.sites:
        if site.function not in ("Iprobe", "Comm_delete_attr"):
            continue
        if Path(site.place.file).name == program.name:
            calls[site.place.line] += site.calls
            functions[site.place.line] = site.place.function
        elif site.place.file.endswith(".py"):
            others[site.place.file, site.place.line] += site.calls
        else:  # made while the interpreter ended
            assert "python_calls" in str(site.place) and site.calls == 101
    expected = marked(program)
    assert len(expected) == 12
    assert calls == {line: count for (_, line), count in expected.items()}
    names = {mark: functions[line] for mark, line in expected}
    for mark, name in (
        ("alone", "alone"),
        ("deep", "deep"),
        ("steps", "steps"),
        ("far", "many_lines"),
    ):
        assert names[mark] == name
    assert names["swap, caught"] == ("Grid.swap" if minor >= 11 else "swap")
    assert names["threads"] == "in_threads" and names["last"] == "<module>"
    files = ("caf\u00e9.py", "snow-\u2603.py", "sum-\U0001d4b3.py")
    assert others == {(file, line): 1 for file in files for line in (4, 5)}


PACKAGE = """
from . import python_calls

python_calls.probe()

class Request:
    def __init__(self):
        python_calls.probe()

def each(values):
    return sorted(values, key=lambda value: python_calls.probe() or value)
"""

USER = """import os
from mpi4py import Request, each  # site: import 1
for _ in range(100):
    Request()  # site: made 100
each([1, 2])  # site: sorted 2
os.write(1, b'done\\n')
"""


def test_passes_over_mpi4py(mpi: Mpi, interpreter: tuple[int, Path, Path], tmp_path: Path) -> None:
    """The package's own frames, what imports it, and frames of the interpreter between them."""
    minor, python, include = interpreter
    if minor not in KNOWN:
        pytest.skip("its frames are not known")
    folder = extension(mpi, minor, include, package="mpi4py")
    (folder / "__init__.py").write_text(PACKAGE)
    program = tmp_path / "program.py"
    program.write_text(USER)
    run = profiled(mpi, python, program, folder.parent, tmp_path / "records")
    found: Counter[int] = Counter()
    for site in run.sites:
        if site.function == "Iprobe" and site.place.line:
            assert str(site.place).startswith("<module> (program.py:")
            found[site.place.line] += site.calls
    assert found == {line: count for (_, line), count in marked(program).items()}


@matrix.only(matrix.on("mpich4"), "no different for another MPI")
def test_own_lines_of_an_extension(mpi: Mpi, tmp_path: Path) -> None:
    """An extension module with debugging information has lines that say more than Python's."""
    known = interpreters().get(sys.version_info[1])
    if known is None:
        pytest.skip("the interpreter of the tests has no headers here")
    folder = extension(mpi, sys.version_info[1], known[1], "-g")
    program = tmp_path / "program.py"
    program.write_text("import os, python_calls\npython_calls.probe()\nos.write(1, b'done\\n')\n")
    run = profiled(mpi, Path(sys.executable), program, folder, tmp_path / "records")
    places = {
        (Path(s.place.file).name, s.place.function) for s in run.sites if s.function == "Iprobe"
    }
    assert places == {("python_calls.c", "probe")}


@pytest.mark.parametrize("minor", [minor for minor in interpreters() if minor in KNOWN])
def test_lines_are_those_of_the_interpreter(minor: int, tmp_path: Path) -> None:
    """Every instruction of some modules of the standard library."""
    library = tmp_path / "lines.so"
    words = ["cc", "-shared", "-fPIC", "-std=gnu17", "-D_GNU_SOURCE", "-I", ROOT / "src"]
    words += ["-o", library, ROOT / "src/profile/python/python_code.c"]
    subprocess.run(words, check=True)
    python, _ = interpreters()[minor]
    done = subprocess.run(
        [python, HERE / "python_lines.py", library], text=True, capture_output=True
    )
    assert done.returncode == 0 and int(done.stdout) > 10_000, done.stdout + done.stderr


MPI4PY = """
import threading, time
from mpi4py import MPI
from mpi4py.util import pkl5
comm, data = MPI.COMM_WORLD, bytearray(8)

class Solver:
    def post(self):
        return [
            comm.Irecv(data, source=1 - comm.rank),  # site: Irecv
            comm.Isend(bytes(8), dest=1 - comm.rank),  # site: Isend
        ]

def exchange():
    first, second = Solver().post()
    second.Wait()  # site: Wait second
    first.Wait()  # site: Wait first

for _ in range(20):
    exchange()

def in_thread():
    comm.Barrier()  # site: Barrier

thread = threading.Thread(target=in_thread)
thread.start()
thread.join()
wrapped = pkl5.Intracomm(comm)
time.sleep(0.3 * comm.rank)  # a wait that the table has a row for
wrapped.send(list(range(9)), dest=comm.rank ^ 1) if comm.rank else wrapped.recv()  # site: pkl5
"""


@matrix.only(lambda mpi: mpi.python is not None, "the MPI has no wheel of mpi4py")
def test_mpi4py(headway: Headway, mpi: Mpi, tmp_path: Path) -> None:
    """The line outside mpi4py's package, in the record, the report and the table."""
    asked = [mpi.python, "-c", "import sys; print(sys.version_info.minor)"]
    if int(subprocess.check_output(asked, text=True)) not in KNOWN:
        pytest.skip("its frames are not known")
    program = tmp_path / "solver.py"
    program.write_text(MPI4PY)
    lines = {}
    for number, text in enumerate(MPI4PY.splitlines(), 1):
        if match := re.search("# site: (.*)$", text):
            lines[match[1]] = number
    done = headway("profile", "--record", "kept", "-n", 2, mpi.python, program)
    assert done.returncode == 0, done.stderr
    run = load(tmp_path / "kept")
    found: Counter[tuple[str, str]] = Counter()
    for site in run.sites:
        if site.place.file:
            assert site.place.file.endswith("solver.py"), str(site.place)
        found[site.function, str(site.place)] += site.calls
    assert found["Irecv", f"Solver.post (solver.py:{lines['Irecv']})"] == 40
    assert found["Isend", f"Solver.post (solver.py:{lines['Isend']})"] == 40
    assert found["Wait", f"exchange (solver.py:{lines['Wait second']})"] == 40
    assert found["Wait", f"exchange (solver.py:{lines['Wait first']})"] == 40
    assert found["Barrier", f"in_thread (solver.py:{lines['Barrier']})"] == 2
    assert found["Send", f"<module> (solver.py:{lines['pkl5']})"] > 0
    assert "(solver.py:" in done.stdout

    assert headway("report", "kept", "--csv", "table.csv").returncode == 0
    with (tmp_path / "table.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["mpi_function"] == "Isend"]
    assert {(row["called_from"], row["line"]) for row in rows} == {
        ("Solver.post", str(lines["Isend"]))
    }
