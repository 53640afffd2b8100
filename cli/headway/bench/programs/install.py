# SPDX-License-Identifier: BSD-3-Clause
"""What the programs need from the registries, and installing it when asked to.

Nothing is installed unasked: without consent the missing packages are named, with the command.
Debian packages are only ever added; Python packages go into a virtual environment of their own.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from headway.bench import places
from headway.bench.programs.catalog import RealProgram
from headway.errors import HeadwayError

REQUIREMENTS = Path(__file__).resolve().parent / "requirements.txt"


def venv() -> Path:
    """The virtual environment that the Python packages go into."""
    return places.real_programs() / "venv"


def debian_version(package: str) -> str:
    """The installed version, or "" where it is not installed (or this is not Debian)."""
    command = ["dpkg-query", "-W", "-f=${db:Status-Abbrev}${Version}", package]
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False)
    except OSError:
        return ""
    return done.stdout.removeprefix("ii ") if done.stdout.startswith("ii ") else ""


@cache
def python_versions() -> dict[str, str]:
    """Distribution -> version in the programs' virtual environment; empty where there is none."""
    if not (venv() / "bin" / "python").exists():
        return {}
    code = (
        "import importlib.metadata as m, json\n"
        "print(json.dumps({d.name.lower(): d.version for d in m.distributions()}))"
    )
    done = subprocess.run(
        [str(venv() / "bin" / "python"), "-c", code], text=True, capture_output=True, check=False
    )
    return json.loads(done.stdout) if done.returncode == 0 else {}


def pins() -> dict[str, str]:
    """Distribution -> version the requirement file asks for."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))


def missing_debian(programs: Sequence[RealProgram]) -> list[str]:
    wanted = {package for program in programs for package in program.debian}
    return sorted(package for package in wanted if not debian_version(package))


def is_python_missing(programs: Sequence[RealProgram]) -> bool:
    if not any(program.python for program in programs):
        return False
    there = python_versions()
    return any(there.get(name) != version for name, version in pins().items())


def versions(program: RealProgram) -> dict[str, str]:
    """What exactly was run: package -> version."""
    found = {package: debian_version(package) for package in program.debian}
    return found | {name: python_versions()[name] for name in program.python}


def ensure(programs: Sequence[RealProgram], *, consent: bool) -> None:
    """Everything the programs need is there, or HeadwayError says what is not."""
    debian = missing_debian(programs)
    if debian and not (consent and os.geteuid() == 0):
        command = shlex.join(["apt-get", "install", "--no-install-recommends", *debian])
        raise HeadwayError(
            f"not installed: {', '.join(debian)}", f"{command}, or --install as root"
        )
    if is_python_missing(programs) and not consent:
        raise HeadwayError(
            f"no Python packages of {REQUIREMENTS.name} below {venv().parent}",
            "add --install: they go into a virtual environment of their own",
        )
    if debian:
        add_debian(debian)
    if is_python_missing(programs):
        add_python()


def add_debian(packages: Sequence[str]) -> None:
    """Adds packages; stops where that would remove or replace another."""
    apt = ["apt-get", "-y", "--no-install-recommends", "--no-remove", "--no-upgrade", "install"]
    run([*apt, *packages], {"DEBIAN_FRONTEND": "noninteractive"})


def add_python() -> None:
    run([sys.executable, "-m", "venv", "--clear", str(venv())])
    python = str(venv() / "bin" / "python")
    run([python, "-m", "pip", "install", "-q", "--no-input", "-r", str(REQUIREMENTS)])
    python_versions.cache_clear()


def run(command: Sequence[str], env: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, text=True, capture_output=True, env={**os.environ, **(env or {})}, check=False
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise HeadwayError(
            f"{shlex.join(command[:4])} ... failed: {lines[-1] if lines else 'no message'}",
            "see its messages: run it by hand",
        )
