# SPDX-License-Identifier: BSD-3-Clause
"""Launchers on a command line: which it is, how the ranks get their environment through it, and
whether they may be on other machines.

What a launcher is told depends on what it does with its own environment:

* Open MPI's (mpirun, orterun, prterun, prun) hand on what -x names;
* Hydra and its like (mpiexec of MPICH and Intel MPI) take -genv;
* srun, jsrun, aprun and their like hand their own environment on; srun not where it is told what;
* of any other mpiexec nothing is known: its program is started by env(1), with the variables.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from headway.errors import HeadwayError
from headway.mpi import preload, program
from headway.mpi.launch import with_exported

#: kind -> launchers, by their names or what stands before a dot in them
NAMES = {
    "mpiexec": ("mpiexec", "mpirun"),
    "ompi": ("orterun", "prterun", "prun"),
    "unknown": ("mpirun_rsh",),
    "other": (
        *("srun", "aprun", "jsrun", "ibrun", "lrun"),
        *("flux", "mpiexec_mpt", "ccc_mprun", "mpprun"),
    ),
}
#: launcher arguments that name other machines: what is written there is seen here only if shared
HOST_ARGUMENTS = {
    *("-host", "--host", "-hosts", "--hosts", "-H", "-f", "-hostfile", "--hostfile"),
    *("-machinefile", "--machinefile", "-default-hostfile", "--default-hostfile"),
}
HOST_VARIABLES = ("HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE")
#: launcher arguments whose value may be a program, but not the ranks'
HELPERS = {"-launcher-exec", "--launcher-exec", "-wdir", "--wdir"}
#: Open MPI's before a file that has the programs: for those, 4.1 heeds nothing else of the line
PROGRAM_FILES = {"-app", "--app"}
#: launcher arguments before the name of a variable and its value
SETTERS = {"-env", "--env", "-genv", "--genv"}


@dataclass(frozen=True)
class Command:
    """A launcher's line that gives its ranks an environment, and the same for a batch script."""

    argv: list[str]
    outer: dict[str, str]  # the launcher's own environment
    script: list[str]
    exports: dict[str, str]


def kind_of(word: str) -> str:
    """One of NAMES, or "" for a program, also of such a name (./flux.x)."""
    name = Path(word).name
    for kind, names in NAMES.items():
        if any(name == n or name.startswith(n + ".") for n in names):
            return "" if "/" in word and loads_mpi(word) else kind
    return ""


@cache
def loads_mpi(word: str) -> bool:
    """Launchers do not."""
    return program.is_likely(word)


@cache
def family_of(path: Path) -> str:
    """Whose mpiexec this is, by what it says of its version: "ompi", "hydra", or "unknown"."""
    try:
        done = subprocess.run(
            [str(path), "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return "unknown"
    said = done.stdout + done.stderr
    if any(word in said for word in ("OpenRTE", "Open MPI", "PRRTE", "prte")):
        return "ompi"
    return "hydra" if any(word in said for word in ("HYDRA", "Intel(R) MPI")) else "unknown"


def is_candidate(word: str) -> bool:
    """Could this word of a launcher's be the program?"""
    found = shutil.which(word)
    return found is not None and not Path(word).is_dir()


def candidates(words: Sequence[str]) -> list[int]:
    """Where the program of a launcher's arguments may be."""
    found, index = [], 0
    while index < len(words):
        word = words[index]
        if word.startswith("-"):
            # An option's value may be a program too (an agent): skip what belongs to these.
            index += 3 if word in SETTERS else 2 if word in HELPERS else 1
            continue
        if is_candidate(word):
            found.append(index)
        index += 1
    return found


def known_target(word: str, abi: str | None) -> program.Target | None:
    """The program as the user described it with --abi, if so."""
    if abi is None:
        return None
    return program.Target(str(program.find_executable(word)), abi, None, program.title(None, abi))


def find_program(words: Sequence[str], abi: str | None) -> program.Target:
    """The MPI program among a launcher's arguments: the first word that is one. With --abi it
    need not be seen."""
    return locate_program(words, abi)[0]


def locate_program(words: Sequence[str], abi: str | None) -> tuple[program.Target, int | None]:
    """The same, and where it stands; None where the launcher finds it."""
    refusal: HeadwayError | None = None
    for index in candidates(words):
        try:
            return known_target(words[index], abi) or program.inspect(words[index]), index
        except HeadwayError as error:
            refusal = refusal or error
    if abi is not None:
        # In another directory (-wdir), or in a file (-configfile): the launcher finds it.
        return program.Target("", abi, None, program.title(None, abi)), None
    raise refusal or HeadwayError(
        f"no program found in: {shlex.join(words)}", "does the path exist and is it executable?"
    )


# ---- the ranks' environment ----------------------------------------------------------------------


def command_make(words: Sequence[str], env: Mapping[str, str], abi: str | None) -> Command:
    """The launcher's line WORDS, such that its ranks have ENV."""
    words, env = with_preloads(words, env)
    kind = kind_of(words[0])
    if kind == "mpiexec":
        kind = family_of(Path(shutil.which(words[0]) or words[0]))
    if kind == "ompi":
        told = [word for name, value in env.items() for word in ("-x", f"{name}={value}")]
        outer = {} if PROGRAM_FILES.isdisjoint(launcher_words(words)) else dict(env)
        return Command(with_exported(words, told), outer, with_names(words, env), dict(env))
    if kind == "hydra":
        told = [word for name, value in env.items() for word in ("-genv", name, value)]
        return Command([words[0], *told, *words[1:]], {}, list(words), dict(env))
    if kind == "unknown":
        return behind_env(words, env, abi)
    if Path(words[0]).name.partition(".")[0] == "srun":
        return srun(words, env)
    return as_it_is(words, env)


def with_preloads(words: Sequence[str], env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Where the line itself says what is preloaded, both the line and ENV say all of it: whichever
    of the two the launcher takes."""
    made, name = list(words), preload.VARIABLE
    places: dict[int, str] = {}
    for index in launcher_indices(words):
        before, word = words[index - 1], words[index]
        if word.startswith(f"{name}="):
            places[index] = f"{name}="
        elif before == name and words[index - 2] in SETTERS:
            places[index] = ""
    told = [words[index].removeprefix(start) for index, start in places.items()]
    every = preload.joined(env.get(name, ""), *told)
    for index, start in places.items():
        made[index] = start + every
    return made, {**env, name: every} if places else dict(env)


def as_it_is(words: Sequence[str], env: Mapping[str, str]) -> Command:
    return Command(list(words), dict(env), list(words), dict(env))


def with_names(words: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """Open MPI's launcher, which hands on what it has of these."""
    return with_exported(words, [word for name in env for word in ("-x", name)])


def behind_env(words: Sequence[str], env: Mapping[str, str], abi: str | None) -> Command:
    """Every program of the line started by env(1). One that is not on the line, or that only --abi
    tells and that no path points out, can but have the launcher's environment."""
    told = ["env", *(f"{name}={value}" for name, value in env.items())]
    argv: list[str] = [words[0]]
    for part in parts_of(words[1:]):
        at = first_of(part, lambda word: "/" in word) if abi else locate_program(part, None)[1]
        if at is None:
            return as_it_is(words, env)
        argv += [*part[:at], *told, *part[at:]]
    return Command(argv, {}, argv, {})


def parts_of(words: Sequence[str]) -> list[list[str]]:
    """Divided before each word `:`, which begins a part."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == ":":
            parts.append([])
        parts[-1].append(word)
    return parts


def first_of(words: Sequence[str], is_right: Callable[[str], bool]) -> int | None:
    return next((index for index in candidates(words) if is_right(words[index])), None)


def srun(words: Sequence[str], env: Mapping[str, str]) -> Command:
    """Slurm's hands everything on, unless --export, or the variable that sbatch --export sets,
    says what: the ranks' variables are added there."""
    argv, outer, is_told = list(words), dict(env), False
    for index in launcher_indices(words):
        option, equals, value = argv[index].partition("=")
        if option != "--export":
            continue
        is_told = True
        if equals:
            argv[index] = f"--export={exported(value, env)}"
        elif index + 1 < len(argv):
            argv[index + 1] = exported(argv[index + 1], env)
    if not is_told and (names := os.environ.get("SLURM_EXPORT_ENV")):
        outer["SLURM_EXPORT_ENV"] = exported(names, env)
    return Command(argv, outer, argv, outer)


def exported(value: str, env: Mapping[str, str]) -> str:
    names = [name for name in value.split(",") if name not in ("NONE", "NIL", "")]
    return value if "ALL" in names else ",".join([*names, *env])


# ---- where the ranks are -------------------------------------------------------------------------


def launcher_words(words: Sequence[str]) -> list[str]:
    """The launcher and its arguments."""
    return [words[index] for index in launcher_indices(words)]


def launcher_indices(words: Sequence[str]) -> list[int]:
    """Where they are: before the program, or before each of several, a word `:` between them."""
    found, first = [0], 1
    for part in parts_of(words[1:]):
        at = program_at(part)
        found += range(first, first + (len(part) if at is None else at))
        first += len(part)
    return found


def program_at(words: Sequence[str]) -> int | None:
    """Where the program stands, as far as its name tells. An option's value may be one, too
    (-launcher ssh, a job named test): so one that loads an MPI, else one with its path, else the
    first."""
    found = candidates(words)
    if len(found) > 1:
        for is_right in (program.is_likely, lambda word: "/" in word):
            if right := [index for index in found if is_right(words[index])]:
                return right[0]
    return found[0] if found else None


def allocated_nodes(environ: Mapping[str, str] | None = None) -> int:
    """Nodes that a batch system gave to this job; 0: none that we know did."""
    env = os.environ if environ is None else environ
    for name in ("SLURM_JOB_NUM_NODES", "SLURM_NNODES", "NHOSTS"):
        if env.get(name, "").isdigit():
            return int(env[name])
    if "PBS_NODEFILE" in env:
        try:
            lines = Path(env["PBS_NODEFILE"]).read_text(errors="replace").split()
        except OSError:
            return 0
        return len(set(lines))
    hosts = env.get("LSB_MCPU_HOSTS", "").split()  # name, slots, name, slots, ...
    return len(set(hosts[::2]))


def job_id() -> str:
    """Of the batch system, and a dash; empty outside of one."""
    names = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "JOB_ID")
    found = next((value for name in names if (value := os.environ.get(name))), "")
    return "".join(c if c.isalnum() else "-" for c in found[:32]) + "-" if found else ""


def is_beside_allocation() -> bool:
    """Does this run outside the nodes it was given, as in a shell of salloc?"""
    return "SLURM_JOB_ID" in os.environ and "SLURMD_NODENAME" not in os.environ


def is_step_here(words: Sequence[str]) -> bool:
    """Is this a step of a Slurm job of one node, the one that we run on?"""
    if Path(words[0]).name != "srun" or "SLURM_JOB_ID" not in os.environ:
        return False
    names_a_job = any(word.startswith("--jobid") for word in launcher_words(words))
    return allocated_nodes() == 1 and not is_beside_allocation() and not names_a_job


def is_elsewhere(words: Sequence[str], ranks: int | None) -> bool:
    """May the ranks run on other machines, whose temporary directory is not ours?"""
    words = program.strip_dashes(list(words))
    kind = kind_of(words[0]) if words else ""
    if (not kind and ranks is None) or (words and is_step_here(words)):
        return False
    if allocated_nodes() > 1 or is_beside_allocation() or kind == "other":
        return True
    if any(name in os.environ for name in HOST_VARIABLES):
        return True
    return bool(kind) and any(w.partition("=")[0] in HOST_ARGUMENTS for w in launcher_words(words))
