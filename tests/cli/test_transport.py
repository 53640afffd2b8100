"""What `headway run` tells an MPI's transport, when, and that all processes hear the same."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from headway import transport
from headway.mpis import Mpi

WITHOUT_PUT = {transport.VARIABLE: transport.WITHOUT_PUT}
GBIT = 1e9


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


def test_only_where_it_helps() -> None:
    assert transport.settings("ompi", GBIT, environ={}) == WITHOUT_PUT
    assert transport.settings("ompi", 10 * GBIT, environ={}) == {}
    assert transport.settings("ompi", None, environ={}) == {}
    assert transport.settings("ompi", None, choice="send", environ={}) == WITHOUT_PUT
    assert transport.settings("ompi", GBIT, choice="keep", environ={}) == {}
    assert transport.settings("mpich", GBIT, choice="send", environ={}) == {}


def test_user_comes_first() -> None:
    theirs = {transport.VARIABLE: "315"}
    assert transport.settings("ompi", GBIT, environ=theirs) == {}
    words = ["mpirun", "--mca", "btl_tcp_flags", "315", "app"]
    assert transport.settings("ompi", GBIT, words=words, environ={}) == {}


Headway = Callable[..., subprocess.CompletedProcess[str]]


def dry_run(headway: Headway, *words: object) -> str:
    done = headway("run", "--dry-run", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_whole_job_hears_it(mpi: Mpi, hello: Path, headway: Headway) -> None:
    line = f"export {transport.VARIABLE}={transport.WITHOUT_PUT}\n"
    launch = [mpi.mpiexec, "-n", 2, hello]
    send = ["--transport", "send"]
    assert (line in dry_run(headway, *send, *launch)) == (mpi.flavour == "ompi")
    assert line not in dry_run(headway, "--transport", "keep", *launch)
    assert line not in dry_run(headway, *send, "--engine", "off", *launch)
    assert line not in dry_run(headway, *send, "-n", 2, hello)


def test_large_messages_without_put(mpi: Mpi, hello: Path, headway: Headway) -> None:
    """The program runs with it: the number means what it is taken for."""
    if mpi.flavour != "ompi":
        pytest.skip("Open MPI's transport")
    words = [mpi.mpiexec, "--allow-run-as-root", "--oversubscribe", "-n", 2]
    words += ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", hello, 4194304, 3]
    done = headway("run", "--transport", "send", *words, **mpi.environment())
    assert done.returncode == 0, done.stderr
    assert f"{transport.VARIABLE}={transport.WITHOUT_PUT}" in done.stderr
