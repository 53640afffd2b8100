# SPDX-License-Identifier: BSD-3-Clause
"""What one launch of the demo's program left."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Launched:
    """One launch: the program's object, the thread's CPU time, and samples of the wire."""

    result: dict[str, Any]
    thread_cpu_s: float
    samples: list[tuple[float, list[int]]] = field(default_factory=list)

    @property
    def step_s(self) -> float:
        """Wall time of a step. Ranks may drift by a step, so no single step's time says it."""
        return float(self.result["wall_s"] / self.result["steps"])

    def phase(self, name: str) -> float:
        """Median of a phase over the steps, mean over the ranks."""
        return statistics.fmean(r[name]["median"] for r in self.result["by_rank"])
