# SPDX-License-Identifier: BSD-3-Clause
"""The command line and environment that start a program under each MPI's own launcher.

One function, `build()`, knows the launchers: Hydra (MPICH), Intel's Hydra, ORTE (Open MPI 4) and
PRRTE (Open MPI 5). It starts nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headway.mpi.mpis import Mpi


@dataclass
class Launch:
    """`argv` to execute with `env` added to the environment of the launcher."""

    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)


def build(
    mpi: Mpi,
    program: Sequence[str],
    *,
    ranks: int,
    hosts: Sequence[str] = (),
    ranks_per_node: int = 1,
    agent: str | None = None,
    interface: str | None = None,
    forward: Mapping[str, str] | None = None,
    shared_memory: bool = True,
    netmod: str | None = None,
    extra: Sequence[str] = (),
) -> Launch:
    """Start `ranks` copies of `program`, on this node or on `hosts` through `agent`.

    forward        environment of the ranks (only theirs: the launcher does not get LD_PRELOAD)
    interface      network interface to talk over; None leaves the choice to the MPI
    shared_memory  False makes ranks of one node talk over the network too
    netmod         "ofi" or "ucx" where the MPI has both (MPICH 4 and newer)
    extra          launcher arguments to add, before the program
    """
    forward = dict(forward or {})
    if mpi.flavour == "ompi":
        return _build_ompi(
            mpi,
            program,
            ranks,
            hosts,
            ranks_per_node,
            agent,
            interface,
            forward,
            shared_memory,
            extra,
        )
    argv = [str(mpi.mpiexec)]
    env = dict(mpi.env)
    if mpi.is_intel:
        env |= _intel_env(agent, interface, shared_memory)
    else:
        env |= _mpich_env(mpi, interface, shared_memory, netmod)
    if hosts:
        if mpi.is_intel:
            argv += ["-hosts", ",".join(hosts), "-ppn", str(ranks_per_node)]
        else:
            argv += ["-hosts", ",".join(f"{h}:{ranks_per_node}" for h in hosts)]
            if agent:
                argv += ["-launcher", "ssh", "-launcher-exec", agent]
            if interface:
                argv += ["-iface", interface]
    for name, value in forward.items():
        argv += ["-genv", name, value]
    return Launch([*argv, *extra, "-n", str(ranks), *program], env)


def without_told(
    env: Mapping[str, str], mpi: Mpi, environ: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Of the launcher's environment what the user has not set, be it by a variable that says more
    (I_MPI_PIN_DOMAIN); but all without which this MPI does not start."""
    return {
        name: value
        for name, value in env.items()
        if name in mpi.env or not any(told.startswith(name) for told in environ)
    }


def _mpich_env(
    mpi: Mpi, interface: str | None, shared_memory: bool, netmod: str | None
) -> dict[str, str]:
    env: dict[str, str] = {}
    if netmod:
        env["MPIR_CVAR_CH4_NETMOD"] = netmod
    if not shared_memory:
        env["MPIR_CVAR_NOLOCAL"] = "1"
        env["UCX_TLS"] = "tcp,self"
    if interface:
        env |= {"UCX_NET_DEVICES": interface, "FI_TCP_IFACE": interface, "FI_PROVIDER": "tcp"}
        env["UCX_TLS"] = "tcp,self,sysv,posix,cma" if shared_memory else "tcp,self"
    return env


def _intel_env(agent: str | None, interface: str | None, shared_memory: bool) -> dict[str, str]:
    env = {"I_MPI_FABRICS": "shm:ofi" if shared_memory else "ofi", "I_MPI_PIN": "off"}
    if not shared_memory or interface:
        env["FI_PROVIDER"] = "tcp"
    if interface:
        env["FI_TCP_IFACE"] = interface
    if agent:
        env |= {"I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": agent}
    return env


def _build_ompi(
    mpi: Mpi,
    program: Sequence[str],
    ranks: int,
    hosts: Sequence[str],
    ranks_per_node: int,
    agent: str | None,
    interface: str | None,
    forward: Mapping[str, str],
    shared_memory: bool,
    extra: Sequence[str],
) -> Launch:
    env = {**mpi.env, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    env |= {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    argv = [str(mpi.mpiexec), "--allow-run-as-root", "--bind-to", "none"]
    is_prrte = mpi.launcher == "prrte"
    argv += ["--map-by", ":OVERSUBSCRIBE"] if is_prrte else ["--oversubscribe"]
    if hosts:
        argv += ["--host", ",".join(f"{h}:{ranks_per_node}" for h in hosts)]
    if agent:
        if is_prrte:
            argv += ["--prtemca", "plm_ssh_agent", agent, "--prtemca", "plm_ssh_no_tree_spawn", "1"]
        else:
            argv += ["--mca", "plm_rsh_agent", agent, "--mca", "plm_rsh_no_tree_spawn", "1"]
    if interface or not shared_memory:
        local = ("sm" if is_prrte else "vader") if shared_memory else ""
        argv += [
            "--mca",
            "pml",
            "ob1",
            "--mca",
            "btl",
            ",".join(filter(None, ["tcp", "self", local])),
        ]
    if interface:
        argv += ["--mca", "btl_tcp_if_include", interface]
        if not is_prrte:
            argv += ["--mca", "oob_tcp_if_include", interface]
    told = [word for name, value in forward.items() for word in ("-x", f"{name}={value}")]
    return Launch(with_exported([*argv, *extra, "-n", str(ranks), *program], told), env)


def with_exported(words: Sequence[str], told: Sequence[str]) -> list[str]:
    """Open MPI wants -x for each program of several, which a word `:` divides; it takes no such
    word for a program's argument."""
    argv = [words[0], *told]
    for word in words[1:]:
        argv.append(word)
        if word == ":":
            argv += told
    return argv
