# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own test suite has the same results under the library as without it.

The suite comes from mpi4py's source distribution; so does the module for the distribution's MPIs,
while the MPIs of build/mpi/* have its wheel. Plain results are kept in build/tests/mpi4py: they
depend on the MPI and mpi4py alone. Without --full plain runs only the modules in which a test
failed under the library: what succeeds there needs no control.
"""

from __future__ import annotations

import json
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

import matrix
import pytest
import support
import turns
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi

VERSION = "4.1.2"
HOME = support.ROOT / "build" / "tests" / "mpi4py"
RUNNER = Path(__file__).with_name("suite_runner.py")
TIMEOUT_S = 400.0

#: Small messages tracked too: the suite's are nearly all small.
OPTIONS = {
    **support.FORCED,
    "HEADWAY_EAGER_LIMIT": "1",
    "HEADWAY_TICK_US": "500",
    "HEADWAY_PACK": "on",
}

#: Tests left out, with the reason. A pattern is matched against module.Class.method.
EXCLUDED = {
    "test_spawn.*": "MPI_Comm_spawn hangs or fails plain with more processes than slots",
    "test_dynproc.*": "connects over the host's name, which may not resolve",
    "test_util_pool.*": "a pool of processes in a busy loop: minutes on few cores, plain too",
    "test_util_sync.*": "locks taken by spinning in Python: does not end on oversubscribed cores",
    "test_toplevel.*": "starts interpreters and editors of its own; no communication",
    "test_doc.*": "reads documentation strings; no communication",
    "test_package.*": "reads the package's metadata; no communication",
}

#: Left out besides unless --full: they are half of the time.
LOCAL = {
    "test_datatype.*": "makes datatypes; no communication",
    "test_util_dtlib.*": "as that",
}

#: And these at several ranks, which the run of one process has.
ALONE = {
    "test_msgspec.*": "what a buffer may be; messages to itself",
    "test_rma.*": "test_same_results_with_ghosts has windows of several processes",
    "test_rma_nb.*": "as those",
    "test_io.*": "tests/mpi/io.c has a file of several processes",
}

#: And of the windows with ghosts, those of one process.
OF_ITSELF = ("test_rma*.TestRMASelf.*",)

RANKS = (1, 2, 3)

#: What of it runs without --full: one MPI of each ABI, whose mpi4py need not be compiled. Three
#: ranks take minutes of two cores.
DEFAULT_RANKS = {"mpich5": (2,), "ompi5": (1,)}


def index_python() -> Path:
    return support.ROOT / "build" / "venv" / "bin" / "python"


def suite_directory() -> Path:
    root = HOME / f"mpi4py-{VERSION}"
    if not (root / "test").is_dir():
        HOME.mkdir(parents=True, exist_ok=True)
        done = support.run_group(
            [
                index_python(),
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--no-binary",
                "mpi4py",
                f"mpi4py=={VERSION}",
                "--dest",
                HOME,
            ]
        )
        assert done.status == 0, f"cannot download mpi4py's source; {done.explain()}"
        shutil.unpack_archive(HOME / f"mpi4py-{VERSION}.tar.gz", HOME)
    return root / "test"


def compiled_for(mpi: Mpi) -> Path:
    """Where mpi4py is, compiled for this MPI (optimisation would only cost time)."""
    site = HOME / "site" / f"{mpi.name}-{mpi.version}"
    if not list(site.glob("mpi4py/MPI*.so")):
        env = {
            **mpi.environment(),
            "MPI4PY_BUILD_MPICC": str(mpi.mpicc),
            "MPICC": str(mpi.mpicc),
            "CFLAGS": "-O0 -g0",
        }
        done = support.run_group(
            [
                index_python(),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-cache-dir",  # whose wheel may be that of the other MPI
                "--no-deps",
                "--target",
                site,
                HOME / f"mpi4py-{VERSION}.tar.gz",
            ],
            env,
            timeout_s=TIMEOUT_S,
        )
        assert done.status == 0, f"cannot build mpi4py for {mpi.title}; {done.explain()}"
    return site


@pytest.fixture(scope="module")
def sites(mpis: list[Mpi], pytestconfig: pytest.Config) -> dict[str, Path]:
    """Where mpi4py is for each MPI that came without its wheel: half a minute's work of one core
    for each, so at once."""
    wanted = [mpi for mpi in mpis if mpi.python is None]
    if not pytestconfig.getoption("--full"):
        wanted = [mpi for mpi in wanted if mpi.name in DEFAULT_RANKS]
    with turns.given_up(), ThreadPoolExecutor() as pool:
        suite_directory()
        return dict(zip((mpi.name for mpi in wanted), pool.map(compiled_for, wanted), strict=True))


def python_with_mpi4py(mpi: Mpi, sites: dict[str, Path]) -> tuple[Path, dict[str, str]]:
    """An interpreter and its environment with mpi4py for this MPI: its wheel, else compiled."""
    if mpi.python is None:
        return index_python(), {"PYTHONPATH": str(sites[mpi.name])}
    assert list(
        mpi.python.parents[1].glob(f"lib/python3*/site-packages/mpi4py-{VERSION}.dist-info")
    ), f"no mpi4py {VERSION} beside {mpi.python}; run ./dev setup"
    return mpi.python, {}


def outcomes(folder: Path, ranks: int) -> dict[str, str]:
    """ "rank test" -> outcome; a test that began and never ended is `unfinished`."""
    found: dict[str, str] = {}
    for rank in range(ranks):
        path = folder / f"rank.{rank}"
        if not path.exists():
            found[f"{rank} suite"] = "did not start"
            continue
        for line in path.read_text().splitlines():
            outcome, rest = line.rsplit(" ", 2)[0], line.rsplit(" ", 1)[1]
            found[f"{rank} {rest}"] = "unfinished" if outcome == "started" else outcome
    return found


def run_suite(
    mpi: Mpi,
    ranks: int,
    scratch: Path,
    options: dict[str, str] | None,
    excluded: list[str],
    sites: dict[str, Path],
    ghosts: int = 0,
) -> tuple[dict[str, str], support.Result]:
    results = scratch / "results"
    results.mkdir(parents=True)
    python, environment = python_with_mpi4py(mpi, sites)
    argv = [python, RUNNER, suite_directory(), results, *excluded]
    result = support.run_mpi(
        mpi,
        argv,
        ranks=ranks + ghosts,
        options=options,
        records=scratch / "records",
        env={**environment, "PYTHONDONTWRITEBYTECODE": "1"},
        timeout_s=TIMEOUT_S,
    )
    return outcomes(results, ranks), result


#: How a test ends that needs no control; and the suite.
FINE = ("ok", "skipped", "end")


def module_of(test: str) -> str:
    """Of "rank module.Class.method"."""
    return test.split(" ", 1)[1].split(".", 1)[0]


def failing_modules(found: dict[str, str]) -> tuple[str, ...]:
    return tuple(sorted({module_of(t) for t, outcome in found.items() if outcome not in FINE}))


def of_modules(found: dict[str, str], modules: tuple[str, ...]) -> dict[str, str]:
    return {test: outcome for test, outcome in found.items() if module_of(test) in modules}


def differences(plain: dict[str, str], found: dict[str, str]) -> dict[str, str]:
    return {
        test: f"{plain.get(test)} -> {found.get(test)}"
        for test in sorted(plain.keys() | found.keys())
        if plain.get(test) != found.get(test)
    }


def plain_outcomes(
    mpi: Mpi, ranks: int, scratch: Path, excluded: list[str], sites: dict[str, Path]
) -> dict[str, str]:
    key = f"{mpi.name}-{mpi.version}-mpi4py-{VERSION}-{ranks}.json"
    kept = HOME / key
    if kept.exists():
        stored = json.loads(kept.read_text())
        if stored["excluded"] == excluded:
            return stored["outcomes"]
    found, result = run_suite(mpi, ranks, scratch, None, excluded, sites)
    assert result.status == 0 and "unfinished" not in found.values(), (
        f"the plain control did not end; {unfinished(found)}; {result.explain()}"
    )
    kept.write_text(json.dumps({"excluded": excluded, "outcomes": found}))
    return found


def unfinished(found: dict[str, str]) -> list[str]:
    return [test for test, outcome in found.items() if outcome not in ("ok", "skipped")][:20]


@matrix.quick(lambda mpi, ranks: ranks in DEFAULT_RANKS.get(mpi.name, ()))
@pytest.mark.timeout(2 * TIMEOUT_S + 60)
@pytest.mark.parametrize("ranks", RANKS)
def test_same_results(
    mpi: Mpi, ranks: int, is_full: bool, sites: dict[str, Path], tmp_path: Path
) -> None:
    left_out = {} if is_full else {**LOCAL, **(ALONE if ranks > 1 else {})}
    excluded = sorted([*EXCLUDED, *left_out])
    found, result = run_suite(mpi, ranks, tmp_path / "headway", OPTIONS, excluded, sites)
    compared = found
    if not is_full:
        failing = failing_modules(found)
        compared = of_modules(found, failing)
        excluded = sorted({*EXCLUDED, *other_modules(failing)})
    plain = plain_outcomes(mpi, ranks, tmp_path / "plain", excluded, sites) if compared else {}
    plain = plain if is_full else of_modules(plain, failing)
    changed = differences(plain, compared)
    sys.stdout.write(f"{len(found)} tests, {len(plain)} controls, {len(changed)} changed\n")
    assert not changed, (
        f"{len(changed)} tests changed: {dict(list(changed.items())[:20])}\n{result.explain()}"
    )
    assert result.status == 0, result.explain()
    assert len(found) > 1500 * ranks
    assert sum(outcome == "ok" for outcome in found.values()) > 1400 * ranks
    assert [record["engine"] for record in result.records] == ["thread"] * ranks
    if mpi.name == "ompi5":  # the suite has partitioned operations, after which nothing is followed
        return
    counters = ["tracked_p2p", "tracked_collective", "tracked_persistent", "doors"]
    for counter in counters:
        assert result.total(counter) > 0, f"{counter} is 0: the engine was not exercised"


#: What knows windows, their memory and their attributes.
WINDOWS = ("test_rma*", "test_win", "test_memory", "test_attributes", "test_errhandler")


def other_modules(wanted: tuple[str, ...]) -> list[str]:
    modules = sorted(path.stem for path in suite_directory().glob("test_*.py"))
    return [f"{m}.*" for m in modules if not any(fnmatch(m, pattern) for pattern in wanted)]


@matrix.only(lambda mpi: mpi.flavour == "mpich", "two MPIs show it")
@matrix.quick(matrix.on("mpich5"))
@pytest.mark.timeout(2 * TIMEOUT_S + 60)
def test_same_results_with_ghosts(
    mpi: Mpi, is_full: bool, sites: dict[str, Path], tmp_path: Path
) -> None:
    """Windows of every kind; those over memory of MPI_Alloc_mem and MPI_Win_allocate are served."""
    excluded = [*other_modules(WINDOWS), *(() if is_full else OF_ITSELF)]
    plain, control = run_suite(mpi, 2, tmp_path / "plain", None, excluded, sites)
    assert control.status == 0 and "unfinished" not in plain.values(), control.explain()
    options = {"HEADWAY_GHOSTS": "1", "HEADWAY_REDIRECT": "on"}
    found, result = run_suite(mpi, 2, tmp_path / "ghosts", options, excluded, sites, ghosts=1)
    changed = differences(plain, found)
    assert not changed, f"{dict(list(changed.items())[:20])}\n{result.explain()}"
    assert result.status == 0 and len(found) > 2 * 200, result.explain()
    assert result.total("windows_redirected") > 0 and result.total("operations_redirected") > 0


#: mpi4py asks for MPI_THREAD_MULTIPLE. Nearly all messages of the suite are smaller.
MESSAGES = (
    "test_p2p_*",
    "test_msgzero",
    "test_request",
    "test_status",
    "test_util_pkl5",
)
MOVED = {"HEADWAY_P2P": "ghost", "HEADWAY_OFFLOAD_MIN": "128", "HEADWAY_GHOSTS": "1"}


@matrix.quick(lambda: False)
@matrix.only(lambda mpi: mpi.name in ("mpich5", "ompi5"), "two MPIs show it")
@pytest.mark.timeout(2 * TIMEOUT_S + 60)
def test_same_results_with_moved_messages(mpi: Mpi, sites: dict[str, Path], tmp_path: Path) -> None:
    """A process on each of two nodes."""
    excluded = sorted({*EXCLUDED, *other_modules(MESSAGES)})
    python, environment = python_with_mpi4py(mpi, sites)
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    records = tmp_path / "records"
    records.mkdir()
    preload = {"LD_PRELOAD": str(support.library(mpi)), "HEADWAY_RECORD": str(records)}
    found: list[dict[str, str]] = []
    # Plain MPICH 4.0 often hangs in MPI_Finalize; the library by itself lets it end.
    with Cluster(2, rate="10gbit") as cluster:
        for name, ghosts, options in (
            ("plain", 0, {**preload, "HEADWAY_ENGINE": "off"}),
            ("moved", 1, {**preload, **MOVED}),
        ):
            results = tmp_path / name
            results.mkdir()
            done = cluster.run(
                mpi,
                [str(python), str(RUNNER), str(suite_directory()), str(results), *excluded],
                ranks_per_node=1 + ghosts,
                netmod=support.netmod(mpi),
                launcher_args=support.launcher_extra(mpi),
                env={**environment, **options},
                timeout=TIMEOUT_S,
            )
            found.append(outcomes(results, 2))
            assert done.is_ok, f"{name}: {unfinished(found[-1])}; {done.stderr[-2000:]}"
    plain, moved = found
    changed = differences(plain, moved)
    assert not changed, dict(list(changed.items())[:20])
    assert len(plain) > 150 * 2
    totals = [record.get("p2p_offloaded", 0) for record in support.read_records(records)]
    assert sum(totals) > 0
