# SPDX-License-Identifier: BSD-3-Clause
"""Why a rank waited where no wire tells: what its partners did, and what stays not known."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
import support
from conftest import build
from headway.mpi.mpis import Mpi
from headway.report import page, runs, text
from headway.report.headline import told
from headway.report.recorded import Reasons, Site
from headway.report.runs import Run
from test_causes import Recorded, S, run_of

Headway = Callable[..., subprocess.CompletedProcess[str]]
LAUNCHES = 3
LARGE, SMALL = 21, 11  # size classes: 1 MiB, 1 KiB


def made(rank: int, computed_s: float = 0.4, size_class: int = LARGE, size: int = 2) -> Recorded:
    """A rank that waits 1 s in MPI_Waitall of halo, for requests while which it computed."""
    one = Recorded(rank, size)
    number = one.site("Waitall halo")
    one.profile["sites"][number - 1] |= {
        "calls": 10,
        "completed": 20,
        "call_ns": S,
        "computed_ns": int(computed_s * S),
        "size_class": size_class,
    }
    one.record |= {"host": "one", "cores": 2}
    return one


def exchanging(computed_s: tuple[float, float] = (0.4, 0.4), late_s: float = 0.0) -> list[Recorded]:
    """Two ranks that wait for one another; rank 1 computes so much longer before it posts."""
    ranks = []
    for rank in range(2):
        one = made(rank, computed_s[rank])
        before = one.gap("Barrier a", "Isend halo", 0.1 + (late_s if rank == 1 else 0.0))
        one.gives("Isend halo", [before], to=1 - rank)
        own = one.gap("Irecv halo", "Waitall halo", 0.1)
        one.wait("Waitall halo", 1.0, before=[own], **{"from": 1 - rank})
        one.profile["exchanges"][-1]["waits"] = 10
        ranks.append(one)
    return ranks


def site_of(run: Run) -> Site:
    (site,) = text.waits_of(run)
    return site


def of(run: Run, rank: int) -> Reasons:
    site = site_of(run)
    return run.reasons_at(site, rank, site.ranks[rank])


def test_both_had_posted_and_computed() -> None:
    """Within a node nothing moved meanwhile; what is left is the copying."""
    run = run_of(*exchanging())
    for rank in range(2):
        found = of(run, rank)
        assert found.no_progress == found.within == pytest.approx(0.4)
        assert found.bandwidth == pytest.approx(0.6) and found.late == found.unknown == 0
    said = text.cause(run.reasons(site_of(run)))
    assert said == "bandwidth 60.0 %, no progress 40.0 % (from what partners did)"
    assert "no progress" in page.write([run])


def test_late_partner() -> None:
    found = of(run_of(*exchanging(late_s=0.7)), 0)
    assert found.late == pytest.approx(0.7) and found.no_progress == pytest.approx(0.3)
    assert found.bandwidth == found.unknown == 0


def test_partner_that_has_posted_and_computes_on() -> None:
    """Whoever waits for it to take waits for progress, not for it to post."""
    zero, one = made(0, 0.0), made(1, 0.9)
    own = zero.gap("Barrier a", "Waitall halo", 0.1)
    zero.wait("Waitall halo", 1.0, before=[own], to=1)
    zero.profile["exchanges"][-1]["waits"] = 10
    one.gives("Waitall halo", [one.gap("Irecv halo", "Waitall halo", 0.9)], **{"from": 0})
    found = of(run_of(zero, one), 0)
    assert found.no_progress == pytest.approx(0.9) and found.late == 0
    assert found.bandwidth == pytest.approx(0.1)
    # It computed before it posted: then it was late.
    one = made(1, 0.0)
    one.gives("Waitall halo", [one.gap("Barrier a", "Irecv halo", 0.9)], **{"from": 0})
    found = of(run_of(zero, one), 0)
    assert found.late == pytest.approx(0.8) and found.no_progress == 0


def test_waits_for_files_are_for_nobody() -> None:
    """A wait of 1 s for nobody that is known is for files, if their requests account for it."""
    one = made(0, 0.9, size=1)
    one.wait("Waitall halo", 1.0, unknown_ns=S)
    one.wait("File_sync end", 0.5, unknown_ns=S // 2)
    post = one.profile["sites"][one.site("File_iwrite_at halo") - 1]
    post |= {"calls": 20, "completed": 20, "blocked_ns": S}
    run = run_of(one)
    found = of(run, 0)
    assert found.files == pytest.approx(1.0) and found.unknown == pytest.approx(0.0)
    assert text.cause(run.reasons(site_of(run))) == "file access 100.0 %"
    assert told(run)[0].startswith("Nothing to gain: 100 % of the waiting was for access to files")
    assert not run.causes and "file access" in page.write([run])
    post["blocked_ns"] = S // 2
    run = run_of(one)
    assert of(run, 0).unknown == pytest.approx(1.0)
    assert [cause.spot.function for cause in run.causes] == ["Waitall"]


def test_between_nodes_a_network_may_move_bytes() -> None:
    ranks = exchanging(late_s=0.7)
    ranks[1].record["host"] = "two"
    found = of(run_of(*ranks), 0)
    assert found.late == pytest.approx(0.7) and found.unknown == pytest.approx(0.3)
    assert found.no_progress == found.bandwidth == 0


def test_small_messages_take_more_than_their_bytes() -> None:
    ranks = exchanging(late_s=0.7)
    for one in ranks:
        number = one.site("Waitall halo")
        one.profile["sites"][number - 1]["size_class"] = SMALL
    found = of(run_of(*ranks), 0)
    assert found.late == pytest.approx(0.7) and found.unknown == pytest.approx(0.3)


def test_what_goes_over_tcp_within_a_node_is_not_copied_by_processes() -> None:
    ranks = exchanging()
    for one in ranks:
        one.profile["wire_bytes_per_s"] = 10**9
    assert of(run_of(*ranks), 0).unknown == pytest.approx(1.0)
    for one in ranks:  # looked at, but nothing was seen on it
        one.profile["sites"][one.site("Waitall halo") - 1]["unseen_ns"] = S
    assert of(run_of(*ranks), 0).no_progress == pytest.approx(0.4)


@pytest.mark.parametrize("lacks", ["partner", "record", "sums", "exchanges"])
def test_what_is_not_known_stays_so(lacks: str) -> None:
    ranks = exchanging(late_s=0.7)
    wait = ranks[0].profile["exchanges"][-1]
    if lacks == "partner":
        del wait["from"]
    elif lacks == "record":
        ranks = ranks[:1]
    elif lacks == "sums":
        wait |= {"lost": 5, "looks": 10}
    else:
        for one in ranks:
            del one.profile["exchanges"]
    found = of(run_of(*ranks), 0)
    assert found.unknown == pytest.approx(1.0) and found.told == found.late == 0
    assert "is not known" in " ".join(text.conclusion(run_of(*ranks)))


def test_several_partners() -> None:
    """The latest of them; all must be on the node for the rest to be told."""
    ranks = [made(rank, size=3) for rank in range(3)]
    ranks[0].wait("Waitall halo", 1.0, waits=10)
    for rank in (1, 2):
        ranks[0].gives("Waitall halo", [], shared_ns=S, **{"from": rank})
        late = ranks[rank].gap("Barrier a", "Isend halo", 0.5 if rank == 2 else 0.1)
        ranks[rank].gives("Isend halo", [late], to=0)
    found = of(run_of(*ranks), 0)
    assert found.late == pytest.approx(0.5) and found.no_progress == pytest.approx(0.4)
    ranks[1].record["host"] = "two"
    found = of(run_of(*ranks), 0)
    assert found.late == pytest.approx(0.5) and found.unknown == pytest.approx(0.5)
    ranks[0].profile["exchanges"][0]["unknown_ns"] = S
    assert of(run_of(*ranks), 0).unknown == pytest.approx(1.0)


@pytest.mark.parametrize("cores", [2, 4])
def test_engine_needs_cores_to_copy_on(cores: int) -> None:
    ranks = exchanging()
    for one in ranks:
        one.record["cores"] = cores
    run = run_of(*ranks)
    said = " ".join(text.conclusion(run))
    found = run.prediction
    assert (found.within, found.crowded)[cores == 2] == pytest.approx(0.4)
    assert found.within + found.crowded == pytest.approx(0.4) and found.seconds == found.within
    assert ("save about 0.40 s per rank" in said) == (cores == 4)
    assert ("without idle cores" in said) == (cores == 2)


# ---- a program of two ranks of a node ------------------------------------------------------------


@matrix.one_of_a("family")
@matrix.quick(lambda mpi, does: (mpi.flavour == "ompi") == (does == "late"), "by turns")
@pytest.mark.parametrize("does", ["both", "late", "sends"])
def test_program_within_a_node(headway: Headway, mpi: Mpi, tmp_path: Path, does: str) -> None:
    """100 ms of computing in each of 5 rounds, of which one is enough: between saying that it is
    about to wait and waiting rank 0 may be kept from its core. Where rank 1 is kept in its barrier
    all the while, the message moves there."""
    program = build(mpi, "within.c", "-g", "-O1")
    for launch in range(LAUNCHES):
        kept = f"kept{launch}"
        (tmp_path / f"said{launch}").mkdir()
        done = headway("profile", "--record", kept, "-n", 2, program, does, f"said{launch}")
        assert done.returncode == 0 and "done" in done.stdout, done.stderr
        run = runs.load(tmp_path / kept)
        waits = [site.ranks[0].call_ns for site in text.waits_of(run) if 0 in site.ranks]
        has_waited = does == "both" or any(wait_ns > S / 10 for wait_ns in waits)
        if not support.tally("started again, for nobody had to wait", not has_waited):
            break
    mark = "send" if does == "sends" else "exchange"
    lines = (Path(__file__).with_name("within.c")).read_text().splitlines()
    (number,) = (n for n, one in enumerate(lines, 1) if one.endswith(f"/* site: {mark} */"))
    (site,) = (s for s in text.waits_of(run) if f"within.c:{number})" in str(s.place))
    found = run.reasons_at(site, 0, site.ranks[0])
    whole = site.ranks[0].call_ns / S
    assert found.unknown < 0.1 * whole and not found.looks and found.told > 0.9 * whole, found
    if does == "late":
        assert found.late > 0.09, found
    elif does == "sends":
        assert found.no_progress > 0.09, found
    else:
        assert found.no_progress > 0.0, found
    assert "Why it waited" in done.stdout and "not known 100" not in done.stdout
