# SPDX-License-Identifier: BSD-3-Clause
"""What `headway run` tells an MPI's transport, when, and that all processes hear the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
import support
from headway.cluster import Cluster
from headway.mpi import transport
from headway.mpi.mpis import Mpi

WITHOUT_PUT = {"OMPI_MCA_btl_tcp_flags": "313"}
ONE_AT_A_TIME = {"FI_TCP_PREFETCH_RBUF_SIZE": "48"}
GBIT = 1e9
ROOT = Path(__file__).resolve().parents[2]


def make_interface(
    net: Path, name: str, speed: str, state: str = "up", is_virtual: bool = False
) -> None:
    (net / name).mkdir(parents=True)
    (net / name / "operstate").write_text(state + "\n")
    (net / name / "speed").write_text(speed + "\n")
    if not is_virtual:
        (net / name / "device").mkdir()


def test_fastest_interface_counts(tmp_path: Path) -> None:
    assert transport.link_bits_per_s(tmp_path) is None
    make_interface(tmp_path, "lo", "10", is_virtual=True)
    make_interface(tmp_path, "eth0", "1000")
    make_interface(tmp_path, "eth1", "100000", state="down")
    assert transport.link_bits_per_s(tmp_path) == GBIT
    make_interface(tmp_path, "eth2", "25000")
    assert transport.link_bits_per_s(tmp_path) == 25 * GBIT


def test_bridge_is_what_it_stands_on(tmp_path: Path) -> None:
    make_interface(tmp_path, "eth0", "1000")
    make_interface(tmp_path, "br0", "10000", is_virtual=True)
    (tmp_path / "br0" / "lower_eth0").mkdir()
    assert transport.link_bits_per_s(tmp_path) == GBIT


@pytest.mark.parametrize("speed", ["-1", "", "fast"])
def test_unknown_speed_is_not_slow(tmp_path: Path, speed: str) -> None:
    make_interface(tmp_path, "eth0", "1000")
    make_interface(tmp_path, "eth1", speed)
    assert transport.link_bits_per_s(tmp_path) is None


def test_virtual_interface_makes_its_speed_up(tmp_path: Path) -> None:
    make_interface(tmp_path, "veth0", "10000", is_virtual=True)
    assert transport.link_bits_per_s(tmp_path) is None


@pytest.mark.parametrize("rate", ["1gbit", "10gbit", "none"])
def test_test_cluster_knows_its_rate(rate: str) -> None:
    """As its maker does, who hands it to what it runs: `headway run` there decides the same."""
    program = "from headway.mpi import transport; print(transport.link_bits_per_s())"
    with Cluster(2, rate=rate) as cluster:
        env = {**os.environ, "PYTHONPATH": str(ROOT / "cli")}
        done = cluster.execute([sys.executable, "-c", program], env=env, timeout=30)
        assert done.stdout.strip() == str(cluster.bits_per_s and float(cluster.bits_per_s))


@pytest.mark.parametrize(
    "title, wanted",
    [("Open MPI 5.0.11", WITHOUT_PUT), ("Intel MPI 2021.18.1", ONE_AT_A_TIME), ("MPICH 5.0.2", {})],
)
def test_only_where_it_helps(title: str, wanted: dict[str, str]) -> None:
    assert transport.settings(title, GBIT, environ={}) == wanted
    assert transport.settings(title, 10 * GBIT, environ={}) == {}
    assert transport.settings(title, None, environ={}) == {}
    assert transport.settings(title, None, choice="duplex", environ={}) == wanted
    assert transport.settings(title, GBIT, choice="keep", environ={}) == {}


def test_user_comes_first() -> None:
    assert transport.settings("Open MPI", GBIT, environ={"OMPI_MCA_btl_tcp_flags": "315"}) == {}
    words = ["mpirun", "--mca", "btl_tcp_flags", "315", "app"]
    assert transport.settings("Open MPI", GBIT, words=words, environ={}) == {}
    words = ["mpirun", "-genv", "FI_TCP_PREFETCH_RBUF_SIZE=9000", "app"]
    assert transport.settings("Intel MPI", GBIT, words=words, environ={}) == {}


Headway = Callable[..., subprocess.CompletedProcess[str]]


def dry_run(headway: Headway, *words: object) -> str:
    done = headway("run", "--dry-run", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@matrix.one_of_a("vendor")
def test_whole_job_hears_it(mpi: Mpi, hello: Path, headway: Headway) -> None:
    wanted = transport.settings(mpi.title, GBIT, environ={})
    assert bool(wanted) == (mpi.flavour == "ompi" or mpi.is_intel)
    lines = {f"export {d.variable}={d.value}\n" for d in transport.SETTINGS.values()}
    told = {f"export {name}={value}\n" for name, value in wanted.items()}

    def said(*words: object) -> set[str]:
        printed = dry_run(headway, *words)
        return {line for line in lines if line in printed}

    launch = [mpi.mpiexec, "-n", 2, hello]
    duplex = ["--transport", "duplex"]
    assert said(*duplex, *launch) == told
    assert not said("--transport", "keep", *launch)
    assert not said(*duplex, "--engine", "off", *launch)
    assert not said(*duplex, "-n", 2, hello)


@matrix.only(
    lambda mpi: bool(transport.settings(mpi.title, GBIT, environ={})), "this MPI is told nothing"
)
@matrix.one_of_a("vendor")
def test_large_messages(mpi: Mpi, hello: Path, headway: Headway) -> None:
    """The program runs with it: the number means what it is taken for."""
    (wanted,) = transport.settings(mpi.title, GBIT, environ={}).items()
    if mpi.flavour == "ompi":
        options = ["--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1"]
        options += ["--mca", "btl", "self,tcp"]
    else:
        options = ["-genv", "I_MPI_FABRICS", "ofi", "-genv", "FI_PROVIDER", "tcp"]
    words = [mpi.mpiexec, *options, "-n", 2, hello, 4194304, 3]
    done = headway("run", "--transport", "duplex", *words, **mpi.environment())
    assert done.returncode == 0, done.stderr
    assert "=".join(wanted) in done.stderr
    told = " ".join(line.removeprefix("headway: ").strip() for line in done.stderr.splitlines())
    assert f"{'='.join(wanted)} was set for the whole job" in told, done.stderr


READ_AHEAD = transport.SETTINGS["Intel MPI"].variable


@pytest.mark.parametrize(
    "rate, settings, wanted",
    [
        ("1gbit", {}, "48"),
        ("1gbit", {"HEADWAY_TRANSPORT": "keep"}, "unset"),
        ("1gbit", {"HEADWAY_ENGINE": "off"}, "unset"),
        ("1gbit", {READ_AHEAD: "9000"}, "9000"),
        ("10gbit", {}, "unset"),
        ("10gbit", {"HEADWAY_TRANSPORT": "duplex"}, "48"),
        ("none", {}, "unset"),
    ],
)
@matrix.one_of_a("vendor")
def test_library_tells_those_that_need_not_agree(
    mpi: Mpi, rate: str, settings: dict[str, str], wanted: str
) -> None:
    program = support.compile_program(mpi, "environment", [support.PROGRAMS / "environment.c"])
    if not mpi.is_intel and READ_AHEAD not in settings:
        wanted = "unset"
    with Cluster(2, rate=rate) as cluster:
        done = cluster.run(
            mpi,
            [str(program), READ_AHEAD],
            ranks_per_node=1,
            netmod=support.netmod(mpi),
            launcher_args=support.launcher_extra(mpi),
            env={"LD_PRELOAD": str(support.library(mpi)), **settings},
            timeout=60,
        )
    assert done.is_ok, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"rank {i} {wanted}" for i in range(2)]


def test_keep_is_for_the_library_too(hello: Path, headway: Headway) -> None:
    said = "export HEADWAY_TRANSPORT=keep\n"
    assert said in dry_run(headway, "--transport", "keep", "-n", 2, hello)
    assert said not in dry_run(headway, "-n", 2, hello)
