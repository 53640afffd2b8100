# SPDX-License-Identifier: BSD-3-Clause
"""Messages of datatypes with gaps whose packing by the MPI is slow, by call site.

The library tries each class of messages (like datatypes, a direction, a power of two of bytes)
once. It packs the same bytes by the MPI's way and by its own. What all messages of a site take is
what the trial took, for as many bytes. That is a prediction: an MPI may pack while it sends.
"""

from __future__ import annotations

from dataclasses import dataclass

from headway import records
from headway.mpi import transport
from headway.records import NS
from headway.report.recorded import profile_of, sites_of
from headway.report.runs import Run

HEADINGS = ("messages", "bytes", "by the MPI", "by Headway", "packed")
#: a row saves this part of the run at least, and not 0.000 s a rank
WORTH, LEAST_S = 0.001, 0.0005
#: a sentence is about so much at least, seconds a rank
LEAST_SAID_S = 0.005
#: what the MPI takes of ours before Headway packs messages: where the user asks for it, and where
#: nobody does (src/engines/pack/worth.c)
ASKED_FOR, UNASKED = 1.25, 2.0
#: from so many bytes on Open MPI packs while it sends (src/real/quirks.h)
ON_ITS_WAY = 128 << 10


@dataclass(frozen=True)
class Shape:
    """Of one datatype, bytes."""

    size: int
    blocks: int
    extent: int

    def __str__(self) -> str:
        size = records.size_text(self.size)
        return (
            f"{size} in {records.plural(self.blocks, 'block')}, "
            f"extent {records.size_text(self.extent)}"
        )


@dataclass(frozen=True)
class Key:
    place: str
    function: str
    is_receive: bool
    shape: Shape


@dataclass
class Row:
    """Over all ranks; seconds are sums, of all messages that were counted."""

    key: Key
    messages: int = 0
    bytes: int = 0
    packed: int = 0  #: by Headway
    mpi_s: float = 0.0
    headway_s: float = 0.0
    to_save_s: float = 0.0  #: of messages that Headway has not packed
    is_on_its_way: bool = False  #: the MPI packs some of them while it sends

    @property
    def needs_asking(self) -> bool:
        """Whether Headway packs them only where the user says so."""
        return self.is_on_its_way or self.mpi_s <= self.headway_s * UNASKED

    def figures(self, run: Run) -> list[str]:
        share = 100 * self.packed / self.messages
        return [
            str(self.messages),
            records.size_text(self.bytes),
            f"{self.mpi_s / run.size:.3f}",
            f"{self.headway_s / run.size:.3f}",
            f"{share:.0f} %",
        ]


def rows(run: Run) -> list[Row]:
    """Those with a trial in which Headway was clearly the faster; what saves most first."""
    found: dict[Key, Row] = {}
    for record in run.records:
        sites = {one.id: one for one in sites_of(record)}
        is_ompi = transport.vendor_of(record.mpi) == "Open MPI"
        for one in profile_of(record).derived:
            site = sites.get(one.site)
            if site is None or one.mpi_ns <= one.headway_ns * ASKED_FOR:
                continue
            if not one.calls or not one.tried_bytes:  # no library writes that
                continue
            shape = Shape(one.type_bytes, one.type_blocks, one.type_extent)
            place, function = str(run.places.of(site)), site.function.removesuffix("_c")
            key = Key(place, function, one.is_receive, shape)
            row = found.setdefault(key, Row(key))
            times = one.bytes / one.tried_bytes * NS
            row.messages += one.calls
            row.bytes += one.bytes
            row.packed += one.packed
            row.is_on_its_way |= is_ompi and one.bytes >= ON_ITS_WAY * one.calls
            row.mpi_s += one.mpi_ns * times
            row.headway_s += one.headway_ns * times
            left = 1.0 - one.packed / one.calls
            row.to_save_s += (one.mpi_ns - one.headway_ns) * times * left
    return sorted(found.values(), key=lambda row: row.headway_s - row.mpi_s)


def worth(run: Run) -> list[Row]:
    """Those with a difference that can be seen in the run."""
    least = max(WORTH * run.wall, LEAST_S) * run.size
    return [row for row in rows(run) if row.mpi_s - row.headway_s >= least]


def lines(run: Run) -> list[str]:
    """What to do about it."""
    left = [row for row in worth(run) if row.to_save_s > 0]
    unasked = sentence(run, [row for row in left if not row.needs_asking], "`headway run`")
    asked_for = sentence(
        run,
        [row for row in left if row.needs_asking],
        "HEADWAY_PACK_MESSAGES=yes for `headway run`",
    )
    known = "Known from packing some messages both ways; the MPI may pack while it sends."
    return [f"{said} {known}" for said in (unasked, asked_for) if said]


def sentence(run: Run, left: list[Row], by: str) -> str:
    """What packing these by Headway saves; empty if little."""
    seconds = sum(row.to_save_s for row in left) / run.size
    if seconds < LEAST_SAID_S:
        return ""
    most = max(left, key=lambda row: row.to_save_s)
    return (
        f"{by} should save about {seconds:.2f} s per rank, {100 * seconds / run.wall:.1f} % of the "
        "run, by packing. The MPI packs messages of datatypes with gaps slower than Headway does, "
        f"most of all for MPI_{most.key.function} of {most.key.place} ({most.key.shape})."
    )
