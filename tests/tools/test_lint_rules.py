# SPDX-License-Identifier: BSD-3-Clause
"""The house rules of tools/lint_rules.py: circles of imports, atomic operations, names of MPIs."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The checks, of a command of three modules that know of one another in one direction."""
    monkeypatch.syspath_prepend(ROOT / "tools")  # it imports another check from there
    spec = importlib.util.spec_from_file_location("lint_rules", ROOT / "tools" / "lint_rules.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "COMMAND", tmp_path)
    package = tmp_path / "headway"
    (package / "room").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "room" / "__init__.py").write_text("")
    (package / "low.py").write_text("import os\n")
    (package / "middle.py").write_text("from headway import low\n")
    (package / "room" / "high.py").write_text("from headway.middle import low\n")
    return module


def test_no_circle(rules: ModuleType) -> None:
    assert rules.circles() == []


@pytest.mark.parametrize(
    "line",
    [
        "from headway.room import high",
        "from headway.room.high import low",
        "import headway.room.high",
        "def late():\n    from headway.room import high",
        "if TYPE_CHECKING:\n    from headway.room.high import low",
    ],
)
def test_circles_are_found(rules: ModuleType, tmp_path: Path, line: str) -> None:
    (tmp_path / "headway" / "low.py").write_text(f"{line}\n")
    (found,) = rules.circles()
    for name in ("headway.low", "headway.middle", "headway.room.high"):
        assert name in found


def test_the_command_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside them the command itself, of which the check would else say nothing here."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    spec = importlib.util.spec_from_file_location("lint_rules", ROOT / "tools" / "lint_rules.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(module.modules()) > 50 and module.circles() == []


@pytest.mark.parametrize(
    "line",
    [
        "atomic_store(&word, 1);",
        "if (atomic_load_explicit(&word, memory_order_relaxed))",
        "hw_atomic_add_relaxed(&word, atomic_exchange(&other, 0));",
        "x = __atomic_load_n(&word, __ATOMIC_ACQUIRE);",
        "__sync_synchronize();",
        "order = memory_order_seq_cst;",
    ],
)
def test_bare_atomics_are_found(rules: ModuleType, line: str) -> None:
    text = f"/* atomic_load(\n */\n{line}\n"
    found = rules.bare_atomics(Path("src/progress/gate.c"), text)
    assert found and all(one.startswith("src/progress/gate.c:3: ") for one in found)
    assert rules.bare_atomics(Path("src/base/atomic.h"), text) == []
    assert rules.bare_atomics(Path("tests/mpi/halo.c"), text) == []


@pytest.mark.parametrize(
    "line",
    [
        "static atomic_bool is_open; /* atomic_load( is for others */",
        "static atomic_flag said = ATOMIC_FLAG_INIT;",
        "atomic_init(&word, 0);",
        "hw_atomic_store_release(&word, hw_atomic_load_seq_cst(&other));",
    ],
)
def test_named_atomics_are_allowed(rules: ModuleType, line: str) -> None:
    assert rules.bare_atomics(Path("src/progress/gate.c"), line) == []


@pytest.mark.parametrize(
    "line",
    [
        "#ifdef OPEN_MPI",
        "#if MPICH_NUMVERSION >= 40000000",
        "int MPII_Comm_get_attr(MPI_Comm comm);",
        'setenv("OMPI_MCA_btl", "self", 0);',
        'getenv("I_MPI_FABRICS")',
        "if (hw_real_flavour_built() == HW_REAL_FLAVOUR_MPICH)",
    ],
)
def test_names_of_one_mpi_are_found(rules: ModuleType, line: str) -> None:
    text = f"/* MPICH_VERSION */\n{line}\n"
    (found,) = rules.vendor_names(Path("src/mpi/fortran.c"), text)
    assert found.startswith("src/mpi/fortran.c:2: ")
    assert rules.vendor_names(Path("src/real/quirks.c"), text) == []
    assert rules.vendor_names(Path("tests/mpi/halo.c"), text) == []


@pytest.mark.parametrize(
    "line",
    [
        "if (HW_REAL_ASKING_RAISES)",
        "/* Open MPI and MPICH differ: OPEN_MPI */",
        'hw_log_note("MPICH and Open MPI");',
        "MPI_Comm_rank(HW_COMM_WORLD, &rank);",
    ],
)
def test_names_of_every_mpi_are_allowed(rules: ModuleType, line: str) -> None:
    assert rules.vendor_names(Path("src/mpi/fortran.c"), line) == []
