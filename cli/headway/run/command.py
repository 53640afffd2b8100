# SPDX-License-Identifier: BSD-3-Clause
"""`headway run`: start an MPI program with the library in its ranks."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headway import console, ghosts, options, options_table, outcome, records, thresholds
from headway.errors import HeadwayError
from headway.mpi import launch, launchers, preload, program, transport
from headway.mpi.mpis import Mpi, find_mpis
from headway.record.table import Record
from headway.report import lines
from headway.run import settings_file, shared_folder, tied

USAGE = """headway run [options] -n N PROGRAM [ARGUMENTS]
       headway run [options] [--] mpiexec [...] PROGRAM [ARGUMENTS]
       headway run [options] PROGRAM [ARGUMENTS]"""


@dataclass
class Plan:
    """What will be executed, and whether its records can be read afterwards."""

    argv: list[str]
    env: dict[str, str]
    target: program.Target
    ranks_env: dict[str, str]
    plain_argv: list[str]  # as the user would write it, without the ranks' environment
    script_argv: list[str]  # for a batch script that exports...
    exports: dict[str, str]
    launcher_env: dict[str, str] = field(default_factory=dict)  # what the MPI itself needs
    transport_env: dict[str, str] = field(default_factory=dict)  # the part that transport.py chose
    is_adding_ghosts: bool = False  # ghosts are processes more than the user asked for
    thresholds: dict[str, str] = field(default_factory=dict)  # measured on this machine


def options_help() -> str:
    """The library's options, for `headway --help`."""
    lines = ["environment of the library (headway run forwards it to the ranks):"]
    for option in options_table.OPTIONS:
        lines.append(f"  {option.name:<22}{option.brief} [{option.default or 'none'}]")
        lines.append(f"  {'':<22}{option.accepted}")
    return "\n".join(lines)


def add_parser(commands: argparse._SubParsersAction[Any]) -> None:
    parser = commands.add_parser(
        "run",
        help="run an MPI program with Headway",
        usage=USAGE,
        description="Finds which MPI the program links, preloads the library "
        "built for it into the ranks, and ends with the program's status.",
    )
    add_transport_argument(parser)
    add_arguments(parser)
    parser.set_defaults(call=run)


def add_transport_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--transport",
        choices=transport.CHOICES,
        default="auto",
        help="whether Open MPI and Intel MPI over TCP are told what keeps the two directions from "
        "waiting for each other: duplex: yes, keep: no, auto: on links of up to 2.5 Gbit/s",
    )


def whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """What says which program, how many of it, and with which library."""
    parser.add_argument(
        "-n",
        "-np",
        "--ranks",
        type=whole,
        metavar="N",
        help="start N ranks with the launcher of the program's MPI: on this node, in a batch job "
        "on those it has",
    )
    parser.add_argument(
        "--ghosts",
        metavar="N",
        help="start N more processes on this node, which serve one-sided communication; N/socket "
        "or N/numa: as many for each (with a launcher of your own: start them on each node)",
    )
    parser.add_argument(
        "--abi",
        choices=("mpich", "ompi"),
        help="do not look at the program: it uses this MPI family",
    )
    parser.add_argument(
        "--library", metavar="DIRECTORY", type=Path, help="where libheadway-*.so is"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_program_arguments(parser)
    engines = next(o.values for o in options_table.OPTIONS if o.name == "HEADWAY_ENGINE")
    parser.add_argument(
        "--helpers",
        metavar="N",
        help="start N more processes on this node (N/socket, N/numa), which only say when progress "
        "threads should look: --ghosts N with HEADWAY_TRIGGER=helper and HEADWAY_REDIRECT=off",
    )
    parser.add_argument("--engine", choices=engines, help="same as HEADWAY_ENGINE")
    parser.add_argument(
        "--settings",
        metavar="FILE",
        type=Path,
        help="options from a file of headway tune; they win over "
        "the environment, other arguments win over them",
    )
    parser.add_argument("--record", metavar="DIRECTORY", help="keep the record of each rank there")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the lines of a batch script that do the same, and start nothing",
    )
    parser.add_argument(
        "--quiet", action="store_true", help="only errors; nothing said before and after"
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND")


def find_launcher(target: program.Target) -> Mpi:
    """The mpiexec that belongs to the library a program loads."""
    mpis = [m for m in find_mpis() if m.flavour == target.flavour]
    for mpi in mpis:
        if target.library and mpi.owns(target.library, target.flavour):
            return mpi
    if target.library is None and mpis:
        return mpis[0]
    raise HeadwayError(
        f"no mpiexec of {target.title} ({target.library}) found",
        "start it with its own launcher: headway run -- mpiexec -n N PROGRAM",
    )


def make_plan(arguments: argparse.Namespace, settings: dict[str, str]) -> Plan:
    words = program.strip_dashes(arguments.words)
    own = getattr(arguments, "command", "run")
    if not words or not words[0]:  # a variable of a script may be empty
        raise HeadwayError(f"no program to {own}", f"headway {own} -n 2 PROGRAM")
    if words[0].startswith("-"):
        raise HeadwayError(
            f"{words[0]} is no program", f"options of headway {own} stand before the dashes --"
        )
    kind = launchers.kind_of(words[0])
    if kind and arguments.ranks is not None:
        raise HeadwayError(
            f"-n {arguments.ranks} and the launcher {words[0]} are both given", "leave one out"
        )
    if arguments.ranks is not None and arguments.ranks < 1:
        raise HeadwayError(f"{arguments.ranks} ranks cannot be run", "ask for 1 or more")
    kind, target = find_target(words, kind, arguments.abi)
    settings = settings | ghost_settings(arguments)
    options.check_environment({**os.environ, **settings})  # before anything is made of them
    if getattr(arguments, "transport", "auto") == "keep":
        settings = {"HEADWAY_TRANSPORT": "keep"} | settings
    if not getattr(arguments, "dry_run", False):  # a script may be for another machine
        settings = settings | link_settings(settings)
    found = threshold_settings(target.title, arguments.ranks, settings)
    plan = plan_made(arguments, kind, words, target, settings | found)
    plan.thresholds = found
    return plan


def plan_made(
    arguments: argparse.Namespace,
    kind: str,
    words: list[str],
    target: program.Target,
    settings: dict[str, str],
) -> Plan:
    """By the user's launcher, by none, or by the one that belongs to the program."""
    env = preload.rank_environment(target.flavour, settings, arguments.library, target.first)
    if kind:
        if not getattr(arguments, "dry_run", False):  # a script may be for another machine
            program.find_executable(words[0])
        made = launchers.command_make(words, env, arguments.abi)
        job_env = transport_settings(arguments, target.title, settings, words)
        return Plan(
            made.argv,
            made.outer | job_env,
            target,
            env,
            words,
            made.script,
            job_env | made.exports,
            job_env,
            job_env,
        )
    if arguments.ranks is None:
        return Plan(words, env, target, env, words, words, env)
    mpi = find_launcher(target)
    more = ghosts.count(env.get("HEADWAY_GHOSTS", env.get("CSP_NG", "0")))
    if more and (nodes := launchers.allocated_nodes()) > 1:
        raise HeadwayError(
            f"the batch system's allocation has {nodes} nodes, and -n does not say how many "
            "processes each gets: ghosts cannot be added",
            "start as many more on each: headway run --ghosts N -- mpiexec or srun ...",
        )
    built = launch.build(mpi, words, ranks=arguments.ranks + more, forward=env)
    plain = launch.build(mpi, words, ranks=arguments.ranks)
    job_env = launch.without_told(plain.env, mpi)
    script = launch.build(mpi, words, ranks=arguments.ranks + more).argv
    if mpi.flavour == "ompi":
        script = launchers.with_names(script, env)
    return Plan(
        built.argv,
        job_env,
        target,
        env,
        plain.argv,
        script,
        job_env | env,
        job_env,
        is_adding_ghosts=more > 0,
    )


def threshold_settings(title: str, ranks: int | None, settings: dict[str, str]) -> dict[str, str]:
    """The thresholds of this machine, where routes of one-sided operations go by the share of time
    in MPI and nobody has said which. -n RANKS are on this node; a launcher's are not known."""
    told = {**os.environ, **settings}
    number = told.get("HEADWAY_GHOSTS", told.get("CSP_NG", "0"))
    if thresholds.LOW in told or thresholds.HIGH in told or number == "0":
        return {}
    if told.get("HEADWAY_ADAPT", "guided").lower() not in ("local", "global", "auto"):
        return {}
    return thresholds.settings(title, ranks, ghosts.count(number))


def ghost_settings(arguments: argparse.Namespace) -> dict[str, str]:
    """What --ghosts and --helpers stand for."""
    helpers = getattr(arguments, "helpers", None)
    if helpers is None:
        return {} if arguments.ghosts is None else {"HEADWAY_GHOSTS": arguments.ghosts}
    if arguments.ghosts is not None:
        raise HeadwayError(
            f"--ghosts {arguments.ghosts} and --helpers {helpers} are both given",
            "a ghost is a helper too: --ghosts with HEADWAY_TRIGGER=helper",
        )
    if re.fullmatch(r"0+(/.*)?", helpers):
        raise HeadwayError(f"--helpers {helpers}: nobody would help", "ask for 1 or more")
    role = {"HEADWAY_TRIGGER": "helper", "HEADWAY_REDIRECT": "off"}
    return {"HEADWAY_GHOSTS": helpers, **role}


def transport_settings(
    arguments: argparse.Namespace, title: str, settings: dict[str, str], words: list[str]
) -> dict[str, str]:
    """For a launcher that starts the whole job. Nothing where the program runs without the engine:
    it is not to change then."""
    engine = settings.get("HEADWAY_ENGINE", os.environ.get("HEADWAY_ENGINE", ""))
    if engine.lower() == "off" or "transport" not in arguments:
        return {}
    rate = transport.link_bits_per_s()
    return transport.settings(title, rate, choice=arguments.transport, words=words)


def link_settings(settings: dict[str, str]) -> dict[str, str]:
    """For the profile: what the links of this machine carry, where they tell."""
    name, profiled = "HEADWAY_LINK_RATE", "HEADWAY_PROFILE"
    if name in settings or name in os.environ:
        return {}
    word = settings.get(profiled, os.environ.get(profiled, "no"))
    is_profiled = word.lower() in ("1", "yes", "on", "true")
    rate = transport.link_bits_per_s() if is_profiled else None
    return {name: str(round(rate / 8))} if rate else {}


def find_target(words: list[str], kind: str, abi: str | None) -> tuple[str, program.Target]:
    """The MPI program of a command line. Without a launcher that we know it is the first word, or
    a later one behind a wrapper (numactl, env, a launcher of the site)."""
    if kind:
        return kind, launchers.find_program(words[1:], abi)
    if target := launchers.known_target(words[0], abi):
        return "", target
    try:
        return "", program.inspect(words[0])
    except HeadwayError as refusal:
        try:
            return "", launchers.find_program(words[1:], abi)
        except HeadwayError:
            raise refusal from None


def asked_folder(arguments: argparse.Namespace, settings: dict[str, str]) -> str | None:
    """The folder for records that the user named."""
    name = "HEADWAY_RECORD"
    return arguments.record or settings.get(name) or os.environ.get(name)


@contextmanager
def record_folder(
    arguments: argparse.Namespace, settings: dict[str, str], parent: str | None = None
) -> Iterator[Path | None]:
    """Where the ranks write their records: asked for, or for the length of the run, then in the
    folder `parent` or where temporary files go."""
    if asked := asked_folder(arguments, settings):
        folder = Path(asked).absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HeadwayError(
                f"cannot make the directory {folder}: {error.strerror}",
                "name another with --record",
            ) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise HeadwayError(f"{folder} cannot be written to", "name another with --record")
        yield folder
        return
    must_share = launchers.is_elsewhere(arguments.words, arguments.ranks)
    is_needed = settings.get("HEADWAY_RECORD_NEEDED") == "yes"
    if arguments.quiet or (
        must_share and not is_needed and not shared_folder.is_shared(Path.cwd())
    ):
        yield None
        return
    prefix = f"headway-run-{launchers.job_id()}" if must_share else "headway-run-"
    try:
        # A rank that outlives its launcher may still write there; the program's status counts.
        made = tempfile.TemporaryDirectory(
            prefix=prefix, dir="." if must_share else parent, ignore_cleanup_errors=True
        )
    except OSError as error:  # no right to write here
        if is_needed or settings.get("HEADWAY_PROFILE") == "yes":  # of which nothing would be left
            where = f" in {Path.cwd()}" if must_share else ""
            raise HeadwayError(
                f"cannot make a folder for the ranks' records{where}: {error.strerror}",
                f"name one {'that all machines share ' if must_share else ''}with --record",
            ) from error
        yield None
        return
    with made as name:
        yield Path(name).absolute()


@dataclass
class Ended:
    """How the launcher ended."""

    status: int
    had_interrupt: bool = False
    passed: Sequence[int] = ()  # other signals that the launcher was sent

    def by_signal(self, found: Sequence[Record]) -> int:
        """The status; that of a signal which we passed on and which ended ranks, where the launcher
        says 0, as Hydra does after SIGTERM."""
        ended_ranks = {one.ending_code for one in found if one.ending == "signal"}
        told = next((number for number in self.passed if number in ended_ranks), 0)
        return self.status or (128 + told if told else 0)

    def is_by_interrupt(self, folder: Path | None, found: Sequence[Record]) -> bool:
        """Whether SIGINT ended it: a program may take it, and reach MPI_Finalize. A launcher's 0
        says nothing, MPICH 5's may end so with its ranks killed, unless there is no folder in
        which the ranks' records could say more."""
        if not self.had_interrupt or any(one.ending == "complete" for one in found):
            return False
        return self.status != 0 or folder is not None


def execute(plan: Plan) -> Ended:
    """Run to the end with our own input and output; signals go to the program, which may take some
    of them for a word of the batch system's that its time is nearly up."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    try:
        # With what a shell opened for it: <(...) of an argument.
        process = subprocess.Popen(
            plan.argv, env=env | plan.env, close_fds=False, preexec_fn=tied.to_this()
        )
    except OSError as error:
        raise HeadwayError(
            f"cannot start {plan.argv[0]}: {error.strerror}", "check the path"
        ) from error
    interrupts: list[int] = []
    passed: list[int] = []
    handlers: dict[int, Any] = {}  # of whoever called

    def on_interrupt(number: int, _: object) -> None:
        interrupts.append(number)
        interrupt(process, number)

    def pass_on(number: int, _: object) -> None:
        passed.append(number)
        process.send_signal(number)

    for signum in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT):
        if signal.getsignal(signum) != signal.SIG_IGN:  # else nor does the program get it
            own = on_interrupt if signum == signal.SIGINT else pass_on
            handlers[signum] = signal.signal(signum, own)
    try:
        status = process.wait()
    finally:
        # What follows is ours, a report of minutes perhaps: it ends by them. The words of a batch
        # system are for the program, which does not need them any more.
        for number in handlers.keys() & {signal.SIGTERM, signal.SIGHUP, signal.SIGINT}:
            signal.signal(number, handlers[number])
    return Ended(status if status >= 0 else 128 - status, bool(interrupts), passed)


def interrupt(process: subprocess.Popen[bytes], number: int) -> None:
    """SIGINT from a terminal goes to the program as well; from elsewhere to us alone."""
    try:
        with open("/dev/tty", "rb", buffering=0) as terminal:
            is_from_terminal = os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        is_from_terminal = False
    if not is_from_terminal:
        process.send_signal(number)


def run(arguments: argparse.Namespace) -> int:
    settings = {"HEADWAY_ENGINE": arguments.engine} if arguments.engine else {}

    def tell(found: list[Record]) -> None:
        tell_summary(found)
        if outcome.is_without_gain_here(found):
            console.tell(
                "Nothing was gained on this one machine. `headway demo` shows what is gained "
                "between two nodes."
            )

    return launch_and_tell(arguments, settings, tell)


def tell_summary(found: list[Record]) -> None:
    for line in outcome.summarise(found):
        console.tell(line)


def launch_and_tell(
    arguments: argparse.Namespace,
    settings: dict[str, str],
    tell: Callable[[list[Record]], None],
) -> int:
    """Runs the program with these options, then tells about its records; the program's status."""
    if arguments.settings:
        settings = {**settings_file.read(arguments.settings), **settings}
    if arguments.dry_run:
        if arguments.record:
            settings["HEADWAY_RECORD"] = str(Path(arguments.record).absolute())
        plan = make_plan(arguments, settings)
        announce(plan)
        print(script(plan), end="")
        return 0
    is_kept = bool(asked_folder(arguments, settings))
    with record_folder(arguments, settings) as folder:
        if folder:
            settings["HEADWAY_RECORD"] = str(folder)
        plan = make_plan(arguments, settings)
        if not arguments.quiet:
            announce(plan)
            tell_of_launcher(arguments, plan.target)
            tell_of_ghosts(arguments, plan)
        before = records.times(folder) if folder else {}
        ended = execute(plan)
        found = records.drop_old(folder, before) if folder else False
        if folder and found and is_kept:
            lines.keep(folder)
        told = records.read(folder) if folder and found else []
        if ended.is_by_interrupt(folder, told):
            console.say("interrupted")
            ended.status = 128 + signal.SIGINT
            if not told:
                return ended.status
        ended.status = ended.by_signal(told)
        if arguments.quiet:
            return ended.status
        if folder:
            if not told and (why := records.why_none(folder)):
                console.say(why)
            else:
                tell(told)
            tell_of_transport(plan)
            if count := records.spawned_count(folder):
                console.say(
                    f"{records.plural(count, 'rank')} it spawned not counted; with --record "
                    f"DIRECTORY, headway report DIRECTORY/{records.SPAWNED} shows their records"
                )
        else:
            console.say(why_no_folder(arguments))
        return ended.status


def why_no_folder(arguments: argparse.Namespace) -> str:
    """What is said where nothing is known of a run."""
    if launchers.is_elsewhere(arguments.words, arguments.ranks):
        return (
            "no records of ranks on other machines; name a directory that the machines share "
            "with --record DIRECTORY"
        )
    return "no records: temporary files cannot be written here; name a directory with --record"


def script(plan: Plan) -> str:
    """The launch as lines of a batch script: what the ranks need, exported, and the command."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in plan.exports.items()]
    if folder := plan.ranks_env.get("HEADWAY_RECORD"):
        lines.append(f"mkdir -p {shlex.quote(folder)}")
    return "\n".join([*lines, shlex.join(plan.script_argv), ""])


def tell_of_launcher(arguments: argparse.Namespace, target: program.Target) -> None:
    """One of another MPI than the program's starts it all the same, as often as it is asked."""
    word = program.strip_dashes(arguments.words)[0]
    family = launchers.family_of(Path(shutil.which(word) or word)) if is_mpiexec(word) else ""
    if family not in ("ompi", "hydra") or (family == "ompi") == (target.flavour == "ompi"):
        return
    try:
        remedy = f"headway run -n N takes {find_launcher(target).mpiexec}"
    except HeadwayError:
        remedy = "take that MPI's own"
    console.say(
        f"{word} is not of {target.title}, which the program uses: every rank will be alone in "
        f"its world; {remedy}"
    )


def is_mpiexec(word: str) -> bool:
    return launchers.kind_of(word) in ("mpiexec", "ompi")


def tell_of_ghosts(arguments: argparse.Namespace, plan: Plan) -> None:
    """A file's ghosts come out of the processes of a launcher that does not know the file."""
    name = "HEADWAY_GHOSTS"
    told = settings_file.read(arguments.settings) if arguments.settings else {}
    if not plan.is_adding_ghosts and told.get(name, "0")[0] != "0" and plan.ranks_env[name] != "0":
        console.say(
            f"{arguments.settings} sets {name}={plan.ranks_env[name]}: so many of the processes "
            "started on each node are not the program's; start as many more"
        )


def tell_of_transport(plan: Plan) -> None:
    """What a run gains over a plain one is not the library's alone where the MPI was told more."""
    for name, value in plan.transport_env.items():
        console.tell(
            f"{name}={value} was set for the whole job: a part of a gain over plain MPI may come "
            "from it (plain with it, or --transport keep, tells)"
        )


def announce(plan: Plan) -> None:
    library = next(filter(preload.is_ours, preload.named(plan.ranks_env[preload.VARIABLE])))
    console.say(f"{plan.target.title}, {Path(library).name}")
    for name, value in plan.transport_env.items():
        console.say(f"{name}={value}: both directions at once (--transport keep leaves it)")
    if plan.thresholds:
        told = " ".join(f"{name}={value}" for name, value in plan.thresholds.items())
        console.say(f"{told}: measured on this machine ({thresholds.path()})")
