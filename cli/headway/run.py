"""`headway run`: start an MPI program with the library in its ranks."""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from headway import (
    console,
    ghosts,
    launch,
    options_table,
    preload,
    program,
    records,
    settings_file,
    shared_folder,
    transport,
)
from headway.errors import HeadwayError
from headway.mpis import Mpi, find_mpis

USAGE = """headway run [options] -n N PROGRAM [ARGUMENTS]
       headway run [options] [--] mpiexec [...] PROGRAM [ARGUMENTS]
       headway run [options] PROGRAM [ARGUMENTS]"""

#: launchers by the first part of their name; the last kind takes the environment as it is
OMPI_LAUNCHERS = ("orterun", "prterun")
MPIEXECS = ("mpiexec", "mpirun")
OTHER_LAUNCHERS = ("srun", "aprun", "jsrun", "ibrun")
#: launcher arguments that name other machines: what is written there is seen here only if shared
HOST_ARGUMENTS = {
    "-host",
    "--host",
    "-hosts",
    "--hosts",
    "-H",
    "-f",
    "-hostfile",
    "--hostfile",
    "-machinefile",
    "--machinefile",
    "-default-hostfile",
    "--default-hostfile",
}


@dataclass
class Plan:
    """What will be executed, and whether its records can be read afterwards."""

    argv: list[str]
    env: dict[str, str]
    target: program.Target
    ranks_env: dict[str, str]
    plain_argv: list[str]  # as the user would write it, without the ranks' environment
    launcher_env: dict[str, str] = field(default_factory=dict)  # what the MPI itself needs
    transport_env: dict[str, str] = field(default_factory=dict)  # the part that transport.py chose
    more_ranks: list[str] | None = None  # plain_argv with the ghosts' processes, if there are any
    is_told_names: bool = False  # the launcher hands on only what -x names (Open MPI's)


def options_help() -> str:
    """The library's options, for `headway --help`."""
    lines = ["environment of the library (headway run forwards it to the ranks):"]
    for option in options_table.OPTIONS:
        lines.append(f"  {option.name:<22}{option.brief} [{option.default or 'none'}]")
        lines.append(f"  {'':<22}{option.accepted}")
    return "\n".join(lines)


def add_parser(commands: argparse._SubParsersAction) -> None:
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


def add_program_arguments(parser: argparse.ArgumentParser) -> None:
    """What says which program, how many of it, and with which library."""
    parser.add_argument("-n", "--ranks", type=int, metavar="N", help="start N ranks on this node")
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


def launcher_kind(word: str) -> str:
    """ "mpiexec", "ompi", "other", or "" for a program."""
    name = Path(word).name
    for kind, names in (
        ("mpiexec", MPIEXECS),
        ("ompi", OMPI_LAUNCHERS),
        ("other", OTHER_LAUNCHERS),
    ):
        if any(name == n or name.startswith(n + ".") for n in names):
            return kind
    return ""


def is_ompi_launcher(path: Path) -> bool:
    """Does this mpiexec belong to Open MPI? Its own --version says so."""
    try:
        done = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            timeout=20,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return any(
        word in done.stdout + done.stderr for word in ("OpenRTE", "Open MPI", "PRRTE", "prte")
    )


def known_target(word: str, abi: str | None) -> program.Target | None:
    """The program as the user described it with --abi, if so."""
    if abi is None:
        return None
    return program.Target(str(program.find_executable(word)), abi, None, program.title(None, abi))


def find_program(words: list[str], abi: str | None) -> program.Target:
    """The MPI program among a launcher's arguments: the first word that is one. With --abi it
    need not be seen."""
    refusal: HeadwayError | None = None
    index = 0
    while index < len(words):
        word = words[index]
        if word.startswith("-"):
            # An option's value may be a program too (an agent): skip what belongs to these.
            index += 2 if word in {"-launcher-exec", "--launcher-exec", "-wdir", "--wdir"} else 1
            continue
        is_path = "/" in word or shutil.which(word)
        if is_path and shutil.which(word) and not Path(word).is_dir():
            try:
                return known_target(word, abi) or program.inspect(word)
            except HeadwayError as error:
                refusal = refusal or error
        index += 1
    if abi is not None:
        # In another directory (-wdir), or in a file (-configfile): the launcher finds it.
        return program.Target("", abi, None, program.title(None, abi))
    raise refusal or HeadwayError(
        f"no program found in: {shlex.join(words)}", "does the path exist and is it executable?"
    )


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


def forward_arguments(launcher: Path, kind: str, env: dict[str, str]) -> list[str]:
    """Launcher arguments that set `env` for the ranks only."""
    if kind == "ompi" or (kind == "mpiexec" and is_ompi_launcher(launcher)):
        return [word for name, value in env.items() for word in ("-x", f"{name}={value}")]
    if kind == "mpiexec":
        return [word for name, value in env.items() for word in ("-genv", name, value)]
    return []


def with_forwarded(words: list[str], forwarded: list[str]) -> list[str]:
    """A launcher's command with these arguments. Open MPI wants them for each program of several,
    which a word `:` divides; it takes no such word for a program's argument."""
    argv = [words[0], *forwarded]
    for word in words[1:]:
        argv.append(word)
        if word == ":" and forwarded[:1] == ["-x"]:
            argv += forwarded
    return argv


def make_plan(arguments: argparse.Namespace, settings: dict[str, str]) -> Plan:
    words = program.strip_dashes(arguments.words)
    if not words:
        raise HeadwayError("no program to run", "headway run -n 2 PROGRAM")
    kind = launcher_kind(words[0])
    if kind and arguments.ranks is not None:
        raise HeadwayError(
            f"-n {arguments.ranks} and the launcher {words[0]} are both given", "leave one out"
        )
    if arguments.ranks is not None and arguments.ranks < 1:
        raise HeadwayError(f"{arguments.ranks} ranks cannot be run", "ask for 1 or more")
    kind, target = find_target(words, kind, arguments.abi)
    if arguments.ghosts is not None:
        settings = {**settings, "HEADWAY_GHOSTS": arguments.ghosts}
    env = preload.rank_environment(target.flavour, settings, arguments.library)
    if kind:
        launcher = program.find_executable(words[0])
        forwarded = forward_arguments(launcher, kind, env)
        outer = {} if forwarded else env
        argv = with_forwarded(words, forwarded)
        job_env = transport_settings(arguments, target.title, settings, words)
        names = forwarded[:1] == ["-x"]
        return Plan(argv, outer | job_env, target, env, words, job_env, job_env, None, names)
    if arguments.ranks is None:
        return Plan(words, env, target, env, words)
    mpi = find_launcher(target)
    more = ghosts.count(env.get("HEADWAY_GHOSTS", env.get("CSP_NG", "0")))
    built = launch.build(mpi, words, ranks=arguments.ranks + more, forward=env)
    plain = launch.build(mpi, words, ranks=arguments.ranks)
    with_ghosts = launch.build(mpi, words, ranks=arguments.ranks + more).argv if more else None
    names = mpi.flavour == "ompi"
    return Plan(built.argv, built.env, target, env, plain.argv, plain.env, {}, with_ghosts, names)


def transport_settings(
    arguments: argparse.Namespace, title: str, settings: dict[str, str], words: list[str]
) -> dict[str, str]:
    """For a launcher that starts the whole job. Nothing where the program runs without the engine:
    it is not to change then."""
    engine = settings.get("HEADWAY_ENGINE", os.environ.get("HEADWAY_ENGINE"))
    if engine == "off" or "transport" not in arguments:
        return {}
    rate = transport.link_bits_per_s()
    return transport.settings(title, rate, choice=arguments.transport, words=words)


def find_target(words: list[str], kind: str, abi: str | None) -> tuple[str, program.Target]:
    """The MPI program of a command line. Without a launcher that we know it is the first word, or
    a later one behind a wrapper (numactl, env, a launcher of the site)."""
    if kind:
        return kind, find_program(words[1:], abi)
    if target := known_target(words[0], abi):
        return "", target
    try:
        return "", program.inspect(words[0])
    except HeadwayError as refusal:
        try:
            return "", find_program(words[1:], abi)
        except HeadwayError:
            raise refusal from None


def is_elsewhere(words: list[str]) -> bool:
    """May the ranks run on other machines, whose temporary directory is not ours?"""
    words = program.strip_dashes(words)
    return bool(HOST_ARGUMENTS & set(words)) or launcher_kind(words[0] if words else "") == "other"


@contextmanager
def record_folder(arguments: argparse.Namespace, settings: dict[str, str]) -> Iterator[Path | None]:
    """Where the ranks write their records: asked for, or for the length of the run."""
    name = "HEADWAY_RECORD"
    asked = arguments.record or settings.get(name) or os.environ.get(name)
    if asked:
        folder = Path(asked).absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise HeadwayError(
                f"cannot make the directory {folder}: {error.strerror}",
                "name another with --record",
            ) from error
        yield folder
        return
    must_share = is_elsewhere(arguments.words)
    if arguments.quiet or (must_share and not shared_folder.is_shared(Path.cwd())):
        yield None
        return
    try:
        made = tempfile.TemporaryDirectory(prefix="headway-run-", dir="." if must_share else None)
    except OSError:  # no right to write here
        yield None
        return
    with made as name:
        yield Path(name).absolute()


def execute(plan: Plan) -> int:
    """Run to the end with our own input and output; signals go to the program first."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HEADWAY_")}
    try:
        process = subprocess.Popen(plan.argv, env=env | plan.env)
    except OSError as error:
        raise HeadwayError(
            f"cannot start {plan.argv[0]}: {error.strerror}", "check the path"
        ) from error
    for signum in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, lambda number, _: process.send_signal(number))
    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:  # else nor does the program get it
        signal.signal(signal.SIGINT, lambda number, _: interrupt(process, number))
    status = process.wait()
    return status if status >= 0 else 128 - status


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
    return launch_and_tell(arguments, settings, tell_summary)


def tell_summary(found: list[dict]) -> None:
    for line in records.summarise(found):
        console.say(line)


def launch_and_tell(
    arguments: argparse.Namespace, settings: dict[str, str], tell: Callable[[list[dict]], None]
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
    with record_folder(arguments, settings) as folder:
        if folder:
            settings["HEADWAY_RECORD"] = str(folder)
        plan = make_plan(arguments, settings)
        if not arguments.quiet:
            announce(plan)
            tell_of_ghosts(arguments, plan)
        before = times_of_records(folder) if folder else {}
        status = execute(plan)
        found = drop_old(folder, before) if folder else False
        if arguments.quiet:
            return status
        if folder:
            tell(records.read(folder) if found else [])
            if count := records.spawned_count(folder):
                console.say(
                    f"{records.plural(count, 'rank')} it spawned not counted: with --record "
                    f"DIRECTORY, headway report DIRECTORY/{records.SPAWNED}"
                )
        else:
            console.say(
                "no records of ranks on other machines; --record DIRECTORY, shared, has them"
            )
        return status


def script(plan: Plan) -> str:
    """The launch as lines of a batch script: what the ranks need, exported, and the command."""
    exports = {**plan.launcher_env, **plan.ranks_env}
    lines = [f"export {name}={shlex.quote(value)}" for name, value in exports.items()]
    if folder := plan.ranks_env.get("HEADWAY_RECORD"):
        lines.append(f"mkdir -p {shlex.quote(folder)}")
    argv = plan.more_ranks or plan.plain_argv
    if plan.is_told_names:  # the values are those exported
        argv = with_forwarded(argv, [word for name in plan.ranks_env for word in ("-x", name)])
    return "\n".join([*lines, shlex.join(argv), ""])


#: of records in their folder
PATTERNS = ("headway.*.json", f"{records.SPAWNED}/headway.*.json")


def times_of_records(folder: Path) -> dict[str, int]:
    """When each record was written. A link to nothing is none."""
    times = {}
    for path in (p for pattern in PATTERNS for p in folder.glob(pattern)):
        with suppress(FileNotFoundError):
            times[str(path.relative_to(folder))] = path.stat().st_mtime_ns
    return times


def drop_old(folder: Path, before: dict[str, int]) -> bool:
    """Records of an earlier, larger run in the same directory are not this run's. They stay if
    this run left none, which is False."""
    now = times_of_records(folder)
    old = [name for name, written in now.items() if before.get(name) == written]
    if len(old) == len(now):
        return False
    for name in old:
        (folder / name).unlink(missing_ok=True)
    return True


def tell_of_ghosts(arguments: argparse.Namespace, plan: Plan) -> None:
    """A file's ghosts come out of the processes of a launcher that does not know the file."""
    name = "HEADWAY_GHOSTS"
    told = settings_file.read(arguments.settings) if arguments.settings else {}
    if plan.more_ranks is None and told.get(name, "0")[0] != "0" and plan.ranks_env[name] != "0":
        console.say(
            f"{arguments.settings} sets {name}={plan.ranks_env[name]}: so many of the processes "
            "started on each node are not the program's; start as many more"
        )


def announce(plan: Plan) -> None:
    library = plan.ranks_env["LD_PRELOAD"].split(":")[0]
    console.say(f"{plan.target.title}, {Path(library).name}")
    for name, value in plan.transport_env.items():
        console.say(f"{name}={value}: both directions at once (--transport keep leaves it)")


if __name__ == "__main__":
    # python -m headway.run [options] ... is headway run.
    from headway.main import main

    raise SystemExit(main(["run", *sys.argv[1:]]))
