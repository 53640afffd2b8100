# SPDX-License-Identifier: BSD-3-Clause
"""The command line of tune, and the runs it makes."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from headway import console, records
from headway.errors import HeadwayError
from headway.mpi import launchers, preload, program
from headway.options_table import OPTIONS
from headway.record.table import Record
from headway.run import command as run
from headway.run import settings_file, tied
from headway.tune.search import GHOSTS, LEAST_PAIRS, Race, Settings, Timed, search
from headway.tune.serving import are_ghosts_worth_trying

DEFAULT_PAIRS = 8
DEFAULT_LIMIT_S = 900.0
DEFAULT_OUTPUT = "headway.toml"
#: with --thresholds
DEFAULT_USERS = "1,2"
#: a run is given up after this many times the first one's time, and this much more
SLOWEST, SPARE_S = 10, 60.0


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    tuned = [option.name.removeprefix("HEADWAY_") for option in OPTIONS if option.tune]
    parser = commands.add_parser(
        "tune",
        help="try settings on short runs, and keep what was measured better",
        usage=run.USAGE.replace("headway run", "headway tune"),
        description="Runs the program again and again, without Headway and with settings of it, "
        "paired and alternating, and writes those that won to a file for headway run --settings. "
        "Make the run short (some seconds) but like the real ones: same ranks, same sizes.",
    )
    run.add_program_arguments(parser)
    run.add_transport_argument(parser)
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help=f"where the settings go (default: {DEFAULT_OUTPUT}; with --thresholds "
        "headway/thresholds.toml in the user's folder of settings)",
    )
    parser.add_argument(
        "--pairs",
        type=int,
        default=DEFAULT_PAIRS,
        metavar="N",
        help=f"runs of each way in a comparison, {LEAST_PAIRS} or more (default: %(default)s)",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=DEFAULT_LIMIT_S,
        metavar="SECONDS",
        help="begin no new comparison after this time, but the last (default: %(default)s)",
    )
    parser.add_argument(
        "--only",
        default="",
        metavar="OPTIONS",
        help=f"try these alone, a comma between them (default: {','.join(tuned)}; GHOSTS "
        "where tune starts the ranks and a ghost would serve them); with --thresholds: these "
        "one-sided operations",
    )
    parser.add_argument(
        "--measure",
        metavar="REGEX",
        help="the program prints its own time in seconds: where group 1 of this first matches in "
        "its output (default: the time of the whole launch)",
    )
    add_thresholds(parser)
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND")
    parser.set_defaults(call=tune)


def add_thresholds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--thresholds",
        action="store_true",
        help="no program of yours: one-sided operations by ghosts and by their targets, for "
        "HEADWAY_LOW_CR and HEADWAY_HIGH_CR, which headway run takes from the file that is "
        "written; COMMAND is a launcher with its arguments (default: two nodes of the test "
        "cluster)",
    )
    parser.add_argument(
        "--mpi", metavar="NAMES", help="with --thresholds: a comma between them; default: all found"
    )
    parser.add_argument(
        "--users",
        default=DEFAULT_USERS,
        metavar="NUMBERS",
        help="with --thresholds and without a launcher: user processes a node, a comma between "
        "them (default: %(default)s)",
    )


class Runner:
    """Runs the program, plain or with settings, and times it."""

    def __init__(self, arguments: argparse.Namespace, folder: Path) -> None:
        self.arguments = arguments
        self.folder = folder
        self.count = 0
        self.limit_s: float | None = None
        self.plain = run.make_plan(arguments, {})
        self.plans: dict[tuple[Any, ...], tuple[run.Plan, Path]] = {}
        try:
            self.pattern = re.compile(arguments.measure) if arguments.measure else None
        except re.error as error:
            raise HeadwayError(
                f"--measure {arguments.measure}: {error}", "see re of Python"
            ) from error
        if self.pattern and self.pattern.groups < 1:
            raise HeadwayError(f"--measure {arguments.measure} has no group", r'"took ([0-9.]+) s"')

    def __call__(self, wanted: Settings) -> Timed:
        if wanted is None:
            # What headway run chooses for the transport is part of what is compared with plain.
            launcher = self.plain.launcher_env.items() - self.plain.transport_env.items()
            return Timed(self.execute(self.plain.plain_argv, dict(launcher)))
        seconds, found = self.watch(wanted)
        counts = [records.tracked_count(r) + r.exposures for r in found]
        is_off = bool(found) and all(r.engine == "off" for r in found)
        return Timed(seconds, sum(counts) if counts else None, is_off)

    def watch(self, wanted: dict[str, str]) -> tuple[float, list[Record]]:
        """One run with these settings: its time and its records."""
        plan, kept = self.plan(wanted)
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir()
        return self.execute(plan.argv, plan.env), records.read(kept)

    def plan(self, wanted: dict[str, str]) -> tuple[run.Plan, Path]:
        """How to run it with these, and where its records go; found out once."""
        key = tuple(sorted(wanted.items()))
        if key not in self.plans:
            kept = self.folder / f"settings-{len(self.plans)}"
            settings = {**wanted, "HEADWAY_RECORD": str(kept)}
            self.plans[key] = run.make_plan(self.arguments, settings), kept
        return self.plans[key]

    def execute(self, argv: list[str], env: dict[str, str]) -> float:
        """Seconds it took; HeadwayError if it failed."""
        self.count += 1
        ours = {n: v for n, v in os.environ.items() if not n.startswith("HEADWAY_")}
        began = time.perf_counter()
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(
                    argv,
                    env=ours | env,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    start_new_session=True,
                    preexec_fn=tied.to_this(),
                )
            except OSError as error:
                raise HeadwayError(
                    f"cannot start {argv[0]}: {error.strerror}", "check the path"
                ) from error
            try:
                status = process.wait(self.limit_s)
            except subprocess.TimeoutExpired:
                raise HeadwayError(
                    f"run {self.count} did not end in {self.limit_s:.0f} s, the first one did",
                    f"try it alone: {shlex.join(argv)}",
                ) from None
            finally:
                end_group(process)
            took = time.perf_counter() - began
            if status != 0:
                errors.seek(0)
                last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
                said = f": {last[0]}" if last else " and wrote no error"
                raise HeadwayError(
                    f"run {self.count} ended with status {status}{said}",
                    f"try it alone: {shlex.join(argv)}",
                )
            output.seek(0)
            return self.time_told(output.read().decode(errors="replace")) if self.pattern else took

    def time_told(self, text: str) -> float:
        match = self.pattern.search(text) if self.pattern else None
        try:
            seconds = float(match[1]) if match else 0.0
        except ValueError:
            seconds = 0.0
        if seconds <= 0:
            raise HeadwayError(
                f"no time in seconds matches --measure {self.arguments.measure}",
                "try it on the program's output",
            )
        return seconds


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Whatever is left of a launch that did not end by itself."""
    if process.poll() is not None:
        return
    for signum, patience_s in ((signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        try:
            os.killpg(process.pid, signum)
            process.wait(patience_s)
            return
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


def check_environment() -> None:
    if set_already := [n for n in sorted(os.environ) if n.startswith("HEADWAY_")]:
        raise HeadwayError(
            f"{set_already[0]} is set, and would be in every run", f"unset {' '.join(set_already)}"
        )
    others = preload.named(os.environ.get(preload.VARIABLE, ""))
    if ours := next(filter(preload.is_ours, others), None):
        raise HeadwayError(f"{ours} in LD_PRELOAD would be in every run", "unset LD_PRELOAD")


def check(arguments: argparse.Namespace) -> list[str]:
    """The options to try, by their full names; refuses what cannot be meant."""
    if arguments.pairs < LEAST_PAIRS:
        raise HeadwayError(
            f"with {arguments.pairs} pairs nothing can be shown", f"--pairs {LEAST_PAIRS} or more"
        )
    check_environment()
    arguments.output = arguments.output or Path(DEFAULT_OUTPUT)
    if not arguments.output.absolute().parent.is_dir():
        raise HeadwayError(f"there is no directory for {arguments.output}", "name another")
    tuned = [option.name for option in OPTIONS if option.tune]
    wanted = [word.strip().upper() for word in arguments.only.split(",") if word.strip()]
    names = [word if word.startswith("HEADWAY_") else f"HEADWAY_{word}" for word in wanted]
    if GHOSTS in names and (arguments.ranks is None or arguments.ghosts is not None):
        raise HeadwayError(
            f"--only {GHOSTS}: ghosts are more processes, which only tune can add",
            "-n N, no launcher and no --ghosts",
        )
    for name in names:
        if name not in tuned:
            raise HeadwayError(
                f"--only {name}: nothing to try there", f"there are {' '.join(sorted(tuned))}"
            )
    return names


def title(of: Settings) -> str:
    if of is None:
        return "without Headway"
    changed = [f"{n.removeprefix('HEADWAY_')}={v}" for n, v in sorted(of.items())]
    return " ".join(changed) or "Headway as it comes"


def tell(race: Race) -> None:
    verdict = "better" if race.is_won else "not better"
    console.say(
        f"{title(race.candidate)} against {title(race.base)}: {verdict}, faster in {race.wins} of "
        f"{race.pairs} pairs, median gain {100 * race.gain:+.1f} %"
    )


def tune(arguments: argparse.Namespace) -> int:
    if arguments.thresholds:
        from headway.tune import patterns  # it takes its time to load

        check_environment()
        return patterns.run(arguments)
    only = check(arguments)
    words = program.strip_dashes(arguments.words)
    with tempfile.TemporaryDirectory(prefix="headway-tune-") as folder:
        measure = Runner(arguments, Path(folder))
        run.announce(run.make_plan(arguments, {}))
        began = time.monotonic()
        measure(None)  # reads programs and data into memory; timed for the limit alone
        first_s = time.monotonic() - began
        measure.limit_s = SLOWEST * first_s + SPARE_S
        console.say(f"the first run, without Headway, took {first_s:.2f} s")

        def has_time() -> bool:
            return bool(time.monotonic() - began < arguments.limit)

        can_add = arguments.ranks is not None and arguments.ghosts is None
        can_add = can_add and launchers.allocated_nodes() <= 1
        has_ghosts = (
            can_add
            and (not only or GHOSTS in only)
            and are_ghosts_worth_trying(lambda wanted: measure.watch(wanted)[1])
        )
        last = search(measure, arguments.pairs, tell, has_time, only, has_ghosts=has_ghosts)
    if last is None:
        console.say(
            f"nothing was measured better than the program without Headway ({measure.count} runs); "
            "no settings are written"
        )
        return 0
    measured: dict[str, object] = {
        "command": words,
        "test": "one-sided sign test over pairs of alternating runs",
        "pairs": last.pairs,
        "wins": last.wins,
        "chance_of_a_coin": last.chance,
        "median_gain": last.gain,
        "without_headway_s": last.base_s,
        "with_settings_s": last.candidate_s,
    }
    settings_file.write(arguments.output, last.candidate or {}, measured)
    console.say(f"{title(last.candidate)}: wrote {arguments.output} ({measure.count} runs)")
    console.say(f"use it: headway run --settings {arguments.output} ...")
    return 0
