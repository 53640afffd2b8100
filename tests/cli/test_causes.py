# SPDX-License-Identifier: BSD-3-Clause
"""Which ranks were late, and what they did meanwhile: who is named, and what is not made up."""

from __future__ import annotations

import json
import random
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import matrix
import pytest
from conftest import build
from damage import damage
from headway.mpi.mpis import Mpi
from headway.record.older import record_of
from headway.report import causes, page, runs, text
from headway.report.causes import Cause, Causes
from headway.report.runs import Run

Headway = Callable[..., subprocess.CompletedProcess[str]]
HERE = Path(__file__).resolve().parent
S = 1_000_000_000


class Recorded:
    """A record made by hand: call sites by name, and what is known between them."""

    def __init__(self, rank: int, size: int = 3) -> None:
        self.names: list[str] = []
        self.profile: dict = {"sites": [], "gaps": [], "exchanges": [], "communicators": []}
        self.profile["communicators"] = [
            {"name": "MPI_COMM_WORLD", "size": size, "ranks": f"0-{size - 1}", "calls": 9}
        ]
        self.record = {"schema": 3, "rank": rank, "size": size, "engine": "off", "wall_s": 4.0}
        self.record |= {"mpi_s": 1.0, "profile": self.profile}

    def site(self, name: str) -> int:
        """The id of "function at a place"; the place is the name of a symbol."""
        if name not in self.names:
            self.names.append(name)
            function, _, place = name.partition(" ")
            one = {
                "id": len(self.names),
                "module": "/nowhere/app",
                "offset": zlib.crc32(place.encode()) % (1 << 20),
            }
            one |= {"symbol": place, "function": function, "size_class": 3, "calls": 1}
            self.profile["sites"].append(one)
        return self.names.index(name) + 1

    def gap(self, begin: str, end: str, seconds: float) -> dict:
        ids = {"from": self.site(begin), "to": self.site(end)}
        number = len(self.profile["gaps"]) + 10
        ns = int(seconds * S)
        self.profile["gaps"].append({"id": number, **ids, "count": 1, "ns": ns, "max_ns": ns})
        return {"gap": number, "ns": ns}

    def wait(self, site: str, seconds: float, **more: object) -> dict:
        """Returns what an exchange says that had it before."""
        number = len(self.profile["exchanges"]) + 20
        one = {"id": number, "site": self.site(site), "waits": 1, "wait_ns": int(seconds * S)}
        self.profile["exchanges"].append(one | self.filled(more))
        return {"exchange": number, "ns": int(seconds * S)}

    def gives(self, site: str, before: list[dict], **more: object) -> None:
        one = {"id": len(self.profile["exchanges"]) + 20, "site": self.site(site), "gives": 1}
        self.profile["exchanges"].append(one | self.filled({"before": before, **more}))

    @staticmethod
    def filled(one: dict) -> dict:
        before = one.get("before", [])
        for key, total in (("gap", "before_gap_ns"), ("exchange", "before_wait_ns")):
            one.setdefault(total, sum(part["ns"] for part in before if key in part))
        return one


def run_of(*ranks: Recorded) -> Run:
    return Run("made", [record_of(one.record) for one in ranks])


def chain() -> list[Recorded]:
    """Rank 2 computes 1 s longer; rank 1 waits for it, rank 0 for rank 1."""
    zero, one, two = (Recorded(rank) for rank in range(3))
    late = two.gap("Barrier start", "Send solve", 1.2)
    two.gives("Send solve", [late], to=1)
    own = one.gap("Barrier start", "Recv middle", 0.2)
    wait = one.wait("Recv middle", 1.0, before=[own], **{"from": 2})
    one.gives("Send middle", [own, wait], to=0)
    own = zero.gap("Barrier start", "Recv end", 0.2)
    zero.wait("Recv end", 1.0, before=[own], **{"from": 1})
    return [zero, one, two]


def of(run: Run, function: str, rank: int | None = None) -> Cause:
    (cause,) = (c for c in Causes(run).longest() if function in str(c.spot))
    assert rank is None or cause.rank == rank
    return cause


def test_follows_a_chain_to_its_root() -> None:
    run = run_of(*chain())
    cause = of(run, "end", 0)
    assert [step.rank for step in cause.steps] == [1, 2]
    assert "middle" in str(cause.steps[0].spot)
    assert cause.root and cause.root.rank == 2
    assert cause.root.gap and "solve" in str(cause.root.gap[1])
    assert cause.root.seconds == pytest.approx(1.2) and cause.root.more_s == pytest.approx(1.2)
    said = causes.sentence(cause)
    assert (
        said.startswith("Rank 0 waited 1.00 s in MPI_Recv of end")
        and "for rank 1, which itself" in said
    )
    assert "for rank 2, which was computing between MPI_Barrier of start" in said
    direct = of(run, "middle", 1)
    assert [step.rank for step in direct.steps] == [2] and direct.root == cause.root


def test_partner_that_computed_no_longer_is_not_blamed() -> None:
    """Both compute alike: the second is for the message itself."""
    zero, one = Recorded(0, 2), Recorded(1, 2)
    own = zero.gap("Barrier a", "Recv end", 3.0)
    zero.wait("Recv end", 1.0, before=[own], **{"from": 1})
    one.gives("Send b", [one.gap("Barrier a", "Send b", 3.1)], to=0)
    cause = of(run_of(zero, one), "Recv")
    assert cause.root is None and [step.rank for step in cause.steps] == [1]
    assert "does not account" in causes.sentence(cause)


def test_who_wait_for_one_another() -> None:
    """What messages to and fro take is nobody's delay."""
    both = [Recorded(0, 2), Recorded(1, 2)]
    for rank, one in enumerate(both):
        wait = one.wait("Recv loop", 1.0, **{"from": 1 - rank})
        one.gives("Send loop", [wait], to=1 - rank)
    run = run_of(*both)
    assert of(run, "Recv").root is None
    assert "computing" not in causes.sentence(of(run, "Recv"))


def test_waits_for_the_rank_itself_are_not_its_partners_lateness() -> None:
    """A receiver that comes late keeps its sender waiting, and waits for the bytes itself."""
    zero, one = Recorded(0, 2), Recorded(1, 2)
    zero.wait("Send big", 1.5, before=[{"exchange": 20, "ns": int(1.5 * S)}], to=1)
    late = one.gap("Recv big", "Recv big", 1.2)
    one.wait("Recv big", 0.4, before=[late], **{"from": 0})
    run = run_of(zero, one)
    root = of(run, "Send").root
    assert root and root.rank == 1
    cause = of(run, "Recv")
    assert [step.rank for step in cause.steps] == [0] and not cause.root
    assert "does not account" in causes.sentence(cause)
    assert run.partners.causes.account(1, 0, run.partners.causes.ranks[1].by_id[20]).seconds == 0


def test_circles_name_nobody() -> None:
    """Rank 0 waits for 1, 1 waited for 2, and 2 for 0, which computed."""
    found = [Recorded(rank) for rank in range(3)]
    for rank, one in enumerate(found):
        wait = one.wait("Recv ring", 1.0, **{"from": (rank + 1) % 3})
        before = [wait] if rank else [one.gap("Barrier a", "Send ring", 1.5)]
        one.gives("Send ring", before, to=(rank - 1) % 3)
    cause = next(iter(Causes(run_of(*found)).longest()))
    assert cause.rank == 0 and [step.rank for step in cause.steps] == [1, 2]
    assert not cause.root and causes.sentence(cause).endswith("; they waited for one another.")


def test_message_that_was_probed_has_come() -> None:
    """What its sender was late by was waited in the probe."""
    zero, one = Recorded(0, 2), Recorded(1, 2)
    one.gives("Send big", [one.gap("Send big", "Send big", 1.0)], to=0)
    zero.wait("Probe any", 1.0, **{"from": 1})
    zero.wait("Recv big", 0.4, **{"from": 1})
    run = run_of(zero, one)
    root = of(run, "Probe").root
    assert root and root.rank == 1
    assert not of(run, "Recv").root


def test_places_of_which_little_is_known_are_not_named() -> None:
    zero, one = Recorded(0, 2), Recorded(1, 2)
    zero.wait("Recv end", 1.0, **{"from": 1})
    little = one.gap("Barrier a", "Send b", 0.001)
    one.gives("Send b", [little], before_gap_ns=S, to=0)
    said = causes.sentence(of(run_of(zero, one), "Recv"))
    assert said.endswith("for rank 1, which was computing.")


def test_last_in_a_collective_waits_least() -> None:
    found = [Recorded(rank) for rank in range(3)]
    for rank, one in enumerate(found):
        gap = one.gap("Bcast grid", "Allreduce norm", 1.5 if rank == 1 else 0.5)
        waited = 0.001 if rank == 1 else 1.0
        one.wait("Allreduce norm", waited, communicator=0, before=[gap])
    run = run_of(*found)
    cause = of(run, "Allreduce")
    assert cause.ranks == 2 and cause.root and cause.root.rank == 1
    assert cause.root.more_s == pytest.approx(1.0)
    assert "rank 1 (which came last: it waited there 0.00 s)" in causes.sentence(cause)
    missing = of(run_of(found[0], found[2]), "Allreduce")
    assert not missing.steps and "left a record" in missing.why_not


def test_no_rank_is_always_last() -> None:
    found = [Recorded(rank) for rank in range(3)]
    for rank, one in enumerate(found):
        one.wait("Barrier step", 1.0 - rank / 10, communicator=0)
    cause = of(run_of(*found), "Barrier")
    assert not cause.steps and "not always the same" in cause.why_not


def test_roots_of_gathers_are_not_told_who_was_last() -> None:
    found = [Recorded(rank) for rank in range(3)]
    found[0].wait("Gather all", 1.0, communicator=0)
    for one in found[1:]:
        one.gives("Gather all", [one.gap("Barrier a", "Gather all", 1.0)], communicator=0)
    cause = of(run_of(*found), "Gather")
    assert not cause.steps and "not shown" in cause.why_not


def test_one_of_several_partners() -> None:
    zero, one, two = (Recorded(rank) for rank in range(3))
    own = zero.gap("Barrier a", "Waitall halo", 0.1)
    zero.wait("Waitall halo", 1.0)
    for rank in (1, 2):
        zero.gives("Waitall halo", [own], shared_ns=S, **{"from": rank})
    one.gives("Isend halo", [one.gap("Barrier a", "Isend halo", 0.1)], to=0)
    two.gives("Isend halo", [two.gap("Barrier a", "Isend halo", 1.1)], to=0)
    cause = of(run_of(zero, one, two), "Waitall")
    assert cause.root and cause.root.rank == 2 and cause.root.more_s == pytest.approx(1.05)
    # One that gave too quickly to be recorded is not taken for late by its part in collectives.
    one.profile["exchanges"].clear()
    one.gives("Iallreduce norm", [one.gap("Barrier b", "Iallreduce norm", 5.0)], communicator=0)
    cause = of(run_of(zero, one, two), "Waitall")
    assert cause.root and cause.root.rank == 2
    one.profile["exchanges"].clear()
    two.profile["exchanges"].clear()
    cause = of(run_of(zero, one, two), "Waitall")
    assert not cause.steps and "ranks 1, 2; which is not shown" in cause.why_not


@pytest.mark.parametrize("beside", ["any source", "a communicator", "no record"])
def test_partners_that_are_not_known(beside: str) -> None:
    """Who was late in part is not named where it may have been another."""
    zero, one = Recorded(0), Recorded(1)
    own = zero.gap("Barrier a", "Waitall halo", 0.1)
    zero.wait("Waitall halo", 1.0, **({"unknown_ns": S} if beside == "any source" else {}))
    zero.gives("Waitall halo", [own], shared_ns=S, **{"from": 1})
    if beside == "a communicator":
        zero.gives("Waitall halo", [], shared_ns=S, communicator=0)
    elif beside == "no record":
        zero.gives("Waitall halo", [], shared_ns=S, **{"from": 2})
    one.gives("Isend halo", [one.gap("Barrier a", "Isend halo", 1.0)], to=0)
    run = run_of(zero, one)
    cause = of(run, "Waitall")
    assert not cause.steps and "for rank 1 or others; which is not shown" in cause.why_not
    assert "computing" not in causes.sentence(cause)


def test_sums_that_lack_a_part_blame_nobody() -> None:
    zero, one = Recorded(0, 2), Recorded(1, 2)
    zero.wait("Recv halo", 1.0, before=[], looks=10, **{"from": 1})
    one.gives("Send halo", [one.gap("Barrier a", "Send halo", 1.0)], to=0, looks=10)
    cause = of(run_of(zero, one), "Recv")
    assert cause.root and cause.root.rank == 1
    zero.profile["exchanges"][0]["lost"] = 5
    cause = of(run_of(zero, one), "Recv")
    assert not cause.root and "does not account" in cause.why_not


def test_last_in_a_nonblocking_collective() -> None:
    """Posts tell who computed, doors who waited, at whatever call site."""
    found = [Recorded(rank) for rank in range(3)]
    for rank, one in enumerate(found):
        gap = one.gap("Barrier a", "Iallreduce norm", 1.5 if rank == 1 else 0.5)
        one.gives("Iallreduce norm", [gap], communicator=0)
        door = "Wait other" if rank == 2 else "Wait norm"
        one.wait(door, 0.001 if rank == 1 else 1.0, communicator=0)
    cause = of(run_of(*found), "Wait of norm")
    assert cause.rank == 0 and cause.root and cause.root.rank == 1
    assert cause.root.more_s == pytest.approx(1.0)


def test_root_of_a_nonblocking_broadcast() -> None:
    zero, one = Recorded(0, 2), Recorded(1, 2)
    zero.gives("Ibcast grid", [zero.gap("Barrier a", "Ibcast grid", 1.1)], communicator=0)
    one.wait("Wait grid", 1.0, **{"from": 0})
    cause = of(run_of(zero, one), "Wait", 1)
    assert cause.root and cause.root.rank == 0


def test_root_of_a_broadcast() -> None:
    zero, one = Recorded(0, 2), Recorded(1, 2)
    zero.gives("Bcast grid", [zero.gap("Barrier a", "Bcast grid", 1.1)], communicator=0)
    one.wait("Bcast grid", 1.0, **{"from": 0})
    one.gives("Recv other", [one.gap("Barrier b", "Recv other", 3.0)], tag=1, **{"from": 0})
    zero.gives("Send other", [zero.gap("Barrier b", "Send other", 0.1)], tag=1, to=1)
    cause = of(run_of(zero, one), "Bcast", 1)
    assert cause.root and cause.root.rank == 0
    assert cause.root.gap and "grid" in str(cause.root.gap[1])


def test_sender_that_waits_for_who_takes() -> None:
    zero, one = Recorded(0, 2), Recorded(1, 2)
    zero.wait("Send big", 1.0, to=1)
    one.gives("Recv big", [one.gap("Barrier a", "Recv big", 1.1)], **{"from": 0})
    cause = of(run_of(zero, one), "Send", 0)
    assert cause.root and cause.root.rank == 1


def test_messages_of_another_tag_are_no_matter() -> None:
    """Rank 1 was late with one message, and in time with the one rank 0 waited for."""
    zero, one = Recorded(0, 2), Recorded(1, 2)
    zero.wait("Recv halo", 1.0, tag=7, **{"from": 1})
    one.gives("Send output", [one.gap("Barrier a", "Send output", 2.0)], to=0, tag=8)
    run = run_of(zero, one)
    assert of(run, "Recv").root is None and "does not account" in causes.lines(run, 1)[0]
    one.profile["exchanges"][0]["tag"] = 7
    root = of(run_of(zero, one), "Recv").root
    assert root and root.rank == 1


def test_partner_without_a_record() -> None:
    cause = of(run_of(chain()[0]), "end", 0)
    assert not cause.steps and "rank 1, which left no record" in causes.sentence(cause)


def test_older_records_say_nothing() -> None:
    found = chain()
    for one in found:
        del one.profile["exchanges"], one.profile["gaps"]
    run = run_of(*found)
    assert causes.lines(run, 9) == [] and causes.compared([run, run]) == []
    assert "Who was late" not in page.write([run])
    mixed = chain()
    del mixed[1].profile["exchanges"]
    assert causes.lines(run_of(*mixed), 9)


@pytest.mark.parametrize("seed", range(60))
def test_damaged_records_are_no_surprise(seed: int) -> None:
    source = random.Random(seed)
    records = [damage(one.record, source, share=0.1, more=(0, 21)) for one in chain()]
    run = Run("made", [record_of(one) for one in records if isinstance(one, dict)])
    causes.lines(run, 9)
    causes.compared([run, run])
    page.write([run, run])


def test_members_of_a_communicator() -> None:
    assert causes.members_of("0-2,7") == (0, 1, 2, 7)
    assert causes.members_of("4") == (4,)
    for bad in ("", "0-3,...", "x", "1-", "-1", "0-99999999999", "3-1,2-"):
        assert causes.members_of(bad) in ((), (2,)) and not causes.members_of("0-3,...")


# ---- a program in which one rank is late ------------------------------------


def line_of(mark: str) -> int:
    lines = (HERE / "late.c").read_text().splitlines()
    (number,) = (n for n, one in enumerate(lines, 1) if one.endswith(f"/* site: {mark} */"))
    return number


@pytest.fixture
@matrix.quick(matrix.on("ompi5"), "test_waits.py has programs on the other family")
def profiled(headway: Headway, mpi: Mpi, tmp_path: Path) -> tuple[Run, str]:
    program = build(mpi, "late.c", "-g", "-O1")
    (tmp_path / "said").mkdir()
    done = headway("profile", "--record", "kept", "-n", 3, program, tmp_path / "said")
    assert done.returncode == 0 and "done" in done.stdout, done.stderr
    return runs.load(tmp_path / "kept"), done.stdout


def at(run: Run, mark: str) -> Cause:
    (cause,) = (c for c in Causes(run).longest() if f"late.c:{line_of(mark)})" in c.spot.place)
    return cause


def test_names_the_late_rank(profiled: tuple[Run, str], tmp_path: Path) -> None:
    run, said = profiled
    middle, end = at(run, "middle"), at(run, "end")
    assert (middle.rank, end.rank) == (1, 0)
    assert [step.rank for step in end.steps] == [1, 2] and [step.rank for step in middle.steps] == [
        2
    ]
    for cause in middle, end:
        assert cause.root and cause.root.rank == 2 and cause.root.gap
        first, last = (spot.place for spot in cause.root.gap)
        assert f"late.c:{line_of('before chain')})" in first
        assert f"late.c:{line_of('late send')})" in last
    several = at(run, "several")
    assert several.rank == 0 and several.root and several.root.rank == 2
    assert several.root.gap and f"late.c:{line_of('to several')})" in several.root.gap[1].place
    together = at(run, "allreduce")
    assert together.root and together.root.rank == 1 and together.rank in (0, 2)
    posted = at(run, "wait for all")
    assert posted.root and posted.root.rank == 1 and posted.rank in (0, 2)
    assert posted.root.gap and f"late.c:{line_of('iallreduce')})" in posted.root.gap[1].place
    assert "Who was late" in said and "for rank 2, which was computing between" in said
    written = page.write([run, run])
    assert "Who was late" in written and "in the end for rank 2, computing" in written
    table = text.causes_table([run, run], 9)
    assert table is not None and len(table.columns) == 3
    assert json.loads((tmp_path / "kept" / "headway.0.json").read_text())["profile"]["exchanges"]


def test_who_came_last_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by every rank anew, of all ranks each: a report on thousands of them would not end."""
    asked: list[object] = []
    find = Causes.least_of

    def counted(self: Causes, *key: object) -> object:
        asked.append(key)
        return find(self, *key)

    monkeypatch.setattr(Causes, "least_of", counted)
    ranks = [Recorded(rank, 12) for rank in range(12)]
    for rank, one in enumerate(ranks):
        one.wait("Barrier all", 0.0 if rank == 3 else 1.0, communicator=0)
    run = run_of(*ranks)
    (site,) = run.sites
    told = [run.partners.of(rank, site.spot) for rank in range(12)]
    assert len(asked) == 1 and sum(one is not None for one in told) == 11
    assert causes.members_of("0-11") is causes.members_of("0-11")
