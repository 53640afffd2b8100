# SPDX-License-Identifier: BSD-3-Clause
"""`headway report`: reads what there is, whatever its state, and says what follows from it."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from damage import damage
from headway import main
from headway.errors import HeadwayError
from headway.record.table import Record, Site
from headway.report import command, export, packing, page, paraver, places, runs, text
from rich.console import Console
from traces import Trace

Headway = Callable[..., subprocess.CompletedProcess[str]]
MS = 1_000_000


def site(function: str, number: int, **counters: int) -> dict:
    base = {"id": number, "module": "/nowhere/app", "offset": 4096 + number, "function": function}
    return {**base, "size_class": 21, **counters}


def record(rank: int, wait_ms: int = 800, **more: object) -> dict:
    """A rank of two that posts 100 times 1 MiB, computes 8 ms each time, and waits 8 ms."""
    wait = site(
        "Waitall",
        3,
        calls=100,
        bytes=200 << 20,
        call_ns=wait_ms * MS,
        completed=200,
        computed_ns=800 * MS,
        sampled=50,
        sampled_blocked_ns=wait_ms * MS // 2,
        sampled_computed_ns=400 * MS,
        moved_computing=0,
        moved_waiting=50 << 20,
        copied=100 << 20,
        usable_ns=400 * MS,
    )
    post = site(
        "Isend",
        1,
        calls=100,
        bytes=100 << 20,
        call_ns=MS,
        completed=100,
        computed_ns=800 * MS,
        blocked_ns=wait_ms * MS,
    )
    group = {"name": "grid", "size": 2, "ranks": "0-1", "calls": 100, "call_ns": MS}
    profile = {
        "communicators": [{**group, "completed": 100, "blocked_ns": wait_ms * MS}],
        "began_monotonic_s": 5.0 + rank,
        "wire_bytes_per_s": 131072000,
        "sites": [post, wait, site("Barrier", 4, calls=10 * (rank + 1), call_ns=rank * MS)],
        "events": [[0.0, 2.0, 1, 1048576], [8000.0, 8000.0, 3, 1048576]],
    }
    base = {"schema": 3, "rank": rank, "size": 2, "engine": "off", "wall_s": 2.0, "mpi_s": 0.8}
    return {**base, "mpi": "An MPI <1>", "profile": profile, **more}


def save(folder: Path, *found: object) -> Path:
    folder.mkdir(exist_ok=True)
    for number, one in enumerate(found):
        body = one if isinstance(one, str) else json.dumps(one)
        (folder / f"headway.{number}.json").write_text(body)
    return folder


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("MPICH Version:\t4.0.2", "MPICH 4.0.2"),
        ("Intel(R) MPI Library 2021.18 for Linux* OS", "Intel MPI 2021.18"),
        ("Open MPI v5.0.11, package: Open MPI", "Open MPI 5.0.11"),
        ("An MPI of " + "z" * 100, "An MPI of " + "z" * 50),
    ],
)
def test_title_names_the_mpi(said: str, shown: str, tmp_path: Path) -> None:
    run = runs.load(save(tmp_path / "a", record(0, mpi=said)))
    assert run.title == f"a: 1 rank, {shown}, engine off, 2.00 s"


def test_causes_of_a_wait(tmp_path: Path) -> None:
    """1 MiB at 131 MB/s takes 8 ms; the wire was idle for 8 ms before each wait of 8 ms."""
    run = runs.load(save(tmp_path / "a", record(0), record(1)))
    found = run.all_reasons
    assert found.no_progress == pytest.approx(1.6) and found.looks == 100
    assert found.late + found.bandwidth + found.unknown < 1e-9
    # 200 MiB a rank are to be sent and received, which takes processor time too.
    assert run.prediction.idle == pytest.approx(0.8)
    assert run.prediction.copying == pytest.approx((200 << 20) * runs.COPY_S)
    assert f"about {run.prediction.seconds:.2f} s per rank" in text.conclusion(run)[0]

    late = runs.load(save(tmp_path / "b", record(0, wait_ms=1600)))
    assert late.all_reasons.late == pytest.approx(0.8)
    assert late.all_reasons.no_progress == pytest.approx(0.8)

    busy = record(0)
    busy["profile"]["sites"][1].update(moved_computing=50 << 20, usable_ns=0)
    assert runs.load(save(tmp_path / "c", busy)).all_reasons.bandwidth == pytest.approx(0.8)


def test_directions_one_after_the_other(tmp_path: Path) -> None:
    """Waits of 16 ms, half of it for the other direction: all of it is to be won, and said so."""
    one = record(0, wait_ms=1600)
    wait = one["profile"]["sites"][1]
    wait |= {"moved_waiting": 100 << 20, "moved_alone": 50 << 20, "usable_ns": 800 * MS}
    run = runs.load(save(tmp_path / "turns", one))
    assert run.prediction.idle == pytest.approx(1.6)
    assert run.prediction.directions == pytest.approx(0.8)
    assert run.all_reasons.late < 1e-9
    assert any(line.startswith("0.80 s of that is one direction") for line in text.conclusion(run))

    at_once = runs.load(save(tmp_path / "once", record(0)))
    assert at_once.prediction.directions == 0
    assert not any("one direction" in line for line in text.conclusion(at_once))


INTEL = "Intel(R) MPI Library 2021.18 for Linux* OS"


@pytest.mark.parametrize(
    ("library", "gain"), [(INTEL, 0.8), ("Open MPI v5.0.11", 0.8), ("MPICH Version:\t5.0.0", 0.0)]
)
def test_transport_wins_in_tests(library: str, gain: float, tmp_path: Path) -> None:
    """Tests in a loop for 1.6 s, half for the other direction. An engine leaves them alone."""
    one = record(0, mpi=library)
    wait = one["profile"]["sites"][1]
    wait |= {"function": "Testall", "call_ns": 500 * MS, "spun_ns": 1600 * MS}
    wait |= {"sampled_blocked_ns": 800 * MS, "usable_ns": 800 * MS}
    wait |= {"moved_waiting": 100 << 20, "moved_alone": 50 << 20}
    run = runs.load(save(tmp_path / "tests", one))
    assert run.prediction.transport == pytest.approx(gain)
    assert run.prediction.seconds == pytest.approx(gain)
    assert run.prediction.spinning == pytest.approx(1.6 - gain)
    assert any("which headway run sets" in line for line in text.conclusion(run)) == (gain > 0)

    one["profile"]["wire_bytes_per_s"] = 1250000000
    assert runs.load(save(tmp_path / "fast", one)).prediction.transport == 0


@pytest.mark.parametrize(
    ("library", "gain"), [("Open MPI v5.0.11", 0.6), ("MPICH Version:\t5.0.0", 0.0)]
)
def test_transport_wins_where_little_is_computed(library: str, gain: float, tmp_path: Path) -> None:
    """A wait of 1.6 s, half of it for the other direction, of which work hides 0.2 s."""
    one = record(0, wait_ms=1600, mpi=library)
    wait = one["profile"]["sites"][1]
    wait |= {"moved_waiting": 100 << 20, "moved_alone": 50 << 20, "usable_ns": 100 * MS}
    run = runs.load(save(tmp_path / "turns", one))
    assert run.prediction.idle == pytest.approx(0.2)
    assert run.prediction.transport == pytest.approx(gain)


@pytest.mark.parametrize(("library", "gain"), [(INTEL, 0.4), ("Open MPI v5.0.11", 0.0)])
def test_transport_wins_in_steps(library: str, gain: float, tmp_path: Path) -> None:
    """A reduction for 1.6 s, half of it for the other direction, behind work of 1.2 s: an engine
    hides that, and of what has no room the transport wins the rest."""
    one = record(0, wait_ms=1600, mpi=library)
    wait = one["profile"]["sites"][1]
    wait |= {"moved_waiting": 100 << 20, "moved_in_steps": 50 << 20, "usable_ns": 600 * MS}
    run = runs.load(save(tmp_path / "steps", one))
    assert run.prediction.idle == pytest.approx(1.2)
    assert run.prediction.transport == pytest.approx(gain)


def test_spare_core_pays_for_copying(tmp_path: Path) -> None:
    """Two ranks on a machine of three cores, and two on one of two."""
    for cores, share in ((3, 0), (2, 1)):
        found = [record(rank, host="node", cores=cores) for rank in range(2)]
        run = runs.load(save(tmp_path / f"cores{cores}", *found))
        assert run.prediction.copying == pytest.approx(share * (200 << 20) * runs.COPY_S)


def test_tests_in_a_loop_are_a_wait(tmp_path: Path) -> None:
    one = record(0)
    wait = one["profile"]["sites"][1]
    wait |= {"function": "Testall", "call_ns": 500 * MS, "spun_ns": 800 * MS}
    (site,) = text.waits_of(runs.load(save(tmp_path / "a", one)))
    assert site.function == "Testall" and site.waited == pytest.approx(0.8)
    run = runs.load(tmp_path / "a")
    assert run.prediction.seconds == 0 and run.prediction.spinning == pytest.approx(0.8)
    assert "tests in a loop" in " ".join(text.conclusion(run))
    wait["spun_ns"] = 0  # the program computed between its tests
    assert not text.waits_of(runs.load(save(tmp_path / "b", one)))


def test_schema_2_is_judged_by_what_it_has(tmp_path: Path) -> None:
    """No usable_ns in it: the wire was idle while the program computed, but for what it moved."""
    one = record(0)
    wait = one["profile"]["sites"][1]
    del wait["usable_ns"], one["profile"]["communicators"]
    run = runs.load(save(tmp_path / "a", {**one, "schema": 2}))
    assert run.all_reasons.no_progress == pytest.approx(0.8)
    wait.update(moved_computing=50 << 20)
    run = runs.load(save(tmp_path / "b", {**one, "schema": 2}))
    assert run.all_reasons.bandwidth == pytest.approx(0.8)


def test_not_known_is_said(tmp_path: Path) -> None:
    """No look, or bytes that did not go over TCP: no cause is made up."""
    changes = {"a": {"sampled": 0}, "b": {"sampled": 0, "unseen_ns": 400 * MS}}
    for name, change in changes.items():
        one = record(0)
        one["profile"]["sites"][1].update(change)
        run = runs.load(save(tmp_path / name, one))
        assert run.all_reasons.unknown == pytest.approx(0.8)
        assert run.all_reasons.no_progress == 0
        said = " ".join(text.conclusion(run))
        assert "is not known" in said
        assert ("looks at the connections would have cost too much" in said) == (name == "a")
        assert "one-sided operations with requests" not in said
    one["profile"]["sites"].append(site("Rget", 9, calls=100, completed=100))
    said = " ".join(text.conclusion(runs.load(save(tmp_path / "c", one))))
    assert "one-sided operations with requests" in said


def test_one_sided_waits_are_named(tmp_path: Path) -> None:
    """They have no request; that nothing is to be won must not be said."""
    one = record(0)
    sites = one["profile"]["sites"]
    sites += [
        site("Win_flush", 5, calls=9, call_ns=300 * MS),
        site("Win_allocate", 6, calls=1, call_ns=5 * MS),
    ]
    assert text.one_sided_lines(runs.load(save(tmp_path / "both", one)))[0].startswith(
        "0.30 s per rank"
    )
    del sites[1]
    (told,) = text.conclusion(runs.load(save(tmp_path / "alone", one)))
    assert "15.0 % of the run" in told and "--ghosts" in told
    del sites[-2]
    assert not text.conclusion(runs.load(save(tmp_path / "none", one)))


def test_prints_tables(headway: Headway, tmp_path: Path) -> None:
    save(tmp_path / "a", record(0), record(1))
    done = headway("report", "a")
    assert done.returncode == 0, done.stderr
    for words in (
        "Time in MPI: calls and bytes of all ranks, seconds",
        "was pending: requests of",
        "Why it waited",
        "no progress 100.0 %",
        "50 %",
    ):
        assert words in done.stdout, words


def test_hidden_is_what_moved_meanwhile(tmp_path: Path) -> None:
    """A program may compute all the time and have all bytes move in its wait."""
    none, half = record(0), record(0)
    half["profile"]["sites"][1].update(moved_computing=50 << 20)
    for one, share in ((none, 0.0), (half, 0.5)):
        run = runs.load(save(tmp_path / str(share), one))
        (wait,) = (s for s in run.sites if s.is_wait)
        assert wait.hidden_share == share
        assert {s.hidden_share for s in run.sites if not s.is_wait} == {None}


def test_names_are_no_markup(headway: Headway, tmp_path: Path) -> None:
    one = record(0)
    for place, name in zip(
        one["profile"]["sites"], ("tagged[abi:cxx11](int)", "[/proc/x]", "r:fire:"), strict=True
    ):
        place |= {"symbol": name, "call_ns": place["call_ns"] + MS}
    done = headway("report", save(tmp_path / "[bold]r:fire:", one))
    assert done.returncode == 0, done.stderr
    assert "\n[bold]r:fire:: 1 rank" in done.stdout
    for name in ("tagged[abi:cxx11](int)", "[/proc/x]", "r:fire: (app"):
        assert name in done.stdout, done.stdout
    two = headway("report", tmp_path / "[bold]r:fire:", tmp_path / "[bold]r:fire:")
    assert two.stdout.count("tagged[abi:cxx11](int)") == 1, two.stdout


def test_names_that_are_no_text(headway: Headway, tmp_path: Path) -> None:
    """Half a character, and the end of a C string."""
    odd = record(0, program="/pro\ud800gram\0", hostname="no\udfffde\0")
    odd["profile"]["sites"][1]["function"] = "Wa\udc00it\0"
    run = save(tmp_path / "run", odd, record(1))
    words = ("--html", "page.html", "--csv", "sites.csv", "--trace", "t.json", "--paraver", "p.prv")
    done = headway("report", run, *words)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert "Wa?it\ufffd" in done.stdout
    other = run.rename(os.fsdecode(bytes(tmp_path / "r\u00e9-") + b"\xff"))
    for encoding, name in (("utf-8", b"r\xc3\xa9-\xff:"), ("ascii", rb"r\xe9-\udcff:")):
        with (tmp_path / "out").open("w") as out:
            words = ("report", other, "--html", "page.html")
            done = headway(*words, stdout=out, PYTHONIOENCODING=f"{encoding}:strict")
        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
        assert name in (tmp_path / "out").read_bytes()


def test_no_room_to_write(headway: Headway, tmp_path: Path) -> None:
    run = save(tmp_path / "run", record(0), record(1))
    with open("/dev/full", "w") as full:
        done = headway("report", run, stdout=full)
    assert done.returncode == 1 and "No space left" in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr


def test_narrow_terminal_shows_places(tmp_path: Path) -> None:
    run = runs.load(save(tmp_path / "a", record(0), record(1)))
    console = Console(highlight=False, markup=False, emoji=False, width=80)
    with console.capture() as shown:
        text.show(run, console, 12)
    lines = shown.get().splitlines()
    for function, number in (("Waitall", 3), ("Barrier", 4)):
        (line,) = (one for one in lines if function in one and ".." in one)
        assert line.split()[0] == f"app+{4096 + number:#x}", line
    # Figures are whole too.
    assert any("400.0 MiB" in line and "40.0 %" in line and "0.80..0.80" in line for line in lines)


def test_length_of_a_run_is_found_once(tmp_path: Path) -> None:
    """It is asked for with each wait: looking through the records then is quadratic in ranks."""
    run = runs.load(save(tmp_path / "a", record(0)))
    assert run.wall == 2.0
    run.records.clear()
    assert run.wall == 2.0


def test_compares_runs(headway: Headway, tmp_path: Path) -> None:
    save(tmp_path / "before", record(0), record(1))
    save(tmp_path / "after", record(0, 100, wall_s=1.3), record(1, 100, wall_s=1.3))
    done = headway("report", "before", "after", "--html", "both.html")
    assert done.returncode == 0, done.stderr
    for figure in ("-0.70 (-35 %)", "0.800", "0.100", "-0.700 (-88 %)"):
        assert figure in done.stdout, done.stdout
    assert "Runs side by side" in (tmp_path / "both.html").read_text()


class Checker(html.parser.HTMLParser):
    """Every element that is opened is closed, and nothing is fetched from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not {"src", "href"} & {name for name, _ in attrs}
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_page_stands_alone(tmp_path: Path) -> None:
    run = runs.load(save(tmp_path / "a", record(0), record(1)))
    written = page.write([run])
    checker = Checker()
    checker.feed(written)
    assert not checker.open and {"svg", "table"} <= checker.seen and "script" not in checker.seen
    assert "An MPI &lt;1&gt;" in written and "<1>" not in written
    for words in (
        "Why it waited",
        "by where they were posted",
        "Sizes",
        "Ranks",
        "last calls",
        "By communicator",
    ):
        assert words in written


def test_exports(headway: Headway, tmp_path: Path) -> None:
    save(tmp_path / "a", record(0), record(1))
    done = headway("report", "a", "--csv", "t.csv", "--trace", "t.json", "--communicators", "c.csv")
    assert done.returncode == 0, done.stderr
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert {row["mpi_function"] for row in rows} == {"Isend", "Waitall", "Barrier"}
    assert sum(int(row["call_ns"]) for row in rows) == 2 * 801 * MS + MS
    with (tmp_path / "c.csv").open(newline="") as file:
        (first, second) = csv.DictReader(file)
    assert first["communicator"] == "grid" and second["rank"] == "1"
    assert int(first["blocked_ns"]) == 800 * MS
    trace = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    calls = [event for event in trace if event["ph"] == "X"]
    assert {event["name"] for event in calls} == {"MPI_Isend", "MPI_Waitall"}
    assert max(event["ts"] for event in calls if event["tid"] == 1) == pytest.approx(1_008_000)


def test_paraver(headway: Headway, tmp_path: Path) -> None:
    save(tmp_path / "a", record(0), record(1))
    done = headway("report", "a", "--paraver", "calls.prv")
    assert done.returncode == 0, done.stderr
    trace = Trace(tmp_path / "calls.prv")
    assert trace.tasks == 2 and trace.end == 1_016_000_000
    calls = {value: text for value, text in trace.values[paraver.CALL].items() if value}
    assert set(calls.values()) == {"MPI_Isend", "MPI_Waitall", "MPI_Barrier"}
    begun = [calls[r[7]] for r in trace.records if r[0] == 2 and r[6:8] != [paraver.CALL, 0]]
    assert sorted(begun) == ["MPI_Isend"] * 2 + ["MPI_Waitall"] * 2
    waits = [r for r in trace.records if r[0] == 1 and r[7] == paraver.state_of("Waitall")]
    assert [r[6] - r[5] for r in waits] == [8_000_000] * 2
    assert headway("report", "a", "a", "--paraver", "calls.prv").returncode == 2


def test_paraver_on_two_machines(tmp_path: Path) -> None:
    """Their clocks tell nothing about each other: each begins at 0."""
    run = runs.load(save(tmp_path / "a", record(0, host="one"), record(1, host="two")))
    paraver.write(run, tmp_path / "calls")
    trace = Trace(tmp_path / "calls.prv")
    assert trace.end == 16_000_000
    assert "NODE SIZE 2\none\ntwo\n" in (tmp_path / "calls.row").read_text()


def test_kinds_of_calls() -> None:
    kinds = {"Recv": 3, "Recv_init": 11, "Irecv": 11, "Isend": 10, "Send": 4, "Sendrecv": 3}
    kinds |= {"Ssend_init": 10, "Allreduce": 13, "Ineighbor_alltoallv": 13, "Wait": 8, "Testall": 6}
    kinds |= {"Barrier": 5, "Win_fence": 5, "Comm_dup": 15, "File_write": 12, "Reduce_scatter": 13}
    assert {name: paraver.state_of(name) for name in kinds} == kinds


def test_python_lines(tmp_path: Path) -> None:
    """They go before an address, and stand for mpi4py; what is no line is passed over."""
    module = {"module": "/x/mpi4py/MPI.cpython-311.so"}
    line = {"file": "/program/solver.py", "function": "Solver.step.<locals>.inner", "line": 42}
    found = [
        site("Send", 10, calls=1, python=line) | module,
        site("Send", 11, calls=2, python=line) | module,
        site("Recv", 12, calls=1, python=line),
        site("Bcast", 13, calls=1, python={"file": 7, "line": "4"}) | module,
        site("Wait", 14, calls=1, python=[line]) | module,
        site("Test", 15, calls=1, python={**line, "line": -3}) | module,
    ]
    one = record(0)
    one["profile"] |= {"sites": found, "python_refusal": "this is another"}
    run = runs.load(save(tmp_path / "a", one))
    places = {site.function: str(site.place) for site in run.sites}
    assert places.pop("Test") == "inner (/program/solver.py)"
    assert places.pop("Bcast") == places.pop("Wait") == "mpi4py"
    assert places == {"Send": "inner (solver.py:42)", "Recv": "inner (solver.py:42)"}
    assert {site.function: site.calls for site in run.sites}["Send"] == 3
    said = "lines of the Python program are not known: this is another"
    assert said in runs.complaints(run) and said in page.write([run])


def test_older_record(headway: Headway, tmp_path: Path) -> None:
    old = {"schema": 1, "rank": 0, "size": 1, "engine": "thread", "wall_s": 1.0, "tracked_p2p": 4}
    save(tmp_path / "old", old)
    done = headway("report", "old", "--html", "old.html", "--csv", "old.csv")
    assert done.returncode == 0 and "4 operations" in done.stdout
    assert "recorded without HEADWAY_PROFILE" in done.stdout
    newer = {**old, "schema": 99, "surprise": [1]}
    save(tmp_path / "new", newer)
    assert "newer than this command" in headway("report", "new").stdout


def test_some_records_missing(headway: Headway, tmp_path: Path) -> None:
    save(tmp_path / "a", record(0), '{"rank": 1, "size": 2, "wall')
    done = headway("report", "a")
    assert done.returncode == 0
    assert "1 of its records cannot be read" in done.stdout and "1 of 2 ranks" in done.stdout


def test_nothing_to_read(headway: Headway, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "missing"):
        done = headway("report", name)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    save(tmp_path / "a", record(0))
    done = headway("report", "a", "--html", "no/such/place.html")
    assert done.returncode == 2 and "no/such/place.html" in done.stderr


@pytest.mark.parametrize("one", [{}, {"schema": "record", "rank": 0}, {"schema": 0, "rank": 0}])
def test_what_is_no_record_is_refused(one: dict, tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match="no record can be read, of 1 file"):
        runs.load(save(tmp_path / "a", one))
    run = runs.load(save(tmp_path / "b", record(0), one))
    assert "1 of its records cannot be read" in runs.complaints(run)


def test_two_records_of_one_rank_are_noted(tmp_path: Path) -> None:
    run = runs.load(save(tmp_path / "a", record(0), record(1), record(1)))
    (note,) = (said for said in runs.complaints(run) if "more than one" in said)
    assert note.startswith("rank 1 left more than one record")
    assert not runs.complaints(runs.load(save(tmp_path / "b", record(0), record(1))))


def test_records_of_two_runs_are_noted(tmp_path: Path) -> None:
    """By hand nobody removes what an earlier, larger run left."""
    mixed = runs.load(save(tmp_path / "a", record(0), record(1), record(2, size=3)))
    (note,) = (said for said in runs.complaints(mixed) if "lie together" in said)
    assert note.startswith("records of runs of 2 and of 3 ranks lie together")
    unsized = record(1, size=0)
    assert not any("together" in said for said in runs.complaints(load_of(tmp_path, unsized)))


def load_of(tmp_path: Path, *more: object) -> runs.Run:
    return runs.load(save(tmp_path / "b", record(0), *more))


def test_tables_have_a_row_at_least(tmp_path: Path) -> None:
    parser = main.build_parser("report")
    assert parser.parse_args(["report", "a", "--rows", "3"]).rows == 3
    for rows in ("0", "-3", "many"):
        with pytest.raises(HeadwayError, match="at least 1 row"):
            parser.parse_args(["report", "a", f"--rows={rows}"])


def test_files_are_whole_whoever_reads_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise BrokenPipeError

    save(tmp_path / "a", record(0))
    monkeypatch.setattr(command, "show", broken)
    names = [str(tmp_path / name) for name in ("page.html", "table.csv")]
    words = ["report", str(tmp_path / "a"), "--html", names[0], "--csv", names[1]]
    with pytest.raises(BrokenPipeError):
        arguments = main.build_parser("report").parse_args(words)
        arguments.call(arguments)
    assert all(Path(name).stat().st_size for name in names)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_records_are_no_surprise(seed: int, tmp_path: Path) -> None:
    source = random.Random(seed)
    found = [damage(record(rank), source, share=0.08) for rank in range(3)]
    if not any(isinstance(one, dict) and one for one in found):
        found.append(record(0))
    run = runs.load(save(tmp_path / "a", *found))
    console = Console(file=(tmp_path / "out").open("w"), width=120)
    text.show(run, console, 5)
    text.compare([run, run], console, 5)
    page.write([run, run])
    with (tmp_path / "x").open("w") as file:
        export.write_csv([run], file)
        export.write_trace([run], file)
        export.write_communicators([run], file)
    paraver.write(run, tmp_path / "x.prv")


@pytest.mark.parametrize("damaged", [{"calls": 0}, {"tried_bytes": 0}])
def test_damaged_trials_of_packing_are_no_row(damaged: dict, tmp_path: Path) -> None:
    trial = {"site": 1, "type_bytes": 8, "type_blocks": 2, "type_extent": 16, "calls": 100}
    trial |= {"bytes": 800, "packed": 0, "tried_bytes": 8, "mpi_ns": 1000, "headway_ns": 10}
    for number, (change, count) in enumerate((({}, 1), (damaged, 0))):
        one = record(0)
        one["profile"]["derived"] = [trial | change]
        assert len(packing.rows(runs.load(save(tmp_path / str(number), one)))) == count


def test_places_without_a_program() -> None:
    found = places.look_up([Site(module="/nowhere/app", offset=16, symbol="main"), Site()])
    assert str(found["/nowhere/app", 16]) == "main (app+0x10)"


def test_slow_packing_is_shown_where_it_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = packing.Shape(28, 2, 32)
    slow = packing.Row(
        packing.Key("main (a.c:3)", "Send", False, shape), 100, 20 << 20, 0, 0.5, 0.1
    )
    close = packing.Row(packing.Key("main (a.c:9)", "Send", False, shape), 100, 9, 0, 0.5, 0.4999)
    monkeypatch.setattr(packing, "rows", lambda run: [slow, close])
    run = runs.Run("made", [Record.of({"rank": 0, "size": 1, "wall_s": 2.0})])
    assert packing.worth(run) == [slow]
    file = io.StringIO()
    Console(file=file, width=120).print(text.packing_table(run, packing.worth(run)))
    shown = file.getvalue()
    assert "Slow packing" in shown and "a.c:3" in shown and "0.500" in shown
