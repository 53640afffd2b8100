# SPDX-License-Identifier: BSD-3-Clause
"""What everything that is said of a run begins with: one sentence, a few numbers, and of which run
it is. The records are made by hand, so every figure is known."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
import test_one_sided
from headway import origin, outcome
from headway.record.table import Record
from headway.report import page, runs, text
from headway.report.headline import Findings, Waited, told
from headway.report.pop import efficiencies, last_lines
from headway.report.runs import Run
from rich.console import Console
from test_causes import run_of
from test_imbalance import sliced
from test_partners import exchanging
from test_report import MS, record, save, site
from test_waits import Seen, in_turns, last_in_turns


def loaded(folder: Path, *found: dict) -> Run:
    return runs.load(save(folder, *found))


def shown(run: Run, width: int) -> str:
    out = io.StringIO()
    text.show(run, Console(file=out, width=width, highlight=False, emoji=False, markup=False), 12)
    return out.getvalue()


# ---- POP ----------------------------------------------------------------------------------------


def ranks_of(*computed: float, hosts: str = "", wall: float = 10.0) -> list[Record]:
    """Ranks that compute so long, of `wall` and 2 s of MPI_Init."""
    return [
        Record.of(
            {"rank": rank, "wall_s": wall + 2, "init_s": 2.0, "mpi_s": wall - seconds}
            | ({"host": hosts[rank]} if hosts else {})
        )
        for rank, seconds in enumerate(computed)
    ]


def test_who_came_last_to_finalize(tmp_path: Path) -> None:
    """Rank 1 writes a file for 3 s; MPI_Finalize, where rank 0 is meanwhile, has no row."""
    found = [record(0, wall_s=2.0), record(1, wall_s=5.0)]
    (line,) = last_lines(loaded(tmp_path / "a", *found).records)
    assert line.startswith("Rank 1 came to MPI_Finalize last, 3.00 s after the others")
    assert line in shown(loaded(tmp_path / "b", *found), 300)
    assert line in page.write([loaded(tmp_path / "c", *found)])
    late_start = [record(0, wall_s=2.0), record(1, wall_s=5.0, init_s=3.0)]
    assert not last_lines(loaded(tmp_path / "d", *late_start).records)
    found[0]["ending"] = "aborted"
    assert not last_lines(loaded(tmp_path / "e", *found).records)


def test_efficiencies_are_those_of_pop() -> None:
    """Means of 6, 4 and 2 s on a, and of 8 s on b: 5 of 10 s in the mean, 8 at most."""
    found = efficiencies(ranks_of(6, 4, 2, 8, hosts="aaab"))
    assert found and found.busiest == 3 and found.nodes == 2
    assert found.parallel == pytest.approx(0.5)
    assert found.communication == pytest.approx(0.8)
    assert found.balance == pytest.approx(5 / 8)
    assert found.between == pytest.approx(5 / 8) and found.within == pytest.approx(1.0)
    assert found.parallel == pytest.approx(found.balance * found.communication)


def test_balance_within_nodes_is_told_from_that_between() -> None:
    """Nodes alike, of 5 s each in the mean; a rank of 8 s on one of them."""
    found = efficiencies(ranks_of(2, 8, 5, 5, hosts="aabb"))
    assert found and found.between == pytest.approx(1.0) and found.within == pytest.approx(5 / 8)
    assert found.balance == pytest.approx(found.between * found.within)


def test_one_node_has_no_balance_between_nodes() -> None:
    for hosts in ("aa", ""):
        found = efficiencies(ranks_of(4, 8, hosts=hosts))
        assert found and found.between is None and found.within is None
        assert found.balance == pytest.approx(6 / 8)


def test_no_efficiencies_without_time_in_mpi() -> None:
    assert efficiencies([Record.of({"rank": 0, "wall_s": 1.0})]) is None
    assert efficiencies([]) is None
    # Threads in MPI at the same time: more than the run, in all.
    assert efficiencies([Record.of({"rank": 0, "wall_s": 1.0, "mpi_s": 3.0})]) is None


# ---- the sentence -------------------------------------------------------------------------------


def test_what_was_not_overlapped_and_what_it_would_save(tmp_path: Path) -> None:
    run = loaded(tmp_path / "a", record(0), record(1))
    sentence, figures = told(run)
    assert sentence == (
        "Not overlapped: 100 % of the waiting was for lack of progress (app+0x1003). "
        "`headway run` should save about 0.70 s of 2.00 s (35 %)."
    )
    assert [(one.name, one.value) for one in figures] == [
        ("parallel efficiency", "60 %"),
        ("communication efficiency", "60 %"),
        ("load balance", "100 %"),
        ("waiting", "40 %"),
        ("transfer hidden", "0 %"),
    ]
    assert figures[3].meaning == "of the run, 0.80 s per rank: no progress 100 %"


def test_waiting_is_of_the_same_run_as_the_efficiencies(tmp_path: Path) -> None:
    """0.80 s of 2 s, behind an MPI_Init of 6 s."""
    found = (record(rank, wall_s=8.0, init_s=6.0) for rank in (0, 1))
    figures = {one.name: one.value for one in told(loaded(tmp_path / "a", *found))[1]}
    assert figures["parallel efficiency"] == "60 %" and figures["waiting"] == "40 %"


def test_wire_leaves_nothing_to_gain(tmp_path: Path) -> None:
    busy = record(0)
    busy["profile"]["sites"][1] |= {"usable_ns": 0, "moved_computing": 50 << 20}
    sentence, figures = told(loaded(tmp_path / "a", busy))
    assert sentence == "Nothing to gain: 100 % of the waiting was for the wire (app+0x1003)."
    assert figures[-1].name == "transfer hidden" and figures[-1].value == "50 %"


def test_what_is_summed_up_is_named(tmp_path: Path) -> None:
    """A share of several causes was said to be the first one's, and of two that of small ones, too:
    the wire is not named."""
    found = Findings(loaded(tmp_path / "a", record(0)))
    spot = found.waits[0].spot
    each = (("the messages themselves", 0.4), ("late sender", 0.3))
    each += (("the operations themselves", 0.2), ("the wire", 0.01))
    found.waits = [Waited(cause, seconds, spot, "app+0x1") for cause, seconds in each]
    assert found.timely() == (
        "Nothing to gain: 66 % of the waiting was for the messages themselves (app+0x1) and the "
        "operations themselves."
    )


def test_directions_in_turns_have_their_own_share(tmp_path: Path) -> None:
    """Of 0.8 s in MPI_Waitall 0.19 s are for the other direction, with nothing computed before.
    What lacks progress elsewhere is less, and has another place."""
    found = []
    for rank in range(2):
        one = record(rank, mpi="Open MPI v4.1.4")
        one["profile"]["sites"][1] |= {
            "moved_alone": 12 << 20,
            "usable_ns": 0,
        }
        one["profile"]["sites"].append(
            site("Wait", 9, calls=10, call_ns=50 * MS, completed=10, sampled=10)
            | {"sampled_blocked_ns": 50 * MS, "moved_waiting": 6 << 20, "usable_ns": 30 * MS}
        )
        found.append(one)
    run = loaded(tmp_path / "a", *found)
    sentence = told(run)[0]
    assert sentence.startswith(
        "Not overlapped: 23 % of the waiting was for one direction of exchanges, which moved after "
        "the other (app+0x1003). `headway run` should save about 0."
    ), sentence


def test_hardly_waited(tmp_path: Path) -> None:
    one = record(0, wait_ms=4, mpi_s=0.01)
    assert told(loaded(tmp_path / "a", one))[0] == (
        "Nothing to gain: the ranks waited less than 1 % of 2.00 s."
    )
    one = record(0, wait_ms=4, mpi_s=0.9)
    one["profile"]["sites"].append(site("Send", 9, calls=9, call_ns=800 * MS))
    sentence = told(loaded(tmp_path / "b", one))[0]
    assert sentence.endswith(
        "Other calls of MPI took 45 % of the run, most in MPI_Send (app+0x1009)."
    )
    one["profile"]["sites"] += [
        site("File_sync", 10, calls=2, call_ns=1000 * MS),
        site("File_write_at", 11, calls=2, call_ns=600 * MS),
    ]
    sentence = told(loaded(tmp_path / "c", one))[0]
    assert sentence.endswith(
        "Access to files took 80 % of the run, most in MPI_File_sync (app+0x100a)."
    )


def test_late_sender_is_named() -> None:
    zero, one = Seen(0), Seen(1)
    for turn in range(10):
        at = 1000 + 10 * turn
        one.outside(at, at + 8, "Send give")
        zero.awaits(at, at + 9, "Recv take", **{"from": 1})
    one.gives("Send give", [one.gap("Barrier a", "Send give", 0.08)], to=0)
    sentence = told(run_of(zero, one))[0]
    assert sentence.startswith("Late sender: 89 % of the waiting was for rank 1, which computed")
    assert "before MPI_Send (take, app+0x" in sentence and sentence.endswith("come earlier.")


def test_late_in_turns_names_nobody() -> None:
    sentence = told(run_of(*in_turns()))[0]
    assert sentence.startswith("Late sender: 89 % of the waiting was for a sender that came late")


def test_who_comes_last_to_a_collective() -> None:
    sentence = told(run_of(*last_in_turns()))[0]
    assert "100 % of the waiting was for a rank that came late (all, app+0x" in sentence


def test_imbalance_names_the_rank(tmp_path: Path) -> None:
    found = [sliced(0, [20] * 10), sliced(1, [95] * 10)]
    found[0]["profile"]["sites"][1] |= {"moved_waiting": 0}
    found[1]["profile"]["sites"].pop(1)
    run = loaded(tmp_path / "a", *found)
    lead = Findings(run).waits[0]
    assert lead.cause == "imbalance"
    sentence = told(run)[0]
    assert sentence.startswith("Imbalance") and "rank 1, which computed 0.75 s more" in sentence


def test_node_without_an_idle_core() -> None:
    """Progress is missing, but an engine would have no core for it."""
    ranks = exchanging(computed_s=(0.9, 0.9))
    for one in ranks:
        one.record["cores"] = 2
    sentence = told(run_of(*ranks))[0]
    assert sentence.startswith("Not overlapped: 90 % of the waiting was for lack of progress")
    assert sentence.endswith("`headway run --engine thread` tries it.")
    for one in ranks:
        one.record["cores"] = 4
    assert "`headway run` should save about 0.90 s" in told(run_of(*ranks))[0]


def test_what_is_not_known(tmp_path: Path) -> None:
    one = record(0)
    one["profile"]["wire_bytes_per_s"] = 0
    sentence = told(loaded(tmp_path / "a", one))[0]
    assert sentence.startswith("Not known: 100 % of the waiting has no cause in the records")
    assert "--engine thread" in sentence


def test_targets_that_compute_want_ghosts() -> None:
    """One machine: nothing wakes a thread there."""
    run = test_one_sided.run_of(*test_one_sided.pair(cores=8, mpi="MPICH Version:\t4.0.2"))
    found = Findings(run)
    sentence = told(run)[0]
    assert found.of("targets that computed")
    assert "of the waiting was for targets that computed (solve, app+0x1)" in sentence
    assert "`headway run --ghosts 1` should save about 0.4" in sentence


def test_who_comes_late_to_a_fence_is_no_message() -> None:
    origin = test_one_sided.Made(0, host="one").waits_for(1, 2, 18, "Win_fence", posted_ms=1)
    target = test_one_sided.Made(1, host="one").computes(1, 17, "Win_fence")
    found = Findings(test_one_sided.run_of(origin, target))
    epoch, messages = found.of("wait for an epoch"), found.of("the messages themselves")
    assert epoch and epoch.seconds == pytest.approx(0.75)
    assert messages is None or messages.seconds < 0.1


JUDGED = {
    "rank": 0,
    "size": 1,
    "engine": "thread",
    "wall_s": 2.0,
    "tracked_p2p": 3,
    "tracked_bytes": 3 << 20,
    "blocked_ns": 500 * MS,
    "judged_windows": 8,
    "judged_on_ns": 300 * MS,
    "judged_off_ns": 900 * MS,
    "judged_off_low_ns": 800 * MS,
    "judged_off_high_ns": 1000 * MS,
}
NO_CORE = (
    "all ranks share one node with no idle core, so a progress thread would only slow them; "
    "HEADWAY_ENGINE=thread forces it"
)
ENDS = {
    "saved": (JUDGED, "The progress thread saved about 0.60 s of 2.60 s (23 %; between 0.50 and"),
    "waited": (
        {**JUDGED, "judged_windows": 0},
        "The ranks waited 0.50 s of 2.00 s (25 %) for requests. `headway profile` says why.",
    ),
    "no gain": ({**JUDGED, "judged_on_ns": 900 * MS, "judged_off_ns": 890 * MS}, "No gain was"),
    "hardly waited": (
        {**JUDGED, "judged_windows": 0, "blocked_ns": MS},
        "Nothing to gain: the ranks waited less than 1 % of 2.00 s for requests.",
    ),
    "one-sided": (
        {**JUDGED, "judged_windows": 0, "blocked_ns": MS, "exposures": 3},
        "What one-sided operations waited for, if there were any, is not known. `headway profile`",
    ),
    "nothing pending": (
        {"engine": "thread", "wall_s": 2.0, "eager_limit_bytes": 1 << 17},
        "Nothing to gain: nothing was pending that needs progress (messages of 128.0 KiB or more",
    ),
    "ghosts": (
        {"engine": "thread", "wall_s": 2.0, "ghost": 2, "windows_redirected": 1}
        | {"operations_redirected": 700, "locks_redirected": 1},
        "Ghosts served 700 operations and 1 lock: no origin waited there for its target",
    ),
    "no core": (
        {"engine": "off", "wall_s": 2.0, "declined": {NO_CORE: 1}},
        "Not accelerated: all ranks share",
    ),
    "off": ({"engine": "off", "wall_s": 2.0}, "Not accelerated: the engine was off."),
}


@pytest.mark.parametrize("end", ENDS)
def test_run_without_a_profile(end: str, tmp_path: Path) -> None:
    """The closing paragraph, the report and the page begin alike."""
    raw, sentence = ENDS[end]
    run = loaded(tmp_path / "a", raw)
    assert outcome.summarise(run.records)[0].startswith(sentence)
    assert shown(run, 120).startswith(sentence)
    (first,) = re.findall(r"<h1>(.*)</h1>", page.write([run]))
    plain = re.sub(r"</?code>", "`", first).replace("\u00a0", " ")
    assert plain.startswith(sentence)


@pytest.mark.parametrize("count, whose", [(2, "both ranks"), (4, "all 4 ranks")])
def test_why_there_was_no_engine(count: int, whose: str) -> None:
    one = Record.of({"engine": "off", "wall_s": 2.0, "declined": {NO_CORE: 1}})
    said = outcome.summarise([one] * count)
    assert said[0] == (
        f"Not accelerated: {whose} share one node with no idle core, so a progress thread would "
        "only slow them. Force it with --engine thread."
    )
    assert not any("eclined" in line for line in said)


# ---- no zeros, whose it is, and how wide --------------------------------------------------------


def test_no_row_and_no_line_is_about_zero(tmp_path: Path) -> None:
    one = record(0, wait_ms=0, mpi_s=0.001)
    group = one["profile"]["communicators"][0]
    group |= {"call_ns": 1000, "completed": 0, "blocked_ns": 0}
    one["profile"]["sites"] += [site("Send", number, calls=1, call_ns=100) for number in (7, 8)]
    said = shown(loaded(tmp_path / "a", one), 120)
    assert "0.000" not in said and not re.search(r"(?<![\d.])0\.00 s", said), said
    assert "more" in said  # rows that are left out are counted


def test_every_report_says_whose_it_is(tmp_path: Path) -> None:
    origins = {"command": "./app --n 4", "started_s": 1764077106.5, "version": "0.1.0"}
    found = [
        record(rank, host=f"n{rank}", **origins) | {"mpi": "MPICH Version:\t4.0.2"}
        for rank in range(2)
    ]
    run = loaded(tmp_path / "a", *found)
    facts = "2 ranks on n0, n1, 2025-11-25 13:25:06 UTC, MPICH 4.0.2, Headway 0.1.0"
    assert origin.lines(run.records) == ["./app --n 4", facts]
    for said in (shown(run, 120), page.write([run]), "\n".join(outcome.summarise(run.records))):
        assert "./app --n 4" in said and facts in said
    many = [Record.of({**one, "host": f"n{rank}"}) for rank, one in enumerate(found * 4)]
    assert "8 ranks on n0, n1, n2, n3 and 4 other hosts" in origin.lines(many)[1]
    assert origin.lines([Record.of({"rank": 0, "started_s": 1e300})])


NUMBERS = ("0.801", "400.0 MiB", "40.1 %", "0.80..0.80", "35 %", "100 %", "0.70 s of 2.00 s")


def test_report_fits_eighty_columns(tmp_path: Path) -> None:
    origins = {"command": "./app " + "word " * 40, "host": "node", "started_s": 1764077106.5}
    run = loaded(tmp_path / "a", record(0, wait_ms=801, **origins), record(1, wait_ms=801))
    said = shown(run, 80)
    assert max(map(len, said.splitlines())) <= 80, said
    assert "…" not in said
    flat = " ".join(said.split())
    assert all(number in flat for number in NUMBERS), said


def test_whom_the_helper_woke_is_said() -> None:
    one = {"rank": 0, "size": 2, "engine": "thread", "trigger": "helper", "ghost": 2}
    woken = {**one, "helper_wakes": 700, "helper_wakes_futile": 3, "helper_wakes_spared": 1}

    def told(*found: dict) -> str:
        return "\n".join(outcome.summarise([Record.of(record) for record in found]))

    said = told(woken, {**one, "rank": 1})
    assert "The helper woke progress threads 700 times, 3 of them in vain; 1 wake could be" in said
    assert "served no window" not in said
    assert "helper" not in told({**woken, "trigger": "tick"})
    assert "woke" not in told({**woken, "helper_wakes": 0, "helper_wakes_spared": 0})
    rung = told({**woken, "helper_wakes": 0, "helper_wakes_spared": 0, "target_looks": 3})
    assert "3 times for one-sided operations of others" in rung


def test_why_there_is_a_helper_or_none_is_said() -> None:
    one = {"rank": 0, "size": 1, "engine": "thread", "ghost": 1}
    why = "the process has no connected socket"

    def told(**fields: str | int) -> str:
        return "\n".join(outcome.summarise([Record.of({**one, **fields})]))

    said = told(trigger="helper", trigger_why=why, helper_wakes=2, target_looks=3)
    assert "2 times; 3 times for one-sided operations of others." in said
    assert f"A helper was used: {why}." in said
    said = told(trigger="events", trigger_why="the sockets of the process tell of messages")
    assert "No helper was used: the sockets of the process tell of messages." in said
    assert "helper" not in told(
        trigger="events", trigger_why="the sockets of the process tell of messages", ghost=-1
    )


def test_longest_wait_is_named_where_it_is_another() -> None:
    """Of 9 and 12 ms both are 0.01 s in print."""

    def said(*waited_ms: int) -> str:
        one = {"engine": "thread", "size": 2, "wall_s": 0.1, "tracked_p2p": 3}
        found = [
            Record.of({**one, "rank": rank, "blocked_ns": each * MS})
            for rank, each in enumerate(waited_ms)
        ]
        return "\n".join(outcome.summarise(found))

    assert "waited 0.01 s for them." in said(6, 12)
    assert "waited 0.02 s for them (rank 1: 0.03 s)." in said(6, 32)
