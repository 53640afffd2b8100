# SPDX-License-Identifier: BSD-3-Clause
"""Which MPIs the tests run over, and the fixtures they share."""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "cli"), str(ROOT / "tests")]

import leftovers  # noqa: E402  (needs the path above)
import matrix  # noqa: E402
import namespaces  # noqa: E402
import support  # noqa: E402
import workers  # noqa: E402
from headway.mpi.mpis import Mpi  # noqa: E402

#: What ./dev setup installs; a machine may have no make.
os.environ.setdefault("CMAKE_GENERATOR", "Ninja")
#: With it a print is two writes, and launchers mix the ranks' output by the write.
os.environ.pop("PYTHONUNBUFFERED", None)
#: With it each of the hundreds of `headway` compiles its modules anew, most of its time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
#: Open MPI 5 sleeps for a second where libfabric looks for an adapter that is not there; it chooses
#: none of these over TCP and shared memory.
for kind in ("btl", "mtl"):
    os.environ.setdefault(f"OMPI_MCA_{kind}", "^ofi")

#: The MPI every machine of ours must have, and that is enough for --check.
REQUIRED = "mpich4"


def pytest_configure(config: pytest.Config) -> None:
    """A test run that is told to end takes its jobs along, as on an interrupt from the keyboard."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    chosen = workers.given(config, "first_seed", config.getoption("--seed-base"))
    config.stash[workers.FIRST_SEED] = secrets.randbelow(10**9) if chosen is None else chosen
    is_full, is_check = config.getoption("--full"), config.getoption("--check")
    if is_full and is_check:
        raise pytest.UsageError("--full and --check exclude each other")
    tier = matrix.EVERY if is_full else matrix.CHECK if is_check else matrix.QUICK
    left_out = matrix.LeftOut(tier, lambda: chosen_mpis(config))
    config.pluginmanager.register(left_out, "left-out")
    leftovers.take_away(config)
    if config.pluginmanager.has_plugin("xdist"):
        config.pluginmanager.register(workers.Workers(config, left_out), "headway-workers")


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Launches that were started again, or of which plain ones failed, are no secret."""
    if config.stash.get(workers.HAS_SEEDS, False):
        terminalreporter.write_line(
            f"random programs: --seed-base {config.stash[workers.FIRST_SEED]}"
        )
    for what, (happened, launches) in sorted(support.TALLY.items()):
        terminalreporter.write_line(f"{what}: {happened} of {launches} launches")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("headway")
    group.addoption("--mpis", default="", help="comma-separated names; default: every MPI found")
    group.addoption(
        "--seeds", type=int, default=0, help="random programs per MPI and setting (0: default)"
    )
    group.addoption(
        "--seed-base",
        type=int,
        help="first seed of the random programs (default: another each run)",
    )
    group.addoption("--full", action="store_true", help="every setting on every MPI (longer)")
    group.addoption("--check", action="store_true", help="what ends in two minutes: ./dev check")


def chosen_mpis(config: pytest.Config) -> list[str]:
    wanted = [name for name in config.getoption("--mpis").split(",") if name]
    if config.getoption("--check"):
        wanted = wanted or [REQUIRED]
    known = list(support.known_mpis())
    for name in wanted or [REQUIRED]:
        if name not in known:
            raise pytest.UsageError(
                f"no MPI called {name} here (found: {', '.join(known)}); run ./dev setup"
            )
    return wanted or [name for name in known if name in matrix.NAMES]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "mpi" in metafunc.fixturenames:
        names = chosen_mpis(metafunc.config)
        metafunc.parametrize("mpi", [support.known_mpis()[name] for name in names], ids=names)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, None, None]:
    with namespaces.skip_where_refused():
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def libraries() -> None:
    missing = [
        f for f in ("mpich", "ompi") if not (ROOT / "build/lib" / f"libheadway-{f}.so").exists()
    ]
    if missing:
        pytest.exit(
            f"libheadway is not built for {', '.join(missing)}; run ./dev build", returncode=2
        )


@pytest.fixture(scope="session")
def mpis(pytestconfig: pytest.Config) -> list[Mpi]:
    """All that the tests run over."""
    return [support.known_mpis()[name] for name in chosen_mpis(pytestconfig)]


@pytest.fixture
def first_seed(pytestconfig: pytest.Config) -> int:
    """Of the random programs: another in each run, which says it."""
    pytestconfig.stash[workers.HAS_SEEDS] = True
    return pytestconfig.stash[workers.FIRST_SEED]


@pytest.fixture
def is_full(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def plain_run() -> support.PlainRuns:
    """Runs plain controls, each once: the tests that compare with it share it."""
    return support.PlainRuns()


@pytest.fixture
def few_cores() -> Iterator[None]:
    """What is started meanwhile has as many cores as two processes need, at most."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:2])
    yield
    os.sched_setaffinity(0, cores)
