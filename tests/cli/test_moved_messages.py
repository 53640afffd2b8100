# SPDX-License-Identifier: BSD-3-Clause
"""What is said of messages that ghosts move, and of those that they do not."""

from __future__ import annotations

from headway import outcome
from headway.record.table import Record


def summarise(found: list[dict]) -> list[str]:
    return outcome.summarise([Record.of(one) for one in found])


def test_summary_says_who_moved_messages() -> None:
    one = {"rank": 0, "size": 2, "engine": "thread", "tracked_p2p": 0, "ghost": 1, "p2p": "ghost"}
    moved = {**one, "p2p_offloaded": 3, "p2p_offloaded_bytes": 3 << 20}
    assert "The ghosts moved 3 messages, 3.0 MiB." in "\n".join(summarise([moved]))
    near = {**moved, "p2p_near": 1, "p2p_near_bytes": 1 << 20}
    assert "3.0 MiB; receivers read 1 message within a node, 1.0 MiB." in "\n".join(
        summarise([near])
    )
    assert f"{outcome.NO_MESSAGE}." in summarise([one])
    refused = {**one, "declined": {"p2p: in memory that ghosts cannot read": 2}}
    assert "The ghosts moved no message." in summarise([refused])
    declined = {**one, "p2p": "thread", "p2p_reason": "another process declines"}
    crowded = {**declined, "rank": 1, "p2p_reason": "ghosts share cores with the program"}
    said = "\n".join(summarise([declined, crowded]))
    assert "The MPI moved all messages: ghosts share cores with the program." in said
    twice = {**crowded, "declined": {"ghosts share cores with the program": 1}}
    assert not [line for line in summarise([declined, twice]) if line.startswith("Declined")]
    assert "messages" not in "\n".join(summarise([{**one, "p2p": "thread"}]))


def test_summary_begins_with_what_went_by_ghosts() -> None:
    """That is not tracked: it is no case of nothing to gain."""
    one = {"rank": 0, "size": 1, "engine": "thread", "ghost": 1, "wall_s": 2.0, "host": "n0"}
    assert summarise([one])[0].startswith("Nothing to gain: nothing was pending")
    assert outcome.is_without_gain_here([Record.of({**one, "declined": {"no core": 1}})])
    for more, said in (
        ({"p2p": "ghost", "p2p_offloaded": 3}, "3 messages"),
        ({"p2p": "ghost", "p2p_offloaded": 3, "p2p_near": 2, "coll_moved": 1}, "5 messages and 1"),
        ({"coll_moved": 2, "coll_moved_bytes": 1 << 20}, "2 collective calls"),
    ):
        lines = summarise([{**one, **more}])
        assert lines[0].startswith(said)
        assert "othing to gain" not in "\n".join(lines)
        told = Record.of({**one, **more, "declined": {"no core": 1}})
        assert not outcome.is_without_gain_here([told])
    refused = {"p2p: in memory that ghosts cannot read": 5, "packing: of another kind": 7}
    assert summarise([{**one, "p2p": "ghost", "p2p_offloaded": 3, "declined": refused}])[0] == (
        "3 of 8 messages went by ghosts, which move them while the program computes."
    )
    assert summarise([{**one, "p2p": "ghost", "p2p_offloaded": 1, "declined": refused}])[0] == (
        "1 of 6 messages went by ghosts, which move them while the program computes."
    )
    assert summarise([{**one, "p2p": "ghost"}])[0].startswith("Nothing to gain: the ghosts moved")
    assert "The ghosts made 2 calls of nonblocking collectives, 1.0 MiB." in lines


def test_summary_tells_of_messages_that_headway_packed() -> None:
    one = {"rank": 0, "size": 1, "engine": "thread", "wall_s": 2.0, "host": "n0"}
    some = {**one, "packed_messages": 12, "packed_message_bytes": 3 << 20}
    said = "Headway packed 12 messages of datatypes with gaps, 3.0 MiB"
    assert summarise([some])[0] == f"{said}."
    slow = {**some, "packed_message_ns": 500_000_000}
    assert summarise([slow])[0] == f"{said}, in 0.50 s per rank."
    assert not [line for line in summarise([slow])[1:] if "packed" in line]
    ghosts = {**slow, "ghost": 1, "p2p": "ghost", "p2p_offloaded": 3}
    assert f"{said}, in 0.50 s per rank." in summarise([ghosts])[1:]
    assert not outcome.is_without_gain_here([Record.of({**some, "declined": {"no core": 1}})])
