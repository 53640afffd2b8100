"""`headway bench`: the benchmarks of the source tree, by name."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

from headway.errors import HeadwayError
from headway.mpis import repository_root

NEEDED = ("matplotlib", "numpy")


def add_parser(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "bench",
        help="run a suite of benchmarks by name",
        usage="headway bench [SUITE|quick] [options]",
        description="A suite: every mode alternating, several launches, tables, plots and a result "
        "file. Without a name: what suites there are. The options are those of bench/run.py.",
    )
    parser.add_argument("--list", action="store_true", help="what suites there are")
    parser.add_argument("suite", nargs="?", metavar="SUITE", help="its name, or quick")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="OPTIONS")
    parser.set_defaults(call=bench)


def driver() -> Path:
    root = repository_root()
    if root is None or not (root / "bench" / "run.py").is_file():
        raise HeadwayError(
            "the benchmarks are part of the source tree, not of the installed command",
            "run ./dev headway bench there",
        )
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise HeadwayError(
            f"the benchmarks need {' and '.join(missing)}", "run ./dev headway bench, or install it"
        )
    return root / "bench" / "run.py"


def bench(arguments: argparse.Namespace) -> int:
    which = {None: ["--list"], "quick": ["--quick"]}
    suite = None if arguments.list else arguments.suite
    chosen = which.get(suite, ["--suite", str(suite)])
    return subprocess.run([sys.executable, str(driver()), *chosen, *arguments.words]).returncode
