# SPDX-License-Identifier: BSD-3-Clause
"""The registry of MPIs, launch commands, and the checks on a cluster's description."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
from headway import options
from headway.cluster import Cluster
from headway.cluster.cluster import remedy
from headway.cluster.options import ClusterOptions, parse_rate, parse_sockbuf
from headway.cluster.runner import Job
from headway.errors import HeadwayError
from headway.mpi import launch, program
from headway.mpi.mpis import BY_VERSION, Mpi, describe, find_mpi, find_mpis
from headway.options_table import OPTIONS
from test_run import own_launcher

Headway = Callable[..., subprocess.CompletedProcess[str]]


def test_registry_describes(mpi: Mpi) -> None:
    assert mpi.flavour in ("mpich", "ompi")
    assert mpi.mpicc.exists() and mpi.mpiexec.exists()
    assert mpi.header.name == "mpi.h" and mpi.library.exists()
    assert mpi.version[0].isdigit() and mpi.title.endswith(mpi.version)
    assert mpi.launcher == {
        "mpich4": "hydra",
        "mpich5": "hydra",
        "impi": "intel",
        "ompi4": "orte",
        "ompi5": "prrte",
    }.get(mpi.name, mpi.launcher)
    if mpi.is_intel:
        assert {"I_MPI_ROOT", "FI_PROVIDER_PATH"} <= set(mpi.env)


def test_registry_names_what_there_is() -> None:
    with pytest.raises(HeadwayError, match="mpich4.*; run ./dev setup"):
        find_mpi("mpich77")
    names = [found.name for found in find_mpis()]
    assert len(set(names)) == len(names)


def test_a_name_that_is_taken_has_the_version(mpi: Mpi) -> None:
    """As Open MPI 5 of a distribution beside the one that ./dev setup installed."""
    by_major = describe(BY_VERSION, mpi.mpicc)
    assert by_major and by_major.name == mpi.flavour + str(mpi.major)
    longer = describe(BY_VERSION, mpi.mpicc, {by_major.name})
    assert longer and longer.name == mpi.flavour + mpi.version


def test_only_ranks_get_the_forwarded_environment(mpi: Mpi) -> None:
    built = launch.build(
        mpi,
        ["./app"],
        ranks=2,
        hosts=["n0", "n1"],
        agent="/agent",
        interface="eth0",
        forward={"LD_PRELOAD": "/lib.so"},
    )
    assert "LD_PRELOAD" not in built.env
    expected = (
        ["-x", "LD_PRELOAD=/lib.so"]
        if mpi.flavour == "ompi"
        else ["-genv", "LD_PRELOAD", "/lib.so"]
    )
    at = built.argv.index(expected[0])
    assert built.argv[at : at + len(expected)] == expected
    assert built.argv[-3:] == ["-n", "2", "./app"]
    agent = "I_MPI_HYDRA_BOOTSTRAP_EXEC" if mpi.is_intel else "/agent"
    assert agent in built.env if mpi.is_intel else agent in built.argv


def test_shared_memory_can_be_off(mpi: Mpi) -> None:
    built = launch.build(mpi, ["./app"], ranks=2, shared_memory=False)
    if mpi.is_intel:
        assert built.env["I_MPI_FABRICS"] == "ofi"
    elif mpi.flavour == "mpich":
        assert built.env["MPIR_CVAR_NOLOCAL"] == "1" and built.env["UCX_TLS"] == "tcp,self"
    else:
        assert built.argv[built.argv.index("btl") + 1] == "tcp,self"


@pytest.mark.parametrize(
    ("text", "bits"),
    [("1gbit", 10**9), ("200mbit", 2 * 10**8), ("2.5Gbit", 25 * 10**8), ("none", 0)],
)
def test_rates(text: str, bits: int) -> None:
    assert parse_rate(text) == bits


@pytest.mark.parametrize("text", ["", "fast", "0gbit", "1gb", "-1gbit", "0.1bit"])
def test_bad_rates_are_refused(text: str) -> None:
    with pytest.raises(HeadwayError, match="; write"):
        parse_rate(text)


def test_what_helps_where_no_cluster_can_be_made() -> None:
    value = "cannot set net.ipv4.tcp_congestion_control to none: No such file or directory"
    assert "choose another" in remedy(value)
    for error in ("cannot make namespaces: Operation not permitted", "cannot set x to 1: denied"):
        assert "run as root" in remedy(error)


def test_socket_buffers() -> None:
    assert parse_sockbuf("default") is None
    assert parse_sockbuf("small") == (262144, 524288)
    assert parse_sockbuf("64k") == (65536, 65536)
    for text in ("tiny", "12", "1G"):
        with pytest.raises(HeadwayError):
            parse_sockbuf(text)


def test_bad_clusters_are_refused() -> None:
    for bad in (
        ClusterOptions(nodes=0),
        ClusterOptions(nodes=1000),
        ClusterOptions(pin="disk"),
        ClusterOptions(burst=1000),
        ClusterOptions(gso=10),
    ):
        with pytest.raises(HeadwayError):
            bad.check()
    ClusterOptions(rate="none", burst=0).check()


def test_names_of_directories_need_not_be_text() -> None:
    """Bytes that are no UTF-8, as Python names them."""
    (option,) = (one for one in OPTIONS if one.name == "HEADWAY_RECORD")
    assert options.is_accepted(option, "nu\udce9")
    assert not options.is_accepted(option, "\udce9" * options.PATH_MAX)


def test_cores_follow_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {4, 5, 6})
    assert ClusterOptions(nodes=2).cores(1) == "4 5"
    assert ClusterOptions(nodes=2).cores(2) == "4,5 4,6"
    assert ClusterOptions(nodes=4).cores(1) == "4 5 6 4"
    assert ClusterOptions(nodes=2, pin="none").cores(1) == ""


def test_ghosts_bring_no_cores(mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two processes a node, one of them a ghost, on the one core that a node has without it."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {4, 5})
    job = Job(mpi, ["./app"], None, 2, None, (), 1)
    assert Cluster(2).build(job, None).env["CLUSTER_CORES"] == "4 5"


@matrix.only(lambda mpi: mpi.flavour == "ompi", "Hydra's has no such file")
def test_programs_of_a_file(headway: Headway, mpi: Mpi, hello: Path, tmp_path: Path) -> None:
    (tmp_path / "programs").write_text(f"-n 1 {hello}\n-n 1 {hello}\n")
    words = [*own_launcher(mpi), "--app", tmp_path / "programs"]
    done = headway("run", "--engine", "off", "--abi", "ompi", "--", *words, **mpi.env)
    assert done.returncode == 0, done.stderr
    assert "2 ranks, engine off" in done.stderr, done.stderr


@matrix.only(lambda mpi: mpi.is_intel, "the others are told nothing")
def test_what_the_user_set_stays(
    headway: Headway, mpi: Mpi, hello: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("run", "--dry-run", "-n", 1, hello)
    assert "I_MPI_PIN=off" in headway(*words).stdout
    assert "I_MPI_FABRICS=shm:ofi" in headway(*words).stdout
    done = headway(*words, I_MPI_PIN_DOMAIN="core", I_MPI_FABRICS="ofi")
    assert done.returncode == 0 and "I_MPI_ROOT" in done.stdout, done.stderr
    assert "I_MPI_PIN" not in done.stdout and "I_MPI_FABRICS" not in done.stdout
    monkeypatch.setenv("I_MPI_ROOT", mpi.env["I_MPI_ROOT"])
    monkeypatch.setenv("FI_PROVIDER_PATH", "/its/own:/the/systems")
    found = describe(mpi.name, mpi.mpicc)
    assert found and found.env["FI_PROVIDER_PATH"] == "/its/own:/the/systems"


@matrix.only(lambda mpi: mpi.python is not None, "the MPI has no wheel of mpi4py")
def test_interpreter_that_is_a_script(mpi: Mpi, tmp_path: Path) -> None:
    """As the python3 of pyenv, which looks for the one that is meant."""
    shim = tmp_path / "python3"
    shim.write_text(f'#!/bin/sh\nexec {mpi.python} "$@"\n')
    shim.chmod(0o755)
    target = program.inspect(str(shim))
    assert target.flavour == mpi.flavour and target.title == mpi.title
