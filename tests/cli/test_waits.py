# SPDX-License-Identifier: BSD-3-Clause
"""Why ranks waited, in programs whose causes are known: late senders and receivers, collectives,
imbalance, and programs in which nobody is late. Shares are asserted, and no times."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matrix
import pytest
import support
from conftest import build
from damage import damage
from headway.cluster import Cluster
from headway.mpi.mpis import Mpi
from headway.record.older import record_of
from headway.report import blocking, causes, headline, page, runs, text
from headway.report.causes import Causes
from headway.report.found import Found
from headway.report.recorded import Reasons
from headway.report.runs import Run
from namespaces import skip_where_refused
from test_causes import Recorded, run_of

MS = 1_000_000


# ---- moments made by hand -----------------------------------------------------------------------


class Seen(Recorded):
    """A rank with moments, which add up to what the record says of gaps and waits."""

    def __init__(self, rank: int, size: int = 2, host: str = "one") -> None:
        super().__init__(rank, size)
        sample: dict = {"slot_ns": 1 << 25, "one_in": 1, "outside": [], "waits": [], "awaited": []}
        self.sample = sample
        self.profile["moments"] = {"threads": 1, "realtime_ns": 1, "sample": sample, "meetings": []}
        self.record |= {"host": host, "wall_s": 1.0}

    def outside(self, begin_ms: float, end_ms: float, then: str) -> None:
        self.sample["outside"].append(
            [int(begin_ms * MS), int((end_ms - begin_ms) * MS), self.site(then)]
        )

    def awaits(self, begin_ms: float, end_ms: float, site: str, **who: object) -> None:
        ident, took_ms = self.wait(site, (end_ms - begin_ms) / 1000, **who)["exchange"], 0.0
        took_ms = end_ms - begin_ms
        self.sample["awaited"].append([int(begin_ms * MS), int(took_ms * MS), ident])
        one = self.profile["sites"][self.site(site) - 1]
        one["call_ns"] = one.get("call_ns", 0) + int(took_ms * MS)


def found_at(run: Run, rank: int, function: str) -> Found | None:
    meanwhile = run.partners.meanwhile
    (found,) = (
        meanwhile.of(rank, one.spot)
        for one in run.partners.causes.ranks[rank].exchanges.values()
        if one.spot.function == function and one.wait_s > 0
    )
    return found


def reasons_of(run: Run, function: str) -> Reasons:
    (site,) = (s for s in run.sites if s.function == function)
    return run.reasons(site)


def in_turns() -> list[Seen]:
    """Two ranks send each other something, each having computed 8 of 10 ms before it does."""
    ranks = [Seen(0), Seen(1)]
    for turn in range(10):
        sends, takes = ranks[turn % 2], ranks[1 - turn % 2]
        at = 1000 + 10 * turn
        sends.outside(at, at + 8, "Send give")
        sends.gives("Send give", [], to=takes.record["rank"])
        takes.awaits(at, at + 9, "Recv take", **{"from": sends.record["rank"]})
    return ranks


def test_late_senders_in_turns() -> None:
    run = run_of(*in_turns())
    for rank in range(2):
        found = found_at(run, rank, "Recv")
        assert found and found.looks == 5 and found.late_share == pytest.approx(8 / 9)
    reasons = reasons_of(run, "Recv")
    assert reasons.late == pytest.approx(0.08) and reasons.transfer == pytest.approx(0.01)
    said = text.cause(reasons, "Recv")
    assert said.startswith("late sender 88.9 %, the transfer itself 11.1 %")
    (cause,) = (c for c in Causes(run).longest() if c.spot.function == "Recv")
    assert "which was computing before MPI_Send of give" in causes.sentence(cause)
    assert "late sender" in page.write([run])


def test_sender_that_had_posted() -> None:
    """What it computes on is no lateness; where its message is large, progress is missing."""
    zero, one = Seen(0), Seen(1)
    one.outside(1000, 1002, "Isend halo")
    one.gives("Isend halo", [], to=0)
    one.outside(1002, 1010, "Wait halo")
    one.awaits(1010, 1012, "Wait halo", to=0)
    zero.awaits(1004, 1012, "Recv take", **{"from": 1})
    found = found_at(run_of(zero, one), 0, "Recv")
    assert found and found.late == 0 and found.unready_share == pytest.approx(6 / 8)


def test_next_message_is_not_the_one_waited_for() -> None:
    """A rank whose exchange ends first computes, and posts the next, while the other waits on."""
    ranks = [Seen(0), Seen(1)]
    for rank, one in enumerate(ranks):
        one.gives("Isend halo", [], to=1 - rank)
        one.outside(1000, 1006, "Waitall halo")
        took = 1010 if rank else 1020
        one.awaits(1006, took, "Waitall halo", both_ns=4 * MS, **{"from": 1 - rank})
        one.outside(took, took + 5, "Isend halo")
        one.profile["sites"][one.site("Waitall halo") - 1]["size_class"] = 21
    found = found_at(run_of(*ranks), 0, "Waitall")
    assert found and found.looks == 1 and found.late == found.unready == 0


def last_in_turns() -> list[Seen]:
    """Three ranks, of which another one is last at each barrier."""
    ranks = [Seen(rank, 3) for rank in range(3)]
    for turn in range(9):
        at = 1000 + 10 * turn
        for rank, one in enumerate(ranks):
            if rank == turn % 3:
                one.outside(at, at + 9, "Barrier all")
            else:
                one.awaits(at, at + 9, "Barrier all", communicator=0)
    return ranks


def test_another_rank_is_last_each_time() -> None:
    ranks = last_in_turns()
    run = run_of(*ranks)
    assert text.cause(reasons_of(run, "Barrier"), "Barrier").startswith("wait at barrier 100.0")
    (cause,) = Causes(run).longest()
    said = causes.sentence(cause)
    assert "ranks 1 (50 %), 2 (50 %) in turns" in said and "before MPI_Barrier of all" in said


def test_who_waits_elsewhere_is_late_too() -> None:
    zero, one, two = (Seen(rank, 3) for rank in range(3))
    two.outside(1000, 1008, "Send first")
    two.gives("Send first", [], to=1)
    one.awaits(1000, 1008, "Recv middle", **{"from": 2})
    zero.awaits(1000, 1009, "Recv end", **{"from": 1})
    run = run_of(zero, one, two)
    found = found_at(run, 0, "Recv")
    assert found and found.late_share == pytest.approx(8 / 9)
    assert "which waited elsewhere" in found.words(1.0)


def test_waits_after_the_end_of_a_record_are_not_known() -> None:
    """Rank 1 is killed, and its last checkpoint older than that of rank 0."""
    zero, one = Seen(0), Seen(1)
    for turn in range(10):
        at = 1000 + 20 * turn
        zero.awaits(at, at + 10, "Barrier all", communicator=0)
        if turn < 6:
            one.outside(at - 9, at + 10, "Barrier all")
    one.record["ending"] = "checkpoint"
    run = run_of(zero, one)
    reasons = reasons_of(run, "Barrier")
    assert reasons.late == pytest.approx(0.06) and reasons.unknown == pytest.approx(0.04)
    assert reasons.transfer == pytest.approx(0.0)
    assert "0.06 s of that" in causes.lines(run, 9)[0]


@pytest.mark.parametrize("lacks", ["threads", "moments", "record"])
def test_what_is_not_known_is_not_said(lacks: str) -> None:
    ranks = in_turns()
    if lacks == "threads":
        ranks[1].profile["moments"]["threads"] = 2
    elif lacks == "moments":
        del ranks[1].profile["moments"]
    run = run_of(ranks[0]) if lacks == "record" else run_of(*ranks)
    assert found_at(run, 0, "Recv") is None
    assert reasons_of(run, "Recv").transfer == 0


def test_clocks_that_cannot_be_compared() -> None:
    ranks = in_turns()
    ranks[1].record["host"] = "two"
    ranks[1].profile["moments"]["realtime_ns"] = 0
    assert found_at(run_of(*ranks), 0, "Recv") is None


def test_clocks_of_programs_without_collectives() -> None:
    """The time of day is all there is: good enough for long waits, not for short ones."""
    ranks = in_turns()
    ranks[1].record["host"] = "two"
    found = found_at(run_of(*ranks), 0, "Recv")
    assert found and found.late_share == pytest.approx(8 / 9, abs=0.12)
    zero, one = Seen(0), Seen(1, host="two")
    one.outside(1000, 1002, "Send give")
    one.gives("Send give", [], to=0)
    zero.awaits(1000, 1002, "Recv take", **{"from": 1})
    assert found_at(run_of(zero, one), 0, "Recv") is None


@pytest.mark.parametrize(
    ("who", "name"),
    [
        ({"from": 1}, "late sender"),
        ({"to": 1}, "late receiver"),
        ({"communicator": 0}, "wait at NxN"),
        ({}, "late partner"),
    ],
)
def test_names_of_waits_for_requests(who: dict, name: str) -> None:
    """By what was waited for, as users of Scalasca know them."""
    zero, one = Seen(0), Seen(1)
    zero.gives("Iallreduce norm", [], communicator=0)
    zero.awaits(1000, 1009, "Waitall all", **who)
    run = run_of(zero, one)
    (site,) = (s for s in run.sites if s.function == "Waitall")
    assert run.reasons(site).late_name == name


@pytest.mark.parametrize(
    ("posts", "who", "name"),
    [
        ({"Ibcast": 9}, {}, "late broadcast"),
        ({"Iscatterv": 9, "Irecv": 3}, {}, "late broadcast"),
        ({"Ibcast": 9}, {"tag": 4}, "late sender"),  # collectives have none
        ({"Ibcast": 3, "Irecv": 9}, {}, "late sender"),
        ({"Start": 9, "Bcast_init": 0}, {}, "late broadcast"),
        ({"Start": 9, "Bcast_init": 0, "Recv_init": 0}, {}, "late sender"),
    ],
)
def test_names_of_waits_for_one_rank(posts: dict[str, int], who: dict, name: str) -> None:
    """From the root of a collective, or from a sender: by what was posted."""
    zero, one = Seen(0), Seen(1)
    for function, blocked_ms in posts.items():
        site = zero.profile["sites"][zero.site(f"{function} here") - 1]
        site |= {"completed": int(blocked_ms > 0), "blocked_ns": blocked_ms * MS}
    zero.awaits(1000, 1009, "Wait all", **{"from": 1, **who})
    assert reasons_of(run_of(zero, one), "Wait").late_name == name


def test_names_of_waits_for_what_was_started() -> None:
    zero, one = Seen(0), Seen(1)
    zero.site("Allreduce_init norm")
    zero.gives("Start norm", [], communicator=0)
    zero.awaits(1000, 1009, "Wait all", communicator=0)
    assert reasons_of(run_of(zero, one), "Wait").late_name == "wait at NxN"


def test_probes_in_a_loop_wait_for_a_sender() -> None:
    zero, one = Seen(0), Seen(1)
    one.outside(1000, 1016, "Send give")
    one.gives("Send give", [], to=0)
    zero.awaits(1000, 1020, "Iprobe look", **{"from": 1})
    probes = zero.profile["sites"][zero.site("Iprobe look") - 1]
    probes |= {"call_ns": 4 * MS, "spun_ns": 20 * MS, "calls": 10000}
    run = run_of(zero, one)
    reasons = reasons_of(run, "Iprobe")
    assert reasons.late_name == "late sender"
    assert reasons.late == pytest.approx(0.016) and reasons.transfer == pytest.approx(0.004)
    (cause,) = (c for c in Causes(run).longest() if c.spot.function == "Iprobe")
    assert "for rank 1, which was computing before MPI_Send of give" in causes.sentence(cause)
    assert "MPI_Iprobe" not in headline.Findings(run).headline()  # it is a wait like others
    probes["spun_ns"] = 0  # the program computed between its probes
    run = run_of(zero, one)
    assert not run.waited(next(s for s in run.sites if s.function == "Iprobe"))


def test_names_of_waits_in_calls_that_block() -> None:
    names = {
        "Recv": "late sender",
        "Sendrecv": "late sender",
        "Ssend": "late receiver",
        "Barrier": "wait at barrier",
        "Reduce_scatter": "wait at NxN",
        "Alltoallv": "wait at NxN",
        "Neighbor_alltoall": "wait at NxN",
        "Bcast": "late broadcast",
        "Scatterv": "late broadcast",
        "Reduce": "early reduce",
        "Gatherv": "early reduce",
        "Exscan": "early scan",
        "Wait": "late partner",
    }
    assert {one: blocking.late_name(one) for one in names} == names


def test_root_of_a_broadcast_waits_for_nobody() -> None:
    zero, one = Seen(0), Seen(1)
    zero.outside(1000, 1008, "Bcast grid")
    zero.gives("Bcast grid", [], communicator=0)
    zero.awaits(1008, 1010, "Bcast grid", unknown_ns=2 * MS)
    one.awaits(1000, 1010, "Bcast grid", **{"from": 0})
    reasons = reasons_of(run_of(zero, one), "Bcast")
    assert reasons.late_name == "late broadcast" and reasons.unknown == 0
    assert reasons.late == pytest.approx(0.008) and reasons.transfer == pytest.approx(0.004)


def test_small_message_itself() -> None:
    """Of a wait for requests that was looked at the rest is known, too."""
    zero, one = Seen(0), Seen(1)
    one.outside(1000, 1008, "Send give")
    one.gives("Send give", [], to=0)
    zero.awaits(1000, 1010, "Wait take", **{"from": 1})
    reasons = reasons_of(run_of(zero, one), "Wait")
    assert reasons.late_name == "late sender" and reasons.unknown == 0
    assert reasons.late == pytest.approx(0.008) and reasons.transfer == pytest.approx(0.002)


def test_nobody_late_is_no_line() -> None:
    """Of waits in which all had come there is nothing to say of who was late."""
    zero, one = Seen(0), Seen(1)
    one.outside(990, 1000, "Send give")
    one.gives("Send give", [], to=0)
    zero.awaits(1000, 1009, "Recv take", **{"from": 1})
    one.awaits(1000, 1009, "Send give", to=0)
    run = run_of(zero, one)
    found = found_at(run, 0, "Recv")
    assert found and found.late_share < 0.1
    assert not [line for line in causes.lines(run, 9) if "MPI_Recv" in line]


def producing(size_class: int, call: str) -> list[Seen]:
    """Rank 1 computes 20 ms before it sends, each time. What it sent before it completes while rank
    0 waits for the next: in MPI_Wait, 5 ms later, or as its MPI_Send returns, 1 ms later."""
    zero, one = Seen(0), Seen(1)
    after = 5 if call == "Isend" else 1
    one.gives(f"{call} give", [], to=0)
    for turn in range(10):
        at = 1000 + (20 + after) * turn
        one.outside(at, at + 20, f"{call} give")
        if call == "Isend":
            one.gives("Wait give", [], to=0)
            one.outside(at + 20, at + 20 + after, "Wait give")
        else:
            one.awaits(at + 20, at + 20 + after, "Send give", to=0)
        begin = at - after + 0.1 if turn else at
        zero.awaits(begin, at + 20.1, "Recv take", **{"from": 1})
    zero.profile["sites"][zero.site("Recv take") - 1]["size_class"] = size_class
    return [zero, one]


@pytest.mark.parametrize("call", ["Isend", "Send"])
@pytest.mark.parametrize("size_class", [11, 21])
def test_message_before_is_not_the_one_waited_for(size_class: int, call: str) -> None:
    """That it is complete ends no wait for the next."""
    found = found_at(run_of(*producing(size_class, call)), 0, "Recv")
    assert found and found.late_share > 0.95
    # Of large ones that may be on their way, with the first wait alone beyond doubt.
    assert found.looks == (1 if size_class == 21 else 10)


def late_each_time(after_ms: float = 1.0) -> list[Seen]:
    """Rank 1 of another node waits 30 ms for 1 MiB each time: 20 ms until rank 0 sends, and 10 ms
    for the wire, which as it sees them took 30 ms. So long before, it computed."""
    zero, one = Seen(0), Seen(1, host="two")
    for turn in range(10):
        at = 1000 + 31 * turn
        zero.outside(at - 10 + after_ms, at + 20, "Send give")
        zero.awaits(at + 20, at + 29, "Send give", to=1)
        one.outside(at - after_ms, at, "Wait take")
        one.awaits(at, at + 30, "Wait take", **{"from": 0})
    looked = {"sampled": 10, "sampled_blocked_ns": 300 * MS, "moved_waiting": 10 << 20}
    one.profile["sites"][one.site("Wait take") - 1] |= {**looked, "size_class": 21}
    one.profile["wire_bytes_per_s"] = (10 << 20) / 0.3
    return [zero, one]


def test_rate_of_the_wire_is_not_that_of_late_senders() -> None:
    """Clocks of machines that never met are known to a millisecond: 11 ms for 1 MiB."""
    run = run_of(*late_each_time())
    assert run.seen_rate == pytest.approx((10 << 20) / 0.3)
    assert run.wire_rate == pytest.approx((10 << 20) / 0.11, rel=0.01)
    reasons = reasons_of(run, "Wait")
    assert reasons.late_name == "late sender"
    assert reasons.late == pytest.approx(0.19, rel=0.01)
    assert reasons.bandwidth == pytest.approx(0.11, rel=0.01)


def test_rate_of_the_wire_where_it_may_have_been_posted() -> None:
    """A partner that computes with a message pending may be at the next one when it sends."""
    zero, one = late_each_time()
    give = zero.profile["sites"][zero.site("Send give") - 1]
    give |= {"completed": 10, "computed_ns": 250 * MS}
    run = run_of(zero, one)
    assert run.wire_rate == pytest.approx(run.seen_rate)
    assert reasons_of(run, "Wait").late == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("late_ms", "said"), [(0, ""), (3, ": 0.03 s of that.")])
def test_sums_are_asked_what_single_waits_show(late_ms: int, said: str) -> None:
    """Rank 1 computes 8 of 10 ms longer by the sums, of which rank 0 saw 3 or none."""
    zero, one = Seen(0), Seen(1)
    for turn in range(10):
        at = 1000 + 20 * turn
        one.outside(at - 8 + late_ms, at + late_ms, "Send give")
        one.awaits(at + late_ms, at + 10, "Send give", to=0)
        zero.awaits(at, at + 10, "Recv take", **{"from": 1})
    one.gives("Send give", [one.gap("Barrier a", "Send give", 0.08)], to=0)
    lines = [line for line in causes.lines(run_of(zero, one), 9) if "MPI_Recv" in line]
    assert "".join(lines).endswith(said) and bool(lines) == bool(said)


@pytest.mark.parametrize("seed", range(30))
def test_damaged_moments_are_no_surprise(seed: int) -> None:
    source = random.Random(seed)
    damaged = [damage(one.record, source, share=0.1, more=(0, 21)) for one in in_turns()]
    run = Run("made", [record_of(one) for one in damaged if isinstance(one, dict)])
    causes.lines(run, 9)
    page.write([run])


# ---- programs on two nodes ----------------------------------------------------------------------

PATTERNS = {
    "symmetric": "100 6000 1048576",
    "sender": "60 8000 1000",
    "posted": "60 8000 1000",
    "anybody": "40 8000 1000",
    "open": "40 8000 1000",
    "receiver": "40 8000 1000000",
    "barrier": "60 8000 1",
    "imbalance": "80 8000 1",
    "message": "40 0 1000000",
}


ATTEMPTS = 3


@dataclass
class Attempt:
    """What is asserted in it may fail, but not in the last one."""

    is_last: bool
    has_failed: bool = False

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self.has_failed = kind is not None
        return kind is AssertionError and not self.is_last


@dataclass
class Profiled:
    """The runs of all patterns."""

    runs: dict[str, Run]
    again: Callable[[list[str]], dict[str, Run]]

    def attempts(self, *patterns: str) -> Iterator[Attempt]:
        """Other load keeps a rank from its core, and the others wait for it: another launch."""
        for left in reversed(range(ATTEMPTS)):
            attempt = Attempt(is_last=left == 0)
            yield attempt
            name = "started again, for a pattern of waits was not found"
            if not support.tally(name, attempt.has_failed):
                return
            self.runs.update(self.again(list(patterns)))

    def reasons(self, pattern: str, function: str) -> dict[str, float]:
        """Shares of the waits of the pattern's own call site of that function."""
        run = self.runs[pattern]
        found = [
            site
            for site in run.sites
            if site.function == function and not site.place.function.startswith("main")
        ]
        assert found, [str(site.place) for site in run.sites]
        reasons = Reasons()
        for site in found:
            reasons = reasons.plus(run.reasons(site))
        named = {name: getattr(reasons, name) for name in text.REASON_NAMES}
        whole = sum(named.values())
        return {name: value / whole for name, value in named.items()}


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Profiled]]:
    """By MPI; each is run once."""
    yield {}


@pytest.fixture
@matrix.quick(matrix.on("mpich5"), "test_causes.py has a program on the other family")
def profiled(
    mpi: Mpi, profiles: dict[str, Profiled], tmp_path_factory: pytest.TempPathFactory
) -> Profiled:
    if mpi.name not in profiles:
        profiles[mpi.name] = run_all(mpi, tmp_path_factory.mktemp(mpi.name))
    return profiles[mpi.name]


def run_all(mpi: Mpi, folder: Path) -> Profiled:
    return Profiled(run_these(mpi, folder, list(PATTERNS)), partial(run_these, mpi, folder))


def run_these(mpi: Mpi, folder: Path, patterns: list[str]) -> dict[str, Run]:
    program = build(mpi, "causes.c", "-g", "-O1")
    found = {}
    with skip_where_refused(), Cluster(2, rate="1gbit", pin="none") as cluster:
        for pattern in patterns:
            kept = folder / pattern
            shutil.rmtree(kept, ignore_errors=True)
            kept.mkdir()
            env = {"LD_PRELOAD": str(support.library(mpi)), "HEADWAY_PROFILE": "yes"}
            done = cluster.run(
                mpi,
                [str(program), pattern, *PATTERNS[pattern].split()],
                env=env | {"HEADWAY_ENGINE": "off", "HEADWAY_RECORD": str(kept)},
                netmod=support.netmod(mpi),
                launcher_args=support.launcher_extra(mpi),
                timeout=60,
            )
            assert done.is_ok and "done" in done.stdout, done.stderr[-2000:]
            found[pattern] = runs.load(kept)
    return found


def test_late_senders_are_found(profiled: Profiled) -> None:
    """Who sends, and comes late, is another rank each time: sums over the run show nothing."""
    for attempt in profiled.attempts("sender", "posted", "anybody", "open"):
        with attempt:
            assert profiled.reasons("sender", "Recv")["late"] > 0.5
            assert profiled.reasons("posted", "Wait")["late"] > 0.5
            # The status tells from whom it came, also where the program wants none.
            assert profiled.reasons("anybody", "Recv")["late"] > 0.5
            assert profiled.reasons("open", "Wait")["late"] > 0.5
            assert profiled.reasons("open", "Waitall")["late"] > 0.5
            said = " ".join(causes.lines(profiled.runs["sender"], 9))
            assert "which was computing before MPI_Send of give" in said
            assert "waited for one another" not in said


def test_late_receivers_are_found(profiled: Profiled) -> None:
    for attempt in profiled.attempts("receiver"):
        with attempt:
            assert profiled.reasons("receiver", "Send")["late"] > 0.3


def test_waits_at_collectives_are_found(profiled: Profiled) -> None:
    for attempt in profiled.attempts("barrier", "imbalance"):
        with attempt:
            shares = profiled.reasons("barrier", "Barrier")
            assert shares["late"] > 0.5 and shares["imbalance"] < 0.3
            assert profiled.reasons("imbalance", "Allreduce")["imbalance"] > 0.4
            (line,) = text.imbalance_lines(profiled.runs["imbalance"]) or [""]
            assert line and " 0.00 s a rank of the waits" not in line


def test_nobody_is_late_for_large_messages(profiled: Profiled) -> None:
    for attempt in profiled.attempts("message"):
        with attempt:
            for function in "Send", "Recv":
                assert profiled.reasons("message", function)["late"] < 0.3


def test_nobody_is_late_where_all_compute_alike(profiled: Profiled) -> None:
    """Each posts, computes the same, and waits: for progress, or for the wire."""
    for attempt in profiled.attempts("symmetric"):
        with attempt:
            shares = profiled.reasons("symmetric", "Waitall")
            assert shares["late"] + shares["imbalance"] < 0.25
            assert shares["no_progress"] + shares["bandwidth"] > 0.6
            run = profiled.runs["symmetric"]
            (site,) = (s for s in run.sites if s.function == "Waitall")
            assert run.reasons(site).looks > 0
