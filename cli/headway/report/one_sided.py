# SPDX-License-Identifier: BSD-3-Clause
"""One-sided waits: for which targets they were, what those did meanwhile, and what an engine that
acts for them would recover.

Nothing watches the wire in these waits, and nothing need: where a transfer needs the target to call
MPI, the wait ends when the target, having computed, is in MPI again. So in the moments that records
keep (moments.py) each wait is laid over what its target did since the operation was issued. Time in
which the target computed, and after which the wait still went on, is what a ghost or a progress
thread in the target's place would have used; no more than the wait itself. Waits that end while the
target computes on were served without it: there is nothing to win.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from headway.record import table
from headway.record.table import Record
from headway.records import NS
from headway.report.moments import Compared, Moments, Span, Waited, compare
from headway.report.recorded import Site, functions_of, moments_of, profile_of, sites_of
from headway.report.runs import COPY_S, Run
from headway.report.spots import ONE_SIDED_OPERATION, ONE_SIDED_WAIT, Spot
from headway.report.targets import Entry, Kind, Row, Seen, Won, added, zeros

#: blocking calls that no rank leaves before all have come
UNTIL_ALL = re.compile(r"(Barrier|All(gather|reduce|toall)|Reduce_scatter)")
#: calls that may wait for a lock
PASSIVE_WAIT = re.compile(r"Win_(flush|lock|unlock)")
#: a wait that ends so far (ns, and as a part of it) into a time in which the target computes was
#: not for the target; before, an answer was perhaps still on its way
LEAST_AWAY, AWAY = 100_000, 0.1
#: of the waits seen, this part must end without the target for that to be said of all
ALONE = 0.5
#: clocks that are known no better than this part of a wait do not tell what came first
SURE = 0.25
#: so many waits are laid over what targets did, in all
MOST_LOOKS = 20_000
#: a fence is for all: of more ranks it is not asked when each came
MOST_AT_FENCE = 64
#: a thread that recovers this part of what ghosts do is as good
AS_GOOD = 0.9
#: waits of so little of the run are not worth a line
WORTH = 0.01
#: of what was put and got, this part must have gone over TCP for sockets to wake a thread
SEEN_SHARE = 0.25

#: what an engine takes of a core that it shares, for each wait that it serves, in seconds: two
#: changes of process, polls, caches that it finds and leaves cold (what the thread took for each
#: event, and ghosts for each message of 64 B beside DGEMM)
SERVE_S = 65e-6
#: what such a wait still takes when somebody answers for the target: a message each way, and where
#: that one sleeps on the core of a target that computes its wake-up, ns
#: (doc/results/data/wakeup.json)
ANSWERED_NS, WOKEN_NS = 25_000, 100_000

MORE_TARGETS = "for more targets than are kept, or not of MPI_COMM_WORLD"
MEMORY = {
    "allocate": "MPI_Win_allocate",
    "allocate_shared": "MPI_Win_allocate_shared",
    "create": "MPI_Win_create",
    "create on Alloc_mem": "MPI_Win_create, on memory of MPI_Alloc_mem",
    "create_dynamic": "MPI_Win_create_dynamic",
}


class OneSided:
    """The one-sided waits of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.told: dict[int, table.OneSided] = {}
        self.moments: dict[int, Moments] = {}
        self.threads: dict[int, float] = {}
        self.entries: dict[int, dict[int, Entry]] = {}
        for index, record in enumerate(run.records):
            told = profile_of(record).one_sided
            if told is not None:
                self.read(run.rank_of(index), record, told)

    def read(self, rank: int, record: Record, told: table.OneSided) -> None:
        sites = {one.id: one for one in sites_of(record)}
        functions, kept = functions_of(record), moments_of(record) or table.Moments()
        self.told[rank] = told
        self.moments[rank] = Moments(kept, record.host, functions)
        self.threads[rank] = kept.threads
        self.entries[rank] = {
            one.id: Entry(
                rank,
                Spot(str(self.run.places.of(sites[site])), functions[site]),
                one.memory or "?",
                one.target,
                one.waits,
                one.wait_ns * NS,
            )
            for one in told.waits
            if (site := one.site) is not None and site in sites
        }

    @property
    def is_recorded(self) -> bool:
        """False where no window was made, or by a library that did not keep this."""
        return bool(self.told)

    # ---- who can serve what ------------------------------------------------------------------

    @cached_property
    def is_one_node(self) -> bool:
        return len({moments.host for moments in self.moments.values()}) < 2

    def says(self, key: str) -> bool:
        return any(getattr(told, key) for told in self.told.values())

    def made(self, memory: str) -> bool:
        return any(told.windows.get(memory) for told in self.told.values())

    def why_no_ghosts(self, memory: str) -> str:
        """Why ghosts would not serve windows of this kind; as src/engines/rma judges them."""
        if not all(told.sound for told in self.told.values()):
            return "this MPI loses operations on windows that ghosts share"
        if memory in ("allocate", "allocate_shared"):
            if self.is_one_node and self.says("node_direct"):
                return "within one node this MPI loads and stores by itself"
            return ""
        if memory == "create":
            return "no ghost can reach memory that is not of MPI_Alloc_mem"
        if memory == "create on Alloc_mem" and self.made("create"):
            return "other ranks gave memory that is not of MPI_Alloc_mem, which no ghost can reach"
        if self.is_one_node and self.says("node_accumulate_slow"):
            return "within one node accumulates of this MPI are slower through a ghost"
        return "" if memory in MEMORY else "what the window is made of is not known"

    @cached_property
    def uses_tcp(self) -> bool:
        """Whether what the windows carried went over connections that a thread can watch."""
        carried = sum(
            s.total("bytes") for s in self.run.sites if ONE_SIDED_OPERATION.match(s.function)
        )
        sent = sum(told.tcp_bytes for told in self.told.values()) / 2
        return sent > 0 and sent >= SEEN_SHARE * carried

    def why_no_thread(self, rank: int, target: int) -> str:
        if self.moments[rank].host == self.moments[target].host:
            return "nothing wakes it within a node"
        return "" if self.uses_tcp else "nothing wakes it where there is no TCP"

    # ---- what the targets did ----------------------------------------------------------------

    def target_of(self, entry: Entry) -> tuple[int | None, str]:
        """A target whose moments are known; or why there is none."""
        if entry.target is None:
            return None, MORE_TARGETS
        if entry.target not in self.moments:
            return None, f"rank {entry.target} left no record"
        if self.threads[entry.target] > 1:
            return None, f"several threads of rank {entry.target} call MPI"
        return entry.target, ""

    def all_came(self, rank: int, at: Span, function: str) -> float:
        """When the last rank made the call that a fence waits for: nobody can end it before."""
        last = at.begin
        for other, moments in self.moments.items():
            compared = compare(self.moments[rank], moments, at.end)
            if other == rank or compared is None:
                continue
            reach = at.moved(-compared.shift)
            for one in reversed(
                moments.outside_in(Span(reach.begin, reach.end + compared.give_or_take))
            ):
                if one.then == function:
                    last = max(last, one.span.end + compared.shift)
                    break
        return min(last, at.end)

    @cached_property
    def holders(self) -> dict[int, list[int]]:
        """By rank: who held an exclusive lock of its window."""
        found: dict[int, list[int]] = defaultdict(list)
        for rank, moments in self.moments.items():
            for target in moments.held:
                found[target].append(rank)
        return found

    def given_up(self, entry: Entry, at: Span, target: int) -> float:
        """When the last of those that held the target's lock gave it up: nobody else can. Some MPIs
        ask for a lock late, in other calls than MPI_Win_lock: then the target's own is the only one
        that is sure to have been granted."""
        last = at.begin
        for holder in self.holders.get(target, []):
            is_sure = entry.spot.function == "Win_lock" or holder == target
            if holder == entry.rank or not is_sure:
                continue
            theirs = self.moments[holder]
            compared = compare(self.moments[entry.rank], theirs, at.end)
            if compared is None or compared.give_or_take > SURE * at.length:
                continue
            if held := theirs.held_before(target, at.end - compared.shift):
                last = max(last, held.end + compared.shift)
        return min(last, at.end)

    def look(self, entry: Entry, wait: Waited, target: int) -> Seen | str:
        """One wait, or why nothing can be said of it."""
        given_up = wait.span.begin
        if PASSIVE_WAIT.match(entry.spot.function):
            given_up = self.given_up(entry, wait.span, target)
        held = (given_up - wait.span.begin) / wait.span.length
        if target == entry.rank:
            return Seen(wait.span.length * NS, 0.0, 0.0, False, target, wait.span.begin, held=held)
        if entry.spot.function == "Win_fence" and len(self.moments) > MOST_AT_FENCE:
            return f"fences of more than {MOST_AT_FENCE} ranks"
        ours, theirs = self.moments[entry.rank], self.moments[target]
        compared = compare(ours, theirs, wait.span.end)
        if compared is None:
            return (
                "no collective call of all by which clocks of different machines could be compared"
            )
        if compared.give_or_take > SURE * wait.span.length:
            return "shorter than the clocks of different machines can be compared to"
        whole = Span(min(wait.posted, wait.span.begin), wait.span.end)
        slack = compared.give_or_take
        begin = given_up
        if given_up > wait.span.begin:
            whole = Span(given_up, whole.end)
        if entry.spot.function == "Win_fence":
            begin = max(begin, self.all_came(entry.rank, wait.span, "Win_fence"))
        elif entry.spot.function == "Win_complete":
            whole = Span(self.exposed(theirs, compared, whole), whole.end)
            begin = max(begin, whole.begin)
        share, came = self.lacked(theirs, compared, whole)
        seen = sum(self.seen(ours, theirs, compared, wait.span)) * NS
        if not seen:
            return "not in the sample of both"
        won = min(max(wait.span.end - begin, 0.0), share * whole.length)
        won = max(won - self.answer_ns(target), 0.0)
        on = theirs.outside_at(wait.span.end - compared.shift + slack)
        away = max(LEAST_AWAY, AWAY * wait.span.length) + slack
        is_alone = on is not None and on.span.begin + compared.shift < wait.span.end - away
        late = min(max(begin - given_up, 0.0), wait.span.length)
        shares = (won / wait.span.length, share, is_alone)
        return Seen(seen, *shares, target, came, late / wait.span.length, held)

    def answer_ns(self, target: int) -> float:
        is_shared = target not in self.run.ranks_with_spare_cores
        return WOKEN_NS if is_shared else ANSWERED_NS

    @staticmethod
    def seen(ours: Moments, theirs: Moments, compared: Compared, span: Span) -> list[float]:
        """The parts of a wait that are in both samples."""
        return [
            part.within(own).length
            for own in ours.kept(span)
            for part in (
                one.moved(compared.shift) for one in theirs.kept(span.moved(-compared.shift))
            )
        ]

    @staticmethod
    def exposed(theirs: Moments, compared: Compared, whole: Span) -> float:
        """When the target posted its window, if it computed before: nobody can act for it then."""
        reach = whole.moved(-compared.shift)
        for one in reversed(theirs.outside_in(reach)):
            if one.then == "Win_post":
                return one.span.end + compared.shift
        return whole.begin

    @staticmethod
    def lacked(theirs: Moments, compared: Compared, whole: Span) -> tuple[float, float]:
        """Of the time in which something was pending, the part in which the target computed before
        it called MPI and the wait went on; and when it last called."""
        reach = whole.moved(-compared.shift)
        kept = theirs.kept(reach)
        lack, came = 0.0, whole.begin
        for one in theirs.outside_in(Span(reach.begin, reach.end + compared.give_or_take)):
            came = max(came, one.span.end + compared.shift)
            lack += sum(one.span.within(part).length for part in kept)
        shown = sum(part.length for part in kept)
        return lack / shown if shown else 0.0, came

    # ---- summed up ---------------------------------------------------------------------------

    def looks_of(self, rank: int) -> tuple[dict[Kind, list[Seen]], dict[Kind, set[str]]]:
        """By spot and memory: the waits of the sample of a rank, and why some are not among them.
        Of a wait for several targets the one that came last stands for all."""
        groups: dict[tuple[Spot, str, Span], list[tuple[Entry, Waited]]] = defaultdict(list)
        for wait in self.moments[rank].waits:
            if (entry := self.entries[rank].get(wait.entry)) and wait.span.length > 0:
                groups[entry.spot, entry.memory, wait.span].append((entry, wait))
        looks: dict[Kind, list[Seen]] = defaultdict(list)
        why: dict[Kind, set[str]] = defaultdict(set)
        each = max(len(groups) * len(self.moments) // MOST_LOOKS, 1)
        for (spot, memory, _), pairs in list(groups.items())[::each]:
            found = []
            for entry, wait in pairs:
                target, reason = self.target_of(entry)
                found.append(reason if target is None else self.look(entry, wait, target))
            reasons = [one for one in found if isinstance(one, str)]
            if reasons:
                why[spot, memory].update(reasons)
            else:
                seen = [one for one in found if isinstance(one, Seen)]
                looks[spot, memory].append(max(seen, key=lambda one: one.target_came))
        return looks, why

    @cached_property
    def rows(self) -> list[Row]:
        """By call site and kind of window, the longest first."""
        rows: dict[Kind, Row] = {}
        for rank, entries in self.entries.items():
            looks, why = self.looks_of(rank)
            waited: dict[Kind, list[Entry]] = defaultdict(list)
            for entry in entries.values():
                waited[entry.spot, entry.memory].append(entry)
            for key, ones in waited.items():
                row = rows.setdefault(key, Row(*key))
                self.add(row, rank, ones, looks.get(key, []), why.get(key, set()))
        for row in rows.values():
            self.judge(row)
        return sorted(rows.values(), key=lambda row: -row.waited)

    def add(
        self, row: Row, rank: int, entries: Sequence[Entry], looks: list[Seen], why: set[str]
    ) -> None:
        """What one rank waited there; its sample stands for all of it."""
        waited = sum(one.wait_s for one in entries)
        row.waited += waited
        row.waits += sum(one.waits for one in entries)
        row.looks += len(looks)
        row.served_alone += sum(one.is_alone for one in looks)
        weight = sum(one.weight for one in looks)
        if not weight:
            row.unknown += waited
            is_for_many = any(one.target is None and one.wait_s for one in entries)
            row.why_unknown |= why or {MORE_TARGETS if is_for_many else "not in the sample"}
            return
        for one in looks:
            part = waited * one.weight / weight
            row.computed += part * one.computed
            row.late += part * one.late
            row.held += part * one.held
            row.ghosts += part * one.share
            row.targets[one.target] += part * one.share
            row.ranks[rank] += part * one.share
            why_not = self.why_no_thread(rank, one.target) if one.target != rank else ""
            row.thread += 0.0 if why_not else part * one.share
            row.why_no_thread = row.why_no_thread or why_not

    def judge(self, row: Row) -> None:
        """What is won only where somebody can act for the target, and somebody had to."""
        row.why_no_ghosts = self.why_no_ghosts(row.memory)
        most = row.ghosts
        if row.looks and row.served_alone > ALONE * row.looks:
            most = row.ghosts = row.thread = 0.0
            row.targets.clear()
            row.why_no_ghosts = row.why_no_thread = ""
        elif row.why_no_ghosts:
            row.ghosts = 0.0
        if any(record.ghost >= 0 for record in self.run.records):
            row.ghosts, row.why_no_ghosts = 0.0, "this run had them"
        if any(record.engine == "thread" for record in self.run.records):
            row.thread, row.why_no_thread = 0.0, "this run had it"
        row.unserved = most - max(row.ghosts, row.thread)

    # ---- a rank's means ----------------------------------------------------------------------

    @cached_property
    def copying(self) -> float:
        """Processor time for what was put and got, where it has no core of its own, s a rank."""
        sites: list[Site] = [
            site for site in self.run.sites if ONE_SIDED_OPERATION.match(site.function)
        ]
        spare = self.run.ranks_with_spare_cores
        moved = sum(
            one.bytes for site in sites for rank, one in site.ranks.items() if rank not in spare
        )
        return moved * COPY_S / max(self.run.size, 1)

    @property
    def most(self) -> float:
        """No engine makes a run shorter than what its busiest rank computes."""
        return self.run.most_s

    @cached_property
    def together_s(self) -> Won:
        """By rank, in blocking calls in which it waits until all have come."""
        found = zeros()
        for site in self.run.sites:
            if UNTIL_ALL.match(site.function):
                for rank, one in site.ranks.items():
                    found[rank] += one.call_ns * NS
        return found

    def serving(self, waits: float) -> float:
        """Processor time for serving so many waits, where cores are shared, s a rank."""
        sharing = max(self.run.size - len(self.run.ranks_with_spare_cores), 0)
        return waits * SERVE_S * sharing / max(self.run.size, 1) ** 2

    def gain(self, won: Won, waits: float) -> float:
        """Of what each rank would win at all sites, what is left of the run, a rank's mean.

        Ranks that come apart share the gain: the mean. Where all wait for one in MPI_Barrier or its
        like, they win there what it wins in its waits: up to what the rank that gains least by both
        gains, and no more than the most that one wins in its waits alone."""
        waited = sum(row.waited for row in self.rows)
        total = sum(won.values())
        if not waited or not total:
            return 0.0
        ranks = range(self.run.size)
        least = min(won[rank] + self.together_s[rank] for rank in ranks)
        wins = max(total / self.run.size, min(least, max(won.values())))
        less = self.copying * total / waited + self.serving(waits)
        return min(max(wins - less, 0.0), self.most)

    @cached_property
    def ghosts_s(self) -> float:
        served = [row for row in self.rows if row.ghosts]
        won = added(row.won_by_rank(row.ghosts) for row in served)
        return self.gain(won, sum(row.waits for row in served))

    @cached_property
    def thread_s(self) -> float:
        served = [row for row in self.rows if row.thread]
        won = added(row.won_by_rank(row.thread) for row in served)
        return self.gain(won, sum(row.waits for row in served))

    @cached_property
    def waited_s(self) -> float:
        return sum(row.waited for row in self.rows) / max(self.run.size, 1)

    @cached_property
    def unknown_s(self) -> float:
        return sum(row.unknown for row in self.rows) / max(self.run.size, 1)

    @cached_property
    def uncaused_s(self) -> float:
        """Of waits that were looked at, what no engine would recover, whatever it could act for."""
        each = (
            row.waited - row.unknown - row.unserved - max(row.ghosts, row.thread)
            for row in self.rows
        )
        return sum(max(one, 0.0) for one in each) / max(self.run.size, 1)

    @cached_property
    def late_s(self) -> float:
        """For others to come to an epoch, a rank's mean."""
        return sum(row.late for row in self.rows) / max(self.run.size, 1)

    @cached_property
    def held_s(self) -> float:
        """For others to give up a lock, a rank's mean."""
        return sum(row.held for row in self.rows) / max(self.run.size, 1)

    @cached_property
    def for_others_s(self) -> float:
        """In calls that wait, or may wait, but with nothing of their own pending that took long."""
        every = (site.waited for site in self.run.sites if ONE_SIDED_WAIT.match(site.function))
        ours = sum(row.waited for row in self.rows if ONE_SIDED_WAIT.match(row.spot.function))
        return max(sum(every) - ours, 0.0) / max(self.run.size, 1)

    @cached_property
    def worth(self) -> list[Row]:
        least = WORTH * self.run.wall * self.run.size
        return [row for row in self.rows if row.waited > least]


# ---- in words ----------------------------------------------------------------------------------

HEADINGS = ("seconds", "of run", "ghosts", "thread")


def won_text(seconds: float, why_not: str, row: Row, run: Run) -> str:
    if why_not and seconds <= 0:
        return "none"
    return f"{seconds / run.size:.3f}" if row.looks else "not known"


def figures(row: Row, run: Run) -> list[str]:
    """As HEADINGS, a rank's means."""
    mean = row.waited / run.size
    share = f"{100 * mean / run.wall:.1f} %" if run.wall else "-"
    return [
        f"{mean:.3f}",
        share,
        won_text(row.ghosts, row.why_no_ghosts, row, run),
        won_text(row.thread, row.why_no_thread, row, run),
    ]


def how_known(row: Row) -> str:
    """What the figures of a row are known from, and why some are none."""
    parts = []
    if row.looks and row.served_alone > ALONE * row.looks:
        parts.append(
            f"{row.served_alone} of {row.looks} waits looked at ended while the target computed: "
            "served without it"
        )
    elif row.looks:
        known = max(row.waited - row.unknown, 1e-9)
        late = [
            str(rank)
            for rank, won in sorted(row.targets.items(), key=lambda pair: -pair[1])[:3]
            if won > ALONE * WORTH * known
        ]
        who = f"rank{'s' if len(late) > 1 else ''} {', '.join(late)}" if late else "the target"
        share = row.computed / known
        computed = f"{who} computed {100 * share:.0f} % of the time that something was pending"
        if share <= WORTH:
            computed = "the target was in MPI"
        elif row.spot.function == "Win_fence":
            computed += ", but a fence ends only when all have come"
        elif row.held <= WORTH * known:
            computed += ", and they went on until it called MPI"
        if row.held > WORTH * known:
            computed += f"; for {100 * row.held / known:.0f} % of them another rank held the lock"
        parts.append(f"{row.looks} waits looked at: {computed}")
    if row.unknown > WORTH * row.waited:
        parts.append(f"{row.unknown:.2f} s not known: {'; '.join(sorted(row.why_unknown))}")
    if row.why_no_ghosts:
        parts.append(f"no ghosts: {row.why_no_ghosts}")
    if row.why_no_thread and not row.thread:
        parts.append(f"no thread: {row.why_no_thread}")
    return "; ".join(parts)


def named(row: Row) -> str:
    return f"{row.spot.place}, window of {MEMORY.get(row.memory, row.memory)}"


def recommended(found: OneSided) -> str:
    """The one engine for these waits. Ghosts take processes of the job: they are worth it where
    they recover more than the thread does."""
    ghosts, thread = found.ghosts_s, found.thread_s
    if max(ghosts, thread) <= WORTH * found.run.wall:
        return "No engine recovers anything worth naming of them."
    if thread >= AS_GOOD * ghosts:
        return (
            f"The progress thread (headway run) can recover about {thread:.2f} s a rank of the run."
        )
    less = f"; the progress thread alone {thread:.2f} s" if thread > WORTH * found.run.wall else ""
    return (
        f"Ghosts (headway run --ghosts 1) can recover about {ghosts:.2f} s a rank of the run{less}."
    )


def lines(found: OneSided) -> list[str]:
    """What the engines would recover of one-sided waits, and how that is known."""
    run = found.run
    waited = found.waited_s
    said = []
    if run.wall > 0 and waited > WORTH * run.wall:
        looks = sum(row.looks for row in found.rows)
        said.append(
            f"{waited:.2f} s a rank, {100 * waited / run.wall:.1f} % of the run, were waits for "
            f"targets of one-sided operations. {recommended(found)} Known from {looks} waits laid "
            "over what their targets did: time in which a target computed, and after which the "
            "wait still went on until it called MPI."
        )
        if found.uncaused_s > WORTH * run.wall:
            late = "others had not come to the epoch, " if found.late_s > WORTH * run.wall else ""
            held = "others held the lock, " if found.held_s > WORTH * run.wall else ""
            said.append(
                f"{found.uncaused_s:.2f} s a rank of them have no cause that an engine removes: "
                f"{late}{held}the targets were in MPI, or what was waited for went on without them."
            )
        won = max(sum(row.ghosts for row in found.rows), sum(row.thread for row in found.rows))
        if won / run.size > found.most + WORTH * run.wall:
            said.append(
                f"In these waits it is {won / run.size:.2f} s a rank; but the run cannot be "
                "shorter than what its busiest rank computes: who waits less there waits elsewhere."
            )
    unserved = sum(row.unserved for row in found.rows) / run.size
    if unserved > WORTH * run.wall:
        why = sorted(
            {row.why_no_ghosts for row in found.rows if row.unserved and row.why_no_ghosts}
        )
        said.append(
            f"{unserved:.2f} s a rank of them targets that computed would be recovered too, had an "
            f"engine a way to act for them: {'; '.join(why)}."
        )
    if found.unknown_s > WORTH * run.wall:
        why = sorted({reason for row in found.rows for reason in row.why_unknown})
        said.append(
            f"Of {found.unknown_s:.2f} s a rank of one-sided waits nothing is known: "
            f"{'; '.join(why)}. headway run, and where cores are to spare headway run --ghosts 1, "
            "show what can be recovered there."
        )
    if found.for_others_s > WORTH * run.wall:
        said.append(
            f"{found.for_others_s:.2f} s a rank more went in MPI_Win_fence, MPI_Win_unlock and "
            "their like with nothing pending there, or too short to look at: for other processes "
            "to come, which no engine makes them do."
        )
    return said
