# SPDX-License-Identifier: BSD-3-Clause
"""Description: suites of messages that ghosts move have each way of moving them once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from headway.bench import analysis, command, suites
from headway.bench.modes import modes_make
from headway.mpi.mpis import find_mpis
from test_driver import launch, row_of, summary

FIGURES_OF_000 = [f"casper2-fig{number}" for number in (3, 4, 5, 6, 7)]


@pytest.mark.parametrize("name", FIGURES_OF_000)
def test_figures_of_papers_000_have_every_way_of_ghosts(name: str) -> None:
    """Tickets and seals, from the library's threshold on and from 128 B on."""
    mpi = next(mpi for mpi in find_mpis(with_path=False) if mpi.flavour == "mpich")
    suite = suites.SUITES[name]
    modes = {m.name: m for m in modes_make(mpi, suite, None, {})}
    ways = {"moved": ((), ""), "sealed": (("--sealed",), "")}
    ways |= {f"{way}-128": (words, "128") for way, (words, _) in ways.items()}
    for way, (words, least) in ways.items():
        mode = modes[f"headway-{way}"]
        assert (mode.ghosts, mode.arguments) == (1, words)
        assert mode.env["HEADWAY_P2P"] == "ghost"
        assert mode.env.get("HEADWAY_OFFLOAD_MIN", "") == least
    assert {"plain", "headway"} <= set(modes)
    assert any(mode.startswith("peer:") for mode in modes)
    assert not any("--sealed" in m.arguments for m in modes.values() if "sealed" not in m.name)
    assert command.shared_cores_note(suite.cases, modes.values()) == [command.SHARED_CORES]
    assert command.shared_cores_note(suite.cases, [modes["headway"]]) == []
    roomy = [replace(case, cores_per_node=2) for case in suite.cases]
    assert command.shared_cores_note(roomy, modes.values()) == []


def test_messages_within_a_node_take_tickets() -> None:
    mpi = next(mpi for mpi in find_mpis(with_path=False) if mpi.flavour == "mpich")
    modes = {m.name: m for m in modes_make(mpi, suites.SUITES["near"], None, {})}
    assert modes["headway-near"].env["HEADWAY_P2P_NEAR"] == "on"
    assert modes["headway-near"].ghosts == 1


def test_processor_time_is_compared_with_the_computation() -> None:
    """Of the same launch; where nothing is computed there is nothing to compare with."""
    done = [launch("plain", 0.019), launch("headway", 0.010)]
    done[1]["result"]["points"][0]["by_rank"][0]["cpu_s"] = summary(0.0099)
    values = row_of(analysis.rows_make(done), "headway")["values"]
    assert values["cpu_of_alone"]["median"] == pytest.approx(1.1)
    done[1]["result"]["points"][0]["work_units"] = 0
    assert "cpu_of_alone" not in row_of(analysis.rows_make(done), "headway")["values"]
