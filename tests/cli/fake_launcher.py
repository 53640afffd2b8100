# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for a launcher, by the name it is started under: starts one process of the program.

srun: hands on what --export or SLURM_EXPORT_ENV says. prun: what -x names, besides what it always
does. mpiexec and mpirun_rsh: nothing of its own environment. Others: all of it.
"""

import os
import sys

KEPT = ("PATH", "HOME", "PYTHONPATH")
#: options of these launchers that have a value behind them
WITH_VALUE = {"-n", "-N", "-np", "-a", "--nrs", "-x", "-J", "--export", "-hostfile"}


def selected(names: str) -> dict[str, str]:
    """Slurm's --export."""
    words = names.split(",")
    if "ALL" in words:
        return dict(os.environ)
    return {name: os.environ[name] for name in (*words, *KEPT) if name in os.environ}


def main() -> None:
    name = os.path.basename(sys.argv[0])
    words, env = sys.argv[1:], dict(os.environ)
    if "--version" in words:
        print(f"{name} (a stand-in) 1.0")
        return
    if name == "srun":
        env = selected(os.environ.get("SLURM_EXPORT_ENV", "ALL"))
    elif name not in ("aprun", "jsrun", "ibrun", "flux"):
        env = {key: os.environ[key] for key in KEPT if key in os.environ}
    while words and (words[0].startswith("-") or words[0] in ("run", "n0")):
        option, _, value = words.pop(0).partition("=")
        if option in WITH_VALUE and not value:
            value = words.pop(0)
        if option == "--export":
            env = selected(value)
        if option == "-x":
            key, equals, text = value.partition("=")
            env[key] = text if equals else os.environ[key]
    os.execvpe(words[0], words, env)


main()
