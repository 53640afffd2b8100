# SPDX-License-Identifier: BSD-3-Clause
"""The command line: parses, calls, and turns a HeadwayError into one line."""

from __future__ import annotations

import argparse
import errno
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from headway import __version__, console, profile
from headway.bench import command as bench_command
from headway.cluster import commands as cluster_commands
from headway.demo import command as demo
from headway.doctor import command as doctor_command
from headway.errors import HeadwayError
from headway.report import command as report_command
from headway.run import command as run
from headway.tune import command as tune_command


class Parser(argparse.ArgumentParser):
    """argparse, with errors of one line like every other."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise HeadwayError(message, f"see {self.prog} --help")


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="headway",
        description="Overlap of communication and computation for unmodified MPI programs.",
        epilog=run.options_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"headway {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    run.add_parser(commands)
    profile.add_parser(commands)
    report_command.add_parser(commands)
    doctor_command.add_parser(commands)
    cluster_commands.add_parser(commands)
    tune_command.add_parser(commands)
    bench_command.add_parser(commands)
    demo.add_parser(commands)
    return parser


def end_on_signal(signum: int, _frame: object) -> None:
    """Leave through every `with` and `finally`, so that what we started ends with us."""
    raise SystemExit(128 + signum)


def named(argv: Sequence[str] | None) -> str:
    """The command of these words: those of a cluster have a name of two."""
    words = sys.argv[1:] if argv is None else argv
    names = [word for word in words[: 2 if words[0] == "cluster" else 1] if word[0] != "-"]
    return " ".join(["headway", *names])


def main(argv: Sequence[str] | None = None) -> int:
    signal.signal(signal.SIGTERM, end_on_signal)
    signal.signal(signal.SIGHUP, end_on_signal)
    try:
        arguments, unknown = build_parser().parse_known_args(argv)
        if unknown:
            words = " ".join(unknown)
            raise HeadwayError(f"unrecognized arguments: {words}", f"see {named(argv)} --help")
        if arguments.command is None:
            raise HeadwayError(
                "no command", "begin with headway run -n 2 PROGRAM; see headway --help"
            )
        status: int = arguments.call(arguments)
        sys.stdout.flush()
        return status
    except HeadwayError as error:
        console.say(str(error))
        return error.status
    except KeyboardInterrupt:
        console.say("interrupted")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 141
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        with suppress(OSError):
            sys.stdout.close()  # what it still holds is lost
        console.say(f"cannot write: {error.strerror}; make room")
        return 1
