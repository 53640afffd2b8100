# SPDX-License-Identifier: BSD-3-Clause
"""The command line: parses, calls, and turns a HeadwayError into one line."""

from __future__ import annotations

import argparse
import errno
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from headway import __version__, console
from headway.errors import HeadwayError

#: what adds the parser of each command. A command loads its own: all of them, with what they draw
#: and calculate, take several times as long as `headway run` itself.
COMMANDS = {
    "run": "headway.run.command",
    "profile": "headway.profile",
    "report": "headway.report.command",
    "doctor": "headway.doctor.command",
    "cluster": "headway.cluster.commands",
    "tune": "headway.tune.command",
    "bench": "headway.bench.command",
    "demo": "headway.demo.command",
}


class Parser(argparse.ArgumentParser):
    """argparse, with errors of one line like every other."""

    def error(self, message: str) -> None:  # type: ignore[override]
        raise HeadwayError(message, f"see {self.prog} --help")


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Of this command alone, or of all of them."""
    parser = Parser(
        prog="headway",
        description="Overlap of communication and computation for unmodified MPI programs.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"headway {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, module in COMMANDS.items():
        if command in (None, name):
            importlib.import_module(module).add_parser(commands)
    if command is None:
        parser.epilog = importlib.import_module(COMMANDS["run"]).options_help()
    return parser


def end_on_signal(signum: int, _frame: object) -> None:
    """Leave through every `with` and `finally`, so that what we started ends with us."""
    raise SystemExit(128 + signum)


def is_ignored(signum: int) -> bool:
    """As nohup(1) has it of SIGHUP, for all that runs under it. One that is handled here is not
    ignored by what we start."""
    return signal.getsignal(signum) == signal.SIG_IGN


def named(words: Sequence[str]) -> str:
    """The command of these words: those of a cluster have a name of two."""
    names = [word for word in words[: 2 if words[0] == "cluster" else 1] if word[0] != "-"]
    return " ".join(["headway", *names])


def is_without_folder() -> bool:
    """Was the folder that this runs in removed?"""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def take_any_name() -> None:
    """On standard output: names of files need not be text, nor need there be letters for them."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        is_unicode = sys.stdout.encoding.lower().startswith("utf")
        sys.stdout.reconfigure(errors="surrogateescape" if is_unicode else "backslashreplace")


def main(argv: Sequence[str] | None = None) -> int:
    take_any_name()
    for signum in (signal.SIGTERM, signal.SIGHUP):
        if not is_ignored(signum):
            signal.signal(signum, end_on_signal)
    try:
        words = sys.argv[1:] if argv is None else argv
        command = words[0] if words and words[0] in COMMANDS else None
        arguments, unknown = build_parser(command).parse_known_args(argv)
        if unknown:
            told = " ".join(unknown)
            raise HeadwayError(f"unrecognized arguments: {told}", f"see {named(words)} --help")
        if arguments.command is None:
            raise HeadwayError(
                "no command", "begin with headway run -n 2 PROGRAM; see headway --help"
            )
        status: int = arguments.call(arguments)
        if sys.stdout is not None:  # closed
            sys.stdout.flush()
        return status
    except HeadwayError as error:
        console.say(str(error))
        return error.status
    except KeyboardInterrupt:
        console.say("interrupted")
        return 130
    except BrokenPipeError:
        if sys.stderr is not None:
            sys.stderr.close()
        return 141
    except OSError as error:
        if is_without_folder():
            console.say("the current folder is gone; go to another")
            return 2
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        with suppress(OSError):
            sys.stdout.close()  # what it still holds is lost
        console.say(f"cannot write: {error.strerror}; make room")
        return 1
